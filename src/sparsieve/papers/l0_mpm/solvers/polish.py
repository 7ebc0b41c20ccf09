"""Polishing by Newton's method: from the accuracy of a cone solver to that of the machine.

An interior-point method that stops at eight digits of the objective has four of the weights. Once
it is known which features are used, with which sign, and which constraints are tight, the optimum
solves smooth equations, and Newton's method finishes in a few steps, even from a loose solution.
Features whose weights turn to the other sign are left out on the way.
"""

from __future__ import annotations

import numpy as np

from .cones import Columns, PrimalDual
from .moments import TwoClassMoments

MAX_STEPS = 30
OFFSET_SIGNS = (-1.0, 1.0)  # of b in a_1 and a_2
TIGHT_SHARE = 1e-3  # share of the largest multiplier above which a constraint is taken for tight


def polish_weighted_l1(
    moments: TwoClassMoments,
    columns: Columns,
    weights: np.ndarray,
    costs: np.ndarray,
    kappa: float,
    multipliers: np.ndarray,
) -> tuple[PrimalDual, np.ndarray] | None:
    """The exact optimum on those of these signed features that keep their sign, and which do.

    None where Newton's method does not get there. The conditions of min c'|w| s.t.
    a_i - kappa N_i >= 0 and a_i - 1 >= 0, with a_1 = mu1'w - b and a_2 = b - mu2'w, for the
    constraints whose ``multipliers`` (of a_1 - kappa N_1, a_2 - kappa N_2, a_1 - 1, a_2 - 1) say
    that they are tight.
    """
    tight = multipliers > TIGHT_SHARE * multipliers.max()
    if not (tight[0] or tight[2]) or not (tight[1] or tight[3]):
        return None
    factors = [moments.columns(which, columns.features) for which in (0, 1)]
    covariances = [Z.T @ Z for Z in factors]
    for covariance, ridge in zip(covariances, moments.ridges, strict=True):
        np.einsum("ii->i", covariance)[:] += ridge
    means = [moments.means[0][columns.features], -moments.means[1][columns.features]]
    kept = np.arange(len(columns))
    keep = np.maximum(kappa * _norms(covariances, weights), 1.0)
    offset = 0.5 * (keep[1] - keep[0] + (means[0] - means[1]) @ weights)
    active = multipliers[tight]
    scale = float(costs.max(initial=0.0))
    signs = np.where(columns.signs == 0.0, np.sign(weights), columns.signs)
    slopes = signs * costs
    smallest, n_since = np.inf, 0
    for _ in range(MAX_STEPS):
        k = len(kept)
        tangents = _tight_constraints(means, covariances, weights, offset, kappa, tight, active)
        if tangents is None:
            return None
        values, jacobian, hessian = tangents
        residual = np.concatenate([np.append(slopes, 0.0) - jacobian.T @ active, values])
        size = float(np.abs(residual).max())
        if n_since >= 3 and size > 0.5 * smallest:
            break  # accurate to rounding, or not getting anywhere
        smallest = min(size, smallest)
        system = np.zeros((k + 1 + len(values),) * 2)
        system[:k, :k] = hessian
        system[: k + 1, k + 1 :] = -jacobian.T
        system[k + 1 :, : k + 1] = jacobian
        try:
            step = np.linalg.solve(system, -residual)
        except np.linalg.LinAlgError:
            return None
        weights = weights + step[:k]
        offset += float(step[k])
        active = active + step[k + 1 :]
        n_since += 1
        turned = (np.sign(weights) != signs) & (columns.signs[kept] != 0.0)
        if turned.any():
            if turned.all():
                return None
            stays = np.flatnonzero(~turned)
            kept, weights, signs, slopes = kept[stays], weights[stays], signs[stays], slopes[stays]
            covariances = [covariance[np.ix_(stays, stays)] for covariance in covariances]
            means = [mean[stays] for mean in means]
            smallest, n_since = np.inf, 0
    norms = _norms(covariances, weights)
    sides = np.array([means[i] @ weights + OFFSET_SIGNS[i] * offset for i in (0, 1)])
    trusted = (
        smallest <= 1e-9 * scale
        and (active >= 0.0).all()
        # A constraint taken for slack must be so.
        and (sides >= np.maximum(kappa * norms, 1.0) * (1.0 - 1e-9)).all()
    )
    if not trusted:
        return None
    exact = np.zeros(4)
    exact[tight] = active
    factors = [Z[:, kept] for Z in factors]
    return _primal_dual(moments, factors, weights, norms, slopes, kappa, exact), kept


def _tight_constraints(means, covariances, weights, offset, kappa, tight, active):
    """(values, their gradients, the Hessian of the Lagrangian in the weights) of tight constraints.

    None where a norm vanishes, which has no gradient there.
    """
    norms = _norms(covariances, weights)
    gradients: list[np.ndarray] = []
    values: list[float] = []
    hessian = np.zeros((len(weights),) * 2)
    for which in np.flatnonzero(tight[:2]):
        if norms[which] <= 0.0:
            return None
        slope = covariances[which] @ weights / norms[which]
        share = active[len(values)] * kappa / norms[which]
        hessian += share * covariances[which]
        hessian -= np.outer(share * slope, slope)
        gradients.append(np.append(means[which] - kappa * slope, OFFSET_SIGNS[which]))
        values.append(means[which] @ weights + OFFSET_SIGNS[which] * offset - kappa * norms[which])
    for which in np.flatnonzero(tight[2:]):
        gradients.append(np.append(means[which], OFFSET_SIGNS[which]))
        values.append(means[which] @ weights + OFFSET_SIGNS[which] * offset - 1.0)
    return values, np.array(gradients), hessian


def _primal_dual(moments, factors, weights, norms, slopes, kappa, exact) -> PrimalDual:
    """The solution of the cone program with these multipliers."""
    shares = [exact[which] / norms[which] if exact[which] > 0.0 else 0.0 for which in (0, 1)]
    ridge_share = shares[0] * moments.ridges[0] + shares[1] * moments.ridges[1]
    duals = [-share * (Z @ weights) for share, Z in zip(shares, factors, strict=True)]
    return PrimalDual(
        weights,
        float(slopes @ weights),
        float(exact[2] + exact[3]),
        float(exact[0] + exact[2]),
        (duals[0], duals[1]),
        -kappa * ridge_share * weights,
        np.zeros(2),
        exact,
    )


def _norms(covariances, w) -> np.ndarray:
    return np.sqrt(np.maximum([w @ covariance @ w for covariance in covariances], 0.0))
