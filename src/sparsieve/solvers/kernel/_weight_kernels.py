"""Compiled coordinate descent for the kernel weights."""

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
