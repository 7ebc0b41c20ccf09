"""The machine that holds the l1 norm of the weights against the worst-case accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .cones import Columns, solve_ratio
from .generation import (
    LOOSE,
    MAX_ROUNDS,
    NEARLY,
    START,
    TIGHT,
    VANISHING,
    ConeFailure,
    Round,
    SparseHyperplane,
    class_norms,
    final_weights,
    joining_keys,
    noise,
    quotient,
    settled_history,
    with_ridge,
    worth_keeping,
)
from .machine import newton_polish
from .moments import TwoClassMoments


@dataclass
class RatioMachine:
    """Minimise N_1(w) + N_2(w) such that D'w - lam'|w| >= 1, for a price lam_j of every feature.

    Features of price zero are always in play.
    """

    moments: TwoClassMoments
    lam: np.ndarray
    tol: float = 1e-7
    max_rounds: int = MAX_ROUNDS

    def solve(self) -> SparseHyperplane:
        """Column generation from the features whose means differ the most."""
        difference = self.moments.difference
        if max(self.moments.ridges) == 0.0 and not np.any(self.moments.variances):
            return self._without_spread()
        best = np.argsort(-np.abs(difference), kind="stable")[:START]
        free = np.flatnonzero(self.lam == 0.0) if self.lam.any() else ()
        columns = Columns.from_keys(2 * best + (difference[best] < 0.0), free)
        history: list[float] = []
        accuracy = LOOSE
        tol = max(self.tol, noise(self.moments))
        for _ in range(self.max_rounds):
            answer = solve_ratio(self.moments, columns, self.lam, accuracy)
            if answer is None:
                raise ConeFailure
            history.append(answer.value)
            reduced = self.moments.price(*answer.duals) + answer.strength * difference
            reduced = with_ridge(reduced, answer, columns)
            limit = answer.strength * self.lam
            tightness = quotient(np.abs(reduced), limit)
            gap = self._gap(answer, np.maximum(np.abs(reduced) - limit, 0.0), limit.max())
            joining = joining_keys(reduced, tightness, columns)
            this = Round(answer, columns, reduced, tightness, gap, joining, accuracy)
            if gap > tol and len(joining):
                kept = worth_keeping(columns, this, self.moments.sizes)
                columns = Columns.from_keys(np.concatenate([kept, joining]), free)
                accuracy = TIGHT if gap <= NEARLY else LOOSE
            elif accuracy == TIGHT:
                break
            else:
                accuracy = TIGHT
        weights = self._polished(final_weights(this, self.moments))
        support = np.flatnonzero(weights)
        gain = difference @ weights - self.lam @ np.abs(weights)
        if gain > 0.0:
            weights /= gain  # the constraint holds exactly
        norms = class_norms(self.moments, support, weights[support])
        objective = float(norms.sum())
        means = [float(mean[support] @ weights[support]) for mean in self.moments.means]
        share = norms[0] / norms.sum() if norms.sum() > 0.0 else 0.5
        return SparseHyperplane(
            weights,
            means[0] - share * (means[0] - means[1]),
            objective,
            # The optimum is not negative: where the value vanishes, nothing is left to gain.
            float(np.clip(this.gap, 0.0, objective / max(objective, VANISHING))),
            np.minimum(this.tightness, 1.0),
            len(history),
            settled_history(history, objective),
        )

    def _without_spread(self) -> SparseHyperplane:
        """Every direction costs nothing: take the one feature whose means differ the most."""
        difference = self.moments.difference
        worth = np.abs(difference) - self.lam
        best = int(np.argmax(worth))
        weights = np.zeros(len(difference))
        weights[best] = np.sign(difference[best]) / worth[best]
        middle = 0.5 * (self.moments.means[0][best] + self.moments.means[1][best])
        tightness = np.abs(difference) / abs(difference[best])
        return SparseHyperplane(weights, weights[best] * middle, 0.0, 0.0, tightness, 1, [0.0])

    def _polished(self, weights) -> np.ndarray:
        """With support and signs known, this is the dense machine for D - lam sign(w)."""
        support = np.flatnonzero(weights)
        signs = np.sign(weights[support])
        better = newton_polish(
            [self.moments.columns(which, support) for which in (0, 1)],
            self.moments.ridges,
            self.moments.difference[support] - self.lam[support] * signs,
            weights[support],
        )
        if better is None or (self.lam[support] * (np.sign(better) != signs)).any():
            return weights
        weights[support] = better
        return weights

    def _gap(self, answer, violation, limit) -> float:
        """Relative distance of the value to a lower bound over all features.

        The dual is max tau s.t. ||(u_i, r_i)|| <= 1, |tau D + Z1'u1 + Z2'u2 + v|_j <= tau lam and
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
