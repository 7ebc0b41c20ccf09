"""Means and covariances of two classes, the covariances only as thin factors.

A class with weighted mean mu and covariance S = sum_i p_i (x_i - mu)(x_i - mu)' (the p_i sum to
one) has the factor Z with rows sqrt(p_i) (x_i - mu)', because ||Z w||^2 = w'S w. The machines
below need only two things of Z: a few of its columns, and products Z'u. Neither asks for a
features x features matrix, nor for a dense copy of a sparse X.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg

from ....design import DesignMatrix

# Dense factors up to this size are held as arrays; larger ones are applied lazily.
MAX_HELD_BYTES = 64 << 20
# Rows or columns are brought into memory in blocks of about this many numbers.
BLOCK_NUMBERS = 1 << 21
# No chosen ridge is below this share of the mean variance.
MIN_RIDGE_SHARE = 1e-6


@dataclass(frozen=True)
class SampleGroup:
    """The samples of one class (or of several classes taken as one).

    Attributes
    ----------
    rows : ndarray of int
        Which samples.
    roots : ndarray
        Square roots of their shares of the weight, which sum to one.
    size : float
        Their number, counted with weights.
    """

    rows: np.ndarray
    roots: np.ndarray
    size: float

    @classmethod
    def from_rows(cls, rows: np.ndarray, sample_weight: np.ndarray | None = None) -> SampleGroup:
        """The samples ``rows`` with their share of ``sample_weight``."""
        weights = np.ones(len(rows)) if sample_weight is None else sample_weight[rows]
        total = float(weights.sum())
        return cls(rows, np.sqrt(weights / total), total)


class TwoClassMoments:
    """What the minimax probability machines know about two classes.

    Parameters
    ----------
    design : DesignMatrix
        All samples, centred and scaled as the model is stated.
    positive, negative : SampleGroup
        The two classes.
    ridge : float, "auto" or "ledoit_wolf"
        Added to the diagonal of both covariances. "auto" gives nothing to a class with more
        samples than features and ``auto_share`` of the mean variance to any other;
        "ledoit_wolf" replaces S by (1 - s) S + s m I, m the mean variance, with the s that
        Ledoit and Wolf estimate to be the best.

    Attributes
    ----------
    means : tuple of ndarray
        Class means, positive class first.
    variances : tuple of ndarray
        Variances of the features within the classes.
    difference : ndarray of shape (n_features,)
        Mean of the positive class minus mean of the negative class.
    sizes : ndarray of shape (n_features,)
        The scale of every feature: the largest of its mean difference and its spreads.
    ridges : tuple of float
        What was added to the diagonal of each covariance.
    n_rows : tuple of int
        Rows of the two factors: samples of the class, or features where these are fewer.
    """

    def __init__(
        self,
        design: DesignMatrix,
        positive: SampleGroup,
        negative: SampleGroup,
        ridge: float | str = 0.0,
        auto_share: float = 1e-2,
    ):
        self.design = design
        self.groups: list[SampleGroup] = [positive, negative]
        self.n_features: int = design.shape[1]
        moments = [self._moments(group) for group in self.groups]
        self.means: tuple[np.ndarray, ...] = tuple(mean for mean, _ in moments)
        self.variances: tuple[np.ndarray, ...] = tuple(variance for _, variance in moments)
        self.difference: np.ndarray = self.means[0] - self.means[1]
        size = np.maximum(np.abs(self.difference), np.sqrt(np.maximum(*self.variances)))
        self.sizes: np.ndarray = np.where(size > 0.0, size, 1.0)
        self.factors: list[np.ndarray | None] = [self._held_factor(which) for which in (0, 1)]
        self.n_rows: tuple[int, ...] = tuple(
            len(group.rows) if held is None else len(held)
            for group, held in zip(self.groups, self.factors, strict=True)
        )
        self.ridges: tuple[float, float] = (
            self._shrink(0, ridge, auto_share),
            self._shrink(1, ridge, auto_share),
        )

    @property
    def precision(self) -> float:
        """Relative accuracy of ``rmatmul``: single where the data are and stay single."""
        lazy = any(held is None for held in self.factors)
        return float(np.finfo(self.design.dtype if lazy else np.float64).eps)

    def columns(self, which: int, features: np.ndarray) -> np.ndarray:
        """These columns of the factor of one class, in double precision."""
        held = self.factors[which]
        if held is not None:
            return held[:, features]
        group = self.groups[which]
        block = self.design.dense_columns(features)[group.rows].astype(np.float64)
        return (block - self.means[which][features]) * group.roots[:, None]

    def restrict(self, features: np.ndarray) -> TwoClassMoments:
        """The moments of a few features, with the ridges of all."""
        other = copy.copy(self)
        other.n_features = len(features)
        factors = [self.columns(which, features) for which in (0, 1)]
        other.factors, other.n_rows = [*factors], tuple(len(factor) for factor in factors)
        other.means = tuple(mean[features] for mean in self.means)
        other.variances = tuple(variance[features] for variance in self.variances)
        other.difference, other.sizes = self.difference[features], self.sizes[features]
        return other

    def rmatmul(self, u_positive: np.ndarray, u_negative: np.ndarray) -> np.ndarray:
        """Z1'u1 + Z2'u2 for all features: at most one pass over the data."""
        total = np.zeros(self.n_features)
        spread = None
        for which, u in enumerate((u_positive, u_negative)):
            held, group = self.factors[which], self.groups[which]
            if held is not None:
                total += u @ held
                continue
            if spread is None:
                spread = np.zeros((self.design.shape[0], 1), dtype=self.design.dtype)
            scaled = u * group.roots
            spread[group.rows, 0] = scaled
            total -= self.means[which] * scaled.sum()
        if spread is not None:
            total += self.design.rmatmul(spread)[:, 0]
        return total

    def gram(self) -> np.ndarray:
        """M M' for the rows M of both factors and of the mean difference, by column blocks."""

        def rows(features):
            factors = [self.columns(which, features) for which in (0, 1)]
            return np.vstack([*factors, self.difference[None, features]])

        return self._gram(rows, sum(self.n_rows) + 1)

    def _gram(self, rows, size: int) -> np.ndarray:
        """M M', where ``rows(features)`` gives these columns of M, of so many rows."""
        total = np.zeros((size, size))
        width = max(16, BLOCK_NUMBERS // size)
        for start in range(0, self.n_features, width):
            block = rows(np.arange(start, min(start + width, self.n_features)))
            total += block @ block.T
        return total

    # -- set-up --------------------------------------------------------------------------

    def _moments(self, group: SampleGroup) -> tuple[np.ndarray, np.ndarray]:
        weights = np.zeros(self.design.shape[0])
        weights[group.rows] = group.roots**2
        return self.design.column_moments(weights)

    def _held_factor(self, which: int) -> np.ndarray | None:
        group = self.groups[which]
        if len(group.rows) >= self.n_features:
            return self._triangular_factor(which)
        array = getattr(self.design, "array", None)
        if array is None or 8 * len(group.rows) * self.n_features > MAX_HELD_BYTES:
            return None
        factor = array[group.rows].astype(np.float64)
        factor -= self.means[which]
        factor *= group.roots[:, None]
        return factor

    def _triangular_factor(self, which: int) -> np.ndarray:
        """R of Z = QR: the same norms with d rows instead of n."""
        factor: np.ndarray = np.zeros((0, self.n_features))
        for block in self._sample_blocks(which):
            factor = scipy.linalg.qr(np.vstack([factor, block]), mode="r", check_finite=False)[0][
                : self.n_features
            ]
        return factor

    def _sample_blocks(self, which: int):
        """The rows of Z, some at a time."""
        group, d = self.groups[which], self.n_features
        height = max(d, BLOCK_NUMBERS // d)
        for start in range(0, len(group.rows), height):
            piece = slice(start, start + height)
            rows = self.design.rows(group.rows[piece])
            block = rows.dense_columns(np.arange(d)).astype(np.float64)
            yield (block - self.means[which]) * group.roots[piece, None]

    def _shrink(self, which: int, ridge, auto_share: float) -> float:
        group, variances = self.groups[which], self.variances[which]
        if not isinstance(ridge, str):
            return float(ridge)
        # A class of identical samples has no variance of its own to go by.
        overall = float(np.mean(self.variances)) or 1.0
        if ridge == "auto":
            if group.size > self.n_features:
                return 0.0
            return max(auto_share * float(variances.mean()), MIN_RIDGE_SHARE * overall)
        share = self._ledoit_wolf_share(which)
        held, shrink = self.factors[which], np.sqrt(1.0 - share)
        if held is None:
            self.groups[which] = replace(group, roots=group.roots * shrink)
        else:
            self.factors[which] = held * shrink
        return max(share * float(variances.mean()), MIN_RIDGE_SHARE * overall)

    def _ledoit_wolf_share(self, which: int) -> float:
        """The s of Ledoit and Wolf, which needs S only through traces.

        With p_i the shares of the samples: sum_jk S_jk^2 = ||Z Z'||_F^2 = ||R R'||_F^2, and the
        estimate of the noise in S uses sum_i p_i ||x_i - mu||^4.
        """
        group, d = self.groups[which], self.n_features
        held = self.factors[which]
        gram = (
            self._gram(partial(self.columns, which), len(group.rows))
            if held is None
            else held @ held.T
        )
        squares = float(np.vdot(gram, gram))
        lengths = np.diag(gram)
        if held is not None and len(group.rows) >= d:  # rows of the triangle are no samples
            lengths = np.concatenate(
                [np.einsum("ij,ij->i", block, block) for block in self._sample_blocks(which)]
            )
        fourth = float((lengths**2 / group.roots**2).sum())
        mean_variance = float(self.variances[which].mean())
        dispersion = squares / d - mean_variance**2
        if dispersion <= 0.0:
            return 1.0
        noise = (fourth - squares) / (d * group.size)
        return float(np.clip(noise / dispersion, 0.0, 1.0))
