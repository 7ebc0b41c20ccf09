"""Newton's last mile: from the accuracy of a cone solver to that of the machine.

An interior-point method that stops at eight digits of the objective has four of the weights. Once
it is known which features are used, with which sign, and which constraints are tight, the optimum
solves smooth equations, and Newton's method finishes in a few steps, even from a loose solution.
"""

from __future__ import annotations

import numpy as np

from .cones import Columns, PrimalDual
from .moments import TwoClassMoments

MAX_STEPS = 12
CONE_TIGHT = 1e-3  # share of the largest multiplier above which a constraint is taken for tight


MAX_DROPS = 5  # times that features of the wrong sign are left out


def polish_weighted_l1(
    moments: TwoClassMoments, columns: Columns, weights, costs, kappa: float, multipliers
) -> tuple[PrimalDual, Columns] | None:
    """The exact optimum on these signed features, and those of them that it uses.

    None where that is not to be had. A feature that wants the other sign is left out: most
    such features of a loose solution should have no weight at all.
    """
    signs = np.where(columns.signs == 0.0, np.sign(weights), columns.signs)
    for _ in range(MAX_DROPS):
        found = _solve_equations(moments, columns, weights, signs * costs, kappa, multipliers)
        if found is None:
            return None
        weights, multipliers = found
        right = np.sign(weights) == signs
        if right.all():
            return _optimum(moments, columns, weights, costs, kappa, multipliers), columns
        if not right.any():
            return None
        columns = Columns(columns.features[right], columns.signs[right])
        weights, signs, costs = weights[right], signs[right], costs[right]
    return None


def _solve_equations(
    moments: TwoClassMoments, columns: Columns, weights, slopes, kappa: float, multipliers
) -> tuple[np.ndarray, np.ndarray] | None:
    """Weights and multipliers of the smooth problem in which nothing changes its sign.

    The conditions of min c'|w| s.t. a_i - kappa N_i >= 0 and a_i - 1 >= 0, with a_1 = mu1'w - b
    and a_2 = b - mu2'w, for the constraints whose ``multipliers`` (of a_1 - kappa N_1,
    a_2 - kappa N_2, a_1 - 1, a_2 - 1) say that they are tight.
    """
    features, k = columns.features, len(columns)
    tight = multipliers > CONE_TIGHT * multipliers.max()
    if not (tight[0] or tight[2]) or not (tight[1] or tight[3]):
        return None
    factors = [moments.columns(which, features) for which in (0, 1)]
    covariances = [
        Z.T @ Z + ridge * np.eye(k) for Z, ridge in zip(factors, moments.ridges, strict=True)
    ]
    directions = [
        np.append(moments.means[0][features], -1.0),
        np.append(-moments.means[1][features], 1.0),
    ]
    largest = float(np.abs(slopes).max(initial=0.0))
    slopes = np.append(slopes, 0.0)
    keep = np.maximum(kappa * _norms(covariances, weights), 1.0)
    offset = 0.5 * (keep[1] - keep[0] + (directions[0] - directions[1])[:k] @ weights)
    x = np.append(weights, offset)
    active = multipliers[tight]
    smallest = np.inf
    for step_number in range(MAX_STEPS):
        norms = _norms(covariances, x[:k])
        gradients: list[np.ndarray] = []
        values: list[float] = []
        hessian = np.zeros((k + 1, k + 1))
        for which in np.flatnonzero(tight[:2]):
            if norms[which] <= 0.0:
                return None
            pull = covariances[which] @ x[:k] / norms[which]
            curvature = (covariances[which] - np.outer(pull, pull)) / norms[which]
            hessian[:k, :k] += active[len(values)] * kappa * curvature
            gradients.append(directions[which] - kappa * np.append(pull, 0.0))
            values.append(directions[which] @ x - kappa * norms[which])
        for which in np.flatnonzero(tight[2:]):
            gradients.append(directions[which])
            values.append(directions[which] @ x - 1.0)
        jacobian = np.array(gradients)
        residual = np.concatenate([slopes - jacobian.T @ active, values])
        size = float(np.abs(residual).max())
        if step_number >= 3 and size > 0.5 * smallest:
            break  # accurate to rounding, or not getting anywhere
        smallest = min(size, smallest)
        system = np.block([[hessian, -jacobian.T], [jacobian, np.zeros((len(values),) * 2)]])
        try:
            step = np.linalg.solve(system, -residual)
        except np.linalg.LinAlgError:
            return None
        x = x + step[: k + 1]
        active = active + step[k + 1 :]
    if not (smallest <= 1e-9 * largest and (active >= 0.0).all()):
        return None
    # A constraint taken for slack must be so.
    sides = np.array([direction @ x for direction in directions])
    if (sides < np.maximum(kappa * _norms(covariances, x[:k]), 1.0) * (1.0 - 1e-9)).any():
        return None
    exact = np.zeros(4)
    exact[tight] = active
    return x[:k], exact


def _optimum(
    moments: TwoClassMoments, columns: Columns, found, costs, kappa: float, exact
) -> PrimalDual:
    """What the solution of the equations says of all features."""
    factors = [moments.columns(which, columns.features) for which in (0, 1)]
    spread = [Z @ found for Z in factors]
    norms = [
        float(np.sqrt(z @ z + ridge * (found @ found)))
        for z, ridge in zip(spread, moments.ridges, strict=True)
    ]
    shares = [exact[which] / norms[which] if exact[which] > 0.0 else 0.0 for which in (0, 1)]
    ridge_share = shares[0] * moments.ridges[0] + shares[1] * moments.ridges[1]
    return PrimalDual(
        found,
        float(costs @ np.abs(found)),
        float(exact[2] + exact[3]),
        float(exact[0] + exact[2]),
        (-shares[0] * spread[0], -shares[1] * spread[1]),
        -kappa * ridge_share * found,
        np.zeros(2),
        exact,
    )


def _norms(covariances, w) -> np.ndarray:
    return np.sqrt(np.maximum([w @ covariance @ w for covariance in covariances], 0.0))
