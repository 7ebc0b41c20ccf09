"""The runs behind a record: what each computed, when and where, and how another one is added."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from sparsieve.datasets import list_datasets

from ..studies.exhibits import Exhibit
from .base import Preset, printed_name
from .claims import DATA_SETS
from .data import printed_sizes
from .planning import Plan, plan_of

if TYPE_CHECKING:
    from .records import Record


def kind_of(rows: Sequence[Mapping], name: str) -> str:
    """How the values of a column are written: "int", "float", "text", or "json" for the others."""
    values = [row[name] for row in rows if row.get(name) is not None]
    if all(type(value) is int for value in values):
        return "int"
    if all(type(value) in (int, float) for value in values):
        return "float"
    if all(type(value) is str and value for value in values):
        return "text"
    return "json"


def csv_table(names: Sequence[str], rows: Sequence[Mapping], kinds: Mapping[str, str]) -> str:
    """The text of a CSV file."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_written(row.get(name), kinds[name]) for name in names])
    return lines.getvalue()


def _written(value: Any, kind: str) -> str:
    if value is None:
        return ""
    if kind == "float":
        return f"{value:.6g}"
    return json.dumps(short(value)) if kind == "json" else str(value)


def short(value: Any) -> Any:
    """Six digits of every number, however deep: nobody reads more, and files stay small."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: short(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [short(part) for part in value]
    return value


def csv_rows(text: str, kinds: Mapping[str, str]) -> list[dict]:
    """The rows of such a text."""
    read: dict[str, Callable[[str], Any]] = {
        "int": int,
        "float": float,
        "text": str,
        "json": json.loads,
    }
    return [
        {name: read[kinds[name]](value) if value else None for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


class RecordError(ValueError):
    """A record is missing, damaged, or of a format that this version does not read.

    See Also
    --------
    sparsieve_experiments.papers.read_record : Reads what was recorded.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve_experiments.papers import RecordError, read_record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         read_record("l20", pathlib.Path(folder))
    ...     except RecordError:
    ...         print("no record there")
    no record there
    """


@dataclass(frozen=True)
class Run:
    """One run behind a record. Of rows that two runs have, the later run's are kept.

    Attributes
    ----------
    experiments, datasets : tuple of str
        What it computed, and on which data sets, by the names of the registry.
    protocol : str
        Fingerprint of its plan.
    date, version : str
        When it was recorded, and by which version of the library.
    where : dict
        Versions of Python and packages, processor.
    halving : bool
        Whether a large grid was searched by successive halving.
    n_repeats : int or None
        Repetitions of the splits at most; those of the level if None.
    """

    experiments: tuple[str, ...]
    datasets: tuple[str, ...]
    protocol: str
    date: str
    version: str
    where: Mapping[str, Any]
    halving: bool = False
    n_repeats: int | None = None

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Run:
        """The run that :attr:`said` describes."""
        n_repeats = said.get("n_repeats")
        return cls(
            tuple(map(str, said["experiments"])),
            tuple(map(str, said["datasets"])),
            str(said["protocol"]),
            str(said["date"]),
            str(said["version"]),
            dict(said["where"]),
            bool(said.get("halving", False)),
            None if n_repeats is None else int(n_repeats),
        )

    @property
    def said(self) -> dict[str, Any]:
        """As a record keeps it."""
        found = asdict(self)
        for name in ("halving", "n_repeats"):
            if not found[name]:
                del found[name]
        return found

    def plan(self, preset: Preset, level: str) -> Plan:
        """What such a run computes as the experiments are defined now."""
        done = [one for one in preset.experiments if one.name in self.experiments]
        sets = frozenset(self.datasets)
        return plan_of(preset.paper, level, done, sets, self.halving, self.n_repeats)

    def covers(self, other: Run) -> bool:
        """Whether it has computed all that another run has."""
        return {*self.experiments} >= {*other.experiments} and {*self.datasets} >= {*other.datasets}

    def printed_sets(self, paper: str) -> list[str]:
        """The names that the paper prints for its data sets."""
        found = {info.name: info.papers[paper] for info in list_datasets(paper=paper)}
        return [found.get(name, name) for name in self.datasets]


def check_same_protocol(runs: Sequence[Run], preset: Preset, level: str) -> None:
    """Refuse runs whose rows would not be those of the experiments as they are defined now."""
    for run in runs:
        if run.plan(preset, level).fingerprint != run.protocol:
            raise RecordError(
                f"the record of {preset.paper} has rows of an older protocol (recorded on "
                f"{run.date}): methods, grids or splits have changed since, so that new rows "
                "cannot stand beside them; record all of it anew, without adding to it"
            )


def tidy(preset: Preset, exhibit: Exhibit) -> Exhibit:
    """An exhibit data set by data set in the order of the paper, whichever run they come from.

    Its short form and totals are made anew from all rows, where the paper declares how.
    """
    rows = in_order(preset.paper, exhibit.rows)
    found = preset.again(replace(exhibit, rows=rows, summary=()))
    summary = found.summary or in_order(preset.paper, exhibit.summary)
    return replace(found, summary=summary, codes=exhibit.codes)


def in_order(paper: str, rows: Sequence[dict]) -> list[dict]:
    """Rows data set by data set in the order of the paper; others as they are."""
    if not _of_sets(rows):
        return list(rows)
    names = [*printed_sizes(paper), *(printed_name(str(row["dataset"])) for row in rows)]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return sorted(rows, key=lambda row: places[printed_name(str(row["dataset"]))])


def joined(preset: Preset, before: Sequence[Exhibit], run: Sequence[Exhibit]) -> list[Exhibit]:
    """Exhibits with the rows of a run in the place of older ones of the same data sets."""
    added = {exhibit.name: exhibit for exhibit in run}
    found = []
    for exhibit in before:
        new = added.pop(exhibit.name, None)
        found.append(exhibit if new is None else _joined(preset, exhibit, new))
    return found + list(added.values())


def _joined(preset: Preset, before: Exhibit, run: Exhibit) -> Exhibit:
    if not (_of_sets(before.rows) and _of_sets(run.rows)):
        return run  # of no data set, so that the run has computed all of it
    rows = run.rows
    if run.name == DATA_SETS:  # which lists missing ones as well
        rows = [row for row in rows if row.get("n_samples") is not None]
    sets = {row["dataset"] for row in rows}
    run = replace(run, codes={**before.codes, **run.codes})
    whole = tidy(preset, replace(run, rows=_beside(before.rows, rows, sets), summary=()))
    if whole.summary or not run.summary:
        return whole
    if not (_of_sets(before.summary) and _of_sets(run.summary)):
        raise RecordError(
            f"{run.name} has a short form over all data sets that cannot be made from its rows; "
            "record it with all data sets at once"
        )
    return tidy(preset, replace(whole, summary=_beside(before.summary, run.summary, sets)))


def _of_sets(rows: Sequence[dict]) -> bool:
    return all("dataset" in row for row in rows)


def _beside(before: Sequence[dict], rows: Sequence[dict], sets: set[Any]) -> list[dict]:
    return [*(row for row in before if row["dataset"] not in sets), *rows]


def with_full(record: Record, full: Record) -> Record:
    """The record with the rows of the full level in the place of others of these data sets."""
    fuller = {exhibit.name: exhibit for exhibit in full.reproduction.exhibits}
    exhibits = []
    levels: dict[str, tuple[str, ...]] = {}
    behind: dict[str, tuple[str, ...]] = {}
    for exhibit in record.reproduction.exhibits:
        found = fuller.pop(exhibit.name, None)
        if found is None:
            exhibits.append(exhibit)
        elif exhibit.name == DATA_SETS:
            exhibits.append(replace(exhibit, rows=_at_hand(exhibit.rows, found.rows)))
        else:
            rows, rest = _fill(found.rows, exhibit.rows)
            summary, _ = _fill(found.summary, exhibit.summary)
            exhibits.append(
                replace(found, rows=rows, summary=summary, codes={**exhibit.codes, **found.codes})
            )
            levels[exhibit.name] = (full.reproduction.level,)
            if rest:
                levels[exhibit.name] = (record.reproduction.level, full.reproduction.level)
                behind[exhibit.name] = rest
    levels |= dict.fromkeys(fuller, (full.reproduction.level,))  # what only the full level has
    exhibits += fuller.values()
    there = full.reproduction.missing
    missing = {name: why for name, why in record.reproduction.missing.items() if name in there}
    return replace(
        record,
        reproduction=replace(
            record.reproduction, exhibits=exhibits, levels=levels, behind=behind, missing=missing
        ),
        remarks=[*record.remarks, *(r for r in full.remarks if r not in record.remarks)],
        fuller=full,
    )


def _fill(rows: Sequence[dict], others: Sequence[dict]) -> tuple[list[dict], tuple[str, ...]]:
    """Rows, and the other rows of other data sets; and what these are called."""
    if not rows or "dataset" not in rows[0]:
        return list(rows), ()
    known = {row["dataset"] for row in rows}
    rest = [row for row in others if row.get("dataset") not in known]
    return [*rows, *rest], tuple(dict.fromkeys(row["dataset"] for row in rest))


def _at_hand(rows: Sequence[dict], fuller: Sequence[dict]) -> list[dict]:
    """The list of data sets, those included that only the full level had."""
    there = {row["dataset"]: row for row in fuller if row.get("n_samples") is not None}
    return [there.get(row["dataset"], row) if row.get("n_samples") is None else row for row in rows]
