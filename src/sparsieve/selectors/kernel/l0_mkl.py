"""One kernel per feature, and few of them: l0 multiple kernel learning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._checks import check_choice, check_real
from ...penalties import SURROGATES, Surrogate, surrogate
from .base import MKLSelector


@dataclass(eq=False, repr=False, kw_only=True)
class L0MKLSelector(MKLSelector):
    """Non-linear selection: an SVM with one kernel per feature that keeps few of the kernels.

    In short: Every feature with a curve of its own, and few features. The curves rise or fall; with
    --param kernel=rbf they may do both.

    The decision function is ``f(x) = sum_m d_m sum_i beta_i k(x_im, x_m) + b``. Weights d_m >= 0
    under a surrogate of their number decide which features take part, so a feature may act
    through any function of itself that its kernel can express: a threshold, a bump, a parabola.

    **What it cannot see.** One kernel per feature makes f a *sum of functions of single
    features*. A pure interaction, such as the exclusive or of two signs, looks like noise to
    every such sum, and its features are not found.

    Several classes get one model each against the rest.

    The fit does not depend on the number of features asked for: ``at(k)`` gives what a fit with
    ``n_features_to_select=k`` gives. Features beyond those with a weight take no part in
    predictions.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those with a weight.
    kernel : {"sigmoid", "rbf", "poly", "auto"} or callable, default="sigmoid"
        Kernel of two numbers: tanh(gamma u v + coef0) (indefinite), exp(-gamma (u - v)^2),
        (gamma u v + coef0)^degree, or a function of two arrays that broadcast against each other.
        "auto" chooses by cross-validation on the training data among sigmoid (gamma 0.1 and 1,
        coef0 -0.01), rbf (gamma 0.1 and 1) and poly (degree 2): accuracy first, then the loss.
    gamma, coef0 : float or None, default=None
        As in scikit-learn. None means 0.1 and -0.01 for "sigmoid", 1 for "rbf", 1 and 1 for
        "poly".
    degree : int, default=2
        Of "poly".
    lambda1 : float, default=1.0
        Strength of the regulariser of the coefficients.
    lambda2 : float, default=0.1
        Strength of the penalty on the kernel weights.
    surrogate : {"capped_l1", "exp", "log", "scad", "l1"}, default="capped_l1"
        What stands in for counting the weights that are not zero. On d <= 1 / theta the capped l1
        is the plain l1 norm, so theta has to exceed 1 / d_max to make a difference.
    theta : float, default=5.0
        Steepness of the l0 surrogate.
    d_max : float or None, default=None
        Largest weight; None is 1 for ``formulation="shift"`` and no limit for "published".
    formulation : {"shift", "published"}, default="shift"
        "shift" minimises ``lambda1 sum_m d_m beta'(K_m + tau_m I)beta + lambda2 sum_m delta(d_m) +
        sum_i max(0, 1 - y_i f(x_i))^2`` with K_m centred and tau_m what makes it positive
        semidefinite: bounded below, while f still uses the kernel as it is. "published" is the
        printed iteration on the printed objective, without centring and tau. With an indefinite
        kernel that objective has no lower bound; where the iteration falls out of reach, fit stops
        with an ``UnboundedObjectiveError`` (an ArithmeticError, whose ``trace`` shows the fall).
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    n_init : int, default=1
        Number of starts: the mean of all kernels, then random mixtures. The best is kept;
        the problem is not convex.
    max_memory : float, default=2.56e8
        Bytes that kernel matrices may take. Kernels that have no short separable expansion are
        held if all fit, and evaluated block by block again and again if not.
    max_iter : int, default=200
        Most rounds of weights and coefficients.
    tol : float, default=1e-3
        Largest violation of the first-order conditions of weights and coefficients, relative to
        the largest correlation of a feature with the residual; or, if smaller, the objective as
        a share of that without features, which bounds how much better any other point is. For
        "published", which stops on it, the change of the objective relative to itself.
    random_state : int, RandomState instance or None, default=None
        Seed of what is random.
    verbose : int, default=0
        1 prints every iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        What the feature adds to the margin, which is 1: half the difference of the two classes'
        means of its part of the decision function (several classes: the mean over each against
        the rest); 0 for features that take no part.
    ranking_ : ndarray of shape (n_features,)
        By score; features without weight by what they would gain as the next one.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    kernel_weights_ : ndarray of shape (1 or n_classes, n_features)
        d of every model. With fewer features than the model uses (see :meth:`at`) the others
        are zero and the coefficients are solved again (for "published" they stay).
    dual_coef_ : ndarray of shape (1 or n_classes, n_samples)
        beta of every model, one for each training sample of nonzero weight.
    intercept_ : ndarray of shape (1 or n_classes,)
        b of every model.
    kernel_ : object
        The kernel used; ``kernel_(u, v)`` evaluates it.
    kernel_scores_ : dict
        Cross-validated accuracy of every candidate (only for ``kernel="auto"``).
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Objective of the model as fitted, summed over the models.
    optimality_ : float
        What ``tol`` bounds; the largest of the models.
    n_iter_ : int
        Rounds; the most of any model.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    history_ : list of float
        Objective after every round, summed over the models; for "shift" it never rises.

    See Also
    --------
    sparsieve.MIKFSSelector : The same kernels with an l1 norm on their weights.
    sparsieve.HSICLassoSelector : Non-linear, by one convex problem.

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
        return 1.0 if self.formulation == "shift" else np.inf
