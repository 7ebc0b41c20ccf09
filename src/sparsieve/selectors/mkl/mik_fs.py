"""MIK-FS: multiple kernel selection with the plain l1 norm on the kernel weights."""

from __future__ import annotations

import numpy as np

from ..._checks import check_choice
from ...penalties import surrogate
from .l0_mkl import FORMULATIONS, MKLSelector


class MIKFSSelector(MKLSelector):
    """Non-linear selection with one kernel per feature and an l1 norm on their weights.

    :class:`L0MKLSelector` with ``surrogate="l1"`` and no upper limit on the weights, whose scale
    the l1 norm itself fixes; the same words about what it sees and does not see hold here.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps those with a weight.
    kernel, gamma, coef0, degree
        The kernel, as in :class:`L0MKLSelector`.
    lambda1 : float, default=1.0
        Strength of the regulariser of the coefficients.
    lambda2 : float, default=0.1
        Strength of the l1 norm of the kernel weights.
    formulation, standardize, class_weight, n_init, max_memory, max_iter, tol, random_state, verbose
        As in :class:`L0MKLSelector`.

    Attributes
    ----------
    scores_, ranking_, support_, kernel_weights_, dual_coef_, intercept_, kernel_, classes_
        As in :class:`L0MKLSelector`.
    objective_, optimality_, n_iter_, history_
        As in :class:`L0MKLSelector`.

    Examples
    --------
    >>> from sparsieve import MIKFSSelector
    >>> from sparsieve.datasets import make_nonlinear_additive
    >>> data = make_nonlinear_additive(150, 20, n_relevant=2, random_state=0)
    >>> selector = MIKFSSelector(kernel="rbf", lambda2=2.0).fit(data.X, data.y)
    >>> bool(selector.support_[data.relevant].all())
    True
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        kernel="sigmoid",
        gamma=None,
        coef0=None,
        degree=2,
        lambda1=1.0,
        lambda2=0.1,
        formulation="shift",
        standardize=True,
        class_weight=None,
        n_init=1,
        max_memory=2.56e8,
        max_iter=200,
        tol=1e-3,
        random_state=None,
        verbose=0,
    ):
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.formulation = formulation
        self.standardize = standardize
        self.class_weight = class_weight
        self.n_init = n_init
        self.max_memory = max_memory
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("formulation", self.formulation, FORMULATIONS)

    def _surrogate(self):
        return surrogate("l1")

    def _largest_weight(self) -> float:
        return np.inf
