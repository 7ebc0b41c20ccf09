"""Do a paper's experiments again, as far as its data are at hand."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sparsieve._checks import check_choice, check_integer
from sparsieve._text import listed_names, plural
from sparsieve.datasets.load import PAPERS
from sparsieve.device import torch_device
from sparsieve.scoring.outcomes import Progress

from ..studies.exhibits import Exhibit
from ..studies.kinds import StudyError
from ..studies.store_reader import StoreReader
from ..studies.study import Study
from .base import LEVELS, Bench, Experiment, Preset
from .claims import Judged, in_words
from .judging import judge_all
from .planning import Plan, Planner, place_of, plan_of
from .record_code import stamped


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
    levels : dict of str to tuple of str
        Exhibits, by name, whose rows are of other levels as well.
    behind : dict of str to tuple of str
        Data sets, by exhibit, that are of a lower level than the others there.

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.
    sparsieve_experiments.report.reproduction_report : Report on a paper's experiments.

    Examples
    --------
    >>> from sparsieve_experiments.papers import read_record
    >>> reproduction = read_record("l0-mpm").reproduction
    >>> reproduction.level, len(reproduction.exhibits) > 0
    ('standard', True)
    """

    preset: Preset
    exhibits: list[Exhibit]
    missing: dict[str, str]
    errors: list[str]
    level: str
    store: Path
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    behind: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def coarser(self) -> str:
        """What its level leaves out of the paper's protocol, in sentences."""
        said = self.preset.coarser.get(self.level, "")
        parts = {name: "in part" if levels[1:] else "" for name, levels in self.levels.items()}
        names = [f"{name} ({part})" if part else name for name, part in parts.items()]
        return f"{said} At the full level: {listed_names(names)}." if said and names else said

    @cached_property
    def claims(self) -> list[Judged]:
        """What the paper claims, and what the exhibits say about it."""
        declared = {level: self.preset.claims(level) for level in LEVELS}
        claims = [
            declared[self.levels.get(claim.exhibit, (self.level,))[-1]][place]
            for place, claim in enumerate(declared[self.level])
        ]
        return judge_all(claims, self.exhibits, self.behind)

    @property
    def headline(self) -> str:
        """What came out in a sentence; how many claims have which verdict where that lacks data."""
        told = {claim.claim: claim for claim in self.claims if claim.measured}
        try:
            said = self.preset.headline(told)
        except (KeyError, TypeError):  # nothing was measured, or not what the sentence needs
            said = ""
        return said or in_words(self.claims)


