"""Recursive feature elimination with a linear support vector machine."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._checks import check_flag, check_integer, check_real
from ...design import DenseDesign, DesignMatrix, Scaled
from ...design.convert import CONSTANT_TOLERANCE, COPY_BYTES
from ...solvers.hinge.newton import FeatureSide, GramSide, Side, SVMResult, solve_svm
from ..base import BaseSelector, FeatureScores, TrainingData
from ..path import SelectionPath

# Like the filters: kept when nobody asks for a number.
DEFAULT_COUNT = 10
# Squared weights are compared after rounding to this share of the largest, so that copies of a
# column are decided by column order and not by rounding.
RESOLUTION = 1e-10


class SVMRFESelector(BaseSelector):
    """Fit a linear SVM, drop the features with the smallest weights, repeat.

    Every step minimises 1/2 ||w||^2 + C sum_i max(0, 1 - y_i (w'x_i + b))^2 for every class
    against the others (two classes: once) and drops the features whose squared weights, summed
    over the classes, are smallest (Guyon et al. 2002). The elimination goes on to the last
    feature, so one fit ranks them all and ``at(k)`` is what stopping at k would have kept.

    The SVMs are solved exactly by Newton steps in the smaller of the two dimensions, each
    started from the solution of the step before; while features outnumber samples, the matrix
    of inner products is kept and updated by what is dropped, so the cost of a step does not
    depend on the number of features left but for reading them once. Without
    an intercept and with the same steps this is scikit-learn's ``RFE(LinearSVC())``, whose
    fraction ``step`` counts from all features and not from those left. Its intercept is
    penalised as if it were a weight, which can be the largest part of the objective when many
    features share the weights; here it is free.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps ten.
    C : float, default=1.0
        Weight of the loss; large values allow fewer errors.
    step : float or int, default=0.1
        Fraction of the features left (between 0 and 1) or number of features (1 or more) to
        drop per step; at least one.
    fit_intercept : bool, default=True
        Whether to fit b.
    standardize : bool, default=True
        Whether to bring the columns to mean zero and unit variance first.
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    max_iter : int, default=100
        Most Newton steps per SVM.
    tol : float, default=1e-8
        Optimality (see ``optimality_``) at which an SVM is solved.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many features come after this one: the order is all that the elimination gives.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the one that was left.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    path_ : SelectionPath
        All features from the last one left to the first one dropped, ``always_keep`` first.
    n_steps_ : int
        Elimination steps.
    n_iter_ : int
        Newton steps of all SVMs together.
    optimality_ : float
        Largest relative violation of the optimality conditions of any SVM.

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

    _accepts_regression = False

    def __init__(
        self,
        n_features_to_select=None,
        *,
        C=1.0,
        step=0.1,
        fit_intercept=True,
        standardize=True,
        always_keep=None,
        never_keep=None,
        class_weight=None,
        max_iter=100,
        tol=1e-8,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.step = step
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        check_real("C", self.C, minimum=0, strict=True)
        check_real("step", self.step, minimum=0, strict=True)
        if self.step > 1 and self.step != int(self.step):
            raise ValueError(
                f"step must be a fraction below 1 or a whole number of features, got {self.step!r}"
            )
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        check_integer("max_iter", self.max_iter)
        check_real("tol", self.tol, minimum=0, strict=True)

    def _fit(self, data: TrainingData) -> FeatureScores:
        design, constant = self._prepared(data)
        n_samples, n_features = design.shape
        signs = np.where(data.target.Y > 0, 1.0, -1.0)
        if signs.shape[1] == 2:
            signs = signs[:, 1:]
        weights = np.ones(n_samples) if data.sample_weight is None else data.sample_weight

        # Worst first; constant columns are out before the first step.
        always, never = np.flatnonzero(data.fixed.always), data.fixed.never
        usable = ~(constant | data.fixed.either)
        dropped = [np.flatnonzero(never)[::-1], np.flatnonzero(constant & ~data.fixed.either)[::-1]]
        left = np.flatnonzero(usable)
        covariates = design.dense_columns(always).astype(np.float64, copy=False)
        machines: list[SVMResult | None] = [None] * signs.shape[1]
        gram = None
        self.n_steps_, self.n_iter_, self.optimality_ = 0, 0, 0.0
        while len(left):
            working = design if len(left) == n_features else design.columns(left)
            side: Side
            if len(left) < n_samples:
                columns = working.dense_columns(np.arange(len(left)))
                side = FeatureSide(
                    columns.astype(np.float64, copy=False), self.fit_intercept, covariates
                )
            else:
                if gram is None:
                    gram = working.cross_gram().astype(np.float64, copy=False)
                side = GramSide(gram, self.fit_intercept, covariates)
            machines = [
                solve_svm(
                    side, y, self.C * weights, start=start, max_iter=self.max_iter, tol=self.tol
                )
                for y, start in zip(signs.T, machines, strict=True)
            ]
            self._record(machines)
            betas = np.column_stack([machine.beta for machine in machines if machine])
            W = working.rmatmul(betas.astype(design.dtype, copy=False)).astype(np.float64)
            importance = (W**2).sum(axis=1)
            importance = np.round(importance / (RESOLUTION * (importance.max() or 1.0)))
            # Of equal features the later ones go first.
            order = np.lexsort((-np.arange(len(left)), importance))
            worst = order[: self._n_dropped(len(left))]
            dropped.append(left[worst])
            if gram is not None:
                columns = working.dense_columns(worst).astype(np.float64, copy=False)
                gram -= columns @ columns.T
            left = np.delete(left, worst)
        order = np.concatenate([*dropped, always[::-1]])
        scores = np.empty(n_features)
        scores[order] = np.arange(n_features)
        self.path_ = SelectionPath(order[::-1])
        if self.optimality_ > self.tol:
            warnings.warn(
                f"SVMRFESelector: a support vector machine stopped after max_iter={self.max_iter} "
                f"Newton steps with optimality {self.optimality_:.3g} instead of {self.tol:.3g}; "
                "raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=constant)

    def _n_dropped(self, n_left: int) -> int:
        if self.step < 1:
            return max(1, int(self.step * n_left))
        return min(int(self.step), n_left)

    def _record(self, machines) -> None:
        self.n_steps_ += 1
        self.n_iter_ += sum(machine.n_iter for machine in machines)
        worst = max(machine.optimality for machine in machines)
        self.optimality_ = max(self.optimality_, worst)

    def _prepared(self, data: TrainingData) -> tuple[DesignMatrix, np.ndarray]:
        """The standardised design (rows unweighted: weights belong to the loss here)."""
        design = data.design
        means, variances = design.column_moments(data.sample_weight)
        deviations = np.sqrt(variances)
        tolerance = CONSTANT_TOLERANCE[np.dtype(design.dtype)]
        constant = deviations <= tolerance * (np.abs(means) + deviations)
        if not self.standardize:
            return design, constant
        scale = np.where(constant, 1.0, deviations)
        if isinstance(design, DenseDesign) and design.array.nbytes <= COPY_BYTES:
            return DenseDesign((design.array - means) / scale), constant
        return Scaled(design, means, scale), constant
