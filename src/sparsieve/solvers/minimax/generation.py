"""What column generation over the features needs, whatever the machine.

A program on all d features is solved on a few; the multipliers of that solution price all the
others in one product Z'u, the most promising join, and so on. When no feature is worth adding,
the multipliers (scaled to be feasible) bound the optimum over all features from below: that is
the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .cones import Columns, PrimalDual
from .moments import TwoClassMoments

START = 30  # features in the first restricted program
LEAST_JOINING = 20  # at least so many may join at a time
KEEP_ABOVE = 0.6  # unused features leave when their reduced cost is below this share of the cost
MAX_ROUNDS = 200
GIVE_UP_ROUNDS = 1000  # rounds without a feasible point, however many are allowed
# Accuracy of restricted programs: on the way, at the end, and where Newton's method finished.
LOOSE, TIGHT, EXACT = 1e-4, 1e-8, 1e-12
AIM = 0.1  # share of the tolerance to strive for, so that reaching it is not left to rounding
EXCHANGES = 30  # most times that features join and leave between two cone programs
NEARLY = 1e-2  # gap from which on the right features are likely known
# Weights below this share of the largest are the interior-point method's idea of zero.
RELATIVE_ZERO = 1e-5
# A feature whose cost is below this share of the largest is treated as free.
FREE = 1e-9
# The value of the ratio machine counts spreads per distance: below this it is as good as zero.
VANISHING = 1e-4
# Prices of the artificial variable, in units of the smallest possible objective.
ARTIFICIAL_COSTS = (1e2, 1e4, 1e6, 1e9)


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
    joining: np.ndarray
    accuracy: float


def noise(moments: TwoClassMoments) -> float:
    """Relative gap below which rounding decides: matters for data held in single precision."""
    return 100.0 * moments.precision


def settled_trace(trace, objective) -> list[float]:
    """Objectives by round, ending with the final one.

    A program solved loosely on the way may claim less than the optimum; such a value is lifted
    to what is known by now.
    """
    lifted = np.maximum.accumulate([*trace[:-1], objective][::-1])[::-1]
    return [float(value) for value in lifted]


def quotient(size, costs) -> np.ndarray:
    """Quotient; zero for nothing at no cost, one for something at no cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(size / costs, nan=0.0, posinf=1.0)


def with_ridge(reduced, answer: PrimalDual, columns: Columns) -> np.ndarray:
    """Add the part of the ridge; of a feature in play with both signs, that of the used one."""
    order = np.argsort(np.abs(answer.weights), kind="stable")
    total = np.zeros(len(reduced))
    total[columns.features[order]] = answer.ridge_dual[order]
    return reduced + total


def joining_keys(reduced, tightness, columns: Columns) -> np.ndarray:
    """Keys of the signed features most worth adding, at most as many as are in play."""
    violators = np.flatnonzero(tightness > 1.0)
    keys = 2 * violators + (reduced[violators] < 0.0)
    new = ~np.isin(keys, columns.keys())
    new &= ~np.isin(violators, columns.features[columns.signs == 0.0])
    violators, keys = violators[new], keys[new]
    count = max(LEAST_JOINING, len(columns))
    if len(keys) > count:
        keys = keys[np.argsort(-tightness[violators], kind="stable")[:count]]
    return keys


def worth_keeping(columns: Columns, this: Round, units) -> np.ndarray:
    """Keys of the columns used or nearly so; the others only slow the next program down."""
    size = np.abs(weights_by_feature(this, len(units)) * units)[columns.features]
    used = size > RELATIVE_ZERO * size.max(initial=0.0)
    used |= this.tightness[columns.features] > KEEP_ABOVE
    used |= columns.signs == 0.0
    return columns.keys()[used]


def weights_by_feature(this: Round, n_features: int) -> np.ndarray:
    """Weights of all features; the two signs of a feature are added up."""
    weights = np.zeros(n_features)
    np.add.at(weights, this.columns.features, this.answer.weights)
    return weights


def final_weights(
    this: Round, moments: TwoClassMoments, share: float = RELATIVE_ZERO
) -> np.ndarray:
    """Weights of all features, without crumbs; these are judged in units of the features."""
    weights = weights_by_feature(this, moments.n_features)
    size = np.abs(weights) * moments.sizes
    return np.where(size > share * size.max(), weights, 0.0)
