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

from .base import Callback, Event, Result

# Unpenalised columns can leave no loss, and only rounding of beta; it is then compared with this
# share of 2 C, which is beta at a slack of one.
ZERO_LOSS_TOL = 1e-3
# Likewise where slacks are small beside the margin of one: they are differences of numbers near
# one, and have no more digits than that leaves.
MIN_SLACK = 1e-6
# Differences of objectives below this share of its value at zero are rounding.
OBJECTIVE_ROUNDING = 1e-13
# Linear systems are solved to this share of their solution, with so many corrections at most.
REFINEMENT_TOL = 1e-10
MAX_REFINEMENTS = 2


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
        self.free: np.ndarray = np.ones((n_samples, int(fit_intercept)))
        self.has_covariates = covariates is not None and covariates.shape[1] > 0
        if covariates is not None:
            self.free = np.hstack([self.free, covariates])

    @abstractmethod
    def newton(
        self, active: np.ndarray, y: np.ndarray, C: np.ndarray, near: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """The minimum over all (w, v, b) of the loss of the active samples.

        Where the free columns fit few active samples in several ways, the nearest to ``near`` is
        taken: a step to another one would lose the samples that are fitted already.
        Returns beta, the coefficients of the free columns, the outputs, and how far beta is from
        the equations that the outputs do not show: w = X'beta, and the free columns see none of it.
        """


class GramSide(Side):
    """Systems in the active samples, with the n x n matrix X X'."""

    def __init__(self, gram: np.ndarray, fit_intercept: bool, covariates: np.ndarray | None = None):
        super().__init__(len(gram), fit_intercept, covariates)
        self.gram = gram

    def newton(
        self, active: np.ndarray, y: np.ndarray, C: np.ndarray, near: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        index = np.flatnonzero(active)
        rows = self.gram[:, index]
        system, own = rows[index], 0.5 / C[index]
        system[np.diag_indices_from(system)] += own
        columns = self.free[index]
        factor = _factor(system)
        of_columns = _solve(factor, columns)
        inner = columns.T @ of_columns
        beta, free, outputs = np.zeros(len(y)), near, self.free @ near
        # Where the inner products are large, slacks are small differences of numbers near one:
        # what the first solution leaves of the equations is solved for once more.
        for _ in range(1 + MAX_REFINEMENTS):
            left = y[index] - outputs[index] - own * beta[index]
            if _largest(left) <= REFINEMENT_TOL * _largest(own * beta[index]):
                break
            step = _solve(factor, left)
            move = _least_squares(inner, columns.T @ (step + beta[index]))
            beta[index] += step - of_columns @ move
            free = free + move
            outputs = rows @ beta[index] + self.free @ free
        return beta, free, outputs, _largest_margin(columns, beta[index])


class FeatureSide(Side):
    """Systems in the features, with the dense n x p matrix X."""

    def __init__(self, X: np.ndarray, fit_intercept: bool, covariates: np.ndarray | None = None):
        super().__init__(len(X), fit_intercept, covariates)
        self.X = X

    def newton(
        self, active: np.ndarray, y: np.ndarray, C: np.ndarray, near: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        index = np.flatnonzero(active)
        X, target, weights = self.X[index], y[index], 2.0 * C[index]
        # The free columns are eliminated exactly: what they explain, with the weights, is taken
        # out of X and of the target.
        columns = self.free[index]
        scaled = weights[:, None] * columns
        gram = columns.T @ scaled
        of_X = _least_squares(gram, scaled.T @ X)
        X = X - columns @ of_X
        system = (X * weights[:, None]).T @ X
        system[np.diag_indices_from(system)] += 1.0
        factor = _factor(system)
        w, beta = np.zeros(X.shape[1]), np.zeros(len(y))
        free, outputs = near, self.free @ near
        sizes = max(float(np.abs(X).sum(axis=0).max(initial=0.0)), 1.0)
        for _ in range(1 + MAX_REFINEMENTS):
            left = target - outputs[index]
            move = _least_squares(gram, scaled.T @ left)
            step = _solve(factor, X.T @ (weights * (left - columns @ move)) - w)
            w += step
            free = free + move - of_X @ step
            outputs = self.X @ w + self.free @ free
            beta[index] = weights * (target - outputs[index])
            # Both are zero at the minimum.
            missed = max(
                _largest(X.T @ beta[index] - w) / sizes, _largest_margin(columns, beta[index])
            )
            if missed <= REFINEMENT_TOL * _largest(beta):
                break
        return beta, free, outputs, missed


@dataclass(frozen=True)
class SquaredHinge:
    """The problem above.

    Attributes
    ----------
    side : GramSide or FeatureSide
        The data.
    y : ndarray of shape (n_samples,)
        Labels -1 and 1.
    C : ndarray of shape (n_samples,)
        Weight of the loss of every sample.
    """

    side: Side
    y: np.ndarray
    C: np.ndarray


@dataclass(frozen=True)
class FiniteNewton:
    """Newton steps on the samples inside the margin, with an exact line search.

    The optimality is the largest violation of beta_i = 2 C_i y_i max(0, 1 - y_i f_i), or of what
    else makes a beta optimal, relative to the largest entry of beta. Usually the last step
    reaches it to rounding.
    """

    max_iter: int = 100
    tol: float = 1e-8

    def solve(
        self,
        problem: SquaredHinge,
        start: Result[SampleWeights] | None = None,
        callback: Callback | None = None,
    ) -> Result[SampleWeights]:
        """Run from zero, or from the samples inside the margin of a similar problem."""
        side, y, C = problem.side, problem.y, problem.C
        beta, free, outputs = np.zeros(len(y)), np.zeros(side.free.shape[1]), np.zeros(len(y))
        n_iter, missed = 0, 0.0
        trace: list[float] = []
        floor = (ZERO_LOSS_TOL if side.has_covariates else MIN_SLACK) * 2.0 * float(C.max())
        if start is not None and start.solution.beta.any():
            # The support of a similar problem says more than its outputs, which a small change of
            # the data can push across the margin.
            beta, free, outputs, missed = side.newton(start.solution.beta != 0, y, C, free)
            n_iter = 1
        optimality, objective = _measure(beta, outputs, y, C, floor, missed)
        if n_iter:
            trace.append(objective)
        while optimality > self.tol and n_iter < self.max_iter:
            active = y * outputs < 1.0
            n_iter += 1
            if active.any():
                new_beta, new_free, new_outputs, missed = side.newton(active, y, C, free)
            elif side.has_covariates:  # they may do without the penalised columns altogether
                missed = 0.0
                new_beta, new_free, new_outputs = np.zeros(len(y)), free, side.free @ free
            else:
                break  # beta = 0 is refuted by one of the classes, so this is no stationary point
            t, full = 1.0, _measure(new_beta, new_outputs, y, C, floor, missed)
            # Where the whole step is optimal, or nothing but rounding is left to gain, it is taken.
            gain = abs(full[1] - objective)
            settled = full[0] <= self.tol or gain <= OBJECTIVE_ROUNDING * float(C.sum())
            if not settled and not np.array_equal(y * new_outputs < 1.0, active):
                t = _line_search(beta, outputs, new_beta - beta, new_outputs - outputs, y, C)
            beta = beta + t * (new_beta - beta)
            outputs = outputs + t * (new_outputs - outputs)
            free = free + t * (new_free - free)
            optimality, objective = (
                _measure(beta, outputs, y, C, floor, missed) if t < 1.0 else full
            )
            trace.append(objective)
            if callback is not None and callback(Event(n_iter, objective, optimality)):
                break
        if np.abs(beta).max() <= self.tol * floor:
            beta = np.zeros(len(y))
        plane = SampleWeights(beta, free)
        return Result(
            plane, objective, optimality, n_iter, optimality <= self.tol, trace or [objective]
        )


def _factor(system) -> np.ndarray:
    """The Cholesky factor of a positive definite system, overwriting it."""
    factor, info = lapack.dpotrf(system.T, lower=1, overwrite_a=1)
    if info:
        raise np.linalg.LinAlgError(
            "the Newton system of a support vector machine is numerically singular; lower C"
        )
    return factor


def _solve(factor, right) -> np.ndarray:
    """Solve a system with its factor."""
    return lapack.dpotrs(factor, right, lower=1)[0]


def _largest(values) -> float:
    return float(np.abs(values).max(initial=0.0))


def _largest_margin(columns, beta) -> float:
    """What columns of entries up to one see of beta, at most."""
    sums, sizes = np.abs(columns.T @ beta), np.abs(columns).max(axis=0, initial=0.0)
    return _largest(np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0.0))


def _least_squares(gram, right) -> np.ndarray:
    """Solve consistent normal equations of a few columns; the shortest solution where several."""
    if len(gram) == 1:
        return right / gram[0, 0]
    return np.linalg.lstsq(gram, right, rcond=1e-12)[0]


def _measure(beta, outputs, y: np.ndarray, C: np.ndarray, floor, missed) -> tuple[float, float]:
    """(optimality, objective).

    1/2 ||w||^2 is 1/2 beta'f, because beta is orthogonal to the unpenalised columns.
    """
    slack = np.maximum(0.0, 1.0 - y * outputs)
    losses = C * slack
    target = 2.0 * y * losses
    scale = max(np.abs(beta).max(), np.abs(target).max(), floor)
    optimality = max(float(np.abs(beta - target).max()), missed) / scale if scale > 0 else 0.0
    return optimality, float(0.5 * (beta @ outputs) + losses @ slack)


def _line_search(beta, outputs, direction, change, y: np.ndarray, C: np.ndarray) -> float:
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
