"""What a paper's experiments are made of, and the bench they are done on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from sparsieve._text import listed_names
from sparsieve.datasets import list_datasets
from sparsieve.datasets.load import DatasetInfo
from sparsieve.scoring.outcomes import Progress

from ..studies.exhibits import Exhibit
from ..studies.jobs import run_jobs
from ..studies.results import result_rows
from ..studies.run import run_study
from ..studies.store_reader import StoreReader
from ..studies.study import Study
from .claims import Claim, Judged
from .fingerprints import fingerprint_of
from .levels import LEVELS as LEVELS
from .levels import scales, with_repeats
from .record_code import code_of_cell


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    Parameters
    ----------
    name : str
        The figures or tables that it gives, such as "figures 2 and 3".
    title : str
        What it shows, in a line.
    run : callable
        Takes a :class:`Bench` and gives exhibits.

    See Also
    --------
    sparsieve_experiments.papers.Preset : All experiments of a paper.
    sparsieve_experiments.papers.Bench : Where experiments are done.

    Examples
    --------
    >>> from sparsieve_experiments.papers import find_preset
    >>> experiment = find_preset("l0-mpm").experiments[0]
    >>> callable(experiment.run)
    True
    """

    name: str
    title: str
    run: Callable[[Bench], Iterable[Exhibit]]


@dataclass(frozen=True)
class Preset:
    """The experiments of a paper.

    Parameters
    ----------
    paper : str
        Its name here, see :data:`sparsieve.datasets.load.PAPERS`.
    citation : str
        Authors, title, year.
    experiments : sequence of Experiment
        In the order of the paper.
    coarser : dict of str to str
        What the levels "quick" and "standard" leave out of the paper's protocol, in sentences.
    in_batches : bool
        Whether some of its methods can be solved in batches on a device.
    can_halve : bool
        Whether its full grid can be searched by successive halving.
    counts_splits : bool
        Whether its rows say over how many splits they are, so that fewer repetitions than the
        paper's can stand beside the others.
    claims : callable
        Takes a level and gives what the paper claims, to be judged by the exhibits.
    headline : callable
        Takes the judged claims by what they say, and gives what came out in a sentence.
    again : callable
        Takes an exhibit whose rows come from several runs, and gives it with the short form and
        the totals of all its rows; as it is where it does not know how.

    See Also
    --------
    sparsieve_experiments.papers.find_preset : Finds the experiments of a paper.
    sparsieve_experiments.papers.Experiment : One experiment.

    Examples
    --------
    >>> from sparsieve_experiments.papers import find_preset
    >>> preset = find_preset("l0-mkl")
    >>> preset.paper, preset.can_halve
    ('l0-mkl', True)
    """

    paper: str
    citation: str
    experiments: Sequence[Experiment]
    coarser: Mapping[str, str] = field(default_factory=dict)
    in_batches: bool = False
    can_halve: bool = False
    counts_splits: bool = False
    claims: Callable[[str], Sequence[Claim]] = lambda level: ()
    headline: Callable[[Mapping[str, Judged]], str] = lambda claims: ""
    again: Callable[[Exhibit], Exhibit] = lambda exhibit: exhibit

    @property
    def authors(self) -> str:
        """Their last names: "Sun and Yu"."""
        names = self.citation.split(":")[0].split(", ")
        return listed_names([name.split()[-1] for name in names])


