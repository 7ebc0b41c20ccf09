"""Settings that belong to one solver: what ``solver=`` of a selector takes beside plain names."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sklearn.base import clone

from .._checks import check_choice, check_integer, check_real
from .._saved import Savable
from ..design import DesignMatrix

__all__ = [
    "AHIHT",
    "HIHT",
    "IRLS",
    "ExactMinimax",
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
        """Parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Accepted as everywhere in scikit-learn; there is nothing deeper.
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
    """Forward selection with exchanges, a solver of ``L20Selector``.

    Adds the best feature again and again, exchanges selected features for better ones as long as
    that lowers the objective, and walks back down the same way.

    Parameters
    ----------
    swaps : int, default=1
        Largest number of exchanges between two changes of the size; each doubles as a wider
        search, over the ``4 * swaps`` features that are cheapest to drop. Problems of up to 32
        features are always searched thoroughly, two for two exchanges included, unless this
        is 0: then the solver is plain forward selection.

    See Also
    --------
    sparsieve.L20Selector : Prices features one by one, with exact search on request.
    sparsieve.solvers.ExactSearch : Branch and bound: the best for sure.
    sparsieve.solvers.HIHT : The paper's iteration.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L20Selector
    >>> from sparsieve.solvers import Greedy
    >>> X, y = load_wine(return_X_y=True)
    >>> L20Selector(4, solver=Greedy(swaps=0)).fit(X, y).get_support(indices=True)
    array([ 0,  9, 11, 12])
    """

    swaps: int = 1

    def _check(self) -> None:
        check_integer("swaps", self.swaps, minimum=0)


