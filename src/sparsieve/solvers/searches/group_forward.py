"""Forward selection of whole groups of columns: one pass over X per group.

The ridge problem is ordinary least squares on the augmented columns (x_j; sqrt(ridge) e_j), see
:mod:`.forward`. Let V be the upper halves of orthonormal directions of what was chosen, c = V'X_g,
R the residual and C = X_g'R. Group g then gains tr(C' E^-1 C) with E = X_g'X_g + ridge I - c'c, and
takes tr(E^-1 N) degrees of freedom with N = (X_g - Vc)'(X_g - Vc). When the columns V_new enter,
both blocks of every group follow from the products of X with V_new and with V V'V_new.

White noise gains its variance times the degrees of freedom, so that large groups would win by
their size. What counts is the gain beyond that. A column of several groups is in the model once:
the groups that come later bring their other columns. Groups with more columns than samples are
factorised (:class:`~sparsieve.solvers.engines.group_products.GroupColumns`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from ...design import own_passes
from ..base import Callback, Event, LeastSquares, Result
from ..engines.group_products import GroupColumns, solved_blocks, without_columns
from .forward_scores import RANK_TOL
from .redundancy import Company

# Share of the largest squared norm above which a ridge keeps all systems far from singular.
SAFE_RIDGE = 1e-6


@dataclass(frozen=True)
class GroupPath:
    """A nested path of groups, and what gives the coefficients on each prefix.

    Attributes
    ----------
    order : ndarray of int
        Groups in order of entry.
    gains, excess : ndarray of shape (n_steps,)
        Decrease of the objective by every step, and how much of it is more than noise would gain.
    remaining : ndarray of shape (n_groups,)
        ``excess`` of every group if it came next; 0 for those chosen.
    left : ndarray of shape (n_groups,)
        What every group would gain if it came next; 0 for those chosen.
    columns : ndarray of int
        Columns in order of entry, without those that add nothing to the ones before.
    ends, ranks : ndarray of shape (n_steps + 1,)
        How many of ``columns``, and how many directions, the first 0, 1, 2, ... groups have.
    directions, responses : ndarray
        As in :class:`~sparsieve.solvers.searches.forward.ForwardPath`, by direction and
        column.
    spread : ndarray of shape (n_groups,)
        Largest eigenvalue of the inner products of the columns of every group.
    noise : float
        Variance of what the path leaves unexplained, per degree of freedom, where the next group
        gains no more than noise would, or at the end.
    """

    order: np.ndarray
    gains: np.ndarray
    excess: np.ndarray
    remaining: np.ndarray
    left: np.ndarray
    columns: np.ndarray
    ends: np.ndarray
    ranks: np.ndarray
    directions: np.ndarray
    responses: np.ndarray
    spread: np.ndarray
    noise: float


@dataclass(frozen=True)
class GroupForwardSelection:
    """Select groups one by one, each time the one that gains most beyond what noise would.

    Parameters
    ----------
    groups : sequence of arrays of int
        The columns of every group.
    n_steps : int or None
        Length of the path; None goes on while the best group gains more than the best of as many
        groups of noise would, one time in twenty, and takes one group at least.
    freedom : float
        Degrees of freedom of the target before the first step.
    prices : ndarray of shape (n_groups,) or None
        What counts is the gain beyond these, in place of what noise would gain; None for
        ``n_steps`` then goes on while the best group is worth its price.
    """

    groups: Sequence[np.ndarray]
    n_steps: int | None
    freedom: float
    prices: np.ndarray | None = None

    def solve(
        self,
        problem: LeastSquares,
        start: Result[GroupPath] | None = None,
        callback: Callback | None = None,
    ) -> Result[GroupPath]:
        """The path from no group on; a path has no warm start."""
        with own_passes(problem.design):
            return self._path(problem, callback)

    def _path(self, problem: LeastSquares, callback: Callback | None) -> Result[GroupPath]:
        state = _State(problem, self.groups)
        power, used = problem.power, 0.0
        order: list[int] = []
        gains: list[float] = []
        excess: list[float] = []
        remaining, level = np.zeros(len(self.groups)), None
        limit = len(self.groups) if self.n_steps is None else self.n_steps
        company = None if problem.redundancy is None else Company(problem.redundancy)
        passed: set[int] = set()
        while True:
            gain, freedom = state.gains()
            # Y'(I - H)Y for the hat matrix H of the fit: Y'R.
            noise = max(float(np.vdot(problem.Y, state.R)), 0.0) / max(self.freedom - used, 1.0)
            price = noise * freedom if self.prices is None else self.prices
            remaining = np.where(state.open, gain - price, 0.0)
            if len(order) >= limit:
                break
            able = state.open & (gain > 0)
            best = int(np.argmax(np.where(able, remaining, -np.inf)))
            if not able[best]:
                if self.n_steps is None or not passed:
                    break
                state.open[list(passed)] = True  # all others are used up
                company, passed = None, set()
                continue
            if company is not None and (near := company.closest(best)) is not None:
                copies = company.redundancy.copies(near)
                copies = copies[state.open[copies]]
                state.open[copies] = False
                passed |= set(copies.tolist())
                continue
            is_noise = gain[best] <= noise * chance(freedom[best], int(state.open.sum()))
            level = noise if is_noise and level is None else level
            over = is_noise if self.prices is None else remaining[best] <= 0
            if self.n_steps is None and order and over:
                break
            if company is not None:
                company.add(best)
            taken = state.take(best)
            used += float(freedom[best])
            order.append(best)
            gains.append(taken)
            excess.append(float(remaining[best]))
            remaining[best] = 0.0
            event = Event(
                len(order), power - sum(gains), n_features=len(order), note=f"group {best} entered"
            )
            if callback and callback(event):
                limit = len(order)
        state.open[list(passed)] = True
        remaining[list(passed)] = (gain - price)[list(passed)]
        objective = power - np.concatenate(([0.0], np.cumsum(gains)))
        columns, ends, U = state.expand_order(order)
        found = GroupPath(
            np.array(order, dtype=np.int64),
            np.array(gains),
            np.array(excess),
            remaining,
            np.where(state.open, gain, 0.0),
            columns,
            ends,
            np.array(state.ends, dtype=np.int64),
            U.astype(problem.design.dtype, copy=False),
            state.responses.astype(problem.design.dtype, copy=False),
            state.spread,
            noise if level is None else level,
        )
        return Result(found, float(objective[-1]), 0.0, len(order), True, objective[1:].tolist())


class _State:
    """What every group has left to give, and the directions that were taken."""

    def __init__(self, problem: LeastSquares, groups: Sequence[np.ndarray]) -> None:
        self.design, self.ridge = problem.design, float(problem.ridge)
        self.all = GroupColumns(self.design, groups)
        self.groups = self.all.groups
        n_samples, _ = self.design.shape
        self.R = np.array(problem.Y, dtype=np.float64)
        self.C = self.all.product(self.R)
        self.tol = RANK_TOL[np.dtype(self.design.dtype)]
        eligible = problem.is_eligible
        self.open = np.array([bool(eligible[columns].any()) for columns in groups])
        self.blocks = [_Block(*parts) for parts in self.all.products()]
        self.spread = np.zeros(len(groups))
        for block in self.blocks:
            self.spread[block.members] = np.linalg.eigvalsh(block.N)[:, -1]
            block.shift(self.ridge)
        self.taken = np.zeros(len(groups), dtype=bool)
        self.inside = np.zeros(len(self.C), dtype=bool)  # columns of several groups, once taken
        # Upper and lower halves of the directions.
        self.V = np.zeros((n_samples, 0))
        self.lower = np.zeros((0, 0))
        self.U = np.zeros((0, 0))
        self.responses = np.zeros((0, self.R.shape[1]))
        self.columns: list[int] = []
        self.ends = [0]

    def expand_order(self, order: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns of X in order of entry, where each group ends, and directions in these."""
        columns, ends = np.array(self.columns, dtype=np.int64), np.array(self.ends, dtype=np.int64)
        if not set(self.all.large) & set(order):
            return columns, ends, self.U
        parts, spans = [np.arange(0)], [self.U[:, :0]]
        for step, g in enumerate(order):
            at = slice(ends[step], ends[step + 1])
            if g in self.all.large:
                chosen = columns[at] - self.groups[g][0]
                parts.append(self.all.given[g])
                spans.append(self.U[:, at] @ self.all.factor(g)[1][chosen])
            else:
                parts.append(columns[at])
                spans.append(self.U[:, at])
        return np.concatenate(parts), np.cumsum([len(part) for part in parts]), np.hstack(spans)

    def gains(self) -> tuple[np.ndarray, np.ndarray]:
        """The gain of every group and the degrees of freedom that it would take."""
        gain, freedom = np.zeros(len(self.groups)), np.zeros(len(self.groups))
        for block in self.blocks:
            gain[block.members], freedom[block.members] = block.gains(self.C, self.tol, self.inside)
        return gain, freedom

    def take(self, g: int) -> float:
        """Move a group into the model; returns how much that lowers the objective."""
        is_new, t = ~self.inside[self.groups[g]], self.V.shape[1]
        columns, X = self.groups[g][is_new], self.all.columns(g)[:, is_new]
        size = float((X**2).sum(axis=0).max(initial=0.0)) + self.ridge
        upper, lower = X.copy(), np.zeros((t, len(columns)))
        along = np.zeros((t, len(columns)))
        for _ in range(2):  # the second pass removes what rounding left of the first
            inner = self.V.T @ upper + self.lower.T @ lower
            upper -= self.V @ inner
            lower -= self.lower @ inner
            along += inner
        own = np.sqrt(self.ridge) * np.eye(len(columns))
        Q, T, pivots = qr(np.vstack((upper, lower, own)), mode="economic", pivoting=True)
        rank = int((np.abs(np.diag(T)) ** 2 > self.tol * size).sum())
        Q, T, pivots = Q[:, :rank], T[:rank, :rank], pivots[:rank]
        V = Q[: len(X)]
        # Orthogonal to all earlier directions, they see the target through the residual alone.
        r = solve_triangular(T, X[:, pivots].T @ self.R, trans="T")
        U = solve_triangular(T, np.hstack((-along[:, pivots].T @ self.U, np.eye(rank))), trans="T")
        self._update(V, r)
        self.R -= V @ r
        self.V = np.hstack((self.V, V))
        placed = np.zeros((t + rank, rank))
        placed[:t] = Q[len(X) : len(X) + t]
        placed[t:] = Q[len(X) + t :][pivots]
        self.lower = np.hstack((np.vstack((self.lower, np.zeros((rank, t)))), placed))
        self.U = np.vstack((np.hstack((self.U, np.zeros((t, rank)))), U))
        self.responses = np.vstack((self.responses, r))
        self.columns += columns[pivots].tolist()
        self.ends.append(len(self.columns))
        self.open[g], self.taken[g] = False, True
        if self.all.overlap:
            self._share(self.all.given[g])
        return float(np.vdot(r, r))

    def _share(self, columns: np.ndarray) -> None:
        """Leave the other groups without these columns, which are in the model now."""
        self.inside[columns] = True
        for place, g in enumerate(self.all.large):
            known = self.inside[self.all.given[g]]
            if self.taken[g] or not known.any():
                continue
            self.all.narrow(g, self.all.given[g][~known])
            L = self.all.columns(g)
            self.C[self.groups[g]] = L.T @ self.R
            c = self.V.T @ L
            self.blocks[-1].replace(place, L.T @ L, c, self.V.T @ self.V, self.ridge)

    def _update(self, V: np.ndarray, r: np.ndarray) -> None:
        rank = V.shape[1]
        both = np.hstack((V, self.V @ (self.V.T @ V))) if self.V.shape[1] else V
        P = self.all.product(both)
        self.C -= P[:, :rank] @ r
        inside = V.T @ V
        for block in self.blocks:
            block.update(P, rank, inside)


