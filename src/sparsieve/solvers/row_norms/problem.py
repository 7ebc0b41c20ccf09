"""sum_i s_i ||y_i - x_i W - b|| + gamma sum_j ||w_j|| over all features of a design.

The interior-point method works on the columns of a working set, in double precision whatever
the design; the design itself is read once per round, to certify and to find features that
want to enter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...design import DesignMatrix, Scaled
from ...penalties import row_norms
from .interior_point import (
    RowNormProblem,
    constant_column,
    minimise_row_norms,
    relative_gap,
    settle,
    unpenalised_basis,
)

# The working set is solved to this gap only, as long as features outside want in badly: their
# pull exceeds gamma by more than this factor.
ROUGH = 1e-2
EAGER = 1.1
# Features this close to entering come along, those this far from staying are left behind.
CLOSE = 0.9
FAR = 0.7


@dataclass
class RobustFit:
    """Coefficients of an l2,1-loss model and what is known about their quality.

    ``free`` are the coefficients on the free columns of the data, the intercept first. ``dual``
    satisfies the constraints ||dual_i|| <= s_i and F'dual = 0 for the free columns F; ``pulls``
    are ||x_j' dual||, at most gamma where ``optimality`` is a certified gap.
    """

    W: np.ndarray
    free: np.ndarray
    objective: float
    optimality: float
    n_iter: int
    converged: bool
    dual: np.ndarray
    pulls: np.ndarray
    history: list[float] = field(default_factory=list)


@dataclass
class RobustData:
    """An l2,1-loss problem: design, target, weights of the samples' norms, free columns.

    ``covariates`` are unpenalised columns that no limit counts; under the weights they are
    orthogonal to each other and to the intercept and of unit mean square.
    """

    design: DesignMatrix
    Y: np.ndarray
    weights: np.ndarray
    fit_intercept: bool
    covariates: np.ndarray | None = None

    @cached_property
    def free(self) -> np.ndarray:
        """The columns that are not penalised: a constant for the intercept, then covariates."""
        constant = np.ones((len(self.Y), int(self.fit_intercept)))
        return constant if self.covariates is None else np.hstack([constant, self.covariates])

    @cached_property
    def free_basis(self) -> np.ndarray:
        """The same span with an orthonormal basis (without the weights)."""
        if self.covariates is None:
            return constant_column(len(self.Y), self.fit_intercept)
        return unpenalised_basis(self.free)

    def free_coefficients(self, values: np.ndarray) -> np.ndarray:
        """Weighted least squares on the free columns, which are orthogonal."""
        return self.free.T @ (self.weights[:, None] * values) / self.total_weight

    def columns(self, features: np.ndarray) -> np.ndarray:
        """These features as double-precision columns."""
        return self.design.dense_columns(features).astype(np.float64, copy=False)

    @property
    def total_weight(self) -> float:
        """The number of samples, counted with their weights."""
        return float(self.weights.sum())

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean over the samples; positive, so that it can serve as a scale."""
        return max(float(self.weights @ values) / self.total_weight, 1e-300)

    def weighted_design(self) -> DesignMatrix:
        """diag(sqrt(weights)) X."""
        if (self.weights == 1.0).all():
            return self.design
        return Scaled(self.design, row_scale=np.sqrt(self.weights))

    def pulls(self, dual: np.ndarray) -> np.ndarray:
        """||x_j' dual|| of every feature."""
        product = self.design.rmatmul(np.asarray(dual, dtype=self.design.dtype))
        return row_norms(product).astype(np.float64)

    def restricted(self, features: np.ndarray, gamma: float) -> RowNormProblem:
        """The convex problem on a few features."""
        return RowNormProblem(
            self.columns(features),
            self.Y,
            np.full(len(features), float(gamma)),
            self.weights,
            self.free_basis,
        )

    def reference_strength(self) -> float:
        """gamma_max = max_j ||x_j' L|| with L the weighted, normalised rows of Y."""
        norms = row_norms(self.Y)
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.where(norms > 0, self.weights / norms, 0.0)[:, None] * self.Y
        return float(self.pulls(start).max(initial=0.0))


