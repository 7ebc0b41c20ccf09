"""Few groups of rows under an l2,1 loss: the search of :mod:`.greedy` with groups as features.

The penalty is alpha sum_g c_g ||W_g||; columns divided by c_g make all weights one. Adding group g
gains about (1 - alpha / ||C||)^2 tr(C' E^-1 C) / 2, or nothing where ||C|| <= alpha, with C = X_g'L
and E the weighted inner products of what the support leaves of X_g.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...solvers.robust.group_working_set import GroupWorkingSet
from ...solvers.robust.problem import RobustRegression
from .greedy import GreedyExchange, SupportSearch
from .support_fits import Candidate


@dataclass(frozen=True)
class GroupGreedyExchange(GreedyExchange):
    """Grow sets of up to k groups and exchange groups of the largest; supports are of groups.

    Parameters
    ----------
    groups : GroupWorkingSet
        The columns of every group, and its weight.
    """

    groups: GroupWorkingSet = field(kw_only=True)

    def _search(self, problem: RobustRegression) -> SupportSearch:
        return _GroupSearch(problem, self.max_rounds, self.groups)


class _GroupSearch(SupportSearch):
    def __init__(self, problem: RobustRegression, max_rounds: int, groups: GroupWorkingSet):
        self._groups = groups
        self._sizes = np.array([len(columns) for columns in groups.groups])
        super().__init__(problem, max_rounds)

    def _features(self) -> np.ndarray:
        return np.flatnonzero(self._sizes > 0)

    @property
    def n_all(self) -> int:
        return len(self._sizes)

    def _columns_of(self, features: np.ndarray) -> np.ndarray:
        columns, numbers = self._groups.columns(features)
        return self.problem.columns(columns) / self._groups.weights[features][numbers]

    def _norms(self, rows: np.ndarray, features: np.ndarray) -> np.ndarray:
        squares = np.einsum("ij,ij->i", rows, rows)
        numbers = self._wide(np.arange(len(features)), features)
        return np.sqrt(np.bincount(numbers, weights=squares, minlength=len(features)))

    def _wide(self, values: np.ndarray, features: np.ndarray) -> np.ndarray:
        return np.repeat(values, self._sizes[features])

    def _usual(self, columns: np.ndarray, features: np.ndarray) -> np.ndarray:
        each = self.problem.usual_rows(columns)
        return self._norms(each[:, None], features) / self._sizes[features]

    def correlations(self, multiplier: np.ndarray) -> np.ndarray:
        return self._groups.at_dual(self.problem, multiplier)

    def _gains(
        self, fit: Candidate, candidates: np.ndarray, correlations: np.ndarray
    ) -> np.ndarray:
        columns, weight, cross, gram = self._beside(fit, candidates)
        back = np.linalg.solve(gram, cross)
        C = columns.T @ fit.multiplier
        numbers = self._wide(np.arange(len(candidates)), candidates)
        gains = np.zeros(len(candidates))
        for i, norm in enumerate(correlations):
            if norm <= self.alpha:
                continue
            at = numbers == i
            inner = columns[:, at].T @ (columns[:, at] * weight[:, None])
            rest = inner - cross[:, at].T @ back[:, at]
            rest[np.diag_indices(len(rest))] += 1e-8 * float(np.trace(inner)) + 1e-300
            gain = float(np.vdot(C[at], np.linalg.solve(rest, C[at])))
            gains[i] = max(gain, 0.0) * (1.0 - self.alpha / norm) ** 2
        return gains

    def costs(self, fit: Candidate) -> np.ndarray:
        rows = np.einsum("ij,ij->i", fit.W, fit.W) / np.maximum(fit.variances, 1e-300)
        numbers = self._wide(np.arange(len(fit.features)), fit.features)
        return np.bincount(numbers, weights=rows, minlength=len(fit.features))
