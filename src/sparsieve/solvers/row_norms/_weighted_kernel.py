"""Solves with K = X diag(a) X' + diag(e), the matrix of every reweighted least-squares step."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

# Up to this many samples the n x n matrix is cheap enough to be formed even where features are
# fewer: it is the most accurate way when some e_i are almost zero.
DIRECT_SAMPLES = 400
# Beyond, the features' side is cheaper as soon as samples outnumber them by this factor.
MORE_SAMPLES = 1.3
# Samples with a smaller e_i, relative to their part in X diag(a) X', are fitted almost exactly.
TIGHT = 1e-4
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
        self._exact = n_samples <= max(DIRECT_SAMPLES, MORE_SAMPLES * size)
        if self._exact:
            matrix = self._half @ self._half.T
            matrix[np.diag_indices(n_samples)] += e
            self._factor = cholesky(matrix)
        else:
            self._split()
        if self.n_free:
            self._free = free
            self._solved_free, self._fit_free = self._solve(free)
            self._free_factor = cholesky(free.T @ self._solved_free)

    def _split(self) -> None:
        """First the samples with sizeable e_i in d dimensions, then the others given those."""
        e, half = self._e, self._half
        size = half.shape[1]
        tight = np.flatnonzero(e < TIGHT * np.einsum("ij,ij->i", half, half))
        if len(tight) > size:  # no more than that can be fitted exactly
            tight = tight[np.argpartition(e[tight], size)[:size]]
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
            matrix = root.T @ root
            matrix[np.diag_indices(len(tight))] += e[tight]
            self._tight_factor = cholesky(matrix)

    def _solve(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """M = K^-1 V and, as a by-product of the features' side, diag(sqrt(a)) X'M."""
        if self._exact:
            return _solve(self._factor, V), None
        loose, tight = self._loose_half, self._tight_half
        fit = _solve(self._factor, loose.T @ (V[self._loose] * self._inverse_e))
        solved = np.empty_like(V)
        if len(self._tight):
            solved[self._tight] = _solve(self._tight_factor, V[self._tight] - tight @ fit)
            fit += _solve(self._factor, tight.T @ solved[self._tight])
        solved[self._loose] = (V[self._loose] - loose @ fit) * self._inverse_e
        return solved, fit

    def __call__(self, V: np.ndarray) -> np.ndarray:
        """P V."""
        return self._restricted(V)[0]

    def _restricted(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        solved, fit = self._solve(V)
        if self.n_free:
            B = _solve(self._free_factor, self._free.T @ solved)
            solved -= self._solved_free @ B
            if fit is not None:
                fit -= self._fit_free @ B
        return solved, fit

    def both(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X'P V and P V; the first only roughly where its a is almost zero."""
        solved, fit = self._restricted(V)
        if fit is None:
            return self._X.T @ solved, solved
        return fit[: len(self._a)] / np.sqrt(self._a)[:, None], solved

    def free_part(self, V: np.ndarray) -> np.ndarray:
        """Coefficients B on the free columns."""
        if not self.n_free:
            return np.zeros((0, V.shape[1]))
        return _solve(self._free_factor, self._solved_free.T @ V)

    def variances(self) -> tuple[np.ndarray, np.ndarray]:
        """Diagonals of X'P X and of P, each entry within some 25 %.

        With V drawn from a normal distribution of covariance K, P V has the covariance P K P = P.
        """
        draw = np.random.default_rng(0).standard_normal
        V = self._half @ draw((self._half.shape[1], PROBES))
        V += np.sqrt(self._e)[:, None] * draw((len(V), PROBES))
        features, samples = self.both(V)
        return tuple(np.einsum("ij,ij->i", part, part) / PROBES for part in (features, samples))

    def among_features(self) -> np.ndarray:
        """The matrix X'P X."""
        d = len(self._a)
        if self._exact:
            root = solve_triangular(self._factor[0], self._X, lower=True, check_finite=False)
            product = root.T @ root
        else:
            left = lapack.dpotri(self._factor[0], lower=1)[0]  # what is unknown of the features
            left = np.tril(left) + np.tril(left, -1).T
            if len(self._tight):
                known = solve_triangular(
                    self._tight_factor[0], self._tight_half @ left, lower=True, check_finite=False
                )
                left -= known.T @ known
            inverse = 1.0 / np.sqrt(self._a)
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