@dataclass
class RowNormRegression:
    """Solve RFS problems on one data set, each started from the last.

    Parameters
    ----------
    data : RobustData
    eligible : mask of the features that may enter.
    tol : relative duality gap to reach.
    max_iter : largest number of interior-point iterations per problem.
    callback : called after every round; True stops.
    """

    data: RobustData
    eligible: np.ndarray
    tol: float = 1e-6
    max_iter: int = 200
    callback: Callable[[dict], bool | None] | None = None
    _features: np.ndarray | None = None
    _rows: np.ndarray | None = None

    def solve(self, gamma: float) -> RobustFit:
        """Solve for one strength."""
        data = self.data
        features, start = self._first_working_set()
        history: list[float] = []
        n_iter = 0
        excess = np.inf
        n_rounds = 0
        while True:
            n_rounds += 1
            outside = self.eligible.copy()
            outside[features] = False
            problem = data.restricted(features, gamma)
            rough = outside.any() and excess > EAGER
            solution = minimise_row_norms(
                problem,
                tol=max(ROUGH, self.tol) if rough else 0.3 * self.tol,
                max_iter=max(self.max_iter - n_iter, 1),
                start=start,
            )
            n_iter += solution.n_iter
            history.extend(solution.history)
            pulls = data.pulls(solution.dual)
            excess = max(1.0, float((pulls[self.eligible] / gamma).max(initial=0.0)))
            bound = solution.bound / excess
            gap = relative_gap(solution.objective, bound)
            stop = self.callback is not None and self.callback(
                {"objective": solution.objective, "optimality": gap, "n_active": len(features)}
            )
            exhausted = not rough and not (outside & (pulls > gamma)).any()
            if gap <= self.tol or exhausted or n_iter >= self.max_iter or stop:
                break
            wanting = np.flatnonzero(outside & (pulls > CLOSE * gamma))
            room = max(100, len(features))
            if len(wanting) > room:
                wanting = wanting[np.argpartition(-pulls[wanting], room - 1)[:room]]
            size = len(features)
            kept = np.arange(size)
            if size + len(wanting) > 0.9 * self.eligible.sum():
                wanting = np.flatnonzero(outside)  # rounds would cost more than the rest of them
            elif rough and n_rounds <= 3:  # later it might only come back
                kept = np.flatnonzero(~solution.vanishing | (pulls[features] > FAR * gamma))
            start = None
            if size:
                entering = np.full(len(wanting), 0.1 * solution.rows[:size].mean())
                start = np.concatenate([solution.rows[kept], entering, solution.rows[size:]])
            features = np.concatenate([features[kept], wanting])
        solution = settle(problem, solution, bound=bound, tol=self.tol)
        gap = relative_gap(solution.objective, bound)
        nonzero = np.flatnonzero(solution.W.any(axis=1))
        size = len(features)
        self._features = features[nonzero]
        self._rows = np.concatenate([solution.rows[nonzero], solution.rows[size:]])
        W = np.zeros((data.design.shape[1], data.Y.shape[1]))
        W[features] = solution.W
        return RobustFit(
            W,
            data.free_coefficients(problem.free @ solution.B),
            solution.objective,
            gap,
            max(n_iter, 1),
            gap <= self.tol,
            solution.dual / excess,
            pulls / excess,
            history,
        )

    def _first_working_set(self):
        if self._features is not None and len(self._features):
            return self._features, self._rows
        data = self.data
        n_samples = data.design.shape[0]
        candidates = np.flatnonzero(self.eligible)
        room = max(n_samples // 8, 200)
        if len(candidates) <= 1.5 * room:
            return candidates, None
        norms = row_norms(data.Y)
        direction = data.Y / np.maximum(norms, 1e-3 * data.mean(norms))[:, None]
        pulls = data.pulls(direction * data.weights[:, None])[candidates]
        return np.sort(candidates[np.argpartition(-pulls, room - 1)[:room]]), None
