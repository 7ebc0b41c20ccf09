"""Linear SVMs under a surrogate of the number of features: PiE-SVM, CAP-SVM and relatives."""

from __future__ import annotations

from dataclasses import dataclass

from ..._checks import check_choice, check_real
from ...penalties import SURROGATES, surrogate
from ...solvers.hinge.column_generation import Hinge
from ...solvers.hinge.l0_svm import SurrogateSVM
from .base import HingeSelector


@dataclass(eq=False, repr=False, kw_only=True)
class L0SVMSelector(HingeSelector):
    """Linear SVM that pays for the number of features instead of their squared weights.

    In short: A straight-line border between classes that pays for every feature it uses.

    Minimises ``sum_j delta(w_j) + C sum_i max(0, 1 - y_i (w'x_i + b))`` where delta is a
    concave surrogate of "w_j is not zero". ``surrogate="exp"`` is PiE-SVM, ``"capped_l1"``
    is CAP-SVM and ``"l1"`` the convex l1-SVM. The DC algorithm replaces delta by its tangent at
    the current weights, which leaves a linear program; programs hold only the few features that
    can have a weight, and one product with all the others certifies that none was missed.

    Several classes get one model each against the rest. A feature ranks by the mean over classes
    of ``|w_j|`` divided by the largest of that class: the scale of a margin says
    nothing about how much its class matters, so the best feature of every class counts the same.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those with a weight.
    surrogate : {"exp", "capped_l1", "log", "scad", "l1"}, default="exp"
        What stands in for counting features.
    C : float, default=1.0
        Price of margin violations in the objective; large values allow fewer.
    theta : float, default=5.0
        Steepness of the l0 surrogate.
    fit_intercept : bool, default=True
        Fit an intercept that is not penalised.
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates: the others
        are judged by what they add. They count among the ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept: the fit is that without them.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    max_iter : int, default=50
        Most linear programs per model (of the DC algorithm; each may take several rounds).
    tol : float, default=1e-6
        Stop when a program lowers the objective by less than this share of it; also the
        optimality (see ``optimality_``) to reach.
    verbose : int, default=0
        1 prints every iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The feature's part of what the machine explains (the share of the hinge loss that it
        saves, between 0 and 1), shared out by squared standardised weights; with several
        classes by the mean of weights relative to the largest of each class, of the mean share.
    ranking_ : ndarray of shape (n_features,)
        By score; features without weight by how much of the margins still missed they would
        make up for: the gradient of the squared hinge loss there and, where that is equal, at no
        weights at all.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Weights in the units of X. With fewer features than the model uses (see :meth:`at`) the
        last linear program is solved again on the kept ones.
    intercept_ : ndarray of shape (1 or n_classes,)
        Biases.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Objective of the model as fitted, summed over the models.
    optimality_ : float
        How far the weights are from solving the linear program that they define: the larger of
        its duality gap relative to the objective and of what any feature offers above its cost,
        over all features; the largest of the models.
    n_iter_ : int
        Linear programs of the DC algorithm; the most of any model.
    converged_ : bool
        Whether ``optimality_`` came down to ``tol``.
    history_ : list of float
        Objective after every program, summed over the models.

    See Also
    --------
    sparsieve.ExactPenaltySVMSelector : The same count, with one switch per feature.
    sparsieve.SVMRFESelector : Drops the features with the smallest SVM weights, again and again.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import L0SVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = L0SVMSelector(C=0.1).fit(X, y)
    >>> selector.get_support(indices=True)
    array([20, 21, 27])
    >>> float((selector.predict(X) == y).mean()) > 0.9
    True
    """

    surrogate: str = "exp"
    theta: float = 5.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("surrogate", self.surrogate, SURROGATES)
        check_real("theta", self.theta, minimum=0, strict=True)

    def _problem(self, hinge: Hinge) -> SurrogateSVM:
        return SurrogateSVM(hinge, surrogate(self.surrogate, self.theta))

    def _cost(self) -> float:
        return surrogate(self.surrogate, self.theta).slope_at_zero
