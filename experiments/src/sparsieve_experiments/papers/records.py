"""The record of a paper's experiments: what they gave, kept as small text files.

A folder per paper: ``record.json`` says what was done when, in one run or several, one CSV file
per exhibit holds its rows, and ``times.csv`` the seconds of one cell of every kind. Nothing of the
data is in it. A
second folder, ``PAPER-full``, may hold some experiments or data sets at the full level, which a
reader gets in the place of the others. A record is checked whenever it is read: against this
format, against the protocol as it is defined now, and against the version of the library.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from sparsieve._checks import check_choice
from sparsieve._text import listed_names, plural
from sparsieve._version import __version__
from sparsieve.datasets.load import PAPERS

from ..studies.exhibits import Drawing, Exhibit, place_of_row
from .base import LEVELS, Preset
from .claims import DATA_SETS
from .planning import Plan, Times, computed_where, kinds_of
from .record_code import Older, older_rows
from .record_runs import RecordError as RecordError
from .record_runs import (
    Run,
    check_same_protocol,
    csv_rows,
    csv_table,
    joined,
    kind_of,
    short,
    tidy,
    with_full,
)
from .reproduce import Reproduction, find_preset

FORMAT = 2
CODE = "code"  # the column of the digests of what made the rows
FULL = "-full"  # what the folder of the full level is called beside that of the standard one
_MAX_FILE_BYTES = 1 << 24  # bytes of one file; ours are some kilobytes
# What reading a file that is not what it says can run into.
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    csv.Error,
)


@dataclass(frozen=True)
class Record:
    """What a paper's experiments gave when they were last recorded.

    Attributes
    ----------
    reproduction : Reproduction
        As :func:`sparsieve_experiments.papers.reproduce` returned it.
    runs : tuple of Run
        What was computed when, where and by which version of the library; a later run's rows take
        the place of an earlier one's.
    seconds : float
        Of one core for all cells.
    cells : int
    times : dict
        Seconds of one cell by work, data set and method.
    remarks : list of str
        Why it may be out of date; empty if it is not.
    fuller : Record or None
        What was done at the full level; its rows are in ``reproduction`` already.

    See Also
    --------
    sparsieve_experiments.papers.read_record : Reads it.
    sparsieve_experiments.papers.save_record : Writes it.

    Examples
    --------
    >>> from sparsieve_experiments.papers import read_record
    >>> record = read_record("l0-mpm")
    >>> record.reproduction.preset.paper, record.cells > 0
    ('l0-mpm', True)
    """

    reproduction: Reproduction
    runs: tuple[Run, ...]
    seconds: float
    cells: int
    times: dict[tuple[str, str, str], float]
    remarks: list[str] = field(default_factory=list)
    fuller: Record | None = None

    @property
    def older(self) -> list[Older]:
        """The exhibits that have rows of other code than today's, and how many."""
        return older_rows(self.reproduction.preset.paper, self.reproduction.exhibits)

    @property
    def date(self) -> str:
        """When the last run was recorded."""
        return max(run.date for run in self.runs)

    @property
    def version(self) -> str:
        """The version of the library that recorded the last run."""
        return self.runs[-1].version

    @property
    def in_words(self) -> str:
        """Date, version and level in a sentence or two."""
        minutes = f"{self.seconds / 60:.{0 if self.seconds >= 60 else 1}f}"
        devices = [run.where["device"] for run in self.runs if "device" in run.where]
        solved = f", and a GPU ({devices[0]}) for nmAPG and TopK" if devices else ""
        said = (
            f"Recorded on {self.date} with sparsieve {self.version}, {self.reproduction.level} "
            f"level: {self.cells:,} cells, {minutes} minutes of one core{solved}."
        )
        for run in self.runs:
            if run.n_repeats is not None:
                few = listed_names(run.printed_sets(self.reproduction.preset.paper))
                said += f" {few} with {plural(run.n_repeats, 'repetition')} of the splits only."
        if self.fuller is None:
            return said
        names = []
        for exhibit in self.fuller.reproduction.exhibits:
            rest = self.reproduction.behind.get(exhibit.name, ())
            if exhibit.name != DATA_SETS:
                lacks = f" (without {listed_names(list(rest))})" if rest else ""
                names.append(f"{exhibit.name}{lacks}")
        return f"{said} At the full level: {listed_names(names)}. {self.fuller.in_words}"


