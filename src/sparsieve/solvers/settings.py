"""Settings that belong to one solver: what ``solver=`` of a selector takes beside plain names."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sklearn.base import clone

from .._checks import check_choice, check_flag, check_integer, check_real
from .._saved import Savable

__all__ = [
    "AHIHT",
    "HIHT",
    "IRLS",
    "ExactSearch",
    "Greedy",
    "NmAPG",
    "RobustGreedySearch",
]

INITS = ("zero", "gaussian", "uniform")


class SolverSettings(Savable):
    """Base of solver objects: parameters that clone, print, pickle, compare and can be searched.

    They are no estimators: nothing is fitted. A subclass is a dataclass (``repr=False,
    kw_only=True``) and may override ``_check``.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Present for compatibility with scikit-learn.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it takes "
                    f"{', '.join(known) or 'none'}"
                )
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        return type(self)(**{name: clone(v, safe=False) for name, v in self.get_params().items()})

    def __repr__(self) -> str:
        default = inspect.signature(type(self)).parameters
        changed = {
            k: v for k, v in self.get_params().items() if repr(v) != repr(default[k].default)
        }
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    def _check(self) -> None:
        """Refuse bad settings in one sentence."""


@dataclass(repr=False, kw_only=True)
class Greedy(SolverSettings):
    """Forward selection with swaps, a solver of ``L20Selector``.

    Adds the best feature at every step, swaps selected features for better ones as long as that
    lowers the objective, and removes features in the same way.

    Parameters
    ----------
    swaps : int, default=1
        Maximum number of swaps between two changes of the size. Larger values also widen the
        search, to the ``4 * swaps`` features that are cheapest to drop. 0 is plain forward
        selection; otherwise problems of up to 32 features are always searched thoroughly, including
        swaps of pairs.

    See Also
    --------
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    sparsieve.solvers.ExactSearch : Branch and bound: finds the best set, with proof.
    sparsieve.solvers.HIHT : Homotopy iterative hard thresholding.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L20Selector
    >>> from sparsieve.solvers import Greedy
    >>> X, y = load_wine(return_X_y=True)
    >>> L20Selector(4, solver=Greedy(swaps=0)).fit(X, y).get_support(indices=True)
    array([ 0,  6,  9, 12])
    """

    swaps: int = 1

    def _check(self) -> None:
        check_integer("swaps", self.swaps, minimum=0)


@dataclass(repr=False, kw_only=True)
class ExactSearch(SolverSettings):
    """Branch and bound for the best set of every size, a solver of ``L20Selector``.

    Starts from the greedy solution and searches until the set of every size is proven to be the
    best, or the time limit is reached; ``optimality_`` is the proven gap, rounding errors included.
    0 means that no other set is better. Otherwise no other set is better by more than this fraction
    of the objective: sets that double precision cannot distinguish, such as those with one or the
    other of two copies of a column, leave a gap of the size of rounding errors.

    With a ridge, the bounds come from a convex relaxation or from the fit on all remaining features
    (leaps and bounds), whichever is better at the start. Without a ridge, only the second is
    available; it needs fewer features than samples, or few enough to try every set.

    Parameters
    ----------
    time_limit : float, default=60.0
        Time limit in seconds for every number of features.

    See Also
    --------
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    sparsieve.solvers.Greedy : Forward selection with swaps, the default solver.
    sparsieve.selectors.certificates.Certificate : Proven bounds for a selection.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L20Selector
    >>> from sparsieve.solvers import ExactSearch
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = L20Selector(4, solver=ExactSearch(time_limit=10)).fit(X, y)
    >>> selector.converged_
    True
    """

    time_limit: float = 60.0

    def _check(self) -> None:
        check_real("time_limit", self.time_limit, minimum=0, strict=True)


