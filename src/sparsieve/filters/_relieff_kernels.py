"""Compiled loops of ReliefF: distances of a tile of samples, nearest samples, weighted sums.

No kernel lets the compiler reorder additions: a distance is the plain sum over the columns from
left to right, so it is the same on every machine and for every number of threads.
"""

from __future__ import annotations

import numpy as np

from .._numba import VIEWS, compiled

# Multiplying by this and subtracting again rounds a number to 36 bits (Veltkamp's splitting).
# Distances are compared like that, so that sums that are equal on paper are ties whatever the
# rounding of their terms: a sum of d positive terms is right to about d times 1e-16.
SPLIT = 2.0**17 + 1.0


@compiled(nogil=True, **VIEWS)
def add_distances(rows, columns, n_numeric, same, distances):
    """Add the distances of the samples ``rows`` (d, a) and ``columns`` (d, b), given transposed.

    A feature counts min(|u - v|, 1); the first ``n_numeric`` ones never differ by more than 1
    and are spared the minimum, different values of the others differ by more. The inner loop
    runs over the samples of ``columns``: nothing is reduced there, so it vectorises as it
    stands. When both are the ``same`` samples only the upper triangle is filled. ``distances``
    is handed in: allocating it here would add a third to the time to compile.
    """
    n_features, n_rows = rows.shape
    width = np.uintp(columns.shape[1])  # unsigned, so that no index can count from the end
    unrolled = n_numeric - n_numeric % 4
    for f in range(0, unrolled, 4):
        for i in range(n_rows):
            a, b, c, d = rows[f, i], rows[f + 1, i], rows[f + 2, i], rows[f + 3, i]
            for j in range(np.uintp(i if same else 0), width):
                total = distances[i, j] + abs(a - columns[f, j])
                total += abs(b - columns[f + 1, j])
                total += abs(c - columns[f + 2, j])
                distances[i, j] = total + abs(d - columns[f + 3, j])
    for f in range(unrolled, n_features):
        for i in range(n_rows):
            a = rows[f, i]
            for j in range(np.uintp(i if same else 0), width):
                apart = abs(a - columns[f, j])
                distances[i, j] += apart if apart < 1.0 else 1.0


@compiled(nogil=True, **VIEWS)
def offer(distances, first_slot, samples, first_candidate, groups, keys, nearest):
    """Offer the candidates of a tile to the lists of nearest samples, one list per group.

    Candidates must arrive in sample order: then the strict comparison keeps the earlier sample
    of two at the same distance. ``samples`` names the sample of every row of the tile, which is
    not its own neighbour.
    """
    n_rows, width = distances.shape
    last = keys.shape[2] - 1
    for i in range(n_rows):
        slot = first_slot + i
        for j in range(width):
            candidate = first_candidate + j
            group = groups[candidate]
            shifted = SPLIT * distances[i, j]
            key = shifted - (shifted - distances[i, j])
            if key < keys[slot, group, last] and candidate != samples[i]:
                place = last
                while place > 0 and key < keys[slot, group, place - 1]:
                    keys[slot, group, place] = keys[slot, group, place - 1]
                    nearest[slot, group, place] = nearest[slot, group, place - 1]
                    place -= 1
                keys[slot, group, place] = key
                nearest[slot, group, place] = candidate


@compiled(nogil=True, **VIEWS)
def add_differences(block, discrete, starts, partners, weights, total):
    """Add the sums over pairs of weight * |u - v| (or u != v) to ``total``.

    There is one for every column of ``block`` (n, b). The pairs of sample i are
    ``partners[starts[i]:starts[i + 1]]``.
    """
    n_samples, width = block.shape
    for i in range(n_samples):
        p = starts[i]
        if not discrete:
            # Four pairs at a time: the running total is read and written once for them.
            while p + 4 <= starts[i + 1]:
                a, b, c, d = partners[p], partners[p + 1], partners[p + 2], partners[p + 3]
                wa, wb, wc, wd = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
                for f in range(width):
                    own = block[i, f]
                    total[f] += (wa * abs(own - block[a, f]) + wb * abs(own - block[b, f])) + (
                        wc * abs(own - block[c, f]) + wd * abs(own - block[d, f])
                    )
                p += 4
        while p < starts[i + 1]:
            other, weight = partners[p], weights[p]
            for f in range(width):
                apart = abs(block[i, f] - block[other, f])
                total[f] += weight * (apart if apart < 1.0 else 1.0)
            p += 1
