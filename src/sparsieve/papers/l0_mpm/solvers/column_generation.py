"""What column generation over the features needs, whatever the machine.

A program on all d features is solved on a working set; the multipliers of that solution give the
reduced costs of all the others in one product Z'u, the most violating enter, and so on. When no
reduced cost is violated, the multipliers (scaled to be feasible) bound the optimum over all
features from below: that is the certificate.
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