def find_preset(paper: str) -> Preset:
    """The experiments of a paper.

    Parameters
    ----------
    paper : {"robust-l20", "l20", "exclusive-l21", "l0-mkl", "l0-mpm"}

    Returns
    -------
    preset : Preset
        Its experiments, none of them run.

    See Also
    --------
    sparsieve_experiments.papers.Preset : All experiments of a paper.
    sparsieve_experiments.papers.reproduce : Does the experiments.

    Examples
    --------
    >>> from sparsieve_experiments.papers import find_preset
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
    on_plan: Callable[[Plan], None] | None = None,
    device: str | None = None,
    halving: bool = False,
    n_repeats: int | None = None,
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
        Only the experiments of these names, such as "figure 4"; a part of names takes all that
        contain it.
    n_jobs : int, default=1
        Processes; -1 for one per CPU.
    retry_failed : bool, default=False
        Compute again what failed before.
    on_progress : callable, default=None
        Called with the title of what is under way and a :class:`Progress`.
    on_exhibit : callable, default=None
        Called with every :class:`Exhibit` as soon as it is there.
    on_plan : callable, default=None
        Called with the :class:`Plan` before the work begins. At the level "full" one cell of
        every kind is computed first, so that the plan says how long all will take.
    device : str, default=None
        Where to solve all splits of a data set as one batch, such as "cuda", for papers whose
        methods can be: "robust-l20". Results are the same as without, up to rounding, and the
        store may be filled partly with, partly without. The plan has no times then.
    halving : bool, default=False
        At the full level of "l0-mkl", whose grid has 3125 points: try all on the first split, and
        one in nine of them, by accuracy inside the training half, on all, instead of all on all.
    n_repeats : int, default=None
        At most this many repetitions of the splits, where the paper has more, for data sets on
        which all of them take too long: "robust-l20", whose rows say over how many splits they
        are.

    Returns
    -------
    reproduction : Reproduction

    See Also
    --------
    sparsieve_experiments.papers.plan : Says beforehand what will be computed.
    sparsieve_experiments.papers.read_record : Reads what was recorded.
    sparsieve_experiments.report.reproduction_report : Report on a paper's experiments.
    """
    preset = _checked(paper, level, halving, n_repeats)
    check_device(preset, device)
    store = Path(store)
    bench = Bench(
        paper,
        store,
        level,
        n_jobs,
        retry_failed,
        on_progress,
        device=device,
        halving=halving,
        n_repeats=n_repeats,
    )
    exhibits = []
    experiments = _wanted(preset, only)
    _claim(bench)
    if on_plan is not None:
        planned = plan_of(paper, level, experiments, halving=halving, n_repeats=n_repeats)
        if level == "full" and device is None:
            _compute_first_cells(bench, experiments)
            planned = planned.timed(planned.times_in(store))
        on_plan(planned)
    for experiment in experiments:
        for exhibit in experiment.run(bench):
            if not exhibit.rows:
                continue  # none of its data sets is at hand
            exhibits.append(stamped(paper, exhibit))
            if on_exhibit is not None:
                on_exhibit(exhibit)
    return Reproduction(preset, exhibits, bench.missing(), bench.errors, level, store)


def check_device(preset: Preset, device: str | None) -> None:
    """Refuse a device that is not there, or that the paper's experiments would not use.

    Parameters
    ----------
    preset : Preset
        The experiments.
    device : str or None
        As torch names devices; None is the CPU, which is always right.

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.
    sparsieve_experiments.papers.check_halving : Refuses to halve what has no large grid.

    Examples
    --------
    >>> from sparsieve_experiments.papers import check_device, find_preset
    >>> check_device(find_preset("l20"), None)
    """
    if device is None:
        return
    if not preset.in_batches:
        raise ValueError(
            "a device is for papers whose methods can be solved in batches: robust-l20, not "
            f"{preset.paper}; leave it away"
        )
    torch_device(device)


def check_halving(preset: Preset, level: str, halving: bool) -> None:
    """Refuse to halve what has no large grid.

    Parameters
    ----------
    preset : Preset
        The experiments.
    level : {"quick", "standard", "full"}
        How much of them is done; only the full grid is large.
    halving : bool
        Whether it was asked for.

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.
    sparsieve_experiments.papers.check_device : Refuses a device that would not be used.

    Examples
    --------
    >>> from sparsieve_experiments.papers import check_halving, find_preset
    >>> check_halving(find_preset("l0-mkl"), "full", True)
    """
    if halving and not (preset.can_halve and level == "full"):
        raise ValueError(
            "halving is for the full level of l0-mkl, not for the "
            f"{level} level of {preset.paper}; leave it away"
        )


def check_repeats(preset: Preset, n_repeats: int | None) -> None:
    """Refuse fewer repetitions where a reader of the rows could not see them.

    Parameters
    ----------
    preset : Preset
        The experiments.
    n_repeats : int or None
        How many were asked for; None is the number of the level, which is always right.

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.
    sparsieve_experiments.papers.check_halving : Refuses to halve what has no large grid.

    Examples
    --------
    >>> from sparsieve_experiments.papers import check_repeats, find_preset
    >>> check_repeats(find_preset("robust-l20"), 1)
    """
    if n_repeats is None:
        return
    check_integer("n_repeats", n_repeats, minimum=1)
    if not preset.counts_splits:
        raise ValueError(
            "fewer repetitions are for papers whose rows say over how many splits they are: "
            f"robust-l20 and l0-mkl, not {preset.paper}; leave it away"
        )


