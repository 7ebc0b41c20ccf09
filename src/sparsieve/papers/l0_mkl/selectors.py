"""One kernel per feature, and few of them: l0 multiple kernel learning, and with an l1 norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._checks import check_choice, check_real
from ...penalties import SURROGATES, Surrogate, surrogate
from .base import MKLSelector


@dataclass(eq=False, repr=False, kw_only=True)
class L0MKLSelector(MKLSelector):
    """Non-linear selection: an SVM with one kernel per feature that uses few of the kernels.

    In short: Non-linear classifier with one smooth curve per feature and few features. Curves only
    rise or only fall, unless --param kernel=rbf.

    The decision function is ``f(x) = sum_m d_m sum_i beta_i k(x_im, x_m) + b``. The weights d_m >=
    0 decide which features are used, under a penalty that approximates their number. A feature may
    act through any function that its kernel can express: a threshold, a bump, a parabola.

    **What it cannot find.** With one kernel per feature, f is a *sum of functions of single
    features*. Features that matter only in combination, such as the exclusive or of two signs, look
    like noise to such a sum and are not found.

    With several classes, one model is fitted per class against the rest.

    The fit does not depend on the number of features requested: ``at(k)`` gives the same as a fit
    with ``n_features_to_select=k``. Features with zero weight are not used in predictions.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first. The model is the same as without this: it gives
        them weight only where they deserve it.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    kernel : {"sigmoid", "rbf", "poly", "auto"} or callable, default="sigmoid"
        Kernel of two numbers: tanh(gamma u v + coef0) (indefinite), exp(-gamma (u - v)^2),
        (gamma u v + coef0)^degree, or a function of two arrays that broadcast against each other.
        "auto" chooses by cross-validation on the training data among sigmoid (gamma 0.1 and 1,
        coef0 -0.01), rbf (gamma 0.1 and 1) and poly (degree 2): accuracy first, then the loss.
    gamma, coef0 : float or None, default=None
        Kernel coefficients, as in scikit-learn. None means 0.1 and -0.01 for "sigmoid", 1 for
        "rbf", and 1 and 1 for "poly".
    degree : int, default=2
        Degree of the "poly" kernel.
    lambda1 : float, default=1.0
        Strength of the penalty on the coefficients.
    lambda2 : float, default=0.1
        Strength of the penalty on the kernel weights.
    surrogate : {"capped_l1", "exp", "log", "scad", "l1"}, default="capped_l1"
        Function used in place of the number of nonzero weights. For d <= 1 / theta the capped l1 is
        the plain l1 norm, so theta must exceed 1 / d_max to make a difference.
    theta : float, default=5.0
        Steepness of the l0 surrogate; larger values come closer to counting features.
    d_max : float or None, default=None
        Upper bound on the weights. None means 1 for ``solver="alternating"`` and no bound
        for "published", as in the paper.
    solver : {"alternating", "published"} or solver object, default="alternating"
        "alternating" minimises ``lambda1 sum_m d_m beta'(K_m + tau_m I)beta + lambda2 sum_m
        delta(d_m) + sum_i max(0, 1 - y_i f(x_i))^2`` with centred K_m and a tau_m that makes it
        positive semidefinite, so that the objective is bounded below while f still uses the
        original kernel.
        "published", or ``AlternatingDC(...)`` with settings, is the algorithm as printed in the
        paper, without centring and tau. With an indefinite kernel its objective has no lower bound;
        if the iteration diverges, fit raises an ``UnboundedObjectiveError`` (an ArithmeticError
        whose ``trace`` holds the objective values).
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    n_init : int, default=1
        Number of starting points (the problem is not convex). The first counts for three: the mean
        of all kernels, equal weights of all features, and large ones; the others are random
        mixtures. The best solution is kept.
    max_memory : float, default=2.56e8
        Maximum memory for kernel matrices, in bytes. Kernels without a short separable expansion
        are stored if they all fit, and otherwise recomputed block by block when needed.
    max_iter : int, default=200
        Maximum number of rounds of weights and coefficients.
    tol : float, default=1e-3
        Stop when the largest violation of the first-order conditions, relative to the largest
        correlation of a feature with the residual, is at most this; or when the objective is at
        most this fraction of its value without features. "published" stops on the relative change
        of the objective.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator; an int makes results reproducible.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How much the feature contributes to the margin of 1: half the difference between the two
        class means of its term in the decision function (with several classes, the mean over the
        one-vs-rest models); 0 for unused features.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero weight are ranked by how much the
        objective would fall if each were added next.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    kernel_weights_ : ndarray of shape (1 or n_classes, n_features)
        Kernel weights d of every model. With fewer features than the model uses (see :meth:`at`)
        the others are zero and the coefficients are refitted (not for "published").
    dual_coef_ : ndarray of shape (1 or n_classes, n_samples)
        Coefficients beta of every model, one for each training sample with nonzero weight.
    intercept_ : ndarray of shape (1 or n_classes,)
        Intercept b of every model.
    kernel_ : object
        The kernel used; ``kernel_(u, v)`` evaluates it.
    kernel_scores_ : dict
        Cross-validated accuracy of every candidate (only for ``kernel="auto"``).
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Objective at the solution, summed over the models.
    optimality_ : float
        What ``tol`` is compared with; the largest over the models.
    n_iter_ : int
        Number of rounds; the largest over the models.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    history_ : list of float
        Objective after every round, summed over the models; with "alternating" it never increases.

    See Also
    --------
    sparsieve.MIKFSSelector : The same model with an l1 norm on the kernel weights.
    sparsieve.HSICLassoSelector : Non-linear selection by one convex problem.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import L0MKLSelector
    >>> from sparsieve.datasets import make_nonlinear_additive
    >>> data = make_nonlinear_additive(200, 30, n_relevant=2, random_state=0)
    >>> selector = L0MKLSelector(kernel="rbf", n_features_to_select=2).fit(data.X, data.y)
    >>> bool((selector.get_support(indices=True) == np.sort(data.relevant)).all())
    True
    """

    surrogate: str = "capped_l1"
    theta: float = 5.0
    d_max: float | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("surrogate", self.surrogate, SURROGATES)
        check_real("theta", self.theta, minimum=0, strict=True)
        check_real("d_max", self.d_max, minimum=0, strict=True, optional=True)

    def _surrogate(self) -> Surrogate:
        return surrogate(self.surrogate, self.theta)

    def _largest_weight(self) -> float:
        if self.d_max is not None:
            return float(self.d_max)
        return np.inf if self._uses_published_solver() else 1.0


@dataclass(eq=False, repr=False, kw_only=True)
class MIKFSSelector(MKLSelector):
    """Non-linear selection with one kernel per feature and an l1 norm on their weights.

    In short: Like l0-mkl, with an l1 penalty on the weights instead of a count.

    :class:`L0MKLSelector` with ``surrogate="l1"`` and no upper bound on the weights. What is said
    there about the features it can find and about :meth:`at` also holds here.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first. The model is the same as without this: it gives
        them weight only where they deserve it.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    kernel : {"sigmoid", "rbf", "poly", "auto"} or callable, default="sigmoid"
        Kernel of two numbers: tanh(gamma u v + coef0) (indefinite), exp(-gamma (u - v)^2),
        (gamma u v + coef0)^degree, or a function of two arrays that broadcast against each other.
        "auto" chooses by cross-validation on the training data among sigmoid (gamma 0.1 and 1,
        coef0 -0.01), rbf (gamma 0.1 and 1) and poly (degree 2): accuracy first, then the loss.
    gamma, coef0 : float or None, default=None
        Kernel coefficients, as in scikit-learn. None means 0.1 and -0.01 for "sigmoid", 1 for
        "rbf", and 1 and 1 for "poly".
    degree : int, default=2
        Degree of the "poly" kernel.
    lambda1 : float, default=1.0
        Strength of the penalty on the coefficients.
    lambda2 : float, default=0.1
        Strength of the penalty on the kernel weights.
    solver : {"alternating", "published"} or solver object, default="alternating"
        "alternating" minimises ``lambda1 sum_m d_m beta'(K_m + tau_m I)beta + lambda2 sum_m
        delta(d_m) + sum_i max(0, 1 - y_i f(x_i))^2`` with centred K_m and a tau_m that makes it
        positive semidefinite, so that the objective is bounded below while f still uses the
        original kernel.
        "published", or ``AlternatingDC(...)`` with settings, is the algorithm as printed in the
        paper, without centring and tau. With an indefinite kernel its objective has no lower bound;
        if the iteration diverges, fit raises an ``UnboundedObjectiveError`` (an ArithmeticError
        whose ``trace`` holds the objective values).
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    n_init : int, default=1
        Number of starting points (the problem is not convex): the mean of all kernels, then random
        mixtures. The best solution is kept.
    max_memory : float, default=2.56e8
        Maximum memory for kernel matrices, in bytes. Kernels without a short separable expansion
        are stored if they all fit, and otherwise recomputed block by block when needed.
    max_iter : int, default=200
        Maximum number of rounds of weights and coefficients.
    tol : float, default=1e-3
        Stop when the largest violation of the first-order conditions, relative to the largest
        correlation of a feature with the residual, is at most this; or when the objective is at
        most this fraction of its value without features. "published" stops on the relative change
        of the objective.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator; an int makes results reproducible.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How much the feature contributes to the margin of 1: half the difference between the two
        class means of its term in the decision function (with several classes, the mean over the
        one-vs-rest models); 0 for unused features.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero weight are ranked by how much the
        objective would fall if each were added next.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    kernel_weights_ : ndarray of shape (1 or n_classes, n_features)
        Kernel weights d of every model. With fewer features than the model uses (see :meth:`at`)
        the others are zero and the coefficients are refitted (not for "published").
    dual_coef_ : ndarray of shape (1 or n_classes, n_samples)
        Coefficients beta of every model, one for each training sample with nonzero weight.
    intercept_ : ndarray of shape (1 or n_classes,)
        Intercept b of every model.
    kernel_ : object
        The kernel used; ``kernel_(u, v)`` evaluates it.
    kernel_scores_ : dict
        Cross-validated accuracy of every candidate (only for ``kernel="auto"``).
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Objective at the solution, summed over the models.
    optimality_ : float
        What ``tol`` is compared with; the largest over the models.
    n_iter_ : int
        Number of rounds; the largest over the models.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    history_ : list of float
        Objective after every round, summed over the models; with "alternating" it never increases.

    See Also
    --------
    sparsieve.L0MKLSelector : Non-linear SVM with one kernel per feature.
    sparsieve.HSICLassoSelector : Non-linear selection by one convex problem.

    Examples
    --------
    >>> from sparsieve import MIKFSSelector
    >>> from sparsieve.datasets import make_nonlinear_additive
    >>> data = make_nonlinear_additive(150, 20, n_relevant=2, random_state=0)
    >>> selector = MIKFSSelector(kernel="rbf", lambda2=2.0).fit(data.X, data.y)
    >>> bool(selector.support_[data.relevant].all())
    True
    """

    _purposes: ClassVar[tuple[str, ...]] = ("nonlinear", "panel")

    def _surrogate(self) -> Surrogate:
        return surrogate("l1")

    def _largest_weight(self) -> float:
        return np.inf
