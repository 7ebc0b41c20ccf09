"""The machines of the papers as they were published, in cone programs over all features.

**L0-MPM.**
The surrogate sum_j delta(w_j) is written as slope |w_j| less a smooth convex function h. A step
minimises

    slope e't - h'(w_k)'w   s.t.  -t <= w <= t  and the constraints of the machine.

The linear term has the sign of w_k, so that a weight that changes its sign costs more than one
that keeps it; the steps of ``L0MPM`` replace it by a weighted l1 norm, which treats both alike.

**S-MPM.**
The machine maximises r(w) = g(w) / N(w) with the gain g(w) = D'w - alpha'|w| and the spread
N(w) = N_1(w) + N_2(w). The ratio does not depend on the length of w, so D'w = 1 may be asked for,
and

    F(q) = max { g(w) - q N(w) : D'w = 1 }

falls strictly from F(0) > 0 to its only root, which is the largest ratio. Every F(q) is a cone
program over all features whose cost alone depends on q. Its solution has a ratio of its own, a
lower bound of the root, and the next q is where the parabola through the last three points of the
curve vanishes, or (while there are fewer, or if that leaves what is known of the root) that
ratio, which is Dinkelbach's step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ....solvers.base import Callback, Event, Result, relative
from .column_generation import ZERO_WEIGHT_TOL, ConeFailure, InfeasibleError, quotient
from .cones import ConeProgram, ConeSolution
from .moments import TwoClassMoments
from .problem import Hyperplane, Minimax, achieved_accuracy, class_norms
from .ratio_mpm import best_single_feature, of_gain_one, without_spread

CONE_TOL = 1e-9


def split_program(
    moments: TwoClassMoments,
    prices: np.ndarray,
    linear: np.ndarray,
    heads: np.ndarray,
    kappa: float,
    has_length: bool,
) -> ConeProgram:
    """Minimise prices't s.t. -t <= w <= t, ``linear`` <= -1, and both norms below ``heads``.

    Variables are w and t in units of the features, and a few others, the last of which is
    s >= ||w|| for the ridges. ``linear`` and ``heads`` have entries for w and for the others.

    Parameters
    ----------
    heads : ndarray of shape (2, n_features + n_others)
        What bounds kappa N_1 and kappa N_2, with the opposite sign.
    has_length : bool
        Whether s is bounded by the length of w.
    """
    d, units = moments.n_features, moments.sizes
    n_others = linear.shape[1] - d

    def wide(rows: np.ndarray) -> sparse.csc_matrix:
        return sparse.csc_matrix(np.hstack([rows[:, :d], np.zeros((len(rows), d)), rows[:, d:]]))

    eye, none = sparse.identity(d), sparse.csc_matrix((d, n_others))
    rows = [sparse.hstack([eye, -eye, none]), sparse.hstack([-eye, -eye, none]), wide(linear)]
    sizes = []
    for which in (0, 1):
        factor = moments.columns(which, np.arange(d)) / units
        block = np.zeros((len(factor) + 2, d + n_others))
        block[0] = heads[which]
        block[1:-1, :d] = -kappa * factor
        block[-1, -1] = -kappa * np.sqrt(moments.ridges[which])
        rows.append(wide(block))
        sizes.append(len(block))
    if has_length:
        head = np.zeros((1, d + n_others))
        head[0, -1] = -1.0
        body = sparse.hstack([-sparse.diags(1.0 / units), sparse.csc_matrix((d, d + n_others))])
        rows += [wide(head), body]
        sizes.append(d + 1)
    A = sparse.vstack(rows, format="csc")
    b = np.zeros(A.shape[0])
    b[2 * d : 2 * d + len(linear)] = -1.0
    cost = np.concatenate([np.zeros(d), prices / units, np.zeros(n_others)])
    return ConeProgram(cost, A, b, 2 * d + len(linear), sizes, CONE_TOL)


def without_noise(scaled: np.ndarray) -> np.ndarray:
    """The weights, with zeros for those that the accuracy of the solver leaves."""
    return np.where(np.abs(scaled) <= ZERO_WEIGHT_TOL * np.abs(scaled).max(), 0.0, scaled)


@dataclass(frozen=True)
class PublishedL0MPM:
    """From zero weights, whose first step is the l1 machine; the paper leaves the start open.

    It stops by the rule of the paper: the point moves by less than ``tol``, or the objective falls
    by no more than ``tol``. The optimality is the smaller of the two.
    """

    max_iter: int = 100
    tol: float = 1e-4

    def solve(
        self,
        problem: Minimax,
        start: Result[Hyperplane] | None = None,
        callback: Callback | None = None,
    ) -> Result[Hyperplane]:
        """Run from zero weights; ``start`` is not used."""
        surrogate = problem.surrogate
        assert surrogate is not None
        counted = np.ones(problem.moments.n_features, dtype=bool)
        counted[problem.free] = False
        program = _StepProgram(problem, surrogate.slope_at_zero * counted)
        point, value, optimality = np.zeros(len(counted) + 1), np.inf, np.inf
        plane: Hyperplane | None = None
        trace: list[float] = []
        while len(trace) < self.max_iter and not optimality < self.tol:
            weights = point[:-1]
            slope = np.sign(weights) * surrogate.concave_gradient(np.abs(weights)) * counted
            plane = program.solve(slope)
            new = np.append(plane.weights, plane.offset)
            after = surrogate.total(plane.weights[counted])
            moved, fallen = float(np.linalg.norm(new - point)), value - after
            optimality = min(moved, max(fallen, 0.0)) if trace else np.inf
            point, value = new, after
            trace.append(value)
            used = len(plane.support)
            event = Event(len(trace), value, optimality, n_features=used, solution=plane)
            if callback is not None and callback(event):
                break
        assert plane is not None
        return Result(plane, value, optimality, len(trace), optimality < self.tol, trace)


class _StepProgram:
    """The cone program of a step, whose cost alone changes.

    Variables are w and t in units of the features, b, and s >= ||w|| for the ridges.
    """

    def __init__(self, problem: Minimax, prices: np.ndarray):
        moments, kappa = problem.moments, problem.kappa
        self.moments, self.prices, self.units = moments, prices, moments.sizes
        d = moments.n_features
        sides = np.zeros((2, d + 2))  # how far the means lie on their side, with its sign
        sides[0, :d], sides[0, d] = -moments.means[0] / self.units, 1.0
        sides[1, :d], sides[1, d] = moments.means[1] / self.units, -1.0
        # Without a ridge the last cone only keeps s from being free.
        self.program = split_program(moments, prices, sides, sides, kappa, has_length=True)

    def solve(self, slope: np.ndarray) -> Hyperplane:
        """The machine that a step ends with; weights of solver accuracy are zeros."""
        d = len(slope)
        cost = self.program.q.copy()
        cost[:d] = -slope / self.units
        answer = self.program.solve(cost)
        if answer.status == "infeasible":
            raise InfeasibleError
        if answer.status != "solved":
            raise ConeFailure
        weights, offset = without_noise(answer.x[:d]) / self.units, float(answer.x[2 * d])
        accuracy = achieved_accuracy(self.moments, weights, offset)
        return Hyperplane(weights, offset, accuracy, self._tightness(answer, weights))

    def _tightness(self, answer: ConeSolution, weights: np.ndarray) -> np.ndarray:
        """The two multipliers of a feature's |w| add up to its price; used features take all."""
        d = len(weights)
        reduced = np.abs(answer.z[:d] - answer.z[d : 2 * d]) * self.units
        return np.where(weights != 0.0, 1.0, np.minimum(quotient(reduced, self.prices), 1.0))