def save_record(
    reproduction: Reproduction, plan: Plan, times: Times, folder: Path, *, add: bool = False
) -> None:
    """Write a record into a folder; files of an older one that are not needed go.

    Parameters
    ----------
    reproduction : Reproduction
        Of all experiments of the paper; at the full level some are enough.
    plan : Plan
        What was computed for it.
    times : dict
        See :func:`sparsieve_experiments.papers.planning.measured_times`.
    folder : path
        It is made when it does not exist.
    add : bool, default=False
        Add to the record that is there: rows of other data sets and of other experiments stay,
        and the record says which run has given which. It must be of the same level and protocol.

    See Also
    --------
    sparsieve_experiments.papers.read_record : Reads what was recorded.
    sparsieve_experiments.papers.reproduce : Does the experiments.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve_experiments.papers import plan, read_record, save_record
    >>> record = read_record("l0-mpm")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder)
    ...     save_record(record.reproduction, plan("l0-mpm"), record.times, place)
    ...     again = read_record("l0-mpm", place)
    >>> len(again.reproduction.exhibits) == len(record.reproduction.exhibits)
    True
    """
    preset, level = reproduction.preset, reproduction.level
    run = Run(
        tuple(plan.experiments),
        tuple(sorted({kind.dataset for kind in plan.kinds if kind.dataset})),
        plan.fingerprint,
        date.today().isoformat(),
        __version__,
        computed_where(reproduction.store),
        plan.halving,
        plan.n_repeats,
    )
    runs, times, found, missing = [run], dict(times), reproduction.exhibits, reproduction.missing
    if add:
        before = addable(preset, level, folder)
        runs = [*(old for old in before.runs if not run.covers(old)), run]
        times = {**before.times, **times}
        found = joined(preset, before.reproduction.exhibits, found)
        lacked = before.reproduction.missing
        missing = {name: why for name, why in missing.items() if name in lacked}
    works = kinds_of([plan.each, *(one.plan(preset, level).each for one in reversed(runs[:-1]))])
    timed = [replace(kind, seconds=times.get(kind.place)) for kind in works]
    files: dict[str, str] = {}
    exhibits = []
    for exhibit in (tidy(preset, each) for each in found):
        file = f"{re.sub('[^a-z0-9]+', '-', exhibit.name.lower()).strip('-')}.csv"
        while file in files:
            file = f"more-{file}"
        columns = {name: kind_of(exhibit.rows, name) for name in exhibit.columns}
        rows = [{**row, CODE: exhibit.codes.get(place_of_row(row))} for row in exhibit.rows]
        kinds = {**columns, CODE: "text"} if exhibit.codes else columns
        files[file] = csv_table(list(kinds), rows, kinds)
        exhibits.append(
            {
                "name": exhibit.name,
                "title": exhibit.title,
                "note": exhibit.note,
                "drawings": [_said(drawing) for drawing in exhibit.drawings],
                "summary": [short(row) for row in exhibit.summary],
                "file": file,
                "kinds": columns,
            }
        )
    names = ("work", "dataset", "method", "cells", "seconds")
    measured = [vars(kind) for kind in timed if kind.seconds]
    files["times.csv"] = csv_table(
        names, measured, dict.fromkeys(names, "text") | {"seconds": "float"}
    )
    content = {
        "format": FORMAT,
        "paper": preset.paper,
        "level": level,
        "cells": sum(kind.cells for kind in works),
        "seconds": round(sum(kind.seconds_in_all or 0.0 for kind in timed), 1),
        "runs": [one.said for one in runs],
        "missing": missing,
        "errors": reproduction.errors,
        "exhibits": exhibits,
    }
    files["record.json"] = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.csv"):
        if old.name not in files:
            old.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def addable(preset: Preset, level: str, folder: Path) -> Record:
    """The record in a folder to which a run can be added; RecordError where it cannot.

    It is of the paper, the level, and the protocol as it is defined now.
    """
    with _damage_explained(preset.paper):
        found = _read(preset.paper, folder)
    if found.reproduction.level != level:
        raise RecordError(
            f"{folder} holds the {found.reproduction.level} level of {preset.paper}; a run of the "
            f"{level} level cannot be added to it"
        )
    check_same_protocol(found.runs, preset, level)
    return found


def read_record(paper: str, folder: Path | None = None) -> Record:
    """The committed record of a paper, or one in another folder.

    Parameters
    ----------
    paper : {"robust-l20", "l20", "exclusive-l21", "l0-mkl", "l0-mpm"}
    folder : path, default=None
        Where :func:`save_record` has written it; the one that comes with the package if not given.

    Returns
    -------
    record : Record
        What was computed, when, and where.

    Raises
    ------
    RecordError
        When there is none, or when it cannot be read.

    See Also
    --------
    sparsieve_experiments.papers.save_record : Records a reproduction.
    sparsieve_experiments.papers.Record : What is returned.

    Examples
    --------
    >>> from sparsieve_experiments.papers import read_record
    >>> read_record("l0-mpm").reproduction.preset.paper
    'l0-mpm'
    """
    check_choice("paper", paper, PAPERS)
    if folder is not None:
        homes: list[Any] = [folder, folder.with_name(f"{folder.name}{FULL}")]
    else:
        records = resources.files(__package__).joinpath("records")
        homes = [records.joinpath(paper), records.joinpath(f"{paper}{FULL}")]
    with _damage_explained(paper):
        record = _read(paper, homes[0])
        if homes[1].is_dir():
            record = with_full(record, _read(paper, homes[1]))
        _check_usable(record)
    return record