class _Block:
    """Groups of one size: inner products of what the directions leave of their columns."""

    def __init__(self, members: np.ndarray, columns: np.ndarray, products: np.ndarray) -> None:
        self.members, self.columns = members, columns
        self.N, self.E = products, products.copy()
        self.size = np.einsum("gpp->gp", products).max(axis=1)
        self.smallest = 0.0  # a lower bound of the eigenvalues of E

    def shift(self, ridge: float) -> None:
        self.E += ridge * np.eye(self.columns.shape[1])
        self.size, self.smallest = self.size + ridge, ridge

    def replace(
        self, place: int, products: np.ndarray, c: np.ndarray, inside: np.ndarray, ridge: float
    ) -> None:
        """Other columns for one of the groups, with these products and what directions share."""
        taken = c.T @ c
        self.E[place] = products + ridge * np.eye(len(products)) - taken
        self.N[place] = products - 2.0 * taken + c.T @ inside @ c

    def gains(self, C: np.ndarray, tol: float, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c = C[self.columns]
        regular = self.smallest > SAFE_RIDGE * self.size.max()
        right = np.concatenate((c, self.N), axis=2)
        E, right = without_columns(self.E, right, inside[self.columns], self.size)
        c = right[:, :, : c.shape[2]]
        solved = solved_blocks(E, right, tol * self.size, regular=regular)
        gain = (c * solved[:, :, : c.shape[2]]).sum(axis=(1, 2))
        return gain, np.einsum("gpp->g", solved[:, :, c.shape[2] :])

    def update(self, P: np.ndarray, rank: int, inside: np.ndarray) -> None:
        """Take new directions out: ``P`` are products with them and with what they share."""
        c = P[:, :rank][self.columns]
        rest = c - P[:, rank:][self.columns] if P.shape[1] > rank else c
        self.E -= c @ c.transpose(0, 2, 1)
        cross = c @ rest.transpose(0, 2, 1)
        self.N += c @ inside @ c.transpose(0, 2, 1) - cross - cross.transpose(0, 2, 1)


def chance(freedom: float, n_groups: int) -> float:
    """What the best of so many groups of noise gains, in variances, one time in twenty at most.

    The tail bound of chi squared (Laurent and Massart 2000), for all groups together.
    """
    level = np.log(max(n_groups, 2)) + 3.0  # exp(-3) is one in twenty
    return float(freedom + 2.0 * np.sqrt(freedom * level) + 2.0 * level)
