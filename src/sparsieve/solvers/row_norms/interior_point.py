"""An interior-point method for sums of row norms, in few iterations and with a certificate.

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

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_solve

from ...penalties import row_norms
from ..base import Result, relative
from ..engines.conjugate_gradients import conjugate_gradients
from ._weighted_kernel import FEW_SAMPLES, WeightedKernel, cholesky
from .row_norm_problem import BestSoFar, RowNormPoint, RowNormProblem

BOUNDARY = 0.99
# Newton equations are solved to this share of mu, more exactly where that is cheap; the predictor
# only shows the way.
ACCURACY, CHEAP_ACCURACY, ROUGHLY = 0.1, 0.01, 0.3
# The coupling of the features is worth its price when conjugate gradients took this much longer.
COUPLING = 5.0
# A step shorter than this is tried again, aiming at these shares of the current mu.
SHORT = 0.3
CENTRINGS = (0.3, 0.8)
# Below this share of the objective at zero a fit counts as exact.
EXACT = 1e-11
# How far below the gap asked for it may go on so that vanishing rows can be zero.
GO_ON = 0.01


def unpenalised_basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the span of ``columns``, dependent ones dropped."""
    if columns.shape[1] == 0:
        return columns
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    floor = singular[0] * max(columns.shape) * np.finfo(float).eps
    return np.ascontiguousarray(left[:, singular > floor])


def constant_column(n_samples: int, fit_intercept: bool) -> np.ndarray:
    """The free column of an intercept, or none."""
    return np.full((n_samples, int(fit_intercept)), 1.0 / np.sqrt(n_samples))


def minimise_row_norms(
    problem: RowNormProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
    start: np.ndarray | None = None,
    bound: float = -np.inf,
    zero_tol: float | None = None,
) -> Result[RowNormPoint]:
    """Solve to a relative duality gap of ``tol``, from the ``rows`` of a similar problem.

    ``bound`` is a lower bound of the optimum that is known already; it may end the work earlier.
    With ``zero_tol`` it may go on for some steps, until the vanishing rows can be zero at that gap:
    cheaper than to :func:`settle` it afterwards by another solution.
    """
    return _InteriorPoint(problem, start).run(tol, max_iter, bound, zero_tol)


def settle(
    problem: RowNormProblem, result: Result[RowNormPoint], *, bound: float, tol: float
) -> Result[RowNormPoint]:
    """Make the vanishing rows exactly zero, and solve again without them if that is not enough.

    ``bound`` is a lower bound of the optimum. If leaving them out would cost more than ``tol``
    allows, the result comes back as it is.
    """
    point = result.solution
    if not point.vanishing.any():
        return result
    kept = ~point.vanishing
    allowed = max(relative(result.objective - bound, result.objective), tol)
    W, objective = _zeroed(problem, point)
    if relative(objective - bound, objective) <= allowed:
        return _with_rows(result, W, point.B, objective)
    smaller = RowNormProblem(
        problem.X[:, kept], problem.Y, problem.strengths[kept], problem.weights, problem.free
    )
    samples = point.rows[len(kept) :]
    start = np.concatenate([point.rows[: len(kept)][kept], samples])
    settled = minimise_row_norms(smaller, tol=0.3 * tol, start=start, bound=bound)
    if relative(settled.objective - bound, settled.objective) > allowed:
        return result
    W[kept] = settled.solution.W
    return _with_rows(result, W, settled.solution.B, settled.objective)


def _zeroed(problem: RowNormProblem, point: RowNormPoint) -> tuple[np.ndarray, float]:
    """W without the vanishing rows, and the objective there."""
    W = np.where(point.vanishing[:, None], 0.0, point.W)
    return W, problem.objective(W, point.B)


def _with_rows(
    result: Result[RowNormPoint], W: np.ndarray, B: np.ndarray, objective: float
) -> Result[RowNormPoint]:
    point = result.solution
    return replace(
        result,
        solution=replace(point, W=W, B=B),
        objective=objective,
        optimality=relative(objective - point.bound, objective),
    )


