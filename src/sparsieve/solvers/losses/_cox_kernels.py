"""Compiled sums over risk sets.

Samples are in the order of :class:`.cox.Rows`, which says who is at risk in which block: a time at
which somebody of a stratum dies.

Where features order all times, risks differ by more than a floating-point number can hold: that of
a sample is v * 2^(256 level), with v from 2^-256 to 1. Sums over a risk set are in the largest
level in it, ``top[b]``; what is two levels below is nothing beside it. Nothing is ever subtracted
from a sum: those who enter late are added to the blocks at which they are at risk, by a tree whose
leaves are the blocks.
"""

import numpy as np

from ..._numba import PART, VIEWS, compiled
from .risk_sums import LOG_LEVEL

FIRST, END, DEATHS, TERMS = range(4)
UNIT = 2.0**-256
NO_LEVEL = -(1 << 60)


@compiled(**PART, **VIEWS)
def unit(steps):
    """What a number counts that is so many levels below."""
    if steps <= 0:
        return 1.0
    return UNIT if steps == 1 else 0.0


@compiled(**PART, **VIEWS)
def add_levels(total, at, x, level):
    """(sum, level) of a sum and a number, each with its level; the higher one stays."""
    if level == at:
        return total + x, at
    if level > at:
        return total * unit(level - at) + x, level
    return total + x * unit(at - level), at


@compiled()
def risk_sums(x, level, top, rows, others, dying):
    """Sums of x over those at risk in a block who do not die in it, and over those who do."""
    blocks, n_blocks = rows.blocks, len(rows.blocks)
    total, at, place, begins = 0.0, NO_LEVEL, 0, True
    for b in range(n_blocks):
        others[b], died = 0.0, 0.0
        if blocks[b, TERMS] > 0:
            if begins:
                begins, total, at, place = False, 0.0, NO_LEVEL, blocks[b, FIRST]
            for i in range(place, blocks[b, DEATHS]):
                if rows.at_once[i]:
                    total, at = add_levels(total, at, x[i], level[i])
            others[b] = total * unit(top[b] - at)
            place = blocks[b, END]
            for i in range(blocks[b, DEATHS], place):
                died += x[i] * unit(top[b] - level[i])
                if rows.at_once[i]:
                    total, at = add_levels(total, at, x[i], level[i])
        else:
            begins = True
        dying[b] = died
    if len(rows.late):
        tree, height = np.zeros(2 * n_blocks), np.full(2 * n_blocks, NO_LEVEL)
        for k in range(len(rows.late)):
            i, node = rows.late[k]
            tree[node], height[node] = add_levels(tree[node], height[node], x[i], level[i])
        for node in range(2, 2 * n_blocks):
            above = node >> 1
            tree[node], height[node] = add_levels(
                tree[node], height[node], tree[above], height[above]
            )
        for b in range(n_blocks):
            others[b] += tree[n_blocks + b] * unit(top[b] - height[n_blocks + b])


@compiled()
def block_sums(values, own, v, level, top, rows, out):
    """The sum of values over the blocks at which a sample is at risk, times v, in place.

    At the block in which it dies ``own`` counts. Sums over the risk set of a block are in the
    denominator of its values: the lower its level the more they are.
    """
    n_blocks = len(rows.blocks)
    sums, lowest = np.zeros(n_blocks), np.zeros(n_blocks, dtype=np.int64)
    total, at = 0.0, NO_LEVEL  # of levels with the other sign
    for b in range(n_blocks - 1, -1, -1):
        if rows.blocks[b, TERMS] > 0:
            total, at = add_levels(total, at, values[b], -top[b])
            sums[b], lowest[b] = total, -at
        else:
            total, at = 0.0, NO_LEVEL
    for i in range(len(v)):
        out[i] = 0.0
        if rows.at_once[i]:
            out[i] = sums[rows.start[i]] * unit(lowest[rows.start[i]] - level[i])
    if len(rows.late):
        tree, height = np.zeros(2 * n_blocks), np.full(2 * n_blocks, NO_LEVEL)
        for b in range(n_blocks):
            if rows.blocks[b, TERMS] > 0:
                tree[n_blocks + b], height[n_blocks + b] = values[b], -top[b]
        for node in range(n_blocks - 1, 0, -1):
            left, right = 2 * node, 2 * node + 1
            tree[node], height[node] = add_levels(
                tree[left], height[left], tree[right], height[right]
            )
        for k in range(len(rows.late)):
            i, node = rows.late[k]
            out[i] += tree[node] * unit(-height[node] - level[i])
    for i in range(len(v)):
        b = rows.dies[i]
        if b >= 0:
            out[i] += own[b] * unit(top[b] - level[i])
        out[i] *= v[i]


