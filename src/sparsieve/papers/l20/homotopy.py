"""The homotopy solvers of the l2,0 model: iterative hard thresholding at falling prices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ...penalties import row_norms
from ...selectors.base import FeatureScores, RandomState, TrainingData
from ...selectors.least_squares.row_penalty import standardised_row_norms
from ...selectors.least_squares.support_fit import SupportFit, SupportLeastSquares
from ...selectors.preparation import Prepared
from ...selectors.settings import warn_of_no_feature
from ...solvers.base import LeastSquares, Path, Result, printer, relative
from ...solvers.exact.support_values import least_objective
from ...solvers.settings import AHIHT, HIHT
from .published import HomotopyIHT, entry_price

# Without `lam` the homotopy ends at this share of the price at which the first feature enters;
# when more features are asked for than that keeps, it goes on down to the second share.
LAM_SHARE, LOWEST_SHARE = 1e-3, 1e-6


def fit_homotopy(
    selector: Any, settings: HIHT, data: TrainingData, problem: Prepared
) -> FeatureScores:
    """From the first price down to ``lam``, or as far as the features asked for take.

    The selector keeps the last price, the features in order, and the homotopy's own model.
    """
    design, ridge = problem.design, selector._relative_ridge(data) * data.total_weight
    accelerated, constant = isinstance(settings, AHIHT), settings.L_0
    if isinstance(constant, str):
        # The estimate approaches the norm from below.
        constant = (1.0 + 1e-3) * design.spectral_norm() ** 2 + ridge if accelerated else 1.0
    entry = entry_price(design.rmatmul(problem.Y), float(constant))
    final = LAM_SHARE * entry if selector.lam is None else float(selector.lam)
    first = settings.lambda_0
    solver = HomotopyIHT(
        lam=max(final, np.finfo(np.float64).tiny),
        accelerated=accelerated,
        first_constant=float(constant),
        first_lam=None if isinstance(first, str) else float(first),
        sufficient=float(settings.eta),
        growth=float(settings.growth),
        decay=float(settings.decay),
        tol=float(selector.tol),
        max_iter=selector.max_iter,
        wanted_rows=min(selector._n_own(data, 0), int((~problem.constant).sum())),
        lowest_lam=LOWEST_SHARE * entry,
    )
    equations = LeastSquares(design, problem.Y, ridge=ridge)
    W = _initial(settings.init, problem, selector.random_state)
    start = None if W is None else equations.make_result(W)
    show = printer(selector.verbose, type(selector).__name__)
    result = solver.solve(equations, start, show)
    found, W = result.solution, result.solution.W
    power = float(np.vdot(problem.Y, problem.Y))
    norms = standardised_row_norms(W, power, data.total_weight).astype(W.dtype)
    scores = FeatureScores(
        norms,
        n_kept=int((norms > 0).sum()),
        ties=found.gradient_norms,
        constant=problem.constant,
        complete=settings.fill,
    )
    order = np.argsort(scores.ranking(), kind="stable")[: scores.n_kept]
    selector.path_ = Path.from_order(order, strength=np.append(entry, found.entered[order]))
    value = result.objective - found.lam * len(order)
    coef, intercept = problem.units.coefficients(W)
    selector._own = SupportFit(coef, intercept, value, result.optimality)
    selector._model = SupportLeastSquares.factorise(problem, order, ridge)
    selector.lam_ = min(final, found.lam)
    if len(order) or not result.converged or selector.lam is None:
        selector._keep_result(result)
    else:
        _keep_empty(
            selector, result, _best_single_gain(problem, ridge) - selector.lam, power, entry
        )
        if selector.converged_ and data.fixed.n_always == 0:
            warn_of_no_feature(selector.lam, data.choices.unit)
    return scores


def _keep_empty(
    selector: Any, result: Result[Any], gained: float, power: float, entry: float
) -> None:
    """Steps too short for any feature end at W = 0 although one feature would be worth its price.

    ``gained`` is what it would gain, ``entry`` the price below which features enter.
    """
    lacking = relative(gained, result.objective, least_objective(power))
    result = replace(result, optimality=lacking, converged=lacking <= selector.tol)
    selector._own = replace(selector._own, optimality=lacking)
    selector._keep_result(
        result,
        measure="an empty model, whose objective one feature alone would lower by a share of",
        remedy=f"with this L_0 features enter at lam below {entry:.3g}: lower lam, pass a smaller "
        "L_0, such as AHIHT(L_0=1), or n_features_to_select instead of lam; support_ holds one "
        "feature only because a selector keeps at least one",
    )


def _best_single_gain(problem: Prepared, ridge: float) -> float:
    """By how much the best single feature lowers the objective, without its price."""
    gains = 0.5 * row_norms(np.asarray(problem.design.rmatmul(problem.Y), dtype=np.float64)) ** 2
    sizes = np.asarray(problem.design.column_sq_norms(), dtype=np.float64) + ridge
    usable = ~problem.constant & (sizes > 0.0)
    return float((gains[usable] / sizes[usable]).max(initial=0.0))


def _initial(init: str, problem: Prepared, random_state: RandomState) -> np.ndarray | None:
    if init == "zero":
        return None
    rng = check_random_state(random_state)
    usable = ~problem.constant
    shape = int(usable.sum()), problem.Y.shape[1]
    W = np.zeros((len(usable), shape[1]))
    W[usable] = rng.standard_normal(shape) if init == "gaussian" else rng.uniform(-1, 1, shape)
    return W / np.sqrt(max(shape[0], 1))
