"""Systems of reweighted least squares, for dense columns and for very sparse ones.

Solves with K = X diag(a) X' + diag(e), the matrix of every reweighted least-squares step.

Columns of a sparse design that are never made dense, with a few dense ones beside them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import blas, cho_solve, lapack

from ...design import DesignMatrix


class SparseColumns:
    """[X, F] for a sparse design X in double precision and dense columns F: ``@`` and ``.T @``."""

    def __init__(self, X: DesignMatrix, F: np.ndarray) -> None:
        self.X: DesignMatrix = X
        self.F: np.ndarray = F
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1] + F.shape[1])

    @property
    def without_dense(self) -> SparseColumns:
        """X alone."""
        return SparseColumns(self.X, self.F[:, :0])

    @property
    def T(self) -> Transposed:
        """The transposed matrix."""
        return Transposed(self)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        size = self.X.shape[1]
        return self.X.matmul(np.ascontiguousarray(V[:size])) + self.F @ V[size:]

    def weighted_gram(self, weights: np.ndarray) -> np.ndarray:
        """[X, F]' diag(weights) [X, F]."""
        weighted = weights[:, None] * self.F
        beside = self.X.rmatmul(weighted)
        among = self.X.inner(np.arange(self.X.shape[1]), weights)
        return np.block([[among, beside], [beside.T, self.F.T @ weighted]])


class Transposed:
    """[X, F]'."""

    def __init__(self, columns: SparseColumns) -> None:
        self.columns: SparseColumns = columns

    def __matmul__(self, M: np.ndarray) -> np.ndarray:
        X, F = self.columns.X, self.columns.F
        return np.vstack([X.rmatmul(np.ascontiguousarray(M)), F.T @ M])


# Up to so many samples their variances are computed exactly; of more, within some 25 %, from this
# many random vectors.
EXACT_DIAGONAL_MAX_SAMPLES, HUTCHINSON_PROBES = 400, 32
# Those of fewer columns than samples are exact up to so many columns, where that costs no more than
# the random vectors, unless less than this share is left of a difference.
EXACT_DIAGONAL_MAX_COLUMNS, MIN_REMAINING_SHARE = 256, 1e-8
# A solution is corrected by its residuals at most so often, until they are this small.
MAX_REFINEMENTS, REFINEMENT_TOL = 3, 1e-10
# Pivots of a matrix with unit diagonal below this leave doubts about solutions.
SMALL_PIVOT = 1e-8
# Rows are weighted in blocks of so many numbers, which stay in the cache.
BLOCK_NUMBERS = 1 << 17


