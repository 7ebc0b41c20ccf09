"""Options that several commands share, and ``--help`` with every option on a line of its own."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from .output import UsageError

if TYPE_CHECKING:
    from ..io import Table


SELDOM = "Seldom needed"  # the heading that comes last


class _Readable:
    """Help as text that fits the terminal, options under the headings of their panels."""

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:  # with --help, which is made here
            if getattr(param, "is_flag", False):
                param.metavar = ""  # flags take no value
        return params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; both names are those of Click."""
        command: Any = self
        width = min(shutil.get_terminal_size().columns, 100)  # longer lines are hard to read
        params = command.get_params(ctx)
        usage = ["[OPTIONS]", *(_metavar(one) for one in params if _is_argument(one))]
        usage += ["COMMAND ..."] if hasattr(command, "list_commands") else []
        parts = [f"Usage: {ctx.command_path} {' '.join(usage)}"]
        parts += [_wrap_text(text, width) for text in _paragraphs(command.help)]
        parts += [
            "\n".join([_bold(title), *(_entry(*record, width) for record in records)])
            for title, records in _panels(command, ctx, params)
        ]
        parts += [_wrap_text(text, width) for text in _paragraphs(command.epilog)]
        formatter.write("\n\n".join(parts) + "\n")


class ReadableCommand(_Readable, TyperCommand):
    """A command with this help."""


class ReadableGroup(_Readable, TyperGroup):
    """A group of commands with this help."""


def _is_argument(param: Any) -> bool:
    return param.param_type_name == "argument"


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _panels(
    command: Any, ctx: Any, params: Iterable[Any]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Headings with what is below each: a name and a description."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for param in params:
        if getattr(param, "hidden", False):
            continue
        if _is_argument(param):
            panels.setdefault("Arguments", []).append((_metavar(param), param.help or ""))
            continue
        record = param.get_help_record(ctx)
        if record is not None:
            title = getattr(param, "rich_help_panel", None) or "Options"
            panels.setdefault(title, []).append((record[0], _without_range(record[1])))
    for name in command.list_commands(ctx) if hasattr(command, "list_commands") else ():
        inner = command.get_command(ctx, name)
        if inner is not None and not inner.hidden:
            first = next(iter(_paragraphs(inner.help)), "")
            panels.setdefault("Commands", []).append((name, first))
    seldom = panels.pop(SELDOM, None)
    yield from panels.items()
    if seldom is not None:
        yield SELDOM, seldom


def _without_range(text: str) -> str:
    """Without what Typer adds in formulas, such as [x>=1]; errors say it in words."""
    return re.sub(r" *\[[^\]]*\bx[<>=][^\]]*\]$", lambda found: _default(found[0]), text)


def _default(shown: str) -> str:
    told = re.search(r"default: [^;\]]*", shown)
    return f"  [{told[0]}]" if told else ""


def _entry(name: str, text: str, width: int) -> str:
    """A name, and its description beside it if both fit into a line, else below it."""
    described = " ".join(text.split())
    beside = f"{name:<16}  {described}"
    if len(name) <= 16 and len(beside) + 2 <= width:
        return f"  {_bold(name)}{beside[len(name) :]}"
    return "\n".join([f"  {_bold(name)}", _wrap_text(described, width, "      ")])


def _paragraphs(text: str | None) -> list[str]:
    """Without the line breaks of the source."""
    parts = inspect.cleandoc(text or "").partition("\f")[0].split("\n\n")
    return [" ".join(part.split()) for part in parts if part.strip()]


def _wrap_text(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _bold(text: str) -> str:
    return typer.style(text, bold=True)


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
