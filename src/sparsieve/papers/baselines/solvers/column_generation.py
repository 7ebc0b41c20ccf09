"""The linear program of sparse support vector machines, on a growing set of columns.

Linear support vector machines with a weighted l1 norm, by column generation.

Every convex step of the l0 SVMs is the same linear program,

    min  sum_j cost_j |w_j| + sum_i C_i xi_i   s.t.  y_i (w'x_i + b) >= 1 - xi_i,  xi >= 0,

possibly with |w_j| <= bound. Features without a cost are free: no bound and no penalty applies to
them. Its dual is max 1'a over 0 <= a <= C, y'a = 0 and
|sum_i a_i y_i x_ij| <= cost_j: a feature outside the program can only help where that last
inequality is violated (its reduced cost is negative), which one product X'(a y) tells for all
features at once. So the program holds a working set of columns, and grows until no feature
violates its inequality.

Columns as linear programs see them: dense, and the same whatever held them.

Which of many one-against-the-rest machines use no feature at all, found for all at once.

With few samples of a class, what a feature saves of the loss seldom pays for it. The machine with
a bias alone is optimal if the dual program has a point of the same value: multipliers C on the
smaller side, and on the larger one multipliers between 0 and C of the same sum such that

    |sum_small C_i x_ij - sum_large a_i x_ij| <= cost_j    for every feature j.

The first try spreads them evenly over the larger side. Where that fails, conditional gradient steps
move them towards samples that are like the smaller side, until the inequalities hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from ....design import DesignMatrix, leading
from ....solvers.base import Callback, Event, Result, relative
from .linear_program import HighsSolver, LinearProgram, signed_columns

# Digits beyond this share of a column's largest entry are left out: sums in another order change
# them, and they would decide which of several optimal vertices a linear program ends in.
COLUMN_RESOLUTION = 2.0**-36


class ColumnStore:
    """Columns of a design, read once; the same numbers for every memory order and format."""

    def __init__(self, design: DesignMatrix):
        self.design = design
        self._held: dict[int, np.ndarray] = {}

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """These columns in double precision, of shape (n_samples, n_features)."""
        missing = [j for j in features.tolist() if j not in self._held]
        if missing:
            block = coarse(self.design.dense_columns(np.array(missing)).astype(np.float64).T)
            self._held.update(zip(missing, block, strict=True))
        if not len(features):
            return np.empty((self.design.shape[0], 0))
        return np.column_stack([self._held[j] for j in features.tolist()])

    def __len__(self) -> int:
        return len(self._held)


def coarse(values: np.ndarray, size: float | None = None) -> np.ndarray:
    """Values (or rows of them) without the digits that depend on the order of sums.

    These are below ``COLUMN_RESOLUTION`` times ``size``, by default the largest of the values. The
    grain is a power of two, so that what is left is exact; where one grain gives way to the next
    is put where round numbers and their roots are not.
    """
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0) if size is None else size
    largest = np.where(np.asarray(largest) > 0, largest, 1.0)
    grain = COLUMN_RESOLUTION * np.exp2(np.floor(np.log2(largest) + 0.3217))
    return np.round(values / grain) * grain


# Reduced costs above minus this share of a cost are rounding of programs or products.
REDUCED_COST_TOL = 1e-8
# Features of the first program, where the samples are not fewer, and of any at least.
INITIAL_COLUMNS = 2000
COLUMNS_PER_ROUND = 30
# Margins (of one) that miss less are met, as far as the linear programs can tell.
MARGIN_TOL = 1e-7
# Below this share of the sum of all C an objective is as good as zero.
ZERO_LOSS_TOL = 1e-6


@dataclass(frozen=True)
class RestrictedColumns:
    """Features of a program in the order in which they entered, with columns and weights."""

    features: np.ndarray
    columns: np.ndarray
    signed: sparse.csr_array
    weights: np.ndarray

    def extend(self, features: np.ndarray, problem: Hinge) -> RestrictedColumns:
        """With these features, of weight zero."""
        if not len(features):
            return self
        block = problem.columns(features)
        signed = signed_columns(block, problem.y, problem.fit_bias)
        return RestrictedColumns(
            np.concatenate([self.features, features]),
            np.hstack([self.columns, block]),
            sparse.hstack([self.signed, signed], format="csr"),
            np.append(self.weights, np.zeros(len(features))),
        )


@dataclass(frozen=True)
class SparsePlane:
    """Weights of a few features and the bias: a point of the linear program.

    Attributes
    ----------
    features, weights : ndarray
        The features with a weight, and their weights.
    bias : float
    slack : ndarray of shape (n_samples,)
        How far every sample is inside its margin.
    costs : ndarray of shape (n_features,) or None
        Costs of the program that was solved; None where no program was.
    switched : ndarray of int
        Features whose weight is free of charge in the exact-penalty model.
    working : RestrictedColumns or None
        Where the next program starts.
    """

    features: np.ndarray
    weights: np.ndarray
    bias: float
    slack: np.ndarray
    costs: np.ndarray | None = None
    switched: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    working: RestrictedColumns | None = None


@dataclass(frozen=True)
class Hinge:
    """The linear program above.

    Attributes
    ----------
    design : DesignMatrix
        In double precision.
    y : ndarray of -1 and 1
    C : ndarray of shape (n_samples,)
        Cost of every sample's slack.
    columns : ColumnStore
        Columns that this and other programs on the same design have read.
    costs : ndarray of shape (n_features,)
        Cost of a unit of |w_j|; see ``uniform_costs``.
    bound : float
        Largest |w_j| of the features that are not ``unpenalised``.
    fit_bias : bool
    unpenalised : ndarray of int
        Features that cost nothing whatever the costs of the others.
    """

    design: DesignMatrix
    y: np.ndarray
    C: np.ndarray
    columns: ColumnStore
    costs: np.ndarray
    bound: float = np.inf
    fit_bias: bool = True
    unpenalised: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @cached_property
    def bounds(self) -> np.ndarray:
        """Largest |w_j| of every feature."""
        bounds = np.full(self.design.shape[1], self.bound)
        bounds[self.unpenalised] = np.inf
        return bounds

    @property
    def zero_loss(self) -> float:
        """Objectives below this are as good as zero, and only rounding to compare with."""
        return ZERO_LOSS_TOL * float(self.C.sum())

    def origin(self) -> SparsePlane:
        """No features, and the best bias without any: that of the larger class, or zero."""
        balance = float(self.C @ self.y) if self.fit_bias else 0.0
        bias = float(np.sign(balance)) if abs(balance) > 1e-9 * float(self.C.sum()) else 0.0
        none = np.empty(0, dtype=np.int64)
        return SparsePlane(none, np.empty(0), bias, np.maximum(0.0, 1.0 - self.y * bias))

    def unpenalised_loss(self) -> float:
        """The loss that is left by the bias and the features that cost nothing."""
        if not len(self.unpenalised):
            return self.loss(self.origin())
        none = np.zeros(len(self.unpenalised))
        columns = self.columns(self.unpenalised)
        free = LinearProgram.from_columns(
            columns, self.y, self.C, none, none + np.inf, self.fit_bias
        )
        return HighsSolver().solve(free).objective

    def loss(self, plane: SparsePlane) -> float:
        """sum_i C_i xi_i."""
        return float(self.C @ plane.slack)

    def missing(self, plane: SparsePlane) -> np.ndarray:
        """C_i y_i xi_i: how much every sample misses of its margin, and on which side.

        Minus half the gradient of the squared loss with respect to the scores. Unlike the dual
        variables of a linear program it belongs to the plane and not to the way it was found.
        """
        slack = np.where(plane.slack > MARGIN_TOL, plane.slack, 0.0)
        return self.C * self.y * slack

    def uniform_costs(self, cost: float) -> np.ndarray:
        """One cost for all features but those that are not penalised."""
        costs = np.full(self.design.shape[1], cost)
        costs[self.unpenalised] = 0.0
        return costs

    def penalty_mask(self, plane: SparsePlane) -> np.ndarray:
        """Mask of the features of a plane whose weights count."""
        return ~np.isin(plane.features, self.unpenalised)

    def dual_sizes(self, alpha: np.ndarray) -> np.ndarray:
        """|sum_i a_i y_i x_ij| of every feature: beyond its cost the reduced cost is negative."""
        return np.abs(self.design.rmatmul((alpha * self.y)[:, None])[:, 0])


@dataclass(frozen=True)
class ColumnGeneration:
    """Linear programs on a working set of columns, until no other has a negative reduced cost.

    The optimality is the duality gap over all features relative to the objective or, if larger,
    the largest negative reduced cost relative to the largest cost.
    """

    tol: float = 100.0 * REDUCED_COST_TOL

    def solve(
        self,
        problem: Hinge,
        start: Result[SparsePlane] | None = None,
        callback: Callback | None = None,
    ) -> Result[SparsePlane]:
        """Begin with the working set of ``start``, or with features that stand out one by one."""
        costs, C = problem.costs, problem.C
        known = None if start is None else start.solution.working
        if start is not None and known is not None:
            assert start.solution.costs is not None
            if np.array_equal(start.solution.costs, costs):
                return start
        working = self._initial(problem, known)
        before = None if known is None else Result(working, np.inf, np.inf, 0, False)
        trace: list[float] = []
        while True:
            features = working.features
            bounds, bias = problem.bounds[features], problem.fit_bias
            columns, signed, charged = working.columns, working.signed, costs[features]
            program = LinearProgram(columns, signed, problem.y, C, charged, bounds, bias)
            found = HighsSolver().solve(program, before)
            plane = found.solution
            working = RestrictedColumns(features, working.columns, working.signed, plane.weights)
            trace.append(found.objective)
            sizes = problem.dual_sizes(plane.alpha)
            sizes[features] = np.abs((plane.alpha * problem.y) @ working.columns)  # to the last bit
            violation = coarse(sizes - costs, float(costs.max()))
            violation[features] = 0.0
            n_used = int(np.count_nonzero(plane.weights))
            stop = callback is not None and callback(
                Event(len(trace), trace[-1], n_features=len(features))
            )
            if stop or not (violation > REDUCED_COST_TOL * np.maximum(costs, costs.max())).any():
                break
            # Those next to a violation come along: optimal dual variables are seldom unique, and
            # those of the next program would ask for a few others, again and again.
            violation[features] = -np.inf
            count = max(COLUMNS_PER_ROUND, 2 * n_used)
            entering = leading(violation, min(count, len(violation) - len(features)))
            working = working.extend(np.sort(entering), problem)
            before = Result(working, np.inf, np.inf, 0, False)
        excess = np.maximum(sizes - costs, 0.0)
        dual = float(plane.alpha.sum())
        bounded = np.isfinite(
            problem.bounds
        )  # at its bound a weight may be worth more than it costs
        dual -= float(problem.bounds[bounded] @ excess[bounded])
        excess[bounded] = 0.0
        optimality = max(
            relative(trace[-1] - dual, trace[-1], problem.zero_loss),
            float(excess.max()) / (float(costs.max()) or float(C.sum())),
        )
        used = np.flatnonzero(plane.weights)
        solution = SparsePlane(
            features[used], plane.weights[used], plane.bias, plane.slack, costs, working=working
        )
        converged = optimality <= self.tol
        return Result(solution, trace[-1], optimality, len(trace), converged, trace)

    @staticmethod
    def _initial(problem: Hinge, working: RestrictedColumns | None) -> RestrictedColumns:
        """The last program's features, or those that stand out one by one; all free ones."""
        y, n_samples = problem.y, len(problem.y)
        free = np.flatnonzero(problem.costs == 0.0)  # their reduced costs are never negative
        if working is not None:
            return working.extend(np.setdiff1d(free, working.features), problem)
        size = min(len(problem.costs), max(COLUMNS_PER_ROUND, min(n_samples, INITIAL_COLUMNS)))
        alpha = np.where(y > 0, 1.0 / (y > 0).sum(), 1.0 / (y < 0).sum())
        sizes = problem.dual_sizes(alpha * problem.C)
        none, columns = np.empty(0, dtype=np.int64), np.empty((n_samples, 0))
        empty = RestrictedColumns(none, columns, sparse.csr_array((n_samples, 0)), np.empty(0))
        return empty.extend(np.union1d(leading(coarse(sizes), size), free), problem)


