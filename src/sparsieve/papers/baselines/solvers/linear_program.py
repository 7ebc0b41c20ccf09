"""The linear program of a support vector machine on a few columns, by HiGHS.

Of many samples it is the dual that is handed over, one row per feature instead of one per sample:

    max  1'a   s.t.  X'(a y) = s,  y'a = 0,  0 <= a <= C,  |s_j| <= cost_j

The weights are the dual variables of these rows. A simplex basis then has the size of the features,
and most samples only move from one of their bounds to the other. Of very many samples few take
part: a sample whose hinge is not near its bend is replaced by the line that it is on, which never
lies above it. So the program of the samples near the margin gives a lower bound, and is exact
once no sample turns out to be on the other side of its bend.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ....solvers.base import Callback, Result, relative

# Methods of HiGHS and whether it presolves; the next ones are tried where the first one fails.
ATTEMPTS = (("highs", True), ("highs-ds", False), ("highs-ipm", True), ("highs-ipm", False))
# Costs of samples beyond this are blamed where HiGHS gives up.
MAX_SAMPLE_COST = 1e7
# Programs of up to twice so many samples, or so many for every feature, are solved as a whole.
MIN_NEAR_SAMPLES = 4000
NEAR_SAMPLES_PER_FEATURE = 40
# The solution on one in so many samples says which ones are near their margins.
SUBSAMPLE = 8
# A margin (of one) is met where no more than this is missing.
MARGIN_TOL = 1e-9
# A feature whose row stays so far below its limits, relative to the largest cost, has no weight.
DUAL_SLACK_TOL = 1e-7
# Where the loss vanishes and the costs nearly do, margins of one have to be met more closely than
# the tolerances of HiGHS let us ask for: it is given margins of this size.
MARGIN_SCALE = 1024.0


@dataclass(frozen=True)
class PrimalDualPlane:
    """A solution of the program on a few columns.

    Attributes
    ----------
    weights : ndarray of shape (n_columns,)
    bias : float
    slack : ndarray of shape (n_samples,)
        How far every sample is inside its margin.
    alpha : ndarray of shape (n_samples,)
        Dual variables of the samples.
    """

    weights: np.ndarray
    bias: float
    slack: np.ndarray
    alpha: np.ndarray


def central_bias(scores: np.ndarray, y: np.ndarray, C: np.ndarray) -> float:
    """The middle of the biases that are optimal for these scores.

    The loss is piecewise linear in the bias, so a whole interval can be optimal; its middle does
    not depend on where a solver happened to stop.
    """
    order = np.argsort(y - scores, kind="stable")  # where each sample's hinge bends
    bends = (y - scores)[order]
    # Every bend adds its C to the slope, which starts at minus the sum of C of the positives.
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


def signed_columns(columns: np.ndarray, y: np.ndarray, fit_bias: bool) -> sparse.csr_array:
    """The columns as they stand in the program, times the labels."""
    return sparse.csr_array((_mostly_zero(columns) if fit_bias else columns) * y[:, None])


@dataclass(frozen=True)
class LinearProgram:
    """min sum_j cost_j |w_j| + sum_i C_i max(0, 1 - y_i (w'x_i + b)) with |w_j| <= bound_j.

    Attributes
    ----------
    columns : ndarray of shape (n_samples, n_columns)
    signed : sparse array of shape (n_samples, n_columns)
        The ``signed_columns``.
    y, C : ndarray of shape (n_samples,)
        Labels -1 and 1, and the cost of every sample's slack.
    costs, bounds : ndarray of shape (n_columns,)
    fit_bias : bool
    """

    columns: np.ndarray
    signed: sparse.csr_array
    y: np.ndarray
    C: np.ndarray
    costs: np.ndarray
    bounds: np.ndarray
    fit_bias: bool = True

    @classmethod
    def from_columns(
        cls,
        columns: np.ndarray,
        y: np.ndarray,
        C: np.ndarray,
        costs: np.ndarray,
        bounds: np.ndarray,
        fit_bias: bool = True,
    ) -> LinearProgram:
        """The program on these columns."""
        signed = signed_columns(columns, y, fit_bias)
        return cls(columns, signed, y, C, costs, bounds, fit_bias)

    def solve_primal(self) -> tuple[np.ndarray, np.ndarray]:
        """(weights, dual variables) of the program as it is, of few samples."""
        n_samples, n_columns = self.signed.shape
        charged = np.flatnonzero(self.costs > 0)
        # Charged weights are split into their two signs; free ones may be negative themselves.
        parts = [self.signed, -self.signed[:, charged], sparse.eye_array(n_samples)]
        cost = [self.costs, self.costs[charged], self.C]
        low = [np.where(self.costs > 0, 0.0, -self.bounds), np.zeros(len(charged) + n_samples)]
        high = [self.bounds, self.bounds[charged], np.full(n_samples, np.inf)]
        if self.fit_bias:
            parts.append(self.y[:, None])
            cost.append(np.zeros(1))
            low.append(np.array([-np.inf]))
            high.append(np.array([np.inf]))
        solution = _solve(
            np.concatenate(cost),
            A_ub=-sparse.hstack([sparse.csc_array(part) for part in parts], format="csc"),
            b_ub=-np.ones(n_samples),
            bounds=np.column_stack([np.concatenate(low), np.concatenate(high)]),
        )
        if solution.x is None:
            raise self._failure(solution.message)
        weights = solution.x[:n_columns].copy()
        weights[charged] -= solution.x[n_columns : n_columns + len(charged)]
        return weights, np.clip(-solution.ineqlin.marginals, 0.0, self.C)

    def solve_whole_dual(self) -> tuple[np.ndarray, np.ndarray]:
        """(weights, dual variables) with the hinges of all samples, which has a solution."""
        found = self.solve_dual(np.arange(len(self.y)))
        assert found is not None
        return found[0], found[2]

    def solve_dual(
        self, near: np.ndarray, beyond: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, np.ndarray] | None:
        """(weights, bias, dual variables) with the hinges of the samples ``near``.

        The samples of the mask ``beyond`` are on the sloping sides of theirs, the others on the
        flat ones. None where the program has no solution, because too few samples take part.
        """
        n_columns = self.signed.shape[1]
        fixed = np.zeros(len(self.y)) if beyond is None else np.where(beyond, self.C, 0.0)
        charged, bounded = np.flatnonzero(self.costs > 0), np.flatnonzero(np.isfinite(self.bounds))
        unit = sparse.eye_array(n_columns, format="csc")
        parts = [self.signed[near].T, -unit[:, charged], -unit[:, bounded], unit[:, bounded]]
        rows = sparse.hstack(parts, format="csc")
        right = -(self.signed.T @ fixed)
        if self.fit_bias:
            ends = np.zeros(rows.shape[1])
            ends[: len(near)] = self.y[near]
            rows = sparse.vstack([rows, sparse.csc_array(ends[None, :])], format="csc")
            right = np.append(right, -float(self.y @ fixed))
        limits = self.costs[charged]
        excess = np.full(2 * len(bounded), np.inf)
        cost = [np.full(len(near), -1.0), np.zeros(len(charged)), np.tile(self.bounds[bounded], 2)]
        low = [np.zeros(len(near)), -limits, np.zeros(len(excess))]
        solution = _solve(
            MARGIN_SCALE * np.concatenate(cost),
            A_eq=rows,
            b_eq=right,
            bounds=np.column_stack(
                [np.concatenate(low), np.concatenate([self.C[near], limits, excess])]
            ),
            attempts=ATTEMPTS[: None if len(near) == len(self.y) else 1],
        )
        if solution.x is None:
            if len(near) < len(self.y):
                return None
            raise self._failure(solution.message)
        duals = -np.asarray(solution.eqlin.marginals) / MARGIN_SCALE
        weights = np.clip(duals[:n_columns], -self.bounds, self.bounds)
        reached = np.abs(solution.x[len(near) : len(near) + len(charged)])
        weights[charged[limits - reached > DUAL_SLACK_TOL * limits.max(initial=0.0)]] = 0.0
        fixed[near] = np.clip(solution.x[: len(near)], 0.0, self.C[near])
        return weights, float(duals[-1]) if self.fit_bias else 0.0, fixed

    def part(self, size: int) -> LinearProgram:
        """The program of about so many of the samples, evenly out of either class."""
        rows, shares = [], []
        for label in (-1.0, 1.0):
            members = np.flatnonzero(self.y == label)
            places = np.linspace(0, len(members) - 1, min(len(members), size // 2))
            rows.append(members[places.astype(int)])
            shares.append(np.full(len(places), self.C[members].sum() / self.C[rows[-1]].sum()))
        some = np.concatenate(rows)
        return replace(
            self,
            columns=self.columns[some],
            signed=self.signed[some],
            y=self.y[some],
            C=self.C[some] * np.concatenate(shares),
        )

    def _failure(self, message: str) -> Exception:
        n_samples, n_columns = self.signed.shape
        if self.C.max() > MAX_SAMPLE_COST:
            return ValueError(
                f"the linear program was not solved, because C times sample_weight reaches "
                f"{self.C.max():.3g}; lower C or scale the weights down"
            )
        return RuntimeError(
            f"the linear program on {n_samples} samples and {n_columns} features was not solved "
            f"({message}); use standardize=True, or a smaller C or theta"
        )


@dataclass(frozen=True)
class HighsSolver:
    """The simplex method of HiGHS, on the primal or the dual program.

    The optimality is the duality gap relative to the objective, bounds aside.
    """

    tol: float = 1e-6

    def solve(
        self,
        problem: LinearProgram,
        start: Result[Any] | None = None,
        callback: Callback | None = None,
    ) -> Result[PrimalDualPlane]:
        """Solve in one go; the start says which of very many samples are near their margins."""
        columns, y, C = problem.columns, problem.y, problem.C
        n_near = max(MIN_NEAR_SAMPLES, NEAR_SAMPLES_PER_FEATURE * columns.shape[1])
        if len(y) < 2 * columns.shape[1]:
            weights, alpha = problem.solve_primal()
        elif len(y) <= 2 * n_near:
            weights, alpha = problem.solve_whole_dual()
        else:
            near = None if start is None else start.solution.weights
            weights, alpha = _by_few_samples(problem, n_near, near)
        # Weights that move no score visibly are rounding of the dual variables.
        size = np.abs(columns).max(axis=0, initial=0.0)
        weights[np.abs(weights) * size <= MARGIN_TOL] = 0.0
        scores = columns @ weights
        bias = central_bias(scores, y, C) if problem.fit_bias else 0.0
        slack = np.maximum(0.0, 1.0 - y * (scores + bias))
        objective = float(problem.costs @ np.abs(weights) + C @ slack)
        gap = relative(objective - float(alpha.sum()), objective)
        plane = PrimalDualPlane(weights, bias, slack, alpha)
        return Result(plane, objective, gap, 1, gap <= self.tol, [objective])


def _by_few_samples(
    program: LinearProgram, n_near: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """(weights, dual variables), with the hinges of few samples at a time, near ``weights``."""
    if weights is None:
        part = program.part(len(program.y) // SUBSAMPLE)
        few = len(part.y) <= 2 * n_near
        weights = part.solve_whole_dual()[0] if few else _by_few_samples(part, n_near, None)[0]
    scores = program.y * (program.signed @ weights)
    bias = central_bias(scores, program.y, program.C) if program.fit_bias else 0.0
    missing = 1.0 - program.y * (scores + bias)
    near, beyond = np.zeros(len(missing), dtype=bool), missing > 0
    while True:
        near[_smallest(np.abs(missing), n_near)] = True
        solved = program.solve_dual(np.flatnonzero(near), beyond & ~near)
        if solved is None:
            n_near *= 2
            continue
        weights, bias, alpha = solved
        missing = 1.0 - program.signed @ weights - bias * program.y
        crossed = ~near & np.where(beyond, missing < -MARGIN_TOL, missing > MARGIN_TOL)
        if not crossed.any():
            return weights, alpha
        if np.count_nonzero(crossed) > n_near:
            # The start was far away: begin again from here, with more samples.
            near[:], beyond, n_near = False, missing > 0, 2 * n_near
        near |= crossed


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Where the smallest ``count`` values are."""
    count = min(count, len(values))
    return np.argpartition(values, count - 1)[:count]


def _solve(cost, *, attempts=ATTEMPTS, **program):
    """The first answer of HiGHS; this program has one, whatever the first attempts say.

    Presolve and the simplex method may take costs of very different size for an
    unbounded or infeasible program.
    """
    solution = None
    for method, presolve in attempts:
        solution = linprog(cost, method=method, options={"presolve": presolve}, **program)
        if solution.x is not None:
            break
    return solution
