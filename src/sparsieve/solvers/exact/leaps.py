"""Leaps and bounds: what all features that are not out reach together bounds every part of them.

After Furnival and Wilson (1974), by orthogonal factorisations instead of normal equations. The
bound needs no ridge; it is good where features are fewer than samples and say different things.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from .nodes import Node, Search
from .support_values import SupportValues

# Nodes with at most so many supports below are decided by trying these.
MAX_LEAVES = 256


class Leaps:
    """Nodes bounded by all of their features, split by what leaving features out costs.

    Parameters
    ----------
    values : the candidates.
    k : number of features.
    """

    k: int
    values: SupportValues

    def __init__(self, values: SupportValues, k: int):
        self.values, self.k = values, k

    def branch(self, node: Node, search: Search) -> list[Node]:
        """The children of a node, each without another feature and with those before it."""
        left, free = self.k - len(node.inside), np.flatnonzero(node.free())
        if comb(len(free), left) <= MAX_LEAVES:
            search.offer(_complete_supports(node.inside, free, left), last=True)
            return []
        together = self.values.whole(np.flatnonzero(node.open), self.k)
        bound = max(node.bound, together.low)
        if bound > node.bound and search.is_done(bound):
            return []
        costs = np.zeros(len(node.open))
        costs[node.open] = together.costs
        order = free[np.argsort(-costs[free], kind="stable")][: left + 1]
        search.offer(np.concatenate([node.inside, order[:left]])[None], last=True)
        masks = np.repeat(node.open[None], left, axis=0)
        masks[np.arange(left), order[:left]] = False
        return self._children(node, order, masks, bound, search)

    def _children(self, node, order, masks, bound, search) -> list[Node]:
        size = int(masks[0].sum())
        lows = self.values.lows(np.nonzero(masks)[1].reshape(len(masks), size), self.k)
        children = []
        for i, (mask, low) in enumerate(zip(masks, np.maximum(lows, bound), strict=True)):
            if not search.is_done(float(low)):
                inside = np.concatenate([node.inside, order[:i]])
                children.append(Node(float(low), inside, mask, node.members, node.z))
        return children[::-1]


def _complete_supports(inside: np.ndarray, free: np.ndarray, left: int) -> np.ndarray:
    """All supports of these features and so many of the free ones."""
    count = comb(len(free), left)
    chosen = np.array(list(combinations(free.tolist(), left)), dtype=np.int64)
    return np.hstack([np.repeat(inside[None], count, axis=0), chosen.reshape(count, left)])
