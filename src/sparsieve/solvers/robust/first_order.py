"""First-order methods for robust regression: Chambolle and Pock's, and a working set around it.

Which l2,1-loss problems on sparse data have too many features for dense columns, and how then.

A round of the working set takes the features whose correlation with the dual point is large enough,
as sparse columns, and takes primal-dual steps on them; all of X is read once per round, to certify
and to find more of them.

The primal-dual method of Chambolle and Pock for row norms, on many sparse columns.

The problem is a saddle point: with F an orthonormal basis of the unpenalised columns,

    min_{W, B} max_M  <M, Y - X W - F B> + alpha sum_j ||w_j||   over ||m_i|| <= s_i,

and the method (2011) needs nothing but a product with X and one with X' per
step, both sides being simple alone: rows of W shrink, rows of M are cut back to their balls.
Newton's method takes fewer steps, but its equations couple all features, thousands of dense
columns; here memory is that of X and a few arrays of the size of W and Y. How fast it goes depends
on X: where no direction of X is much stronger than the others, as with many rare features, fifty to
a few hundred steps reach a gap of 1e-4.

The lengths of the steps are ``step_ratio`` / ||X|| for W and 1 / (``step_ratio`` ||X||) for M.
A good step ratio is the ratio of the distances that W and M have to go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...design import in_double
from ...penalties import row_norms
from ..base import Callback, Event, Result, relative
from .problem import DENSE_MAX_SAMPLES, BestSoFar, RobustRegression, RobustSolution, lower_bound

# Steps between two evaluations of the gap, which are one iteration in the count of the caller;
# the first evaluations come earlier.
STEPS_PER_CHECK, EARLY_CHECKS = 20, (5, 10)
# The estimate of ||X|| may be too low by its tolerance, a step must not be too long.
NORM_TOL, NORM_MARGIN = 1e-2, 1.02
OVER_RELAXATION = 1.8
# The exponent with which the ratio of the step sizes follows that of the moves, its factor from
# one check to the next, and the largest change at once.
STEP_RATIO_ADAPT, STEP_RATIO_DECAY, STEP_RATIO_MAX_CHANGE = 0.7, 0.9, 20.0
# Restarts of Halpern's iteration, as in PDLP: when moves have fallen to the sufficient share, when
# they grow again after having fallen to the necessary one, or after this share of all steps.
RESTART_SUFFICIENT, RESTART_NECESSARY, RESTART_ARTIFICIAL, RESTART_MIN_STEPS = 0.2, 0.8, 0.36, 20

TINY = 1e-300


@dataclass(frozen=True)
class ChambollePock:
    """Solve by products with X alone, on all columns of a design in double precision.

    Parameters
    ----------
    tol : float
        Stop when the relative duality gap is at most this.
    max_iter : int
        Maximum number of iterations, of twenty steps each.
    """

    tol: float = 1e-6
    max_iter: int = 1000

    def solve(
        self,
        problem: RobustRegression,
        start: Result[RobustSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Go on from W, B and the dual point of ``start``."""
        start = problem.without_features() if start is None else start
        return _Run(problem).run(self, start.solution, callback)


