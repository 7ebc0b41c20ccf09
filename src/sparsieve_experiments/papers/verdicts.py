"""What an exhibit says of a paper's claim: what was compared, how often it holds, what is a tie.

A sentence such as "best on 3 of 5" hides what matters: against whom, how many of the three are
ties, over how many splits, and what guessing would give. A :class:`Verdict` holds all of that and
cannot be made of a method and itself, whatever the two are called.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sparsieve.report.wording import listed_names

from ..studies.sources import DatasetSpec
from .base import Bench
from .numbers import rounded

TIE_TOL = 1e-9  # values that differ by less, relatively, are the same number of hits
_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_BETTER = {"higher": ("high", "highest"), "lower": ("low", "lowest")}


@dataclass(frozen=True)
class Verdict:
    """How often a method is the best of those that were compared.

    Parameters
    ----------
    method : str
        Of which something is claimed.
    rivals : sequence of str
        What it is compared with.
    measure : str
        What is compared: "accuracy", "number of features".
    values : mapping of case to mapping of str to float
        The value of every method in every case. A case is a data set, or a tuple that begins with
        one, such as (data set, K). Cases that lack a method are left out and said to be.
    better : {"higher", "lower"}, default="higher"
    cases : str, default="sets"
        What the cases are, in the plural.
    splits : int or None
        Splits, folds or draws behind every value; None where nothing is drawn.
    chance : mapping of str to float
        Value that guessing the largest class gives, by data set; see :func:`chance_levels`.
    unit : str, default=" %"
        Written behind a value.
    ran : mapping of str to anything
        What was really run under a method's name, where the name does not say it: the model and
        its parameters, as plain data. Two methods that ran the same are one.

    Examples
    --------
    >>> from sparsieve_experiments.papers.verdicts import Verdict
    >>> accuracy = {"Colon": {"l0": 94.0, "l1": 80.0}, "Lung": {"l0": 100.0, "l1": 100.0},
    ...             "CNS": {"l0": 60.0, "l1": 65.0}}
    >>> str(Verdict("l0", ["l1"], "accuracy", accuracy, splits=10, chance={"CNS": 65.0}))
    'l0 against l1: its accuracy is at least as high on 2 of 3 sets, one of them tied at 100 % \
(Lung), 3 points ahead on average; means of 10 splits; guessing the largest class gives 65 %, and \
no method more on CNS.'
    >>> str(Verdict("l0", ["l0"], "accuracy", accuracy))
    Traceback (most recent call last):
    ValueError: a verdict compares l0 with itself
    """

    method: str
    rivals: Sequence[str]
    measure: str
    values: Mapping[Any, Mapping[str, float | None]]
    better: str = "higher"
    cases: str = "sets"
    splits: int | None = None
    chance: Mapping[str, float] = field(default_factory=dict)
    unit: str = " %"
    ran: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.better not in _BETTER:
            raise ValueError(f"better must be higher or lower, got {self.better!r}")
        if not self.rivals:
            raise ValueError(f"a verdict on {self.method} needs a method to compare it with")
        own = self._identity(self.method)
        for rival in self.rivals:
            if rival == self.method:
                raise ValueError(f"a verdict compares {self.method} with itself")
            if self._identity(rival) == own:
                raise ValueError(
                    f"a verdict compares {self.method} with itself: {rival} ran the same, {own}"
                )

    def _identity(self, method: str) -> str:
        return json.dumps(self.ran.get(method, method), sort_keys=True, default=repr)

    # -- what is found -------------------------------------------------------------------

    @property
    def complete(self) -> dict[Hashable, dict[str, float]]:
        """The cases where every method has a value."""
        compared = (self.method, *self.rivals)
        found = {}
        for case, given in self.values.items():
            numbers = {name: value for name in compared if (value := given.get(name)) is not None}
            if len(numbers) == len(compared) and all(map(math.isfinite, numbers.values())):
                found[case] = numbers
        return found

    @property
    def wins(self) -> list[Hashable]:
        """Cases where no rival is better; ties count."""
        return [case for case, found in self.complete.items() if self._lead(found) >= 0]

    @property
    def ties(self) -> list[Hashable]:
        """Those among the wins where a rival is as good."""
        return [case for case in self.wins if self._lead(self.complete[case]) == 0]

    def _lead(self, found: Mapping[str, float]) -> float:
        """Ours less the best rival's, or the reverse where lower is better; 0 for a tie."""
        ours, others = found[self.method], [found[name] for name in self.rivals]
        best = max(others) if self.better == "higher" else min(others)
        if abs(ours - best) <= TIE_TOL * max(abs(ours), abs(best), 1.0):
            return 0.0
        return ours - best if self.better == "higher" else best - ours

    # -- what is said --------------------------------------------------------------------

    def __str__(self) -> str:
        many = len(self.rivals) > 1
        against = f"{self.method} against {listed_names(self.rivals)}"
        if not self.complete:
            return f"{against}: nothing to compare, no case has numbers of all of them."
        word, most = _BETTER[self.better]
        said = f"the {most}" if many else f"at least as {word}"
        parts = [f"{against}: its {self.measure} is {said} {self.score}, {self._about_lead()}"]
        if self.splits is not None:
            parts.append(f"means of {self.splits} splits" if self.splits > 1 else "one split")
        if self.chance:
            parts.append(self._about_chance())
        left_out = len(self.values) - len(self.complete)
        if left_out:
            parts.append(f"{left_out} without numbers of all methods left out")
        return "; ".join(parts) + "."

    @property
    def score(self) -> str:
        """How often, in words: "on 3 of 5 sets, one of them tied at 100 %"."""
        word = "on" if self.cases.endswith("sets") else "in"
        said = f"{word} {len(self.wins)} of {len(self.complete)} {self.cases}"
        n_sets = len(set(map(_dataset, self.complete)))
        if n_sets != len(self.complete):
            said += f" ({n_sets} data set{'s' if n_sets > 1 else ''})"
        return said + self._about_ties()

    def _about_lead(self) -> str:
        leads = [self._lead(found) for found in self.complete.values()]
        mean = sum(leads) / len(leads)
        unit = " points" if self.unit == " %" else self.unit
        if mean == 0:
            return "level on average"
        return f"{abs(mean):.3g}{unit} {'ahead' if mean > 0 else 'behind'} on average"

    def _about_ties(self) -> str:
        ties = self.ties
        if not ties:
            return ", none of them tied" if self.wins else ""
        count = _WORDS[len(ties)] if len(ties) < len(_WORDS) else str(len(ties))
        which = "all of them" if len(ties) == len(self.wins) > 1 else f"{count} of them"
        levels = sorted({float(f"{self.complete[case][self.method]:.4g}") for case in ties})
        at = f" at {levels[0]:g}{self.unit}" if len(levels) == 1 else ""
        named = ", ".join(map(_case, ties[:3])) + (" and others" if len(ties) > 3 else "")
        return f", {which} tied{at} ({named})"

    def _about_chance(self) -> str:
        known = {
            case: self.chance[_dataset(case)]
            for case in self.complete
            if _dataset(case) in self.chance
        }
        if not known:
            return "chance levels are not known"
        low, high = min(known.values()), max(known.values())
        span = f"{rounded(low, 3):g}" + (f" to {rounded(high, 3):g}" if high > low else "")
        said = f"guessing the largest class gives {span}{self.unit}"
        if self.better == "higher":
            idle = [
                case
                for case, level in known.items()
                if max(self.complete[case].values()) <= level + TIE_TOL
            ]
            if idle:
                shown = ", ".join(map(_case, idle[:5])) + (" and others" if len(idle) > 5 else "")
                said += f", and no method more on {shown}"
        return said


