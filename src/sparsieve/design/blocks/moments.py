"""Means and squared deviations by group of rows, block by block, in double precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import DesignMatrix


@dataclass(frozen=True)
class Moments:
    """Weights, means and sums of squared deviations by group of rows.

    Of shapes (n_groups,) and (n_groups, n_features) twice.
    """

    sizes: np.ndarray
    means: np.ndarray
    squares: np.ndarray

    def merged(self, other: Moments) -> Moments:
        """The moments of both sets of rows (Chan, Golub and LeVeque)."""
        sizes = self.sizes + other.sizes
        share = np.divide(other.sizes, sizes, out=np.zeros_like(sizes), where=sizes > 0)[:, None]
        gap = other.means - self.means
        squares = self.squares + other.squares + self.sizes[:, None] * share * gap**2
        return Moments(sizes, self.means + share * gap, squares)

    def together(self) -> Moments:
        """The moments of all groups taken as one."""
        size = self.sizes.sum()
        means = self.sizes @ self.means / size
        squares = self.squares.sum(axis=0) + self.sizes @ (self.means - means) ** 2
        return Moments(np.array([size]), means[None], squares[None])


def block_moments(
    n_groups: int,
    block: DesignMatrix,
    codes: np.ndarray | None,
    weights: np.ndarray | None = None,
) -> Moments:
    """The moments of one block, in double precision; without codes all rows are one group."""
    if codes is None:
        size = np.array([block.shape[0] if weights is None else weights.sum()], dtype=np.float64)
        mean, variance = block.column_moments(weights)
        return Moments(size, mean[None], size * variance[None])
    sizes = np.bincount(codes, weights=weights, minlength=n_groups).astype(np.float64)
    present = sizes > 0
    count = int(present.sum())
    if count == n_groups:
        means, variances = block.group_moments(codes, n_groups, weights)
        return Moments(sizes, means, sizes[:, None] * variances)
    means, squares = np.zeros((n_groups, block.shape[1])), np.zeros((n_groups, block.shape[1]))
    place = np.cumsum(present) - 1  # of a group among those that the block holds
    means[present], squares[present] = block.group_moments(place[codes], count, weights)
    squares *= sizes[:, None]
    return Moments(sizes, means, squares)


def moments_and_minima(
    n_groups: int, block: DesignMatrix, codes: np.ndarray, weights: np.ndarray | None = None
) -> tuple[Moments, np.ndarray]:
    """The moments of one block, and the smallest value of every column."""
    return block_moments(n_groups, block, codes, weights), block.column_minima()


def both_merged(
    first: tuple[Moments, np.ndarray], second: tuple[Moments, np.ndarray]
) -> tuple[Moments, np.ndarray]:
    """The same of the rows of both."""
    return first[0].merged(second[0]), np.minimum(first[1], second[1])
