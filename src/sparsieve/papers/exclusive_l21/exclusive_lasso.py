"""The exclusive lasso: every feature for few classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..._checks import check_real
from ...selectors.preparation import Prepared
from ...solvers.base import LeastSquares
from ...solvers.paths.block_cd import BlockCD
from .dual_newton import ProximalDualNewton
from .selector import BETA_PER_SAMPLE, ExclusiveSelector


@dataclass(eq=False, repr=False, kw_only=True)
class ExclusiveLassoSelector(ExclusiveSelector):
    """Exclusive lasso: classes compete for every feature.

    In short: Classes compete for every feature, so that each class gets its own markers.

    Minimises ``||XW - Y||^2 + beta * sum_j ||w_j||_1^2``. Every informative feature keeps at least
    one class, so the model decides which classes a feature is used for but drops no feature; use
    ``n_features_to_select`` to keep those with the largest coefficients.

    With no more features than samples it is solved by coordinate descent with Newton steps on
    the Gram matrix; with more, by proximal points whose dual has one unknown per sample and
    class, whatever the number of features.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    beta : float or None, default=None
        Strength of the exclusive penalty. None is 0.001 times the (weighted) number of samples.
    target_sparsity : int, float or None, default=None
        Desired number (or fraction) of nonzero coefficients. It is reached by scaling ``beta``, and
        cannot be less than the number of features, each of which keeps one.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    max_iter : int, default=10000
        Maximum number of sweeps or Newton steps.
    tol : float, default=1e-6
        Stop when the relative duality gap is at most this.
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
        centred target.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero coefficients are ranked by the
        gradient of the loss.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    support_per_class_ : ndarray of shape (n_outputs, n_features)
        Mask of the selected features with a nonzero coefficient, for every class.
    heatmap_ : ClassHeatmap
        Coefficients of the selected features by class, sorted for plotting.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    beta_ : float
        Penalty strength used.
    objective_ : float
        Objective of the standardised problem.
    optimality_ : float
        Duality gap relative to ``objective_``.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of sweeps or Newton steps.
    history_ : list of float
        Objective after every round.

    See Also
    --------
    sparsieve.ExclusiveL21Selector : Few features, each used for few classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ExclusiveLassoSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = ExclusiveLassoSelector(beta=1000.0).fit(X, y)
    >>> int(selector.support_per_class_.sum(axis=0).max())
    2
    """

    _purposes: ClassVar[tuple[str, ...]] = ("markers",)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("beta", self.beta, minimum=0, strict=True, optional=True)

    def _strengths(self, problem: Prepared, weight: float) -> tuple[float, float]:
        return 0.0, BETA_PER_SAMPLE * weight if self.beta is None else float(self.beta)

    def _solver(self, problem: LeastSquares) -> BlockCD | ProximalDualNewton:
        n_samples, n_features = problem.design.shape
        kind = BlockCD if n_features <= n_samples else ProximalDualNewton
        return kind(tol=self.tol, max_iter=self.max_iter)
