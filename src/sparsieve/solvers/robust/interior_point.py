"""Primal-dual interior points for sums of row norms, in few iterations and with a certificate.

Writing Z = [X, I], the problem min sum_i s_i ||e_i|| + sum_j omega_j ||w_j|| subject to
X W + E + F B = Y treats residual rows and coefficient rows alike: V = (W; E) has rows v_k with
weights omega_k. Its dual is max <M, Y> subject to ||z_k'M|| <= omega_k and F'M = 0, and at the
solution v_k = a_k m_k with m_k = z_k'M, a_k >= 0 and a_k (omega_k^2 - ||m_k||^2) = 0. The method
follows Newton steps on

    Z diag(a) Z' M + F B = Y,   F'M = 0,   a_k (omega_k^2 - ||m_k||^2) = mu

to mu = 0 with M strictly feasible all along, so that every iterate carries its own lower bound.
Iteratively reweighted least squares is the same system with mu and the coupling of a and M
forgotten; it needs hundreds of iterations where this needs about ten. Eliminating M leaves one
unknown per row of V, whatever the number of outputs.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from ...design import own_passes
from ...penalties import row_norms
from ..base import Callback, Event, Result, relative
from ..engines.conjugate_gradients import conjugate_gradients
from .problem import BestSoFar, RobustRegression, RobustSolution, orthonormal_basis
from .weighted_gram import EXACT_DIAGONAL_MAX_SAMPLES, ReweightedSystem, SparseColumns, cholesky

# Share of the way to the boundary of the cone that a step may go.
FRACTION_TO_BOUNDARY = 0.99
# Residuals of the Newton equations as shares of mu: in general, where the equations are those of
# few samples and cheap to solve, and for the predictor, which only shows the way.
CG_TOL, CG_TOL_DIRECT, CG_TOL_PREDICTOR = 0.1, 0.01, 0.3
# The matrix that couples the features preconditions a system when the conjugate gradients of the
# last one cost this many times its factorisation: 1.6 times as fast on isolet, never slower.
PRECONDITIONER_PAYOFF = 5.0
# A step below this length is tried again, aiming at these shares of the current mu.
SHORT_STEP = 0.3
CENTERING_FALLBACKS = (0.3, 0.8)
# A loss below this share of the loss without features counts as zero.
ZERO_LOSS_TOL = 1e-11
# Up to so many multiplications for a matrix of the features, further threads only get in the way.
SINGLE_THREAD_WORK = 2e8
# The duality gap may fall to this share of the tolerance so that zero rows can be zero exactly.
POLISH_FACTOR = 0.01


@dataclass(frozen=True)
class InteriorPoint:
    """Solve on all eligible features at once, as dense columns.

    Rows that are zero at the optimum are only small in the solution; see ``polishing``.
    Where alpha is zero the features are unpenalised columns like the others.

    Parameters
    ----------
    tol : float
        Stop when the relative duality gap is at most this.
    max_iter : int
        Maximum number of Newton steps.
    zero_tol : float or None
        Go on for some steps beyond ``tol``, until zero rows can be made zero at this gap: cheaper
        than to solve without them afterwards.
    """

    tol: float = 1e-6
    max_iter: int = 100
    zero_tol: float | None = None

    def solve(
        self,
        problem: RobustRegression,
        start: Result[RobustSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Take Newton steps, from the row norms of ``start`` where its features are the same."""
        few = len(problem.Y) * float(len(problem.features)) ** 2 <= SINGLE_THREAD_WORK
        with own_passes(problem.design) if few else nullcontext():
            return _Run(problem, start).run(self, callback)


