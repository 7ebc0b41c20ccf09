"""MIK-FS: multiple kernel selection with the plain l1 norm on the kernel weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...penalties import Surrogate, surrogate
from .base import MKLSelector


@dataclass(eq=False, repr=False, kw_only=True)
class MIKFSSelector(MKLSelector):
    """Non-linear selection with one kernel per feature and an l1 norm on their weights.

    In short: As l0-mkl, with small weights instead of few.

    :class:`L0MKLSelector` with ``surrogate="l1"`` and no upper limit on the weights, whose scale
    the l1 norm itself fixes; the same words about what it sees, does not see and gives at another
    number of features hold here.

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
    sparsieve.L0MKLSelector : Non-linear: one kernel per feature, few kernels kept.
    sparsieve.HSICLassoSelector : Non-linear, by one convex problem.

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