BOUND_TOL = 1e-12  # a bound that moves by less than this share of itself stands still


@dataclass(frozen=True)
class PublishedSMPM:
    """Quadratic interpolation of F; the objective reported is the inverse ratio, as of ``SMPM``.

    The optimality is the certified distance of the ratio from an upper bound of the largest one,
    relative to that bound: where F(q) <= 0, no ratio is above q. The iteration aims a little
    above the root to learn such a bound. Cone programs of limited accuracy can stall it above
    ``tol``; it ends when neither bound moves any more.
    """

    tol: float = 1e-6
    max_iter: int = 200

    def solve(
        self,
        problem: Minimax,
        start: Result[Hyperplane] | None = None,
        callback: Callback | None = None,
    ) -> Result[Hyperplane]:
        """Begin with the best single feature, as published; ``start`` is not used."""
        moments, alpha = problem.moments, problem.costs
        if without_spread(moments):
            return best_single_feature(moments, alpha)
        weights, lower = _single_feature(moments, alpha)
        tightness = np.abs(moments.difference) / np.abs(moments.difference).max()
        if np.isinf(lower):  # a feature without spread
            return Result(
                of_gain_one(moments, alpha, weights, tightness)[0], 0.0, 0.0, 1, True, [0.0]
            )
        program = _ParametricProgram(moments, alpha)
        q, upper, optimality, n_stalled = lower, np.inf, 1.0, 0
        points: list[tuple[float, float]] = []
        trace: list[float] = []
        while len(points) < self.max_iter and optimality > self.tol and n_stalled < 2:
            candidate, bound, closeness = program.solve(q)
            gain, spread = program.gain_and_spread(candidate)
            points.append((q, gain - q * spread))
            moved = False
            if gain > (lower * (1.0 + BOUND_TOL)) * spread:
                lower, weights, tightness, moved = gain / spread, candidate, closeness, True
            if bound <= 0.0 and q < upper * (1.0 - BOUND_TOL):
                upper, moved = q, True
            n_stalled = 0 if moved else n_stalled + 1
            optimality = relative(upper - lower, upper) if np.isfinite(upper) else 1.0
            trace.append(1.0 / lower)
            event = Event(len(points), trace[-1], optimality, int(np.count_nonzero(weights)))
            if callback is not None and callback(event):
                break
            q = _next(points, lower, upper) * (1.0 + 0.5 * self.tol)
        plane, objective = of_gain_one(moments, alpha, weights, tightness)
        return Result(plane, objective, optimality, len(points), optimality <= self.tol, trace)


