"""Models on any support out of some known features, and the order of all features around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..path import SelectionPath
from ..preparation import Prepared, Units
from ..row_norms.base import SupportModel as RobustSupportModel
from .triangular import ReducedLeastSquares


@dataclass(frozen=True)
class SupportSolution:
    """Coefficients in the units of the user, value of the loss, and how well it was solved."""

    coef: np.ndarray
    intercept: np.ndarray
    value: float
    optimality: float


class SupportModel(Protocol):
    """A model that can be fitted on any support without the samples of all features."""

    def fit(self, support: np.ndarray) -> SupportSolution: ...


@dataclass(frozen=True)
class SquaredModel:
    """1/2 ||XW - Y||^2 + ridge/2 ||W||^2 on a support; exact."""

    reduced: ReducedLeastSquares
    units: Units

    @classmethod
    def of(cls, problem: Prepared, features: np.ndarray, ridge: float) -> SquaredModel:
        """Keep what these features need."""
        return cls(ReducedLeastSquares.of(problem, features, ridge), problem.units)

    def fit(self, support: np.ndarray) -> SupportSolution:
        """Least squares on ``support``."""
        rows, value = self.reduced.solve(support)
        W = np.zeros((len(self.units.scale), rows.shape[1]), dtype=self.reduced.dtype)
        W[support] = rows
        coef, intercept = self.units.coefficients(W)
        return SupportSolution(coef, intercept, 0.5 * value, 0.0)


@dataclass(frozen=True)
class RobustModel:
    """sum_i ||x_i W + b - y_i|| on a support, to a duality gap."""

    model: RobustSupportModel

    def fit(self, support: np.ndarray) -> SupportSolution:
        """The certified fit on ``support``."""
        fitted = self.model.fit(support)
        fit = fitted.fit
        return SupportSolution(fitted.coef, fitted.intercept, fit.objective, fit.optimality)


@dataclass(frozen=True)
class SupportOrder:
    """Scores and ranking at every number of features, for supports that are not nested.

    ``leftover`` says what a feature outside would gain, ``alone`` what it says on its own.
    """

    path: SelectionPath
    leftover: np.ndarray
    alone: np.ndarray
    constant: np.ndarray

    def _selected(self, count: int) -> np.ndarray:
        """The support at this size, then what larger supports add to it."""
        support, longest = self.path.support(count), self.path.features
        return np.concatenate([support, longest[~np.isin(longest, support)]])

    def scores(self, count: int) -> np.ndarray:
        """For the support what was left at the size before each place, for others the gain."""
        # What is left at a size exceeds what any feature can gain there, so places in the
        # support and gains fit on one scale.
        selected = self._selected(count)
        left = np.minimum.accumulate(np.asarray(self.path.objective))
        scores = np.minimum(self.leftover, left[-1])
        scores[selected] = left[np.minimum(np.arange(len(selected)), len(left) - 1)]
        return scores

    def ranking(self, count: int) -> np.ndarray:
        """Support first, the others by gain, by what they say alone, by column."""
        n_features = len(self.leftover)
        selected = self._selected(count)
        others = np.setdiff1d(np.arange(n_features), selected)
        keys = (others, -self.alone[others], -self.leftover[others], self.constant[others])
        ranking = np.empty(n_features, dtype=np.int64)
        ranking[np.concatenate([selected, others[np.lexsort(keys)]])] = np.arange(1, n_features + 1)
        return ranking
