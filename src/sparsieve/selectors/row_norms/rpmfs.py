"""Exactly k features under an l2,1 loss (Cai, Nie and Huang, 2013)."""

from __future__ import annotations

import numpy as np

from ...penalties import row_norms
from ...solvers.row_norms.lagrangian import TopKLagrangian
from ..base import FeatureScores, TrainingData
from .base import RobustSelector, SupportModel

DEFAULT_COUNT = 10
FIT_ITERATIONS = 200


class RPMFSSelector(RobustSelector):
    """Keep exactly k features of a regression robust to outliers, without a strength to choose.

    Minimises ``sum_i s_i ||y_i - x_i W - b||`` over W with k nonzero rows, by the published
    augmented Lagrangian method ("robust and pragmatic multi-class feature selection", also
    known as TopK); the coefficients are then fitted exactly on the k features. The problem is
    not convex: the method finds a good support, not always the best one. See
    :class:`RobustL20Selector` for a search that compares supports.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        k, as a number or a fraction of the features; None is 10 (or all, if there are fewer).
    fit_intercept : bool, default=True
        Fit an intercept (exactly: it is not the mean for this loss).
    standardize : bool, default=True
        Scale columns to unit variance. Constant columns are left alone.
    tol : float, default=1e-6
        Relative duality gap of the final fit on the k features; the augmented Lagrangian ends
        when the two copies of W it works with differ by less than this.
    max_iter : int, default=1000
        Iterations of the augmented Lagrangian.
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; integer targets look like classes unless told otherwise.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    verbose : int, default=0
        1 prints progress.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W on the standardised data.
    ranking_ : ndarray of shape (n_features,)
        By row norm; features outside by their row in the last iterate.
    support_ : ndarray of shape (n_features,)
        Mask of the k kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    objective_ : float
        Loss of the fit on the standardised data.
    optimality_ : float
        Certified relative duality gap of the fit on the k features.
    n_iter_ : int
        Iterations of the augmented Lagrangian.
    history_ : ndarray
        Loss at the sparse copy of W after every iteration.

    References
    ----------
    X. Cai, F. Nie and H. Huang (2013). Exact top-k feature selection via l2,0-norm constraint.
    IJCAI.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import RPMFSSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = RPMFSSelector(n_features_to_select=4).fit(X, y)
    >>> int((selector.coef_ != 0).any(axis=0).sum())
    4
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        fit_intercept=True,
        standardize=True,
        tol=1e-6,
        max_iter=1000,
        always_keep=None,
        never_keep=None,
        task="auto",
        class_weight=None,
        verbose=0,
    ):
        self.n_features_to_select = n_features_to_select
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.task = task
        self.class_weight = class_weight
        self.verbose = verbose

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem = self._robust_problem(data)
        count = self._n_own(data, DEFAULT_COUNT)
        eligible = ~problem.constant
        k = min(count, int(eligible.sum()))
        dtype = problem.data.design.dtype
        found = TopKLagrangian(
            max_iter=int(self.max_iter), tol=max(float(self.tol), 100 * float(np.finfo(dtype).eps))
        ).solve(problem.data, k, eligible, _print_iteration if self.verbose else None)
        if not found.converged:
            self._stopped_early = True
            self._warn_not_converged("copies of W that differ by", found.disagreement, self.tol)
        self.n_iter_ = found.n_iter
        self.history_ = np.array(found.history)
        self._kept = found.features
        self._model = SupportModel.of(problem, found.features, 0.0, self.tol, FIT_ITERATIONS)
        fitted = self._model.fit(found.features)
        # Dependent columns may get zero rows; they were chosen all the same.
        ties = row_norms(found.W)
        ties[found.features] += ties.max(initial=0.0) + 1.0
        return FeatureScores(fitted.norms, n_kept=count, ties=ties, constant=problem.constant)

    def _refit(self, n_selected: int) -> None:
        best = np.argsort(self.ranking_)
        best = best[~self._fixed.always[best]][: min(n_selected, len(self._kept))]
        fitted = self._model.fit(best)
        if not fitted.fit.converged:
            self._warn_not_converged("a relative duality gap of", fitted.fit.optimality, self.tol)
        self.coef_, self.intercept_ = fitted.coef, fitted.intercept
        self.objective_ = fitted.fit.objective
        self.optimality_ = fitted.fit.optimality


def _print_iteration(info: dict) -> None:
    print(
        f"iteration {info['n_iter']}: loss {info['objective']:.6g}, "
        f"copies differ by {info['optimality']:.2g}"
    )
