"""Linear support vector machines with few weights: linear programs solved a few columns at a time.

Every convex step of the l0 SVMs is the same linear program,

    min  sum_j cost_j |w_j| + sum_i C_i xi_i   s.t.  y_i (w'x_i + b) >= 1 - xi_i,  xi >= 0,

possibly with |w_j| <= bound. Features without a cost are free: no bound and no penalty applies to
them. Its dual is max 1'a over 0 <= a <= C, y'a = 0 and
|sum_i a_i y_i x_ij| <= cost_j: a feature outside the program can only help where that last
inequality is violated, which one product X'(a y) tells for all features at once. So the program
holds a few columns, and grows until no feature wants to enter.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...design import DesignMatrix
from ...penalties import Surrogate
from ..base import Callback, Event, Result, relative
from ..engines.dca import DCA

# Violations below this share of a cost are rounding of the linear programs or of the products.
PRICE_TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}
# Ways to solve a linear program, the next ones where the first one fails.
ATTEMPTS = (("highs", True), ("highs-ds", False), ("highs-ipm", True), ("highs-ipm", False))
# A program counts as solved where its gap is within so many times that.
SOLVED = 100.0
# Below this share of the price of all samples an objective is as good as zero.
ZERO_LOSS = 1e-6
# Prices of samples beyond this are blamed where the solver of linear programs gives up.
LARGEST_PRICE = 1e7


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
    costs, prices : ndarray of shape (n_features,) or None
        Costs of the program that was solved, and what its dual offers for every feature:
        |sum_i a_i y_i x_ij|; None where no program was.
    switched : ndarray of int
        Features whose weight is free of charge in the exact-penalty model.
    """

    features: np.ndarray
    weights: np.ndarray
    bias: float
    slack: np.ndarray
    costs: np.ndarray | None = None
    prices: np.ndarray | None = None
    switched: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def dense(self, n_features: int) -> np.ndarray:
        """All weights."""
        full = np.zeros(n_features)
        full[self.features] = self.weights
        return full