@dataclass(repr=False, kw_only=True)
class HIHT(SolverSettings):
    """Homotopy iterative hard thresholding, a solver of ``L20Selector``.

    Gradient steps with hard thresholding of rows, iterated to convergence for a decreasing sequence
    of penalties, from one at which W = 0 down to the one requested.

    Parameters
    ----------
    init : {"zero", "gaussian", "uniform"}, default="zero"
        Initial W. The random ones have entries of order ``1 / sqrt(n_features)``, so that
        predictions are of order one; with ``lambda_0="auto"`` all give the same selection.
    L_0 : float or "auto", default="auto"
        Initial step constant; "auto" is 1. The result depends on it.
    lambda_0 : float or "auto", default="auto"
        Initial penalty. "auto" means the penalty at which the first feature enters from zero,
        divided by ``decay`` until the first step removes the initial W.
    eta : float, default=1e-3
        Coefficient of the sufficient decrease.
    growth : float, default=2.0
        Factor on the step constant when a step is rejected (gamma in the paper).
    decay : float, default=0.9
        Factor on the penalty from one stage to the next (rho in the paper).
    fill : bool, default=True
        Let features follow beyond the nonzero rows of W, by the norm of their gradient, as in the
        paper's tables of up to 400 features; their coefficients are zero. False refuses more
        features than W has rows.

    See Also
    --------
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    sparsieve.solvers.AHIHT : Accelerated homotopy iterative hard thresholding.
    sparsieve.solvers.Greedy : Forward selection with swaps, the default solver.
    sparsieve.solvers.ExactSearch : Branch and bound: finds the best set, with proof.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L20Selector
    >>> from sparsieve.solvers import HIHT
    >>> X, y = load_wine(return_X_y=True)
    >>> L20Selector(3, solver=HIHT(decay=0.8)).fit(X, y).transform(X).shape
    (178, 3)
    """

    init: str = "zero"
    L_0: float | str = "auto"
    lambda_0: float | str = "auto"
    eta: float = 1e-3
    growth: float = 2.0
    decay: float = 0.9
    fill: bool = True

    def _check(self) -> None:
        check_choice("init", self.init, INITS)
        check_flag("fill", self.fill)
        check_real("L_0", self.L_0, minimum=0, strict=True, auto=True)
        check_real("lambda_0", self.lambda_0, minimum=0, strict=True, auto=True)
        check_real("eta", self.eta, minimum=0, strict=True)
        check_real("growth", self.growth, minimum=1)
        check_real("decay", self.decay, minimum=0, strict=True)
        if self.growth <= 1:
            raise ValueError(f"growth must be greater than 1, got {self.growth!r}")
        if self.decay >= 1:
            raise ValueError(f"decay must be less than 1, got {self.decay!r}")


@dataclass(repr=False, kw_only=True)
class AHIHT(HIHT):
    """The published method for ``L20Selector``, ``solver="published"``: AHIHT.

    Accelerated homotopy iterative hard thresholding: like :class:`HIHT`, but with a single step for
    every penalty. The paper's tables are made with it; it gives no value of L_0, eta, gamma and
    rho, and searches ``lam`` over 1e-5, 1e-4, ..., 1.

    Parameters
    ----------
    init : {"zero", "gaussian", "uniform"}, default="zero"
        Initial W. The random ones have entries of order ``1 / sqrt(n_features)``, so that
        predictions are of order one; with ``lambda_0="auto"`` all give the same selection.
    L_0 : float or "auto", default="auto"
        Initial step constant; "auto" is 1.001 times the squared spectral norm of X, which is
        estimated to six digits, plus the ridge. The result depends on it.
    lambda_0 : float or "auto", default="auto"
        Initial penalty. "auto" means the penalty at which the first feature enters from zero,
        divided by ``decay`` until the first step removes the initial W.
    eta : float, default=1e-3
        Coefficient of the sufficient decrease.
    growth : float, default=2.0
        Factor on the step constant when a step is rejected (gamma in the paper).
    decay : float, default=0.9
        Factor on the penalty from one stage to the next (rho in the paper).
    fill : bool, default=True
        Let features follow beyond the nonzero rows of W, by the norm of their gradient, as in the
        paper's tables of up to 400 features; their coefficients are zero. False refuses more
        features than W has rows.

    See Also
    --------
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    sparsieve.solvers.HIHT : Homotopy iterative hard thresholding.
    sparsieve.solvers.Greedy : Forward selection with swaps, the default solver.
    sparsieve.solvers.ExactSearch : Branch and bound: finds the best set, with proof.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L20Selector
    >>> from sparsieve.solvers import AHIHT
    >>> X, y = load_wine(return_X_y=True)
    >>> L20Selector(3, solver=AHIHT(L_0=1.0)).fit(X, y).transform(X).shape
    (178, 3)
    """


