"""Exchanges of whole groups of columns: better groups of every number, in one run.

With H = (X_S'X_S + ridge I)^-1 over the columns of the chosen groups, Z = X'X_S H,
C = X'(Y - X_S W) and E_i = X_i'X_i + ridge I - Z_i X_S'X_i, dropping group j costs
tr(W_j' H_jj^-1 W_j), and adding i after that gains tr(C' E^-1 C) of C = C_i + Z_ij H_jj^-1 W_j and
E = E_i + Z_ij H_jj^-1 Z_ij': the formulas of :mod:`.exchange` with blocks for numbers. Every
group also has a price. A column of several groups counts once, and leaves with the last of them;
only groups with more columns than samples are compared as if each had a column of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dpstrf

from ...design import DesignMatrix
from ..base import LeastSquares
from ..engines.group_products import GroupColumns, solved_blocks, without_columns
from .exchange import DROPS_PER_EXCHANGE, MAX_THOROUGH_FEATURES, ExchangeSearch, _Support
from .forward import DistinctSupport
from .forward_scores import RANK_TOL
from .group_forward import SAFE_RIDGE


@dataclass(frozen=True)
class GroupExchange(ExchangeSearch):
    """Improve the groups of a forward path; supports, features and objectives are of groups.

    Parameters
    ----------
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used.
    prices : ndarray of shape (n_groups,)
        What every group adds to the objective.
    """

    groups: Sequence[np.ndarray] = field(kw_only=True)
    prices: np.ndarray = field(kw_only=True)

    def _empty(self, problem: LeastSquares, n_steps: int) -> tuple[_Support, int, int]:
        n_groups = len(self.groups)
        thorough = n_groups <= MAX_THOROUGH_FEATURES
        n_out = n_groups if thorough else DROPS_PER_EXCHANGE * self.n_swaps
        support: _Support = GroupSupport(problem, self.groups, self.prices, n_out)
        if problem.redundancy is not None:
            support = DistinctSupport(support, problem.redundancy)
        return support, n_steps, 10 * n_groups if thorough else self.n_swaps


class GroupSupport:
    """Some groups, and what every change of them does to the objective, prices included.

    Parameters
    ----------
    n_out : int
        Groups that are considered for leaving, the cheapest first.
    """

    design: DesignMatrix
    ridge: float
    groups: list[np.ndarray]
    n_out: int
    prices: np.ndarray

    def __init__(
        self, problem: LeastSquares, groups: Sequence[np.ndarray], prices: np.ndarray, n_out: int
    ) -> None:
        self.design, self.ridge = problem.design, float(problem.ridge)
        self.all: GroupColumns = GroupColumns(self.design, groups)
        self.groups, self.prices, self.n_out = self.all.groups, prices, n_out
        self.tol: float = RANK_TOL[np.dtype(self.design.dtype)]
        self.power: float = problem.power
        self.cross: np.ndarray = self.all.product(np.asarray(problem.Y))
        self.blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = list(self.all.products())
        self.sizes: list[np.ndarray] = [
            np.einsum("gpp->gp", products).max(axis=1) + self.ridge
            for _, _, products in self.blocks
        ]
        largest = max((float(size.max()) for size in self.sizes), default=0.0)
        self.regular: bool = self.ridge > SAFE_RIDGE * largest
        self.inner: dict[int, np.ndarray] = {}  # X'X_g of the groups inside
        self.order: list[int] = []
        self._is_shut = np.zeros(len(groups), dtype=bool)
        self._settle()

    def add(self, group: int) -> None:
        """Take a group in: one product with its columns."""
        self.inner[group] = self.all.product(self.all.columns(group))
        self.order.append(group)
        self._settle()

    def remove(self, group: int) -> None:
        """Take a group out."""
        self.order.remove(group)
        del self.inner[group]
        self._settle()

    def _settle(self) -> None:
        """Everything that follows from the groups inside."""
        none = np.arange(0)
        columns = np.concatenate([none, *(self.groups[g] for g in self.order)])
        numbers = np.repeat(np.arange(len(self.order)), [len(self.groups[g]) for g in self.order])
        M = np.hstack([np.empty((len(self.cross), 0)), *(self.inner[g] for g in self.order)])
        if self.all.overlap:
            columns, first, counts = np.unique(columns, return_index=True, return_counts=True)
            numbers, M = np.where(counts > 1, -1, numbers[first]), M[:, first]
        system = M[columns] + self.ridge * np.eye(len(columns))
        if not self.regular and len(columns):  # columns that add nothing to others are left out
            limit = self.tol * float(system.diagonal().max())
            _, pivots, rank, _ = dpstrf(np.asfortranarray(system), tol=limit, lower=1)
            kept = np.sort(pivots[:rank] - 1)
            columns, numbers, M = columns[kept], numbers[kept], M[:, kept]
            system = system[np.ix_(kept, kept)]
        self.columns = columns
        self.H = np.linalg.inv(system)
        self.H = 0.5 * (self.H + self.H.T)
        self.Z = M @ self.H
        self.W = self.H @ self.cross[columns]
        self.C = self.cross - M @ self.W
        self.places: list[np.ndarray] = [
            np.flatnonzero(numbers == i) for i in range(len(self.order))
        ]
        fit = self.power - float(np.vdot(self.W, self.cross[columns]))
        self.objective: float = fit + float(self.prices[self.order].sum())
        self.E = [
            products + self.ridge * np.eye(own.shape[1]) - self.Z[own] @ M[own].transpose(0, 2, 1)
            for _, own, products in self.blocks
        ]

    def gains(self, without: int | None = None) -> np.ndarray:
        """What every group would gain; with ``without`` after the group in this place has left."""
        found = np.zeros(len(self.groups))
        inside = np.zeros(len(self.cross), dtype=bool)  # what no group would bring
        inside[self.columns] = self.all.overlap
        if without is not None:
            inside[self.columns[self.places[without]]] = False
        for (members, own, _), size, block in zip(self.blocks, self.sizes, self.E, strict=True):
            C, E = self.C[own], block
            if without is not None:
                at = self.places[without]
                across = self.Z[own][:, :, at]
                back = across @ np.linalg.inv(self.H[np.ix_(at, at)])
                C, E = C + back @ self.W[at], E + back @ across.transpose(0, 2, 1)
            E, C = without_columns(E, C, inside[own], size)
            solved = solved_blocks(E, C, self.tol * size, regular=self.regular)
            found[members] = np.maximum((C * solved).sum(axis=(1, 2)), 0.0)
        found[[g for i, g in enumerate(self.order) if i != without]] = 0.0
        found[self._is_shut] = 0.0
        return found

    def shut(self, groups: np.ndarray, is_shut: bool) -> None:
        """Let none of these groups enter, or let them again."""
        self._is_shut[groups] = is_shut

    def _worth(self, gains: np.ndarray) -> np.ndarray:
        return np.where(gains > 0.0, gains - self.prices, -np.inf)

    def costs(self) -> np.ndarray:
        """By how much the objective rises without each of the groups inside."""
        found = -self.prices[self.order].astype(np.float64)
        for i, at in enumerate(self.places):
            if len(at):
                rows = self.W[at]
                found[i] += float(np.vdot(rows, np.linalg.solve(self.H[np.ix_(at, at)], rows)))
        return found

    def best_addition(self) -> tuple[int, float]:
        """The group that gains most beyond its price, and its gain."""
        gains = self.gains()
        best = int(np.argmax(self._worth(gains)))
        return best, float(gains[best])

    def cheapest(self) -> int:
        """The group whose loss costs least."""
        return self.order[int(np.argmin(self.costs()))]

    def best_exchange(self) -> tuple[Sequence[int], Sequence[int], float]:
        """The best of exchanging one of the cheapest groups for another."""
        costs = self.costs()
        best: tuple[Sequence[int], Sequence[int], float] = ((), (), 0.0)
        for i in np.argsort(costs, kind="stable")[: self.n_out].tolist():
            worth = self._worth(self.gains(i))
            worth[self.order[i]] = -np.inf
            into = int(np.argmax(worth))
            if worth[into] - costs[i] > best[2]:
                best = [self.order[i]], [into], float(worth[into] - costs[i])
        return best