class _InteriorPoint:
    def __init__(self, problem: RowNormProblem, start: np.ndarray | None):
        self.problem = problem
        self.n_features = problem.X.shape[1]
        self.omega = np.concatenate([problem.strengths, problem.weights])
        self.omega_sq = self.omega**2
        # Z'F: what a feasible M must not have any part in.
        self.free = np.vstack([problem.X.T @ problem.free, problem.free])
        self.steps = 0  # of conjugate gradients in the last system
        self.start = start

    # Z without the identity.
    def _combine(self, V: np.ndarray) -> np.ndarray:
        return self.problem.X @ V[: self.n_features] + V[self.n_features :]

    def _kernel(self, a: np.ndarray) -> WeightedKernel:
        d = self.n_features
        return WeightedKernel(self.problem.columns, a[:d], a[d:])

    def _without_free(self, m: np.ndarray) -> np.ndarray:
        """Z'M for the part of M that the free columns are orthogonal to."""
        return m - self.free @ (self.problem.free.T @ m[self.n_features :])

    def _first_point(self, rest: np.ndarray) -> None:
        """A few reweighted least-squares steps, then a strictly feasible M.

        ``rest`` are the norms of what the free columns leave of Y.
        """
        Y, d = self.problem.Y, self.n_features
        steps = 3
        if self.start is None:
            samples = np.maximum(rest, 0.1 * rest.mean()) / self.problem.weights
            spread = np.einsum("ij,ij->", self.problem.X, self.problem.X) / max(d, 1)
            features = np.full(d, 0.1 * samples.mean() * len(samples) / max(spread, 1e-300))
            self.a = np.concatenate([features, samples])
        else:
            steps = 1
            self.a = self.start.copy()
            for part in (self.a[:d], self.a[d:]):
                if len(part):
                    np.maximum(part, 1e-3 * part.mean(), out=part)
        for _ in range(steps):
            self.m = self._kernel(self.a)(Y)
            self.a *= np.maximum(row_norms(self.m) / self.omega, 1e-2)
        self.m = self._without_free(self._kernel(self.a)(Y))
        self.m *= 0.95 / max((row_norms(self.m) / self.omega).max(), np.finfo(float).tiny)

    def run(
        self, tol: float, max_iter: int, bound: float, zero_tol: float | None
    ) -> Result[RowNormPoint]:
        problem, d = self.problem, self.n_features
        rest = row_norms(problem.Y - problem.free @ (problem.free.T @ problem.Y))
        at_zero = float(problem.weights @ rest)
        if at_zero <= EXACT * float(problem.weights @ row_norms(problem.Y)):
            return Result(self._without_features(), 0.0, 0.0, 0, True, [0.0])
        best = BestSoFar(known=bound, exact=EXACT * at_zero)
        length = 0.0
        n_iter = 0
        try:
            self._first_point(rest)
            for iteration in range(max_iter + 1):
                slack = self.omega_sq - np.einsum("ij,ij->i", self.m, self.m)
                if not (np.isfinite(slack).all() and (slack > 0).all() and (self.a > 0).all()):
                    break  # rounding has the last word
                # A product a_k slack_k far below the others blocks every step; raising a_k
                # disturbs the equations by no more than mu does.
                floor = (0.1 if length < SHORT else 1e-3) * float((self.a * slack).mean())
                self.a = np.maximum(self.a, floor / slack)
                kernel = self._kernel(self.a)
                _, W, B = kernel.fit(problem.Y)
                lower = float(np.vdot(self.m[d:], problem.Y))
                n_iter = iteration
                objective = problem.objective(W, B)
                share = problem.strengths * row_norms(W) / max(objective, np.finfo(float).tiny)
                vanishing = share < slack[:d] / self.omega_sq[:d]
                best.see(objective, RowNormPoint(W, B, self.m[d:], lower, self.a, vanishing))
                gap = best.relative_gap
                enough = gap <= tol and (
                    zero_tol is None
                    or gap <= GO_ON * tol
                    or relative(_zeroed(problem, best.point)[1] - best.point.bound, best.objective)
                    <= zero_tol
                )
                if enough or iteration == max_iter or (iteration and length < 1e-10):
                    break
                length = self._advance(kernel, slack)
        except np.linalg.LinAlgError:  # numbers beyond the range of doubles: what there is counts
            pass
        if best.is_empty:
            best.see(at_zero, self._without_features())
        return best.result(n_iter, tol)

    def _without_features(self) -> RowNormPoint:
        """The free columns alone, by least squares."""
        problem = self.problem
        return RowNormPoint(
            np.zeros((self.n_features, problem.Y.shape[1])),
            problem.free.T @ problem.Y,
            np.zeros_like(problem.Y),
            bound=0.0,
            rows=np.ones(len(self.omega)),
            vanishing=np.ones(self.n_features, dtype=bool),
        )

    def _advance(self, kernel: WeightedKernel, slack: np.ndarray) -> float:
        """One predictor-corrector step; returns its length."""
        a, m = self.a, self.m
        step = self._newton(kernel, slack)
        mu = float((a * slack).mean())
        da, dm = step(np.zeros_like(a), None)
        length = self._longest(da, dm, slack)
        reached = m + length * dm
        left = self.omega_sq - np.einsum("ij,ij->i", reached, reached)
        share = float(((a + length * da) * left).mean()) / mu
        centring = float(np.clip(share**3, 1e-6, 1.0))
        coupling = 2.0 * da * np.einsum("ij,ij->i", m, dm) + a * np.einsum("ij,ij->i", dm, dm)
        guess = da
        # The second-order term usually helps; where it cuts the step short, a plain step back
        # towards the central path is better.
        targets = [centring * mu + coupling] + [np.full_like(a, share * mu) for share in CENTRINGS]
        longest = 0.0
        for target in targets:
            da, dm = step(target, guess)
            length = self._longest(da, dm, slack)
            if length > longest:
                longest, best = length, (da, dm)
            if longest >= SHORT:
                break
        if longest > 0:
            self.a = a + longest * best[0]
            self.m = self._without_free(m + longest * best[1])
        return longest

    def _newton(self, kernel: WeightedKernel, slack: np.ndarray):
        """A function from the wanted a_k (omega_k^2 - ||m_k||^2) and a guess to the step (da, dm).

        With H = (Z'PZ) * (m m') and q = Z'P (Y - Z diag(a) m) the step solves
        (diag(slack / a) + 2 H) da = target / a - slack + 2 m.q,   dm = q - Z'P Z (m da).
        """
        if self.m.shape[1] == 1:
            return self._single_output_newton(slack)
        a, m = self.a, self.m
        q = kernel(self.problem.Y - self._combine(a[:, None] * m))
        pull = 2.0 * np.einsum("ij,ij->i", m, q) - slack
        diagonal = slack / a
        mu = float((a * slack).mean())

        def response(da):
            return kernel(self._combine(m * da[:, None]))

        d = self.n_features
        accuracy = CHEAP_ACCURACY if len(self.problem.Y) <= FEW_SAMPLES else ACCURACY
        precondition = self._preconditioner(kernel, diagonal)
        self.steps = 0

        def apply(x):
            self.steps += 1
            features, samples = kernel.both(m[:d] * x[:d, None], m[d:] * x[d:, None])
            image = diagonal * x
            image[:d] += 2.0 * np.einsum("ij,ij->i", m[:d], features)
            image[d:] += 2.0 * np.einsum("ij,ij->i", m[d:], samples)
            return image

        def solve(right, near):
            # What is left of the residual r changes a_k (omega_k^2 - ||m_k||^2) by a_k r_k.
            # The predictor only shows the way; the corrector starts from it.
            limit = (ROUGHLY if near is None else accuracy) * (mu / a)
            return conjugate_gradients(
                apply, right, precondition, limit=limit, start=near, max_steps=300
            )

        def step(target, near):
            da = solve(target / a + pull, near)
            return da, q - response(da)

        return step

    def _preconditioner(self, kernel: WeightedKernel, diagonal: np.ndarray):
        """Roughly the inverse of the Newton matrix: its diagonal, and what couples the features.

        Features are coupled much more than samples; their matrix is worth its price as soon as
        the last system took long.
        """
        n, d = self.problem.X.shape
        m = self.m
        squares = np.einsum("ij,ij->i", m, m)
        scale = 1.0 / (diagonal + 2.0 * np.concatenate(kernel.variances()) * squares)
        if kernel.on_samples or self.steps * 4.0 * n * d * m.shape[1] <= COUPLING * float(d) ** 3:
            return lambda r: scale * r
        matrix = 2.0 * kernel.among_features() * (m[:d] @ m[:d].T)
        matrix[np.diag_indices(d)] += diagonal[:d]
        factor, _ = cholesky(matrix)

        def precondition(r):
            z = scale * r
            z[:d] = cho_solve((factor, True), r[:d], check_finite=False)
            return z

        return precondition

    def _single_output_newton(self, slack: np.ndarray):
        """With one output, eliminating da instead of M leaves a kernel of the same form."""
        a, m = self.a, self.m
        kernel = self._kernel(a * (1.0 + 2.0 * m[:, 0] ** 2 / slack))
        missing = self.problem.Y - self._combine(a[:, None] * m)

        def step(target, near):
            shift = (target - a * slack) / slack
            dm = kernel(missing - self._combine(m * shift[:, None]))
            return shift + 2.0 * a / slack * (m * dm)[:, 0], dm

        return step

    def _longest(self, da: np.ndarray, dm: np.ndarray, slack: np.ndarray) -> float:
        """The longest step up to 1 that stays away from a = 0 and ||m|| = omega."""
        length = 1.0
        falling = da < 0
        if falling.any():
            length = min(length, BOUNDARY * float((-self.a[falling] / da[falling]).min()))
        along = np.einsum("ij,ij->i", self.m, dm)
        square = np.einsum("ij,ij->i", dm, dm)
        # The positive root of ||m + x dm||^2 = omega^2, written without cancellation.
        below = along + np.sqrt(along**2 + square * slack)
        reaching = below > 0
        if reaching.any():
            length = min(length, BOUNDARY * float((slack[reaching] / below[reaching]).min()))
        return length
