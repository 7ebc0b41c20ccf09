"""EP-SVM: the number of features through an exact penalty on switches."""

from __future__ import annotations

from ..._checks import check_real
from ...solvers.hinge.linear_program import ExactPenaltyProgram
from .l0_svm import HingeSelector


class ExactPenaltySVMSelector(HingeSelector):
    """Linear SVM that counts features with one switch per feature (EP-SVM).

    Minimises ``C sum_i max(0, 1 - y_i (w'x_i + b)) + sum_j u_j + t sum_j min(u_j, 1 - u_j)``
    under ``|w_j| <= bound * u_j`` and ``0 <= u_j <= 1``, where t is ``penalty``: with t large
    enough every switch u_j ends at 0 or 1 and their sum is the number of features. For t >= 1
    the best u_j can be written down, which leaves the capped l1 penalty of
    :class:`L0SVMSelector` with ``theta = (1 + penalty) / bound``; what differs is the bound on
    the weights and that a feature becomes free of charge only beyond half of that bound.

    Several classes get one model each against the rest, ranked jointly as in
    :class:`L0SVMSelector`.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps those with a weight.
    C : float, default=1.0
        Price of a margin violation, in features.
    penalty : float, default=4.0
        Strength t of the penalty on switches between 0 and 1; at least 1.
    bound : float, default=1.0
        Largest weight ``|w_j|``, in standard deviations of the feature where ``standardize`` holds.
    fit_intercept, standardize, always_keep, never_keep, class_weight, max_iter, tol, verbose
        As in :class:`L0SVMSelector`; ``bound`` does not hold for ``always_keep``.

    Attributes
    ----------
    scores_, ranking_, support_, coef_, intercept_, classes_
        As in :class:`L0SVMSelector`.
    objective_, optimality_, n_iter_, history_
        As in :class:`L0SVMSelector`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import ExactPenaltySVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ExactPenaltySVMSelector(C=0.1).fit(X, y).get_support(indices=True)
    array([ 6,  7, 20, 21, 24, 27, 28])
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        C=1.0,
        penalty=4.0,
        bound=1.0,
        fit_intercept=True,
        standardize=True,
        always_keep=None,
        never_keep=None,
        class_weight=None,
        max_iter=50,
        tol=1e-6,
        verbose=0,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.penalty = penalty
        self.bound = bound
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("penalty", self.penalty, minimum=1)
        check_real("bound", self.bound, minimum=0, strict=True)

    def _largest_weight(self) -> float:
        return float(self.bound)

    def _program(self, svm):
        return ExactPenaltyProgram(svm, float(self.penalty))
