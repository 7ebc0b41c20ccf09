"""Solves with K = X diag(a) X' + diag(e), the matrix of every reweighted least-squares step."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

# Up to this many samples the n x n matrix is cheap enough to be formed even where features are
# fewer: it is the most accurate way when some e_i are almost zero.
DIRECT_SAMPLES = 400


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
        self._features = X.shape[1]
        self._raw_a, self._raw_e = a, e
        # Adding F F' to K changes nothing in P and keeps K regular when only F completes it.
        lift = float(e.mean() + (a @ np.einsum("ij,ij->j", X, X)) / len(e)) if self.n_free else 1.0
        self._half = np.hstack([X * np.sqrt(a), free * np.sqrt(lift)])
        n_samples, size = self._half.shape
        self._exact = n_samples <= max(DIRECT_SAMPLES, 2 * size)
        if self._exact:
            matrix = self._half @ self._half.T
            matrix[np.diag_indices(n_samples)] += e
            self._factor = _cholesky(matrix)
        else:
            self._split(e, size)
        if self.n_free:
            self._free = free
            self._solved_free = self._solve(free)
            self._free_factor = _cholesky(free.T @ self._solved_free)

    def _split(self, e: np.ndarray, size: int) -> None:
        """First the samples with sizeable e_i in d dimensions, then the others given those."""
        order = np.argpartition(e, size)
        self._tight, self._loose = order[:size], order[size:]
        self._inverse_e = 1.0 / e[self._loose, None]
        self._loose_half, self._tight_half = self._half[self._loose], self._half[self._tight]
        scaled = self._loose_half * np.sqrt(self._inverse_e)
        matrix = scaled.T @ scaled
        matrix[np.diag_indices(size)] += 1.0
        self._factor = _cholesky(matrix)
        self._root = solve_triangular(
            self._factor[0], self._tight_half.T, lower=True, check_finite=False
        )
        tight = self._root.T @ self._root
        tight[np.diag_indices(size)] += e[self._tight]
        self._tight_factor = _cholesky(tight)

    def _solve(self, V: np.ndarray) -> np.ndarray:
        if self._exact:
            return cho_solve(self._factor, V, check_finite=False)
        loose, tight = self._loose_half, self._tight_half
        fit = _solve(self._factor, loose.T @ (V[self._loose] * self._inverse_e))
        solved = np.empty_like(V)
        solved[self._tight] = _solve(self._tight_factor, V[self._tight] - tight @ fit)
        fit += _solve(self._factor, tight.T @ solved[self._tight])
        solved[self._loose] = (V[self._loose] - loose @ fit) * self._inverse_e
        return solved

    def __call__(self, V: np.ndarray) -> np.ndarray:
        """P V."""
        solved = self._solve(V)
        if self.n_free:
            solved -= self._solved_free @ _solve(self._free_factor, self._free.T @ solved)
        return solved

    def free_part(self, V: np.ndarray) -> np.ndarray:
        """Coefficients B on the free columns."""
        if not self.n_free:
            return np.zeros((0, V.shape[1]))
        return _solve(self._free_factor, self._solved_free.T @ V)

    def leverages(self) -> np.ndarray:
        """Diagonals of X'P X and of P, one after the other (rounded up to at least zero)."""
        n_samples, size = self._half.shape
        if self._exact:
            root = solve_triangular(self._factor[0], np.eye(n_samples), lower=True)
            samples = np.einsum("ij,ij->j", root, root)
            root = root @ self._half
            halves = np.einsum("ij,ij->j", root, root)[: self._features]
        else:
            left = solve_triangular(self._factor[0], np.eye(size), lower=True)
            gain = solve_triangular(self._tight_factor[0], self._root.T @ left, lower=True)
            spread = left.T @ left - gain.T @ gain  # what is left to know about the features
            loose = self._loose_half
            samples = np.empty(n_samples)
            root = solve_triangular(self._tight_factor[0], np.eye(size), lower=True)
            samples[self._tight] = np.einsum("ij,ij->j", root, root)
            explained = np.einsum("ij,ij->i", loose @ spread, loose)
            inverse = self._inverse_e[:, 0]
            samples[self._loose] = inverse - explained * inverse**2
            halves = 1.0 - np.diag(spread)[: self._features]
        features = halves / np.maximum(self._raw_a, np.finfo(float).tiny)
        if self.n_free:
            root = solve_triangular(self._free_factor[0], self._solved_free.T, lower=True)
            samples = samples - np.einsum("ij,ij->j", root, root)
            cross = root @ self._half[:, : self._features]
            features -= np.einsum("ij,ij->j", cross, cross) / np.maximum(
                self._raw_a, np.finfo(float).tiny
            )
        return np.maximum(np.concatenate([features, samples]), 0.0)


def _cholesky(matrix: np.ndarray):
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
