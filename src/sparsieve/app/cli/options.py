"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from .errors import UsageError
from .help import SELDOM

if TYPE_CHECKING:  # loading it takes a while
    from ..io import Table


def with_option_sets(command: Callable[..., None]) -> Callable[..., None]:
    """Take a parameter that is a dataclass apart: each of its fields is an option.

    Typer sees one parameter per field, and the function gets the dataclass.
    """
    hints = get_type_hints(command, include_extras=True)
    sets: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    flat: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name not in sets:
            flat.append(parameter.replace(annotation=hints[name]))
            continue
        options = get_type_hints(sets[name], include_extras=True)
        for one in fields(sets[name]):
            how = {"default": one.default, "annotation": options[one.name]}
            flat.append(Parameter(one.name, Parameter.KEYWORD_ONLY, **how))

    def run(**values: Any) -> None:
        for name, made in sets.items():
            values[name] = made(**{one.name: values.pop(one.name) for one in fields(made)})
        command(**values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {one.name: one.annotation for one in flat}
    run.__signature__ = Signature(  # type: ignore[attr-defined]
        [one.replace(kind=Parameter.KEYWORD_ONLY) for one in flat]
    )
    return run


class Task(StrEnum):
    """How to understand the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"
    counts = "counts"


class Rule(StrEnum):
    """Which number of features to take from a cross-validated curve."""

    fewest = "fewest"
    median = "median"
    one_se = "one_se"
    best = "best"
    elbow = "elbow"


class AnyRule(StrEnum):
    """The same, and information criteria, which need no folds."""

    fewest = "fewest"
    median = "median"
    one_se = "one_se"
    best = "best"
    elbow = "elbow"
    aic = "aic"
    bic = "bic"
    ebic = "ebic"


# What the help lists together.
of_table: partial[Any] = partial(typer.Option, rich_help_panel="The table")
seldom: partial[Any] = partial(typer.Option, rich_help_panel=SELDOM)
of_preparation: partial[Any] = partial(typer.Option, rich_help_panel="Preparation")
of_method: partial[Any] = partial(typer.Option, rich_help_panel="The method")
of_check: partial[Any] = partial(typer.Option, rich_help_panel="Checks and proofs")
of_output: partial[Any] = partial(typer.Option, rich_help_panel="What is printed and written")

_RULE = (
    "How cross-validation chooses the number of features: fewest (that are as good as the "
    "best number), median (of the best numbers of its repeats), one_se (the fewest within one "
    "standard error), best (the highest mean score) or elbow (where the curve bends). "
    "Default: fewest."
)
RuleOption = Annotated[
    Rule | None, of_method("--rule", metavar="RULE", show_default=False, help=_RULE)
]
AnyRuleOption = Annotated[
    AnyRule | None,
    of_method(
        "--rule",
        metavar="RULE",
        show_default=False,
        help=f"{_RULE} aic, bic and ebic (extended BIC) are information criteria along one path "
        "on all samples, without folds.",
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
SampleId = Annotated[
    str | None, of_table("--id", metavar="COL", help="Column with the sample ids; not a feature.")
]
IN_ROWS = "The features are in the rows of FILE, the samples in its columns."
Transpose = Annotated[bool, of_table("--transpose", help=IN_ROWS)]
EncodingOption = Annotated[
    str | None,
    seldom(
        "--encoding",
        metavar="NAME",
        help="How the text of FILE is encoded, such as cp1252 or latin-1. Default: UTF-8, or "
        "UTF-16 where FILE starts with its mark.",
    ),
]
CommentOption = Annotated[
    str | None,
    seldom(
        "--comment",
        metavar="SIGN",
        help="Leave out lines that start with this. Default: lines above the column names that "
        "start with #.",
    ),
]
Layer = Annotated[
    str | None, seldom("--layer", metavar="NAME", help="For .h5ad: use this layer instead of X.")
]
Format = Annotated[
    str | None,
    seldom(
        "--format", metavar="SUFFIX", help="The format of standard input: csv, tsv, parquet, ..."
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
    ("positive=", "--positive "),
    ("cost_of_missing", "--cost-of-missing"),
    ("positive_rate", "--positive-rate"),
    ("threshold must", "--threshold must"),
    ("with its median", "with its median (--imputer names other ways)"),
    ("the median of each column", "the median of each column (--imputer names other ways)"),
    ('feature_groups="categories"', "--feature-groups categories"),
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


def about_target(sentence: str, table: Table) -> str:
    """The same, and about the column of the target."""
    return re.sub("^y holds", f"{table.target_name} holds", as_options(sentence))
