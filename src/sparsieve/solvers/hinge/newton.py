"""Linear support vector machines with squared hinge loss, solved exactly by finite Newton steps.

The problem is min over (w, v, b) of 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f_i)^2 with the outputs
f = X w + F v + b, where F are unpenalised columns, usually none. Writing w = X' beta, the solution
satisfies beta_i = 2 C_i y_i max(0, 1 - y_i f_i), and the unpenalised columns and intercept add
F'beta = 0 and sum(beta) = 0. On a fixed set of samples inside the margin the
problem is quadratic; a Newton step jumps to its minimum, and once the set no longer changes the
solution is exact (Keerthi and DeCoste 2005, Chapelle 2007). An exact line search on the
piecewise quadratic objective makes every step a descent step.

The linear systems live in the smaller dimension: `GramSide` for few samples, `FeatureSide` for
few features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..base import Result

# Unpenalised columns can leave no loss, and only rounding of beta; it is then compared with this
# share of 2 C, which is beta at a slack of one.
NO_LOSS = 1e-3


@dataclass(frozen=True)
class SampleWeights:
    """A hyperplane as a sum over samples, which is the smaller description in wide data.

    Attributes
    ----------
    beta : ndarray of shape (n_samples,)
        w = X' beta.
    free : ndarray of shape (n_free,)
        Coefficients of the unpenalised columns of the side, the intercept first.
    """

    beta: np.ndarray
    free: np.ndarray


class Side(ABC):
    """Where the linear algebra happens, and the columns that are not penalised."""

    def __init__(self, n_samples: int, fit_intercept: bool, covariates: np.ndarray | None):
        self.free = np.ones((n_samples, int(fit_intercept)))
        self.has_covariates = covariates is not None and covariates.shape[1] > 0
        if covariates is not None:
            self.free = np.hstack([self.free, covariates])

    @abstractmethod
    def newton(self, active, y, C) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The minimum over all (w, v, b) of the loss of the active samples.

        Returns beta, the coefficients of the free columns and the outputs.
        """


class GramSide(Side):
    """Systems in the active samples, with the n x n matrix X X'."""

    def __init__(self, gram: np.ndarray, fit_intercept: bool, covariates=None):
        super().__init__(len(gram), fit_intercept, covariates)
        self.gram = gram

    def newton(self, active, y, C):
        index = np.flatnonzero(active)
        system = self.gram[np.ix_(index, index)]
        system[np.diag_indices_from(system)] += 0.5 / C[index]
        columns = self.free[index]
        solved = _solve(system, np.column_stack([y[index], columns]))
        inner = columns.T @ solved
        free = _least_squares(inner[:, 1:], inner[:, 0])
        beta = np.zeros(len(y))
        beta[index] = solved[:, 0] - solved[:, 1:] @ free
        return beta, free, self.gram[:, index] @ beta[index] + self.free @ free


class FeatureSide(Side):
    """Systems in the features, with the dense n x p matrix X."""

    def __init__(self, X: np.ndarray, fit_intercept: bool, covariates=None):
        super().__init__(len(X), fit_intercept, covariates)
        self.X = X

    def newton(self, active, y, C):
        index = np.flatnonzero(active)
        X, target, weights = self.X[index], y[index], 2.0 * C[index]
        # The free columns are eliminated exactly: what they explain, with the weights, is taken
        # out of X and of the target.
        columns = self.free[index]
        scaled = weights[:, None] * columns
        gram = columns.T @ scaled
        of_X = _least_squares(gram, scaled.T @ X)
        of_target = _least_squares(gram, scaled.T @ target)
        X = X - columns @ of_X
        system = (X * weights[:, None]).T @ X
        system[np.diag_indices_from(system)] += 1.0
        right = X.T @ (weights * (target - columns @ of_target))
        w = _solve(system, right)
        free = of_target - of_X @ w
        outputs = self.X @ w + self.free @ free
        beta = np.zeros(len(y))
        beta[index] = weights * (target - outputs[index])
        return beta, free, outputs


