"""The report of a study: methods on data sets, compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sparsieve._text import listed_names, plural
from sparsieve.app.report.elements import Chart, Section, Table, make_table
from sparsieve.app.report.page import Report, provenance_section
from sparsieve.app.report.wording import capitalise, duration
from sparsieve.scoring.models import KINDS, TASKS

from ..studies import StoreError, StoreReader, result_rows
from .study_results import StudyResults
from .study_sections import (
    picture,
    ranks_section,
    redundancy_section,
    scores_section,
    stability_section,
    times_section,
    warnings_section,
)

_MAX_STANDINGS = 3  # sentences of a headline
_KINDS = {**KINDS, "counts": "counts"}


def study_report(
    store: Any, study: str | None = None, *, title: str | None = None, command: str = ""
) -> Report:
    """Report on the finished cells of a study.

    Parameters
    ----------
    store : str, path or Store
        The SQLite file of the results.
    study : str, default=None
        Its name; not needed where the store holds a single study.
    title : str, default=None
        Heading of the report; the name of the study if not given.
    command : str, default=""
        The command line that made it, to be shown.

    Returns
    -------
    report : Report
        ``report.save("report.html")`` writes it; a notebook shows it.

    See Also
    --------
    sparsieve_experiments.studies.run_study : Computes a study.
    sparsieve.app.report.comparison_report : Report on compared methods.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import Study, run_study
    >>> from sparsieve_experiments.report import study_report
    >>> study = Study("small", ["wine"], ["fisher", "relieff"], Folds(3), ks=[2, 4])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "small.sqlite"
    ...     outcome = run_study(study, store)
    ...     report = study_report(store)
    >>> report.title
    'Study small'
    """
    if not isinstance(store, StoreReader):
        with opened_study(store, study) as (reader, name):
            return study_report(reader, name, title=title, command=command)
    name = _the_study(store, study)
    rows = result_rows(store, name)
    if not rows:
        raise StoreError(f"no cell of study {name!r} is finished yet")
    by_task = [
        StudyResults(found)
        for task in TASKS
        if (found := [row for row in rows if row["task"] == task])
    ]
    several = len(by_task) > 1
    # The first task's first picture opens the page; the others stand in their sections.
    pictures = [
        (results, picture(results) if place else None) for place, results in enumerate(by_task)
    ]
    counts = store.counts(name)
    failed = store.cells(name, states=("failed",))
    sections = [
        *(section for results, drawn in pictures for section in _sections(results, drawn, several)),
        _failures(failed),
        provenance_section(
            None,
            command=command,
            seed=store.cells(name)[0]["spec"].get("study_seed"),
            versions=_versions(rows),
            text=_procedure(by_task),
            tables=[_methods(rows)],
        ),
    ]
    return Report(
        title=title or f"Study {name}",
        headline=" ".join(_headline(results, beside_others=several) for results in by_task),
        sections=[section for section in sections if section is not None],
        figures={
            "methods": str(len({row["selector"] for results in by_task for row in results.rows})),
            "data sets": str(sum(len(results.datasets) for results in by_task)),
            "fits": f"{counts['done']:,}",
            **({"failed fits": f"{counts['failed']:,}"} if counts["failed"] else {}),
        },
        warnings=_warnings(counts, [row for results in by_task for row in results.rows]),
        picture=picture(by_task[0]),
    )


def _sections(results: StudyResults, drawn: Chart | None, beside_others: bool) -> list[Section]:
    """What is shown of one kind of target; its name is in every heading where there are two."""
    made = [
        None if drawn is None else Section("Scores over the number of features", (), [drawn]),
        scores_section(results),
        ranks_section(results),
        stability_section(results),
        redundancy_section(results),
        times_section(results),
        warnings_section(results),
    ]
    found = [section for section in made if section is not None]
    if not beside_others:
        return found
    return [replace(s, title=f"{s.title} ({_KINDS[results.task]})") for s in found]


@contextmanager
def opened_study(store: Any, study: str | None) -> Iterator[tuple[StoreReader, str]]:
    """The store, opened where it is a path, and the name of the study that is meant."""
    if isinstance(store, StoreReader):
        yield store, _the_study(store, study)
        return
    if not Path(store).exists():
        raise StoreError(f"there is no store {store}; run_study makes it")
    with StoreReader(store) as reader:
        yield reader, _the_study(reader, study)


def _the_study(store: StoreReader, study: str | None) -> str:
    names = store.studies()
    if study is None and len(names) == 1:
        return names[0]
    if study in names:
        return str(study)
    known = ", ".join(names) or "none"
    raise StoreError(
        f"the store has no study {study!r}; it has: {known}"
        if study is not None
        else f"the store has several studies, name one of: {known}"
    )


def _warnings(counts: dict, rows: list[dict]) -> list[str]:
    found = []
    if counts["open"] or counts["running"]:
        missing = counts["open"] + counts["running"]
        found.append(f"The study is not complete: {plural(missing, 'fit')} still to compute.")
    if counts["failed"]:
        found.append(
            f"{plural(counts['failed'], 'fit')} failed and are not shown: see the table of "
            "failures."
        )
    warned = {r["cell"]: r["selector"] for r in rows if r["warnings"]}
    if warned:
        found.append(
            f"{plural(len(warned), 'fit')} of {plural(len(set(warned.values())), 'method')} gave "
            "warnings, such as a solver that did not converge: see the table of warnings."
        )
    optimistic = sorted({r["selector"] for r in rows if r["tuning"] == "best-on-test"})
    if optimistic:
        found.append(
            f"The scores of {listed_names(optimistic)} are too good: parameters were chosen on the "
            "test samples."
        )
    return found


def _failures(cells: list[dict]) -> Section | None:
    if not cells:
        return None
    specs = [(cell["spec"], cell["error"]) for cell in cells]
    times = Counter((s.get("dataset", ""), s.get("label", ""), error) for s, error in specs)
    titles = ("data set", "method", "error", "cells")
    rows = [dict(zip(titles, (*what, n), strict=True)) for what, n in times.items()]
    return Section("Failures", (), [make_table("Failures", rows)])


def _methods(rows: list[dict]) -> Table:
    """Every method with its parameters."""
    keys = ("selector", "class", "parameters", "tuning")
    found = dict.fromkeys(tuple(row[key] for key in keys) for row in rows)
    names = {"selector": "method"}
    return make_table("Methods", [dict(zip(keys, f, strict=True)) for f in found], names=names)


def _versions(rows: list[dict]) -> dict[str, str]:
    """Of the software that computed the results; several where they differ."""
    ending = "_version"
    names = [name for name in rows[0] if name.endswith(ending)]
    return {
        name.removesuffix(ending).replace("_", "-"): ", ".join(
            sorted({str(row[name]) for row in rows if name in row})
        )
        for name in names
    }


def _headline(results: StudyResults, *, beside_others: bool = False) -> str:
    """The answer; one sentence where all data sets can be compared at once."""
    found = results.standings()
    about = f"On data sets with {_KINDS[results.task]}, " * beside_others
    if not found:
        return f"{about}{'no' if about else 'No'} data set has a score of every method yet."
    ahead = [standing.sentences()[0] for standing in found[:_MAX_STANDINGS]]
    more = len(found) - _MAX_STANDINGS
    return about + " ".join(ahead) + f" And {plural(more, 'more data set')}." * (more > 0)


def _procedure(by_task: list[StudyResults]) -> list[str]:
    rows = [row for results in by_task for row in results.rows]
    protocols = dict.fromkeys(row["protocol"] for row in rows)
    what = "; or ".join(protocol_words(json.loads(protocol)) for protocol in protocols)
    is_classes = any(results.task == "classification" for results in by_task)
    stratified = ", stratified by class" * (is_classes and "group" not in what)
    seconds = sum({r["cell"]: r["seconds"] for r in rows}.values())
    machines = {r["machine"] for r in rows}
    where = "one machine" if len(machines) == 1 else f"{len(machines)} machines"
    return [
        f"{capitalise(what)}{stratified}; the same splits for every method. Every method selects "
        "on the training samples of a split only.",
        f"All fits together took {duration(seconds)} on {where}.",
    ]


def protocol_words(protocol: dict[str, Any]) -> str:
    """How samples were divided, in words.

    Examples
    --------
    >>> from sparsieve_experiments.report.studies import protocol_words
    >>> protocol_words({"kind": "splits", "train_fraction": 0.7, "n_repeats": 10})
    '10 random splits with 70 % of the samples for training'
    >>> protocol_words({"kind": "folds", "n_folds": 5, "n_repeats": 1, "grouped": True})
    '5-fold cross-validation with the samples of a group kept together'
    """
    kind, n_repeats = protocol["kind"], protocol.get("n_repeats", 1)
    together = " with the samples of a group kept together" * bool(protocol.get("grouped"))
    if kind in ("folds", "first-folds"):
        again = f", repeated {n_repeats} times" * (n_repeats > 1)
        part = ", the first folds only" * (kind == "first-folds")
        return f"{protocol['n_folds']}-fold cross-validation{again}{part}{together}"
    if kind == "time":
        return "training samples before test samples in time"
    share = f"{100 * float(Fraction(str(protocol['train_fraction']))):.3g} %"
    of_class = "every class" if protocol.get("per_class") else "the samples"
    splits = plural(n_repeats, "random split")
    return f"{splits} with {share} of {of_class} for training{together}"
