"""The machine that reaches a level with the least weighted l1 norm of its weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....solvers.base import Callback, Event, Result
from .column_generation import (
    COLUMNS_PER_ROUND,
    CONE_TOL_LOOSE,
    CONE_TOL_TIGHT,
    GAP_TARGET_SHARE,
    INITIAL_COLUMNS,
    MAX_ROUNDS,
    ZERO_WEIGHT_TOL,
    ConeFailure,
    InfeasibleError,
    Round,
    entering_keys,
    exchange_columns,
    final_weights,
    monotone_trace,
    noise,
    polish_weighted_l1,
    quotient,
    with_ridge,
)
from .cones import Columns, PrimalDual, solve_weighted_l1
from .problem import Hyperplane, Minimax, achieved_accuracy, class_norms

POLISHED_TOL = 1e-12  # of restricted programs after Newton's method
MAX_INFEASIBLE_ROUNDS = 1000  # before a feasible point is found, whatever max_iter says
MAX_EXCHANGES = 30  # times that features enter and leave between two cone programs
# A feature whose cost is below this share of the largest is treated as free of cost.
FREE_COST_SHARE = 1e-9
# Costs of the artificial variable, in units of the smallest possible objective.
ARTIFICIAL_COSTS = (1e2, 1e4, 1e6, 1e9)


@dataclass(frozen=True)
class L1MPM:
    """Column generation with Newton's method on the support.

    Minimises costs'|w| s.t. mu1'w - b >= max(kappa N_1(w), 1), b - mu2'w >= max(kappa N_2(w), 1).
    The optimality is a certified relative gap to the optimum over all features, or (if larger) the
    share by which a constraint is missed.
    """

    tol: float = 1e-6
    max_iter: int = MAX_ROUNDS

    def solve(
        self,
        problem: Minimax,
        start: Result[Hyperplane] | None = None,
        callback: Callback | None = None,
    ) -> Result[Hyperplane]:
        """The optimum, from the working set of ``start``, whose costs should differ little."""
        warm = start is not None and start.solution.multipliers is not None
        return _Run(problem, self, start.solution if start and warm else None, callback).solve()


class _Run:
    """One run: the problem in units where its optimum is near one, and where it started."""

    def __init__(
        self,
        problem: Minimax,
        settings: L1MPM,
        previous: Hyperplane | None,
        callback: Callback | None,
    ):
        self.moments, self.kappa = problem.moments, problem.kappa
        self.tol, self.max_rounds = settings.tol, settings.max_iter
        self.previous, self.callback = previous, callback
        self.unit = self._unit(problem.costs)
        self.costs = problem.costs / self.unit
        self.free = np.flatnonzero(self.costs <= FREE_COST_SHARE * self.costs.max())
        self.target = max(GAP_TARGET_SHARE * self.tol, noise(self.moments))

    def solve(self) -> Result[Hyperplane]:
        warm = self.previous is not None
        at_once = self._from_before() if warm else None
        if at_once is not None:
            trace = [self.unit * at_once.answer.value]
            if self.callback is not None:
                self.callback(Event(1, trace[0], at_once.gap, len(at_once.columns)))
            return self._make_result(at_once, 1, trace)
        columns = self._columns_before() if warm else self._first_columns()
        # What was feasible for other costs still is; only a first program may be infeasible.
        artificial = iter(ARTIFICIAL_COSTS)
        artificial_cost = None if warm else next(artificial)
        accuracy = CONE_TOL_LOOSE
        trace = []
        for n_rounds in range(1, MAX_INFEASIBLE_ROUNDS + 1):
            answer = solve_weighted_l1(
                self.moments,
                columns,
                self.costs[columns.features],
                self.kappa,
                artificial_cost,
                accuracy,
            )
            if answer is None and artificial_cost is not None and accuracy == CONE_TOL_TIGHT:
                # Too much asked of a program that may have no solution: back, at a higher cost.
                accuracy, artificial_cost = CONE_TOL_LOOSE, next(artificial, None)
                if artificial_cost is None:
                    raise InfeasibleError
                continue
            if answer is None:
                raise ConeFailure
            this = self._judge(answer, columns, accuracy)
            if answer.slack <= 1e-7:
                artificial_cost = None
                trace.append(self.unit * answer.value)
                this, new = self._exact(this, self.max_rounds - n_rounds)
                event = Event(n_rounds, trace[-1], this.gap, len(columns))
                if self.callback is not None and self.callback(event):
                    break
                if n_rounds >= self.max_rounds or (
                    this.gap <= self.target and this.accuracy <= CONE_TOL_TIGHT
                ):
                    break
                if this.gap > self.target and len(new):
                    columns = exchange_columns(columns, this, new, self.moments.sizes, self.free)
                elif accuracy == CONE_TOL_TIGHT:
                    break
                else:
                    accuracy = CONE_TOL_TIGHT
            elif this.gap > self.target and len(this.entering):
                columns = exchange_columns(
                    columns, this, this.entering, self.moments.sizes, self.free
                )
            elif accuracy > CONE_TOL_TIGHT:
                accuracy = (
                    CONE_TOL_TIGHT  # what is left of the artificial variable may be inaccuracy
                )
            else:
                artificial_cost = next(artificial, None)
                if artificial_cost is None:
                    raise InfeasibleError
        else:
            raise ConeFailure
        return self._make_result(this, n_rounds, trace)

    def _make_result(self, this: Round, n_rounds: int, trace) -> Result[Hyperplane]:
        """The result of a round, which is also where the next run starts."""
        costs = self.costs
        # Where a feature just comes in, its small weight may matter; accurate ones can be told
        # from numerical zeros.
        for share in (ZERO_WEIGHT_TOL, min(ZERO_WEIGHT_TOL, 10.0 * this.accuracy)):
            weights = final_weights(this, self.moments, share)
            offset, violation = self._offset(weights)
            dearer = 0.0
            if violation > GAP_TARGET_SHARE * self.tol:
                # The small weights mattered: the others take over, and what that costs counts.
                weights = weights * self._lengthening(weights)
                offset, violation = self._offset(weights)
                more = float(costs @ np.abs(weights)) - this.answer.value
                dearer = max(more, 0.0) / max(this.answer.value, 1.0)
            gap = max(this.gap + dearer, violation)
            if gap <= self.tol:
                break
        objective = self.unit * float(costs @ np.abs(weights))
        tightness = np.minimum(this.tightness, 1.0)
        accuracy = achieved_accuracy(self.moments, weights, offset)
        # In units of the objective, which is about one in the next run.
        multipliers = this.answer.tight / this.answer.value
        plane = Hyperplane(weights, offset, accuracy, tightness, this.reduced, multipliers)
        return Result(
            plane, objective, gap, n_rounds, gap <= self.tol, monotone_trace(trace, objective)
        )

    def _judge(self, answer: PrimalDual, columns: Columns, accuracy) -> Round:
        """Reduced costs of all features by the multipliers of a restricted solution."""
        reduced = self.kappa * self.moments.rmatmul(*answer.duals)
        reduced += answer.strength * self.moments.difference
        reduced = with_ridge(reduced, answer, columns)
        tightness = quotient(np.abs(reduced), self.costs)
        gap = self._gap(answer, reduced, columns, accuracy)
        entering = entering_keys(reduced, tightness, columns)
        return Round(answer, columns, reduced, tightness, max(gap, 0.0), entering, accuracy)

    def _exact(self, this: Round, most: int) -> tuple[Round, np.ndarray]:
        """The exact optimum on the features that seem to be used, if that is an improvement.

        Also returns the keys of its features that were not in the working set.
        """
        answer, columns = this.answer, this.columns
        size = np.abs(answer.weights) * self.moments.sizes[columns.features]
        # Of weight and slack, one vanishes at the optimum: the larger share tells which.
        slack = 1.0 - this.tightness[columns.features]
        used = size > np.maximum(slack, ZERO_WEIGHT_TOL) * size.max()
        used |= (columns.signs == 0.0) & (size > 0.0)
        chosen = Columns(columns.features[used], columns.signs[used])
        if len(np.unique(chosen.features)) < len(chosen):
            return this, this.entering
        exact = self._active_set(chosen, answer.weights[used], answer.tight, most)
        if exact is None:
            return this, this.entering
        keys = np.union1d(exact.columns.keys(), exact.entering)
        new = keys[~np.isin(keys, columns.keys())]
        # Without new features, a worse certificate means that the wrong ones were chosen.
        settled = exact.gap <= self.target or (exact.gap <= this.gap and not len(this.entering))
        return (exact, new) if settled or len(new) else (this, this.entering)

    def _from_before(self) -> Round | None:
        """The optimum for costs that changed little, by Newton's method alone, or None."""
        assert self.previous is not None
        support = self.previous.support
        weights = self.previous.weights[support]
        chosen = Columns(support, np.where(np.isin(support, self.free), 0.0, np.sign(weights)))
        multipliers = self.previous.multipliers
        exact = self._active_set(chosen, weights, multipliers, self.max_rounds - 1)
        return exact if exact is not None and exact.gap <= self.target else None

    def _active_set(self, chosen: Columns, weights, tight, most) -> Round | None:
        """Exact optima on some features, until no other reduced cost is violated.

        The last one, which may still leave violations, or None if there is none. Features enter
        at most ``most`` times.
        """
        best: Round | None = None
        for _ in range(1 + min(MAX_EXCHANGES, most)):
            found = polish_weighted_l1(
                self.moments, chosen, weights, self.costs[chosen.features], self.kappa, tight
            )
            if found is None:
                break
            answer, kept = found
            chosen = Columns(chosen.features[kept], chosen.signs[kept])
            best = self._judge(answer, chosen, POLISHED_TOL)
            if best.gap <= self.target or not len(best.entering):
                break
            entering = best.entering
            entering = entering[~np.isin(entering // 2, chosen.features)]
            worst = np.argsort(-best.tightness[entering // 2], kind="stable")
            entering = entering[worst[: max(COLUMNS_PER_ROUND, len(chosen) // 4)]]
            chosen = Columns(
                np.concatenate([chosen.features, entering // 2]),
                np.concatenate([chosen.signs, np.where(entering % 2 == 1, -1.0, 1.0)]),
            )
            weights, tight = np.append(answer.weights, np.zeros(len(entering))), answer.tight
        return best

    def _unit(self, costs) -> float:
        """About the size of the optimum, so that the program has numbers near one.

        From the previous solution, which is feasible; or the lower bound 2 min_j c_j / |D_j|,
        because D'w >= 2. Where some features are (nearly) free, a small share of what the
        others cost.
        """
        size = np.abs(self.moments.difference)
        if self.previous is not None:
            guess = float(costs @ np.abs(self.previous.weights))
        else:
            apart = size > 0.0
            guess = 2.0 * float((costs[apart] / size[apart]).min())
        return max(guess, 2e-4 * float(costs.max()) / float(size.max()))

    def _first_columns(self) -> Columns:
        """The features whose means differ most for their cost and spread."""
        difference, costs = self.moments.difference, self.costs
        spread = np.sqrt(self.moments.variances[0]) + np.sqrt(self.moments.variances[1])
        promise = np.abs(difference) / (costs + FREE_COST_SHARE * costs.max()) / (1.0 + spread)
        best = np.argsort(-promise, kind="stable")[:INITIAL_COLUMNS]
        return Columns.from_keys(2 * best + (difference[best] < 0.0), self.free)

    def _columns_before(self) -> Columns:
        """The support of the previous solution and the features that were nearly worth it."""
        before = self.previous
        assert before is not None
        assert before.reduced_costs is not None
        others = np.argsort(-before.tightness, kind="stable")
        others = others[before.weights[others] == 0.0][: max(15, len(before.support) // 2)]
        negative = [before.weights[before.support] < 0.0, before.reduced_costs[others] < 0.0]
        features = np.concatenate([before.support, others])
        return Columns.from_keys(2 * features + np.concatenate(negative), self.free)

    def _gap(self, answer, reduced, columns, accuracy) -> float:
        """Distance of the value to the dual bound, relative to the value.

        The multipliers become feasible for all features when scaled by min_j c_j / |reduced_j|.
        Features of the working set exceed their cost by what the cone solver calls zero; that is
        allowed for, because of a nearly free feature it would be a large share.
        """
        allowed = self.costs.copy()
        allowed[columns.features] += 10.0 * accuracy * self.costs.max()
        worst = float(quotient(np.abs(reduced), allowed).max(initial=1.0))
        missing = max(
            abs(answer.value - answer.dual_value), answer.value - answer.dual_value / worst
        )
        return missing / max(answer.value, 1.0)

    def _lengthening(self, weights) -> float:
        """The least factor with which the weights keep the distance of one, if any does."""
        support = np.flatnonzero(weights)
        values = weights[support]
        apart = float(self.moments.difference[support] @ values)
        larger = self.kappa * float(class_norms(self.moments, support, values).max())
        if apart <= larger:
            return 1.0
        # One of the two norms may exceed one, or none; both do at no scale or at all of them.
        return max(2.0 / apart, 1.0 / (apart - larger), 1.0)

    def _offset(self, weights) -> tuple[float, float]:
        """The middle of the feasible offsets, and by what share there are none."""
        support = np.flatnonzero(weights)
        values = weights[support]
        keep = np.maximum(self.kappa * class_norms(self.moments, support, values), 1.0)
        upper = float(self.moments.means[0][support] @ values) - keep[0]
        lower = float(self.moments.means[1][support] @ values) + keep[1]
        return 0.5 * (upper + lower), max(float((lower - upper) / keep.sum()), 0.0)
