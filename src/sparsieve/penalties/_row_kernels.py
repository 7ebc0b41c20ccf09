"""Compiled proximal maps of single rows, for coordinate descent.

Plain loops over scalars and scratch space handed in: array expressions would be shorter but take
several times as long to compile.
"""

from numba import njit


@njit(cache=True)
def shrink_row(v, p, q, magnitudes):
    """Replace v by the proximal map of p ||w||_2 + q ||w||_1^2 at v.

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
    if q > 0.0 and square > p * p:
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
        high = magnitudes[0]
        low = 0.0
        above = high
        below = 0.0
        for m in range(1, size + 1):
            total += magnitudes[m - 1]
            squares += magnitudes[m - 1] * magnitudes[m - 1]
            active = m
            low = magnitudes[m] if m < size else 0.0
            l1 = total - m * low
            l2 = max(squares - 2.0 * total * low + m * low * low, 0.0) ** 0.5
            below = low
            if l2 > p:
                below -= 2.0 * q * l1 * (1.0 - p / l2)
            if below < 0.0:
                break
            high = low
            above = below
        if active == 1:
            theta = 2.0 * q * (total - p) / (1.0 + 2.0 * q)
        elif p == 0.0:
            theta = 2.0 * q * total / (1.0 + 2.0 * q * active)
        else:
            theta = low - below * (high - low) / (above - below) if below < 0.0 < above else low
            for _ in range(100):
                l1 = total - active * theta
                l2 = max(squares - 2.0 * total * theta + active * theta * theta, 0.0) ** 0.5
                h = theta
                slope = 1.0
                if l2 > p:
                    rest = 1.0 - p / l2
                    h = theta - 2.0 * q * l1 * rest
                    slope = 1.0 + 2.0 * q * (active * rest + p * l1 * l1 / (l2 * l2 * l2))
                if h > 0.0:
                    high = theta
                else:
                    low = theta
                following = theta - h / slope
                if not (low <= following <= high):
                    following = 0.5 * (low + high)
                # The error that is left is of the order of the square of the step.
                settled = abs(following - theta) <= 1e-8 * l2
                theta = following
                if settled:
                    break
        square = 0.0
        for k in range(size):
            rest = max(abs(v[k]) - theta, 0.0)
            square += rest * rest
            v[k] = rest if v[k] > 0.0 else -rest
    norm = square**0.5
    factor = 1.0 - p / norm if norm > p else 0.0
    for k in range(size):
        v[k] *= factor


@njit(cache=True)
def shrink_rows(V, p, q, magnitudes):
    """The same for every row of V."""
    for j in range(V.shape[0]):
        shrink_row(V[j], p, q, magnitudes)
