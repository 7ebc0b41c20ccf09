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
from scipy.linalg import cho_factor, cho_solve

from ...penalties import row_norms
from ..base import Result, relative
from ..engines.conjugate_gradients import conjugate_gradients
from ._weighted_kernel import DIRECT_SAMPLES, WeightedKernel, cholesky
from .row_norm_problem import BestSoFar, RowNormPoint, RowNormProblem
from .smoothed_newton import SmoothedNewton, suits

# Newton systems with more rows than this are solved by conjugate gradients.
DENSE_ROWS = 400
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
    if suits(problem):
        result = SmoothedNewton(problem, start).run(tol, max_iter, bound)
        if result.converged or result.n_iter >= max_iter:
            return result
        # Rarely its bound comes to a halt, for example where many samples are fitted exactly.
        start, max_iter = result.solution.rows, max_iter - result.n_iter
        try:
            return _InteriorPoint(problem, start).run(tol, max_iter, zero_tol)
        except np.linalg.LinAlgError:  # it could not even begin
            return result
    return _InteriorPoint(problem, start).run(tol, max_iter, zero_tol)


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
        self.steps = 0  # of conjugate gradients in the last system
        self._first_point(start)

    # Z and its transpose without the identity.
    def _combine(self, V: np.ndarray) -> np.ndarray:
        return self.problem.X @ V[: self.n_features] + V[self.n_features :]

    def _project(self, M: np.ndarray) -> np.ndarray:
        return np.vstack([self.problem.X.T @ M, M])

    def _kernel(self, a: np.ndarray) -> WeightedKernel:
        d = self.n_features
        return WeightedKernel(self.problem.X, a[:d], a[d:], self.problem.free)

    def _first_point(self, start: np.ndarray | None) -> None:
        """A few reweighted least-squares steps, then a strictly feasible M."""
        Y, free = self.problem.Y, self.problem.free
        rest = row_norms(Y - free @ (free.T @ Y))
        self.at_zero = float(self.problem.weights @ rest)
        self.trivial = self.at_zero <= EXACT * float(self.problem.weights @ row_norms(Y))
        if self.trivial:
            return
        steps = 3
        if start is None:
            samples = np.maximum(rest, 0.1 * rest.mean()) / self.problem.weights
            spread = np.einsum("ij,ij->", self.problem.X, self.problem.X) / max(self.n_features, 1)
            features = np.full(
                self.n_features, 0.1 * samples.mean() * len(samples) / max(spread, 1e-300)
            )
            self.a = np.concatenate([features, samples])
        else:
            steps = 1
            d = self.n_features
            self.a = start.copy()
            for part in (self.a[:d], self.a[d:]):
                if len(part):
                    np.maximum(part, 1e-3 * part.mean(), out=part)
        for _ in range(steps):
            self.m = self._project(self._kernel(self.a)(Y))
            self.a *= np.maximum(row_norms(self.m) / self.omega, 1e-2)
        self.m = self._project(self._kernel(self.a)(Y))
        self.m *= 0.95 / (row_norms(self.m) / self.omega).max()

    def run(self, tol: float, max_iter: int, zero_tol: float | None = None) -> Result[RowNormPoint]:
        problem, d = self.problem, self.n_features
        if self.trivial:
            return self._exact_fit()
        best = BestSoFar(exact=EXACT * self.at_zero)
        length = 0.0
        n_iter = 0
        for iteration in range(max_iter + 1):
            slack = self.omega_sq - np.einsum("ij,ij->i", self.m, self.m)
            if not (np.isfinite(slack).all() and (slack > 0).all() and (self.a > 0).all()):
                break  # rounding has the last word
            # A product a_k slack_k far below the others blocks every step; raising a_k disturbs
            # the equations by no more than mu does.
            floor = (0.1 if length < SHORT else 1e-3) * float((self.a * slack).mean())
            self.a = np.maximum(self.a, floor / slack)
            try:
                kernel = self._kernel(self.a)
            except np.linalg.LinAlgError:  # weights that span too many orders of magnitude
                if best.is_empty:
                    raise
                break
            M = kernel(problem.Y)
            W = self.a[:d, None] * (problem.X.T @ M)
            B = kernel.free_part(problem.Y)
            bound = float(np.vdot(self.m[d:], problem.Y))
            n_iter = iteration
            norms = row_norms(W)
            vanishing = norms < norms.max(initial=0.0) * slack[:d] / self.omega_sq[:d]
            point = RowNormPoint(W, B, self.m[d:], bound, self.a, vanishing)
            best.see(problem.objective(W, B), point)
            gap = best.relative_gap
            enough = gap <= tol and (
                zero_tol is None
                or gap <= GO_ON * tol
                or relative(_zeroed(problem, best.point)[1] - best.point.bound, best.objective)
                <= zero_tol
            )
            if enough or iteration == max_iter or (iteration and length < 1e-10):
                break
            length = self._advance(kernel, M, slack)
        return best.result(n_iter, tol)

    def _exact_fit(self) -> Result[RowNormPoint]:
        """The free columns alone explain Y."""
        problem = self.problem
        point = RowNormPoint(
            np.zeros((self.n_features, problem.Y.shape[1])),
            problem.free.T @ problem.Y,
            np.zeros_like(problem.Y),
            bound=0.0,
            rows=np.ones(len(self.omega)),
            vanishing=np.ones(self.n_features, dtype=bool),
        )
        return Result(point, 0.0, 0.0, 0, True, [0.0])

    def _advance(self, kernel: WeightedKernel, M: np.ndarray, slack: np.ndarray) -> float:
        """One predictor-corrector step; returns its length."""
        a, m = self.a, self.m
        step = self._newton(kernel, M, slack)
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
            self.a, self.m = a + longest * best[0], m + longest * best[1]
        return longest

    def _newton(self, kernel: WeightedKernel, M: np.ndarray, slack: np.ndarray):
        """A function from the wanted a_k (omega_k^2 - ||m_k||^2) and a guess to the step (da, dm).

        With H = (Z'PZ) * (m m') and q = Z'P (Y - Z diag(a) m) the step solves
        (diag(slack / a) + 2 H) da = target / a - slack + 2 m.q,   dm = q - Z'P Z (m da).
        """
        a, m = self.a, self.m
        q = self._project(M - kernel(self._combine(a[:, None] * m)))
        pull = 2.0 * np.einsum("ij,ij->i", m, q) - slack
        diagonal = slack / a
        mu = float((a * slack).mean())
        if m.shape[1] == 1:
            return self._single_output_newton(slack)

        def response(da):
            return self._project(kernel(self._combine(m * da[:, None])))

        if len(a) <= DENSE_ROWS:
            Z = np.hstack([self.problem.X, np.eye(len(M))])
            matrix = 2.0 * (Z.T @ kernel(Z)) * (m @ m.T)
            matrix[np.diag_indices(len(a))] += diagonal
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

            def solve(right, near):
                return cho_solve(factor, right, check_finite=False)
        else:
            d = self.n_features
            accuracy = CHEAP_ACCURACY if len(M) <= DIRECT_SAMPLES else ACCURACY
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
        factor = cholesky(matrix)

        def precondition(r):
            z = scale * r
            z[:d] = cho_solve(factor, r[:d], check_finite=False)
            return z

        return precondition

    def _single_output_newton(self, slack: np.ndarray):
        """With one output, eliminating da instead of M leaves a kernel of the same form."""
        a, m = self.a, self.m
        kernel = self._kernel(a * (1.0 + 2.0 * m[:, 0] ** 2 / slack))
        missing = self.problem.Y - self._combine(a[:, None] * m)

        def step(target, near):
            shift = (target - a * slack) / slack
            dm = self._project(kernel(missing - self._combine(m * shift[:, None])))
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