@dataclass(repr=False, kw_only=True)
class NmAPG(SolverSettings):
    """The published method for ``RobustL20Selector``, ``solver="published"``.

    The limit K becomes the penalty ``rho * (sum of all but the K largest ||w_j||)``; norms are
    smoothed, and the problem is solved by nonmonotone accelerated proximal gradient steps, with the
    proximal map corrected. The smoothing is absolute, as published, so the result depends on the
    units of y. Defaults are the settings of the paper, and the names its letters.

    Parameters
    ----------
    rho : float, "auto" or None, default=None
        Strength of that penalty. None takes ``rho_share``. "auto" means the smallest value known to
        be exact, ``max_j sum_i s_i |x_ij| - alpha``; so large a value often keeps the features that
        are most correlated with the target, which a warning says.
    rho_share : float, default=0.01
        Strength relative to ``rho_max = m max |x_ij| - alpha``, the printed bound, with m samples.
        The paper uses .001 and .01.
    mu : float or None, default=None
        Smoothing: fixed (Algorithm 1 of the paper), or None for a sequence that falls from
        ``mu_0`` by the factor ``sigma`` (Algorithm 2).
    mu_0, sigma, epsilon : float, default=1.0, 0.1 and 0.1
        First smoothing, factor on it, and accuracy, which sets the last one: the sequence ends at
        2 epsilon / (m + alpha n), with n features.
    n_stage : int, default=200
        Iterations after which Algorithm 2 goes on to the next smoothing.
    stop : float, default=1e-7
        A stage also ends when ``||dW|| / max(||W||, 1)`` is at most this, equation (6.1).
    eta : float, default=0.9
        Weight of earlier objectives in the nonmonotone line search.
    step_constant : {"printed", "spectral"}, default="printed"
        Step constant: (||X||_F^2 + d alpha) / mu as printed, or the smaller and sufficient
        (||X||_2^2 + alpha) / mu.
    limits : list of int or None, default=None
        Values of K that are solved one after the other before the one that is asked for, each from
        the solution for the one before; :meth:`~sparsieve.RobustL20Selector.at` then gives the
        solution for each. None means 1, 2, ..., 50, as in the paper. ``[]`` is a single run from
        zero, in a fraction of the time; it often keeps the features most correlated with the
        target (all ten on the data set SRBCT, three by way of every limit).

    See Also
    --------
    sparsieve.RobustL20Selector : Robust regression with few features.
    sparsieve.solvers.IRLS : Reweighted least squares.
    sparsieve.solvers.RobustGreedySearch : Greedy search with swaps.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RobustL20Selector
    >>> from sparsieve.solvers import NmAPG
    >>> X, y = load_wine(return_X_y=True)
    >>> solver = NmAPG(rho=0.5, mu=0.1, step_constant="spectral", limits=[])
    >>> RobustL20Selector(4, alpha=1.0, solver=solver, tol=1e-4).fit_transform(X, y).shape
    (178, 4)
    """

    alpha: ClassVar[float] = 0.1  # gamma of the paper's experiments

    rho: float | str | None = None
    rho_share: float = 0.01
    mu: float | None = None
    mu_0: float = 1.0
    sigma: float = 0.1
    epsilon: float = 0.1
    n_stage: int = 200
    stop: float = 1e-7
    eta: float = 0.9
    step_constant: str = "printed"
    limits: Sequence[int] | None = None

    @property
    def max_iter(self) -> int:
        """The paper's limit of Algorithm 1; Algorithm 2 ends with its last smoothing."""
        return 100_000 if self.mu is None else 1000

    def _check(self) -> None:
        if self.rho is not None:
            check_real("rho", self.rho, minimum=0, strict=True, auto=True)
        check_real("mu", self.mu, minimum=0, strict=True, optional=True)
        for name in ("rho_share", "mu_0", "epsilon"):
            check_real(name, getattr(self, name), minimum=0, strict=True)
        for name in ("sigma", "eta"):
            check_real(name, getattr(self, name), minimum=0, strict=True)
            if getattr(self, name) >= 1:
                raise ValueError(f"{name} must be less than 1, got {getattr(self, name)!r}")
        check_integer("n_stage", self.n_stage)
        check_real("stop", self.stop, minimum=0)
        check_choice("step_constant", self.step_constant, ("printed", "spectral"))
        for limit in self.limits if self.limits is not None else ():
            check_integer("limits", limit)


