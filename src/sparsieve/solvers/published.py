"""Settings of published methods whose selectors have another solver by default, and of that solver.

Those of the published methods for ``RobustL20Selector`` and ``L20Selector`` are among ``settings``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._checks import check_choice, check_integer, check_real
from .settings import SolverSettings

__all__ = ["ALM", "AlternatingDC", "ExactMinimax", "MinimaxDC"]


@dataclass(repr=False, kw_only=True)
class BlockDescent(SolverSettings):
    """Block coordinate descent, the default solver of ``ExclusiveL21Selector``."""


@dataclass(repr=False, kw_only=True)
class ALM(SolverSettings):
    """The published method for ``ExclusiveL21Selector``, ``solver="published"``.

    Augmented Lagrange multipliers with one pass over W per iteration. The factor nu grows
    meanwhile, so that the method freezes before the optimum, the farther from it the farther it
    started.
    Names are the letters of the paper, and defaults its settings, except for the start.

    Parameters
    ----------
    nu : float or None, default=None
        First value of the penalty parameter; None is 1 / ||X||_F.
    rho : float, default=1.1
        Factor on nu from one iteration to the next.
    epsilon_1, epsilon_2 : float, default=1e-8 and 1e-5
        Stop when the objective changes by at most ``epsilon_1`` relative to itself, and the two
        copies of W differ by at most ``epsilon_2`` in every entry.
    init : {"zero", "gaussian"}, default="zero"
        First W. The paper says "random" and not of what size: with "gaussian", of unit variance,
        the end has been 4 to 2,500 times above the optimum.
    random_state : int, default=0
        Seed of "gaussian".

    See Also
    --------
    sparsieve.ExclusiveL21Selector : Few features, each used for few classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ExclusiveL21Selector
    >>> from sparsieve.solvers import ALM
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = ExclusiveL21Selector(4, alpha=20.0, solver=ALM(rho=1.05), tol=1e-3)
    >>> selector.fit_transform(X, y).shape
    (178, 4)
    """

    nu: float | None = None
    rho: float = 1.1
    epsilon_1: float = 1e-8
    epsilon_2: float = 1e-5
    init: str = "zero"
    random_state: int = 0

    def _check(self) -> None:
        check_real("nu", self.nu, minimum=0, strict=True, optional=True)
        check_real("rho", self.rho, minimum=1)
        if np.isclose(self.rho, 1.0, atol=1e-12):
            raise ValueError(f"rho must be greater than 1, got {self.rho!r}")
        check_real("epsilon_1", self.epsilon_1, minimum=0)
        check_real("epsilon_2", self.epsilon_2, minimum=0)
        check_choice("init", self.init, ("zero", "gaussian"))
        check_integer("random_state", self.random_state, minimum=0)


@dataclass(repr=False, kw_only=True)
class ShiftedAlternation(SolverSettings):
    """Alternation on the objective that has a lower bound, the default of ``L0MKLSelector``."""


@dataclass(repr=False, kw_only=True)
class AlternatingDC(SolverSettings):
    """The published method for ``L0MKLSelector``, ``solver="published"``.

    Algorithms 1, 3 and 4 of the paper on the printed objective, from equal weights and coefficients
    of zero. With an indefinite kernel that objective has no lower bound; if the iteration diverges,
    fit raises an ``UnboundedObjectiveError``, whose ``trace`` holds the objective values. ``T`` and
    epsilon of Algorithm 1 are ``max_iter`` and ``tol`` of the selector. The paper gives no values.

    Parameters
    ----------
    T : int, default=100
        Maximum number of steps of Algorithms 3 and 4.
    epsilon : float, default=1e-5
        These stop when the squared length of a step is at most this.
    threshold : float, default=1e-5
        Weights below this are discarded in the end, as in the paper.

    See Also
    --------
    sparsieve.L0MKLSelector : Non-linear SVM with one kernel per feature.
    sparsieve.MIKFSSelector : The same model with an l1 norm on the kernel weights.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import L0MKLSelector
    >>> from sparsieve.solvers import AlternatingDC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> solver = AlternatingDC(T=50)
    >>> selector = L0MKLSelector(3, kernel="rbf", surrogate="log", solver=solver, tol=0.01)
    >>> selector.fit_transform(X[::4], y[::4]).shape
    (143, 3)
    """

    T: int = 100
    epsilon: float = 1e-5
    threshold: float = 1e-5

    def _check(self) -> None:
        check_integer("T", self.T)
        check_real("epsilon", self.epsilon, minimum=0)
        check_real("threshold", self.threshold, minimum=0)


@dataclass(repr=False, kw_only=True)
class MinimaxDC(SolverSettings):
    """The published method for ``L0MPMSelector``, ``solver="published"``.

    The DC algorithm with the steps of the paper: cone programs over all features, in which a weight
    that changes its sign costs more than one that keeps it. Their time grows as the number of
    features to the power of 2.5. alpha of the paper is ``theta`` of the selector. Its level
    delta = 0.9 is out of reach of every low-dimensional data set that it uses, so that
    ``delta="auto"`` stays.

    Parameters
    ----------
    epsilon : float, default=1e-4
        Stop when the hyperplane moves by less than this, or the objective falls by no more.

    See Also
    --------
    sparsieve.L0MPMSelector : Fewest features that reach a given worst-case accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import L0MPMSelector
    >>> from sparsieve.solvers import MinimaxDC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> L0MPMSelector(delta=0.7, solver=MinimaxDC(epsilon=1e-3)).fit(X, y).get_support(indices=True)
    array([20, 21, 27])
    """

    epsilon: float = 1e-4

    def _check(self) -> None:
        check_real("epsilon", self.epsilon, minimum=0, strict=True)


@dataclass(repr=False, kw_only=True)
class SurrogateDescent(SolverSettings):
    """The DC algorithm on the surrogate, the default solver of ``L0MPMSelector``."""


@dataclass(repr=False, kw_only=True)
class ExactMinimax(SolverSettings):
    """Exact search for the fewest features that reach ``delta``, a solver of ``L0MPMSelector``.

    For up to 30 features. Starts from the solution with the surrogate and rules out smaller sizes
    by branch and bound, until a set is found or the time limit is reached.

    Parameters
    ----------
    time_limit : float, default=60.0
        Time limit in seconds for every two-class task.

    See Also
    --------
    sparsieve.L0MPMSelector : Fewest features that reach a given worst-case accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L0MPMSelector
    >>> from sparsieve.solvers import ExactMinimax
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = L0MPMSelector(solver=ExactMinimax(time_limit=10)).fit(X, y == 0)
    >>> selector.converged_, int(selector.objective_)
    (True, 2)
    """

    time_limit: float = 60.0

    def _check(self) -> None:
        check_real("time_limit", self.time_limit, minimum=0, strict=True)
