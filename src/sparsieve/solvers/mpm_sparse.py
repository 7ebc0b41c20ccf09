"""Sparse minimax probability machines by column generation over the features.

A program on all d features is solved on a few; the multipliers of that solution price all the
others in one product Z'u, the most promising join, and so on. When no feature is worth adding,
the multipliers (scaled to be feasible) bound the optimum over all features from below: that is
the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..penalties import Surrogate
from .mpm import newton_polish
from .mpm_cones import Columns, RestrictedAnswer, solve_ratio, solve_weighted_l1
from .mpm_moments import TwoClassMoments
from .mpm_polish import polish_weighted_l1

START = 30  # features in the first restricted program
LEAST_JOINING = 20  # at least so many may join at a time
KEEP_ABOVE = 0.6  # unused features leave when their reduced cost is below this share of the cost
MAX_ROUNDS = 200
GIVE_UP_ROUNDS = 1000  # rounds without a feasible point, however many are allowed
LOOSE, TIGHT = 1e-4, 1e-8  # accuracy of restricted programs: on the way, and at the end
# Weights below this share of the largest are the interior-point method's idea of zero.
RELATIVE_ZERO = 1e-5
# A feature whose cost is below this share of the largest is treated as free.
FREE = 1e-9
# The value of the ratio machine counts spreads per distance: below this it is as good as zero.
VANISHING = 1e-4
# Prices of the artificial variable, in units of the smallest possible objective.
ARTIFICIAL_COSTS = (1e2, 1e4, 1e6, 1e9)


class InfeasibleError(Exception):
    """No hyperplane reaches the level asked for."""


class ConeFailure(RuntimeError):
    """The cone solver gave up even at its loosest tolerance."""


@dataclass(frozen=True)
class SparseHyperplane:
    """sign(w'x - offset) with few nonzero weights.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        Exact zeros outside the support.
    offset : float
    objective : float
        Value of the (convex) program.
    gap : float
        Certified relative distance to the optimum over all features, or (if larger) the share
        by which a constraint is missed.
    tightness : ndarray of shape (n_features,)
        How close every feature is to being worth its cost: one on the support, below elsewhere.
    n_rounds : int
        Number of restricted programs solved.
    history : list of float
        Objective after every round; never increases but for the accuracy of the cone solver.
    """

    weights: np.ndarray
    offset: float
    objective: float
    gap: float
    tightness: np.ndarray
    n_rounds: int
    history: list[float] = field(default_factory=list)

    @property
    def support(self) -> np.ndarray:
        """Indices of the nonzero weights."""
        return np.flatnonzero(self.weights)


def noise(moments: TwoClassMoments) -> float:
    """Relative gap below which rounding decides: matters for data held in single precision."""
    return 100.0 * moments.precision


def class_norms(moments: TwoClassMoments, features, values) -> np.ndarray:
    """N_1 and N_2 of the weights ``values`` on ``features``."""
    return np.array(
        [
            np.sqrt(
                np.sum((moments.columns(which, features) @ values) ** 2)
                + moments.ridges[which] * (values @ values)
            )
            for which in (0, 1)
        ]
    )


@dataclass
class WeightedL1Machine:
    """Minimise costs'|w| such that each class keeps its distance, for any costs.

    mu1'w - b >= max(kappa N_1(w), 1) and b - mu2'w >= max(kappa N_2(w), 1). The features in
    play are remembered from one call of ``solve`` to the next, which is the warm start of the
    DC algorithm: its costs change little.
    """

    moments: TwoClassMoments
    kappa: float
    tol: float = 1e-7
    max_rounds: int = MAX_ROUNDS
    _previous: SparseHyperplane | None = field(default=None, init=False, repr=False)
    _reduced: np.ndarray | None = field(default=None, init=False, repr=False)

    def solve(self, costs: np.ndarray) -> SparseHyperplane:
        """The optimum for these costs, from the features of the previous one if there is one."""
        unit = self._unit(costs)
        costs = costs / unit
        free = np.flatnonzero(costs <= FREE * costs.max())
        warm = self._previous is not None
        columns = self._columns_before(free) if warm else self._first_columns(costs, free)
        # What was feasible for other costs still is; only a first program may be infeasible.
        artificial = iter(ARTIFICIAL_COSTS)
        artificial_cost = None if warm else next(artificial)
        accuracy = TIGHT if warm else LOOSE
        tol = max(self.tol, noise(self.moments))
        history: list[float] = []
        for n_rounds in range(1, GIVE_UP_ROUNDS + 1):
            played = columns
            answer = solve_weighted_l1(
                self.moments, played, costs[played.features], self.kappa, artificial_cost, accuracy
            )
            if answer is None:
                raise ConeFailure
            feasible = answer.slack <= 1e-7
            if feasible:
                artificial_cost = None
                history.append(unit * answer.value)
            reduced = self._price(answer, played)
            tightness = _share(np.abs(reduced), costs)
            gap = self._gap(answer, reduced, costs, played, accuracy)
            joining = _joining(reduced, tightness, played)
            if feasible and n_rounds >= self.max_rounds:
                break
            if gap > tol and len(joining):
                columns = _next_columns(
                    played, answer, tightness, self.moments.sizes, joining, free
                )
                accuracy = TIGHT if gap <= 1e-2 else LOOSE
            elif not feasible:
                artificial_cost = next(artificial, None)
                if artificial_cost is None:
                    raise InfeasibleError
            elif accuracy == TIGHT:
                break
            else:
                accuracy = TIGHT
        else:
            raise ConeFailure
        weights = _weights(answer, played, self.moments)
        support = np.flatnonzero(weights)
        polished = polish_weighted_l1(
            self.moments, support, weights[support], costs[support], self.kappa, answer.tight
        )
        if polished is not None:
            weights[support] = polished
        objective = unit * float(costs @ np.abs(weights))
        offset, violation = self._offset(weights)
        self._previous = SparseHyperplane(
            weights,
            offset,
            objective,
            max(float(gap), violation),
            np.minimum(tightness, 1.0),
            n_rounds,
            _settled_history(history, objective),
        )
        self._reduced = reduced
        return self._previous

    def _unit(self, costs) -> float:
        """About the size of the optimum, so that the program has numbers near one.

        From the previous solution, which is feasible; or the lower bound 2 min_j c_j / |D_j|,
        because D'w >= 2. Where some features are (nearly) free, a small share of what the
        others cost.
        """
        size = np.abs(self.moments.difference)
        if self._previous is not None:
            guess = float(costs @ np.abs(self._previous.weights))
        else:
            apart = size > 0.0
            guess = 2.0 * float((costs[apart] / size[apart]).min())
        return max(guess, 2e-4 * float(costs.max()) / float(size.max()))

    def _first_columns(self, costs, free) -> Columns:
        """The features whose means differ most for their cost and spread."""
        difference = self.moments.difference
        spread = np.sqrt(self.moments.variances[0]) + np.sqrt(self.moments.variances[1])
        promise = np.abs(difference) / (costs + FREE * costs.max()) / (1.0 + spread)
        best = np.argsort(-promise, kind="stable")[:START]
        return Columns.from_keys(2 * best + (difference[best] < 0.0), free)

    def _columns_before(self, free) -> Columns:
        """The support of the previous solution and the features that were nearly worth it."""
        assert self._previous is not None
        assert self._reduced is not None
        support = self._previous.support
        others = np.argsort(-self._previous.tightness, kind="stable")
        others = others[self._previous.weights[others] == 0.0][: max(15, len(support) // 2)]
        negative = np.concatenate(
            [self._previous.weights[support] < 0.0, self._reduced[others] < 0.0]
        )
        return Columns.from_keys(2 * np.concatenate([support, others]) + negative, free)

    def _price(self, answer: RestrictedAnswer, columns: Columns) -> np.ndarray:
        """Reduced costs s D + kappa (Z1'u1 + Z2'u2): optimal when none exceeds its cost."""
        reduced = self.kappa * self.moments.price(*answer.duals)
        reduced += answer.strength * self.moments.difference
        return _with_ridge(reduced, answer, columns)

    def _gap(self, answer, reduced, costs, columns, accuracy) -> float:
        """Distance of the value to the dual bound, relative to the value.

        The multipliers become feasible for all features when scaled by min_j c_j / |reduced_j|.
        Features in play exceed their cost by what the cone solver calls zero; that is allowed
        for, because of a nearly free feature it would be a large share.
        """
        allowed = costs.copy()
        allowed[columns.features] += 10.0 * accuracy * costs.max()
        worst = float(_share(np.abs(reduced), allowed).max(initial=1.0))
        missing = max(
            abs(answer.value - answer.dual_value), answer.value - answer.dual_value / worst
        )
        return missing / max(answer.value, 1.0)

    def _offset(self, weights) -> tuple[float, float]:
        """The middle of the feasible offsets, and by what share there are none."""
        support = np.flatnonzero(weights)
        values = weights[support]
        keep = np.maximum(self.kappa * class_norms(self.moments, support, values), 1.0)
        upper = float(self.moments.means[0][support] @ values) - keep[0]
        lower = float(self.moments.means[1][support] @ values) + keep[1]
        return 0.5 * (upper + lower), max(float((lower - upper) / keep.sum()), 0.0)


@dataclass
class SurrogateProgram:
    """Minimise sum_j delta(w_j) as a DC program, under the constraints of the machine."""

    machine: WeightedL1Machine
    surrogate: Surrogate

    def value(self, x: SparseHyperplane | None) -> float:
        """Surrogate of the number of features; the start (None: no weights) is infeasible."""
        return np.inf if x is None else self.surrogate.total(x.weights)

    def linearise(self, x: SparseHyperplane | None) -> np.ndarray:
        """Slope of the concave part in |w|."""
        weights = np.zeros(self.machine.moments.n_features) if x is None else x.weights
        return self.surrogate.concave_gradient(weights)

    def solve_convex(
        self, slope: np.ndarray, x0: SparseHyperplane | None
    ) -> SparseHyperplane | None:
        """The weighted l1 machine, from the features in play before.

        The step cannot gain more than what x0 costs; where that is next to nothing, x0 stays.
        A cone solver that gives up half way is no reason to lose what was found: None (of
        infinite value) ends the DC algorithm at the last good point.
        """
        costs = self.surrogate.slope_at_zero - slope
        if x0 is not None and costs @ np.abs(x0.weights) <= 1e-7 * self.value(x0):
            return x0
        try:
            return self.machine.solve(costs)
        except ConeFailure:
            if x0 is None:
                raise
            return None

    def settled(self, old: SparseHyperplane | None, new: SparseHyperplane) -> bool:
        """Whether the same features are used."""
        return old is not None and np.array_equal(old.support, new.support)


@dataclass
class RatioMachine:
    """Minimise N_1(w) + N_2(w) such that D'w - lam ||w||_1 >= 1."""

    moments: TwoClassMoments
    lam: float
    tol: float = 1e-7
    max_rounds: int = MAX_ROUNDS

    def solve(self) -> SparseHyperplane:
        """Column generation from the features whose means differ the most."""
        difference = self.moments.difference
        if max(self.moments.ridges) == 0.0 and not np.any(self.moments.variances):
            return self._without_spread()
        best = np.argsort(-np.abs(difference), kind="stable")[:START]
        columns = Columns.from_keys(2 * best + (difference[best] < 0.0))
        history: list[float] = []
        accuracy = LOOSE
        tol = max(self.tol, noise(self.moments))
        for _ in range(self.max_rounds):
            played = columns
            found = solve_ratio(self.moments, played, self.lam, accuracy)
            if found is None:
                raise ConeFailure
            answer = found
            history.append(answer.value)
            reduced = self.moments.price(*answer.duals) + answer.strength * difference
            reduced = _with_ridge(reduced, answer, played)
            limit = answer.strength * self.lam
            tightness = _share(np.abs(reduced), np.full(len(reduced), limit))
            gap = self._gap(answer, np.maximum(np.abs(reduced) - limit, 0.0), limit)
            joining = _joining(reduced, tightness, played)
            if gap > tol and len(joining):
                columns = _next_columns(played, answer, tightness, self.moments.sizes, joining)
                accuracy = TIGHT if gap <= 1e-2 else LOOSE
            elif accuracy == TIGHT:
                break
            else:
                accuracy = TIGHT
        weights = self._polished(_weights(answer, played, self.moments))
        support = np.flatnonzero(weights)
        gain = difference @ weights - self.lam * np.abs(weights).sum()
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
            float(np.clip(gap, 0.0, objective / max(objective, VANISHING))),
            np.minimum(tightness, 1.0),
            len(history),
            _settled_history(history, objective),
        )

    def _without_spread(self) -> SparseHyperplane:
        """Every direction costs nothing: take the one feature whose means differ the most."""
        difference = self.moments.difference
        best = int(np.argmax(np.abs(difference)))
        weights = np.zeros(len(difference))
        weights[best] = np.sign(difference[best]) / (abs(difference[best]) - self.lam)
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
            self.moments.difference[support] - self.lam * signs,
            weights[support],
        )
        if better is None or (np.sign(better) != signs).any():
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


