"""Which of many one-against-the-rest machines use no feature at all, found for all at once.

With few samples of a class, what a feature saves of the loss seldom pays for it. The machine with
a bias alone is optimal if the dual program has a point of the same value: multipliers C on the
smaller side, and on the larger one multipliers between 0 and C of the same sum such that

    |sum_small C_i x_ij - sum_large a_i x_ij| <= cost_j    for every feature j.

The first try spreads them evenly over the larger side. Where that fails, conditional gradient steps
move them towards samples that are like the smaller side, until the inequalities hold.
"""

from __future__ import annotations

import numpy as np

from ....design import DesignMatrix

# Samples of the larger side that may get more than an even share.
MAX_CANDIDATES = 1024
MAX_STEPS = 40  # of the conditional gradient method
# Machines that are looked at together.
MACHINES_PER_BLOCK = 512
# The inequalities must hold with this share of the costs to spare: rounding is far below it.
COST_MARGIN = 1e-9


def without_features(
    design: DesignMatrix,
    codes: np.ndarray,
    C: np.ndarray,
    costs: np.ndarray,
) -> np.ndarray:
    """Mask of the classes whose machine against the rest is proven to need no feature.

    Parameters
    ----------
    design : DesignMatrix
    codes : ndarray of shape (n_samples,)
        Class of every sample.
    C : ndarray of shape (n_samples,)
        Cost of every sample's slack.
    costs : ndarray of shape (n_features,)
        What a unit of weight costs at zero.
    """
    n_classes = int(codes.max()) + 1
    masses = np.bincount(codes, weights=C)
    sums = design.group_sums(codes, n_classes, C)
    small = np.minimum(masses, C.sum() - masses)
    total = sums.sum(axis=0)
    inner = np.where((masses <= C.sum() - masses)[:, None], sums, total - sums)
    evenly = (small / (C.sum() - small))[:, None] * (total - inner)
    limits = (1.0 - COST_MARGIN) * costs
    proven = (np.abs(inner - evenly) <= limits).all(axis=1)
    # Only a class, not all but a class, is so small that few candidates can stand for the rest.
    places = np.linspace(0, len(codes) - 1, min(len(codes), MAX_CANDIDATES)).astype(int)
    affordable = small <= 0.25 * C[places].sum()
    left = np.flatnonzero(~proven & affordable & (masses <= C.sum() - masses))
    if not len(left):
        return proven
    some = design.rows(places)
    rows = some.dense_columns(np.arange(design.shape[1])).astype(np.float64, copy=False)
    for start in range(0, len(left), MACHINES_PER_BLOCK):
        part = left[start : start + MACHINES_PER_BLOCK]
        open_ = codes[places] != part[:, None]
        proven[part] = _reached(
            rows, open_ * C[places], inner[part], evenly[part], small[part], limits
        )
    return proven


def _reached(rows, caps, target, point, mass, limits) -> np.ndarray:
    """Whether a point within ``limits`` of the target is found, for every machine.

    Points are sums of rows with multipliers up to ``caps`` that add up to ``mass``.
    """
    done = np.zeros(len(target), dtype=bool)
    n_taken = min(rows.shape[0], int(np.ceil(mass.max() / caps[caps > 0].min())) + 1)
    here = np.arange(len(target))
    for step in range(MAX_STEPS):
        apart = target[here] - point[here]
        excess = np.sign(apart) * np.maximum(np.abs(apart) - limits, 0.0)
        found = ~excess.any(axis=1)
        done[here[found]] = True
        here, excess = here[~found], excess[~found]
        if not len(here):
            break
        scores = excess @ rows.T
        scores[caps[here] <= 0.0] = -np.inf
        best = np.argpartition(-scores, n_taken - 1, axis=1)[:, :n_taken]
        best = np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1), 1), 1)
        shares = np.take_along_axis(caps[here], best, 1)
        before = np.cumsum(shares, axis=1) - shares
        shares = np.clip(mass[here, None] - before, 0.0, shares)
        corner = np.einsum("kt,ktj->kj", shares, rows[best])
        full = shares.sum(axis=1) >= mass[here] * (1.0 - 1e-12)
        corner[~full] = point[here[~full]]  # no such corner: stay
        length = 2.0 / (step + 3.0)
        point[here] += length * (corner - point[here])
    return done
