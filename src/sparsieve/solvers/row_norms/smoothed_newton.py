"""Newton's method on smoothed row norms, for many samples and few features.

With r_i the residual of sample i, the norms become psi_i = sqrt(||r_i||^2 + eps^2), those of the
coefficients phi_j likewise, and eps falls with the duality gap. Plain Newton steps on these would
be good only very near the solution. Here the dual variables m_i = s_i r_i / psi_i and
q_j = omega_j w_j / phi_j are unknowns of their own (Chan, Golub and Mulet 1999 do so for total
variation), and the equations psi_i m_i = s_i r_i are made linear instead of m_i = s_i r_i / psi_i:

    A'(s_i / psi_i (t_i - m_i r_i't_i / (s_i psi_i)))_i + the same of the rows of W = -gradient,

t = A dW with A the penalised and the free columns. That takes ten to twenty steps. Products with
A cost n x p x c; the preconditioner A'diag(s / psi)A + diag(omega / phi) serves all outputs.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...penalties import row_norms
from ..base import Result
from ..engines.conjugate_gradients import conjugate_gradients
from .row_norm_problem import BestSoFar, RowNormPoint, RowNormProblem

# Below this many samples, or this many for each feature, the interior-point method is as fast, and
# more accurate; with very many samples it is so only where features are almost as many.
MANY_SAMPLES, PER_FEATURE = 1000, 10
VERY_MANY_SAMPLES, AT_LEAST = 10_000, 2
# Smoothing may cost this share of the gap.
BLUR = 0.3
FORCING, INNER_STEPS = 0.02, 100
# Below this share of the objective at zero a fit counts as exact.
EXACT = 1e-11


def suits(problem: RowNormProblem) -> bool:
    """Whether there are many samples, many more than features, and several outputs.

    With one output as many residuals vanish as there are features, and little is smooth; nothing
    is where the free columns explain Y.
    """
    n_samples, n_features = problem.X.shape
    least = AT_LEAST if n_samples > VERY_MANY_SAMPLES else PER_FEATURE
    if n_samples <= max(MANY_SAMPLES, least * n_features) or problem.Y.shape[1] == 1:
        return False
    rest = problem.Y - problem.free @ (problem.free.T @ problem.Y)
    return bool(np.abs(rest).max() > EXACT * np.abs(problem.Y).max())


class SmoothedNewton:
    """Minimise a :class:`RowNormProblem`, from the multipliers ``rows`` of a similar one."""

    def __init__(self, problem: RowNormProblem, start: np.ndarray | None = None):
        self.problem = problem
        self.d = problem.X.shape[1]
        self.A = np.hstack([problem.X, problem.free])
        Y, free = problem.Y, problem.free
        rest = row_norms(Y - free @ (free.T @ Y))
        self.at_zero = float(problem.weights @ rest)
        self.eps = np.array([0.1, 0.1]) * max(float(rest.mean()), np.finfo(float).tiny)
        if start is None:
            psi = np.maximum(rest, self.eps[0])
            spread = np.einsum("ij,ij->", problem.X, problem.X) / max(self.d, 1)
            phi = problem.strengths * psi.mean() * len(psi) / max(spread, 1e-300)
        else:
            self.eps[0] *= 0.01
            psi = problem.weights * np.maximum(start[self.d :], 1e-3 * start[self.d :].mean())
            phi = problem.strengths * np.maximum(
                start[: self.d], 1e-3 * start[: self.d].mean() if self.d else 0.0
            )
        self.eps[1] = max(0.1 * float(phi.mean()) if self.d else 1.0, np.finfo(float).tiny)
        solve = self._preconditioner(psi, np.maximum(phi, np.finfo(float).tiny))
        self.W = solve(self.A.T @ ((problem.weights / psi)[:, None] * Y))
        self.R = Y - self.A @ self.W
        self.m = (problem.weights / self._psi(self.R))[:, None] * self.R
        self.q = (problem.strengths / self._phi(self.W))[:, None] * self.W[: self.d]

    def _psi(self, R: np.ndarray) -> np.ndarray:
        return np.sqrt(np.einsum("ij,ij->i", R, R) + self.eps[0] ** 2)

    def _phi(self, W: np.ndarray) -> np.ndarray:
        V = W[: self.d]
        return np.sqrt(np.einsum("ij,ij->i", V, V) + self.eps[1] ** 2)

    def _smoothed(self, W: np.ndarray, R: np.ndarray) -> float:
        return float(self.problem.weights @ self._psi(R) + self.problem.strengths @ self._phi(W))

    def _preconditioner(self, psi: np.ndarray, phi: np.ndarray):
        half = self.A * np.sqrt(self.problem.weights / psi)[:, None]
        matrix = half.T @ half
        diagonal = np.diag_indices(len(matrix))
        matrix[diagonal] += 1e-14 * np.trace(matrix) / max(len(matrix), 1)
        penalised = np.arange(self.d)
        matrix[penalised, penalised] += self.problem.strengths / phi
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return lambda V: cho_solve(factor, V, check_finite=False)

    def run(self, tol: float, max_iter: int, bound: float = -np.inf) -> Result[RowNormPoint]:
        """Take steps until the relative duality gap is at most ``tol``.

        ``bound`` is a lower bound that is known already.
        """
        problem, d = self.problem, self.d
        best = BestSoFar(known=bound, exact=EXACT * self.at_zero)
        stalled = 0
        for iteration in range(max_iter + 1):
            norms = row_norms(self.W[:d])
            value = float(problem.weights @ row_norms(self.R) + problem.strengths @ norms)
            dual, pulls, bound = self._certificate()
            slack = 1.0 - (pulls / problem.strengths) ** 2
            rows = np.concatenate(
                [self._phi(self.W) / problem.strengths, self._psi(self.R) / problem.weights]
            )
            vanishing = norms < norms.max(initial=0.0) * slack
            point = RowNormPoint(self.W[:d], self.W[d:], dual, bound, rows, vanishing)
            stalled = 0 if best.see(value, point) else stalled + 1
            enough = best.relative_gap <= tol
            if enough or iteration == max_iter or stalled >= 10 or not np.isfinite(value):
                break
            self._sharpen(best.gap)
            self._step()
        return best.result(iteration, tol)

    def _certificate(self) -> tuple[np.ndarray, np.ndarray, float]:
        """A feasible dual point, its pull on every feature, and the bound it gives."""
        problem = self.problem
        dual = self.m - problem.free @ (problem.free.T @ self.m)
        pulls = row_norms(problem.X.T @ dual)
        most = max(
            float((row_norms(dual) / problem.weights).max()),
            float((pulls / problem.strengths).max(initial=0.0)),
            1.0,
        )
        return dual / most, pulls / most, float(np.vdot(dual, problem.Y)) / most

    def _sharpen(self, gap: float) -> None:
        """Let the smoothing cost no more than a share of the gap."""
        total = np.array([self.problem.weights.sum(), max(self.problem.strengths.sum(), 1e-300)])
        self.eps = np.minimum(self.eps, np.maximum(BLUR * gap / total, np.finfo(float).tiny))

    def _step(self) -> None:
        problem, d, A = self.problem, self.d, self.A
        psi, phi = self._psi(self.R), self._phi(self.W)
        loose, stiff = problem.weights / psi, problem.strengths / phi
        R, V, m, q = self.R, self.W[:d], self.m, self.q
        to_m, to_r = 0.5 * m / (psi**2)[:, None], 0.5 * R / (psi**2)[:, None]
        to_q, to_v = 0.5 * q / (phi**2)[:, None], 0.5 * V / (phi**2)[:, None]

        def hessian(U):
            T = A @ U
            image = loose[:, None] * T
            image -= to_m * np.einsum("ij,ij->i", R, T)[:, None]
            image -= to_r * np.einsum("ij,ij->i", m, T)[:, None]
            out = A.T @ image
            top = U[:d]
            out[:d] += stiff[:, None] * top
            out[:d] -= to_q * np.einsum("ij,ij->i", V, top)[:, None]
            out[:d] -= to_v * np.einsum("ij,ij->i", q, top)[:, None]
            return out

        gradient = -(A.T @ (loose[:, None] * R))
        gradient[:d] += stiff[:, None] * V
        solve = self._preconditioner(psi, phi)
        direction = conjugate_gradients(
            hessian, -gradient, solve, tol=FORCING, max_steps=INNER_STEPS
        )
        change = -(A @ direction)
        slope = float(np.vdot(gradient, direction))
        before = self._smoothed(self.W, R)
        blur = 1e-14 * before
        length = 1.0
        while length > 1e-6:
            W, residual = self.W + length * direction, R + length * change
            if self._smoothed(W, residual) <= before + 1e-4 * length * slope + blur:
                break
            length *= 0.5
        # The dual variables take the whole step and are cut back to their balls.
        along = np.einsum("ij,ij->i", R, change) / psi
        m = loose[:, None] * (R + change) - m * (along / psi)[:, None]
        step = direction[:d]
        along = np.einsum("ij,ij->i", V, step) / phi
        q = stiff[:, None] * (V + step) - q * (along / phi)[:, None]
        self.m = _cut(m, problem.weights)
        self.q = _cut(q, problem.strengths)
        self.W, self.R = W, problem.Y - A @ W


def _cut(rows: np.ndarray, most: np.ndarray) -> np.ndarray:
    norms = np.maximum(row_norms(rows), np.finfo(float).tiny)
    return rows * np.minimum(1.0, most / norms)[:, None]