class ReweightedSystem:
    """Factorised K = X diag(a) X' + diag(e), restricted to the complement of unpenalised columns.

    ``columns`` are those of X, as many as there are numbers in ``a``, and then the unpenalised ones
    F (an orthonormal basis of the intercept and of covariates). With
    P = K^-1 - K^-1 F (F'K^-1 F)^-1 F'K^-1 the matrix M = P V satisfies K M + F B = V and F'M = 0:
    the unpenalised columns fit V as they like.

    The factorisation has the smaller of the two dimensions: K itself, or the matrix of the
    weighted least-squares problem in (W, B), where unpenalised columns are without a ridge.
    Where many samples are fitted almost exactly (tiny e_i) or rows of W are hardly penalised
    (large a_j), both matrices are badly conditioned; what is missing in the equations above is
    then solved for again (iterative refinement of the whole system).
    """

    def __init__(self, columns: np.ndarray | SparseColumns, a: np.ndarray, e: np.ndarray):
        n_samples, size = columns.shape
        self._d = d = len(a)
        self._columns, self._e = columns, e[:, None]
        self._X = columns[:, :d] if isinstance(columns, np.ndarray) else columns.without_dense
        self._scale = np.full((size, 1), np.sqrt(e.mean()))
        self._scale[:d, 0] = np.sqrt(np.maximum(a, np.finfo(float).tiny))
        self._ridge = (np.arange(size) < d)[:, None] * 1.0
        self.on_samples: bool = n_samples <= size and isinstance(columns, np.ndarray)
        if self.on_samples:
            # F F' in K changes nothing in P and keeps K regular when only F completes it.
            half = columns * self._scale.T
            matrix = half @ half.T
            matrix[np.diag_indices(n_samples)] += e
            self._factor, pivot = cholesky(matrix)
            self._free = half[:, d:]
            self._solved_free = self._divide(self._free)
            self._free_factor, _ = cholesky(self._free.T @ self._solved_free)
        else:
            matrix = weighted_gram(columns, 1.0 / e)
            matrix *= self._scale
            matrix *= self._scale.T
            matrix[np.diag_indices(size)] += self._ridge[:, 0]
            self._factor, pivot = cholesky(matrix)
        self._doubtful = pivot < SMALL_PIVOT

    # With H = (X, F) diag(scale), M and T solve diag(e) M + H T = V and H'M - ridge T = shift.

    def _times(self, T: np.ndarray) -> np.ndarray:
        return self._columns @ (self._scale * T)

    def _multiply_transpose(self, M: np.ndarray) -> np.ndarray:
        return self._scale * (self._columns.T @ M)

    def _divide(self, V: np.ndarray) -> np.ndarray:
        return cho_solve((self._factor, True), V, check_finite=False)

    def _solve(
        self, V: np.ndarray, shift: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        d = self._d
        if not self.on_samples:
            right = self._multiply_transpose(V / self._e)
            T = self._divide(right if shift is None else right - shift)
            M = V - self._times(T)
            M /= self._e
            return M, T
        if shift is not None:
            inside = shift.copy()
            inside[d:] = 0.0
            V = V + self._times(inside)
        M = self._divide(V)
        lacking = self._free.T @ M
        if shift is not None:
            lacking -= shift[d:]
        B = cho_solve((self._free_factor, True), lacking, check_finite=False)
        M -= self._solved_free @ B
        T = self._multiply_transpose(M)
        T[d:] = B
        if shift is not None:
            T[:d] -= shift[:d]
        return M, T

    def _refine(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The solution for shift = 0, corrected where rounding may have taken too many digits."""
        M, T = self._solve(V)
        rounding = np.finfo(float).eps * _largest(V) / float(self._e.min())
        if not (self._doubtful or rounding > REFINEMENT_TOL * _largest(M)):
            return M, T
        last = np.inf
        for _ in range(MAX_REFINEMENTS):
            missing = V - self._e * M - self._times(T)
            lacking = self._ridge * T - self._multiply_transpose(M)
            size = max(
                _largest(missing / self._e) / max(_largest(M), np.finfo(float).tiny),
                _largest(lacking) / max(_largest(T), np.finfo(float).tiny),
            )
            if size <= REFINEMENT_TOL or not size < 0.5 * last:
                break
            last = size
            more, by = self._solve(missing, lacking)
            M, T = M + more, T + by
        return M, T

    def fit(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, W = diag(a) X'M and B with X W + diag(e) M + F B = V and F'M = 0."""
        M, T = self._refine(V)
        T = self._scale * T
        return M, T[: self._d], T[self._d :]

    def __call__(self, V: np.ndarray) -> np.ndarray:
        """X'P V, and P V below it."""
        M, T = self._refine(V)
        d = self._d
        known = T[:d] / self._scale[:d] if self.on_samples else self._X.T @ M
        return np.vstack([known, M])

    def both(self, W: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X'P (X W + V) and P (X W + V), not refined; the first has few digits where a is tiny."""
        d, scale = self._d, self._scale[: self._d]
        if self.on_samples:
            M, T = self._solve(self._X @ W + V)
            return T[:d] / scale, M
        shift = np.zeros((len(self._scale), W.shape[1]))
        shift[:d] = W / scale
        M, T = self._solve(V, shift)
        return (T[:d] + shift[:d]) / scale, M

    def variances(self) -> tuple[np.ndarray, np.ndarray]:
        """Diagonals of X'P X and of P; of many samples and columns, each within some 25 %.

        With V drawn from a normal distribution of covariance K, P V has the covariance P K P = P.
        """
        n_samples, X = len(self._e), self._X
        few = len(self._scale) <= EXACT_DIAGONAL_MAX_COLUMNS
        if few and not self.on_samples and isinstance(self._columns, np.ndarray):
            exact = self._exact_variances()
            if exact is not None:
                return exact
        if n_samples <= EXACT_DIAGONAL_MAX_SAMPLES and isinstance(X, np.ndarray):
            P = self._solve(np.eye(n_samples))[0]
            return np.maximum(np.einsum("ij,ij->j", X, P @ X), 0.0), np.diag(P)
        draw = np.random.default_rng(0).standard_normal
        features, samples = draw((self._d, HUTCHINSON_PROBES)), draw((n_samples, HUTCHINSON_PROBES))
        features, samples = self.both(features * self._scale[: self._d], samples * np.sqrt(self._e))
        return (
            np.einsum("ij,ij->i", features, features) / HUTCHINSON_PROBES,
            np.einsum("ij,ij->i", samples, samples) / HUTCHINSON_PROBES,
        )

    def _exact_variances(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The same from a factorisation on the features' side; None where digits are lost.

        With H = (X, F) diag(scale) and its factorised matrix A, P = E^-1 - E^-1 H A^-1 H'E^-1.
        """
        d = self._d
        known = 1.0 - self._inverse.diagonal()[:d]
        half = blas.dtrsm(1.0, self._factor, self._columns * self._scale.T, 1, 1, 1)
        left = 1.0 - np.einsum("ij,ij->i", half, half) / self._e[:, 0]
        if min(known.min(initial=1.0), left.min(initial=1.0)) < MIN_REMAINING_SHARE:
            return None
        return known / self._scale[:d, 0] ** 2, left / self._e[:, 0]

    @cached_property
    def _inverse(self) -> np.ndarray:
        """What is unknown of the features: the inverse of the matrix, its lower triangle."""
        if not len(self._factor):  # of which LAPACK complains on the terminal
            return self._factor
        return lapack.dpotri(self._factor, lower=1)[0]

    def among_features(self) -> np.ndarray:
        """The matrix X'P X, from a factorisation on the features' side."""
        d, scale = self._d, self._scale[: self._d]
        left = self._inverse[:d, :d]
        product = -(np.tril(left) + np.tril(left, -1).T)
        product[np.diag_indices(d)] += 1.0
        product /= scale
        product /= scale.T
        return product


def weighted_gram(columns: np.ndarray | SparseColumns, weight: np.ndarray) -> np.ndarray:
    """The matrix C' diag(weight) C of columns C."""
    if isinstance(columns, SparseColumns):
        return columns.weighted_gram(weight)
    n_samples, size = columns.shape
    step = max(BLOCK_NUMBERS // max(size, 1), 256)
    root = np.sqrt(weight)[:, None]
    total = np.zeros((size, size))
    for start in range(0, n_samples, step):
        rows = slice(start, start + step)
        block = columns[rows] * root[rows]
        total += block.T @ block
    return total


def cholesky(matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """Lower Cholesky factor, and the smallest pivot had the diagonal been 1.

    A matrix that rounding left indefinite is lifted a little, relative to every diagonal entry:
    it does not matter in which units the unknowns are.
    """
    size = len(matrix)
    diagonal = np.diag_indices(size)
    scale = np.sqrt(np.maximum(matrix[diagonal], np.finfo(float).tiny))
    matrix = matrix / scale[:, None]
    matrix /= scale
    lift = 0.0
    while True:
        factor, info = lapack.dpotrf(matrix, lower=1)
        if info == 0:
            pivot = float(factor[diagonal].min(initial=1.0)) ** 2
            factor *= scale[:, None]
            return factor, pivot
        lift = max(30.0 * lift, size * np.finfo(float).eps)
        if not (lift < size and np.isfinite(matrix).all()):
            raise np.linalg.LinAlgError("the matrix is not finite")
        matrix[diagonal] = 1.0 + lift


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))
