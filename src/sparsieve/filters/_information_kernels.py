"""Compiled loops of the information filters: entropies of joint counts, MDL cuts."""

from __future__ import annotations

import numpy as np

from .._numba import PART, VIEWS, compiled


@compiled(nogil=True, **VIEWS)
def joint_entropies(codes, other, n_other, weights, counts, entropies):
    """Set the entropy (in nats) of every feature together with one other variable.

    ``codes`` holds the features in rows; ``other`` takes the values 0..n_other - 1. With
    ``n_other=1`` these are the entropies of the features alone. ``counts`` are zeros, one for
    each pair of values: to make arrays here would take half as long again to compile.
    """
    n_features, n_samples = codes.shape
    total = 0.0
    for i in range(n_samples):
        total += weights[i]
    for f in range(n_features):
        for i in range(n_samples):
            counts[codes[f, i] * n_other + other[i]] += weights[i]
        terms = 0.0
        for cell in range(len(counts)):
            terms += _x_log_x(counts[cell])
            counts[cell] = 0.0
        entropies[f] = np.log(total) - terms / total


@compiled(nogil=True, **VIEWS)
def mdl_levels(ordered, order, classes, weights, levels, starts, left, right):
    """Cut every feature by Fayyad and Irani's rule and write the level of every sample.

    ``ordered`` holds the sorted features in rows and ``order`` who has those values. Scratch
    space: ``starts`` for one sample more than there are, ``left`` and ``right`` for the classes.
    """
    n_features, n_samples = ordered.shape
    for f in range(n_features):
        # The ends of the segments still to be cut, the first of them on top.
        starts[0] = n_samples
        # A literal zero for low would have the search for cuts compiled a second time.
        waiting, low, level = 1, np.int64(0), 0
        while waiting > 0:
            high = starts[waiting - 1]
            cut = _find_cut_point(ordered[f], order[f], low, high, classes, weights, left, right)
            if cut > 0:
                starts[waiting] = cut
                waiting += 1
                continue
            for i in range(low, high):
                levels[f, order[f, i]] = level
            level += level < 255
            low = high
            waiting -= 1


@compiled(**PART, **VIEWS)
def _find_cut_point(values, order, low, high, classes, weights, left, right):
    """Where to cut the segment low..high, or 0 where no cut pays for itself.

    Entropies are in nats: the rule compares them with logarithms, so the unit does not matter.
    """
    total = 0.0
    for k in range(len(left)):
        left[k] = right[k] = 0.0
    for i in range(low, high):
        right[classes[order[i]]] += weights[order[i]]
        total += weights[order[i]]
    # n H(S) = n log n - sum of c log c; the sums of both sides are kept up to date.
    terms = 0.0
    n_whole = 0
    for k in range(len(right)):
        terms += _x_log_x(right[k])
        n_whole += right[k] > 0.0
    spread = _x_log_x(total) - terms
    left_terms, right_terms, left_total = 0.0, terms, 0.0
    n_left, n_right = 0, n_whole
    best, cost, cut = np.inf, 0.0, 0
    for i in range(low, high - 1):
        k, weight = classes[order[i]], weights[order[i]]
        n_left += left[k] == 0.0
        left_terms -= _x_log_x(left[k])
        right_terms -= _x_log_x(right[k])
        left[k] += weight
        right[k] -= weight
        if right[k] < 1e-9 * left[k]:  # nothing but rounding is left of this class
            right[k] = 0.0
            n_right -= 1
        left_terms += _x_log_x(left[k])
        right_terms += _x_log_x(right[k])
        left_total += weight
        if values[i] == values[i + 1]:
            continue
        right_total = total - left_total
        one = _x_log_x(left_total) - left_terms
        two = _x_log_x(right_total) - right_terms
        if one + two < best - 1e-10 * total:  # the first of equally good cuts
            best, cut = one + two, i + 1
            cost = n_left * one / left_total + n_right * two / right_total
    if cut == 0 or total <= 1.0:
        return 0
    delta = n_whole * np.log(3.0) + np.log(1.0 - 2.0 * np.exp(-n_whole * np.log(3.0)))
    delta += cost - n_whole * spread / total
    return cut if spread - best > np.log(total - 1.0) + delta else 0


@compiled(**PART, **VIEWS)
def _x_log_x(x):
    return x * np.log(x) if x > 0.0 else 0.0
