"""Do a paper's experiments again, as far as its data are at hand."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .._checks import check_choice
from ..datasets.registry import PAPERS
from ..studies.exhibits import Exhibit
from ..studies.kinds import StudyError
from ..studies.worker import Progress
from .base import LEVELS, Bench, Experiment, Preset


@dataclass(frozen=True)
class Reproduction:
    """What came of a paper's experiments.

    Attributes
    ----------
    preset : Preset
    exhibits : list of Exhibit
        Tables and figures, ours beside the printed numbers.
    missing : dict of str to str
        Data sets of the paper that are not at hand, and why.
    errors : list of str
        What failed; run it again with ``retry_failed=True``.
    level : {"quick", "standard", "full"}
    store : Path
    """

    preset: Preset
    exhibits: list[Exhibit]
    missing: dict[str, str]
    errors: list[str]
    level: str
    store: Path


def find_preset(paper: str) -> Preset:
    """The experiments of a paper.

    Parameters
    ----------
    paper : {"robust-l20", "l20", "exclusive-l21", "l0-mkl", "l0-mpm"}

    Returns
    -------
    preset : Preset
        Its experiments, none of them run.

    Examples
    --------
    >>> from sparsieve.papers import find_preset
    >>> find_preset("l20").paper
    'l20'
    """
    check_choice("paper", paper, PAPERS)
    return importlib.import_module(f".{paper.replace('-', '_')}", __package__).PRESET


def reproduce(
    paper: str,
    store,
    *,
    level: str = "standard",
    only: Sequence[str] = (),
    n_jobs: int = 1,
    retry_failed: bool = False,
    on_progress: Callable[[str, Progress], None] | None = None,
    on_exhibit: Callable[[Exhibit], None] | None = None,
) -> Reproduction:
    """Do the experiments of a paper on the data sets that are at hand.

    It may be killed at any moment and run again: what is in the store is not computed twice.

    Parameters
    ----------
    paper : {"robust-l20", "l20", "exclusive-l21", "l0-mkl", "l0-mpm"}
    store : str or path
        SQLite file of the results, on a local disk; it is made when it does not exist.
    level : {"quick", "standard", "full"}, default="standard"
        A part of the paper's protocol in minutes; all data sets at hand, all methods and the
        paper's rule of splitting with coarser grids, at most 25 minutes on two cores; or exactly
        the paper's protocol, which may take days. What is coarser stands in ``preset.coarser``.
    only : sequence of str
        Only experiments whose name contains one of these, such as "figure 4".
    n_jobs : int, default=1
        Processes; -1 for one per CPU.
    retry_failed : bool, default=False
        Compute again what failed before.
    on_progress : callable, default=None
        Called with the title of what is under way and a :class:`Progress`.
    on_exhibit : callable, default=None
        Called with every :class:`Exhibit` as soon as it is there.

    Returns
    -------
    reproduction : Reproduction
    """
    preset = find_preset(paper)
    check_choice("level", level, LEVELS)
    store = Path(store)
    bench = Bench(paper, store, level, n_jobs, retry_failed, on_progress)
    exhibits = []
    for experiment in _wanted(preset, only):
        for exhibit in experiment.run(bench):
            exhibits.append(exhibit)
            if on_exhibit is not None:
                on_exhibit(exhibit)
    return Reproduction(preset, exhibits, bench.missing(), bench.errors, level, store)


def _wanted(preset: Preset, only: Sequence[str]) -> list[Experiment]:
    wanted = [
        experiment
        for experiment in preset.experiments
        if not only or any(part.lower() in experiment.name.lower() for part in only)
    ]
    if not wanted:
        names = "; ".join(f"{e.name} ({e.title})" for e in preset.experiments)
        raise StudyError(f"no experiment of {preset.paper} is called {only[0]!r}; it has: {names}")
    return wanted
