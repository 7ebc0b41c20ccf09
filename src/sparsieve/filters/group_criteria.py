"""Relevance and redundancy of groups of columns, such as those of a category: each counts once."""

from __future__ import annotations

import numpy as np

from ..design import standardise_columns
from ..selectors.base import TrainingData
from ..selectors.groups import group_bases
from ..validation.feature_groups import FeatureGroups
from .base import centred_target, ratio
from .criteria import MIN_CORRELATION, Correlation
from .group_tests import class_basis

# Shares of a target above this leave nothing but rounding.
PERFECT = 1.0 - 1e-13


class GroupCorrelation(Correlation):
    """F statistics and correlations of groups, by orthonormal directions of their columns.

    The F statistic is the mean explained by a direction over the mean left, each per degree of
    freedom: about 1 for noise, whatever the size. The correlation of two groups is the root of the
    mean square of their canonical correlations. Of single columns both are what they always are.
    """

    def __init__(self, data: TrainingData, groups: FeatureGroups, kind: str):
        how = {"centre": True, "scale": True, "sample_weight": data.sample_weight}
        view = standardise_columns(data.design, **how, dtype=np.float64).design  # type: ignore[arg-type]
        bases = [np.empty((0, 0))] * groups.n_groups
        for some, found, ranks in group_bases(view, groups, data.design.dtype):
            for g, basis, rank in zip(some, found, ranks, strict=True):
                bases[g] = basis[:, :rank]
        self.ranks: np.ndarray = np.array([basis.shape[1] for basis in bases])
        self.numbers: np.ndarray = np.repeat(np.arange(groups.n_groups), self.ranks)
        self.bases: np.ndarray = np.hstack(bases)
        super().__init__(None, data.total_weight, self._f_statistics(data), kind)

    def _f_statistics(self, data: TrainingData) -> np.ndarray:
        """Of numbers by regression on the group; of classes between them, over its directions."""
        n, p = data.total_weight, np.maximum(self.ranks, 1)[:, None]
        if data.target.codes is None:
            shares = self._sums((self.bases.T @ centred_target(data)) ** 2)
            above, below = p, n - 1.0 - p
        else:
            basis = class_basis(data)
            shares = self._sums(((self.bases.T @ basis) ** 2).sum(axis=1, keepdims=True)) / p
            above, below = basis.shape[1], n - 1.0 - basis.shape[1]
        self.shares: np.ndarray = np.minimum(shares, 1.0)
        left = np.where(self.shares > PERFECT, 0.0, 1.0 - self.shares)
        return np.asarray(ratio(self.shares / above, left / np.maximum(below, 1e-9)).max(axis=1))

    def _sums(self, squares: np.ndarray) -> np.ndarray:
        """Sums over the directions of every group."""
        found = np.zeros((len(self.ranks), squares.shape[1]))
        np.add.at(found, self.numbers, squares)
        return found

    def with_others(self, picked: int) -> np.ndarray:
        """Correlations of a group with all."""
        own = self.bases[:, self.numbers == picked]
        squares = self._sums(((self.bases.T @ own) ** 2).sum(axis=1, keepdims=True))[:, 0]
        shares = squares / np.maximum(np.minimum(self.ranks, self.ranks[picked]), 1)
        correlation = np.sqrt(np.minimum(shares, 1.0))
        return correlation.clip(min=MIN_CORRELATION) if self.is_quotient else correlation
