"""Compiled loops of ReliefF: distances of a tile of samples, nearest samples, weighted sums.

No kernel lets the compiler reorder additions: a distance is the plain sum over the columns from
left to right, so it is the same on every machine and for every number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Distances are compared after rounding to this many steps per unit, so that sums that are equal
# on paper are ties whatever the rounding of their terms.
STEPS_PER_UNIT = 1e9


@njit(cache=True, nogil=True)
def tile_distances(rows, columns, n_numeric, same):
    """Distances between the samples ``rows`` (d, a) and ``columns`` (d, b), given transposed.

    The first ``n_numeric`` features count |u - v|, the others u != v. The inner loop runs over
    the samples of ``columns``: nothing is reduced there, so it vectorises as it stands. When
    both are the ``same`` samples only the upper triangle is computed and then mirrored.
    """
    n_features, n_rows = rows.shape
    distances = np.zeros((n_rows, columns.shape[1]))
    unrolled = n_numeric - n_numeric % 8
    for f in range(0, unrolled, 8):
        for i in range(n_rows):
            first = i if same else 0
            out = distances[i, first:]
            p0, p1, p2, p3 = (
                columns[f, first:],
                columns[f + 1, first:],
                columns[f + 2, first:],
                columns[f + 3, first:],
            )
            p4, p5, p6, p7 = (
                columns[f + 4, first:],
                columns[f + 5, first:],
                columns[f + 6, first:],
                columns[f + 7, first:],
            )
            a0, a1, a2, a3 = rows[f, i], rows[f + 1, i], rows[f + 2, i], rows[f + 3, i]
            a4, a5, a6, a7 = rows[f + 4, i], rows[f + 5, i], rows[f + 6, i], rows[f + 7, i]
            for j in range(len(out)):
                total = ((out[j] + abs(a0 - p0[j])) + abs(a1 - p1[j])) + abs(a2 - p2[j])
                total = ((total + abs(a3 - p3[j])) + abs(a4 - p4[j])) + abs(a5 - p5[j])
                out[j] = (total + abs(a6 - p6[j])) + abs(a7 - p7[j])
    for f in range(unrolled, n_features):
        discrete = f >= n_numeric
        for i in range(n_rows):
            first = i if same else 0
            out, p, a = distances[i, first:], columns[f, first:], rows[f, i]
            for j in range(len(out)):
                gap = abs(a - p[j])
                if discrete and gap > 0.0:
                    gap = 1.0
                out[j] += gap
    if same:
        for i in range(n_rows):
            for j in range(i):
                distances[i, j] = distances[j, i]
    return distances


@njit(cache=True, nogil=True)
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
            key = np.rint(distances[i, j] * STEPS_PER_UNIT)
            if key < keys[slot, group, last] and candidate != samples[i]:
                place = last
                while place > 0 and key < keys[slot, group, place - 1]:
                    keys[slot, group, place] = keys[slot, group, place - 1]
                    nearest[slot, group, place] = nearest[slot, group, place - 1]
                    place -= 1
                keys[slot, group, place] = key
                nearest[slot, group, place] = candidate


@njit(cache=True, nogil=True)
def weighted_differences(block, discrete, starts, partners, weights):
    """Sum over pairs of weight * |u - v| (or u != v) for every column of ``block`` (n, b).

    The pairs of sample i are ``partners[starts[i]:starts[i + 1]]``.
    """
    n_samples, width = block.shape
    total = np.zeros(width)
    for i in range(n_samples):
        own = block[i]
        p = starts[i]
        if not discrete:
            # Four pairs at a time: the running total is read and written once for them.
            while p + 4 <= starts[i + 1]:
                a, b = block[partners[p]], block[partners[p + 1]]
                c, d = block[partners[p + 2]], block[partners[p + 3]]
                wa, wb, wc, wd = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
                for f in range(width):
                    value = own[f]
                    total[f] += (wa * abs(value - a[f]) + wb * abs(value - b[f])) + (
                        wc * abs(value - c[f]) + wd * abs(value - d[f])
                    )
                p += 4
        while p < starts[i + 1]:
            other = block[partners[p]]
            weight = weights[p]
            for f in range(width):
                if discrete:
                    total[f] += weight if own[f] != other[f] else 0.0
                else:
                    total[f] += weight * abs(own[f] - other[f])
            p += 1
    return total


# -- columns with missing values -------------------------------------------------------------


@njit(cache=True, nogil=True)
def expected_differences(values, discrete, groups, n_groups):
    """What to count for a missing value: the table (column, group of the missing one, sample).

    Entry [f, g, j] is the mean of the difference between sample j and the known values of
    column f in group g: with discrete columns 1 - P(value of j | g). Where j is missing as
    well the mean runs over the known values of its group too. A group without any known value
    takes those of all samples.
    """
    n_samples, n_columns = values.shape
    table = np.zeros((n_columns, n_groups, n_samples))
    for f in range(n_columns):
        known = np.zeros(n_groups)
        for i in range(n_samples):
            if not np.isnan(values[i, f]):
                known[groups[i]] += 1.0
                for j in range(n_samples):
                    if not np.isnan(values[j, f]):
                        table[f, groups[i], j] += _difference(
                            values[i, f], values[j, f], discrete[f]
                        )
        everyone = known.sum()
        for j in range(n_samples):
            if not np.isnan(values[j, f]):
                overall = table[f, :, j].sum() / everyone
                for g in range(n_groups):
                    table[f, g, j] = table[f, g, j] / known[g] if known[g] > 0 else overall
        for g in range(n_groups):
            sums = np.zeros(n_groups)
            for j in range(n_samples):
                if not np.isnan(values[j, f]):
                    sums[groups[j]] += table[f, g, j]
            overall = sums.sum() / everyone
            for j in range(n_samples):
                if np.isnan(values[j, f]):
                    h = groups[j]
                    table[f, g, j] = sums[h] / known[h] if known[h] > 0 else overall
    return table


@njit(cache=True, nogil=True)
def _difference(u, v, discrete):
    if discrete:
        return 1.0 if u != v else 0.0
    return abs(u - v)


@njit(cache=True, nogil=True)
def _incomplete_difference(values, discrete, groups, table, f, i, j):
    if np.isnan(values[i, f]):
        return table[f, groups[i], j]
    if np.isnan(values[j, f]):
        return table[f, groups[j], i]
    return _difference(values[i, f], values[j, f], discrete[f])


@njit(cache=True, nogil=True)
def add_incomplete_distances(values, discrete, groups, table, rows, first_column, distances):
    """Add the columns with missing values to the distances of a tile."""
    n_rows, width = distances.shape
    for f in range(values.shape[1]):
        for i in range(n_rows):
            for j in range(width):
                distances[i, j] += _incomplete_difference(
                    values, discrete, groups, table, f, rows[i], first_column + j
                )


@njit(cache=True, nogil=True)
def incomplete_weighted_differences(values, discrete, groups, table, starts, partners, weights):
    """``weighted_differences`` for the columns with missing values."""
    n_samples, n_columns = values.shape
    total = np.zeros(n_columns)
    for f in range(n_columns):
        for i in range(n_samples):
            for p in range(starts[i], starts[i + 1]):
                total[f] += weights[p] * _incomplete_difference(
                    values, discrete, groups, table, f, i, partners[p]
                )
    return total
