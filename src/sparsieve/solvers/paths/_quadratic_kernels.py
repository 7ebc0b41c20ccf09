"""Compiled block coordinate descent on a quadratic model with a norm per block."""

from math import sqrt

from ..._numba import VIEWS, compiled


@compiled(**VIEWS)
def sweeps(A, w, gradient, starts, bounds, costs, n_sweeps, v):
    """Minimise g'w + w'Aw / 2 + sum_b costs_b ||w_b|| over one block after the other.

    ``gradient`` is that of the quadratic part and kept up to date with ``w``; block b has the
    places ``starts[b]`` to ``starts[b + 1]``, and ``bounds[b]`` is at least the largest eigenvalue
    of its part of A: the block moves to the minimiser of the model that this bound gives, which is
    the minimiser itself for a single place. Only the first and the last sweep look at blocks
    at zero, and sweeps end early where nothing moves. ``v`` is scratch space of the size of the
    largest block.
    """
    for sweep in range(n_sweeps):
        everything = sweep == 0 or sweep == n_sweeps - 1
        moved = False
        for b in range(len(costs)):
            bound, cost = bounds[b], costs[b]
            first, last = starts[b], starts[b + 1]
            if bound <= 0.0:
                continue
            square, size = 0.0, 0.0
            for i in range(first, last):
                size += w[i] * w[i]
            if size == 0.0 and not everything:
                continue
            for i in range(first, last):
                z = bound * w[i] - gradient[i]
                v[i - first] = z
                square += z * z
            if size == 0.0 and square <= cost * cost:
                continue
            norm = sqrt(square)
            factor = 0.0
            if norm > cost:
                factor = (1.0 - cost / norm) / bound
            for i in range(first, last):
                delta = factor * v[i - first] - w[i]
                if delta != 0.0:
                    w[i] += delta
                    moved = True
                    for j in range(len(w)):
                        gradient[j] += delta * A[i, j]
        if not moved:
            break


@compiled(**VIEWS)
def sweeps_of_rows(A, W, gradient, starts, bounds, costs, n_sweeps, V):
    """The same for blocks of rows of W, where A is the same for every column."""
    n_rows, n_outputs = W.shape
    for sweep in range(n_sweeps):
        everything = sweep == 0 or sweep == n_sweeps - 1
        moved = False
        for b in range(len(costs)):
            bound, cost = bounds[b], costs[b]
            first, last = starts[b], starts[b + 1]
            if bound <= 0.0:
                continue
            square, size = 0.0, 0.0
            for i in range(first, last):
                for k in range(n_outputs):
                    size += W[i, k] * W[i, k]
            if size == 0.0 and not everything:
                continue
            for i in range(first, last):
                for k in range(n_outputs):
                    z = bound * W[i, k] - gradient[i, k]
                    V[i - first, k] = z
                    square += z * z
            if size == 0.0 and square <= cost * cost:
                continue
            norm = sqrt(square)
            factor = 0.0
            if norm > cost:
                factor = (1.0 - cost / norm) / bound
            for i in range(first, last):
                for k in range(n_outputs):
                    delta = factor * V[i - first, k] - W[i, k]
                    V[i - first, k] = delta
                    W[i, k] += delta
                    if delta != 0.0:
                        moved = True
            for i in range(first, last):
                for j in range(n_rows):
                    a = A[i, j]
                    for k in range(n_outputs):
                        gradient[j, k] += a * V[i - first, k]
        if not moved:
            break