def _settled_history(history, objective) -> list[float]:
    """Objectives by round, ending with the final one.

    A program solved loosely on the way may claim less than the optimum; such a value is lifted
    to what is known by now.
    """
    lifted = np.maximum.accumulate([*history[:-1], objective][::-1])[::-1]
    return [float(value) for value in lifted]


def _share(size, costs) -> np.ndarray:
    """Quotient; zero for nothing at no cost, one for something at no cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(size / costs, nan=0.0, posinf=1.0)


def _with_ridge(reduced, answer: RestrictedAnswer, columns: Columns) -> np.ndarray:
    """Add the part of the ridge; of a feature in play with both signs, that of the used one."""
    order = np.argsort(np.abs(answer.weights), kind="stable")
    total = np.zeros(len(reduced))
    total[columns.features[order]] = answer.ridge_dual[order]
    return reduced + total


def _joining(reduced, tightness, columns: Columns) -> np.ndarray:
    """Keys of the signed features most worth adding, at most as many as are in play."""
    violators = np.flatnonzero(tightness > 1.0)
    keys = 2 * violators + (reduced[violators] < 0.0)
    new = ~np.isin(keys, columns.keys())
    new &= ~np.isin(violators, columns.features[columns.signs == 0.0])
    violators, keys = violators[new], keys[new]
    count = max(LEAST_JOINING, len(columns))
    if len(keys) > count:
        keys = keys[np.argsort(-tightness[violators], kind="stable")[:count]]
    return keys


def _next_columns(columns: Columns, answer, tightness, units, joining, free=()) -> Columns:
    """Those worth keeping and those that join; the others only slow the next program down."""
    kept = _without_crumbs(answer.weights, units[columns.features]) != 0.0
    kept |= tightness[columns.features] > KEEP_ABOVE
    kept |= columns.signs == 0.0
    return Columns.from_keys(np.concatenate([columns.keys()[kept], joining]), free)


def _without_crumbs(weights: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Weights that count; compared in units of the features."""
    size = np.abs(weights) * units
    return np.where(size > RELATIVE_ZERO * size.max(initial=0.0), weights, 0.0)


def _weights(answer: RestrictedAnswer, columns: Columns, moments: TwoClassMoments) -> np.ndarray:
    weights = np.zeros(moments.n_features)
    np.add.at(weights, columns.features, answer.weights)
    return _without_crumbs(weights, moments.sizes)
