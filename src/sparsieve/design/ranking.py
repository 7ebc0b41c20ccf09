"""From an order of the features to the rank of each."""

from __future__ import annotations

import numpy as np


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
