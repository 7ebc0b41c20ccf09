"""Run a study: plan its cells, then work on those that are not computed yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from joblib import delayed

from sparsieve.scoring.outcomes import Progress

from .compute import compute
from .kinds import StudyError, shortened_text
from .sources import DatasetSpec, StudyData
from .store import Store
from .study import Cell, Study
from .worker import Worker, chosen_backend

# What a data set that cannot be had, made or split may raise.
UNUSABLE = (ValueError, TypeError, OSError, ImportError, MemoryError, OverflowError)


@dataclass(frozen=True)
class RunSummary:
    """How a run ended.

    Attributes
    ----------
    total, done, failed : int
        Cells of the study.
    computed : int
        Cells that this run has computed.
    elsewhere : int
        Cells that another process is at work on.
    skipped : dict of str to str
        Data sets that could not be loaded or split, and why.
    notes : list of str
        How targets were read where nobody said it, and which selectors were left out where.

    See Also
    --------
    sparsieve_experiments.studies.run_study : Computes a study.
    sparsieve_experiments.studies.Progress : Where a running study stands.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import Study, run_study
    >>> study = Study("small", ["wine"], ["fisher"], Folds(3), ks=[2], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = run_study(study, pathlib.Path(folder) / "small.sqlite")
    >>> summary.total, summary.failed, summary.skipped
    (3, 0, {})
    """

    total: int
    done: int
    failed: int
    computed: int
    elsewhere: int
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def run_study(
    study: Study,
    store_path: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    cluster: str | None = None,
    retry_failed: bool = False,
    first: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    code: Callable[[Mapping[str, Any]], str] | None = None,
) -> RunSummary:
    """Compute every cell of a study that is not in the store yet.

    It may be killed at any moment and run again: finished cells are kept, unfinished ones are
    computed. Several processes may run the same study on one store; no cell is computed twice.
    The results do not depend on the order, the number of jobs or interruptions.

    Parameters
    ----------
    study : Study
        What to compute.
    store_path : str or path
        SQLite file of the results, on a local disk; it is made when it does not exist.
    n_jobs : int, default=1
        Processes on this machine; -1 for one per CPU.
    cluster : str, default=None
        Address of a Dask scheduler to compute on instead (workers with one thread each, so that
        seconds and memory are those of one fit). Needs the extra ``dask``.
    retry_failed : bool, default=False
        Compute cells again that failed before.
    first : bool, default=False
        Only the first cell of every selector on every data set, to see what it costs; the others
        stay open.
    on_progress : callable, default=None
        Called with a :class:`Progress` at the start and after every cell.
    code : callable, default=None
        Takes what a cell is to compute and returns what identifies the code that does; it becomes
        part of what identifies the cell.

    Returns
    -------
    summary : RunSummary
        How many cells there are, are done and have failed.

    See Also
    --------
    sparsieve_experiments.studies.Study : What to compare.
    sparsieve_experiments.studies.RunSummary : What is returned.
    sparsieve.app.report.study_report : Report on a study.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import Study, run_study
    >>> study = Study("small", ["wine"], ["fisher"], Folds(3), ks=[2], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "small.sqlite"
    ...     first, again = run_study(study, store), run_study(study, store)
    >>> first.computed, again.computed, again.done
    (3, 0, 3)
    """
    with chosen_backend(n_jobs, cluster) as backend, Store(store_path) as store:
        planned, skipped, notes = _planned(study)
        if code is not None:
            planned = {
                name: [cell.solved_by(code(cell.spec)) for cell in cells]
                for name, cells in planned.items()
            }
        specs = {cell.key: cell.spec for cells in planned.values() for cell in cells}
        before = store.cells(study.name, ["done"])
        store.plan(study.name, specs)
        notes += _outdated(before, specs, store.states(study.name))
        worker = Worker(study.name, store, retry_failed=retry_failed, on_progress=on_progress)
        for spec in study.dataset_specs:
            wanted = planned.get(spec.name, [])
            if first:
                labels = [cell.spec["label"] for cell in wanted]
                wanted = [wanted[labels.index(label)] for label in dict.fromkeys(labels)]
            cells = {cell.key: cell for cell in wanted}
            todo = [cells[key] for key in worker.open_keys(cells)]
            if todo:
                try:
                    data = _as_planned(spec, todo[0])
                except UNUSABLE as error:
                    skipped[spec.name] = _one_line(error)
                    continue
                calls = {cell.key: _call(cell, data) for cell in todo}
                worker.work(calls, backend, large=[data.X])
        counts = store.counts(study.name)
    return RunSummary(
        total=sum(counts.values()),
        done=counts["done"],
        failed=counts["failed"],
        computed=worker.computed,
        elsewhere=counts["running"],
        skipped=skipped,
        notes=notes,
    )


def _planned(study: Study) -> tuple[dict[str, list[Cell]], dict[str, str], list[str]]:
    """Cells by data set, why some data sets have none, and what a reader should know."""
    study.codes()  # what is wrong with them is so for all data sets
    notes: list[str] = []
    planned: dict[str, list[Cell]] = {}
    skipped: dict[str, str] = {}
    for spec in study.dataset_specs:
        try:
            data = spec.load()
            planned[spec.name] = study.cells(data)
            notes += _notes(study, spec, data)
        except UNUSABLE as error:
            skipped[spec.name] = _one_line(error)
    if not planned:
        raise StudyError(f"no data set can be used: {'; '.join(skipped.values())}")
    return planned, skipped, notes


def _notes(study: Study, spec: DatasetSpec, data: StudyData) -> list[str]:
    notes = []
    if spec.task is None and (data.hint or data.task == "regression"):
        notes.append(f"data set {data.name}: {data.hint or f'y is read as {data.read_as}'}")
    notes += [
        f"data set {data.name}: {label} {why}; it is left out there"
        for label, why in study.left_out(data).items()
    ]
    return notes


def _as_planned(spec: DatasetSpec, cell: Cell) -> StudyData:
    """The data that the cells were planned for: they may change while a study runs."""
    data = spec.load()
    planned = cell.spec["fingerprint"], cell.spec["description"]
    if (data.fingerprint, data.description) != planned:
        raise StudyError(
            f"the data of {spec.name!r} changed while the study was running; nothing was computed "
            "from the new ones: run the study again"
        )
    return data


def _outdated(
    done: list[dict[str, Any]], planned: dict[str, dict[str, Any]], states: Mapping[str, str]
) -> list[str]:
    """What is said of finished cells that a study still asks for but that are not its own."""
    open_ones = [spec for key, spec in planned.items() if states.get(key) != "done"]
    asked = {(spec["dataset"], spec["label"]): spec.get("code") for spec in open_ones}
    notes: dict[str, int] = {}
    for cell in done:
        spec = cell["spec"]
        place = spec.get("dataset"), spec.get("label")
        if cell["key"] in planned or place not in asked:
            continue
        if "description" not in spec:
            why = "written by a version that did not notice when names or relevant features changed"
        elif asked[place] and not spec.get("code"):
            why = "written by a version that did not notice when the code of other packages changed"
        elif spec.get("code") != asked[place]:
            why = f"computed with other code of {shortened_text(str(place[1]))}"
        else:
            why = "of other data, other settings or another version"
        notes[why] = notes.get(why, 0) + 1
    return [
        f"{n} finished cell{'s' * (n != 1)} {'was' if n == 1 else 'were'} {why}: computed again"
        for why, n in notes.items()
    ]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _call(cell: Cell, data: StudyData):
    # Every array is an argument of its own, so that joblib can map large ones into memory or
    # send them to a cluster once.
    return delayed(compute)(
        cell.key,
        cell.spec,
        data.X,
        data.y,
        data.groups,
        data.relevant,
        data.feature_names,
        cell.split.train,
        cell.split.test,
    )
