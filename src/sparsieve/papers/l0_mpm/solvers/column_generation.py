"""What column generation over the features needs, whatever the machine.

A program on all d features is solved on a working set; the multipliers of that solution give the
reduced costs of all the others in one product Z'u, the most violating enter, and so on. When no
reduced cost is violated, the multipliers (scaled to be feasible) bound the optimum over all
features from below: that is the certificate.

**Exact restricted solutions.** Newton's method polishes what a cone solver gives.
An interior-point method that stops at eight digits of the objective has four of the weights. Once
it is known which features are used, with which sign, and which constraints are tight, the optimum
solves smooth equations, and Newton's method finishes in a few steps, even from a loose solution.
Features whose weights turn to the other sign are left out on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cones import Columns, PrimalDual
from .moments import TwoClassMoments

INITIAL_COLUMNS = 30  # features in the first restricted program
COLUMNS_PER_ROUND = 20  # at least so many may enter at a time
# Unused features leave when their reduced cost is below this share of their cost.
REDUCED_COST_KEEP = 0.6
MAX_ROUNDS = 200
# Tolerances of restricted programs: on the way, and at the end.
CONE_TOL_LOOSE, CONE_TOL_TIGHT = 1e-4, 1e-8
GAP_TARGET_SHARE = 0.1  # of the tolerance, so that reaching it is not left to rounding
# Weights below this share of the largest are the interior-point method's idea of zero.
ZERO_WEIGHT_TOL = 1e-5


class InfeasibleError(Exception):
    """No hyperplane reaches the level asked for."""


class ConeFailure(RuntimeError):
    """The cone solver gave up even at its loosest tolerance."""


@dataclass(frozen=True)
class Round:
    """A restricted solution and what it says about all features."""

    answer: PrimalDual
    columns: Columns
    reduced: np.ndarray
    tightness: np.ndarray
    gap: float
    entering: np.ndarray
    accuracy: float


def noise(moments: TwoClassMoments) -> float:
    """Relative gap below which rounding decides: matters for data held in single precision."""
    return 100.0 * moments.precision


def monotone_trace(trace: list[float], objective: float) -> list[float]:
    """Objectives by round, ending with the final one.

    A program solved loosely on the way may claim less than the optimum; such a value is lifted
    to what is known by now.
    """
    lifted = np.maximum.accumulate([*trace[:-1], objective][::-1])[::-1]
    return [float(value) for value in lifted]


def quotient(size: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Quotient; zero for nothing at no cost, one for something at no cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(size / costs, nan=0.0, posinf=1.0)


def with_ridge(reduced: np.ndarray, answer: PrimalDual, columns: Columns) -> np.ndarray:
    """Add the part of the ridge; of a feature with both signs, that of the used one."""
    order = np.argsort(np.abs(answer.weights), kind="stable")
    total = np.zeros(len(reduced))
    total[columns.features[order]] = answer.ridge_dual[order]
    return reduced + total


def entering_keys(reduced: np.ndarray, tightness: np.ndarray, columns: Columns) -> np.ndarray:
    """Keys of the signed features most worth adding, at most as many as there are columns."""
    violators = np.flatnonzero(tightness > 1.0)
    keys = 2 * violators + (reduced[violators] < 0.0)
    new = ~np.isin(keys, columns.keys())
    new &= ~np.isin(violators, columns.features[columns.signs == 0.0])
    violators, keys = violators[new], keys[new]
    count = max(COLUMNS_PER_ROUND, len(columns))
    if len(keys) > count:
        keys = keys[np.argsort(-tightness[violators], kind="stable")[:count]]
    return keys


def exchange_columns(
    columns: Columns,
    this: Round,
    entering: np.ndarray,
    units: np.ndarray,
    free: Sequence[int] | np.ndarray,
) -> Columns:
    """The working set with what enters, and without what only slows the next program down."""
    size = np.abs(weights_by_feature(this, len(units)) * units)[columns.features]
    used = size > ZERO_WEIGHT_TOL * size.max(initial=0.0)
    used |= this.tightness[columns.features] > REDUCED_COST_KEEP
    used |= columns.signs == 0.0
    return Columns.from_keys(np.concatenate([columns.keys()[used], entering]), free)


def weights_by_feature(this: Round, n_features: int) -> np.ndarray:
    """Weights of all features; the two signs of a feature are added up."""
    weights = np.zeros(n_features)
    np.add.at(weights, this.columns.features, this.answer.weights)
    return weights


def final_weights(
    this: Round, moments: TwoClassMoments, share: float = ZERO_WEIGHT_TOL
) -> np.ndarray:
    """Weights of all features, without those that are numerically zero in units of the features."""
    weights = weights_by_feature(this, moments.n_features)
    size = np.abs(weights) * moments.sizes
    return np.where(size > share * size.max(), weights, 0.0)


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