def _inner(V: np.ndarray, U: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", V, U)


class _Run:
    def __init__(self, problem: RobustRegression, start: Result[RobustSolution] | None):
        self.problem, self.start = problem, start
        self.X: np.ndarray | SparseColumns
        self.columns: np.ndarray | SparseColumns
        if problem.alpha > 0:
            self.X, self.basis = problem.X, problem.free_basis
        else:
            self.X = np.empty((len(problem.Y), 0))
            self.basis = orthonormal_basis(np.hstack([problem.dense_X, problem.free]))
        if isinstance(self.X, np.ndarray):
            self.columns = np.hstack([self.X, self.basis])
        else:
            self.columns = SparseColumns(self.X.X, self.basis)
        self.n_features = d = self.X.shape[1]
        self.omega = np.concatenate([np.full(d, float(problem.alpha)), problem.weights])
        self.omega_sq = self.omega**2
        # Z'F: what a feasible M must not have any part in.
        self.free = np.vstack([self.X.T @ self.basis, self.basis])
        self.steps = 0  # of conjugate gradients in the last system

    # Z without the identity.
    def _combine(self, V: np.ndarray) -> np.ndarray:
        return self.X @ V[: self.n_features] + V[self.n_features :]

    def _system(self, a: np.ndarray) -> ReweightedSystem:
        d = self.n_features
        return ReweightedSystem(self.columns, a[:d], a[d:])

    def _without_free(self, m: np.ndarray) -> np.ndarray:
        """Z'M for the part of M that the unpenalised columns are orthogonal to."""
        return m - self.free @ (self.basis.T @ m[self.n_features :])

    def _first_multipliers(self, rest: np.ndarray) -> tuple[np.ndarray, int]:
        """Multipliers a, and the number of reweighted least-squares steps that they need.

        At a solution v_k = a_k m_k with ||m_k|| = omega_k, where v_k is not zero: a warm start
        has norms over weights. ``rest`` are the norms of what the unpenalised columns leave of Y.
        """
        d, problem = self.n_features, self.problem
        if self.start is not None and d:
            solution = self.start.solution
            features = row_norms(solution.W[problem.features]) / problem.alpha
            used = features > 0
            if used.any():
                features[~used] = 0.1 * features[used].mean()
                residual = problem.Y - problem.free @ solution.free
                residual -= self.X @ solution.W[problem.features]
                a = np.concatenate([features, row_norms(residual) / problem.weights])
                for part in (a[:d], a[d:]):
                    np.maximum(part, 1e-3 * part.mean(), out=part)
                return a, 1
        samples = np.maximum(rest, 0.1 * rest.mean()) / problem.weights
        spread = problem.mean_square
        features = np.full(d, 0.1 * samples.mean() * len(samples) / max(spread, 1e-300))
        return np.concatenate([features, samples]), 3

    def _first_point(self, rest: np.ndarray) -> None:
        """A few reweighted least-squares steps, then a strictly feasible M."""
        Y = self.problem.Y
        self.a, steps = self._first_multipliers(rest)
        for _ in range(steps):
            self.m = self._system(self.a)(Y)
            self.a *= np.maximum(row_norms(self.m) / self.omega, 1e-2)
        self.m = self._without_free(self._system(self.a)(Y))
        self.m *= 0.95 / max((row_norms(self.m) / self.omega).max(), np.finfo(float).tiny)

    def run(self, settings: InteriorPoint, callback: Callback | None) -> Result[RobustSolution]:
        problem, d, tol = self.problem, self.n_features, settings.tol
        rest = row_norms(problem.Y - self.basis @ (self.basis.T @ problem.Y))
        at_zero = float(problem.weights @ rest)
        # The unpenalised columns alone, by least squares.
        nothing = np.zeros((d, problem.Y.shape[1])), self.basis.T @ problem.Y
        no_dual = 0.0, np.zeros_like(problem.Y)
        best = BestSoFar(ZERO_LOSS_TOL * at_zero)
        if at_zero <= ZERO_LOSS_TOL * float(problem.weights @ row_norms(problem.Y)):
            best.see(0.0, *nothing, *no_dual)
            return self._result(best, 0, tol)
        length, n_iter = 0.0, 0
        try:
            self._first_point(rest)
            for n_iter in range(settings.max_iter + 1):
                slack = self.omega_sq - _inner(self.m, self.m)
                if not (np.isfinite(slack).all() and (slack > 0).all() and (self.a > 0).all()):
                    n_iter = max(n_iter - 1, 0)
                    break  # rounding has the last word
                # A product a_k slack_k far below the others blocks every step; raising a_k
                # disturbs the equations by no more than mu does.
                least = (0.1 if length < SHORT_STEP else 1e-3) * float((self.a * slack).mean())
                self.a = np.maximum(self.a, least / slack)
                system = self._system(self.a)
                _, W, B = system.fit(problem.Y)
                objective = problem.objective(W, self._residual(W, B))
                best.see(objective, W, B, float(np.vdot(self.m[d:], problem.Y)), self.m[d:])
                event = Event(n_iter, best.objective, best.gap, d)
                stop = callback is not None and callback(event)
                enough = best.gap <= tol and (
                    settings.zero_tol is None
                    or best.gap <= POLISH_FACTOR * tol
                    or self._gap_with_zeros(best) <= settings.zero_tol
                )
                if enough or stop or n_iter == settings.max_iter or (n_iter and length < 1e-10):
                    break
                length = self._advance(system, slack)
        except np.linalg.LinAlgError:  # numbers beyond the range of doubles: what there is counts
            pass
        if not best.trace:
            best.see(at_zero, *nothing, *no_dual)
        return self._result(best, n_iter, tol)

    def _residual(self, W: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self.problem.Y - self.columns @ np.vstack([W, B])

    def _gap_with_zeros(self, best: BestSoFar) -> float:
        """The relative duality gap after making zero rows exactly zero."""
        problem = self.problem
        correlations = row_norms(self.X.T @ best.dual)
        zero = problem.vanishing(best.W, correlations, best.objective)
        W = np.where(zero[:, None], 0.0, best.W)
        objective = problem.objective(W, self._residual(W, best.B))
        return relative(objective - best.dual_objective, best.objective)

    def _result(self, best: BestSoFar, n_iter: int, tol: float) -> Result[RobustSolution]:
        problem = self.problem
        rows, fitted = best.W, self.basis @ best.B
        if problem.alpha > 0:
            free = problem.free_coefficients(fitted)
        else:
            columns = np.hstack([problem.dense_X, problem.free])
            rows, free = np.split(
                np.linalg.lstsq(columns, fitted, rcond=None)[0], [len(problem.features)]
            )
        solution = RobustSolution(
            problem.coefficients(rows), free, problem.native_correlations(best.dual), best.dual
        )
        return best.result(solution, n_iter, tol)

    def _advance(self, system: ReweightedSystem, slack: np.ndarray) -> float:
        """One predictor-corrector step; returns its length."""
        a, m = self.a, self.m
        step = self._newton(system, slack)
        mu = float((a * slack).mean())
        da, dm = step(np.zeros_like(a), None)
        length = self._longest(da, dm, slack)
        reached = m + length * dm
        left = self.omega_sq - _inner(reached, reached)
        share = float(((a + length * da) * left).mean()) / mu
        centering = float(np.clip(share**3, 1e-6, 1.0))
        coupling = 2.0 * da * _inner(m, dm) + a * _inner(dm, dm)
        guess = da
        # The second-order term usually helps; where it cuts the step short, a plain step back
        # towards the central path is better.
        targets = [centering * mu + coupling] + [
            np.full_like(a, share * mu) for share in CENTERING_FALLBACKS
        ]
        longest = 0.0
        for target in targets:
            da, dm = step(target, guess)
            length = self._longest(da, dm, slack)
            if length > longest:
                longest, best = length, (da, dm)
            if longest >= SHORT_STEP:
                break
        if longest > 0:
            self.a = a + longest * best[0]
            self.m = self._without_free(m + longest * best[1])
        return longest

    def _newton(self, system: ReweightedSystem, slack: np.ndarray):
        """A function from the wanted a_k (omega_k^2 - ||m_k||^2) and a guess to the step (da, dm).

        With H = (Z'PZ) * (m m') and q = Z'P (Y - Z diag(a) m) the step solves
        (diag(slack / a) + 2 H) da = target / a - slack + 2 m.q,   dm = q - Z'P Z (m da).
        """
        if self.m.shape[1] == 1:
            return self._single_output_newton(slack)
        a, m, d = self.a, self.m, self.n_features
        q = system(self.problem.Y - self._combine(a[:, None] * m))
        right_side = 2.0 * _inner(m, q) - slack
        diagonal = slack / a
        mu = float((a * slack).mean())

        accuracy = CG_TOL_DIRECT if len(self.problem.Y) <= EXACT_DIAGONAL_MAX_SAMPLES else CG_TOL
        precondition = self._preconditioner(system, diagonal)
        self.steps = 0

        def apply(x):
            self.steps += 1
            features, samples = system.both(m[:d] * x[:d, None], m[d:] * x[d:, None])
            image = diagonal * x
            image[:d] += 2.0 * _inner(m[:d], features)
            image[d:] += 2.0 * _inner(m[d:], samples)
            return image

        def step(target, near):
            # What is left of the residual r changes a_k (omega_k^2 - ||m_k||^2) by a_k r_k.
            # The predictor only shows the way; the corrector starts from it.
            limit = (CG_TOL_PREDICTOR if near is None else accuracy) * (mu / a)
            right = target / a + right_side
            da = conjugate_gradients(
                apply, right, precondition, limit=limit, start=near, max_steps=300
            )
            return da, q - system(self._combine(m * da[:, None]))

        return step

    def _preconditioner(self, system: ReweightedSystem, diagonal: np.ndarray):
        """Roughly the inverse of the Newton matrix: its diagonal, and what couples the features.

        Features are coupled much more than samples; their matrix pays as soon as
        the last system took long.
        """
        n, d = self.X.shape
        m = self.m
        among = 2.0 * np.concatenate(system.variances()) * _inner(m, m)
        scale = 1.0 / (diagonal + among)
        if (
            system.on_samples
            or self.steps * 4.0 * n * d * m.shape[1] <= PRECONDITIONER_PAYOFF * float(d) ** 3
        ):
            return lambda r: scale * r
        matrix = 2.0 * system.among_features() * (m[:d] @ m[:d].T)
        matrix[np.diag_indices(d)] += diagonal[:d]
        factor, _ = cholesky(matrix)

        def precondition(r):
            z = scale * r
            z[:d] = cho_solve((factor, True), r[:d], check_finite=False)
            return z

        return precondition

    def _single_output_newton(self, slack: np.ndarray):
        """With one output, eliminating da instead of M leaves a system of the same form."""
        a, m = self.a, self.m
        system = self._system(a * (1.0 + 2.0 * m[:, 0] ** 2 / slack))
        missing = self.problem.Y - self._combine(a[:, None] * m)

        def step(target, near):
            shift = (target - a * slack) / slack
            dm = system(missing - self._combine(m * shift[:, None]))
            return shift + 2.0 * a / slack * (m * dm)[:, 0], dm

        return step

    def _longest(self, da: np.ndarray, dm: np.ndarray, slack: np.ndarray) -> float:
        """The longest step up to 1 that stays away from a = 0 and ||m|| = omega."""
        along, square = _inner(self.m, dm), _inner(dm, dm)
        # The positive root of ||m + x dm||^2 = omega^2, written without cancellation.
        below = along + np.sqrt(along**2 + square * slack)
        falling, reaching = da < 0, below > 0
        lengths = -self.a[falling] / da[falling], slack[reaching] / below[reaching]
        return min(1.0, *(FRACTION_TO_BOUNDARY * float(x.min(initial=np.inf)) for x in lengths))
