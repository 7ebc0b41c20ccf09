"""Solves with K = X diag(a) X' + diag(e), the matrix of every reweighted least-squares step."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

# Up to this many samples the n x n matrix is cheap enough to be formed even where features are
# fewer: it is the most accurate way when some e_i are almost zero.
DIRECT_SAMPLES = 400
# Samples with a smaller e_i, relative to their part in X diag(a) X', are fitted almost exactly.
TIGHT = 1e-6
# Random vectors for the variances of the samples, which come out within some 25 %.
PROBES = 32


class WeightedKernel:
    """Factorised K = X diag(a) X' + diag(e), restricted to the complement of free columns.

    Calling it applies P = K^-1 - K^-1 F (F'K^-1 F)^-1 F'K^-1, so that ``M = P V`` satisfies
    K M + F B = V and F'M = 0 with B = ``free_part(V)``: the columns F (an orthonormal basis of
    the intercept and of unpenalised features) fit V as they like.

    The factorisation has the smaller of the two dimensions. With few features the samples of
    smallest e_i (those that are fitted almost exactly) still go through their own small matrix,
    because dividing by a tiny e_i what is left after subtracting the fit would lose all digits.
    """

    def __init__(self, X: np.ndarray, a: np.ndarray, e: np.ndarray, free: np.ndarray):
        self.n_free = free.shape[1]
        self._X, self._a, self._e = X, np.maximum(a, np.finfo(float).tiny), e
        # Adding F F' to K changes nothing in P and keeps K regular when only F completes it.
        lift = float(e.mean() + (a @ np.einsum("ij,ij->j", X, X)) / len(e)) if self.n_free else 1.0
        self._half = np.hstack([X * np.sqrt(a), free * np.sqrt(lift)])
        n_samples, size = self._half.shape
        tight = self._nearly_fitted(size)
        self.on_samples = n_samples <= max(DIRECT_SAMPLES, size + len(tight))
        if self.on_samples:
            matrix = self._half @ self._half.T
            matrix[np.diag_indices(n_samples)] += e
            self._factor = cholesky(matrix)
        else:
            self._split(tight)
        if self.n_free:
            self._free = free
            self._solved_free, self._fit_free = self._solve(free)
            self._free_factor = cholesky(free.T @ self._solved_free)

    def _nearly_fitted(self, size: int) -> np.ndarray:
        """The samples that need a matrix of their own on the features' side."""
        e, half = self._e, self._half
        tight = np.flatnonzero(e < TIGHT * np.einsum("ij,ij->i", half, half))
        if len(tight) > size:  # no more than that can be fitted exactly
            tight = tight[np.argpartition(e[tight], size)[:size]]
        return tight

    def _split(self, tight: np.ndarray) -> None:
        """First the samples with sizeable e_i in d dimensions, then the others given those."""
        e, half = self._e, self._half
        size = half.shape[1]
        loose = np.ones(len(e), dtype=bool)
        loose[tight] = False
        self._tight = tight
        self._loose = np.flatnonzero(loose) if len(tight) else slice(None)
        self._loose_half, self._tight_half = half[self._loose], half[tight]
        self._inverse_e = 1.0 / e[self._loose, None]
        scaled = self._loose_half * np.sqrt(self._inverse_e)
        matrix = scaled.T @ scaled
        matrix[np.diag_indices(size)] += 1.0
        self._factor = cholesky(matrix)
        if len(tight):
            root = solve_triangular(
                self._factor[0], self._tight_half.T, lower=True, check_finite=False
            )
            self._tight_fit = solve_triangular(
                self._factor[0], root, lower=True, trans=1, check_finite=False
            )
            matrix = root.T @ root
            matrix[np.diag_indices(len(tight))] += e[tight]
            self._tight_factor = cholesky(matrix)

    def _solve(
        self, V: np.ndarray, shift: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """M = K^-1 (V + H shift) with H = X diag(sqrt(a)), and on the features' side H'M - shift.

        There the product H shift is not needed, nor one with H' afterwards.
        """
        if self.on_samples:
            return _solve(self._factor, V), None
        loose, tight = self._loose_half, self._tight_half
        fit = _solve(self._factor, loose.T @ (V[self._loose] * self._inverse_e) - shift)
        solved = np.empty_like(V)
        if len(self._tight):
            solved[self._tight] = _solve(self._tight_factor, V[self._tight] - tight @ fit)
            fit += self._tight_fit @ solved[self._tight]
        solved[self._loose] = (V[self._loose] - loose @ fit) * self._inverse_e
        return solved, fit

    def __call__(self, V: np.ndarray) -> np.ndarray:
        """P V."""
        solved, _ = self._solve(V)
        if self.n_free:
            solved -= self._solved_free @ _solve(self._free_factor, self._free.T @ solved)
        return solved

    def both(self, W: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X'P (X W + V) and P (X W + V); the first is rough where its a is almost zero."""
        if self.on_samples:
            solved = self(self._X @ W + V)
            return self._X.T @ solved, solved
        d, root = len(self._a), np.sqrt(self._a)[:, None]
        shift = np.zeros((self._half.shape[1], W.shape[1]))
        shift[:d] = W / root
        solved, fit = self._solve(V, shift)
        assert fit is not None
        if self.n_free:
            B = _solve(self._free_factor, self._free.T @ solved)
            solved -= self._solved_free @ B
            fit -= self._fit_free @ B
        return (fit[:d] + shift[:d]) / root, solved

    def free_part(self, V: np.ndarray) -> np.ndarray:
        """Coefficients B on the free columns."""
        if not self.n_free:
            return np.zeros((0, V.shape[1]))
        return _solve(self._free_factor, self._solved_free.T @ V)

    def variances(self) -> tuple[np.ndarray, np.ndarray]:
        """Diagonals of X'P X and of P; of many samples, each entry within some 25 %.

        With V drawn from a normal distribution of covariance K, P V has the covariance P K P = P.
        """
        if len(self._e) <= DIRECT_SAMPLES:
            P = self(np.eye(len(self._e)))
            return np.maximum(np.einsum("ij,ij->j", self._X, P @ self._X), 0.0), np.diag(P)
        draw = np.random.default_rng(0).standard_normal
        features, samples = draw((len(self._a), PROBES)), draw((len(self._e), PROBES))
        features *= np.sqrt(self._a)[:, None]
        samples *= np.sqrt(self._e)[:, None]
        features, samples = self.both(features, samples)
        return (
            np.einsum("ij,ij->i", features, features) / PROBES,
            np.einsum("ij,ij->i", samples, samples) / PROBES,
        )

    def among_features(self) -> np.ndarray:
        """The matrix X'P X, from a factorisation on the features' side."""
        left = lapack.dpotri(self._factor[0], lower=1)[0]  # what is unknown of the features
        left = np.tril(left) + np.tril(left, -1).T
        if len(self._tight):
            known = solve_triangular(
                self._tight_factor[0], self._tight_half @ left, lower=True, check_finite=False
            )
            left -= known.T @ known
        d, inverse = len(self._a), 1.0 / np.sqrt(self._a)
        product = -left[:d, :d]
        product[np.diag_indices(d)] += 1.0
        product *= inverse
        product *= inverse[:, None]
        if self.n_free:
            cross = self._X.T @ self._solved_free
            root = solve_triangular(self._free_factor[0], cross.T, lower=True, check_finite=False)
            product -= root.T @ root
        return product


def cholesky(matrix: np.ndarray):
    """Lower Cholesky factor; a matrix that rounding left indefinite is lifted a little."""
    diagonal = np.diag_indices(len(matrix))
    jitter = 1e-15 * max(float(np.trace(matrix)) / max(len(matrix), 1), np.finfo(float).tiny)
    for _ in range(6):
        try:
            return cho_factor(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            jitter *= 30.0
            matrix[diagonal] += jitter
    return cho_factor(matrix, lower=True, check_finite=False)


def _solve(factor, V: np.ndarray) -> np.ndarray:
    return cho_solve(factor, V, check_finite=False)
