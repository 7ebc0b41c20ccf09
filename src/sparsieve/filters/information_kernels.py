"""Compiled loops of the information filters: entropies of joint counts, MDL cuts."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def joint_entropies(codes, n_levels, other, n_other, weights):
    """Entropy (in nats) of every feature together with one other variable.

    ``codes`` holds the features in rows; ``other`` takes the values 0..n_other - 1. With
    ``n_other=1`` these are the entropies of the features alone.
    """
    n_features, n_samples = codes.shape
    total = weights.sum()
    entropies = np.empty(n_features)
    counts = np.empty(n_levels * n_other)
    for f in range(n_features):
        counts[:] = 0.0
        for i in range(n_samples):
            counts[codes[f, i] * n_other + other[i]] += weights[i]
        terms = 0.0
        for cell in range(len(counts)):
            if counts[cell] > 0.0:
                terms += counts[cell] * np.log(counts[cell])
        entropies[f] = np.log(total) - terms / total
    return entropies


@njit(cache=True, nogil=True)
def mdl_levels(ordered, order, classes, n_classes, weights, levels):
    """Cut every feature by Fayyad and Irani's rule and write the level of every sample.

    ``ordered`` holds the sorted features in rows and ``order`` who has those values. Works in
    nats: the rule compares a gain with logarithms, so the unit does not matter.
    """
    n_features, n_samples = ordered.shape
    is_cut = np.empty(n_samples + 1, dtype=np.bool_)
    stack = np.empty((n_samples + 1, 2), dtype=np.int64)
    left, right, whole = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for f in range(n_features):
        is_cut[:] = False
        stack[0, 0], stack[0, 1] = 0, n_samples
        depth = 1
        while depth > 0:
            depth -= 1
            low, high = stack[depth, 0], stack[depth, 1]
            whole[:] = 0.0
            for i in range(low, high):
                whole[classes[order[f, i]]] += weights[order[f, i]]
            total = whole.sum()
            # n H(S) = n log n - sum of c log c; the sums for the two sides are kept up to date.
            left[:] = 0.0
            right[:] = whole
            terms = _c_log_c(whole)
            left_terms, right_terms = 0.0, terms
            left_total, right_total = 0.0, total
            best, best_left, best_right, cut = np.inf, 0.0, 0.0, -1
            for i in range(low, high - 1):
                who = order[f, i]
                k, weight = classes[who], weights[who]
                left_terms += _x_log_x(left[k] + weight) - _x_log_x(left[k])
                right_terms += _x_log_x(right[k] - weight) - _x_log_x(right[k])
                left[k] += weight
                right[k] -= weight
                left_total += weight
                right_total -= weight
                if ordered[f, i] < ordered[f, i + 1]:
                    # n_1 H(S_1) and n_2 H(S_2)
                    first = _x_log_x(left_total) - left_terms
                    second = _x_log_x(right_total) - right_terms
                    if first + second < best - 1e-10 * total:
                        best, best_left, best_right, cut = first + second, first, second, i + 1
            if cut < 0 or total <= 1.0:
                continue
            left[:] = 0.0
            for i in range(low, cut):
                left[classes[order[f, i]]] += weights[order[f, i]]
            in_left, in_right, in_whole = 0, 0, 0
            first_total = left.sum()
            for k in range(n_classes):
                in_whole += whole[k] > 0.0
                in_left += left[k] > 0.0
                in_right += whole[k] - left[k] > 1e-9 * whole[k]
            spread = _x_log_x(total) - terms
            delta = np.log(3.0**in_whole - 2.0) - (
                in_whole * spread / total
                - in_left * best_left / first_total
                - in_right * best_right / (total - first_total)
            )
            if spread - best > np.log(total - 1.0) + delta:
                is_cut[cut] = True
                stack[depth, 0], stack[depth, 1] = low, cut
                stack[depth + 1, 0], stack[depth + 1, 1] = cut, high
                depth += 2
        level = 0
        for i in range(n_samples):
            if is_cut[i] and level < 255:
                level += 1
            levels[f, order[f, i]] = level


@njit(cache=True, nogil=True)
def _x_log_x(x):
    return x * np.log(x) if x > 1e-12 else 0.0


@njit(cache=True, nogil=True)
def _c_log_c(counts):
    total = 0.0
    for count in counts:
        total += _x_log_x(count)
    return total
