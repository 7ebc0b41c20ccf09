"""Compiled proximal maps of single rows, for coordinate descent."""

import numpy as np
from numba import njit


@njit(cache=True)
def shrink_row(v, p, q, magnitudes, out):
    """Proximal map of p ||w||_2 + q ||w||_1^2 at v, written into ``out``; False if it is zero.

    The solution is (1 - p / ||u||) u with u = sign(v) (|v| - theta)_+, where theta >= 0 is the
    only root of the increasing function h(theta) = theta - 2 q ||u||_1 (1 - p / ||u||_2)_+.
    On a segment between two neighbouring |v_i| the norms of u are explicit in theta, so the
    segment is found from the signs of h at its ends and the root by Newton's method inside it.
    ``magnitudes`` is scratch space of the length of v.
    """
    size = v.shape[0]
    square = 0.0
    for k in range(size):
        square += v[k] * v[k]
    norm = np.sqrt(square)
    if norm <= p or norm == 0.0:
        for k in range(size):
            out[k] = 0.0
        return False
    if q == 0.0:
        factor = 1.0 - p / norm
        for k in range(size):
            out[k] = factor * v[k]
        return True

    for k in range(size):  # insertion sort, largest first: rows are short
        value = abs(v[k])
        place = k
        while place > 0 and magnitudes[place - 1] < value:
            magnitudes[place] = magnitudes[place - 1]
            place -= 1
        magnitudes[place] = value

    total = 0.0
    squares = 0.0
    active = 0
    low = 0.0
    for m in range(1, size + 1):
        total += magnitudes[m - 1]
        squares += magnitudes[m - 1] * magnitudes[m - 1]
        active = m
        low = magnitudes[m] if m < size else 0.0
        l1 = total - m * low
        l2 = np.sqrt(max(squares - 2.0 * total * low + m * low * low, 0.0))
        if l2 > p and low < 2.0 * q * l1 * (1.0 - p / l2):
            break
    if p == 0.0:
        theta = 2.0 * q * total / (1.0 + 2.0 * q * active)
    else:
        high = magnitudes[active - 1]
        theta = low
        for _ in range(100):
            l1 = total - active * theta
            l2 = np.sqrt(max(squares - 2.0 * total * theta + active * theta * theta, 0.0))
            if l2 > p:
                rest = 1.0 - p / l2
                h = theta - 2.0 * q * l1 * rest
                slope = 1.0 + 2.0 * q * (active * rest + p * l1 * l1 / (l2 * l2 * l2))
            else:
                h = theta
                slope = 1.0
            if h > 0.0:
                high = theta
            else:
                low = theta
            step = theta - h / slope
            if not (low < step < high):
                step = 0.5 * (low + high)
            if abs(step - theta) <= 1e-16 * magnitudes[0]:
                theta = step
                break
            theta = step

    square = 0.0
    for k in range(size):
        square += max(abs(v[k]) - theta, 0.0) ** 2
    norm = np.sqrt(square)
    if norm <= p or norm == 0.0:
        for k in range(size):
            out[k] = 0.0
        return False
    factor = 1.0 - p / norm
    for k in range(size):
        out[k] = factor * np.sign(v[k]) * max(abs(v[k]) - theta, 0.0)
    return True


@njit(cache=True)
def shrink_rows(V, p, q, out):
    """The same for every row of V."""
    scratch = np.empty(V.shape[1])
    for j in range(V.shape[0]):
        shrink_row(V[j], p, q, scratch, out[j])
