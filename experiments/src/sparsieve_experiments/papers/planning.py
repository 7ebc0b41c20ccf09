"""What a reproduction will compute, and how long that will take, before anything is computed."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sparsieve.datasets.load import DatasetInfo
from sparsieve.scoring.outcomes import machine, software

from ..studies.jobs import SECONDS
from ..studies.store_reader import StoreReader
from ..studies.study import Study
from .base import Bench, Experiment

Times = Mapping[tuple[str, str, str], float]  # work, data set, method: seconds of one cell
Cells = dict[str, tuple[str, str, str, str]]  # by identity: experiment, work, data set, method


@dataclass(frozen=True)
class Kind:
    """Cells that cost about the same: one piece of work with one method on one data set.

    Attributes
    ----------
    experiment, work : str
        The tables or figures that need it, and what the store calls it.
    dataset, method : str
        Empty where the work has none.
    cells : int
    seconds : float or None
        Of one core for one cell, as measured; None where none was measured.

    See Also
    --------
    sparsieve_experiments.papers.Plan : All that will be computed.
    sparsieve_experiments.papers.plan : Says beforehand what will be computed.

    Examples
    --------
    >>> from sparsieve_experiments.papers import plan
    >>> kind = plan("l0-mpm", "quick", only=["figure 8"]).kinds[0]
    >>> kind.cells > 0, kind.seconds
    (True, None)
    """

    experiment: str
    work: str
    dataset: str
    method: str
    cells: int
    seconds: float | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """What its time is measured by."""
        return self.work, self.dataset, self.method

    @property
    def seconds_in_all(self) -> float | None:
        """Of one core for all cells; None where none was measured."""
        return None if self.seconds is None else self.cells * self.seconds


@dataclass(frozen=True)
class Plan:
    """All that a reproduction will compute.

    Attributes
    ----------
    paper, level : str
    kinds : list of Kind
    later : list of str
        Work whose settings follow from results of other work; it is not counted.
    experiments : list of str
        Their names.
    fingerprint : str
        Changes with everything that is computed: methods, grids, splits, data sets.
    halving : bool
        Whether only the first round of a search by halving is counted.
    n_repeats : int or None
        Repetitions of the splits at most; those of the level if None.
    each : dict
        Every cell by what identifies it: its experiment, work, data set and method.

    See Also
    --------
    sparsieve_experiments.papers.plan : Makes it.
    sparsieve_experiments.papers.Kind : One line of the plan.

    Examples
    --------
    >>> from sparsieve_experiments.papers import plan
    >>> found = plan("l0-mpm", "quick", only=["figure 8"])
    >>> found.paper, found.level
    ('l0-mpm', 'quick')
    """

    paper: str
    level: str
    kinds: list[Kind]
    later: list[str]
    experiments: list[str]
    fingerprint: str
    halving: bool = False
    n_repeats: int | None = None
    each: Cells = field(default_factory=dict, repr=False, compare=False)

    @property
    def cells(self) -> int:
        """How many there are in all."""
        return sum(kind.cells for kind in self.kinds)

    @property
    def seconds(self) -> float | None:
        """Of one core for all cells, as far as measured; None where nothing was."""
        known = [kind.seconds_in_all for kind in self.kinds]
        return sum(filter(None, known)) if any(one is not None for one in known) else None

    @property
    def unknown(self) -> int:
        """Cells whose time nobody has measured."""
        return sum(kind.cells for kind in self.kinds if kind.seconds is None)

    def timed(self, times: Times) -> Plan:
        """The same plan with measured times."""
        kinds = [replace(kind, seconds=times.get(kind.place, kind.seconds)) for kind in self.kinds]
        return replace(self, kinds=kinds)

    def times_in(self, store: Path) -> Times:
        """Seconds of one cell of every kind, as far as a store has measured them."""
        return measured_times(store, dict.fromkeys(kind.work for kind in self.kinds))


@dataclass(frozen=True)
class Planner(Bench):
    """A bench that notes what it is asked for and computes nothing.

    Parameters
    ----------
    assumed : collection of str, default=None
        Names of the data sets to take as being at hand; those that are, if not given.
    """

    assumed: Collection[str] | None = None
    asked: list[tuple[str, Callable | None, Any]] = field(default_factory=list)

    def study(self, study: Study, **how: Any) -> list[dict]:
        """Note the cells of a study."""
        self.asked.append((study.name, None, study))
        return []

    def jobs(
        self, name: str, function: Callable[..., dict], settings: Sequence[Mapping], **how: Any
    ) -> list[dict]:
        """Note the settings."""
        self.asked.append((name, function, [dict(setting) for setting in settings]))
        return []

    def asked_by(self, experiment: Experiment) -> list[tuple[str, Callable | None, Any]]:
        """Everything that an experiment asks for: name, function and settings, or a study."""
        for _ in experiment.run(self):
            pass
        return self.asked

    def _at_hand(self, info: DatasetInfo) -> bool:
        if self.assumed is None:
            return super()._at_hand(info)
        return info.name in self.assumed


def plan_of(
    paper: str,
    level: str,
    experiments: Sequence[Experiment],
    assumed: Collection[str] | None = None,
    halving: bool = False,
    n_repeats: int | None = None,
) -> Plan:
    """What experiments will compute on the data at hand, or on those assumed to be.

    What follows from results is not counted, but named.
    """
    cells: Cells = {}
    later: dict[str, None] = {}
    for experiment in experiments:
        planner = Planner(
            paper, Path("-"), level, assumed=assumed, halving=halving, n_repeats=n_repeats
        )
        everything = planner.asked_by(experiment)
        if any(asked for _, _, asked in everything):  # or none of its data sets is at hand
            later |= dict.fromkeys(name for name, _, asked in everything if not asked)
        for name, function, asked in everything:
            if isinstance(asked, Study):
                settings = list(_study_cells(asked))
            else:
                settings = [(_identity(function, setting), setting) for setting in asked]
            for identity, setting in settings:  # figures may share their cells
                cells.setdefault(identity, (experiment.name, name, *place_of(setting)))
    digest = hashlib.sha256("\n".join([paper, level, *sorted(cells)]).encode()).hexdigest()
    names = [experiment.name for experiment in experiments]
    kinds = kinds_of([cells])
    return Plan(paper, level, kinds, [*later], names, digest[:16], halving, n_repeats, cells)


def kinds_of(several: Iterable[Cells]) -> list[Kind]:
    """The cells of one or more plans by kind; what several have in common is counted once."""
    together: Cells = {}
    for cells in several:
        together = {**cells, **together}
    return [Kind(*key, cells) for key, cells in Counter(together.values()).items()]


def place_of(setting: Mapping) -> tuple[str, str]:
    """Data set and method of a cell, by what it is to compute."""
    names = ("method", "label", "selector")
    method = next((str(setting[name]) for name in names if setting.get(name)), "")
    return str(setting.get("dataset", "")), method


def measured_times(store: Path, works: Iterable[str]) -> dict[tuple[str, str, str], float]:
    """Mean seconds of the finished cells of a store, by work, data set and method."""
    found = defaultdict(list)
    if store.exists():
        with StoreReader(store) as reader:
            for work in works:
                for cell in reader.cells(work, states=("done",)):
                    seconds = (cell["result"] or {}).get(SECONDS)
                    if isinstance(seconds, (int, float)):
                        found[work, *place_of(cell["spec"])].append(float(seconds))
    return {place: sum(same) / len(same) for place, same in found.items()}


def computed_where(store: Path) -> dict[str, Any]:
    """Versions and processor that most cells of a store name, or those here; batches name a device.

    Results on one machine may be looked at on another.
    """
    found: Counter[str] = Counter()
    devices = []
    if store.exists():
        with StoreReader(store) as reader:
            for study in reader.studies():
                devices += re.findall(", selected on (.*)$", study)
                for cell in reader.cells(study, states=("done",)):
                    result = cell["result"] or {}
                    if "machine" in result:
                        found[json.dumps(_place(result["software"], result["machine"]))] += 1
    most = found.most_common(1)
    place = json.loads(most[0][0]) if most else _place(software(), machine())
    return {**place, "device": devices[0]} if devices else place


def _place(versions: Mapping, there: Mapping) -> dict[str, Any]:
    return {**versions, "processor": there["processor"], "cpus": there["cpus"]}


def _study_cells(study: Study) -> Iterable[tuple[str, dict]]:
    """What tells the cells of a study apart, without the data themselves."""
    common = [
        study.protocol.as_dict(),
        study.ks,
        study.classifiers,
        study.scoring,
        study.zscore,
        study.seed,
    ]
    for dataset in study.dataset_specs:
        for spec in study.selector_specs:
            setting = {"dataset": dataset.name, "label": spec.label}
            chosen = [spec.name, spec.tuning, spec.grid, list(spec.before)]
            for parameters in spec.variants():
                for split in range(study.protocol.n_splits):
                    what = [study.name, dataset.name, chosen, parameters, split, common]
                    yield json.dumps(what, sort_keys=True, default=str), setting


def _identity(function: Callable | None, setting: Mapping) -> str:
    named = getattr(function, "__qualname__", "")
    return json.dumps([named, setting], sort_keys=True, default=str)
