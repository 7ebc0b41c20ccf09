"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import UsageError


class Task(StrEnum):
    """How to understand the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"
    counts = "counts"


class Rule(StrEnum):
    """Which number of features to take from a cross-validated curve."""

    one_se = "one_se"
    best = "best"
    elbow = "elbow"


class Imputer(StrEnum):
    """What replaces a missing value."""

    median = "median"
    mean = "mean"
    most_frequent = "most_frequent"
    knn = "knn"


# What the help lists together.
_of_table: partial[Any] = partial(typer.Option, rich_help_panel="The table")
_of_preparation: partial[Any] = partial(typer.Option, rich_help_panel="Preparation")
of_method: partial[Any] = partial(typer.Option, rich_help_panel="The method")
of_check: partial[Any] = partial(typer.Option, rich_help_panel="Checks and proofs")
of_output: partial[Any] = partial(typer.Option, rich_help_panel="What is printed and written")

RuleOption = Annotated[
    Rule | None,
    of_method(
        "--rule",
        metavar="RULE",
        show_default=False,
        help="How cross-validation chooses the number of features: one_se (the fewest that do as "
        "well as the best), best (the highest mean score) or elbow (where the curve bends). "
        "Default: one_se.",
    ),
]
MaxCorrelation = Annotated[
    str,
    of_method(
        "--max-correlation",
        metavar="R",
        show_default=False,
        help="Pass over a feature whose absolute correlation with a kept one is at least this, "
        "until all others are used up: a number up to 1, or none. Default: 0.99, and none where "
        "features are tested.",
    ),
]
ScoringOption = Annotated[
    str | None,
    of_method(
        "--scoring",
        metavar="SCORE",
        help="Score of held-out samples, by which -k auto also chooses the number: a name of "
        "scikit-learn such as roc_auc, f1_macro, neg_log_loss or neg_mean_absolute_error.",
    ),
]
TaskOption = Annotated[
    Task,
    of_method(
        "--task",
        metavar="TASK",
        help="How to read the target: classification, regression, counts (whole numbers from 0 on) "
        "or auto. For survival times see --time.",
    ),
]

# The table.
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=".csv, .tsv, .txt (also .gz), .xlsx, .parquet, .npz, .mat, svmlight (.svm, .svmlight, "
        ".libsvm), .h5ad, .npy, .h5, .hdf5 or .zarr; - reads standard input.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COL",
        help="Column with the labels or values to predict. For .h5ad a column of obs; for .npz, "
        ".mat, .h5 and .zarr an array (default: y); for .npy another .npy file; not needed for "
        "svmlight and for unsupervised methods.",
    ),
]
TargetFile = Annotated[
    Path | None,
    _of_table(
        "--target-file",
        metavar="OTHER",
        help="Another table that has the target (and --groups), joined by sample id: the first "
        "column of both files, or --id.",
    ),
]
SampleId = Annotated[
    str | None, _of_table("--id", metavar="COL", help="Column with the sample ids; not a feature.")
]
GroupsOption = Annotated[
    str | None,
    _of_table(
        "--groups",
        metavar="COL",
        help="Column with the group of each sample, such as the patient: cross-validation keeps "
        "the samples of a group together. Not a feature.",
    ),
]
WeightsOption = Annotated[
    str | None,
    _of_table(
        "--weights",
        metavar="COL",
        help="Column that says how much each sample counts, in the method, the model and the "
        "scores; a weight of 2 is like two copies. Not a feature.",
    ),
]
CovariatesOption = Annotated[
    list[str] | None,
    _of_table(
        "--covariates",
        metavar="COL",
        help="Columns that are always in the model, such as age,sex,batch: features are judged by "
        "what they add. Not counted by -k and not ranked. For .h5ad columns of obs; may be in "
        "--target-file. Repeat it, or separate by commas.",
    ),
]
FeatureGroupsOption = Annotated[
    str | None,
    _of_table(
        "--feature-groups",
        metavar="GROUPS",
        help="Keep or leave out columns together: a .csv or .tsv file with the columns feature and "
        "group, or categories: the columns made of one text column, and of a column and its "
        "missing values (implies --encode-text). -k then counts groups.",
    ),
]
Drop = Annotated[
    list[str] | None,
    _of_table(
        "--drop", metavar="COL", help="Leave out a column; repeat it, or separate by commas."
    ),
]
DropUnlabelled = Annotated[
    bool,
    _of_table(
        "--drop-unlabelled",
        help="Leave out samples with a gap in a column that is named for them: --target, --time, "
        "--event, --entry, --strata, --groups or --id.",
    ),
]
Transpose = Annotated[
    bool,
    _of_table(
        "--transpose", help="The features are in the rows of FILE, the samples in its columns."
    ),
]
EncodeText = Annotated[
    bool | None,
    _of_table(
        "--encode-text/--no-encode-text",
        help="Turn text columns into columns of zeros and ones (sex=male; of two values one has a "
        "column) that count one by one; --no-encode-text refuses text. Default: the columns made "
        "of one text column count as one feature, and text that names samples or has too many "
        "values is left out.",
    ),
]
MaxCategories = Annotated[
    int | None,
    _of_table(
        "--max-categories",
        metavar="N",
        min=1,
        help="How many values a text column may have to be a feature. Default: 20.",
    ),
]
MaxMissing = Annotated[
    float | None,
    _of_table(
        "--max-missing",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Leave out columns with a larger share of missing values than this. Default: 0.5.",
    ),
]
EncodingOption = Annotated[
    str | None,
    _of_table(
        "--encoding",
        metavar="NAME",
        help="How the text of FILE is encoded, such as cp1252 or latin-1. Default: UTF-8, or "
        "UTF-16 where FILE starts with its mark.",
    ),
]
CommentOption = Annotated[
    str | None,
    _of_table(
        "--comment",
        metavar="SIGN",
        help="Leave out lines that start with this. Default: lines above the column names that "
        "start with #.",
    ),
]
Layer = Annotated[
    str | None, _of_table("--layer", metavar="NAME", help="For .h5ad: use this layer instead of X.")
]
Format = Annotated[
    str | None,
    _of_table(
        "--format", metavar="SUFFIX", help="The format of standard input: csv, tsv, parquet, ..."
    ),
]

# What is done to the features first.
Impute = Annotated[
    bool,
    _of_preparation(
        "--impute",
        help="Fill missing numbers with the median of their column and missing text with the most "
        "frequent value, learnt from the training samples of each fold.",
    ),
]
ImputerOption = Annotated[
    Imputer | None,
    _of_preparation(
        "--imputer",
        metavar="HOW",
        help="Fill missing numbers in another way: mean, most_frequent or knn (the five most "
        "similar samples); implies --impute.",
    ),
]
LogOption = Annotated[
    bool, _of_preparation("--log", help="Take log(1 + x) of all features; none may be negative.")
]
LogCPMOption = Annotated[
    bool,
    _of_preparation(
        "--log-cpm", help="For raw counts: divide each sample by its total, then take logarithms."
    ),
]

Debug = Annotated[
    bool,
    # Read from the arguments by `run`, which also has to see the errors of the parser.
    typer.Option("--debug", help="Show the traceback of an error."),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", metavar="N", help="Number of parallel processes; -1 uses all CPUs."
    ),
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Retry what failed before.")]
NoProgress = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Quiet = Annotated[
    bool,
    of_output(
        "--quiet", "-q", help="Show no notes and no progress; results and warnings are shown."
    ),
]
EscapeFormulas = Annotated[
    bool,
    of_output(
        "--escape-formulas",
        help="In .csv and .tsv files, put an apostrophe before text that a spreadsheet would run "
        "as a formula (it starts with =, +, - or @). Use it for names and labels you do not trust.",
    ),
]
AsJson = Annotated[bool, of_output("--json", help="Print JSON for scripts.")]


def check_jobs(jobs: int) -> None:
    """Refuse an impossible number of processes."""
    if jobs == 0 or jobs < -1:
        raise UsageError(f"--jobs must be a number of processes or -1, got {jobs}")


_AS_OPTIONS = (
    ('claim="set"', "--claim set"),
    ("; sets_ lists the features of every set, the likeliest first", ""),
    ('claim="marginal"', "--claim marginal"),
    ('claim="sequential"', "--claim sequential"),
    ('impute or drop them, for example with prepare="impute"', "fill them with --impute, or leave "
     "the columns out with --drop"),
    ("Input X contains NaN values", "the features have missing values"),
    ('with prepare="log-cpm"', "with --log-cpm"),
    ("prepare='log-cpm'", "--log-cpm"),
    ("prepare='log'", "--log"),
    ('task="classification"', "--task classification"),
    ("n_repeats", "--repeats"),
    ("event_value=", "--event-value "),
    ("every number in ks", "every number of --k"),
    ("ks asks", "--k asks"),
    ("pass --task", "use --task"),
    ("Run select(..., check=True).", "Run it again with --check."),
    ("max_samples", "--samples"),
    ("takes no feature_groups", "takes no --feature-groups"),
    ("sample_weight", "--weights"),
    ("pass strata= to predict_survival", "name the column of the stratum with --strata"),
)  # fmt: skip


def parse_max_correlation(text: str) -> float | str | None:
    """What ``--max-correlation`` says."""
    if text.lower() in ("auto", "none"):
        return None if text.lower() == "none" else "auto"
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not 0 < limit <= 1:
        raise UsageError(f"--max-correlation must be above 0 and at most 1, or none, got {text}")
    return limit


def as_options(sentence: str) -> str:
    """A sentence about parameters of Python as one about options."""
    for parameter, option in _AS_OPTIONS:
        sentence = sentence.replace(parameter, option)
    return sentence