def verdict_of(
    rows: Sequence[Mapping[str, Any]],
    column: str,
    method: str,
    rivals: Sequence[str] | None = None,
    *,
    by: Sequence[str] = ("dataset",),
    **settings: Any,
) -> Verdict:
    """The verdict on a column of an exhibit's rows.

    Parameters
    ----------
    rows : list of dict
        With ``method``, ``column`` and the columns named by ``by``.
    column : str
        What to compare.
    method : str
    rivals : sequence of str, default=None
        All other methods of the rows if not given.
    by : sequence of str, default=("dataset",)
        Columns that make a case; the first is the data set.
    **settings
        Of :class:`Verdict`; ``measure`` is the name of the column if not given.

    Examples
    --------
    >>> from sparsieve_experiments.papers.verdicts import verdict_of
    >>> rows = [{"dataset": "wine", "method": "a", "accuracy": 90.0},
    ...         {"dataset": "wine", "method": "b", "accuracy": 80.0}]
    >>> verdict_of(rows, "accuracy", "a").score
    'on 1 of 1 sets, none of them tied'
    """
    values: dict[Hashable, dict[str, float | None]] = {}
    for row in rows:
        case = row[by[0]] if len(by) == 1 else tuple(row[name] for name in by)
        values.setdefault(case, {})[row["method"]] = row[column]
    if rivals is None:
        rivals = [name for name in dict.fromkeys(row["method"] for row in rows) if name != method]
    return Verdict(method, rivals, **{"measure": column, **settings}, values=values)