@dataclass
class WeightedL1SVM:
    """The linear program above, by column generation.

    Parameters
    ----------
    design : DesignMatrix
    y : ndarray of -1 and 1
    C : ndarray of shape (n_samples,)
        Price of every sample's slack.
    bound : float
        Largest |w_j| of the features that are not ``unpenalised``.
    fit_bias : bool
    unpenalised : ndarray of int
        Features that cost nothing whatever the costs of the others.
    """

    design: DesignMatrix
    y: np.ndarray
    C: np.ndarray
    bound: float = np.inf
    fit_bias: bool = True
    unpenalised: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self):
        self.bounds = np.full(self.design.shape[1], self.bound)
        self.bounds[self.unpenalised] = np.inf
        self._columns: dict[int, np.ndarray] = {}
        # Features of the program, in the order in which they were called in, and their columns.
        self._working = np.empty(0, dtype=np.int64)
        self._held = np.empty((len(self.y), 0))
        self._signed = sparse.csc_array((len(self.y), 0))

    @property
    def least(self) -> float:
        """Objectives below this are as good as zero, and only rounding to compare with."""
        return ZERO_LOSS * float(self.C.sum())

    def origin(self) -> SparsePlane:
        """No features, and the best bias without any."""
        scores = np.zeros(len(self.y))
        bias = central_bias(scores, self.y, self.C) if self.fit_bias else 0.0
        none = np.empty(0, dtype=np.int64)
        return SparsePlane(none, np.empty(0), bias, self._slack(scores, bias))

    def unpenalised_loss(self) -> float:
        """The loss that is left by the bias and the features that cost nothing."""
        if not len(self.unpenalised):
            return self.loss(self.origin())
        columns = self.columns(self.unpenalised)
        none = np.zeros(len(self.unpenalised))
        weights, bias, _ = solve_program(
            columns, self.y, self.C, none, bounds=none + np.inf, fit_bias=self.fit_bias
        )
        return float(self.C @ self._slack(columns @ weights, bias))

    def loss(self, plane: SparsePlane) -> float:
        """sum_i C_i xi_i."""
        return float(self.C @ plane.slack)

    def costs(self, default: float) -> np.ndarray:
        """One cost for all features but those that are not penalised."""
        costs = np.full(self.design.shape[1], default)
        costs[self.unpenalised] = 0.0
        return costs

    def penalised(self, plane: SparsePlane) -> np.ndarray:
        """Mask of the features of a plane whose weights count."""
        return ~np.isin(plane.features, self.unpenalised)

    def solve(self, costs: np.ndarray) -> Result[SparsePlane]:
        """The optimal plane for these costs of the features, over all features.

        Its optimality is the duality gap relative to the objective or, if larger, the excess of
        a feature's price over its cost relative to the largest cost.
        """
        tolerance = PRICE_TOLERANCE[np.dtype(self.design.dtype)]
        self._start(costs)
        trace: list[float] = []
        while True:
            columns = self._held
            weights, bias, alpha = solve_program(
                columns,
                self.y,
                self.C,
                costs[self._working],
                bounds=self.bounds[self._working],
                fit_bias=self.fit_bias,
                signed=self._signed,
            )
            slack = self._slack(columns @ weights, bias)
            trace.append(float(costs[self._working] @ np.abs(weights) + self.C @ slack))
            prices = self._prices(alpha)
            prices[self._working] = np.abs((alpha * self.y) @ columns)  # as the program sees them
            violation = prices - costs
            violation[self._working] = 0.0
            entering = np.flatnonzero(violation > tolerance * np.maximum(costs, costs.max()))
            if not len(entering):
                break
            # Whoever is about to enter comes along: optimal prices are seldom unique, and the next
            # program's would call in a few others, one handful at a time.
            room = max(30, 2 * int((weights != 0).sum()))
            violation[self._working] = -np.inf
            entering = np.argpartition(-violation, min(room, len(violation)) - 1)[:room]
            entering = np.sort(entering[violation[entering] > -np.inf])
            self._call_in(entering)
        excess = np.maximum(prices - costs, 0.0)
        dual = float(alpha.sum())
        bounded = np.isfinite(self.bounds)  # a weight at the bound may be priced above its cost
        dual -= float(self.bounds[bounded] @ excess[bounded])
        excess[bounded] = 0.0
        optimality = max(
            relative(trace[-1] - dual, trace[-1], self.least),
            float(excess.max()) / (float(costs.max()) or float(self.C.sum())),
        )
        used = np.flatnonzero(weights)
        plane = SparsePlane(self._working[used], weights[used], bias, slack, costs, prices)
        solved = optimality <= SOLVED * tolerance
        return Result(plane, trace[-1], optimality, len(trace), solved, trace)

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Dense columns in double precision, read from the design once."""
        missing = [j for j in features.tolist() if j not in self._columns]
        if missing:
            block = self.design.dense_columns(np.array(missing)).astype(np.float64, copy=False)
            self._columns.update(zip(missing, block.T, strict=True))
        if not len(features):
            return np.empty((len(self.y), 0))
        return np.column_stack([self._columns[j] for j in features.tolist()])

    def _start(self, costs: np.ndarray) -> None:
        """Begin with the last program's features, or with those that stand out one by one."""
        free = np.flatnonzero(costs == 0.0)  # free of charge: no price could call them in
        if len(self._working):
            self._call_in(np.setdiff1d(free, self._working))
            return
        size = min(len(costs), max(30, len(self.y)))
        alpha = np.where(self.y > 0, 1.0 / (self.y > 0).sum(), 1.0 / (self.y < 0).sum())
        prices = self._prices(alpha * self.C)
        top = np.argpartition(-prices, size - 1)[:size]
        self._call_in(np.union1d(top, free))

    def _call_in(self, features: np.ndarray) -> None:
        """Let these features take part from now on."""
        if not len(features):
            return
        block = self.design.dense_columns(features).astype(np.float64, copy=False)
        self._working = np.concatenate([self._working, features])
        self._held = np.hstack([self._held, block])
        signed = signed_columns(block, self.y, self.fit_bias)
        self._signed = sparse.hstack([self._signed, signed], format="csc")

    def _prices(self, alpha: np.ndarray) -> np.ndarray:
        signed = (alpha * self.y).astype(self.design.dtype)
        return np.abs(self.design.rmatmul(signed[:, None])[:, 0]).astype(np.float64)

    def _slack(self, scores, bias) -> np.ndarray:
        return np.maximum(0.0, 1.0 - self.y * (scores + bias))


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


