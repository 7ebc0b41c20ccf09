"""The matrix I + X D X' of one output, kept from one Newton step to the next.

D has one weight for the features that this output uses ``alone`` and another for those that it
shares (``tied``). The weights change with every proximal step, the features hardly: so matrices
without weights are kept, of the samples or of the features, whichever are fewer, and only the
features that came or went are looked at.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import blas, lapack

from ...design import DesignMatrix

# An output that uses fewer features than this share of the samples has a matrix of their number.
FEATURES_SIDE = 0.5
BLOCK = 4096  # columns as dense numbers at a time
# A matrix is built anew where more than this share of its features, or of their squares, would
# have to be added or taken away: that costs as much, and loses digits.
REBUILD_SHARE = 0.5

Solve = Callable[[np.ndarray], np.ndarray]


def products_for_factor(n_samples: int, used: np.ndarray) -> np.ndarray:
    """Number of products to build and factorise the matrices of outputs with so many features."""
    by_features = (n_samples + used / 3.0) * used**2
    by_samples = (used + n_samples / 3.0) * n_samples**2
    return np.where(used < FEATURES_SIDE * n_samples, by_features, by_samples)


class OwnMatrix:
    """I + X D X' of one output."""

    def __init__(self, design: DesignMatrix):
        self.design = design
        self.sums: tuple[_OuterProducts, _OuterProducts] | None = None
        self.gram: _Gram | None = None

    def solver(self, alone: np.ndarray, tied: np.ndarray, weights: np.ndarray) -> Solve:
        """V -> (I + X D X')^-1 v, for the features and the weights of both kinds."""
        n_samples = self.design.shape[0]
        if len(alone) + len(tied) < FEATURES_SIDE * n_samples:
            self.sums = None
            if self.gram is None:
                self.gram = _Gram(self.design)
            return self.gram.solver(alone, tied, weights)
        self.gram = None
        if self.sums is None:
            self.sums = _OuterProducts(self.design), _OuterProducts(self.design)
        for kept, used in zip(self.sums, (alone, tied), strict=True):
            kept.update_features(used)
        matrix = weights[0] * self.sums[0].matrix
        matrix += weights[1] * self.sums[1].matrix
        return _by_factor(matrix)


class CommonMatrix:
    """Roughly I + X D X' for weights in D that change by little but a factor.

    Kept from one proximal step to the next: building it anew took 1.9 times as long on 2,000 texts.
    """

    def __init__(self, design: DesignMatrix):
        self.design = design
        self.norms: np.ndarray = design.column_sq_norms()
        self.shares: np.ndarray = np.zeros(design.shape[1])
        self.matrix: np.ndarray | None = None

    def factor(self, weights: np.ndarray) -> np.ndarray:
        """Its Cholesky factor, a lower triangle."""
        shares = weights * self.norms
        total = float(shares.sum())
        shares /= total if total > 0 else 1.0
        if self.matrix is None or np.abs(shares - self.shares).sum() > REBUILD_SHARE:
            used = np.flatnonzero(shares)
            self.matrix = outer_products(self.design, used, weights[used] / total)
            self.shares = shares
        return factorise(total * self.matrix)


class _OuterProducts:
    """The sum of x_j x_j' over a set of features."""

    def __init__(self, design: DesignMatrix):
        self.design = design
        self.norms = design.column_sq_norms()
        self.used = np.zeros(design.shape[1], dtype=bool)
        self.matrix = outer_products(design, np.empty(0, dtype=np.int64))

    def update_features(self, features: np.ndarray) -> None:
        used = np.zeros_like(self.used)
        used[features] = True
        changed = np.flatnonzero(used != self.used)
        few = len(changed) <= REBUILD_SHARE * len(features)
        if few and self.norms[changed].sum() <= REBUILD_SHARE * self.norms[features].sum():
            came = used[changed]
            add_outer_products(self.matrix, self.design, changed[came])
            add_outer_products(self.matrix, self.design, changed[~came], sign=-1.0)
        else:
            self.matrix = outer_products(self.design, features)
        self.used = used