@compiled(**PART, **VIEWS)
def centre_column(column, h, order, x):
    """A column less its mean with weights h, in place: H has no opinion on constants."""
    total, mean = 0.0, 0.0
    for i in range(len(h)):
        x[i] = column[order[i]]
        total += h[i]
        mean += h[i] * x[i]
    for i in range(len(h)):
        x[i] -= mean / total


@compiled()
def hessian_products(V, v, level, top, rows, h, terms, out):
    """H V, column by column, in place."""
    n, n_blocks = len(v), len(rows.blocks)
    x, y, others, dying = np.empty(n), np.empty(n), np.empty(n_blocks), np.empty(n_blocks)
    for k in range(V.shape[1]):
        centre_column(V[:, k], h, rows.order, x)
        for i in range(n):
            y[i] = v[i] * x[i]
        risk_sums(y, level, top, rows, others, dying)
        for b in range(n_blocks):
            alive, died = others[b], dying[b]
            others[b] = terms[3, b] * alive + terms[4, b] * died
            dying[b] = terms[4, b] * alive + terms[5, b] * died
        block_sums(others, dying, v, level, top, rows, y)
        for i in range(n):
            out[rows.order[i], k] = h[i] * x[i] - y[i]


@compiled()
def quadratic_forms(X, v, level, top, rows, h, terms, out):
    """The numbers x'Hx of every column x of X (contiguous columns), in place."""
    n, n_blocks = len(v), len(rows.blocks)
    x, others, dying = np.empty(n), np.empty(n_blocks), np.empty(n_blocks)
    for k in range(X.shape[1]):
        centre_column(X[:, k], h, rows.order, x)
        square = 0.0
        for i in range(n):
            square += h[i] * x[i] * x[i]
            x[i] *= v[i]
        risk_sums(x, level, top, rows, others, dying)
        for b in range(n_blocks):
            A, D = others[b], dying[b]
            square -= A * A * terms[3, b] + 2.0 * A * D * terms[4, b] + D * D * terms[5, b]
        out[k] = max(square, 0.0)


@compiled()
def divergence(f, t, weights, weight, v, level, top, rows, others, dying):
    """Sum over terms of w KL(q || c), q = (1-t) shares of the deaths + t probabilities."""
    n_blocks = len(rows.blocks)
    spread, _ = np.empty(n_blocks), np.empty(n_blocks)
    risk_sums(v * f, level, top, rows, spread, _)
    result = 0.0
    for b in range(n_blocks):
        m, deaths, end = rows.blocks[b, TERMS], rows.blocks[b, DEATHS], rows.blocks[b, END]
        died = 0.0
        for i in range(deaths, end):
            died += weights[i]
        for tied in range(m):
            a, kl = 1.0 - tied / m, 0.0
            S = others[b] + a * dying[b]
            if t > 0.0:
                share = np.log(t) - np.log(S) - LOG_LEVEL * top[b]
                kl = t / S * (share * others[b] + spread[b])
            for i in range(deaths, end):
                q = (1.0 - t) * weights[i] / died + t * v[i] * unit(top[b] - level[i]) * a / S
                if q > 0.0:
                    kl += q * np.log(q / (weights[i] * a))
            result += weight[b] * kl
    return result
