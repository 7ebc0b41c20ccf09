"""From a file and options to a table, and to what is done to its features first."""

# ruff: noqa: RUF009 (the default of an option is what describes it)

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .live import progress
from .options import (
    CommentOption,
    EncodingOption,
    Format,
    Layer,
    SampleId,
    Transpose,
    of_preparation,
    of_table,
    seldom,
)
from .output import UsageError, say, without_python

if TYPE_CHECKING:
    from ..io import Table


DASH = Path("-")


@contextmanager
def data_file(file: Path, form: str | None) -> Iterator[Path]:
    """The file to read: the one named, or what standard input holds as a file for a while."""
    if file != DASH:
        if form is not None:
            raise UsageError(f"--format is for standard input (-), but the data are in {file}")
        yield file
        return
    suffix = _suffix(form)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("standard input has no data; pipe data into it or name a file")
    # Readers look at names and move about in files.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"standard input{suffix}"
        with open(path, "wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        yield path


def _suffix(form: str | None) -> str:
    from ..io.read import READABLE_SUFFIXES

    known = ", ".join(suffix[1:] for suffix in READABLE_SUFFIXES)
    if form is None:
        raise UsageError(f"say with --format what standard input holds: {known}")
    suffix = "." + form.lower().removeprefix(".")
    if suffix not in READABLE_SUFFIXES:
        raise UsageError(f"unknown --format {form!r}; known are {known}")
    return suffix


def limit_memory(amount: str | None) -> None:
    """Set the limit that an option asks for."""
    if amount is None:
        return
    from ...memory import parse_memory, set_memory

    try:
        set_memory(parse_memory(amount, "--memory"))
    except ValueError as error:
        raise UsageError(str(error)) from None


def is_external(table: Table) -> bool:
    """Whether X stays in its file."""
    return hasattr(table.X, "passes")  # of a design alone


def check_in_memory(table: Table, **options: Any) -> None:
    """Refuse options that go over the samples many times where X stays in its file."""
    if not is_external(table):
        return
    for option, value in options.items():
        if value:
            raise UsageError(
                f"{option} needs the features in memory, but they are larger than the memory "
                "limit; leave it out, raise --memory, or first select some features with -o OUT"
            )


def say_passes(selector: Any, X: Any) -> None:
    """How often X was read, where it was read from a file."""
    passes = getattr(selector, "n_passes_", 0)
    if passes:
        often = "once" if passes == 1 else f"{passes} times"
        say(f"read the features {often}, {X.ledger.bytes_read / 2**30:.3g} GB in total")


CATEGORIES = "categories"


class Imputer(StrEnum):
    """What replaces a missing value."""

    median = "median"
    mean = "mean"
    most_frequent = "most_frequent"
    knn = "knn"


@dataclass(frozen=True)
class Reading:
    """What the options say about the file; the fields but ``form`` are those of ``read_table``."""

    target: str | None = typer.Option(
        None,
        "--target",
        "-t",
        metavar="COL",
        help="Column with the labels or values to predict. For .h5ad a column of obs; for .npz, "
        ".mat, .h5 and .zarr an array (default: y); for .npy another .npy file; not needed for "
        "svmlight and for unsupervised methods.",
    )
    target_file: Path | None = of_table(
        None,
        "--target-file",
        metavar="OTHER",
        help="Another table that has the target (and --groups), joined by sample id: the first "
        "column of both files, or --id.",
    )
    sample_id: SampleId = None
    groups: str | None = of_table(
        None,
        "--groups",
        metavar="COL",
        help="Column with the group of each sample, such as the patient: cross-validation keeps "
        "the samples of a group together. Not a feature.",
    )
    weights: str | None = of_table(
        None,
        "--weights",
        metavar="COL",
        help="Column that says how much each sample counts, in the method, the model and the "
        "scores; a weight of 2 is like two copies. Not a feature.",
    )
    covariates: list[str] | None = of_table(
        None,
        "--covariates",
        metavar="COL",
        help="Columns that are always in the model, such as age,sex,batch: features are judged by "
        "what they add. Not counted by -k and not ranked. For .h5ad columns of obs; may be in "
        "--target-file. Repeat it, or separate by commas.",
    )
    drop: list[str] | None = of_table(
        None, "--drop", metavar="COL", help="Leave out a column; repeat it, or separate by commas."
    )
    drop_unlabelled: bool = of_table(
        False,
        "--drop-unlabelled",
        help="Leave out samples with a gap in a column that is named for them: --target, --time, "
        "--event, --entry, --strata, --groups or --id.",
    )
    transpose: Transpose = False
    encode_text: bool | None = seldom(
        None,
        "--encode-text/--no-encode-text",
        help="Turn text columns into columns of zeros and ones (sex=male; of two values one has a "
        "column) that count one by one; --no-encode-text refuses text. Default: the columns made "
        "of one text column count as one feature, and text that names samples or has too many "
        "values is left out.",
    )
    max_categories: int | None = seldom(
        None,
        "--max-categories",
        metavar="N",
        min=1,
        help="How many values a text column may have to be a feature. Default: 20.",
    )
    max_missing: float | None = seldom(
        None,
        "--max-missing",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Leave out columns with a larger share of missing values than this. Default: 0.5.",
    )
    encoding: EncodingOption = None
    comment: CommentOption = None
    layer: Layer = None
    form: Format = None

    @property
    def options_to_keep(self) -> dict[str, Any]:
        """What a model keeps for files of new rows, which are read alike."""
        kept = ("sample_id", "transpose", "encoding", "comment", "layer")
        return {name: value for name in kept if (value := getattr(self, name))}

    def read_table(
        self, path: Path, *, needs_target: bool = True, quiet: bool = False, **columns: Any
    ) -> Table:
        """The table in the file; what the reader decided by itself is shown as notes.

        ``columns`` are further arguments of ``read_table``, or take the place of options.
        """
        with progress("Loading", quiet=quiet):
            from ...validation.written import MAX_CATEGORIES, MAX_MISSING
            from ..io.errors import TargetNeededError
            from ..io.read import read_table

        options = asdict(self) | {"drop": self.drop or ()} | columns
        del options["form"]
        if self.encode_text is None:
            options["encode_text"] = "auto"
        options["covariates"] = [
            name.strip() for given in self.covariates or () for name in given.split(",") if name
        ]
        limits = (("max_categories", MAX_CATEGORIES), ("max_missing", MAX_MISSING))
        unset = {name: most for name, most in limits if options[name] is None}
        options |= {name: most for name, most in unset.items() if name not in columns}
        try:
            with progress(f"Reading {path.name}", quiet=quiet):
                table = read_table(path, needs_target=needs_target, **options)
        except TargetNeededError as error:
            raise UsageError(f"--target is missing: {error}") from None
        if not quiet:
            say(*(f"note: {without_python(note)}" for note in table.notes))
        return table


@dataclass(frozen=True)
class Preparing:
    """What is done to the features first."""

    feature_groups: str | None = of_table(
        None,
        "--feature-groups",
        metavar="GROUPS",
        help="Keep or leave out columns together: a .csv or .tsv file with the columns feature and "
        "group, or categories: the columns made of one text column, and of a column and its "
        "missing values (implies --encode-text). -k then counts groups.",
    )
    impute: bool = of_preparation(
        False,
        "--impute",
        help="Fill missing numbers with the median of their column and missing text with the most "
        "frequent value, learnt from the training samples of each fold.",
    )
    imputer: Imputer | None = of_preparation(
        None,
        "--imputer",
        metavar="HOW",
        help="Fill missing numbers in another way: mean, most_frequent or knn (the five most "
        "similar samples); implies --impute.",
    )
    log: bool = of_preparation(
        False, "--log", help="Take log(1 + x) of all features; none may be negative."
    )
    log_cpm: bool = of_preparation(
        False,
        "--log-cpm",
        help="For raw counts: divide each sample by its total, then take logarithms.",
    )

    def check_reading(self, reading: Reading) -> Reading:
        """How the file is read for this; refuses options that exclude each other."""
        if self.feature_groups == CATEGORIES and reading.encode_text is False:
            raise UsageError("--feature-groups categories and --no-encode-text exclude each other")
        if self.log and self.log_cpm:
            raise UsageError("--log and --log-cpm exclude each other: both take logarithms")
        if self.log_cpm and reading.encode_text is None and self.feature_groups is None:
            reading = replace(reading, encode_text=False)
        elif self.log_cpm and reading.encode_text is not False:
            raise UsageError(
                "--log-cpm and --encode-text exclude each other: columns of zeros and ones would "
                "count in the total of a sample; leave the text columns out with --drop"
            )
        return reading

    @property
    def options(self) -> dict[str, bool]:
        """Which options were given."""
        return {
            "--impute": self._imputes,
            "--log": self.log,
            "--log-cpm": self.log_cpm,
        }

    def steps(self, table: Table) -> list[Any]:
        """What ``prepare`` of :func:`~sparsieve.select` takes, for this table."""
        from ...preprocessing.steps import Imputer as Fill

        steps: list[Any] = []
        if self._imputes:
            steps.append(Fill(self._strategy, text_groups=tuple(table.text_groups.values())))
        return [*steps, *["log"] * self.log, *["log-cpm"] * self.log_cpm]

    def gaps(self, reading: Reading) -> str:
        """What becomes of missing values, as ``gaps`` of ``read_table``."""
        if self.feature_groups == CATEGORIES:
            return "mark"
        return "value" if reading.encode_text is None else "nan"

    def groups(self, table: Table) -> Any:
        """What ``feature_groups`` of :func:`~sparsieve.select` takes, for this table."""
        if self.feature_groups is None or self.feature_groups == CATEGORIES:
            return self.feature_groups
        from ..io.rows import read_feature_groups

        whole = table.made_names if table.together else {}
        return read_feature_groups(Path(self.feature_groups), table.feature_names, whole)

    @property
    def _imputes(self) -> bool:
        return self.impute or self.imputer is not None

    @property
    def _strategy(self) -> str:
        return (self.imputer or Imputer.median).value


_column = partial(typer.Option, metavar="COL", rich_help_panel="Survival times")


@dataclass(frozen=True)
class SurvivalColumns:
    """The columns that the options name."""

    survival_time: str | None = _column(
        None,
        "--time",
        help="Column with the time to the event or to censoring; instead of --target, with "
        "--event.",
    )
    event: str | None = _column(
        None,
        "--event",
        help="Column that says whether the event happened: 1 or true, else 0 or false (censored).",
    )
    entry: str | None = seldom(
        None,
        "--entry",
        metavar="COL",
        help="Column with the time at which the observation of a sample began, if not 0.",
    )
    strata: str | None = seldom(
        None,
        "--strata",
        metavar="COL",
        help="Column with the stratum of each sample, such as the hospital: samples are compared "
        "only within it.",
    )
    event_value: str | None = seldom(
        None,
        "--event-value",
        metavar="LABEL",
        help="The label in --event that says that the event happened, such as dead. Default: 1, "
        "true or 1:...",
    )

    @property
    def _columns_by_role(self) -> dict[str, str]:
        """The columns by what they hold."""
        columns = {"time": self.survival_time, **vars(self)}
        del columns["survival_time"], columns["event_value"]
        return {name: column for name, column in columns.items() if column is not None}

    def check(self, target: str | None, task: str) -> None:
        """Refuse options that do not go together."""
        given = {f"--{name}": column for name, column in self._columns_by_role.items()}
        if self.event_value is not None and self.event is None:
            raise UsageError("--event-value needs --time and --event")
        if not given:
            return
        if self.survival_time is None or self.event is None:
            missing = "--time" if self.survival_time is None else "--event"
            raise UsageError(f"{next(iter(given))} needs {missing} too: survival times need both")
        if target is not None:
            raise UsageError("--target and --time exclude each other: name one target")
        if task != "auto":
            raise UsageError(f"--task {task} and --time exclude each other: leave --task out")
        if len(set(given.values())) < len(given):
            raise UsageError(f"{' and '.join(given)} must name different columns")

    def task(self, task: str) -> str:
        """How the target is read."""
        return task if self.survival_time is None else "survival"

    def read_table(self, reading: Reading, path: Path, task: str, **how: Any) -> Table:
        """The table with survival times as its target, where they were asked for."""
        if self.survival_time is None:
            return reading.read_table(path, task=task, **how)
        target = (self.survival_time, self.event)
        named: dict[str, Any] = {
            "entry": self.entry,
            "strata": self.strata,
            "event_value": self.event_value,
        }
        return reading.read_table(path, target=target, **named, **how)
