"""Compiled sums over risk sets.

A block is a time at which somebody of a stratum dies. ``blocks`` has a row per block, in order of
strata and falling times, and one without terms at the end of every stratum:

    first, end         the places in ``order`` of those whose time is not before the block's
    deaths             where those who die in the block begin; they end at ``end``
    entered, entering  the places in ``entry_order`` of those who enter at that time or later
    n_terms            terms of the likelihood: Efron has one per death, Breslow one per block

The blocks at which a row is at risk are those from ``low[row]`` to before ``high[row]``;
``dies[row]`` is the block in which it dies, or -1.
"""

import numpy as np

from ..._numba import compiled

FIRST, END, DEATHS, ENTERED, ENTERING, TERMS = range(6)


@compiled()
def risk_sums(x, order, entry_order, blocks, at_risk, dying):
    """Sums of x over everyone at risk in a block and over those who die in it, both in place."""
    start, total, before = True, 0.0, 0.0
    place, gate = 0, 0
    for b in range(len(blocks)):
        if blocks[b, TERMS] == 0:
            start = True
            continue
        if start:
            start, total, before = False, 0.0, 0.0
            place, gate = blocks[b, FIRST], blocks[b, ENTERED]
        died = 0.0
        for i in range(blocks[b, DEATHS], blocks[b, END]):
            died += x[order[i]]
        for i in range(place, blocks[b, END]):
            total += x[order[i]]
        for i in range(gate, blocks[b, ENTERING]):
            before += x[entry_order[i]]
        place, gate = blocks[b, END], blocks[b, ENTERING]
        at_risk[b], dying[b] = total - before, died


@compiled()
def block_terms(at_risk, dying, blocks, weight, terms):
    """Per block: sum of tw ln S, of tw/S and (l/m) tw/S, of tw/S^2 times 1, l/m and (l/m)^2."""
    for b in range(len(blocks)):
        terms[b] = 0.0
        m = blocks[b, TERMS]
        for tied in range(m):
            share = tied / m
            # Those who die are at risk, whatever rounding made of those who entered late.
            S = max(at_risk[b], dying[b]) - share * dying[b]
            if not S > 0.0:
                terms[b, 0] = np.inf
                continue
            w = weight[b]
            terms[b, 0] += w * np.log(S)
            terms[b, 1] += w / S
            terms[b, 2] += share * w / S
            terms[b, 3] += w / S / S
            terms[b, 4] += share * w / S / S
            terms[b, 5] += share * share * w / S / S


@compiled()
def later_sums(values, blocks, sums):
    """Sums of values over a block and those of earlier times of its stratum, in place."""
    total = 0.0
    for b in range(len(blocks) - 1, -1, -1):
        total = 0.0 if blocks[b, TERMS] == 0 else total + values[b]
        sums[b] = total


@compiled()
def hessian_products(V, v, h, order, entry_order, blocks, low, high, dies, terms, out):
    """H V, column by column, in place."""
    n, n_blocks = len(v), len(blocks)
    x = np.empty(n)
    at_risk, dying = np.zeros(n_blocks), np.zeros(n_blocks)
    all_, tied, sums = np.zeros(n_blocks), np.zeros(n_blocks), np.zeros(n_blocks)
    for k in range(V.shape[1]):
        for i in range(n):
            x[i] = v[i] * V[i, k]
        risk_sums(x, order, entry_order, blocks, at_risk, dying)
        for b in range(n_blocks):
            all_[b] = terms[b, 3] * at_risk[b] - terms[b, 4] * dying[b]
            tied[b] = terms[b, 4] * at_risk[b] - terms[b, 5] * dying[b]
        later_sums(all_, blocks, sums)
        for i in range(n):
            along = sums[low[i]] - sums[high[i]]
            if dies[i] >= 0:
                along -= tied[dies[i]]
            out[i, k] = h[i] * V[i, k] - v[i] * along


@compiled()
def quadratic_forms(X, v, h, order, entry_order, blocks, terms, out):
    """The numbers x'Hx of every column x of X (contiguous columns), in place.

    H has no opinion on constants, so that columns may be moved to where least cancels.
    """
    n, n_blocks = len(v), len(blocks)
    x = np.empty(n)
    at_risk, dying = np.zeros(n_blocks), np.zeros(n_blocks)
    total = h.sum()
    for k in range(X.shape[1]):
        column = X[:, k]
        mean = 0.0
        for i in range(n):
            mean += h[i] * column[i]
        mean = mean / total if total > 0.0 else 0.0
        square = 0.0
        for i in range(n):
            away = column[i] - mean
            square += h[i] * away * away
            x[i] = v[i] * away
        risk_sums(x, order, entry_order, blocks, at_risk, dying)
        for b in range(n_blocks):
            A, D = at_risk[b], dying[b]
            square -= A * A * terms[b, 3] - 2.0 * A * D * terms[b, 4] + D * D * terms[b, 5]
        out[k] = max(square, 0.0)


@compiled()
def divergence(f, v, t, weights, order, entry_order, blocks, weight, at_risk, dying):
    """Sum over terms of tw KL(q || c), q = (1-t) shares of the deaths + t probabilities."""
    n_blocks = len(blocks)
    spread_risk, spread_dying = np.zeros(n_blocks), np.zeros(n_blocks)
    risk_sums(v * f, order, entry_order, blocks, spread_risk, spread_dying)
    result = 0.0
    for b in range(n_blocks):
        m = blocks[b, TERMS]
        if m == 0:
            continue
        died = 0.0
        for i in range(blocks[b, DEATHS], blocks[b, END]):
            died += weights[order[i]]
        others = max(at_risk[b] - dying[b], 0.0)
        spread = spread_risk[b] - spread_dying[b]
        for tied in range(m):
            left = 1.0 - tied / m
            S = others + left * dying[b]
            kl = 0.0
            if t > 0.0:
                kl = t / S * ((np.log(t) - np.log(S)) * others + spread)
            for i in range(blocks[b, DEATHS], blocks[b, END]):
                row = order[i]
                q = (1.0 - t) * weights[row] / died + t * v[row] * left / S
                if q > 0.0:
                    kl += q * np.log(q / (weights[row] * left))
            result += weight[b] * kl
    return result
