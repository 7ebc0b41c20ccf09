"""Recursive feature elimination with a linear support vector machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._checks import check_real
from ..design import DesignMatrix
from ..solvers.base import Path, Result
from ..solvers.hinge import (
    FeatureSide,
    FiniteNewton,
    GramSide,
    SampleWeights,
    Side,
    SquaredHinge,
)
from .base import DEFAULT_COUNT, FeatureScores, TrainingData
from .linear import LinearSelector
from .margins import class_signs, machine_view

__all__ = ["SVMRFESelector"]

# Squared weights are compared after rounding to this share of the largest, so that copies of a
# column are decided by column order and not by rounding.
RESOLUTION = 1e-10
# Inner products that have fallen below this share of what they were are computed anew.
RECOMPUTE_SHARE = 1e-2


@dataclass(eq=False, repr=False, kw_only=True)
class SVMRFESelector(LinearSelector):
    """Recursive feature elimination: fit a linear SVM, drop the smallest weights, repeat.

    In short: Fits a linear SVM, drops the features with the smallest weights, and repeats.

    Every step minimises 1/2 ||w||^2 + C sum_i max(0, 1 - y_i (w'x_i + b))^2 for every class against
    the others (two classes: once) and drops the features whose squared weights, summed over the
    classes, are smallest (Guyon et al. 2002). Elimination continues to the last feature, so one fit
    ranks all features, and ``at(k)`` gives the features that stopping at k would have kept.

    The SVMs are solved exactly by Newton steps in the smaller of the two dimensions, each started
    from the solution of the step before; while features outnumber samples, the matrix of inner
    products is kept and updated by what is dropped, so a step hardly depends on the number of
    remaining features. Without an intercept and with the same steps this is scikit-learn's
    ``RFE(LinearSVC())``, except that a fractional ``step`` there refers to all features and here to
    the remaining ones. ``LinearSVC`` also penalises its intercept; here it is not penalised.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten best.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    C : float, default=1.0
        Penalty on margin violations; larger values allow fewer of them.
    step : float or int, default=0.1
        Fraction of the remaining features (between 0 and 1) or number of features (1 or more) to
        drop per step; at least one is dropped.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    max_iter : int, default=100
        Maximum number of Newton steps per SVM.
    tol : float, default=1e-8
        Stop fitting an SVM when ``optimality_`` is at most this.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Increase of the SVM objective when the feature was dropped, as a fraction of the objective
        without features (features dropped together share the increase in proportion to their
        squared weights). If a feature dropped earlier caused a larger increase, that one is used,
        so that scores follow the ranking.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the last one remaining.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    path_ : Path
        All features from the last one remaining to the first one dropped; ``always_keep`` first.
    n_steps_ : int
        Number of elimination steps.
    n_iter_ : int
        Number of Newton steps, summed over all SVMs.
    objective_ : float
        Objective of the SVMs on the last remaining features, summed over the classes.
    history_ : list of float
        The same for every elimination step; it increases as features are dropped.
    optimality_ : float
        Largest relative violation of the optimality conditions of any SVM.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.

    See Also
    --------
    sparsieve.L0SVMSelector : Linear SVM with a penalty on the number of features.
    sparsieve.RidgeForwardSelector : Forward selection for ridge regression; the default.

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill, V. Vapnik (2002). Gene selection for cancer classification
    using support vector machines. Machine Learning 46, 389-422.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import SVMRFESelector
    >>> X, y = load_wine(return_X_y=True)
    >>> SVMRFESelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    array([ 6,  9, 12])
    """

    C: float = 1.0
    step: float = 0.1
    max_iter: int = 100
    tol: float = 1e-8

    _accepts_device: ClassVar[bool] = True
    _accepts_regression: ClassVar[bool] = False
    _has_coefficients: ClassVar[bool] = False  # one machine for every step
    _score_meaning: ClassVar[str] = (
        "Increase of the SVM objective when the feature was dropped, as a fraction of the "
        "objective without features (at least the increase for features dropped earlier)."
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("C", self.C, minimum=0, strict=True)
        check_real("step", self.step, minimum=0, strict=True)
        if self.step > 1 and self.step != int(self.step):
            raise ValueError(
                f"step must be a fraction below 1 or a whole number of features, got {self.step!r}"
            )

    def _work(self, data: TrainingData) -> float:
        # Measured with 100 and 400 classes: every machine of every step costs at least 2e6.
        n_samples, n_features = data.design.shape
        step = self.step if self.step < 1 else self.step / n_features
        n_steps = math.log(n_features + 1.0) / step
        machine = 2e6 * n_steps + 60.0 * n_samples * n_features / step
        return len(class_signs(data.target)) * machine

    def _fit(self, data: TrainingData) -> FeatureScores:
        scale, dtype = self.standardize, np.float64 if self.standardize else None
        view = machine_view(data.design, data.sample_weight, scale, scale, dtype)
        n_features, fixed = data.design.shape[1], data.fixed
        always = np.flatnonzero(fixed.always)
        usable = ~(view.constant | fixed.either)
        counts = np.ones(data.design.shape[0])
        weights = self.C * (counts if data.sample_weight is None else data.sample_weight)
        machines = _Machines(self, view.design, class_signs(data.target), weights, always)
        # Worst first; constant columns are out before the first step.
        unusable = np.flatnonzero(view.constant & ~fixed.either)
        dropped = [np.flatnonzero(fixed.never)[::-1], unusable[::-1]]
        shares: list[np.ndarray] = []
        left = np.flatnonzero(usable)
        while len(left):
            importance = machines.solve(left)
            importance = np.round(importance / (RESOLUTION * (importance.max() or 1.0)))
            # Of equal features the later ones go first.
            order = np.lexsort((-np.arange(len(left)), importance))
            worst = order[: self._count_drops(len(left))]
            total = float(importance[worst].sum())
            shares.append(importance[worst] / total if total else np.ones(len(worst)) / len(worst))
            dropped.append(left[worst])
            machines.forget(worst)
            left = np.delete(left, worst)
        order = np.concatenate([*dropped, always[::-1]])
        self.path_: Path = Path.from_order(order[::-1])
        self.n_steps_: int = len(shares)
        scores = np.zeros(n_features)
        if shares:
            rises = machines.rises()
            found = np.concatenate(
                [np.sort(rise * share) for rise, share in zip(rises, shares, strict=True)]
            )
            scores[np.concatenate(dropped[2:])] = np.maximum.accumulate(found)
        self._keep_result(machines.result(self.path_))
        return FeatureScores(
            scores, n_kept=DEFAULT_COUNT, order=order[::-1], constant=view.constant
        )

    def _count_drops(self, n_left: int) -> int:
        if self.step < 1:
            return max(1, int(self.step * n_left))
        return min(int(self.step), n_left)


class _Machines:
    """The support vector machines of all classes on fewer and fewer features."""

    def __init__(
        self,
        settings: SVMRFESelector,
        design: DesignMatrix,
        signs: Sequence[np.ndarray],
        weights: np.ndarray,
        always: np.ndarray,
    ):
        self.settings, self.design = settings, design
        self.signs, self.weights = signs, weights
        self.covariates = design.dense_columns(always).astype(np.float64, copy=False)
        self.starts: list[Result[SampleWeights] | None] = [None] * len(signs)
        self.working = design
        self.gram: np.ndarray | None = None
        self.trace = 0.0
        self.objectives: list[float] = []
        self.n_iter, self.optimality = 0, 0.0

    def solve(self, left: np.ndarray) -> np.ndarray:
        """Squared weights of the features left, summed over the classes."""
        everything = len(left) == self.design.shape[1]
        working = self.working = self.design if everything else self.design.columns(left)
        solved = self._solve(self._side(working))
        self.starts = [*solved]
        betas = np.column_stack([result.solution.beta for result in solved])
        W = working.rmatmul(betas.astype(self.design.dtype, copy=False)).astype(np.float64)
        self.objectives.append(sum(result.objective for result in solved))
        return (W**2).sum(axis=1)

    def forget(self, worst: np.ndarray) -> None:
        """Take these of the features just solved for out of the inner products."""
        if self.gram is None:
            return
        self.gram -= self.working.outer(worst)
        if np.trace(self.gram) < RECOMPUTE_SHARE * self.trace:
            self.gram = None  # what is left has lost digits: computed anew

    def rises(self) -> np.ndarray:
        """Rise of the objective after every step, as a share of its value without features."""
        nothing = np.zeros((len(self.weights), 1))
        side = FeatureSide(nothing, self.settings.fit_intercept, self.covariates)
        empty = sum(result.objective for result in self._solve(side))
        rises = np.diff([*self.objectives, empty])
        # Covariates may explain everything: what rounding leaves of the costs is no objective.
        rounding = len(self.weights) * np.finfo(float).eps * len(self.signs) * self.weights.sum()
        return np.maximum(rises, 0.0) / empty if empty > rounding else np.zeros_like(rises)

    def result(self, path: Path) -> Result[Path]:
        """How the whole elimination went."""
        last = self.objectives[-1] if self.objectives else 0.0
        converged = self.optimality <= self.settings.tol
        return Result(path, last, self.optimality, self.n_iter, converged, self.objectives)

    def _side(self, working: DesignMatrix) -> Side:
        """Systems in the smaller of the two dimensions."""
        n_samples, n_left = working.shape
        intercept = self.settings.fit_intercept
        if n_left < n_samples:
            columns = working.dense_columns(np.arange(n_left)).astype(np.float64, copy=False)
            return FeatureSide(columns, intercept, self.covariates)
        if self.gram is None:
            self.gram = working.cross_gram().astype(np.float64, copy=False)
            self.trace = float(np.trace(self.gram))
        return GramSide(self.gram, intercept, self.covariates)

    def _solve(self, side: Side) -> list[Result[SampleWeights]]:
        solver = FiniteNewton(self.settings.max_iter, self.settings.tol)
        solved = [
            solver.solve(SquaredHinge(side, y, self.weights), start)
            for y, start in zip(self.signs, self.starts, strict=True)
        ]
        self.n_iter += sum(result.n_iter for result in solved)
        self.optimality = max(self.optimality, *(result.optimality for result in solved))
        return solved