class _Gram:
    """X'X of a set of features, for an output with few of them.

    Building it anew at every step took 1.7 times as long on 2,000 texts in 20 classes.
    """

    def __init__(self, design: DesignMatrix):
        self.design = design
        self.features: np.ndarray = np.empty(0, dtype=np.int64)
        # Larger than needed, so that what stays need not be moved.
        self.columns: np.ndarray = np.empty((design.shape[0], 0), order="F")
        self.matrix: np.ndarray = np.empty((0, 0), order="F")

    def solver(self, alone: np.ndarray, tied: np.ndarray, weights: np.ndarray) -> Solve:
        """By Woodbury's identity."""
        self._update_features(np.concatenate([alone, tied]))
        size = len(self.features)
        if not size:
            return np.copy
        roots = np.sqrt(np.where(np.isin(self.features, alone), weights[0], weights[1]))
        inner = _by_factor(self.matrix[:size, :size] * roots * roots[:, None])
        columns = self.columns[:, :size]
        return lambda v: v - columns @ (roots * inner(roots * (v @ columns)))

    def _update_features(self, features: np.ndarray) -> None:
        """Let those that come take the places of those that go; the last close the gaps left."""
        places = np.flatnonzero(~np.isin(self.features, features))
        come = np.setdiff1d(features, self.features)
        old, new = len(self.features), len(features)
        if new > old:
            self._reserve(new)
            self.features = np.concatenate([self.features, np.empty(new - old, dtype=np.int64)])
            places = np.concatenate([places, np.arange(old, new)])
        last = np.setdiff1d(np.arange(new, old), places)
        gaps = places[: len(last)]
        self.features[gaps] = self.features[last]
        self.columns[:, gaps] = self.columns[:, last]
        self.matrix[gaps] = self.matrix[last]
        self.matrix[:, gaps] = self.matrix[:, last]
        self.features = self.features[:new]
        places = places[len(last) :][: len(come)]
        self.features[places] = come
        self.columns[:, places] = self.design.dense_columns(come)
        products = self.columns[:, :new].T @ self.columns[:, places]
        self.matrix[:new, places] = products
        self.matrix[places, :new] = products.T

    def _reserve(self, size: int) -> None:
        held = self.columns.shape[1]
        if size > held:
            more = size + size // 4 - held
            self.columns = np.asfortranarray(np.pad(self.columns, ((0, 0), (0, more))))
            self.matrix = np.asfortranarray(np.pad(self.matrix, ((0, more), (0, more))))


def _by_factor(matrix: np.ndarray) -> Solve:
    """V -> (I + matrix)^-1 v for vectors; overwrites the matrix."""
    factor = factorise(matrix)

    # For a single vector this takes half the time of LAPACK's solver, which copies the factor.
    def solve(v: np.ndarray) -> np.ndarray:
        half = blas.dtrsv(factor, v, lower=1)
        return blas.dtrsv(factor, half, lower=1, trans=1, overwrite_x=1)

    return solve


def factorise(matrix: np.ndarray) -> np.ndarray:
    """The Cholesky factor, a lower triangle, of I + the lower triangle of a symmetric matrix.

    The matrix is overwritten if it is in Fortran's order.
    """
    matrix[np.diag_indices_from(matrix)] += 1.0
    return lapack.dpotrf(matrix, lower=1, overwrite_a=1)[0]


def outer_products(
    design: DesignMatrix, features: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """The lower triangle of the sum of x_j x_j' over features, weighted."""
    matrix = np.zeros((design.shape[0], design.shape[0]), order="F")
    add_outer_products(matrix, design, features, weights)
    return matrix


def add_outer_products(
    matrix: np.ndarray,
    design: DesignMatrix,
    features: np.ndarray,
    weights: np.ndarray | None = None,
    sign: float = 1.0,
) -> None:
    """Add the sum of x_j x_j' over features to a lower triangle in Fortran's order."""
    for first in range(0, len(features), BLOCK):
        block = slice(first, first + BLOCK)
        columns = design.dense_columns(features[block])
        if weights is not None:
            columns = columns * np.sqrt(weights[block])
        blas.dsyrk(sign, columns, beta=1.0, c=matrix, lower=1, overwrite_c=1)
