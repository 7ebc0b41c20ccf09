"""Compiled loops: coordinate descent for the kernel weights, products with expanded kernels."""

import numpy as np

from ..._numba import VIEWS, compiled


# Sums may be reordered: without that permission they run one number at a time.
@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy", **VIEWS)
def weight_epochs(P, curvature, linear, bound, border, d, bias, residual, n_epochs):
    """Cyclic descent for linear'd + sum_i max(0, r_i)^2 over 0 <= d <= bound and the bias.

    ``residual`` is r = s - P'd - border * bias, and like ``d`` updated in place. Every step uses
    the curvature of the whole row, which bounds that of the hinge: no step can go up. A border of
    zeros holds the bias fixed. ``curvature`` is twice the square of every row's norm.
    """
    n_rows, n_samples = P.shape
    border_curvature = 0.0
    for i in range(n_samples):
        border_curvature += 2.0 * border[i] * border[i]
    for _ in range(n_epochs):
        for j in range(n_rows):
            if curvature[j] <= 0.0:
                continue
            slope = linear[j]
            for i in range(n_samples):
                if residual[i] > 0.0:
                    slope -= 2.0 * residual[i] * P[j, i]
            new = d[j] - slope / curvature[j]
            new = new if new > 0.0 else 0.0
            new = new if new < bound else bound
            change = new - d[j]
            if change != 0.0:
                d[j] = new
                for i in range(n_samples):
                    residual[i] -= change * P[j, i]
        if border_curvature <= 0.0:
            continue
        slope = 0.0
        for i in range(n_samples):
            if residual[i] > 0.0:
                slope -= 2.0 * residual[i] * border[i]
        change = -slope / border_curvature
        bias += change
        for i in range(n_samples):
            residual[i] -= change * border[i]
    return bias


@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy", **VIEWS)
def reduce_weights(P, linear, bound, d, features, basis, inverse, share):
    """Move weights between their bounds, in place, until no more are there than samples.

    P'd stays and linear'd does not rise. Every feature is written as a combination of those before
    it that are left (to nine digits); where that is possible, all move along it until one meets a
    bound. ``basis`` has a place for every sample, all of them -1 at first, ``inverse`` is the
    identity and ``share`` of the same length: scratch space.
    """
    n_samples = P.shape[1]
    for j in features:
        length = 0.0
        for i in range(n_samples):
            length += P[j, i] * P[j, i]
        length = length**0.5
        empty, largest = -1, 1e-9 * length
        slope = linear[j]
        for k in range(n_samples):
            total = 0.0
            for i in range(n_samples):
                total += inverse[k, i] * P[j, i]
            share[k] = total
            if basis[k] >= 0:
                slope -= total * linear[basis[k]]
            elif abs(total) > largest:
                empty, largest = k, abs(total)
        leaving = empty
        if empty < 0:
            sign = 1.0 if slope < 0.0 else -1.0
            longest = bound - d[j] if sign > 0.0 else d[j]
            for k in range(n_samples):
                if basis[k] < 0:
                    continue
                change = -sign * share[k]
                if abs(share[k]) <= 1e-9:
                    continue
                value = d[basis[k]]
                room = (bound - value) / change if change > 0.0 else -value / change
                if room < longest:
                    longest, leaving = room, k
            if longest == np.inf:
                continue
            for k in range(n_samples):
                if basis[k] >= 0:
                    value = d[basis[k]] - longest * sign * share[k]
                    d[basis[k]] = min(max(value, 0.0), bound)
            d[j] = min(max(d[j] + longest * sign, 0.0), bound)
            if leaving < 0:
                d[j] = bound if sign > 0.0 else 0.0
                continue
            d[basis[leaving]] = bound if sign * share[leaving] < 0.0 else 0.0
        basis[leaving] = j
        pivot = share[leaving]
        for i in range(n_samples):
            inverse[leaving, i] /= pivot
        for k in range(n_samples):
            if k != leaving and share[k] != 0.0:
                for i in range(n_samples):
                    inverse[k, i] -= share[k] * inverse[leaving, i]


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
