"""The homotopy solvers of the l2,0 model: iterative hard thresholding at falling prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_real
from ...design import DesignMatrix
from ...solvers.base import Callback, Result
from ...solvers.least_squares.homotopy_iht import HomotopyIHT, PricedRows, entry_price
from ..base import RandomState
from ..preparation import Prepared
from ..settings import SolverSettings

INITS = ("zero", "gaussian", "uniform")
# Without `lam` the homotopy ends at this share of the price at which the first feature enters;
# when more features are asked for than that keeps, it goes on down to the second share.
LAM_SHARE, LOWEST_SHARE = 1e-3, 1e-6


@dataclass(eq=False, repr=False, kw_only=True)
class HIHT(SolverSettings):
    """Homotopy iterative hard thresholding, a solver of :class:`L20Selector`.

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
    sparsieve.AHIHT : The paper's accelerated iteration.
    sparsieve.Greedy : Forward selection with exchanges, the default solver.
    sparsieve.ExactSearch : Branch and bound: the best for sure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import HIHT, L20Selector
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

    name = "hiht"

    def _check(self) -> None:
        check_choice("init", self.init, INITS)
        for name in ("L_0", "lambda_0"):
            if not is_auto(getattr(self, name)):
                check_real(name, getattr(self, name), minimum=0, strict=True)
        check_real("eta", self.eta, minimum=0, strict=True)
        check_real("growth", self.growth, minimum=1)
        check_real("decay", self.decay, minimum=0, strict=True)
        if self.growth <= 1:
            raise ValueError(f"growth must be greater than 1, got {self.growth!r}")
        if self.decay >= 1:
            raise ValueError(f"decay must be less than 1, got {self.decay!r}")

    def _default_constant(self, design: DesignMatrix, ridge: float) -> float:
        return 1.0


@dataclass(eq=False, repr=False, kw_only=True)
class AHIHT(HIHT):
    """Accelerated homotopy iterative hard thresholding, a solver of :class:`L20Selector`.

    Like :class:`HIHT`, but with a single step at every price.

    Parameters
    ----------
    init : {"zero", "gaussian", "uniform"}, default="zero"
        Initial W. The random ones have entries of order ``1 / sqrt(n_features)``, so that
        predictions are of order one; with ``lambda_0="auto"`` all end in the same support.
    L_0 : float or "auto", default="auto"
        Initial step constant; "auto" is the square of the spectral norm of X. The result depends
        on it.
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
    sparsieve.HIHT : The paper's iteration.
    sparsieve.Greedy : Forward selection with exchanges, the default solver.
    sparsieve.ExactSearch : Branch and bound: the best for sure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import AHIHT, L20Selector
    >>> X, y = load_wine(return_X_y=True)
    >>> L20Selector(3, solver=AHIHT(L_0=1.0)).fit(X, y).transform(X).shape
    (178, 3)
    """

    name = "ahiht"

    def _default_constant(self, design: DesignMatrix, ridge: float) -> float:
        # The estimate approaches the norm from below.
        return (1.0 + 1e-3) * design.spectral_norm(rng=0) ** 2 + ridge


@dataclass(frozen=True)
class Descent:
    """What a homotopy found, the price it was to end at, and where the first feature enters."""

    result: Result[PricedRows]
    lam: float
    entry: float


def run_homotopy(
    settings: HIHT,
    problem: Prepared,
    *,
    lam: float | None,
    ridge: float,
    n_wanted: int,
    tol: float,
    max_iter: int,
    random_state: RandomState,
    callback: Callback | None,
) -> Descent:
    """From the first price down to ``lam``, or as far as ``n_wanted`` features take."""
    design = problem.design
    constant = settings.L_0
    if isinstance(constant, str):
        constant = settings._default_constant(design, ridge)
    entry = entry_price(design.rmatmul(problem.Y), float(constant))
    final = LAM_SHARE * entry if lam is None else lam
    first = settings.lambda_0
    solver = HomotopyIHT(
        lam=max(final, np.finfo(np.float64).tiny),
        accelerated=isinstance(settings, AHIHT),
        ridge=ridge,
        first_constant=float(constant),
        first_lam=None if isinstance(first, str) else float(first),
        sufficient=float(settings.eta),
        growth=float(settings.growth),
        decay=float(settings.decay),
        tol=tol,
        max_iter=max_iter,
        wanted_rows=n_wanted,
        lowest_lam=LOWEST_SHARE * entry,
    )
    start = _initial(settings.init, problem, random_state)
    return Descent(solver.solve(design, problem.Y, start, callback), final, entry)


def is_auto(value: object) -> bool:
    """Whether a parameter is left to the model."""
    return isinstance(value, str) and value == "auto"


def _initial(init: str, problem: Prepared, random_state: RandomState) -> np.ndarray | None:
    if init == "zero":
        return None
    rng = check_random_state(random_state)
    usable = ~problem.constant
    shape = int(usable.sum()), problem.Y.shape[1]
    W = np.zeros((len(usable), shape[1]))
    W[usable] = rng.standard_normal(shape) if init == "gaussian" else rng.uniform(-1, 1, shape)
    return W / np.sqrt(max(shape[0], 1))
