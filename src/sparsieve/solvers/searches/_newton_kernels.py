"""Compiled Newton steps for a loss of one output with a ridge on few columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._numba import PART, VIEWS, compiled
from ..losses._loss_kernels import evaluate
from ..losses.expansion import MAX_CHANGE

MAX_EVALUATIONS, MIN_STEP_LENGTH = 1000, 2.0**-40
# Relative to the scale: a step that gains less is the last one, with a new factor or an old one;
# what rounding cannot tell from nothing, in a value and in the gain of a step.
ACCURACY, ACCURACY_OF_OLD_FACTOR, ROUNDING, GAIN_ROUNDING = 1e-12, 1e-14, 1e-12, 1e-10
# A factor serves for another step while every step gains less than this share of the last.
MAX_GAIN_SHARE = 0.05
# A fit is given up where even so many times what a step is to gain would not reach the limit: by a
# new factor, and by an old one.
MAX_GAIN_RATIO, MAX_GAIN_RATIO_OF_OLD_FACTOR = 3.0, 8.0

MODEL, START, AT_POINT, DONE, FAILED, BEYOND = range(6)

_options: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
    **VIEWS,
}


@compiled(**_options, **PART)
def factorise(L):
    """The Cholesky factor in the lower half, in place; whether there is one."""
    for i in range(len(L)):
        for j in range(i + 1):
            rest = L[i, j]
            for k in range(j):
                rest -= L[i, k] * L[j, k]
            if j < i:
                L[i, j] = rest / L[j, j]
            elif rest > 0.0:
                L[i, i] = np.sqrt(rest)
            else:
                return False
    return True


@compiled(**_options, **PART)
def cholesky_solve(L, x):
    """Solve LL'y = x, in place of x."""
    for i in range(len(x)):
        total, row = x[i], L[i]
        for j in range(i):
            total -= row[j] * x[j]
        x[i] = total / row[i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= L[i, i]
        total, row = x[i], L[i]
        for j in range(i):
            x[j] -= total * row[j]


@compiled(**_options, **PART)
def combine_rows(A, places, w, out):
    """The sum of the rows at ``places`` times w, in place; four are read at a time."""
    out[:] = 0.0
    last = len(places) - 1
    for j in range(0, len(places), 4):
        a, b = A[places[j]], A[places[j + 1 if j < last else last]]
        c, d = (
            A[places[j + 2 if j + 1 < last else last]],
            A[places[j + 3 if j + 2 < last else last]],
        )
        r, s = w[j], w[j + 1] if j + 1 <= last else 0.0
        t, u = w[j + 2] if j + 2 <= last else 0.0, w[j + 3] if j + 3 <= last else 0.0
        for i in range(len(out)):
            out[i] += r * a[i] + s * b[i] + t * c[i] + u * d[i]


@compiled(**_options)
def newton_steps(
    loss, A, places, penalty, K, b, L, coefs, samples, terms, state, value, scale, limit
):
    """Steps to the minimum of L(A'W) + 1/2 sum_j penalty_j w_j^2 over the rows of A at ``places``.

    Rows of ``coefs`` are W and scratch; rows of ``samples`` are F, gradient and curvature at W, and
    scratch, as ``L`` and ``terms`` are. ``state`` says what is known:

    MODEL    K and b of a model 1/2 w'Kw - b'w of all rows, at whose minimum to begin
    START    W, and nothing else
    AT_POINT everything at W, where the objective is ``value`` and L the Hessian

    In the first two cases ``value`` is the largest objective that is good enough to begin with.
    Gives up where the optimum is clearly above ``limit``. Returns what came of it, the objective
    and what the last step was to gain:

    DONE     nothing is left to gain, or it is given up
    AT_POINT another matrix is needed at W
    FAILED   the matrix has no factor, or the first point is not good enough
    BEYOND   the loss cannot be evaluated here
    """
    F, g, h, moved = samples[0], samples[1], samples[2], samples[3]
    F_new, g_new, h_new, v = samples[4], samples[5], samples[6], samples[7]
    W, W_new, step, slope = coefs[0], coefs[1], coefs[2], coefs[3]
    q, n = len(places), len(F)
    gain, last, size, begins, is_new = 0.0, np.inf, 1.0, state != AT_POINT, state == AT_POINT
    if state == MODEL:
        for i in range(q):
            W[i] = b[places[i]]
            for j in range(i + 1):
                L[i, j] = K[places[i], places[j]]
    if state != START and not factorise(L):
        return FAILED, value, gain
    if state == MODEL:
        cholesky_solve(L, W)
    if begins:
        for j in range(q):
            W_new[j] = W[j]
        combine_rows(A, places, W, F_new)
    evaluates = begins
    for _ in range(MAX_EVALUATIONS):
        if evaluates:
            if not begins:
                for j in range(q):
                    W_new[j] = W[j] + size * step[j]
                for i in range(n):
                    F_new[i] = F[i] + size * moved[i]
            tried = evaluate(loss, F_new, g_new, h_new, v, terms)
            if np.isnan(tried):
                return BEYOND, value, gain
            for j in range(q):
                tried += 0.5 * penalty[places[j]] * W_new[j] * W_new[j]
            untold = not begins and gain <= GAIN_ROUNDING * scale
            allowed = ROUNDING * scale if untold else -1e-4 * size * gain
            if not tried <= value + allowed:
                if begins or not is_new or untold or size < MIN_STEP_LENGTH:
                    result = FAILED if begins else DONE if is_new else AT_POINT
                    return result, value, gain
                size *= 0.5
                continue
            value = tried
            for j in range(q):
                W[j] = W_new[j]
            for i in range(n):
                F[i], g[i], h[i] = F_new[i], g_new[i], h_new[i]
            if state == START:
                return AT_POINT, value, gain
            if not begins and gain <= (ACCURACY if is_new else ACCURACY_OF_OLD_FACTOR) * scale:
                return DONE, value, gain
            is_new = is_new and begins
            begins = False
        gain = 0.0
        for j in range(q):
            a, total = A[places[j]], 0.0
            for i in range(n):
                total += a[i] * g[i]
            slope[j] = total + penalty[places[j]] * W[j]
            step[j] = -slope[j]
        cholesky_solve(L, step)
        for j in range(q):
            gain -= 0.5 * slope[j] * step[j]
        if value - (MAX_GAIN_RATIO if is_new else MAX_GAIN_RATIO_OF_OLD_FACTOR) * gain > limit:
            return DONE, value, gain
        if not is_new and gain > MAX_GAIN_SHARE * last and gain > ACCURACY_OF_OLD_FACTOR * scale:
            return AT_POINT, value, gain
        combine_rows(A, places, step, moved)
        last, size, evaluates = gain, 1.0, True
        far, longest = MAX_CHANGE, 0.0
        for i in range(n):
            far = 2.0 * abs(F[i]) if 2.0 * abs(F[i]) > far else far
            longest = abs(moved[i]) if abs(moved[i]) > longest else longest
        if longest > far:
            size = far / longest
    return DONE, value, gain
