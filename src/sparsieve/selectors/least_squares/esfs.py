"""Efficient sparse feature selection: discriminant coding and a fixed number of features."""

from __future__ import annotations

import numpy as np

from ...penalties import row_norms
from ...solvers.least_squares.top_k_iht import TopKIHT
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector

DEFAULT_COUNT = 10


class ESFSSelector(LinearSelector):
    """Regress discriminant codes of the classes on a fixed number of features.

    Minimises ``||XW - Y (Y'Y)^(-1/2)||^2`` over W with ``n_features_to_select`` nonzero rows:
    the classes are coded so that a single feature is ranked by its ratio of between-class to
    within-class scatter. Starts from the features with the largest ratios and improves them by
    hard-thresholded gradient steps, then fits least squares on the features found.

    The publication was at hand only through its description by others: the objective and the
    coding are sure, the details of the optimisation are ours.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps ten. The features are chosen for this
        number; :meth:`at` ranks them by their coefficients and the rest by their gradients.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept (exact, by centring).
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    max_iter : int, default=1000
        Largest number of gradient steps.
    tol : float, default=1e-4
        Stop when a step changes W by this share of its size.
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of the coefficients of the standardised problem.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X, for Y in 0/1 coding.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Residual sum of squares of the coded problem.
    optimality_ : float
        Relative size of the last step.
    n_iter_ : int
        Number of gradient steps.
    history_ : list of float
        Residual sum of squares before every step.

    References
    ----------
    T. Pang, F. Nie, J. Han and X. Li, "Efficient feature selection via l2,0-norm constrained
    sparse regression", IEEE TKDE 31(5), 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ESFSSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> ESFSSelector(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    _accepts_regression = False

    def __init__(
        self,
        n_features_to_select=None,
        *,
        fit_intercept=True,
        standardize=True,
        max_iter=1000,
        tol=1e-4,
        always_keep=None,
        never_keep=None,
        class_weight=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.class_weight = class_weight

    def _fit(self, data: TrainingData) -> FeatureScores:
        sizes = np.bincount(data.target.codes, weights=data.sample_weight)
        problem = self._prepared(data, squared_loss=True, output_scale=np.sqrt(sizes))
        count = min(self._n_own(data, DEFAULT_COUNT), int((~problem.constant).sum()))
        # Under this coding ||x'Y||^2 is the between-class scatter of a centred feature.
        between = row_norms(problem.design.rmatmul(problem.Y)).astype(np.float64) ** 2
        total = problem.design.column_sq_norms().astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(problem.constant, -1.0, between / np.maximum(total - between, 1e-300))
        start = np.argsort(-np.nan_to_num(ratio, nan=-1.0), kind="stable")[:count]
        solver = TopKIHT(count, tol=float(self.tol), max_iter=self.max_iter)
        result = solver.solve(problem.design, problem.Y, np.sort(start))
        if not result.converged:
            self._warn_not_converged("a relative step of", result.optimality, self.tol)
        self.coef_, self.intercept_ = problem.units.coefficients(result.W)
        self.objective_ = result.objective
        self.optimality_ = result.optimality
        self.n_iter_ = max(1, result.n_iter)
        self.history_ = result.history
        return FeatureScores(
            row_norms(result.W), n_kept=count, ties=result.pull, constant=problem.constant
        )
