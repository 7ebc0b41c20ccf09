"""The machine that holds the l1 norm of the weights against the worst-case accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import Callback, Event, Result
from .cones import Columns, PrimalDual, solve_ratio
from .generation import (
    AIM,
    LOOSE,
    MAX_ROUNDS,
    NEARLY,
    START,
    TIGHT,
    VANISHING,
    ConeFailure,
    Round,
    final_weights,
    joining_keys,
    noise,
    quotient,
    settled_trace,
    with_ridge,
    worth_keeping,
)
from .hyperplane import Hyperplane, balanced_plane, class_norms
from .machine import newton_polish
from .moments import TwoClassMoments


@dataclass
class RatioMachine:
    """Minimise N_1(w) + N_2(w) s.t. D'w - alpha'|w| >= 1, for a price alpha_j of every feature.

    Features of price zero are always in play. The optimality is a certified relative gap to the
    optimum over all features.
    """

    moments: TwoClassMoments
    alpha: np.ndarray
    tol: float = 1e-6
    max_rounds: int = MAX_ROUNDS
    callback: Callback | None = None

    def solve(self) -> Result[Hyperplane]:
        """Column generation from the features whose means differ the most."""
        if without_spread(self.moments):
            return best_single_feature(self.moments, self.alpha)
        difference = self.moments.difference
        best = np.argsort(-np.abs(difference), kind="stable")[:START]
        free = np.flatnonzero(self.alpha == 0.0) if self.alpha.any() else ()
        columns = Columns.from_keys(2 * best + (difference[best] < 0.0), free)
        trace: list[float] = []
        accuracy, lowest = LOOSE, np.inf
        target = max(AIM * self.tol, noise(self.moments))
        for _ in range(self.max_rounds):
            answer = solve_ratio(self.moments, columns, self.alpha, accuracy)
            if answer is None:
                raise ConeFailure
            trace.append(answer.value)
            reduced, tightness, gap = self._priced(answer, columns)
            joining = joining_keys(reduced, tightness, columns)
            this = Round(answer, columns, reduced, tightness, gap, joining, accuracy)
            event = Event(len(trace), answer.value, gap, len(columns))
            if self.callback is not None and self.callback(event):
                break
            if gap > target and len(joining):
                # Columns leave only while the value falls by more than its accuracy: where many
                # columns say the same, the same ones would join and leave again and again.
                fell = answer.value < lowest * (1.0 - accuracy)
                lowest = min(lowest, answer.value)
                kept = worth_keeping(columns, this, self.moments.sizes) if fell else columns.keys()
                columns = Columns.from_keys(np.concatenate([kept, joining]), free)
                accuracy = TIGHT if gap <= NEARLY or not fell else LOOSE
            elif accuracy == TIGHT:
                break
            else:
                accuracy = TIGHT
        weights = self._polished(final_weights(this, self.moments))
        plane, objective = of_gain_one(
            self.moments, self.alpha, weights, np.minimum(this.tightness, 1.0)
        )
        gap = this.gap
        if gap > self.tol:
            gap = min(gap, self._gap_of(plane.weights, objective))
        # The optimum is not negative: where the value vanishes, nothing is left to gain.
        gap = float(np.clip(gap, 0.0, objective / max(objective, VANISHING)))
        trace = settled_trace(trace, objective)
        return Result(plane, objective, gap, len(trace), gap <= self.tol, trace)

    def _polished(self, weights) -> np.ndarray:
        """With support and signs known, this is the dense machine for D - alpha sign(w)."""
        support = np.flatnonzero(weights)
        signs = np.sign(weights[support])
        better = newton_polish(
            [self.moments.columns(which, support) for which in (0, 1)],
            self.moments.ridges,
            self.moments.difference[support] - self.alpha[support] * signs,
            weights[support],
        )
        if better is None or (self.alpha[support] * (np.sign(better) != signs)).any():
            return weights
        weights[support] = better
        return weights

    def _priced(self, answer: PrimalDual, columns: Columns):
        """What the multipliers say of all features: reduced costs, tightness, and the gap."""
        reduced = self.moments.price(*answer.duals) + answer.strength * self.moments.difference
        reduced = with_ridge(reduced, answer, columns)
        limit = answer.strength * self.alpha
        gap = self._gap(answer, np.maximum(np.abs(reduced) - limit, 0.0), limit.max())
        return reduced, quotient(np.abs(reduced), limit), gap

    def _gap_of(self, weights: np.ndarray, objective: float) -> float:
        """The gap by the multipliers that belong to weights of gain one.

        Where the ridge is small the digits of a cone solver are few for its multipliers, and
        Newton's method has found more of them. Infinite where a class has no spread along the
        weights: such multipliers are not unique.
        """
        support = np.flatnonzero(weights)
        values = weights[support]
        norms = class_norms(self.moments, support, values)
        if norms.min() <= 0.0:
            return np.inf
        ridges = np.asarray(self.moments.ridges)
        u, v = (-(self.moments.columns(i, support) @ values) / norms[i] for i in (0, 1))
        ridge_dual = -(ridges / norms).sum() * values
        rows = np.sqrt(ridges) * np.linalg.norm(values) / norms
        answer = PrimalDual(
            values, objective, objective, objective, (u, v), ridge_dual, rows, np.ones(2)
        )
        gap = self._priced(answer, Columns(support, np.sign(values)))[2]
        return max(gap, noise(self.moments))  # a gap in doubles is known to no more than that

    def _gap(self, answer, violation, limit) -> float:
        """Relative distance of the value to a lower bound over all features.

        The dual is max tau s.t. ||(u_i, r_i)|| <= 1, |tau D + Z1'u1 + Z2'u2 + v|_j <= tau alpha and
        ||v|| <= sqrt(ridge_1) r_1 + sqrt(ridge_2) r_2. With a ridge, v can absorb any violation
        at the price of longer r_i, after which everything is scaled back: a loss of second
        order. Without one the largest violation itself is reported, as a share of the limit.
        """
        value = max(answer.value, VANISHING)
        missing = max(answer.value - answer.dual_value, 0.0) / value
        if limit <= 0.0:
            return missing
        reach = float(np.sqrt(self.moments.ridges) @ np.abs(answer.ridge_rows))
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
    """Without any spread: the feature whose means differ the most for its price."""
    difference = moments.difference
    best = int(np.argmax(np.abs(difference) - alpha))
    weights = np.zeros(len(difference))
    weights[best] = np.sign(difference[best])
    plane, _ = of_gain_one(moments, alpha, weights, np.abs(difference) / abs(difference[best]))
    return Result(plane, 0.0, 0.0, 1, True, [0.0])