def lower_verdict(
    rows: Sequence[Mapping[str, Any]],
    column: str,
    method: str,
    rivals: Sequence[str] | None,
    measure: str,
    unit: str = " %",
    **settings: Any,
) -> Verdict:
    """The verdict on a column of which less is better, such as a number of features or a time."""
    settings = {"measure": measure, "unit": unit, "better": "lower", **settings}
    return verdict_of(rows, column, method, rivals, **settings)


def chance_levels(bench: Bench, sets: Mapping[str, str]) -> dict[str, float]:
    """Percent that guessing the largest class gives, by the name that an exhibit shows."""
    found = bench.jobs(
        f"{bench.paper} chance levels",
        largest_class,
        [{"dataset": name} for name in dict.fromkeys(sets.values())],
    )
    levels = {row["dataset"]: row["percent"] for row in found}
    return {shown: levels[name] for shown, name in sets.items() if name in levels}


def largest_class(setting: dict) -> dict:
    """Share of the largest class of a data set in percent."""
    y = DatasetSpec(setting["dataset"]).load().y.tolist()
    return {"percent": 100.0 * max(map(y.count, set(y))) / len(y)}


def fall(trace: Sequence[float], *, definite: bool, steep: float = 1e6) -> str:
    """Whether an iteration's objective falls without bound, in words.

    An indefinite problem has no convex minimum, but inside bounds its objective still ends
    somewhere; only one that has left every scale of its beginning, or every number, is said to
    fall without bound.

    Parameters
    ----------
    trace : sequence of float
        Objective after every iteration.
    definite : bool
        Whether the quadratic form is positive semidefinite.
    steep : float, default=1e6
        How many times the size of its first value (at least 1) an objective must lie below zero.

    Returns
    -------
    word : {"falls without bound", "indefinite", "bounded"}

    Examples
    --------
    >>> from sparsieve_experiments.papers.verdicts import fall
    >>> fall([1.0, -1e30], definite=False), fall([1.0, 0.5], definite=False)
    ('falls without bound', 'indefinite')
    """
    numbers = list(trace)
    if numbers and not definite:
        first = abs(numbers[0]) if math.isfinite(numbers[0]) else 1.0
        if not numbers[-1] >= -steep * max(first, 1.0):  # also when it is no number any more
            return "falls without bound"
    return "bounded" if definite else "indefinite"


def _dataset(case: Hashable) -> Any:
    return case[0] if isinstance(case, tuple) else case


def _case(case: Hashable) -> str:
    if not isinstance(case, tuple):
        return str(case)
    return " at ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in case)
