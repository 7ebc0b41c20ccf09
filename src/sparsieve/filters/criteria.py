"""Criteria of greedy filters, and the search that some of them need.

What a greedy search over features maximises: criteria of relevance and redundancy.

Best-first search over sets of features.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..design import standardise_columns
from ..selectors.base import TrainingData
from ..selectors.groups import group_bases
from ..validation.feature_groups import FeatureGroups
from .base import centred_target, ratio
from .group_tests import class_basis
from .information import Information

# Absolute correlations below this count as this, so that a quotient cannot run away.
MIN_CORRELATION = 1e-3
# A mean absolute correlation this close to one means copies of all that was chosen.
COPY_CORRELATION = 1.0 - 1e-12
# Steps of the greedy search compare scores after rounding to this many digits.
DIGITS = 12


class Criterion(ABC):
    """What the greedy search maximises, kept up to date as features are picked."""

    relevance: np.ndarray

    def current(self, started: bool) -> np.ndarray:
        """The score of every feature; nothing is picked before the search has started."""
        return self.scores() if started else self.relevance

    def best(self, free: np.ndarray, started: bool) -> tuple[int, float]:
        """The best of the features that are free, and its score."""
        scores = self.current(started)
        best = int(np.argmax(np.where(free, _round_scores(scores), -np.inf)))
        return best, float(scores[best])

    @abstractmethod
    def add(self, picked: int) -> None:
        """Take note of a picked feature."""

    @abstractmethod
    def scores(self) -> np.ndarray:
        """The score of every feature, once something was picked."""


class Correlation(Criterion):
    """F statistic against mean absolute correlation: one matrix-vector product per step."""

    design: Any
    total_weight: float

    def __init__(self, design: Any, total_weight: float, relevance: np.ndarray, kind: str):
        self.relevance: np.ndarray = relevance
        self.design, self.total_weight = design, total_weight
        self.sum: Any = np.zeros(len(relevance))
        self.count: int = 0
        self.is_quotient: bool = kind == "fcq"

    def add(self, picked: int) -> None:
        self.sum += self.with_others(picked)
        self.count += 1

    def with_others(self, picked: int) -> Any:
        """Absolute correlations of a feature with all."""
        correlation = abs(self._products(picked)) / self.total_weight
        return correlation.clip(min=MIN_CORRELATION) if self.is_quotient else correlation

    def _products(self, picked: int) -> Any:
        """Inner products of all columns with one of them, in double precision."""
        column = self.design.dense_columns(np.array([picked]))
        return self.design.rmatmul(column)[:, 0].astype(np.float64)

    def scores(self) -> np.ndarray:
        return self._against_redundancy(self.relevance)

    def _against_redundancy(self, relevance: Any) -> Any:
        """Relevance less the mean correlation, or divided by it; an array where the sum is one."""
        mean = self.sum / self.count
        if not self.is_quotient:
            return relevance - mean
        scores = relevance / mean.clip(min=MIN_CORRELATION)
        scores[mean >= COPY_CORRELATION] = 0.0
        return scores


class InformationCriterion(Criterion):
    """The criteria by names, of what every feature has to do with each one picked."""

    def __init__(self, information: Information, kind: str):
        self.relevance: np.ndarray = information.relevance
        self.information: Information = information
        self.kind: str = kind
        self.sum: np.ndarray = np.zeros(len(self.relevance))
        self.smallest: np.ndarray = np.full(len(self.relevance), np.inf)
        self.count: int = 0

    def add(self, picked: int) -> None:
        self.count += 1
        if self.kind in ("mid", "miq"):
            self.sum += self.information.redundancy(picked)
            return
        joint = self.information.joint_relevance(picked)
        # I(x; y | s) = I(x, s; y) - I(s; y), so one joint entropy serves.
        given = joint - self.relevance[picked]
        self.sum += given - self.relevance if self.kind == "cife" else joint
        self.smallest = np.minimum(self.smallest, given)

    def scores(self) -> np.ndarray:
        mean = self.sum / self.count
        match self.kind:
            case "mid":
                return self.relevance - mean
            case "miq":  # entropies carry rounding of this size; a redundancy below it is none
                return self.relevance / np.maximum(mean, 1e-12)
            case "jmi":  # not the sum: the same choices, and comparable along the path
                return mean
            case "cife":
                return self.relevance + self.sum
        return self.smallest


class CFS(Criterion):
    """Hall's merit of a set: k r_cf / sqrt(k + k (k - 1) r_ff), with mean correlations.

    Correlations with the target are ``relevance``; ``with_others(j)`` gives those of feature j
    with every feature, computed once and kept.
    """

    def __init__(self, relevance: np.ndarray, with_others: Callable[[int], np.ndarray]):
        self.relevance = relevance
        self._with_others = with_others
        self._rows: dict[int, np.ndarray] = {}
        self.picked: list[int] = []

    def row(self, feature: int) -> np.ndarray:
        """Correlations of one feature with all."""
        if feature not in self._rows:
            self._rows[feature] = self._with_others(feature)
        return self._rows[feature]

    def add(self, picked: int) -> None:
        self.picked.append(picked)

    def scores(self) -> np.ndarray:
        return self.merits(self.picked)

    def merits(self, members: list[int]) -> np.ndarray:
        """Merit of the set with one more feature, for every feature."""
        size = len(members) + 1
        shared = np.zeros(len(self.relevance))
        pairs = 0.0
        for feature in members:
            row = self.row(feature)
            shared += row
            pairs += float(row[members].sum() - row[feature])
        # Every pair of members is in ``pairs`` twice; each pair with the newcomer counts twice.
        among = np.maximum(pairs + 2.0 * shared, 0.0)
        return (self.relevance[members].sum() + self.relevance) / np.sqrt(size + among)


def _round_scores(scores) -> np.ndarray:
    """Scores to ``DIGITS`` digits of the largest finite one: rounding noise makes no choice."""
    finite = np.isfinite(scores)
    largest = np.abs(scores[finite]).max(initial=0.0)
    if largest == 0.0:
        return scores
    step = 10.0 ** (np.ceil(np.log10(largest)) - DIGITS)
    return np.where(finite, np.round(scores / step) * step, scores)


# Steps in a row that may fail to improve before the search ends, as in Hall (2000).
N_NO_IMPROVEMENT = 5
# A merit must grow by more than this to count as an improvement, so that rounding does not.
MERIT_TOL = 1e-12

# The merit of a set, and its members.
ScoredSet = tuple[float, tuple[int, ...]]


def best_first(criterion: CFS, candidates: np.ndarray, kept: Sequence[int] = ()) -> list[int]:
    """The set of largest merit that best-first search meets, in the order it was put together.

    Sets are opened in the order of their merit, whenever they were met: a set that looked worse
    is gone back to when its successors disappoint. All sets with one more feature are judged at
    once; of those only the next best one waits in the queue, which is enough to open every set
    in its turn. Features that are ``kept`` are in every set.
    """
    free = np.flatnonzero(candidates)
    best: list[int] = list(kept)
    best_merit = float(criterion.merits(best[:-1])[best[-1]]) if best else 0.0
    # (minus merit, age, members): the age decides between equal merits.
    queue: list[tuple[float, int, tuple[int, ...], Iterator[ScoredSet]]] = []
    seen: set[frozenset[int]] = set()
    age = 0

    def push_successors(successors: Iterator[ScoredSet]) -> None:
        nonlocal age
        for merit, members in successors:
            if frozenset(members) not in seen:
                seen.add(frozenset(members))
                heapq.heappush(queue, (-merit, age, members, successors))
                age += 1
                return

    push_successors(_successors(criterion, tuple(best), free))
    failures = 0
    while queue and failures < N_NO_IMPROVEMENT:
        negative, _, members, siblings = heapq.heappop(queue)
        if -negative > best_merit + MERIT_TOL:
            best, best_merit, failures = list(members), -negative, 0
        else:
            failures += 1
        push_successors(siblings)
        push_successors(_successors(criterion, members, free))
    return best


def _successors(criterion: CFS, members: tuple[int, ...], free: np.ndarray) -> Iterator[ScoredSet]:
    """The merits of the sets with one more feature, and these sets, best first."""
    others = free[~np.isin(free, members)]
    merits = criterion.merits(list(members))[others]
    for place in np.argsort(-merits, kind="stable").tolist():
        yield float(merits[place]), (*members, int(others[place]))


# Shares of a target above this leave nothing but rounding.
PERFECT = 1.0 - 1e-13


class GroupCorrelation(Correlation):
    """F statistics and correlations of groups, by orthonormal directions of their columns.

    The F statistic is the mean explained by a direction over the mean left, each per degree of
    freedom: about 1 for noise, whatever the size. The correlation of two groups is the root of the
    mean square of their canonical correlations. Of single columns both are what they always are.
    """

    def __init__(self, data: TrainingData, groups: FeatureGroups, kind: str):
        how = {"centre": True, "scale": True, "sample_weight": data.sample_weight}
        view = standardise_columns(data.design, **how, dtype=np.float64).design  # type: ignore[arg-type]
        bases = [np.empty((0, 0))] * groups.n_groups
        for some, found, ranks in group_bases(view, groups, data.design.dtype):
            for g, basis, rank in zip(some, found, ranks, strict=True):
                bases[g] = basis[:, :rank]
        self.ranks: np.ndarray = np.array([basis.shape[1] for basis in bases])
        self.numbers: np.ndarray = np.repeat(np.arange(groups.n_groups), self.ranks)
        self.bases: np.ndarray = np.hstack(bases)
        super().__init__(None, data.total_weight, self._f_statistics(data), kind)

    def _f_statistics(self, data: TrainingData) -> np.ndarray:
        """Of numbers by regression on the group; of classes between them, over its directions."""
        n, p = data.total_weight, np.maximum(self.ranks, 1)[:, None]
        if data.target.codes is None:
            shares = self._sums((self.bases.T @ centred_target(data)) ** 2)
            above, below = p, n - 1.0 - p
        else:
            basis = class_basis(data)
            shares = self._sums(((self.bases.T @ basis) ** 2).sum(axis=1, keepdims=True)) / p
            above, below = basis.shape[1], n - 1.0 - basis.shape[1]
        self.shares: np.ndarray = np.minimum(shares, 1.0)
        left = np.where(self.shares > PERFECT, 0.0, 1.0 - self.shares)
        return np.asarray(ratio(self.shares / above, left / np.maximum(below, 1e-9)).max(axis=1))

    def _sums(self, squares: np.ndarray) -> np.ndarray:
        """Sums over the directions of every group."""
        found = np.zeros((len(self.ranks), squares.shape[1]))
        np.add.at(found, self.numbers, squares)
        return found

    def with_others(self, picked: int) -> np.ndarray:
        """Correlations of a group with all."""
        own = self.bases[:, self.numbers == picked]
        squares = self._sums(((self.bases.T @ own) ** 2).sum(axis=1, keepdims=True))[:, 0]
        shares = squares / np.maximum(np.minimum(self.ranks, self.ranks[picked]), 1)
        correlation = np.sqrt(np.minimum(shares, 1.0))
        return correlation.clip(min=MIN_CORRELATION) if self.is_quotient else correlation