def solve_svm(
    side: Side,
    y: np.ndarray,
    C: np.ndarray,
    *,
    start: SampleWeights | None = None,
    max_iter: int = 100,
    tol: float = 1e-8,
) -> Result[SampleWeights]:
    """Minimise the squared hinge objective.

    The optimality is the largest violation of beta_i = 2 C_i y_i max(0, 1 - y_i f_i), relative
    to the largest entry of beta.

    Parameters
    ----------
    side : GramSide or FeatureSide
        The data.
    y : ndarray of shape (n_samples,)
        Labels -1 and 1.
    C : ndarray of shape (n_samples,)
        Weight of the loss of every sample.
    start : SampleWeights, optional
        Solution of a similar problem.
    max_iter : int
        Most Newton steps.
    tol : float
        The optimality to reach; usually it is reached to rounding by the last step.
    """
    beta, free, outputs = np.zeros(len(y)), np.zeros(side.free.shape[1]), np.zeros(len(y))
    n_iter = 0
    trace: list[float] = []
    floor = NO_LOSS * 2.0 * float(C.max()) if side.has_covariates else 0.0
    if start is not None and start.beta.any():
        # The support of a similar problem says more than its outputs, which a small change of
        # the data can push across the margin.
        beta, free, outputs = side.newton(start.beta != 0, y, C)
        n_iter = 1
    optimality, objective = _measured(beta, outputs, y, C, floor)
    if n_iter:
        trace.append(objective)
    while optimality > tol and n_iter < max_iter:
        active = y * outputs < 1.0
        n_iter += 1
        if active.any():
            new_beta, new_free, new_outputs = side.newton(active, y, C)
        elif side.has_covariates:  # they may do without the penalised columns altogether
            new_beta, new_free, new_outputs = np.zeros(len(y)), free, side.free @ free
        else:
            break  # beta = 0 is refuted by one of the classes, so this is no stationary point
        t = 1.0
        if not np.array_equal(y * new_outputs < 1.0, active):
            t = _line_search(beta, outputs, new_beta - beta, new_outputs - outputs, y, C)
        beta = beta + t * (new_beta - beta)
        outputs = outputs + t * (new_outputs - outputs)
        free = free + t * (new_free - free)
        optimality, objective = _measured(beta, outputs, y, C, floor)
        trace.append(objective)
    if np.abs(beta).max() <= tol * floor:
        beta = np.zeros(len(y))
    plane = SampleWeights(beta, free)
    return Result(plane, objective, optimality, n_iter, optimality <= tol, trace or [objective])


def _solve(system, right) -> np.ndarray:
    """Solve a positive definite system, overwriting it."""
    _, solution, info = lapack.dposv(system.T, right, lower=1, overwrite_a=1)
    if info:
        raise np.linalg.LinAlgError(
            "the Newton system of a support vector machine is singular to rounding; lower C"
        )
    return solution


def _least_squares(gram, right) -> np.ndarray:
    """Solve consistent normal equations of a few columns; the shortest solution where several."""
    if len(gram) == 1:
        return right / gram[0, 0]
    return np.linalg.lstsq(gram, right, rcond=1e-12)[0]


def _measured(beta, outputs, y, C, floor) -> tuple[float, float]:
    """(optimality, objective).

    1/2 ||w||^2 is 1/2 beta'f, because beta is orthogonal to the unpenalised columns.
    """
    slack = np.maximum(0.0, 1.0 - y * outputs)
    pull = C * slack
    wanted = 2.0 * y * pull
    scale = max(np.abs(beta).max(), np.abs(wanted).max(), floor)
    optimality = float(np.abs(beta - wanted).max() / scale) if scale > 0 else 0.0
    return optimality, float(0.5 * (beta @ outputs) + pull @ slack)


def _line_search(beta, outputs, direction, change, y, C) -> float:
    """The exact minimum over t > 0 of the objective at beta + t direction.

    Its derivative is A + B t with A and B constant between the values of t where a sample
    crosses its margin; they are found by sorting those values.
    """
    margins, slopes = 1.0 - y * outputs, y * change
    # beta and direction are orthogonal to the free columns, so these drop out here.
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