@dataclass(frozen=True)
class Bench:
    """Where experiments are done: the data at hand, the store, and how much to compute.

    Parameters
    ----------
    paper : str
        Its name here.
    store : path
        SQLite file of all results; what it holds is not computed again.
    level : {"quick", "standard", "full"}
        A part of the paper's protocol in minutes, all of its data sets and methods with coarser
        grids, or exactly its protocol.
    n_jobs : int
        Processes.
    retry_failed : bool
        Whether cells that failed before are computed again.
    on_progress : callable or None
        Called with a title and a :class:`Progress`.
    errors : list of str
        Filled with what failed; shown with the exhibits, never counted as a result.
    device : str or None
        Where methods that can be solved in batches are, as torch names devices.
    halving : bool
        Whether a large grid is searched by successive halving instead of whole.
    n_repeats : int or None
        At most this many repetitions of the splits; those of the level if None.

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.
    sparsieve_experiments.papers.Experiment : One experiment.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sparsieve_experiments.papers import Bench
    >>> bench = Bench("l20", Path("l20.sqlite"), "quick")
    >>> bench.scale.n_repeats
    3
    """

    paper: str
    store: Path
    level: str = "standard"
    n_jobs: int = 1
    retry_failed: bool = False
    on_progress: Callable[[str, Progress], None] | None = None
    errors: list[str] = field(default_factory=list)
    device: str | None = None
    halving: bool = False
    n_repeats: int | None = None

    @property
    def quick(self) -> bool:
        """Whether only a part of the data sets is used."""
        return self.level == "quick"

    @property
    def scale(self) -> SimpleNamespace:
        """How much its level computes, as ``levels.toml`` of the paper declares it."""
        package = f"{__package__}.{self.paper.replace('-', '_')}"
        return with_repeats(scales(package)[self.level], self.n_repeats)

    def datasets(self, printed: Sequence[str] | None = None) -> dict[str, str]:
        """The paper's data sets at hand: printed name to name here, in the paper's order.

        Parameters
        ----------
        printed : sequence of str, default=None
            Only these, by the names that the paper prints.
        """
        found = self._printed(printed).items()
        return {name: info.name for name, info in found if self._at_hand(info)}

    def missing(self, printed: Sequence[str] | None = None) -> dict[str, str]:
        """The paper's data sets that are not at hand, and why."""
        found = self._printed(printed).items()
        return {name: _reason(info) for name, info in found if not self._at_hand(info)}

    def _printed(self, printed: Sequence[str] | None = None) -> dict[str, DatasetInfo]:
        found = {info.papers[self.paper]: info for info in list_datasets(paper=self.paper)}
        return found if printed is None else {name: found[name] for name in printed}

    def stand_ins(self, printed: Sequence[str] | None = None) -> dict[str, str]:
        """Sets at hand with the samples of missing ones: a label that says so, and the name."""
        registered = {info.name: info for info in list_datasets()}
        missing = self.missing(printed)
        return {
            stand_in_label(name, info.stand_in): info.stand_in
            for name, info in self._printed().items()
            if name in missing and info.stand_in and self._at_hand(registered[info.stand_in])
        }

    def at_hand(self, printed: Sequence[str] | None = None) -> dict[str, str]:
        """The data sets at hand and the stand-ins of missing ones: what to call them, and names."""
        return {**self.datasets(printed), **self.stand_ins(printed)}

    def study(self, study: Study, *, first: bool = False) -> list[dict]:
        """Run a study and return its rows, see :func:`sparsieve_experiments.studies.result_rows`.

        Parameters
        ----------
        study : Study
        first : bool, default=False
            Only the first cell of every selector on every data set, to see what it costs.
        """
        run_study(
            study,
            self.store,
            first=first,
            n_jobs=self.n_jobs,
            retry_failed=self.retry_failed,
            on_progress=self._progress_of(study.name),
            code=partial(code_of_cell, self.paper),
        )
        with StoreReader(self.store) as store:
            for cell in store.cells(study.name, states=("failed",)):
                where = f"{cell['spec']['label']} on {cell['spec']['dataset']}"
                self._failed(f"{study.name}: {where}: {cell['error']}")
            return result_rows(store, study.name)

    def jobs(
        self,
        name: str,
        function: Callable[..., dict],
        settings: Sequence[Mapping],
        *,
        ahead: Callable[[list[dict]], Sequence] | None = None,
    ) -> list[dict]:
        """Call a function with every setting; ``{**setting, **result}`` of those that worked.

        A setting names its data under "dataset"; what was computed from other data than those at
        hand now, or by other solvers than those of now, is computed again. ``ahead`` is that of
        :func:`sparsieve_experiments.studies.jobs.run_jobs`.
        """
        if not settings:
            return []
        outcomes = run_jobs(
            name,
            function,
            settings,
            self.store,
            fingerprint=_data_of,
            code=partial(code_of_cell, self.paper),
            ahead=ahead,
            n_jobs=self.n_jobs,
            retry_failed=self.retry_failed,
            on_progress=self._progress_of(name),
        )
        for outcome in outcomes:
            if "error" in outcome:
                self._failed(f"{name}: {outcome['setting']}: {outcome['error']}")
        return [
            {**outcome["setting"], **outcome["result"]}
            for outcome in outcomes
            if "result" in outcome
        ]

    def _at_hand(self, info: DatasetInfo) -> bool:
        return info.status in ("embedded", "present")

    def _failed(self, message: str) -> None:
        if message not in self.errors:
            self.errors.append(message)

    def _progress_of(self, name: str):
        return None if self.on_progress is None else partial(self.on_progress, name)


def stand_in_label(printed: str, name: str) -> str:
    """What to call a data set that stands in for one of the paper's."""
    return f"{printed} (stand-in {name})"


def printed_name(label: str) -> str:
    """The paper's name of a data set, stand-in or not.

    Examples
    --------
    >>> from sparsieve_experiments.papers.base import printed_name, stand_in_label
    >>> printed_name(stand_in_label("LUNG", "lung_203")), printed_name("Yale")
    ('LUNG', 'Yale')
    """
    return label.split(" (stand-in ")[0]


def _data_of(setting: Mapping) -> str:
    return fingerprint_of(setting["dataset"]) if "dataset" in setting else ""


def _reason(info: DatasetInfo) -> str:
    stand_in = f"; {info.stand_in} holds the same samples" if info.stand_in else ""
    if info.unavailable:
        return info.unavailable + stand_in
    return f"no file in the data folder (public origin: {info.source})" + stand_in
