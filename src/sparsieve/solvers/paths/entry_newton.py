"""Newton's method in the nonzero entries, for the last digits of exclusive l2,1 problems.

Where no entry changes its sign, ||XW - Y||^2 + alpha ||W||_{2,1} + beta sum_j ||w_j||_1^2 is
smooth in the nonzero entries of W. Its Hessian is 2 X'X for every output, restricted to the
features that output uses, plus a small block per row,

    alpha / ||w_j|| (I - w_j w_j' / ||w_j||^2) + 2 beta s_j s_j',   s_j = sign(w_j),

which alone couples the outputs. The Newton equations are solved by conjugate gradients,
preconditioned by a Cholesky factor per output that carries everything but the coupling, and by a
factorisation of the whole matrix where such steps do not get to the end. A step
ends where it would carry an entry through zero: such entries become zero, and coordinate descent
decides whether they come back.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ...penalties import ExclusiveL21, row_norms
from ..engines.conjugate_gradients import conjugate_gradients

# Relative accuracy of the Newton equations, and the most conjugate gradient steps spent on them.
CG_FORCING_TERM, CG_MAX_ITER = 0.4, 10
# Where more than this share of the entries is nonzero all outputs share one preconditioner.
DENSE_SHARE = 0.5
# After so many rough steps of little use the equations are solved exactly, if there
# are not too many of them. Copies and near copies of a column need it: how they share is decided
# by beta alone, in the direction of their rows, while all other directions are stiff.
INEXACT_STEPS, DIRECT_MAX_ENTRIES = 5, 3000
# Rows that have just come in may be as short as rounding, many copies of a column at a time. Their
# curvature 1 / ||w_j|| is taken as that of this share of the longest row: more of it would leave
# nothing of beta, and there would be no factor.
SHORT_ROW_SHARE = 1e-6


def newton_entries(
    gram: np.ndarray,
    correlation: np.ndarray,
    alpha: float,
    beta: float,
    W: np.ndarray,
    n_before: int = 0,
) -> np.ndarray:
    """Improve the nonzero entries of W, whose rows are all nonzero, by a Newton step.

    Parameters
    ----------
    gram : X'X of these features.
    correlation : X'Y of these features.
    alpha, beta : strengths of the penalty.
    W : current rows.
    n_before : how many steps before this one were of little use.

    Returns
    -------
    W : rows with an objective that is not higher; some entries may have become zero.
    """
    penalty = ExclusiveL21(alpha, beta)

    def value(V, product) -> float:
        """Objective up to the constant ||Y||^2."""
        return float(np.vdot(V, product - 2.0 * correlation)) + penalty.value(V)

    signs = np.sign(W)
    product = gram @ W
    start = value(W, product)
    gradient = 2.0 * (product - correlation)
    exact = n_before >= INEXACT_STEPS and int(np.count_nonzero(signs)) <= DIRECT_MAX_ENTRIES
    direction = _direction(gram, alpha, beta, W, signs, gradient, exact)
    length = 1.0
    while length > 0.02:
        trial = W + length * direction
        trial[trial * signs <= 0] = 0.0
        if value(trial, gram @ trial) < start:
            return trial
        length *= 0.4
    return W.copy()


def _direction(gram, alpha: float, beta: float, W, signs, loss_gradient, exact: bool):
    """Solve the Newton equations, roughly or exactly."""
    free = signs != 0
    norms = row_norms(W)[:, None]
    bend = alpha / np.maximum(norms, SHORT_ROW_SHARE * norms.max())
    unit = W / norms
    lengths = np.abs(W).sum(axis=1, keepdims=True)
    gradient = np.where(free, loss_gradient + alpha * unit + 2.0 * beta * lengths * signs, 0.0)

    # The small blocks, one per row, which also keep to the free entries.
    blocks = 2.0 * beta * signs[:, :, None] * signs[:, None, :]
    blocks -= (bend * unit)[:, :, None] * unit[:, None, :]
    diagonal = np.arange(W.shape[1])
    blocks[:, diagonal, diagonal] += bend * free
    if exact:
        step = _solve_newton(gram, blocks, free, -gradient)
        if step is not None:
            return step
    twice = 2.0 * free

    def hessian(V):
        product = gram @ V
        product *= twice
        product += np.matmul(blocks, V[:, :, None])[:, :, 0]
        return product

    factorise = _shared_inverse if free.mean() > DENSE_SHARE else _per_output
    solve = factorise(gram, bend[:, 0] + 2.0 * beta, free)
    step = conjugate_gradients(
        hessian, -gradient, solve, tol=CG_FORCING_TERM, max_steps=CG_MAX_ITER
    )
    return step if step.any() else solve(-gradient)


def _solve_newton(gram, blocks, free, right):
    """The Newton equations of few entries by Cholesky; None where rounding leaves no factor."""
    rows, outputs = np.nonzero(free)
    system = np.where(outputs[:, None] == outputs, 2.0 * gram[np.ix_(rows, rows)], 0.0)
    same = rows[:, None] == rows
    place, other = np.nonzero(same)
    system[place, other] += blocks[rows[place], outputs[place], outputs[other]]
    factor, info = lapack.dpotrf(system, lower=1, overwrite_a=1)
    if info:
        return None
    step = np.zeros_like(right)
    step[rows, outputs] = lapack.dpotrs(factor, right[rows, outputs], lower=1)[0]
    return step


def _shared_inverse(gram, diagonal, free):
    """The inverse of 2 X'X + diag(diagonal) for all outputs at once, cut down to free entries."""
    system = 2.0 * gram
    system[np.diag_indices_from(system)] += diagonal
    factor = lapack.dpotrf(system, lower=1, overwrite_a=1)[0]
    inverse = np.tril(lapack.dpotri(factor, lower=1)[0])
    inverse += np.tril(inverse, -1).T

    def solve(V):
        return np.where(free, inverse @ V, 0.0)

    return solve


def _per_output(gram, diagonal, free):
    """The inverse of 2 X'X + diag(diagonal) on the free entries of every output."""
    factors: dict[bytes, tuple] = {}
    for k in range(free.shape[1]):
        used = np.flatnonzero(free[:, k])
        key = used.tobytes()
        if key not in factors:  # outputs that use the same features share a factor
            system = 2.0 * gram[np.ix_(used, used)]
            system[np.diag_indices_from(system)] += diagonal[used]
            factors[key] = used, lapack.dpotrf(system, lower=1, overwrite_a=1)[0], []
        factors[key][2].append(k)

    def solve(V):
        out = np.zeros_like(V)
        for used, factor, outputs in factors.values():
            if len(used):
                block = np.ix_(used, outputs)
                out[block] = lapack.dpotrs(factor, V[block], lower=1)[0]
        return out

    return solve
