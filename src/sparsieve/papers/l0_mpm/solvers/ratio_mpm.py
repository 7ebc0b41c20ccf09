"""The machine that holds the l1 norm of the weights against the worst-case accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....solvers.base import Callback, Event, Result
from .column_generation import (
    CONE_TOL_LOOSE,
    CONE_TOL_TIGHT,
    GAP_TARGET_SHARE,
    INITIAL_COLUMNS,
    MAX_ROUNDS,
    ConeFailure,
    Round,
    entering_keys,
    exchange_columns,
    final_weights,
    monotone_trace,
    noise,
    quotient,
    with_ridge,
)
from .cones import Columns, PrimalDual, solve_ratio
from .moments import TwoClassMoments
from .mpm import newton_polish
from .problem import Hyperplane, Minimax, balanced_plane, class_norms

TIGHTEN_GAP = 1e-2  # relative gap below which the support is likely known
# The objective counts spreads per distance: below this it is as good as zero.
ZERO_RATIO = 1e-4


@dataclass(frozen=True)
class SMPM:
    """Column generation. Minimises N_1(w) + N_2(w) s.t. D'w - alpha'|w| >= 1, alpha the costs.

    Features without cost are always in the working set. The optimality is a certified relative
    gap to the optimum over all features.
    """

    tol: float = 1e-6
    max_iter: int = MAX_ROUNDS

    def solve(
        self,
        problem: Minimax,
        start: Result[Hyperplane] | None = None,
        callback: Callback | None = None,
    ) -> Result[Hyperplane]:
        """Begin with the features whose means differ the most, and with those of ``start``."""
        moments, alpha = problem.moments, problem.costs
        if without_spread(moments):
            return best_single_feature(moments, alpha)
        difference = moments.difference
        best = np.argsort(-np.abs(difference), kind="stable")[:INITIAL_COLUMNS]
        free = np.flatnonzero(alpha == 0.0) if alpha.any() else ()
        keys = 2 * best + (difference[best] < 0.0)
        if start is not None:
            support = start.solution.support
            keys = np.append(keys, 2 * support + (start.solution.weights[support] < 0.0))
        columns = Columns.from_keys(keys, free)
        trace: list[float] = []
        accuracy, lowest = CONE_TOL_LOOSE, np.inf
        target = max(GAP_TARGET_SHARE * self.tol, noise(moments))
        for _ in range(self.max_iter):
            answer = solve_ratio(moments, columns, alpha, accuracy)
            if answer is None:
                raise ConeFailure
            trace.append(answer.value)
            reduced, tightness, gap = self._judge(problem, answer, columns)
            entering = entering_keys(reduced, tightness, columns)
            this = Round(answer, columns, reduced, tightness, gap, entering, accuracy)
            event = Event(len(trace), answer.value, gap, len(columns))
            if callback is not None and callback(event):
                break
            if gap > target and len(entering):
                # Columns leave only while the value falls by more than its accuracy: where many
                # columns say the same, the same ones would enter and leave again and again.
                fell = answer.value < lowest * (1.0 - accuracy)
                lowest = min(lowest, answer.value)
                if fell:
                    columns = exchange_columns(columns, this, entering, moments.sizes, free)
                else:
                    columns = Columns.from_keys(np.append(columns.keys(), entering), free)
                accuracy = CONE_TOL_TIGHT if gap <= TIGHTEN_GAP or not fell else CONE_TOL_LOOSE
            elif accuracy == CONE_TOL_TIGHT:
                break
            else:
                accuracy = CONE_TOL_TIGHT
        weights = self._polish(problem, final_weights(this, moments))
        plane, objective = of_gain_one(moments, alpha, weights, np.minimum(this.tightness, 1.0))
        gap = this.gap
        if gap > self.tol:
            gap = min(gap, self._duality_gap(problem, plane.weights, objective))
        # The optimum is not negative: where the value vanishes, nothing is left to gain.
        gap = float(np.clip(gap, 0.0, objective / max(objective, ZERO_RATIO)))
        trace = monotone_trace(trace, objective)
        return Result(plane, objective, gap, len(trace), gap <= self.tol, trace)

    def _polish(self, problem: Minimax, weights) -> np.ndarray:
        """With support and signs known, this is the dense machine for D - alpha sign(w)."""
        support = np.flatnonzero(weights)
        signs = np.sign(weights[support])
        better = newton_polish(
            [problem.moments.columns(which, support) for which in (0, 1)],
            problem.moments.ridges,
            problem.moments.difference[support] - problem.costs[support] * signs,
            weights[support],
        )
        if better is None or (problem.costs[support] * (np.sign(better) != signs)).any():
            return weights
        weights[support] = better
        return weights

    def _judge(self, problem: Minimax, answer: PrimalDual, columns: Columns):
        """What the multipliers say of all features: reduced costs, tightness, and the gap."""
        reduced = problem.moments.rmatmul(*answer.duals)
        reduced = reduced + answer.strength * problem.moments.difference
        reduced = with_ridge(reduced, answer, columns)
        limit = answer.strength * problem.costs
        gap = self._gap(problem, answer, np.maximum(np.abs(reduced) - limit, 0.0), limit.max())
        return reduced, quotient(np.abs(reduced), limit), gap

    def _duality_gap(self, problem: Minimax, weights: np.ndarray, objective: float) -> float:
        """The gap by the multipliers that belong to weights of gain one.

        Where the ridge is small the digits of a cone solver are few for its multipliers, and
        Newton's method has found more of them. Infinite where a class has no spread along the
        weights: such multipliers are not unique.
        """
        support = np.flatnonzero(weights)
        values = weights[support]
        norms = class_norms(problem.moments, support, values)
        if norms.min() <= 0.0:
            return np.inf
        ridges = np.asarray(problem.moments.ridges)
        u, v = (-(problem.moments.columns(i, support) @ values) / norms[i] for i in (0, 1))
        ridge_dual = -(ridges / norms).sum() * values
        rows = np.sqrt(ridges) * np.linalg.norm(values) / norms
        answer = PrimalDual(
            values, objective, objective, objective, (u, v), ridge_dual, rows, np.ones(2)
        )
        gap = self._judge(problem, answer, Columns(support, np.sign(values)))[2]
        return max(gap, noise(problem.moments))  # a gap in doubles is known to no more than that

    def _gap(self, problem: Minimax, answer, violation, limit) -> float:
        """Relative distance of the value to a lower bound over all features.

        The dual is max tau s.t. ||(u_i, r_i)|| <= 1, |tau D + Z1'u1 + Z2'u2 + v|_j <= tau alpha and
        ||v|| <= sqrt(ridge_1) r_1 + sqrt(ridge_2) r_2. With a ridge, v can absorb any violation
        at the expense of longer r_i, after which everything is scaled back: a loss of second
        order. Without one the largest violation itself is reported, as a share of the limit.
        """
        value = max(answer.value, ZERO_RATIO)
        missing = max(answer.value - answer.dual_value, 0.0) / value
        if limit <= 0.0:
            return missing
        reach = float(np.sqrt(problem.moments.ridges) @ np.abs(answer.ridge_rows))
        if reach == 0.0:
            return max(missing, float(violation.max(initial=0.0)) / limit)
        longer = float(np.hypot(np.linalg.norm(answer.ridge_dual), np.linalg.norm(violation)))
        stretch = max(longer / reach, 1.0)
        norms = [
            np.hypot(np.linalg.norm(u), stretch * r)
            for u, r in zip(answer.duals, answer.ridge_rows, strict=True)
        ]
        return max(missing, (answer.value - answer.strength / max(*norms, 1.0)) / value)


def of_gain_one(
    moments: TwoClassMoments, alpha: np.ndarray, weights: np.ndarray, tightness: np.ndarray
) -> tuple[Hyperplane, float]:
    """The weights scaled so that the constraint holds exactly, and N_1 + N_2 there."""
    gain = moments.difference @ weights - alpha @ np.abs(weights)
    return balanced_plane(moments, weights / gain if gain > 0.0 else weights, tightness)


def without_spread(moments: TwoClassMoments) -> bool:
    """Whether every direction costs nothing."""
    return max(moments.ridges) == 0.0 and not np.any(moments.variances)


def best_single_feature(moments: TwoClassMoments, alpha: np.ndarray) -> Result[Hyperplane]:
    """Without any spread: the feature whose means differ the most for its cost."""
    difference = moments.difference
    best = int(np.argmax(np.abs(difference) - alpha))
    weights = np.zeros(len(difference))
    weights[best] = np.sign(difference[best])
    plane, _ = of_gain_one(moments, alpha, weights, np.abs(difference) / abs(difference[best]))
    return Result(plane, 0.0, 0.0, 1, True, [0.0])