def plan(
    paper: str,
    level: str = "standard",
    only: Sequence[str] = (),
    *,
    halving: bool = False,
    n_repeats: int | None = None,
) -> Plan:
    """What :func:`reproduce` will compute on the data sets that are at hand.

    Parameters
    ----------
    paper : {"robust-l20", "l20", "exclusive-l21", "l0-mkl", "l0-mpm"}
    level : {"quick", "standard", "full"}, default="standard"
    only : sequence of str
        Only the experiments of these names; a part of names takes all that contain it.
    halving : bool, default=False
        As of :func:`reproduce`; what the first results decide is not counted.
    n_repeats : int, default=None
        As of :func:`reproduce`.

    Returns
    -------
    plan : Plan
        With no times; see :meth:`Plan.timed`.

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.
    sparsieve_experiments.papers.Plan : What is returned.

    Examples
    --------
    >>> from sparsieve_experiments.papers import plan
    >>> plan("l0-mpm", "quick", only=["figure 8"]).level
    'quick'
    """
    preset = _checked(paper, level, halving, n_repeats)
    return plan_of(paper, level, _wanted(preset, only), halving=halving, n_repeats=n_repeats)


def _checked(paper: str, level: str, halving: bool, n_repeats: int | None) -> Preset:
    """The experiments of a paper, which can be done in this way."""
    preset = find_preset(paper)
    check_choice("level", level, LEVELS)
    check_halving(preset, level, halving)
    check_repeats(preset, n_repeats)
    return preset


def _claim(bench: Bench) -> None:
    """Note level and repetitions in the store, unless it holds others: they would be mixed."""
    name = f"{bench.paper} level"
    if bench.store.exists():
        with StoreReader(bench.store) as reader:
            noted = [cell["spec"] for cell in reader.cells(name)]
        for spec in noted:
            held, n_repeats = str(spec.get("level")), spec.get("repeats")
            if held != bench.level:
                raise StudyError(
                    f"{bench.store} holds the {held} level of {bench.paper}; ask for that level, "
                    f"or name another store for the {bench.level} one"
                )
            if n_repeats != bench.n_repeats:
                theirs = "all repetitions"
                if n_repeats is not None:
                    theirs = plural(n_repeats, "repetition")
                raise StudyError(
                    f"{bench.store} holds {theirs} of {bench.paper}; ask for the same number, or "
                    "name another store"
                )
    n_repeats = {} if bench.n_repeats is None else {"repeats": bench.n_repeats}
    bench.jobs(name, level_noted, [{"level": bench.level, **n_repeats}])


def level_noted(setting: dict) -> dict:
    """The level of a store, and fewer repetitions if it has these, as a cell of it."""
    return dict(setting)


def _compute_first_cells(bench: Bench, experiments: Sequence[Experiment]) -> None:
    """Compute one cell of every kind, so that the store knows what it costs."""
    planner = Planner(
        bench.paper, bench.store, bench.level, halving=bench.halving, n_repeats=bench.n_repeats
    )
    for experiment in experiments:
        planner.asked_by(experiment)
    for name, function, asked in planner.asked:
        if isinstance(asked, Study):
            bench.study(asked, first=True)
        elif function is not None:
            firsts = {place_of(setting): setting for setting in reversed(asked)}
            bench.jobs(name, function, list(firsts.values()))


def _wanted(preset: Preset, only: Sequence[str]) -> list[Experiment]:
    whole = {experiment.name.lower() for experiment in preset.experiments}
    wanted = [
        experiment
        for experiment in preset.experiments
        if not only
        or any(
            part.lower() == experiment.name.lower()
            or (part.lower() not in whole and part.lower() in experiment.name.lower())
            for part in only
        )
    ]
    if not wanted:
        names = "; ".join(f"{e.name} ({e.title})" for e in preset.experiments)
        raise StudyError(f"no experiment of {preset.paper} is called {only[0]!r}; it has: {names}")
    return wanted
