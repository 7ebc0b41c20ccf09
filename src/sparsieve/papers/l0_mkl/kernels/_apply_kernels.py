"""Compiled products with expanded kernel matrices."""

from ...._numba import VIEWS, compiled


# Sums may be reordered: without that permission they run one number at a time.
@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy", **VIEWS)
def apply_expansion(values, features, shift, radius, coefficients, beta, out, rows, basis, sums):
    """Row ``rows[k]`` of ``out`` becomes the kernel matrix of feature k times ``beta``.

    ``basis`` (one row per coefficient, the first of ones) and ``sums`` are scratch space: to
    make them here would take half as long again to compile.
    """
    n_samples = values.shape[1]
    size = coefficients.shape[0]
    for k in range(len(features)):
        m, row = features[k], rows[k]
        if size > 1:
            for i in range(n_samples):
                basis[1, i] = (values[m, i] - shift[m]) / radius
        for p in range(2, size):
            for i in range(n_samples):
                basis[p, i] = 2.0 * basis[1, i] * basis[p - 1, i] - basis[p - 2, i]
        for p in range(size):
            total = 0.0
            for i in range(n_samples):
                total += basis[p, i] * beta[i]
            sums[p] = total
        for i in range(n_samples):
            out[row, i] = 0.0
        for p in range(size):
            weight = 0.0
            for q in range(size):
                weight += coefficients[p, q] * sums[q]
            for i in range(n_samples):
                out[row, i] += weight * basis[p, i]
