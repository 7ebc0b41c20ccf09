"""Compiled proximal maps of single rows, for coordinate descent.

A penalty psi(w_j) on rows has a class of named tuples with its strengths, an instance of which is
its ``rows``, and two functions that are registered for it: ``shrink`` and ``price``.

Plain loops over scalars: array expressions would be shorter but take several times as long to
compile. So does ``max``, which compiles a loop over its arguments.
"""

from functools import singledispatch
from math import sqrt

from .._numba import PART, VIEWS, compiled, register_kind
from .convex import SoftRows


@singledispatch
def shrink(rows, v, w, curvature, half):
    """Do to a row what psi does to it, and return the square of the norm that is left.

    The row minimises curvature / 2 ||u||^2 - v'u + half ||u|| + psi(u) / 2. ``v`` is replaced by
    what stands for it when psi is gone; ``w`` is the row as it was, a guess.
    """
    raise NotImplementedError(f"nothing is registered for {rows!r}")


@singledispatch
def price(rows, w):
    """Half of psi at a row."""
    raise NotImplementedError(f"nothing is registered for {rows!r}")


@register_kind(shrink, SoftRows)
def shorten(rows, v, w, curvature, half):
    """Shorten a row by ``rows.half``."""
    square = 0.0
    for k in range(v.shape[0]):
        square += v[k] * v[k]
    norm = sqrt(square)
    factor = 1.0 - rows.half / norm if norm > rows.half else 0.0
    for k in range(v.shape[0]):
        v[k] *= factor
    return square * factor * factor


@register_kind(price, SoftRows)
def price_of_norm(rows, w):
    """The norm times ``rows.half``."""
    square = 0.0
    for k in range(w.shape[0]):
        square += w[k] * w[k]
    return rows.half * sqrt(square)


@compiled(**PART, **VIEWS)
def soften_jointly(v, high, p, q, theta):
    """Take from every magnitude what the proximal map of p ||w||_2 + q / 2 ||w||_1^2 takes.

    The level theta taken is the only root of h(theta) = theta - q ||u||_1 (1 - p / ||u||_2)_+
    with u = (|v| - theta)_+. h increases and is smooth between neighbouring |v_i|, so Newton's
    method, kept inside a bracket, needs few steps, and fewest from a good guess ``theta``. ``high``
    is ||v||, which has to exceed p. Returns the square of the norm left.
    """
    low = 0.0
    if theta > high:
        theta = low
    settled = -1  # entries that were left at the last step, where that was tiny
    for _ in range(100):
        count = 0
        l1 = 0.0
        square = 0.0
        for k in range(v.shape[0]):
            rest = abs(v[k]) - theta
            if rest > 0.0:
                count += 1
                l1 += rest
                square += rest * rest
        if count == settled:
            break
        norm = sqrt(square)
        h = theta
        slope = 1.0
        if norm > p:
            part = p / norm
            h -= q * l1 * (1.0 - part)
            slope += q * (count * (1.0 - part) + part * l1 * l1 / square)
        if h > 0.0:
            high = theta
        else:
            low = theta
        following = theta - h / slope
        if not (low <= following <= high):
            following = 0.5 * (low + high)
        # The error left by a tiny step is of the order of its square, unless it met a kink.
        settled = count if abs(following - theta) <= 1e-8 * norm else -1
        theta = following
    square = 0.0
    for k in range(v.shape[0]):
        x = v[k]
        if x > theta:
            x -= theta
        elif x < -theta:
            x += theta
        else:
            x = 0.0
        v[k] = x
        square += x * x
    return square


@compiled(**VIEWS)
def shrink_row(v, p, q, guess):
    """Replace v by the proximal map of p ||w||_2 + q ||w||_1^2 at v.

    The solution is (1 - p / ||u||) u with u = sign(v) (|v| - theta)_+, where theta = 2 q ||w||_1.
    ``guess`` is a guess at theta.
    """
    square = 0.0
    for k in range(v.shape[0]):
        square += v[k] * v[k]
    norm = sqrt(square)
    if q > 0.0 and norm > p:
        norm = sqrt(soften_jointly(v, norm, p, 2.0 * q, guess))
    factor = 1.0 - p / norm if norm > p else 0.0
    for k in range(v.shape[0]):
        v[k] *= factor


@compiled(**VIEWS)
def shrink_rows(V, p, q):
    """The same for every row of V."""
    for j in range(V.shape[0]):
        shrink_row(V[j], p, q, 0.0)