class _Run:
    def __init__(self, problem: RobustRegression):
        self.problem, self.design, self.basis = problem, problem.design, problem.free_basis
        d, n_free = self.design.shape[1], self.basis.shape[1]
        self.across = self.design.rmatmul(self.basis) if n_free else np.zeros((d, 0))
        norm = float(self.design.spectral_norm(NORM_TOL))
        norm = max(norm, float(np.sqrt(np.finfo(float).tiny)))
        # The unpenalised columns take part with the same norm, so that one length of step serves
        # all: ||[X, norm F]||^2 <= norm^2 + norm ||X'F||.
        self.reach = norm
        self.norm = NORM_MARGIN * float(np.sqrt(norm**2 + norm * np.linalg.norm(self.across)))

    def run(
        self, settings: ChambollePock, start: RobustSolution, callback: Callback | None
    ) -> Result[RobustSolution]:
        problem, Y = self.problem, self.problem.Y
        # The steps overwrite where they start from.
        W, M = start.W.copy(), start.dual.copy()
        B = self.basis.T @ (problem.free @ start.free) / self.reach
        now = _Place(W, B, M, self._image(W, B), *self._gradient(M))
        distance = float(np.linalg.norm(W)) or float(np.linalg.norm(Y)) / self.norm
        ratio = max(distance / max(float(np.linalg.norm(M)), TINY), TINY)
        pace: _Relaxed | _Anchored
        pace = _Anchored(now, ratio) if Y.shape[1] == 1 else _Relaxed(ratio)
        best = BestSoFar()
        n_iter = 0
        for step in range(1, STEPS_PER_CHECK * max(settings.max_iter, 1) + 1):
            following = self._step(now, pace.step_ratio)
            check = step % STEPS_PER_CHECK == 0 or step in EARLY_CHECKS
            if check:
                objective = problem.objective(following.W, Y - following.image)
                dual = self._feasible(following)
                best.see(objective, following.W, following.B, float(np.vdot(dual, Y)), dual)
                n_iter = -(-step // STEPS_PER_CHECK)
                stop = callback is not None and callback(Event(n_iter, best.objective, best.gap))
                if best.gap <= settings.tol or stop or not np.isfinite(objective):
                    break
            now = pace.advance(now, following, self.norm, check)
        free = problem.free_coefficients(self.basis @ (self.reach * best.B))
        return best.result(RobustSolution(best.W, free, dual=best.dual), n_iter, settings.tol)

    def _step(self, now: _Place, step_ratio: float) -> _Place:
        length, dual_length = step_ratio / self.norm, 1.0 / (step_ratio * self.norm)
        W = now.W + length * now.gradient
        shrinkage = self.problem.alpha * length / np.maximum(row_norms(W), TINY)
        W *= np.maximum(1.0 - shrinkage, 0.0)[:, None]
        B = now.B + length * now.free_gradient
        image = self._image(W, B)
        M = now.image - image
        M -= image
        M += self.problem.Y
        M *= dual_length
        M += now.M
        M *= np.minimum(self.problem.weights / np.maximum(row_norms(M), TINY), 1.0)[:, None]
        return _Place(W, B, M, image, *self._gradient(M))

    def _image(self, W: np.ndarray, B: np.ndarray) -> np.ndarray:
        image = self.design.matmul(W)
        if len(B):
            image += self.basis @ (self.reach * B)
        return image

    def _gradient(self, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.design.rmatmul(M), self.reach * (self.basis.T @ M)

    def _feasible(self, at: _Place) -> np.ndarray:
        """A feasible dual point."""
        along = at.free_gradient / self.reach
        dual = at.M - self.basis @ along
        correlations = row_norms(at.gradient - self.across @ along)
        dual /= max(
            float((row_norms(dual) / self.problem.weights).max(initial=0.0)),
            float(correlations.max(initial=0.0)) / self.problem.alpha,
            1.0,
        )
        return dual


@dataclass(frozen=True)
class _Place:
    """The unknowns and the products with them, which are linear."""

    W: np.ndarray
    B: np.ndarray
    M: np.ndarray
    image: np.ndarray
    gradient: np.ndarray
    free_gradient: np.ndarray

    def interpolate(self, new: _Place, length: float) -> _Place:
        """Self + length (new - self), in the memory of this one."""
        for mine, other in zip(vars(self).values(), vars(new).values(), strict=True):
            mine *= 1.0 - length
            mine += length * other
        return self

    def copy(self) -> _Place:
        return _Place(*(part.copy() for part in vars(self).values()))


class _Relaxed:
    """Go beyond every new point (Condat 2013).

    The step ratio follows the ratio of the moves of W and M, ever less so, since steps converge for
    any fixed step ratio.
    """

    def __init__(self, step_ratio: float):
        self.step_ratio = step_ratio
        self._follow = STEP_RATIO_ADAPT
        self._checks = 0

    def advance(self, old: _Place, new: _Place, norm: float, check: bool) -> _Place:
        if check:
            moved = float(np.linalg.norm(new.W - old.W)), float(np.linalg.norm(new.M - old.M))
            self.step_ratio = _following(self.step_ratio, *moved, self._follow)
            self._checks += 1
            if self._checks > len(EARLY_CHECKS):
                self._follow *= STEP_RATIO_DECAY
        return old.interpolate(new, OVER_RELAXATION)


class _Anchored:
    """Reflect at every new point, then go some way back to an anchor, which is renewed.

    The method is that of Lu and Yang (2024). With one output the problem is a linear program,
    where plain steps go round in circles.
    """

    def __init__(self, start: _Place, step_ratio: float):
        self.step_ratio = step_ratio
        self._anchor = start.copy()
        self._steps = self._all_steps = 0
        self._first = self._last = np.inf

    def advance(self, old: _Place, new: _Place, norm: float, check: bool) -> _Place:
        dW, dB, dM = new.W - old.W, new.B - old.B, new.M - old.M
        # How far a step goes, in the norm in which steps never get longer.
        square = norm * (
            (np.vdot(dW, dW) + np.vdot(dB, dB)) / self.step_ratio
            + self.step_ratio * np.vdot(dM, dM)
        ) - 2.0 * np.vdot(dM, new.image - old.image)
        move = float(np.sqrt(max(square, 0.0)))
        self._all_steps += 1
        if self._steps == 0:
            self._first = move
        anew = self._steps > 0 and (
            move <= RESTART_SUFFICIENT * self._first
            or (move <= RESTART_NECESSARY * self._first and move > self._last)
            or self._steps >= max(RESTART_ARTIFICIAL * self._all_steps, RESTART_MIN_STEPS)
        )
        self._last = move
        if anew:
            far = float(np.linalg.norm(new.W - self._anchor.W))
            dual_far = float(np.linalg.norm(new.M - self._anchor.M))
            self.step_ratio = _following(self.step_ratio, far, dual_far, 0.5)
            self._anchor, self._steps = new, 0
            return new.copy()  # which moves on, while the best point may be the other
        self._steps += 1
        share = self._steps / (self._steps + 1.0)
        return old.interpolate(new, 2.0).interpolate(self._anchor, 1.0 - share)


def _following(step_ratio: float, moved: float, dual_moved: float, share: float) -> float:
    """The step ratio on its way to the ratio of two distances."""
    if not (moved > 0 and dual_moved > 0):
        return step_ratio
    change = moved / dual_moved / step_ratio
    return (
        step_ratio
        * float(np.clip(change, 1 / STEP_RATIO_MAX_CHANGE, STEP_RATIO_MAX_CHANGE)) ** share
    )


# A Newton step costs n p^2 multiplications at the speed of BLAS, a primal-dual step four times
# the stored numbers and outputs at that of sparse products, ten times slower; there are a dozen of
# the ones and hundreds of the others. With few outputs there are more of these, not fewer.
NEWTON_VS_FIRST_ORDER_COST, MIN_OUTPUTS = 1000.0, 10
# Sparse columns cost next to nothing beside the factorisation of the equations of the features.
# Of 20,000 samples, Newton steps took 4 s for 535 features and 59 s for 2,400.
NEWTON_MAX_FEATURES = 2000
# Shares of alpha: features with larger correlations enter, zero rows with smaller ones leave.
ADD_THRESHOLD, DROP_THRESHOLD = 0.95, 0.8
# The first inner tolerance, and its factor from round to round once no feature violates its
# optimality condition by more than the last factor.
FIRST_TOL, TOL_DECAY, KKT_VIOLATION_LOOSE = 1e-2, 0.1, 1.02
# With such a share of the features X itself is used and no copy of columns.
WHOLE_MATRIX_SHARE = 0.7


def needs_first_order(problem: RobustRegression, size: int) -> bool:
    """Whether so many features are better taken as sparse columns, by primal-dual steps."""
    n_samples, n_outputs = problem.Y.shape
    if n_samples <= DENSE_MAX_SAMPLES or problem.design.is_remote:
        return False
    if problem.is_tall_and_sparse:
        return size > min(NEWTON_MAX_FEATURES, n_samples // 2)
    cost = problem.design.n_entries / n_samples * max(n_outputs, MIN_OUTPUTS)
    return float(size) ** 2 > NEWTON_VS_FIRST_ORDER_COST * cost


@dataclass(frozen=True)
class FirstOrderWorkingSet:
    """Rounds of primal-dual steps on sparse columns, each to a smaller inner tolerance.

    Parameters
    ----------
    tol : float
        Stop when the relative duality gap is at most this.
    max_iter : int
        Maximum number of iterations, of twenty steps each.
    """

    tol: float = 1e-6
    max_iter: int = 200

    def solve(
        self,
        problem: RobustRegression,
        start: Result[RobustSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Go on from the coefficients and the dual point of ``start``."""
        last = (problem.without_features() if start is None else start).solution
        alpha = problem.alpha
        eligible = problem.is_eligible
        inside = eligible & ((last.correlations > ADD_THRESHOLD * alpha) | last.W.any(axis=1))
        trace: list[float] = []
        n_iter, inner_tol = 0, max(FIRST_TOL, self.tol)
        while True:
            whole = inside.sum() > WHOLE_MATRIX_SHARE * len(inside) and bool(eligible.all())
            features = np.arange(len(inside)) if whole else np.flatnonzero(inside)
            design = problem.design if whole else problem.design.columns(features)
            inner = ChambollePock(inner_tol, self.max_iter - n_iter).solve(
                replace(problem, design=in_double(design), eligible=None),
                Result(replace(last, W=last.W[features]), np.inf, np.inf, 0, False),
            )
            n_iter += inner.n_iter
            trace.extend(inner.trace)
            W, dual = problem.restrict(features).coefficients(inner.solution.W), inner.solution.dual
            correlations = problem.correlations(dual)
            last = RobustSolution(W, inner.solution.free, correlations, dual)
            violation = problem.kkt_violation(correlations)
            gap = relative(inner.objective - lower_bound(inner) / violation, inner.objective)
            event = Event(n_iter, inner.objective, gap, len(features))
            stop = callback is not None and callback(event)
            if gap <= self.tol or n_iter >= self.max_iter or stop or not inner.converged:
                feasible = replace(last, correlations=correlations / violation)
                return Result(feasible, inner.objective, gap, n_iter, gap <= self.tol, trace)
            if violation <= KKT_VIOLATION_LOOSE:
                inner_tol = max(TOL_DECAY * inner_tol, 0.5 * self.tol)
            leaving = (correlations < DROP_THRESHOLD * alpha) & ~W.any(axis=1)
            inside = eligible & ((inside & ~leaving) | (correlations > ADD_THRESHOLD * alpha))
