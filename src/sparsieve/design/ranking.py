"""From scores to an order of the features, and from an order to the rank of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._beside import largest, to_numpy, where

# Differences of second scores below this share of the largest are rounding: they would depend on
# the memory order of X. No round number, so that no round values lie between two grains.
RESOLUTION = 1.0471975e-8
# From this many scores on, sorting numbers that hold their own places is several times faster.
MIN_PACKED_SORT = 50_000
WIDTH = 256  # scores of which the largest is looked at first


def falling(scores: np.ndarray, ties: np.ndarray | None = None) -> np.ndarray:
    """Places by falling scores, equal ones by falling ``ties`` and then in order; NaN last."""
    if ties is not None:
        first = falling(ties)
        return first[falling(scores[first])]
    if len(scores) < MIN_PACKED_SORT or np.isnan(np.min(scores)):
        return np.argsort(-scores, kind="stable")
    keys = _rising_keys(scores)
    # A place in the last bits, which say little about the score; ties there are looked at again.
    n_bits = np.uint64(len(keys) - 1).item().bit_length()
    held = (keys >> n_bits << n_bits) | np.arange(len(keys), dtype=np.uint64)
    held.sort()
    order = (held & np.uint64((1 << n_bits) - 1)).astype(np.intp)
    held >>= n_bits
    alike = held[1:] == held[:-1]
    if alike.any():
        unsure = np.zeros(len(keys), dtype=bool)
        unsure[1:] |= alike
        unsure[:-1] |= alike
        places = order[unsure]
        order[unsure] = places[np.argsort(keys[places], kind="stable")]
    return order


def leading(scores: Any, count: int) -> np.ndarray:
    """Places of the ``count`` largest scores, the largest first and equal ones in order.

    Beside X on a device any of the equal ones.
    """
    if not isinstance(scores, np.ndarray):
        return to_numpy(scores.topk(min(count, len(scores))).indices)
    if not 0 < count < len(scores):
        return np.argsort(-scores, kind="stable")[:count]
    whole = len(scores) // WIDTH * WIDTH
    tops = scores
    if count * WIDTH < whole:
        # As many groups have a score at least as large: what is smaller cannot lead.
        tops = scores[:whole].reshape(-1, WIDTH).max(axis=1)
    places = np.flatnonzero(scores >= np.partition(tops, -count)[-count])
    return places[np.argsort(-scores[places], kind="stable")[:count]]


def best_first(scores: np.ndarray, ties: Sequence[np.ndarray] = ()) -> np.ndarray:
    """Places by falling scores; among equal ones the ties decide, the first one first."""
    best: np.ndarray | None = None
    keys = [quantise(np.asarray(one, dtype=np.float64)) for one in reversed(ties)]
    for key in (*keys, scores):
        best = falling(key) if best is None else best[falling(key[best])]
    assert best is not None
    return best


def quantise(values: Any) -> Any:
    """Values as whole numbers of grains: closer ones than that are told apart by rounding alone.

    A grain is a share of the largest value that no ratio of small numbers is a multiple of.
    """
    sizes = abs(values)
    grain = RESOLUTION * largest(where(sizes < np.inf, sizes, 0.0))
    return (values / grain).round() if grain > 0.0 else values


def _rising_keys(scores: np.ndarray) -> np.ndarray:
    """Integers that rise where scores fall, and are equal where they are."""
    # Adding zero makes -0 a zero like others.
    keys = np.add(scores, 0.0, dtype=np.float64).view(np.uint64)
    sign = np.uint64(1 << 63)
    return np.where(keys & sign, keys, ~keys & ~sign)


def ranks(best: np.ndarray, first: np.ndarray | None, last: np.ndarray | None) -> np.ndarray:
    """Rank of every feature, 1 for the best.

    ``best`` holds the features in order; those of the mask ``last`` are put behind, keeping their
    order, and the features of the list ``first`` ahead of all.
    """
    if last is not None and last.any():
        behind = last[best]
        best = np.concatenate([best[~behind], best[behind]])
    if first is not None:
        ahead = np.asarray(first, dtype=np.intp)
        taken = np.zeros(len(best), dtype=bool)
        taken[ahead] = True
        best = np.concatenate([ahead, best[~taken[best]]])
    ranking = np.empty(len(best), dtype=np.int64)
    ranking[best] = np.arange(1, len(best) + 1)
    return ranking
