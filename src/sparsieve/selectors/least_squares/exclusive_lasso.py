"""The exclusive lasso: every feature for few classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..._checks import check_real
from ...solvers.least_squares.block_cd import BlockCD
from ...solvers.least_squares.dual_newton import ProximalDualNewton
from ...solvers.least_squares.problem import LeastSquares
from ..preparation import Prepared
from .exclusive_l21 import BETA_PER_SAMPLE, ExclusiveSelector


@dataclass(eq=False, repr=False, kw_only=True)
class ExclusiveLassoSelector(ExclusiveSelector):
    """Let the classes compete for every feature.

    In short: The classes compete for every feature, so that each class gets markers of its own.

    Minimises ``||XW - Y||^2 + beta * sum_j ||w_j||_1^2``. Every feature that says anything keeps
    at least one class, so the model tells classes apart within a feature but drops none; use
    ``n_features_to_select`` to keep the features with the largest coefficients.

    With no more features than samples it is solved by coordinate descent with Newton steps on
    the Gram matrix; with more, by proximal points whose dual has one unknown per sample and
    class, whatever the number of features.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients.
    beta : float or None, default=None
        Strength of the exclusive penalty. None is 0.001 times the (weighted) number of samples.
    target_sparsity : int, float or None, default=None
        Wanted number of nonzero coefficients (or share of all): reached by scaling ``beta``; as
        every feature keeps one, it cannot be fewer than the features.
    fit_intercept : bool, default=True
        Fit an intercept that is not penalised.
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    max_iter : int, default=10000
        Largest number of sweeps or Newton steps.
    tol : float, default=1e-6
        The duality gap to reach, relative to the objective.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates: the others
        are judged by what they add. They count among the ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept: the fit is that without them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y. "auto" reads text, booleans, categories and whole numbers as classes and
        numbers with fractions as quantities, and asks where whole numbers could be either.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    verbose : int, default=0
        1 prints every iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the standardised coefficients: the row norms on standardised columns, divided
        by the root mean square of the centred target.
    ranking_ : ndarray of shape (n_features,)
        By score; features without weight by the gradient of the loss at their zero coefficients.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    support_per_class_ : ndarray of shape (n_outputs, n_features)
        Which kept feature has a nonzero coefficient for which class.
    heatmap_ : ClassHeatmap
        The kept features against the classes, in an order worth drawing.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    beta_ : float
        The strength used.
    objective_ : float
        Objective of the standardised problem.
    optimality_ : float
        Duality gap relative to it.
    converged_ : bool
        Whether that is at most ``tol``.
    n_iter_ : int
        Number of sweeps or Newton steps.
    history_ : list of float
        Objective after every round.

    See Also
    --------
    sparsieve.ExclusiveL21Selector : Few features, and for every feature few of the classes.

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