# Samples of the larger side that may get more than an even share.
MAX_CANDIDATES = 1024
MAX_STEPS = 40  # of the conditional gradient method
# Machines that are looked at together.
MACHINES_PER_BLOCK = 512
# The inequalities must hold with this share of the costs to spare: rounding is far below it.
COST_MARGIN = 1e-9


def without_features(
    design: DesignMatrix,
    codes: np.ndarray,
    C: np.ndarray,
    costs: np.ndarray,
) -> np.ndarray:
    """Mask of the classes whose machine against the rest is proven to need no feature.

    Parameters
    ----------
    design : DesignMatrix
    codes : ndarray of shape (n_samples,)
        Class of every sample.
    C : ndarray of shape (n_samples,)
        Cost of every sample's slack.
    costs : ndarray of shape (n_features,)
        What a unit of weight costs at zero.
    """
    n_classes = int(codes.max()) + 1
    masses = np.bincount(codes, weights=C)
    sums = design.group_sums(codes, n_classes, C)
    small = np.minimum(masses, C.sum() - masses)
    total = sums.sum(axis=0)
    inner = np.where((masses <= C.sum() - masses)[:, None], sums, total - sums)
    evenly = (small / (C.sum() - small))[:, None] * (total - inner)
    limits = (1.0 - COST_MARGIN) * costs
    proven = (np.abs(inner - evenly) <= limits).all(axis=1)
    # Only a class, not all but a class, is so small that few candidates can stand for the rest.
    places = np.linspace(0, len(codes) - 1, min(len(codes), MAX_CANDIDATES)).astype(int)
    affordable = small <= 0.25 * C[places].sum()
    left = np.flatnonzero(~proven & affordable & (masses <= C.sum() - masses))
    if not len(left):
        return proven
    some = design.rows(places)
    rows = some.dense_columns(np.arange(design.shape[1])).astype(np.float64, copy=False)
    for start in range(0, len(left), MACHINES_PER_BLOCK):
        part = left[start : start + MACHINES_PER_BLOCK]
        open_ = codes[places] != part[:, None]
        proven[part] = _is_reachable(
            rows, open_ * C[places], inner[part], evenly[part], small[part], limits
        )
    return proven


