"""Minimum redundancy, maximum relevance: greedy selection by pairwise comparisons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._checks import check_choice, resolve_count
from ..design import DesignMatrix, can_condense, condensed, standardised
from ..design.on_device import OnDevice
from ..selectors.base import BaseSelector, FeatureScores, TrainingData
from ..solvers.base import Path
from .base import DEFAULT_COUNT, constant_columns
from .discretize import discretize
from .information import Information, check_discretisation
from .statistics import f_statistics

CORRELATION_CRITERIA = ("fcq", "fcd")
INFORMATION_CRITERIA = ("mid", "miq", "jmi", "cmim")

# Absolute correlations below this count as this, so that a quotient cannot run away.
CORRELATION_FLOOR = 1e-3
# A mean absolute correlation this close to one means copies of all that was chosen.
COPY = 1.0 - 1e-12
_MEANINGS = {
    "fcq": "F statistic divided by the mean absolute correlation with the features picked before",
    "fcd": "F statistic minus the mean absolute correlation with the features picked before",
    "mid": "Information about the class minus the mean information about those picked before",
    "miq": "Information about the class divided by the mean information about those picked before",
    "jmi": "Mean information about the class together with each of those picked before, in nats",
    "cmim": "Least information about the class given any one of those picked before, in nats",
}
# Steps of the greedy search compare scores after rounding to this many digits.
DIGITS = 12


@dataclass(eq=False, repr=False, kw_only=True)
class MRMRSelector(BaseSelector):
    """Pick features one by one: relevant to the target, different from those picked before.

    With the relevance and redundancy of feature x to the picked features S:

    ======== ==================================================================================
    "fcq"    F statistic divided by the mean of ``|correlation|`` over S
    "fcd"    F statistic minus that mean
    "mid"    I(x; y) minus the mean of I(x; s) over S
    "miq"    I(x; y) divided by that mean
    "jmi"    mean of I(x, s; y) over S
    "cmim"   minimum of I(x; y | s) over S
    ======== ==================================================================================

    The first feature is the most relevant one. F and correlations are those of the numbers as
    they are; in "fcq" correlations below 0.001 count as 0.001, and a copy of everything picked
    so far is not picked. Mutual information is that of discretised features, in nats, as in
    Brown et al. (2012). Every step costs one pass over the data; equal scores are decided by
    column order.

    The search stops at ``n_features_to_select`` features; the others are ranked by their score
    at the last step, constant ones last, which says nothing about later steps: :meth:`at` goes
    no further.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps ten.
    criterion : {"fcq", "fcd", "mid", "miq", "jmi", "cmim"}, default="fcq"
        What to maximise; see above. Real targets need "fcq" or "fcd".
    discretize : {"std", "mdl", "frequency"} or None, default="std"
        How numbers become levels: for the criteria of mutual information, as in
        :class:`InfoGainSelector`.
    n_bins : int, default=5
        Number of levels of "frequency".
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" decides by its values.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Value of the criterion when the feature was picked, for the others at the last step. The
        first is a plain relevance, so compare the others with each other.
    path_ : Path
        ``path_.features`` are the features in the order they were picked.
    path_scores_ : ndarray
        Their scores in that order.
    relevance_ : ndarray of shape (n_features,)
        F statistic or mutual information with the target of every feature.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).

    References
    ----------
    C. Ding, H. Peng (2005). Minimum redundancy feature selection from microarray gene
    expression data. Journal of Bioinformatics and Computational Biology 3, 185-205.

    G. Brown, A. Pocock, M.-J. Zhao, M. Lujan (2012). Conditional likelihood maximisation: a
    unifying framework for information theoretic feature selection. JMLR 13, 27-66.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import MRMRSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> MRMRSelector(n_features_to_select=3).fit(X, y).path_.features
    array([ 6,  9, 12])
    """

    criterion: str = "fcq"
    discretize: str | None = "std"
    n_bins: int = 5
    task: str = "auto"

    _scale_free: ClassVar[bool | None] = True

    @property
    def score_meaning(self) -> str:
        """What ``scores_`` say, in one sentence for their reader."""
        return (
            f"{_MEANINGS[self.criterion]}, when the feature was picked or, for those left out, at "
            "the last step; the first is a plain relevance."
        )

    def _check_parameters(self) -> None:
        check_choice("criterion", self.criterion, CORRELATION_CRITERIA + INFORMATION_CRITERIA)
        check_discretisation(self.discretize, self.n_bins)

    def _takes_foreign(self) -> bool:
        return self.criterion in CORRELATION_CRITERIA  # the others want the levels of all columns

    def _fit(self, data: TrainingData) -> FeatureScores:
        n_features = data.design.shape[1]
        default = min(DEFAULT_COUNT, n_features)
        count = resolve_count(self.n_features_to_select, n_features, default)
        criterion = self._criterion(data)
        relevance, constant = criterion.relevance, constant_columns(data)
        candidates = (relevance > 0) & ~constant
        path, path_scores, last = greedy(criterion, candidates, count)
        self.relevance_ = relevance
        self.path_, self.path_scores_ = Path.nested(path), path_scores
        scores = np.array(last, dtype=np.float64)
        scores[path] = path_scores
        return FeatureScores(
            scores,
            n_kept=min(DEFAULT_COUNT, len(path)),
            order=path,
            constant=constant,
            complete=False,
        )

    def _criterion(self, data: TrainingData) -> Criterion:
        if self.criterion in CORRELATION_CRITERIA:
            relevance = f_statistics(data)[0]
            design = _standardised(data)
            if isinstance(design, OnDevice):
                from ._mrmr_device import DeviceCorrelation

                return DeviceCorrelation(design, data.total_weight, relevance, self.criterion)
            return _Correlation(design, data.total_weight, relevance, self.criterion)
        codes = data.target.codes
        if codes is None:
            raise ValueError(
                f"criterion={self.criterion!r} needs class labels, but y is used as numbers; "
                'bin y into classes or pass criterion="fcq"'
            )
        levels = discretize(
            data.design,
            self.discretize,
            n_bins=self.n_bins,
            classes=codes,
            sample_weight=data.sample_weight,
        )
        return _CRITERIA[self.criterion](Information(levels, codes, data.sample_weight))


def _standardised(data: TrainingData) -> DesignMatrix:
    """Columns whose inner products are their correlations, times the total weight."""
    weights = data.sample_weight
    if can_condense(data.design, 0):
        nothing = np.zeros((data.design.shape[0], 0))
        return condensed(data.design, nothing, centre=True, scale=True, sample_weight=weights)[
            0
        ].design
    return standardised(data.design, centre=True, scale=True, sample_weight=weights).design


def greedy(criterion: Criterion, candidates: np.ndarray, count: int):
    """Pick up to ``count`` of the candidates; (path, their scores, scores at the last step)."""
    path: list[int] = []
    picked_at: list[float] = []
    free = candidates.copy()
    for _ in range(min(count, int(candidates.sum()))):
        if path:
            criterion.add(path[-1])
        best, score = criterion.best(free)
        path.append(best)
        picked_at.append(score)
        free[best] = False
    return np.array(path, dtype=np.intp), np.array(picked_at), criterion.current()


def _rounded(scores) -> np.ndarray:
    """Scores to ``DIGITS`` digits of the largest finite one: rounding noise makes no choice."""
    finite = np.isfinite(scores)
    largest = np.abs(scores[finite]).max(initial=0.0)
    if largest == 0.0:
        return scores
    step = 10.0 ** (np.ceil(np.log10(largest)) - DIGITS)
    return np.where(finite, np.round(scores / step) * step, scores)


# -- criteria --------------------------------------------------------------------------------


class Criterion(ABC):
    """What the greedy search maximises, kept up to date as features are picked."""

    relevance: np.ndarray
    count = 0  # features picked

    def current(self) -> np.ndarray:
        """The score of every feature as things stand."""
        return self.scores() if self.count else self.relevance

    def best(self, free: np.ndarray) -> tuple[int, float]:
        """The best of the features that are free, and its score."""
        scores = self.current()
        best = int(np.argmax(np.where(free, _rounded(scores), -np.inf)))
        return best, float(scores[best])

    @abstractmethod
    def add(self, picked: int) -> None:
        """Take note of a picked feature."""

    @abstractmethod
    def scores(self) -> np.ndarray:
        """The score of every feature, once something was picked."""


class _Correlation(Criterion):
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


class _CMIM(_InformationCriterion):
    def __init__(self, information: Information):
        super().__init__(information)
        self.smallest = np.full(len(self.relevance), np.inf)

    def add(self, picked: int) -> None:
        # I(x; y | s) = I(x, s; y) - I(s; y)
        given = self.information.joint_relevance(picked) - self.relevance[picked]
        self.smallest = np.minimum(self.smallest, given)
        self.count += 1

    def scores(self) -> np.ndarray:
        return self.smallest


_CRITERIA: dict[str, type[_InformationCriterion]] = {
    "mid": _MID,
    "miq": _MIQ,
    "jmi": _JMI,
    "cmim": _CMIM,
}
