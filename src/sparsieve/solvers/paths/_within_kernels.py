"""Inner products of sparse columns within groups."""

from ..._numba import VIEWS, compiled


@compiled(**VIEWS, nogil=True)
def products_within(ends, samples, values, index, spread, found):
    """Write the products of the columns in every row of ``index`` into ``found``.

    ``spread`` is one number per sample, all zero before and after.
    """
    for g in range(index.shape[0]):
        for a in range(index.shape[1]):
            first, last = ends[index[g, a]], ends[index[g, a] + 1]
            for p in range(first, last):
                spread[samples[p]] = values[p]
            for b in range(a + 1):
                total = 0.0
                for p in range(ends[index[g, b]], ends[index[g, b] + 1]):
                    total += values[p] * spread[samples[p]]
                found[g, a, b] = total
                found[g, b, a] = total
            for p in range(first, last):
                spread[samples[p]] = 0.0