@dataclass
class SurrogateProgram:
    """sum_j delta(w_j) + sum_i C_i xi_i as a DC program."""

    svm: WeightedL1SVM
    surrogate: Surrogate

    def value(self, plane: SparsePlane) -> float:
        """The objective."""
        weights = plane.weights[self.svm.penalised(plane)]
        return self.surrogate.total(weights) + self.svm.loss(plane)

    def linearise(self, plane: SparsePlane) -> np.ndarray:
        """Cost of every feature in the next linear program."""
        costs = self.svm.costs(self.surrogate.slope_at_zero)
        counted = self.svm.penalised(plane)
        costs[plane.features[counted]] = self.surrogate.weight(plane.weights[counted])
        return costs

    def solve_convex(self, costs: np.ndarray, plane: SparsePlane) -> SparsePlane:
        """The linear program of these costs."""
        return self.svm.solve(costs).solution


@dataclass
class ExactPenaltyProgram:
    """sum_j u_j + t min(u_j, 1 - u_j) + sum_i C_i xi_i with |w_j| <= B u_j, 0 <= u <= 1.

    The best u for given weights is |w| / B, or 1 where that is cheaper, so a point is the
    weights and the set of features switched to u = 1. A linear program charges (1 + t) / B for
    features that are off and nothing for those that are on. A feature is switched on beyond
    B / 2, where the linearisation of min(u, 1 - u) changes sides, and off again where u = |w| / B
    has become cheaper; neither can raise the objective.
    """

    svm: WeightedL1SVM
    penalty: float

    def value(self, plane: SparsePlane) -> float:
        """The objective."""
        off = self.svm.penalised(plane) & ~np.isin(plane.features, plane.switched)
        charge = (1.0 + self.penalty) / self.svm.bound
        return (
            charge * float(np.abs(plane.weights[off]).sum())
            + len(plane.switched)
            + self.svm.loss(plane)
        )

    def linearise(self, plane: SparsePlane) -> tuple[np.ndarray, np.ndarray]:
        """Cost of every feature in the next linear program, and who is switched on."""
        costs = self.svm.costs((1.0 + self.penalty) / self.svm.bound)
        costs[plane.switched] = 0.0
        return costs, plane.switched

    def solve_convex(self, slope, plane: SparsePlane) -> SparsePlane:
        """The linear program of these costs, and the switches for the next one."""
        costs, switched = slope
        new = self.svm.solve(costs).solution
        size, B = np.abs(new.weights), self.svm.bound
        was_on = np.isin(new.features, switched)
        stays = np.where(was_on, (1.0 + self.penalty) * size >= B, size > 0.5 * B)
        return replace(new, switched=new.features[stays & self.svm.penalised(new)])


def solve_l0_svm(
    program: SurrogateProgram | ExactPenaltyProgram,
    *,
    max_iter: int,
    tol: float,
    callback: Callback | None = None,
) -> Result[SparsePlane]:
    """Run the DC algorithm from zero weights until the point certifies itself.

    The optimality is how far the point is from solving the linear program that it defines
    itself, relative to the objective, or that program's own optimality, if larger. ``costs`` and
    ``prices`` of the solution are those of this program.
    """
    svm = program.svm
    x = svm.origin()
    trace: list[float] = []
    n_iter = 0

    def show(event: Event) -> bool | None:
        here = replace(event, n_iter=n_iter + event.n_iter, n_features=len(event.solution.features))
        return None if callback is None else callback(here)

    while True:
        run = DCA(max_iter=max_iter - n_iter, tol=tol).solve(program, x, show)
        x, n_iter = run.solution, n_iter + run.n_iter
        trace += run.trace
        slope = program.linearise(x)
        costs = slope[0] if isinstance(slope, tuple) else slope
        own = svm.solve(costs)
        here = float(costs[x.features] @ np.abs(x.weights)) + svm.loss(x)
        shortfall = relative(here - own.objective, run.objective, svm.least)
        optimality = max(shortfall, own.optimality)
        # A rise within the accuracy of the linear programs ends the loop like a small decrease.
        converged = optimality <= tol
        if converged or n_iter >= max_iter or not run.converged:
            plane = replace(x, costs=costs, prices=own.solution.prices)
            return Result(plane, run.objective, optimality, n_iter, converged, trace)
