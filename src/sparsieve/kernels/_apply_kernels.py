"""Compiled products with expanded kernel matrices."""

import numpy as np
from numba import njit


@njit(cache=True)
def apply_expansion(values, features, shift, radius, coefficients, beta, out):
    """Row m of ``out`` becomes kernel matrix m times ``beta``, for these features."""
    n_samples = values.shape[1]
    size = coefficients.shape[0]
    basis = np.empty((size, n_samples))
    basis[0] = 1.0
    for m in features:
        if size > 1:
            for i in range(n_samples):
                basis[1, i] = (values[m, i] - shift[m]) / radius
        for p in range(2, size):
            for i in range(n_samples):
                basis[p, i] = 2.0 * basis[1, i] * basis[p - 1, i] - basis[p - 2, i]
        out[m] = np.dot(np.dot(coefficients, np.dot(basis, beta)), basis)
