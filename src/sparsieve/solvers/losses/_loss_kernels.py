"""Compiled losses of one output, for solvers compiled or not.

What they take of a loss is ``Loss.compiled``, whose class says which loss it is: a fit compiles its
own alone.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ..._numba import PART, VIEWS, compiled, register_kind
from .base import BinomialData, CoxData, PoissonData

FIRST, END, DEATHS, TERMS = range(4)
# Logarithms of risks in a stratum that are further apart than this need more care than is taken
# here.
MAX_LOG_RISKS = 170.0
# Columns whose running sums stay in the first-level cache.
TILE_COLUMNS = 256

_in_order: dict[str, Any] = {"fastmath": {"contract", "nsz"}, "error_model": "numpy", **VIEWS}
_in_any_order: dict[str, Any] = {
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
    **VIEWS,
}
_POWERS_OF_TWO = np.ldexp(1.0, np.arange(-1022, 1024))


@compiled(**_in_order, **PART)
def exponential(x):
    """e^x to 1e-15, 0 below 1e-307: loops over it take several numbers at a time."""
    bounded = x if x > -708.0 else -708.0
    bounded = bounded if bounded < 709.0 else 709.0
    k = np.floor(bounded * 1.4426950408889634 + 0.5)
    r = (bounded - k * 0.693145751953125) - k * 1.42860682030941723212e-6
    p = 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    found = p * _POWERS_OF_TWO[np.int64(k) + 1022]
    return found if x == bounded else 0.0 if x < bounded else np.inf


@compiled(**_in_order, **PART)
def log_above_one(e):
    """ln(1 + e) for 0 <= e <= 1 to 1e-15, by the series of the inverse hyperbolic tangent."""
    large = e > 0.41421356237309505
    s = (e - 1.0) / (3.0 + e) if large else e / (2.0 + e)
    z = s * s
    p = 1 / 21
    p = p * z + 1 / 19
    p = p * z + 1 / 17
    p = p * z + 1 / 15
    p = p * z + 1 / 13
    p = p * z + 1 / 11
    p = p * z + 1 / 9
    p = p * z + 1 / 7
    p = p * z + 1 / 5
    p = p * z + 1 / 3
    p = p * z + 1.0
    return 2.0 * s * p + (0.6931471805599453 if large else 0.0)


@singledispatch
def evaluate(loss, f, g, h, v, terms):
    """The value at f; its gradient and curvature (of Cox the bound on it) in place.

    ``v`` and ``terms`` are space for Cox: a number per sample, seven per block. Not a number where
    its risks are too far apart for this.
    """
    raise NotImplementedError(f"nothing is registered for {loss!r}")


@singledispatch
def dual_value(loss, f, t, v):
    """-L*(t grad L(f)), as :meth:`.base.Loss.dual_value`; of Cox ``v`` are the risks at f."""
    raise NotImplementedError(f"nothing is registered for {loss!r}")


@register_kind(evaluate, BinomialData)
@compiled(**_in_any_order)
def binomial(loss, f, g, h, v, terms):
    y, failures, weights, shift = loss
    value = 0.0
    for i in range(len(f)):
        z = f[i] - shift
        e = exponential(-abs(z))
        q = 1.0 / (1.0 + e)
        p, rest = (q, e * q) if z > 0.0 else (e * q, q)
        near, far = log_above_one(e), abs(z)
        missed, false = (near, near + far) if z > 0.0 else (near + far, near)
        value += weights[i] * (y[i] * missed + failures[i] * false)
        g[i] = weights[i] * (failures[i] * p - y[i] * rest)
        h[i] = weights[i] * (y[i] + failures[i]) * p * rest
    return value


@register_kind(evaluate, PoissonData)
@compiled(**_in_any_order)
def poisson(loss, f, g, h, v, terms):
    y, weights = loss
    value = 0.0
    for i in range(len(f)):
        mean = exponential(f[i])
        value += weights[i] * (mean - y[i] * f[i])
        g[i] = weights[i] * (mean - y[i])
        h[i] = weights[i] * mean
    return value


@register_kind(evaluate, CoxData)
@compiled(**_in_order)
def cox(loss, f, g, h, v, terms):
    """As the others; risks v and the first five ``terms`` are set as well."""
    y, weights, order, blocks, block_weights = loss
    value, first, last = 0.0, 0, 0
    for b in range(len(blocks)):
        if blocks[b, TERMS] > 0:
            continue
        # The blocks first to b are those of a stratum, the samples begin to end its samples.
        begin, end = blocks[first, FIRST], blocks[b, END]
        top, low = -np.inf, np.inf
        for i in range(begin, end):
            here = f[order[i]]
            top, low = here if here > top else top, here if here < low else low
        if not top - low <= MAX_LOG_RISKS:
            return np.nan
        for i in range(begin, end):
            row = order[i]
            v[row] = weights[row] * exponential(f[row] - top)
            h[row], g[row] = 0.0, 0.0
            value -= y[row] * (f[row] - top)
        total, last = 0.0, begin
        for c in range(first, b):
            died = 0.0
            for i in range(last, blocks[c, DEATHS]):
                total += v[order[i]]
            for i in range(blocks[c, DEATHS], blocks[c, END]):
                died += v[order[i]]
            total += died
            last = blocks[c, END]
            m, w = blocks[c, TERMS], block_weights[c]
            terms[c, :5] = 0.0
            for tied in range(m):
                share = tied / m
                S = total - share * died
                once, twice = w / S, w / S / S
                value += w * np.log(S)
                terms[c, 0] += once
                terms[c, 1] += share * once
                terms[c, 2] += twice
                terms[c, 3] += share * twice
                terms[c, 4] += share * share * twice
        total = 0.0
        for c in range(b - 1, first - 1, -1):
            total += terms[c, 0]
            start = begin if c == first else blocks[c - 1, END]
            for i in range(start, blocks[c, END]):
                row = order[i]
                own = terms[c, 1] if i >= blocks[c, DEATHS] else 0.0
                h[row] = v[row] * (total - own)
                g[row] = h[row] - y[row]
        first = b + 1
    return value


@register_kind(dual_value, BinomialData)
@compiled(**_in_order)
def dual_binomial(loss, f, t, v):
    y, failures, weights, shift = loss
    value = 0.0
    for i in range(len(f)):
        z, trials = f[i] - shift, y[i] + failures[i]
        e = exponential(-abs(z))
        q = 1.0 / (1.0 + e)
        p, rest = (q, e * q) if z > 0.0 else (e * q, q)
        u = t * (failures[i] * p - y[i] * rest)
        p = (1.0 - t) * y[i] / trials + t * p
        rest = (1.0 - t) * failures[i] / trials + t * rest
        small, large = (p, rest) if p < rest else (rest, p)
        entropy = 0.0
        if small > 0.0:  # nothing cancels where one share is close to 1
            entropy = -small * np.log(small) - large * np.log1p(-small)
        value += weights[i] * (trials * entropy - u * shift)
    return value


@register_kind(dual_value, PoissonData)
@compiled(**_in_order)
def dual_poisson(loss, f, t, v):
    y, weights = loss
    value = 0.0
    for i in range(len(f)):
        mean = (1.0 - t) * y[i] + t * exponential(f[i])
        if mean > 0.0:
            value += weights[i] * (mean - mean * np.log(mean))
    return value


@register_kind(dual_value, CoxData)
@compiled(**_in_order)
def dual_cox(loss, f, t, v):
    """Less the sum over terms of w KL(q || c), q = (1-t) shares of the deaths + t probabilities."""
    _, weights, order, blocks, block_weights = loss
    result, others, spread, last, top, begins = 0.0, 0.0, 0.0, 0, 0.0, True
    for b in range(len(blocks)):
        if begins:
            last, others, spread, top = blocks[b, FIRST], 0.0, 0.0, -np.inf
            c = b
            while blocks[c, TERMS] > 0:
                c += 1
            for i in range(last, blocks[c, END]):
                top = f[order[i]] if f[order[i]] > top else top
        begins = blocks[b, TERMS] == 0
        for i in range(last, blocks[b, DEATHS]):
            others += v[order[i]]
            spread += v[order[i]] * (f[order[i]] - top)
        dying, died = 0.0, 0.0
        for i in range(blocks[b, DEATHS], blocks[b, END]):
            dying += v[order[i]]
            died += weights[order[i]]
        m = blocks[b, TERMS]
        for tied in range(m):
            a, kl = 1.0 - tied / m, 0.0
            S = others + a * dying
            if t > 0.0:
                kl = t / S * ((np.log(t) - np.log(S)) * others + spread)
            for i in range(blocks[b, DEATHS], blocks[b, END]):
                row = order[i]
                q = (1.0 - t) * weights[row] / died + t * v[row] * a / S
                if q > 0.0:
                    kl += q * np.log(q / (weights[row] * a))
            result += block_weights[b] * kl
        for i in range(blocks[b, DEATHS], blocks[b, END]):
            others += v[order[i]]
            spread += v[order[i]] * (f[order[i]] - top)
        last = blocks[b, END]
    return -result


@compiled(**_in_order)
def cox_rows(loss, A, h, v, terms, out):
    """H x for every row x of A, in place, where :func:`cox` has set h, v and ``terms``."""
    order, blocks = loss.order, loss.blocks
    for j in range(len(A)):
        x, y = A[j], out[j]
        total, last = 0.0, 0
        for b in range(len(blocks)):
            died = 0.0
            for i in range(last, blocks[b, DEATHS]):
                total += v[order[i]] * x[order[i]]
            for i in range(blocks[b, DEATHS], blocks[b, END]):
                died += v[order[i]] * x[order[i]]
            total, last = total + died, blocks[b, END]
            terms[b, 5], terms[b, 6] = total, died
            if blocks[b, TERMS] == 0:
                total = 0.0
        total = 0.0
        for b in range(len(blocks) - 1, -1, -1):
            at_risk, died, own = terms[b, 5], terms[b, 6], 0.0
            if blocks[b, TERMS] == 0:
                total = 0.0
            else:
                total += terms[b, 2] * at_risk - terms[b, 3] * died
                own = terms[b, 3] * at_risk - terms[b, 4] * died
            for i in range(blocks[b - 1, END] if b else 0, blocks[b, END]):
                row = order[i]
                along = total - own if i >= blocks[b, DEATHS] else total
                y[row] = h[row] * x[row] - v[row] * along


@compiled(**_in_any_order)
def cox_squares(loss, X, h, v, terms, sums, out):
    """The numbers x'Hx of all columns x of X, whose rows are in the order of the loss.

    :func:`cox` has set h, v and ``terms``; ``sums`` is space for two numbers per column.
    """
    order, blocks = loss.order, loss.blocks
    for begin in range(0, X.shape[1], TILE_COLUMNS):
        end = min(begin + TILE_COLUMNS, X.shape[1])
        at_risk, dying, found = sums[0, begin:end], sums[1, begin:end], out[begin:end]
        found[:], at_risk[:], last = 0.0, 0.0, 0
        for b in range(len(blocks)):
            dying[:] = 0.0
            for i in range(last, blocks[b, END]):
                x, weight, risk = X[i, begin:end], h[order[i]], v[order[i]]
                dies = 1.0 if i >= blocks[b, DEATHS] else 0.0
                for k in range(len(x)):
                    found[k] += weight * x[k] * x[k]
                    at_risk[k] += risk * x[k]
                    dying[k] += dies * risk * x[k]
            last = blocks[b, END]
            if blocks[b, TERMS] == 0:
                at_risk[:] = 0.0
                continue
            all_, both, own = terms[b, 2], terms[b, 3], terms[b, 4]
            for k in range(len(found)):
                A, D = at_risk[k], dying[k]
                found[k] -= all_ * A * A - 2.0 * both * A * D + own * D * D
