"""Compiled loops over pairs of samples, none of which is looked at by itself."""

from __future__ import annotations

from .._numba import VIEWS, compiled


@compiled(nogil=True, **VIEWS)
def count_smaller(ranks, stops, asked, tree, below, equal):
    """Count, of the first ``stops[q]`` ranks, those below ``asked[q]`` and those equal to it.

    ``stops`` rise. ``tree`` has one zero more than there are different ranks: a binary indexed
    tree, so that a count takes a logarithm of their number.
    """
    done = 0
    for q in range(len(stops)):
        while done < stops[q]:
            place = ranks[done] + 1
            while place < len(tree):
                tree[place] += 1
                place += place & -place
            done += 1
        below[q] = _prefix_sum(tree, asked[q])
        equal[q] = _prefix_sum(tree, asked[q] + 1) - below[q]


@compiled(nogil=True, no_cpython_wrapper=True, **VIEWS)
def _prefix_sum(tree, place):
    total = 0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total
