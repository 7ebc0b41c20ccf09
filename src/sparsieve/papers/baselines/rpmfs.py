"""Exactly k features under an l2,1 loss (Cai, Nie and Huang, 2013)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np

from ..._checks import check_choice
from ..._saved import Ints
from ...penalties import row_norms
from ...selectors.base import DEFAULT_COUNT, FeatureScores, TrainingData
from ...selectors.fitted import GAP
from ...selectors.near_copies import one_of_each
from ...selectors.robust.base import ModelOnSupports, RobustSelector
from ...solvers.base import Result, printer
from .solvers.top_k_alm import TopKLagrangian

MAX_ITER_FIT = 200
SOLVERS = ("scaled", "published")


@dataclass(eq=False, repr=False, kw_only=True)
class RPMFSSelector(RobustSelector):
    """Regression robust to outliers on exactly k features, with no penalty strength to choose.

    In short: Like rfs, with exactly the requested number of features.

    Minimises ``sum_i s_i ||y_i - x_i W - b||`` over W with k nonzero rows, by an augmented
    Lagrangian method ("robust and pragmatic multi-class feature selection", also known as TopK);
    the coefficients are then fitted exactly on the k features. The problem is not convex: the
    method finds a good set, not always the best one. See :class:`RobustL20Selector` for a search
    that compares sets.

    ``at(k)`` for k below the number fitted keeps the k features with the largest scores and refits;
    a new fit with that k may choose other features.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps ten (or all, if there are fewer).
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of near copies only the one most correlated with the target may be chosen here.
    solver : {"scaled", "published"}, default="scaled"
        "published" follows the paper exactly: y as given, mu = 0.1 growing by 1.02 per iteration,
        and equal weights for both constraints. Its selection depends on the units of y (y in
        thousands, or 0.1 % larger, may select other features), so use it only to reproduce
        published results. "scaled" divides the target by the mean length of its centred rows first,
        which makes the selection independent of units, and gives the copy of W the weight sqrt(n),
        with which losses are lowest on average. Once the largest rows no longer change, mu grows
        faster. If fewer than k rows exceed a thousandth of the largest, the remaining features are
        added one at a time, each to lower the loss most.
    tol : float, default=1e-6
        Relative duality gap to reach in the final fit; the augmented Lagrangian stops when its two
        copies of W differ by less than this.
    max_iter : int, default=2000
        Number of iterations of the augmented Lagrangian.
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
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norm of the feature's standardised coefficients, relative to the root mean square of the
        centred target; 0 if the feature is not used.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features that were not selected are ranked by their
        row in the last iterate.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    objective_ : float
        Loss of the fit on the standardised data.
    optimality_ : float
        Proven relative duality gap of the fit on the k features, or the relative difference between
        the two copies of W if that is larger.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``. The published mode often does not: mu grows until
        the two copies of W are frozen before they agree.
    n_iter_ : int
        Number of iterations of the augmented Lagrangian.
    history_ : list of float
        Loss at the sparse copy of W after every iteration.

    See Also
    --------
    sparsieve.RFSSelector : Convex regression robust to outliers.
    sparsieve.RobustL20Selector : Robust regression with few features.

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

    solver: str = "scaled"
    max_iter: int = 2000
    verbose: int = 0

    _work_per_number: ClassVar[float] = 1e5

    _kept: Annotated[Ints, "kept"] = field(init=False)
    _model: Annotated[ModelOnSupports, "features"] = field(init=False)
    _way: Result = field(init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, SOLVERS)

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem, passed_over = self._robust_problem(data), None
        count, constant = self._n_own(data, DEFAULT_COUNT), problem.constant
        if self.max_correlation is not None:
            data, passed_over = one_of_each(self.max_correlation, data, problem.data)
            problem = self._robust_problem(data)
        k = min(count, len(problem.data.features))
        # The copies cannot agree better than the precision of X lets them.
        tol = max(float(self.tol), 100 * float(np.finfo(problem.data.design.dtype).eps))
        kind = TopKLagrangian.published if self.solver == "published" else TopKLagrangian
        split = kind(max_iter=int(self.max_iter), tol=tol)
        way: Result = split.solve(
            replace(problem.data, k=k), callback=printer(self.verbose, type(self).__name__)
        )
        self._kept = way.solution.features
        self._model = ModelOnSupports.from_features(problem, self._kept, self.tol, MAX_ITER_FIT)
        # Dependent columns may get zero rows; they were chosen all the same.
        ties = row_norms(way.solution.candidate)
        ties[self._kept] += ties.max(initial=0.0) + 1.0
        self._way = replace(way, solution=None)  # a fitted selector stays small
        self._fitted = self._model.fit(self._kept)
        scores = self._fitted.solution.importances
        return FeatureScores(
            scores,
            n_kept=count if passed_over is None else len(self._kept),
            ties=ties,
            constant=constant,
            complete=False,
            passed_over=passed_over,
        )

    def _refit(self, n_chosen: int) -> None:
        best = np.argsort(self.ranking_)
        best = best[~self._fixed.always[best]][: min(n_chosen, len(self._kept))]
        fit = self.__dict__.pop("_fitted", None)  # of ``fit``, which needs it for the ranking
        if fit is None or len(best) < len(self._kept):
            fit = self._model.fit(best)
        # Once they agree as well as their precision allows, the support is what it is.
        apart = 0.0 if self._way.converged else self._way.optimality
        measure = "a difference between the copies of W of" if apart > fit.optimality else GAP
        self._keep_fit(fit, replace(self._way, optimality=apart), measure=measure)
