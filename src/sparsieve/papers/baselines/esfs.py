"""Efficient sparse feature selection: discriminant coding and a fixed number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...selectors.base import DEFAULT_COUNT, FeatureScores, TrainingData
from ...selectors.least_squares.row_penalty import standardised_row_norms
from ...selectors.linear import LinearSelector
from ...solvers.base import LeastSquares, printer
from .solvers.top_k_iht import TopKIHT


@dataclass(eq=False, repr=False, kw_only=True)
class ESFSSelector(LinearSelector):
    """Least squares regression of class codes on a given number of features.

    In short: Chooses a given number of features jointly, so that a linear model separates the
    classes.

    Minimises ``||XW - Y (Y'Y)^(-1/2)||^2`` over W with ``n_features_to_select`` nonzero rows: the
    classes are coded so that a single feature is ranked by its ratio of between-class to
    within-class scatter. From zero, W takes hard-thresholded gradient steps with the step length of
    normalised iterative hard thresholding; once they converge, W is refitted on its nonzero rows by
    least squares, and further thresholded steps follow as long as they lower the objective. The
    result is never worse than the fit on the features with the largest ratios.

    The publication itself was not available: the objective and the coding are rebuilt from its
    abstract and from descriptions by others, and the optimisation is our own. Results may differ
    from those of the authors' code.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten best. Features are chosen jointly
        for this number; :meth:`at` with fewer keeps those with the largest coefficients.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    max_iter : int, default=1000
        Maximum number of steps.
    tol : float, default=1e-4
        Stop when no step lowers the objective by more than this fraction.
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
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norm of the feature's standardised coefficients, relative to the root mean square of the
        coded target; 0 if the feature is not used.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Unused features are ranked by the gradient of the
        loss.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X, for Y in 0/1 coding.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Residual sum of squares of the coded problem.
    optimality_ : float
        Relative decrease of the objective that one more step would give.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of steps.
    history_ : list of float
        Residual sum of squares after every step.

    See Also
    --------
    sparsieve.RidgeForwardSelector : Forward selection for ridge regression; the default.
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.

    References
    ----------
    T. Pang, F. Nie, J. Han and X. Li, "Efficient feature selection via l2,0-norm constrained
    sparse regression", IEEE TKDE 31(5), 2019.

    T. Blumensath and M. E. Davies, "Normalized iterative hard thresholding: guaranteed stability
    and performance", IEEE Journal of Selected Topics in Signal Processing 4(2), 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ESFSSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> ESFSSelector(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    max_iter: int = 1000
    tol: float = 1e-4
    verbose: int = 0

    _accepts_regression: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = (
        "Size of the feature's standardised coefficients, 0 if it is not used; coefficients "
        "depend on the other features, so compare only within one fit."
    )

    def _fit(self, data: TrainingData) -> FeatureScores:
        sizes = np.bincount(data.target.codes, weights=data.sample_weight)
        problem = self._make_problem(data, squared_loss=True, output_scale=np.sqrt(sizes))
        count = min(self._n_own(data, DEFAULT_COUNT), int((~problem.constant).sum()))
        # Under this coding ||x'Y||^2 is the between-class scatter of a centred feature, so that
        # the search starts from the features with the largest Fisher ratios.
        equations = LeastSquares(problem.design, problem.Y, eligible=~problem.constant)
        solver = TopKIHT(count, tol=float(self.tol), max_iter=self.max_iter)
        result = solver.solve(equations, callback=printer(self.verbose, type(self).__name__))
        self._keep_result(result)
        W, power = result.solution.W, float(np.vdot(problem.Y, problem.Y))
        self._keep_coefficients(*problem.units.coefficients(W))
        return FeatureScores(
            standardised_row_norms(W, power, data.total_weight).astype(W.dtype),
            n_kept=count,
            ties=result.solution.correlation,
            constant=problem.constant,
            complete=False,
        )
