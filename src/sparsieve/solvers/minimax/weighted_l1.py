"""Machines that reach a level with little weight: the weighted l1 machine and its DC program."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...penalties import Surrogate
from ..base import Callback, Event, Result
from ..engines.dca import DCA
from .cones import Columns, PrimalDual, solve_weighted_l1
from .generation import (
    AIM,
    ARTIFICIAL_COSTS,
    EXACT,
    EXCHANGES,
    FREE,
    GIVE_UP_ROUNDS,
    LEAST_JOINING,
    LOOSE,
    MAX_ROUNDS,
    RELATIVE_ZERO,
    START,
    TIGHT,
    ConeFailure,
    InfeasibleError,
    Round,
    final_weights,
    joining_keys,
    noise,
    quotient,
    settled_trace,
    with_ridge,
    worth_keeping,
)
from .hyperplane import Hyperplane, achieved_accuracy, class_norms
from .moments import TwoClassMoments
from .polish import polish_weighted_l1


@dataclass
class WeightedL1Machine:
    """Minimise costs'|w| such that each class keeps its distance, for any costs.

    mu1'w - b >= max(kappa N_1(w), 1) and b - mu2'w >= max(kappa N_2(w), 1). The features in
    play are remembered from one call of ``solve`` to the next, which is the warm start of the
    DC algorithm: its costs change little. The optimality is a certified relative gap to the
    optimum over all features, or (if larger) the share by which a constraint is missed.
    """

    moments: TwoClassMoments
    kappa: float
    tol: float = 1e-6
    max_rounds: int = MAX_ROUNDS
    callback: Callback | None = None
    _previous: Hyperplane | None = field(default=None, init=False, repr=False)
    _reduced: np.ndarray | None = field(default=None, init=False, repr=False)
    _tight: np.ndarray | None = field(default=None, init=False, repr=False)

    @property
    def latest(self) -> Hyperplane | None:
        """What the last call of ``solve`` found."""
        return self._previous

    def solve(self, costs: np.ndarray) -> Result[Hyperplane]:
        """The optimum for these costs, from the features of the previous one if there is one."""
        unit = self._unit(costs)
        costs = costs / unit
        free = np.flatnonzero(costs <= FREE * costs.max())
        warm = self._previous is not None
        target = max(AIM * self.tol, noise(self.moments))
        at_once = self._from_before(costs, free, target) if warm else None
        if at_once is not None:
            trace = [unit * at_once.answer.value]
            if self.callback is not None:
                self.callback(Event(1, trace[0], at_once.gap, len(at_once.columns)))
            return self._finished(at_once, costs, unit, 1, trace)
        columns = self._columns_before(free) if warm else self._first_columns(costs, free)
        # What was feasible for other costs still is; only a first program may be infeasible.
        artificial = iter(ARTIFICIAL_COSTS)
        artificial_cost = None if warm else next(artificial)
        accuracy = LOOSE
        trace = []
        for n_rounds in range(1, GIVE_UP_ROUNDS + 1):
            answer = solve_weighted_l1(
                self.moments,
                columns,
                costs[columns.features],
                self.kappa,
                artificial_cost,
                accuracy,
            )
            if answer is None and artificial_cost is not None and accuracy == TIGHT:
                # Too much asked of a program that may have no solution: back, at a higher price.
                accuracy, artificial_cost = LOOSE, next(artificial, None)
                if artificial_cost is None:
                    raise InfeasibleError
                continue
            if answer is None:
                raise ConeFailure
            this = self._judge(answer, columns, costs, accuracy)
            if answer.slack <= 1e-7:
                artificial_cost = None
                trace.append(unit * answer.value)
                this, new = self._exact(this, costs, target, self.max_rounds - n_rounds)
                event = Event(n_rounds, trace[-1], this.gap, len(columns))
                if self.callback is not None and self.callback(event):
                    break
                if n_rounds >= self.max_rounds or (this.gap <= target and this.accuracy <= TIGHT):
                    break
                if this.gap > target and len(new):
                    kept = worth_keeping(columns, this, self.moments.sizes)
                    columns = Columns.from_keys(np.concatenate([kept, new]), free)
                elif accuracy == TIGHT:
                    break
                else:
                    accuracy = TIGHT
            elif this.gap > target and len(this.joining):
                kept = worth_keeping(columns, this, self.moments.sizes)
                columns = Columns.from_keys(np.concatenate([kept, this.joining]), free)
            elif accuracy > TIGHT:
                accuracy = TIGHT  # what is left of the artificial variable may be inaccuracy
            else:
                artificial_cost = next(artificial, None)
                if artificial_cost is None:
                    raise InfeasibleError
        else:
            raise ConeFailure
        return self._finished(this, costs, unit, n_rounds, trace)

    def _finished(self, this: Round, costs, unit, n_rounds: int, trace) -> Result[Hyperplane]:
        """The result of a round, which is also where the next call starts."""
        # Where a feature just comes in, its small weight may matter; accurate ones can be told
        # from crumbs.
        for share in (RELATIVE_ZERO, min(RELATIVE_ZERO, 10.0 * this.accuracy)):
            weights = final_weights(this, self.moments, share)
            offset, violation = self._offset(weights)
            dearer = 0.0
            if violation > AIM * self.tol:
                # The crumbs mattered: the others take over, and what that costs counts.
                weights = weights * self._lengthening(weights)
                offset, violation = self._offset(weights)
                more = float(costs @ np.abs(weights)) - this.answer.value
                dearer = max(more, 0.0) / max(this.answer.value, 1.0)
            gap = max(this.gap + dearer, violation)
            if gap <= self.tol:
                break
        objective = unit * float(costs @ np.abs(weights))
        tightness = np.minimum(this.tightness, 1.0)
        accuracy = achieved_accuracy(self.moments, weights, offset)
        plane = Hyperplane(weights, offset, accuracy, tightness)
        self._previous, self._reduced = plane, this.reduced
        # In units of the objective, which is about one in the next call.
        self._tight = this.answer.tight / this.answer.value
        return Result(
            plane, objective, gap, n_rounds, gap <= self.tol, settled_trace(trace, objective)
        )

    def _judge(self, answer: PrimalDual, columns: Columns, costs, accuracy) -> Round:
        """Price all features with the multipliers of a restricted solution."""
        reduced = self.kappa * self.moments.price(*answer.duals)
        reduced += answer.strength * self.moments.difference
        reduced = with_ridge(reduced, answer, columns)
        tightness = quotient(np.abs(reduced), costs)
        gap = self._gap(answer, reduced, costs, columns, accuracy)
        joining = joining_keys(reduced, tightness, columns)
        return Round(answer, columns, reduced, tightness, max(gap, 0.0), joining, accuracy)

    def _exact(self, this: Round, costs, target: float, most: int) -> tuple[Round, np.ndarray]:
        """The exact optimum on the features that seem to be used, if that is an improvement.

        Also returns the keys of the features it asks for that were not in play.
        """
        answer, columns = this.answer, this.columns
        size = np.abs(answer.weights) * self.moments.sizes[columns.features]
        # Of weight and slack, one vanishes at the optimum: the larger share tells which.
        slack = 1.0 - this.tightness[columns.features]
        used = size > np.maximum(slack, RELATIVE_ZERO) * size.max()
        used |= (columns.signs == 0.0) & (size > 0.0)
        chosen = Columns(columns.features[used], columns.signs[used])
        if len(np.unique(chosen.features)) < len(chosen):
            return this, this.joining
        exact = self._active_set(chosen, answer.weights[used], answer.tight, costs, target, most)
        if exact is None:
            return this, this.joining
        wanted = np.union1d(exact.columns.keys(), exact.joining)
        new = wanted[~np.isin(wanted, columns.keys())]
        # Without new features, a worse certificate means that the wrong ones were chosen.
        settled = exact.gap <= target or (exact.gap <= this.gap and not len(this.joining))
        return (exact, new) if settled or len(new) else (this, this.joining)

    def _from_before(self, costs, free, target: float) -> Round | None:
        """The optimum for costs that changed little, by Newton's method alone, or None."""
        assert self._previous is not None
        assert self._tight is not None
        support = self._previous.support
        weights = self._previous.weights[support]
        signs = np.where(np.isin(support, free), 0.0, np.sign(weights))
        chosen = Columns(support, signs)
        most = self.max_rounds - 1
        exact = self._active_set(chosen, weights, self._tight, costs, target, most)
        return exact if exact is not None and exact.gap <= target else None

    def _active_set(self, chosen: Columns, weights, tight, costs, target, most) -> Round | None:
        """Exact optima on some features, until no other feature wants to join them.

        The last one, which may still ask for features, or None if there is none. Features join
        at most ``most`` times.
        """
        best: Round | None = None
        for _ in range(1 + min(EXCHANGES, most)):
            found = polish_weighted_l1(
                self.moments, chosen, weights, costs[chosen.features], self.kappa, tight
            )
            if found is None:
                break
            answer, kept = found
            chosen = Columns(chosen.features[kept], chosen.signs[kept])
            best = self._judge(answer, chosen, costs, EXACT)
            if best.gap <= target or not len(best.joining):
                break
            joining = best.joining
            joining = joining[~np.isin(joining // 2, chosen.features)]
            worst = np.argsort(-best.tightness[joining // 2], kind="stable")
            joining = joining[worst[: max(LEAST_JOINING, len(chosen) // 4)]]
            chosen = Columns(
                np.concatenate([chosen.features, joining // 2]),
                np.concatenate([chosen.signs, np.where(joining % 2 == 1, -1.0, 1.0)]),
            )
            weights, tight = np.append(answer.weights, np.zeros(len(joining))), answer.tight
        return best

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

    def _gap(self, answer, reduced, costs, columns, accuracy) -> float:
        """Distance of the value to the dual bound, relative to the value.

        The multipliers become feasible for all features when scaled by min_j c_j / |reduced_j|.
        Features in play exceed their cost by what the cone solver calls zero; that is allowed
        for, because of a nearly free feature it would be a large share.
        """
        allowed = costs.copy()
        allowed[columns.features] += 10.0 * accuracy * costs.max()
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


@dataclass
class SurrogateProgram:
    """Minimise sum_j delta(w_j) as a DC program, under the constraints of the machine.

    The features in ``free`` are not counted.
    """

    machine: WeightedL1Machine
    surrogate: Surrogate
    free: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def value(self, x: Result[Hyperplane] | None) -> float:
        """Surrogate of the number of features; the start (None: no weights) is infeasible."""
        if x is None:
            return np.inf
        return self.surrogate.total(np.delete(x.solution.weights, self.free))

    def linearise(self, x: Result[Hyperplane] | None) -> np.ndarray:
        """Slope of the concave part in |w|."""
        none = np.zeros(self.machine.moments.n_features)
        return self.surrogate.concave_gradient(none if x is None else x.solution.weights)

    def solve_convex(
        self, slope: np.ndarray, x0: Result[Hyperplane] | None
    ) -> Result[Hyperplane] | None:
        """The weighted l1 machine, from the features in play before.

        The step cannot gain more than what x0 costs; where that is next to nothing, x0 stays.
        A cone solver that gives up half way is no reason to lose what was found: None (of
        infinite value) ends the DC algorithm at the last good point.
        """
        costs = self.surrogate.slope_at_zero - slope
        costs[self.free] = 0.0
        if x0 is not None and costs @ np.abs(x0.solution.weights) <= 1e-7 * self.value(x0):
            return x0
        try:
            return self.machine.solve(costs)
        except ConeFailure:
            if x0 is None:
                raise
            return None

    def settled(self, old: Result[Hyperplane] | None, new: Result[Hyperplane]) -> bool:
        """Whether the same features are used."""
        return old is not None and np.array_equal(old.solution.support, new.solution.support)


def solve_surrogate(
    program: SurrogateProgram, *, max_iter: int, tol: float, callback: Callback | None = None
) -> Result[Hyperplane]:
    """The DC algorithm from zero weights, whose first step is the l1 machine.

    The optimality is the larger of the last relative decrease and the gap of the last step.
    """

    def show(event: Event) -> bool | None:
        plane = event.solution.solution
        shown = replace(event, n_features=len(plane.support), solution=plane)
        return None if callback is None else callback(shown)

    # A change below tol, up or down, is within what was asked for.
    run = DCA(max_iter, tol, slack=max(tol, 1e-6)).solve(program, None, show)
    step: Result[Hyperplane] = run.solution
    plane, latest = step.solution, program.machine.latest
    if latest is not None and np.array_equal(latest.support, plane.support):
        # The prices of the last program, also where rounding alone spoke against its weights.
        plane = replace(plane, tightness=latest.tightness)
    optimality = max(run.optimality, step.optimality)
    converged = run.converged and optimality <= tol
    return Result(plane, run.objective, optimality, run.n_iter, converged, run.trace)