def _next(points: list[tuple[float, float]], lower: float, upper: float) -> float:
    """Root of the parabola q(F) through the last three points, or the best ratio so far."""
    if len(points) >= 3:
        (a, fa), (b, fb), (c, fc) = points[-3:]
        if len({fa, fb, fc}) == 3:
            root = (
                a * fb * fc / ((fa - fb) * (fa - fc))
                + b * fa * fc / ((fb - fa) * (fb - fc))
                + c * fa * fb / ((fc - fa) * (fc - fb))
            )
            if lower < root < upper:
                return float(root)
    return lower


def _single_feature(moments: TwoClassMoments, alpha: np.ndarray) -> tuple[np.ndarray, float]:
    """The best ratio of one feature alone, and its weights."""
    variances = [v + ridge for v, ridge in zip(moments.variances, moments.ridges, strict=True)]
    spread = np.sqrt(variances[0]) + np.sqrt(variances[1])
    gain = np.abs(moments.difference) - alpha
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(gain > 0.0, gain / spread, 0.0)
    best = int(np.argmax(ratios))
    weights = np.zeros(moments.n_features)
    weights[best] = 1.0 / moments.difference[best]
    return weights, float(ratios[best])


class _ParametricProgram:
    """F(q): minimise alpha'|w| + q (N_1 + N_2) s.t. D'w >= 1, for one q after the other.

    Variables are w, |w|, N_1, N_2 and s >= ||w|| for the ridges, in units of the features.
    """

    def __init__(self, moments: TwoClassMoments, alpha: np.ndarray):
        self.moments, self.alpha, self.units = moments, alpha, moments.sizes
        d = moments.n_features
        slope = np.append(-moments.difference / self.units, np.zeros(3))[None, :]
        spreads = np.zeros((2, d + 3))
        spreads[0, d] = spreads[1, d + 1] = -1.0
        has_ridge = max(moments.ridges) > 0.0
        self.program = split_program(moments, alpha, slope, spreads, 1.0, has_length=has_ridge)

    def solve(self, q: float) -> tuple[np.ndarray, float, np.ndarray]:
        """(weights with D'w = 1, upper bound of F(q), how nearly every feature is used)."""
        d = self.moments.n_features
        cost = self.program.q.copy()
        cost[2 * d : 2 * d + 2] = q
        answer = self.program.solve(cost)
        if answer.status != "solved":
            raise ConeFailure
        weights = without_noise(answer.x[:d]) / self.units
        weights /= self.moments.difference @ weights
        # The two multipliers of a feature's |w| add up to its cost; used features take all.
        reduced = np.abs(answer.z[:d] - answer.z[d : 2 * d])
        closeness = np.minimum(quotient(reduced, cost[d : 2 * d]), 1.0)
        return weights, 1.0 - answer.dual_objective, closeness

    def gain_and_spread(self, weights: np.ndarray) -> tuple[float, float]:
        """g(w) and N(w)."""
        support = np.flatnonzero(weights)
        spread = float(class_norms(self.moments, support, weights[support]).sum())
        gain = float(self.moments.difference @ weights - self.alpha @ np.abs(weights))
        return gain, max(spread, np.finfo(float).tiny)
