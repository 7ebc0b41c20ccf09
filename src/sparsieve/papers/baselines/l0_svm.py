"""Linear SVMs that count features: by a surrogate (PiE-SVM, CAP-SVM) or an exact penalty."""

from __future__ import annotations

from dataclasses import dataclass

from ..._checks import check_choice, check_real
from ...penalties import SURROGATES, surrogate
from ...selectors.base import TrainingData
from .hinge_base import HingeSelector
from .solvers.column_generation import Hinge
from .solvers.l0_svm import ExactPenaltySVM, SurrogateSVM


@dataclass(eq=False, repr=False, kw_only=True)
class L0SVMSelector(HingeSelector):
    """Linear SVM with a penalty on the number of features instead of the squared weights.

    In short: Linear classifier (SVM) with a penalty on the number of features it uses.

    Minimises ``sum_j delta(w_j) + C sum_i max(0, 1 - y_i (w'x_i + b))`` where delta is a concave
    surrogate of "w_j is not zero". ``surrogate="exp"`` is PiE-SVM, ``"capped_l1"`` is CAP-SVM and
    ``"l1"`` the convex l1-SVM. The DC algorithm replaces delta by its tangent at the current
    weights, which gives a linear program. Each program contains only the few features that can have
    a nonzero weight; one product with all the others verifies that none was missed.

    With several classes, one model is fitted per class against the rest. Features are ranked by the
    mean over classes of ``|w_j|`` divided by the largest weight of that class, so that the best
    feature of every class counts the same.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    surrogate : {"exp", "capped_l1", "log", "scad", "l1"}, default="exp"
        Function used in place of the number of nonzero weights.
    C : float, default=1.0
        Penalty on margin violations; larger values allow fewer of them.
    theta : float, default=5.0
        Steepness of the l0 surrogate; larger values come closer to counting features.
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
    max_iter : int, default=50
        Maximum number of linear programs per model (steps of the DC algorithm).
    tol : float, default=1e-6
        Stop when a step lowers the objective by less than this fraction of it; ``optimality_`` must
        also be at most this.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The feature's share of the reduction in hinge loss (between 0 and 1), divided among the
        features in proportion to their squared standardised weights; with several classes, weights
        are averaged after dividing by the largest of each class.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero weight are ranked by how much they
        would reduce the remaining margin violations (the gradient of the squared hinge loss; ties
        by the gradient at zero weights).
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Weights in the units of X. With fewer features than the model uses (see :meth:`at`), the
        last linear program is solved again on those kept.
    intercept_ : ndarray of shape (1 or n_classes,)
        Intercept of every model.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Objective at the solution, summed over the models.
    optimality_ : float
        How far the weights are from solving the last linear program: the larger of its relative
        duality gap and the largest violation of the optimality conditions over all features; the
        largest over the models.
    n_iter_ : int
        Number of linear programs; the largest over the models.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    history_ : list of float
        Objective after every linear program, summed over the models.

    See Also
    --------
    sparsieve.ExactPenaltySVMSelector : The same problem with 0/1 variables.
    sparsieve.SVMRFESelector : Recursive feature elimination with a linear SVM.

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


@dataclass(eq=False, repr=False, kw_only=True)
class ExactPenaltySVMSelector(HingeSelector):
    """Linear SVM that counts features through 0/1 variables and an exact penalty (EP-SVM).

    In short: Linear classifier (SVM) that uses few features; a slower variant of l0-svm.

    Minimises ``C sum_i max(0, 1 - y_i (w'x_i + b)) + sum_j u_j + t sum_j min(u_j, 1 - u_j)`` under
    ``|w_j| <= max_weight * u_j`` and ``0 <= u_j <= 1``, where t is ``penalty``: with t large enough
    every u_j ends at 0 or 1 and their sum is the number of features. For t >= 1 the best u_j has a
    closed form, which gives the capped l1 penalty of :class:`L0SVMSelector` with ``theta = (1 +
    penalty) / max_weight``. The differences are the bound on the weights, and that the penalty
    stays constant only beyond a weight of half that bound.

    With several classes, one model is fitted per class against the rest, and features are ranked
    jointly as in :class:`L0SVMSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    C : float, default=1.0
        Penalty on margin violations; larger values allow fewer of them.
    penalty : float, default=4.0
        Strength t of the penalty on u_j strictly between 0 and 1; at least 1.
    max_weight : float, default=1.0
        Upper bound on ``|w_j|`` (for standardised features if ``standardize=True``); features in
        ``always_keep`` are not bounded.
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
    max_iter : int, default=50
        Maximum number of linear programs per model (steps of the DC algorithm).
    tol : float, default=1e-6
        Stop when a step lowers the objective by less than this fraction of it; ``optimality_`` must
        also be at most this.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The feature's share of the reduction in hinge loss (between 0 and 1), divided among the
        features in proportion to their squared standardised weights; with several classes, weights
        are averaged after dividing by the largest of each class.
    ranking_, support_, coef_, intercept_, classes_
        As in :class:`L0SVMSelector`.
    objective_, optimality_, n_iter_, converged_, history_
        As in :class:`L0SVMSelector`.

    See Also
    --------
    sparsieve.L0SVMSelector : Linear SVM with a penalty on the number of features.
    sparsieve.SVMRFESelector : Recursive feature elimination with a linear SVM.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import ExactPenaltySVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ExactPenaltySVMSelector(C=0.1).fit(X, y).get_support(indices=True)
    array([ 6,  7, 20, 21, 24, 27, 28])
    """

    penalty: float = 4.0
    max_weight: float = 1.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("penalty", self.penalty, minimum=1)
        check_real("max_weight", self.max_weight, minimum=0, strict=True)

    def _work(self, data: TrainingData) -> float:
        return 0.3 * float(data.design.shape[0]) ** 2  # measured with 300,000 samples

    def _largest_weight(self) -> float:
        return float(self.max_weight)

    def _problem(self, hinge: Hinge) -> ExactPenaltySVM:
        return ExactPenaltySVM(hinge, float(self.penalty))
