"""The linear program of a support vector machine on a few columns, by HiGHS."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

# Ways to solve a linear program, the next ones where the first one fails.
ATTEMPTS = (("highs", True), ("highs-ds", False), ("highs-ipm", True), ("highs-ipm", False))
# Prices of samples beyond this are blamed where the solver of linear programs gives up.
LARGEST_PRICE = 1e7


def central_bias(scores, y, C) -> float:
    """The middle of the biases that are optimal for these scores.

    The loss is piecewise linear in the bias, so a whole interval can be optimal; its middle does
    not depend on where a solver happened to stop.
    """
    order = np.argsort(y - scores, kind="stable")  # where each sample's hinge bends
    bends = (y - scores)[order]
    # Every bend adds its price to the slope, which starts at minus the price of the positives.
    slopes = np.cumsum(C[order]) - C[y > 0].sum()
    flat = 1e-9 * C.sum()
    first = int(np.argmax(slopes >= -flat))
    last = first + 1 if slopes[first] <= flat and first + 1 < len(bends) else first
    return float(0.5 * (bends[first] + bends[last]))


def _mostly_zero(columns: np.ndarray) -> np.ndarray:
    """Columns moved so that most entries are zero, where most of their entries are equal.

    Centred counts are such columns. A free bias takes every shift, so the program stays the same,
    and sparse ones are solved many times faster.
    """
    if not columns.size:
        return columns
    middle = np.median(columns[: 2 * (len(columns) // 2) - 1], axis=0)  # one of the entries
    shifted = columns - middle
    sparse_enough = np.count_nonzero(shifted, axis=0) < 0.5 * len(columns)
    return np.where(sparse_enough, shifted, columns)


def signed_columns(columns: np.ndarray, y: np.ndarray, fit_bias: bool) -> sparse.csc_array:
    """The columns as they stand in the program, times the labels."""
    return sparse.csc_array((_mostly_zero(columns) if fit_bias else columns) * y[:, None])


def solve_program(columns, y, C, costs, *, bounds, fit_bias=True, signed=None):
    """The linear program on these columns: (weights, bias, dual variables of the samples).

    ``signed`` are the ``signed_columns``, where they are at hand.
    """
    n_samples, n_columns = columns.shape
    if signed is None:
        signed = signed_columns(columns, y, fit_bias)
    charged = costs > 0
    # Charged weights are split into their two signs; free ones may be negative themselves.
    parts = [signed, -signed[:, np.flatnonzero(charged)], sparse.identity(n_samples)]
    price = [costs, costs[charged], C]
    low = [np.where(charged, 0.0, -bounds), np.zeros(int(charged.sum()) + n_samples)]
    high = [bounds, bounds[charged], np.full(n_samples, np.inf)]
    if fit_bias:
        parts.append(y[:, None])
        price.append(np.zeros(1))
        low.append(np.array([-np.inf]))
        high.append(np.array([np.inf]))
    solution = _solved(
        np.concatenate(price),
        A_ub=-sparse.hstack([sparse.csc_array(part) for part in parts], format="csc"),
        b_ub=-np.ones(n_samples),
        bounds=np.column_stack([np.concatenate(low), np.concatenate(high)]),
    )
    if solution.x is None:
        if C.max() > LARGEST_PRICE:
            raise ValueError(
                f"the linear program was not solved, because C times sample_weight reaches "
                f"{C.max():.3g}; lower C or scale the weights down"
            )
        raise RuntimeError(
            f"the linear program on {n_samples} samples and {n_columns} features was not solved "
            f"({solution.message}); use standardize=True, or a smaller C or theta"
        )
    weights = solution.x[:n_columns].copy()
    weights[charged] -= solution.x[n_columns : n_columns + int(charged.sum())]
    bias = central_bias(columns @ weights, y, C) if fit_bias else 0.0
    return weights, bias, np.clip(-solution.ineqlin.marginals, 0.0, C)


def _solved(price, **program):
    """The first answer of HiGHS; this program has one, whatever the first attempts say.

    Presolve and the simplex method may take costs and prices of very different size for an
    unbounded or infeasible program.
    """
    solution = None
    for method, presolve in ATTEMPTS:
        solution = linprog(price, method=method, options={"presolve": presolve}, **program)
        if solution.x is not None:
            break
    return solution
