"""EP-SVM: the number of features through an exact penalty on switches."""

from __future__ import annotations

from dataclasses import dataclass

from ..._checks import check_real
from ...solvers.hinge.column_generation import Hinge
from ...solvers.hinge.l0_svm import ExactPenaltySVM
from ..base import TrainingData
from .base import HingeSelector


@dataclass(eq=False, repr=False, kw_only=True)
class ExactPenaltySVMSelector(HingeSelector):
    """Linear SVM that counts features with one switch per feature (EP-SVM).

    In short: A straight-line border between classes that uses few features; slower variant of
    l0-svm.

    Minimises ``C sum_i max(0, 1 - y_i (w'x_i + b)) + sum_j u_j + t sum_j min(u_j, 1 - u_j)``
    under ``|w_j| <= max_weight * u_j`` and ``0 <= u_j <= 1``, where t is ``penalty``: with t large
    enough every switch u_j ends at 0 or 1 and their sum is the number of features. For t >= 1
    the best u_j can be written down, which leaves the capped l1 penalty of
    :class:`L0SVMSelector` with ``theta = (1 + penalty) / max_weight``; what differs is the bound on
    the weights and that a feature becomes free of charge only beyond half of that bound.

    Several classes get one model each against the rest, ranked jointly as in
    :class:`L0SVMSelector`.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those with a weight.
    C : float, default=1.0
        Price of margin violations in the objective; large values allow fewer.
    penalty : float, default=4.0
        Strength t of the penalty on switches between 0 and 1; at least 1.
    max_weight : float, default=1.0
        Largest weight ``|w_j|``, in standard deviations of the feature where ``standardize`` holds;
        those of ``always_keep`` have none.
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
    ranking_, support_, coef_, intercept_, classes_
        As in :class:`L0SVMSelector`.
    objective_, optimality_, n_iter_, converged_, history_
        As in :class:`L0SVMSelector`.

    See Also
    --------
    sparsieve.L0SVMSelector : Linear SVM that pays for the number of features.
    sparsieve.SVMRFESelector : Drops the features with the smallest SVM weights, again and again.

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

    def _cost(self) -> float:
        return (1.0 + self.penalty) / self.max_weight
