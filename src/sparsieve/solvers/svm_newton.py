"""Linear support vector machines with squared hinge loss, solved exactly by finite Newton steps.

The problem is min over (w, b) of 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f_i)^2 with the outputs
f = X w + b. Writing w = X' beta, the solution satisfies beta_i = 2 C_i y_i max(0, 1 - y_i f_i),
and the unpenalised intercept adds sum(beta) = 0. On a fixed set of samples inside the margin the
problem is quadratic; a Newton step jumps to its minimum, and once the set no longer changes the
solution is exact (Keerthi and DeCoste 2005, Chapelle 2007). An exact line search on the
piecewise quadratic objective makes every step a descent step.

The linear systems live in the smaller dimension: `GramSide` for few samples, `FeatureSide` for
few features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack


@dataclass(frozen=True)
class SVMResult:
    """A solved support vector machine.

    Attributes
    ----------
    beta : ndarray of shape (n_samples,)
        w = X' beta.
    intercept : float
        b.
    n_iter : int
        Newton steps.
    optimality : float
        Largest violation of beta_i = 2 C_i y_i max(0, 1 - y_i f_i), relative to the largest
        entry of beta.
    """

    beta: np.ndarray
    intercept: float
    n_iter: int
    optimality: float


class Side(Protocol):
    """Where the linear algebra happens."""

    fit_intercept: bool

    def newton(self, active, y, C) -> tuple[np.ndarray, float, np.ndarray]:
        """The minimum over all (w, b) of the loss of the active samples: beta, b, outputs."""


class GramSide:
    """Systems in the active samples, with the n x n matrix X X'."""

    def __init__(self, gram: np.ndarray, fit_intercept: bool):
        self.gram = gram
        self.fit_intercept = fit_intercept

    def newton(self, active, y, C):
        index = np.flatnonzero(active)
        system = self.gram[np.ix_(index, index)]
        system[np.diag_indices_from(system)] += 0.5 / C[index]
        right = np.column_stack([y[index], np.ones(len(index))])
        solved = _solve(system, right)
        intercept = 0.0
        if self.fit_intercept:
            intercept = solved[:, 0].sum() / solved[:, 1].sum()
        beta = np.zeros(len(y))
        beta[index] = solved[:, 0] - intercept * solved[:, 1]
        return beta, intercept, self.gram[:, index] @ beta[index] + intercept


class FeatureSide:
    """Systems in the features, with the dense n x p matrix X."""

    def __init__(self, X: np.ndarray, fit_intercept: bool):
        self.X = X
        self.fit_intercept = fit_intercept

    def newton(self, active, y, C):
        index = np.flatnonzero(active)
        X, target, weights = self.X[index], y[index], 2.0 * C[index]
        centre, mean = np.zeros(X.shape[1]), 0.0
        if self.fit_intercept:  # eliminated exactly by centring with the weights
            centre = weights @ X / weights.sum()
            mean = weights @ target / weights.sum()
            X = X - centre
        system = (X * weights[:, None]).T @ X
        system[np.diag_indices_from(system)] += 1.0
        right = X.T @ (weights * (target - mean))
        w = _solve(system, right)
        intercept = float(mean - centre @ w)
        outputs = self.X @ w + intercept
        beta = np.zeros(len(y))
        beta[index] = weights * (target - outputs[index])
        return beta, intercept, outputs


def solve_svm(
    side: Side, y, C, *, start: SVMResult | None = None, max_iter: int = 100, tol: float = 1e-8
) -> SVMResult:
    """Minimise the squared hinge objective.

    Parameters
    ----------
    side : GramSide or FeatureSide
        The data.
    y : ndarray of shape (n_samples,)
        Labels -1 and 1.
    C : ndarray of shape (n_samples,)
        Weight of the loss of every sample.
    start : SVMResult, optional
        Solution of a similar problem.
    max_iter : int
        Most Newton steps.
    tol : float
        The optimality to reach; usually it is reached to rounding by the last step.
    """
    beta, intercept, outputs = np.zeros(len(y)), 0.0, np.zeros(len(y))
    n_iter = 0
    if start is not None and start.beta.any():
        # The support of a similar problem says more than its outputs, which a small change of
        # the data can push across the margin.
        beta, intercept, outputs = side.newton(start.beta != 0, y, C)
        n_iter = 1
    optimality = _violation(beta, outputs, y, C)
    while optimality > tol and n_iter < max_iter:
        active = y * outputs < 1.0
        if not active.any():
            break  # beta = 0 is refuted by one of the classes, so this is no stationary point
        n_iter += 1
        new_beta, new_intercept, new_outputs = side.newton(active, y, C)
        t = 1.0
        if not np.array_equal(y * new_outputs < 1.0, active):
            t = _line_search(beta, outputs, new_beta - beta, new_outputs - outputs, y, C)
        beta = beta + t * (new_beta - beta)
        outputs = outputs + t * (new_outputs - outputs)
        intercept = intercept + t * (new_intercept - intercept)
        optimality = _violation(beta, outputs, y, C)
    return SVMResult(beta, intercept, n_iter, optimality)


def _solve(system, right) -> np.ndarray:
    """Solve a positive definite system, overwriting it."""
    _, solution, info = lapack.dposv(system.T, right, lower=1, overwrite_a=1)
    if info:
        raise np.linalg.LinAlgError(
            "the Newton system of a support vector machine is singular to rounding; lower C"
        )
    return solution


def _violation(beta, outputs, y, C) -> float:
    wanted = 2.0 * C * y * np.maximum(0.0, 1.0 - y * outputs)
    scale = max(np.abs(beta).max(), np.abs(wanted).max())
    return float(np.abs(beta - wanted).max() / scale) if scale > 0 else 0.0


def _line_search(beta, outputs, direction, change, y, C) -> float:
    """The exact minimum over t > 0 of the objective at beta + t direction.

    Its derivative is A + B t with A and B constant between the values of t where a sample
    crosses its margin; they are found by sorting those values.
    """
    margins, slopes = 1.0 - y * outputs, y * change
    # beta and direction sum to zero when there is an intercept, so it drops out here.
    constant, linear = direction @ outputs, direction @ change
    active = margins > 0
    constant -= 2.0 * (C * slopes * margins)[active].sum()
    linear += 2.0 * (C * slopes**2)[active].sum()
    crossing = np.flatnonzero(np.where(active, slopes > 0, slopes < 0))
    times = margins[crossing] / slopes[crossing]
    order = np.argsort(times, kind="stable")
    crossing, times = crossing[order], times[order]
    leaves = np.where(active[crossing], 1.0, -1.0) * 2.0 * C[crossing] * slopes[crossing]
    constants = constant + np.concatenate([[0.0], np.cumsum(leaves * margins[crossing])])
    linears = linear - np.concatenate([[0.0], np.cumsum(leaves * slopes[crossing])])
    ends = np.append(times, np.inf)
    with np.errstate(invalid="ignore"):
        risen = constants + linears * ends >= 0
    risen[-1] = True
    piece = int(np.argmax(risen))
    if linears[piece] <= 0:
        return 1.0  # only rounding can bring us here: the objective is strictly convex
    return float(max(-constants[piece] / linears[piece], times[piece - 1] if piece else 0.0))
