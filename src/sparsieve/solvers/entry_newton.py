"""Newton's method in the nonzero entries, for the last digits of exclusive l2,1 problems.

Where no entry changes its sign, ||XW - Y||^2 + alpha ||W||_{2,1} + beta sum_j ||w_j||_1^2 is
smooth in the nonzero entries of W. Its Hessian is 2 X'X for every output, restricted to the
features that output uses, plus a small block per row,

    alpha / ||w_j|| (I - w_j w_j' / ||w_j||^2) + 2 beta s_j s_j',   s_j = sign(w_j),

which alone couples the outputs. The Newton equations are solved by conjugate gradients,
preconditioned by a Cholesky factor per output that carries everything but the coupling. A step
ends where it would carry an entry through zero: such entries become zero, and coordinate descent
decides whether they come back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..penalties import ExclusiveL21, row_norms

# Relative accuracy of the Newton equations, and the most conjugate gradient steps spent on them.
FORCING, INNER_STEPS = 0.2, 10
# Where more than this share of the entries is nonzero all outputs share one preconditioner.
CROWDED = 0.5


@dataclass
class _Smooth:
    """The problem on the entries that are nonzero, around a point W."""

    gram: np.ndarray
    correlation: np.ndarray
    alpha: float
    beta: float

    def value(self, W, product) -> float:
        """Objective up to the constant ||Y||^2, with ``product`` = X'X W."""
        fit = float(np.vdot(W, product)) - 2.0 * float(np.vdot(W, self.correlation))
        return fit + ExclusiveL21(self.alpha, self.beta).value(W)

    def gradient(self, W, product, signs):
        norms = row_norms(W)[:, None]
        lengths = np.abs(W).sum(axis=1, keepdims=True)
        gradient = 2.0 * (product - self.correlation)
        gradient += self.alpha * W / norms + 2.0 * self.beta * lengths * signs
        return np.where(signs != 0, gradient, 0.0)

    def direction(self, W, signs, gradient):
        """Solve the Newton equations for -gradient."""
        free = signs != 0
        norms = row_norms(W)[:, None]
        bend = self.alpha / norms
        unit = W / norms
        factorise = _shared if free.mean() > CROWDED else _per_output
        solve = factorise(self.gram, bend[:, 0] + 2.0 * self.beta, free)

        def hessian(V):
            product = 2.0 * (self.gram @ V) + bend * (V - unit * (unit * V).sum(1, keepdims=True))
            product += 2.0 * self.beta * signs * (signs * V).sum(1, keepdims=True)
            return np.where(free, product, 0.0)

        return _conjugate_gradients(hessian, solve, -gradient)


def newton_entries(
    gram: np.ndarray,
    correlation: np.ndarray,
    alpha: float,
    beta: float,
    W: np.ndarray,
    max_steps: int = 1,
) -> np.ndarray:
    """Improve the nonzero entries of W, whose rows are all nonzero, by Newton steps.

    Parameters
    ----------
    gram, correlation : X'X and X'Y of these features.
    alpha, beta : strengths of the penalty.
    W : current rows.
    max_steps : largest number of steps; the method also stops when a step brings nothing.

    Returns
    -------
    W : rows with an objective that is not higher; some entries may have become zero.
    """
    smooth = _Smooth(gram, correlation, alpha, beta)
    rows = np.arange(len(W))
    result = W.copy()
    W = W.copy()
    product = gram @ W
    value = smooth.value(W, product)
    for _ in range(max_steps):
        signs = np.sign(W)
        direction = smooth.direction(W, signs, smooth.gradient(W, product, signs))
        length, accepted = 1.0, False
        while length > 0.02:
            trial = W + length * direction
            trial[trial * signs <= 0] = 0.0
            trial_product = smooth.gram @ trial
            trial_value = smooth.value(trial, trial_product)
            if trial_value < value:
                accepted = True
                break
            length *= 0.4
        if not accepted:
            break
        gained, value = value - trial_value, trial_value
        W, product = trial, trial_product
        kept = W.any(axis=1)
        result[:] = 0.0
        result[rows] = W
        if gained <= 1e-12 * abs(value) or not kept.any():
            break
        if not kept.all():
            rows, W, product = rows[kept], W[kept], product[kept]
            smooth = _Smooth(smooth.gram[np.ix_(kept, kept)], smooth.correlation[kept], alpha, beta)
    return result


def _shared(gram, diagonal, free):
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


def _conjugate_gradients(apply, precondition, target):
    x = np.zeros_like(target)
    residual = target.copy()
    z = precondition(residual)
    direction = z.copy()
    rho = start = float(np.vdot(residual, z))
    for _ in range(INNER_STEPS):
        if rho <= FORCING**2 * start:
            break
        image = apply(direction)
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:
            break
        step = rho / curvature
        x += step * direction
        residual -= step * image
        z = precondition(residual)
        rho, previous = float(np.vdot(residual, z)), rho
        direction *= rho / previous
        direction += z
    return x if x.any() else z
