"""The homotopy solvers of the l2,0 model: iterative hard thresholding at falling prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from ...solvers.base import Callback, Path, Result
from ...solvers.least_squares import LeastSquares
from ...solvers.published.homotopy_iht import HomotopyIHT, PricedRows, entry_price
from ...solvers.settings import AHIHT, HIHT
from ..base import FeatureScores, RandomState
from ..preparation import Prepared
from .scores import standardised_row_norms
from .support_fit import SupportFit

# Without `lam` the homotopy ends at this share of the price at which the first feature enters;
# when more features are asked for than that keeps, it goes on down to the second share.
LAM_SHARE, LOWEST_SHARE = 1e-3, 1e-6


@dataclass(frozen=True)
class HomotopyFit:
    """What the homotopy found: the last price, the features in order, and its own model."""

    result: Result[PricedRows]
    lam: float
    ridge: float
    path: Path
    fit: SupportFit
    scores: FeatureScores


def run_homotopy(
    settings: HIHT,
    problem: Prepared,
    *,
    lam: float | None,
    ridge: float,
    n_samples: float,
    n_wanted: int,
    tol: float,
    max_iter: int,
    random_state: RandomState,
    callback: Callback | None,
) -> HomotopyFit:
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
    equations = LeastSquares(design, problem.Y, ridge=ridge)
    W = _initial(settings.init, problem, random_state)
    start = None if W is None else equations.at(W)
    result = solver.solve(equations, start, callback)
    found, W = result.solution, result.solution.W
    power = float(np.vdot(problem.Y, problem.Y))
    norms = standardised_row_norms(W, power, n_samples).astype(W.dtype)
    scores = FeatureScores(
        norms,
        n_kept=int((norms > 0).sum()),
        ties=found.gradient_norms,
        constant=problem.constant,
        complete=False,
    )
    order = np.argsort(scores.ranking(), kind="stable")[: scores.n_kept]
    path = Path.nested(order, strength=np.append(entry, found.entered[order]))
    value = result.objective - found.lam * len(order)
    coef, intercept = problem.units.coefficients(W)
    fit = SupportFit(coef, intercept, value, result.optimality)
    return HomotopyFit(result, min(final, found.lam), ridge, path, fit, scores)


def _initial(init: str, problem: Prepared, random_state: RandomState) -> np.ndarray | None:
    if init == "zero":
        return None
    rng = check_random_state(random_state)
    usable = ~problem.constant
    shape = int(usable.sum()), problem.Y.shape[1]
    W = np.zeros((len(usable), shape[1]))
    W[usable] = rng.standard_normal(shape) if init == "gaussian" else rng.uniform(-1, 1, shape)
    return W / np.sqrt(max(shape[0], 1))