@contextmanager
def _damage_explained(paper: str) -> Iterator[None]:
    """A sentence in the place of what a damaged file runs into."""
    try:
        yield
    except RecordError:
        raise
    except _DAMAGE as error:
        raise RecordError(
            f"the record of {paper} is damaged ({type(error).__name__}: {error}); run: "
            f"sparsieve reproduce {paper}"
        ) from None


def _check_usable(record: Record) -> None:
    """Judge the claims and draw the charts: only that shows whether the rows are whole.

    Which values may be missing depends on the claim: a gap in an accuracy is a case less, one in
    the name of a method is damage.
    """
    found = record.reproduction
    _ = record.in_words, found.claims, [exhibit.charts for exhibit in found.exhibits]


def _read(paper: str, home: Any) -> Record:
    """The record in one folder."""

    def text(name: str) -> str:
        try:
            with home.joinpath(name).open("rb") as file:
                content = file.read(_MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            raise RecordError(
                f"there is no record of {paper} ({name} is missing); run: "
                f"sparsieve reproduce {paper}"
            ) from None
        except OSError as error:
            raise RecordError(
                f"{name} of the record of {paper} cannot be read: {error.strerror}"
            ) from None
        if len(content) > _MAX_FILE_BYTES:
            raise RecordError(f"{name} of the record of {paper} is too large to be one of ours")
        return content.decode("utf-8")

    content = json.loads(text("record.json"))
    if content["format"] != FORMAT:
        raise RecordError(
            f"the record of {paper} has format {content['format']!r}, this version reads "
            f"{FORMAT}; run: sparsieve reproduce {paper}"
        )
    if content["paper"] != paper or content["level"] not in LEVELS:
        raise RecordError(f"the record of {paper} is one of {content['paper']!r}")
    return _record(paper, content, text)


def _record(paper: str, content: dict, text: Callable[[str], str]) -> Record:
    exhibits = []
    for found in content["exhibits"]:
        rows = csv_rows(text(_file_name(found["file"])), {**found["kinds"], CODE: "text"})
        codes = {place_of_row(row): row.pop(CODE, None) for row in rows}
        exhibits.append(
            Exhibit(
                str(found["name"]),
                str(found["title"]),
                rows,
                [_drawing(drawing) for drawing in found["drawings"]],
                note=str(found["note"]),
                summary=[dict(row) for row in found["summary"]],
                codes={place: code for place, code in codes.items() if code},
            )
        )
    times = {
        (row["work"], row["dataset"], row["method"]): float(row["seconds"])
        for row in csv.DictReader(io.StringIO(text("times.csv")))
    }
    preset = find_preset(paper)
    level = content["level"]
    runs = tuple(Run.read(said) for said in content["runs"])
    remarks = []
    versions = {run.version for run in runs} - {__version__}
    if versions:
        made = listed_names(sorted(versions))
        remarks.append(f"it was made by version {made}, this is {__version__}")
    if any(run.plan(preset, level).fingerprint != run.protocol for run in runs):
        remarks.append("its protocol is an older one: methods, grids or splits have changed since")
    return Record(
        Reproduction(
            preset, exhibits, dict(content["missing"]), list(content["errors"]), level, Path("-")
        ),
        runs,
        seconds=float(content["seconds"]),
        cells=int(content["cells"]),
        times=times,
        remarks=remarks,
    )


def _file_name(name: Any) -> str:
    if not re.fullmatch(r"[a-z0-9-]+\.csv", str(name)):
        raise RecordError(f"{name!r} is no name of a file of a record")
    return str(name)


def _drawing(said: Mapping[str, Any]) -> Drawing:
    made = Drawing(**said)
    plain = asdict(Drawing("", ""))
    for name, value in asdict(made).items():
        if type(value) is not type(plain[name]):
            raise TypeError(f"{name} of a drawing is {value!r}")
    return made


def _said(drawing: Drawing) -> dict:
    """A drawing without what it leaves at its default."""
    plain = asdict(Drawing(drawing.x, drawing.y))
    return {
        name: value
        for name, value in asdict(drawing).items()
        if name in ("x", "y") or value != plain[name]
    }
