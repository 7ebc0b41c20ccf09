"""What a greedy search over features maximises: criteria of relevance and redundancy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from ..design import DesignMatrix
from .information import Information

# Absolute correlations below this count as this, so that a quotient cannot run away.
CORRELATION_FLOOR = 1e-3
# A mean absolute correlation this close to one means copies of all that was chosen.
COPY = 1.0 - 1e-12
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
        best = int(np.argmax(np.where(free, _rounded(scores), -np.inf)))
        return best, float(scores[best])

    @abstractmethod
    def add(self, picked: int) -> None:
        """Take note of a picked feature."""

    @abstractmethod
    def scores(self) -> np.ndarray:
        """The score of every feature, once something was picked."""


class Correlation(Criterion):
    """F statistic against mean absolute correlation: one matrix-vector product per step."""

    def __init__(self, design: DesignMatrix, total_weight: float, relevance, kind: str):
        self.design, self.total_weight = design, total_weight
        self.relevance = relevance
        self.is_quotient = kind == "fcq"
        self.sum = np.zeros(len(relevance))
        self.count = 0

    def add(self, picked: int) -> None:
        column = self.design.dense_columns(np.array([picked]))
        correlation = np.abs(self.design.rmatmul(column)[:, 0].astype(np.float64))
        correlation /= self.total_weight
        if self.is_quotient:
            correlation = np.maximum(correlation, CORRELATION_FLOOR)
        self.sum += correlation
        self.count += 1

    def scores(self) -> np.ndarray:
        mean = self.sum / self.count
        if not self.is_quotient:
            return self.relevance - mean
        return np.where(mean >= COPY, 0.0, self.relevance / np.maximum(mean, CORRELATION_FLOOR))


class _InformationCriterion(Criterion):
    def __init__(self, information: Information):
        self.information = information
        self.relevance = information.relevance
        self.sum = np.zeros(len(self.relevance))
        self.count = 0


class _MID(_InformationCriterion):
    def add(self, picked: int) -> None:
        self.sum += self.information.redundancy(picked)
        self.count += 1

    def scores(self) -> np.ndarray:
        return self.relevance - self.sum / self.count


class _MIQ(_MID):
    def scores(self) -> np.ndarray:
        # Entropies carry rounding of this size; a redundancy below it is none.
        return self.relevance / np.maximum(self.sum / self.count, 1e-12)


class _JMI(_InformationCriterion):
    def add(self, picked: int) -> None:
        self.sum += self.information.joint_relevance(picked)
        self.count += 1

    def scores(self) -> np.ndarray:
        # The mean instead of the sum: the same choices, and comparable along the path.
        return self.sum / self.count


class _CIFE(_InformationCriterion):
    """Relevance plus what the classes change in the information shared with each one picked.

    I(x; s | y) - I(x; s) = I(x, s; y) - I(s; y) - I(x; y), so one joint entropy serves.
    """

    def add(self, picked: int) -> None:
        joint = self.information.joint_relevance(picked)
        self.sum += joint - self.relevance[picked] - self.relevance

    def scores(self) -> np.ndarray:
        return self.relevance + self.sum


class _CMIM(_InformationCriterion):
    def __init__(self, information: Information):
        super().__init__(information)
        self.smallest = np.full(len(self.relevance), np.inf)

    def add(self, picked: int) -> None:
        # I(x; y | s) = I(x, s; y) - I(s; y)
        given = self.information.joint_relevance(picked) - self.relevance[picked]
        self.smallest = np.minimum(self.smallest, given)

    def scores(self) -> np.ndarray:
        return self.smallest


INFORMATION: dict[str, type[_InformationCriterion]] = {
    "mid": _MID,
    "miq": _MIQ,
    "cife": _CIFE,
    "jmi": _JMI,
    "cmim": _CMIM,
}


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


def _rounded(scores) -> np.ndarray:
    """Scores to ``DIGITS`` digits of the largest finite one: rounding noise makes no choice."""
    finite = np.isfinite(scores)
    largest = np.abs(scores[finite]).max(initial=0.0)
    if largest == 0.0:
        return scores
    step = 10.0 ** (np.ceil(np.log10(largest)) - DIGITS)
    return np.where(finite, np.round(scores / step) * step, scores)