@dataclass(repr=False, kw_only=True)
class IRLS(SolverSettings):
    """Iteratively reweighted least squares for ``RobustL20Selector``, with pruning of rows.

    Solves the same penalised problem as :class:`NmAPG`, in far less time.

    Parameters
    ----------
    rho : float or "auto", default="auto"
        Strength of the penalty ``rho * (sum of all but the K largest ||w_j||)``. "auto" means the
        smallest value known to be exact, ``max_j sum_i s_i |x_ij| - alpha``; smaller values often
        suffice.

    See Also
    --------
    sparsieve.RobustL20Selector : Robust regression with few features.
    sparsieve.solvers.NmAPG : The published method.
    sparsieve.solvers.RobustGreedySearch : Greedy search with swaps.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RobustL20Selector
    >>> from sparsieve.solvers import IRLS
    >>> X, y = load_wine(return_X_y=True)
    >>> RobustL20Selector(4, alpha=1.0, solver=IRLS(rho=0.5)).fit_transform(X, y).shape
    (178, 4)
    """

    max_iter: ClassVar[int] = 300

    rho: float | str = "auto"

    def _check(self) -> None:
        check_real("rho", self.rho, minimum=0, strict=True, auto=True)


@dataclass(repr=False, kw_only=True)
class RobustGreedySearch(SolverSettings):
    """Greedy search with swaps, the default solver of ``RobustL20Selector``.

    Parameters
    ----------
    compare : NmAPG, IRLS or None, default=None
        Also run this solver, try to improve its result by swaps, and keep the best; the objective
        is then never above that of the other solver.

    See Also
    --------
    sparsieve.RobustL20Selector : Robust regression with few features.
    sparsieve.solvers.IRLS : Reweighted least squares.
    sparsieve.solvers.NmAPG : The published method.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RobustL20Selector
    >>> from sparsieve.solvers import IRLS, RobustGreedySearch
    >>> X, y = load_wine(return_X_y=True)
    >>> solver = RobustGreedySearch(compare=IRLS(rho=0.5))
    >>> RobustL20Selector(4, alpha=1.0, solver=solver).fit_transform(X, y).shape
    (178, 4)
    """

    max_iter: ClassVar[int] = 200  # of the fit on a support

    compare: NmAPG | IRLS | None = None

    def _check(self) -> None:
        if self.compare is None:
            return
        if not isinstance(self.compare, NmAPG | IRLS):
            raise ValueError(f"compare must be NmAPG(...), IRLS(...) or None, got {self.compare!r}")
        self.compare._check()