@dataclass(repr=False, kw_only=True)
class ExactSearch(SolverSettings):
    """Branch and bound for the best support of every size, a solver of ``L20Selector``.

    Starts from the greedy solver's supports and searches until each is proven best or its time
    is up; ``optimality_`` is the proven gap either way, all rounding errors included. It is 0
    where every other support was shown to be no better. Otherwise no other is better by more than
    this share of the objective: supports that double precision cannot tell apart, such as those
    with one or the other of two copies of a column, leave a gap of the size of rounding errors.

    With a ridge the bounds are those of a convex relaxation, or what all features that are left
    reach together (leaps and bounds), whichever is better at the start. Without a ridge there is
    the second only: for features that are fewer than samples, or few enough to try every support.

    Parameters
    ----------
    time_limit : float, default=60.0
        Seconds for every number of features.

    See Also
    --------
    sparsieve.L20Selector : Prices features one by one, with exact search on request.
    sparsieve.solvers.Greedy : Forward selection with exchanges, the default solver.
    sparsieve.selectors.least_squares.certificate.Certificate : What is proven about a selection.

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

    Gradient steps that drop short rows, iterated until they are small at every price of a row,
    while the price falls from where W = 0 to the one asked for.

    Parameters
    ----------
    init : {"zero", "gaussian", "uniform"}, default="zero"
        Initial W. The random ones have entries of order ``1 / sqrt(n_features)``, so that
        predictions are of order one; with ``lambda_0="auto"`` all end in the same support.
    L_0 : float or "auto", default="auto"
        Initial step constant; "auto" is 1. The result depends on it.
    lambda_0 : float or "auto", default="auto"
        Where the price starts. "auto" is the price at which the first feature enters from zero,
        divided by ``decay`` until the first step removes the initial W.
    eta : float, default=1e-3
        Coefficient of the sufficient decrease.
    growth : float, default=2.0
        Factor on the step constant when a step is refused (gamma in the publication).
    decay : float, default=0.9
        Factor on the price from one stage to the next (rho in the publication).

    See Also
    --------
    sparsieve.L20Selector : Prices features one by one, with exact search on request.
    sparsieve.solvers.AHIHT : The paper's accelerated iteration.
    sparsieve.solvers.Greedy : Forward selection with exchanges, the default solver.
    sparsieve.solvers.ExactSearch : Branch and bound: the best for sure.

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

    def _check(self) -> None:
        check_choice("init", self.init, INITS)
        check_real("L_0", self.L_0, minimum=0, strict=True, auto=True)
        check_real("lambda_0", self.lambda_0, minimum=0, strict=True, auto=True)
        check_real("eta", self.eta, minimum=0, strict=True)
        check_real("growth", self.growth, minimum=1)
        check_real("decay", self.decay, minimum=0, strict=True)
        if self.growth <= 1:
            raise ValueError(f"growth must be greater than 1, got {self.growth!r}")
        if self.decay >= 1:
            raise ValueError(f"decay must be less than 1, got {self.decay!r}")

    def _default_constant(self, design: DesignMatrix, ridge: float) -> float:
        return 1.0


@dataclass(repr=False, kw_only=True)
class AHIHT(HIHT):
    """Accelerated homotopy iterative hard thresholding, a solver of ``L20Selector``.

    Like :class:`HIHT`, but with a single step at every price.

    Parameters
    ----------
    init : {"zero", "gaussian", "uniform"}, default="zero"
        Initial W. The random ones have entries of order ``1 / sqrt(n_features)``, so that
        predictions are of order one; with ``lambda_0="auto"`` all end in the same support.
    L_0 : float or "auto", default="auto"
        Initial step constant; "auto" is 1.001 times the squared spectral norm of X, which is
        estimated to six digits, plus the ridge. The result depends on it.
    lambda_0 : float or "auto", default="auto"
        Where the price starts. "auto" is the price at which the first feature enters from zero,
        divided by ``decay`` until the first step removes the initial W.
    eta : float, default=1e-3
        Coefficient of the sufficient decrease.
    growth : float, default=2.0
        Factor on the step constant when a step is refused (gamma in the publication).
    decay : float, default=0.9
        Factor on the price from one stage to the next (rho in the publication).

    See Also
    --------
    sparsieve.L20Selector : Prices features one by one, with exact search on request.
    sparsieve.solvers.HIHT : The paper's iteration.
    sparsieve.solvers.Greedy : Forward selection with exchanges, the default solver.
    sparsieve.solvers.ExactSearch : Branch and bound: the best for sure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L20Selector
    >>> from sparsieve.solvers import AHIHT
    >>> X, y = load_wine(return_X_y=True)
    >>> L20Selector(3, solver=AHIHT(L_0=1.0)).fit(X, y).transform(X).shape
    (178, 3)
    """

    def _default_constant(self, design: DesignMatrix, ridge: float) -> float:
        # The estimate approaches the norm from below.
        return (1.0 + 1e-3) * design.spectral_norm(rng=0) ** 2 + ridge


@dataclass(repr=False, kw_only=True)
class NmAPG(SolverSettings):
    """The published method for ``RobustL20Selector``, with its proximal map corrected.

    The limit K becomes the penalty ``rho * (sum of all but the K largest ||w_j||)``; norms are
    smoothed, and nonmonotone accelerated proximal gradient steps do the rest. The smoothing is
    absolute, as published, so that the answer depends on the units of y.

    Parameters
    ----------
    rho : float or "auto", default="auto"
        Strength of that penalty. "auto" is the smallest known to be exact,
        ``max_j sum_i s_i |x_ij| - alpha``; smaller ones are common.
    mu : float or None, default=None
        Smoothing: fixed (Algorithm 1 of the paper), or None for a sequence that falls from 1 by
        a factor of ten every 200 iterations (Algorithm 2).
    step_constant : {"printed", "spectral"}, default="printed"
        Step constant: (||X||_F^2 + d alpha) / mu as printed, or the smaller and sufficient
        (||X||_2^2 + alpha) / mu.

    See Also
    --------
    sparsieve.RobustL20Selector : Few features in a regression robust to outliers.
    sparsieve.solvers.IRLS : Reweighted least squares.
    sparsieve.solvers.RobustGreedySearch : Grows and exchanges supports.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RobustL20Selector
    >>> from sparsieve.solvers import NmAPG
    >>> X, y = load_wine(return_X_y=True)
    >>> solver = NmAPG(rho=0.5, step_constant="spectral")
    >>> RobustL20Selector(4, alpha=1.0, solver=solver, tol=1e-4).fit_transform(X, y).shape
    (178, 4)
    """

    max_iter: ClassVar[int] = 800

    rho: float | str = "auto"
    mu: float | None = None
    step_constant: str = "printed"

    def _check(self) -> None:
        check_real("rho", self.rho, minimum=0, strict=True, auto=True)
        check_real("mu", self.mu, minimum=0, strict=True, optional=True)
        check_choice("step_constant", self.step_constant, ("printed", "spectral"))


@dataclass(repr=False, kw_only=True)
class IRLS(SolverSettings):
    """Reweighted least squares for ``RobustL20Selector``, rows pruned on the way.

    Solves the same penalised problem as :class:`NmAPG`, in far less time.

    Parameters
    ----------
    rho : float or "auto", default="auto"
        Strength of the penalty ``rho * (sum of all but the K largest ||w_j||)``. "auto" is the
        smallest known to be exact, ``max_j sum_i s_i |x_ij| - alpha``; smaller ones are common.

    See Also
    --------
    sparsieve.RobustL20Selector : Few features in a regression robust to outliers.
    sparsieve.solvers.NmAPG : The published method.
    sparsieve.solvers.RobustGreedySearch : Grows and exchanges supports.

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
    """Grow and exchange the supports of ``RobustL20Selector``.

    Parameters
    ----------
    compare : NmAPG, IRLS or None, default=None
        Run this solver as well, try to improve its support by exchanges, and keep the best; the
        objective is then never above that of the other solver.

    See Also
    --------
    sparsieve.RobustL20Selector : Few features in a regression robust to outliers.
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


@dataclass(repr=False, kw_only=True)
class SurrogateDescent(SolverSettings):
    """The DC algorithm on the surrogate, the default solver of ``L0MPMSelector``."""


@dataclass(repr=False, kw_only=True)
class ExactMinimax(SolverSettings):
    """The fewest features that reach the level, for sure: a solver of ``L0MPMSelector``.

    For up to 30 features. Starts from what the surrogate finds and excludes one size after the
    other by branch and bound, until a support is found or the time is up.

    Parameters
    ----------
    time_limit : float, default=60.0
        Seconds for every two-class task.

    See Also
    --------
    sparsieve.L0MPMSelector : Fewest features that keep a worst-case accuracy.

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