def _is_reachable(rows, caps, target, point, mass, limits) -> np.ndarray:
    """Whether a point within ``limits`` of the target is found, for every machine.

    Points are sums of rows with multipliers up to ``caps`` that add up to ``mass``.
    """
    done = np.zeros(len(target), dtype=bool)
    n_taken = min(rows.shape[0], int(np.ceil(mass.max() / caps[caps > 0].min())) + 1)
    here = np.arange(len(target))
    for step in range(MAX_STEPS):
        apart = target[here] - point[here]
        excess = np.sign(apart) * np.maximum(np.abs(apart) - limits, 0.0)
        found = ~excess.any(axis=1)
        done[here[found]] = True
        here, excess = here[~found], excess[~found]
        if not len(here):
            break
        scores = excess @ rows.T
        scores[caps[here] <= 0.0] = -np.inf
        best = np.argpartition(-scores, n_taken - 1, axis=1)[:, :n_taken]
        best = np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1), 1), 1)
        shares = np.take_along_axis(caps[here], best, 1)
        before = np.cumsum(shares, axis=1) - shares
        shares = np.clip(mass[here, None] - before, 0.0, shares)
        corner = np.einsum("kt,ktj->kj", shares, rows[best])
        full = shares.sum(axis=1) >= mass[here] * (1.0 - 1e-12)
        corner[~full] = point[here[~full]]  # no such corner: stay
        length = 2.0 / (step + 3.0)
        point[here] += length * (corner - point[here])
    return done
