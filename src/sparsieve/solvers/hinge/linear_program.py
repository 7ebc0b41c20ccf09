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

from ...design import DesignMatrix, leading
from ...penalties import Surrogate
from ..base import Callback, Event, Result, relative
from ..engines.dca import DCA
from .columns import ColumnStore, coarse
from .restricted import signed_columns, solve_program

# Violations below this share of a cost are rounding of the linear programs or of the products.
PRICE_TOLERANCE = 1e-8
# A program counts as solved where its gap is within so many times that.
SOLVED = 100.0
# Features that the first program holds, where the samples are not fewer.
FIRST_FEATURES = 2000
# Margins that miss less are met, as far as the linear programs can tell.
MET = 1e-7
# Below this share of the price of all samples an objective is as good as zero.
ZERO_LOSS = 1e-6


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
    """

    features: np.ndarray
    weights: np.ndarray
    bias: float
    slack: np.ndarray
    costs: np.ndarray | None = None
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
        In double precision.
    y : ndarray of -1 and 1
    C : ndarray of shape (n_samples,)
        Price of every sample's slack.
    bound : float
        Largest |w_j| of the features that are not ``unpenalised``.
    fit_bias : bool
    unpenalised : ndarray of int
        Features that cost nothing whatever the costs of the others.
    store : ColumnStore, optional
        Columns that other programs on the same design have read.
    """

    design: DesignMatrix
    y: np.ndarray
    C: np.ndarray
    bound: float = np.inf
    fit_bias: bool = True
    unpenalised: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    store: ColumnStore | None = None

    def __post_init__(self):
        self.bounds = np.full(self.design.shape[1], self.bound)
        self.bounds[self.unpenalised] = np.inf
        self.columns = ColumnStore(self.design) if self.store is None else self.store
        # Features of the program, in the order in which they were called in, with their columns and
        # their weights in the last solution.
        self._working = np.empty(0, dtype=np.int64)
        self._held = np.empty((len(self.y), 0))
        self._signed = sparse.csr_array((len(self.y), 0))
        self._weights: np.ndarray | None = None
        self._solved: tuple[np.ndarray, Result[SparsePlane]] | None = None

    @property
    def least(self) -> float:
        """Objectives below this are as good as zero, and only rounding to compare with."""
        return ZERO_LOSS * float(self.C.sum())

    def origin(self) -> SparsePlane:
        """No features, and the best bias without any: that of the larger class, or zero."""
        balance = float(self.C @ self.y) if self.fit_bias else 0.0
        bias = float(np.sign(balance)) if abs(balance) > 1e-9 * float(self.C.sum()) else 0.0
        none = np.empty(0, dtype=np.int64)
        return SparsePlane(none, np.empty(0), bias, self._slack(0.0, bias))

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

    def missing(self, plane: SparsePlane) -> np.ndarray:
        """C_i y_i xi_i: how much every sample misses of its margin, and on which side.

        Minus half the gradient of the squared loss with respect to the scores. Unlike the dual
        variables of a linear program it belongs to the plane and not to the way it was found.
        """
        slack = np.where(plane.slack > MET, plane.slack, 0.0)
        return self.C * self.y * slack

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
        if self._solved is not None and np.array_equal(self._solved[0], costs):
            return self._solved[1]
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
                start=self._weights,
            )
            self._weights = weights
            slack = self._slack(columns @ weights, bias)
            trace.append(float(costs[self._working] @ np.abs(weights) + self.C @ slack))
            prices = self._prices(alpha)
            prices[self._working] = np.abs((alpha * self.y) @ columns)  # as the program sees them
            violation = coarse(prices - costs, float(costs.max()))
            violation[self._working] = 0.0
            if not (violation > PRICE_TOLERANCE * np.maximum(costs, costs.max())).any():
                break
            # Whoever is about to enter comes along: optimal prices are seldom unique, and the next
            # program's would call in a few others, one handful at a time.
            room = max(30, 2 * int((weights != 0).sum()))
            violation[self._working] = -np.inf
            entering = leading(violation, min(room, len(violation) - len(self._working)))
            self._call_in(np.sort(entering))
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
        plane = SparsePlane(self._working[used], weights[used], bias, slack, costs)
        solved = optimality <= SOLVED * PRICE_TOLERANCE
        result = Result(plane, trace[-1], optimality, len(trace), solved, trace)
        self._solved = costs, result
        return result

    def _start(self, costs: np.ndarray) -> None:
        """Begin with the last program's features, or with those that stand out one by one."""
        free = np.flatnonzero(costs == 0.0)  # free of charge: no price could call them in
        if len(self._working):
            self._call_in(np.setdiff1d(free, self._working))
            return
        size = min(len(costs), max(30, min(len(self.y), FIRST_FEATURES)))
        alpha = np.where(self.y > 0, 1.0 / (self.y > 0).sum(), 1.0 / (self.y < 0).sum())
        prices = self._prices(alpha * self.C)
        self._call_in(np.union1d(leading(coarse(prices), size), free))

    def _call_in(self, features: np.ndarray) -> None:
        """Let these features take part from now on."""
        if not len(features):
            return
        block = self.columns(features)
        self._working = np.concatenate([self._working, features])
        self._held = np.hstack([self._held, block])
        signed = signed_columns(block, self.y, self.fit_bias)
        self._signed = sparse.hstack([self._signed, signed], format="csr")
        if self._weights is not None:
            self._weights = np.append(self._weights, np.zeros(len(features)))

    def _prices(self, alpha: np.ndarray) -> np.ndarray:
        return np.abs(self.design.rmatmul((alpha * self.y)[:, None])[:, 0])

    def _slack(self, scores, bias) -> np.ndarray:
        return np.maximum(0.0, 1.0 - self.y * (scores + bias))


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
    itself, relative to the objective, or that program's own optimality, if larger. ``costs`` of the
    solution are those of this program.
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
        hopeless = own.optimality > tol  # the next programs would be solved no better
        if converged or hopeless or n_iter >= max_iter or not run.converged:
            plane = replace(x, costs=costs)
            return Result(plane, run.objective, optimality, n_iter, converged, trace)
