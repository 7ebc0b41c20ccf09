"""Nodes bounded by the perspective relaxation.

By s_j = ||x_j'A||^2 the relaxation also tells of features that no better support below a node
can have or lack:

    bound + (s_(k) - s_j) / ridge > best   =>   j is in no better support,
    bound + (s_j - s_(k+1)) / ridge > best =>   j is in every better support,

with the squares of the free features in falling order and k the places left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from .bounds import BoundSearch, DualPoint, dual_point
from .relaxation import GramProblem, relax
from .support_values import EPS, SupportValues


@dataclass
class Node:
    """Supports that have some features and lack some.

    Attributes
    ----------
    bound : float
        What all of them reach at least.
    inside : ndarray
        Candidates that are in for sure.
    open : ndarray of bool
        Candidates that are not out.
    members, z : ndarray
        Where the solution of the relaxation is known, and its values.
    """

    bound: float
    inside: np.ndarray
    open: np.ndarray
    members: np.ndarray
    z: np.ndarray

    def free(self) -> np.ndarray:
        """Mask of the candidates that may be in or out."""
        free = self.open.copy()
        free[self.inside] = False
        return free


class Search(Protocol):
    """What a search for the best support knows."""

    high: float  # what the best support reaches at most

    def offer(self, supports: np.ndarray, *, last: bool) -> None:
        """Look at supports: the best of all is kept, the others are left behind if ``last``."""

    def settles(self, bound: float) -> bool:
        """Whether supports that reach no less than this are not better by more than ``tol``."""

    def is_done(self, bound: float) -> bool:
        """Whether supports that reach no less than this need not be looked at."""


# Relative accuracy of a node's relaxation, and rounds of pricing after which its bound is taken.
BNB_NODE_TOL, MAX_ROUNDS_NODE = 1e-3, 6
BNB_ROOT_TOL = 1e-6
# Up to this many features the candidates' Gram matrix is kept.
GRAM_SIZE = 2000


def candidates(
    search: BoundSearch, k: int, best: float
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """The bound for k features, a mask of those in better supports, and z where it is not zero."""
    found = search.solve(k, tol=BNB_ROOT_TOL).solution
    relaxed, dual = found.relaxed, found.dual
    fixing = _Fixing(dual, np.empty(0, dtype=np.int64), search.choices, k, search.ridge)
    kept = search.choices & ~fixing.out(best)
    used = relaxed.z > 0.0
    kept[search.units[used]] = True
    return fixing.bound, kept, search.units[used], relaxed.z[used]


class _Fixing:
    """What a dual point says about the supports with some features and some of the free ones."""

    def __init__(self, dual: DualPoint, inside, free: np.ndarray, left: int, ridge: float):
        self.free = free
        if dual.prices is not None:
            self._with_prices(dual, inside, left, ridge)
            return
        values = np.sort(dual.squares[free])[::-1]
        charge = float(dual.squares[inside].sum() + values[:left].sum()) / ridge
        charge *= 1.0 + (len(inside) + left + 8) * EPS
        self.bound = float(dual.bound(np.asarray(charge)))
        # A scaled to where the bound is largest; where that is nothing, by zero.
        scale = self.bound / dual.agreement if self.bound > 0.0 else 0.0
        self.slack = 64 * EPS * self.bound
        self._last = values[left - 1] if left <= len(values) else 0.0
        self._next = values[left] if left < len(values) else 0.0
        self.squares = self._worth = dual.squares
        self._unit = scale**2 / ridge

    def _with_prices(self, dual: DualPoint, inside: np.ndarray, left: int, ridge: float) -> None:
        """The same where groups have prices: the best of a few scales of A."""
        assert dual.prices is not None
        scales = dual.scales(inside, self.free, left, ridge)
        found = [dual.price_bounds(t, inside, self.free, left, ridge) for t in scales]
        bound, self._worth = max(found, key=lambda one: float(one[0]))
        values = np.sort(self._worth[self.free])[::-1]
        self.bound, self._unit = float(bound), 1.0
        self.slack = 64 * EPS * (abs(self.bound) + float(np.abs(self._worth).max(initial=0.0)))
        self._last = values[left - 1] if left <= len(values) else -np.inf
        self._next = values[left] if left < len(values) else -np.inf
        self.squares = dual.squares + ridge * (float(dual.prices.max()) - dual.prices)

    def out(self, best: float) -> np.ndarray:
        """Mask of the free features that no support as good as ``best`` has."""
        return self.free & self._beyond(self._last - self._worth, best)

    def sure(self, best: float) -> np.ndarray:
        """Mask of the free features that every support as good as ``best`` has."""
        return self.free & self._beyond(self._worth - self._next, best)

    def _beyond(self, difference: np.ndarray, best: float) -> np.ndarray:
        return self.bound + self._unit * difference - self.slack > best


class Perspective:
    """Nodes bounded by the relaxation and split at its largest z.

    Parameters
    ----------
    values : the candidates.
    k : number of features.
    """

    k: int
    ridge: float
    values: SupportValues
    columns: np.ndarray

    def __init__(self, values: SupportValues, k: int):
        self.values, self.k, self.ridge = values, k, values.ridge
        self.columns, self.Y = values.columns, values.Y
        self.cross: np.ndarray = self.columns.T @ self.Y
        self._offered: set[bytes] = set()
        few = self.columns.shape[1] <= GRAM_SIZE
        self._gram = self.columns.T @ self.columns if few else None

    def branch(self, node: Node, search: Search) -> list[Node]:
        """Solve a node; its children, the one to dive into first."""
        left, free = self.k - len(node.inside), node.free()
        if left == 0 or np.count_nonzero(free) <= left:
            return self._only_support(node, free, left, search)
        node, fixing, z = self._solve(node, free, search)
        rounded = np.flatnonzero(free)
        rounded = rounded[np.argsort(-z[rounded], kind="stable")[:left]]
        support = np.sort(np.concatenate([node.inside, rounded]))
        if (name := support.tobytes()) not in self._offered:
            self._offered.add(name)
            search.offer(support[None], last=False)
        # Also where the bound settles the node: often only the best support itself is left then.
        sure, opened = fixing.sure(search.high), node.open & ~fixing.out(search.high)
        node = replace(
            node, open=opened, inside=np.concatenate([node.inside, np.flatnonzero(sure & opened)])
        )
        left, free = self.k - len(node.inside), node.free()
        if left < 0 or np.count_nonzero(free) < left:
            return []  # no support here is as good as the best
        if left == 0 or np.count_nonzero(free) == left:
            return self._only_support(node, free, left, search)
        if search.is_done(node.bound):
            return []
        chosen = self._largest(node, free)
        with_it = replace(node, inside=np.append(node.inside, chosen))
        without = replace(node, open=node.open.copy())
        without.open[chosen] = False
        return [with_it, without]

    def _only_support(self, node: Node, free: np.ndarray, left: int, search: Search) -> list[Node]:
        """Where there is nothing to choose any more: no children."""
        search.offer(np.concatenate([node.inside, np.flatnonzero(free)[:left]])[None], last=True)
        return []

    def _largest(self, node: Node, free: np.ndarray) -> int:
        """The free feature with the largest z: taking it out costs most."""
        z = np.where(free[node.members], node.z, -1.0)
        if len(z) and z.max() > 0.0:
            return int(node.members[np.argmax(z)])
        return int(np.flatnonzero(free)[0])

    def _solve(
        self, node: Node, free: np.ndarray, search: Search
    ) -> tuple[Node, _Fixing, np.ndarray]:
        """Relax on a growing set of features; the node with its bound, and all z."""
        low_of = np.zeros(len(free))
        low_of[node.inside] = 1.0
        known = np.zeros(len(free))
        known[node.members] = node.z
        known[~node.open] = 0.0
        known[node.inside] = 1.0
        members = np.flatnonzero(known > 0.0)
        left = self.k - len(node.inside)
        bound, squares, z = node.bound, np.zeros(len(free)), known[members]
        for _ in range(MAX_ROUNDS_NODE):
            if len(members) < self.k + 5:
                others = np.setdiff1d(np.flatnonzero(free), members)
                strong = others[np.argsort(-self._scores(squares)[others])[: self.k + 10]]
                members, z = _merge(members, z, strong)
            problem = self._problem(members)
            found = relax(
                problem,
                _feasible(z, low_of[members], float(self.k)),
                float(self.k),
                tol=BNB_NODE_TOL,
                low=low_of[members],
                enough=search.high - self.values.dearest * self.k,
            )
            z = found.z
            used = z > 0.0
            numbers = self.values.unit_numbers(members)
            weights = found.weights[used if numbers is None else used[numbers]]
            fixing = self._certify(members[used], weights, node.inside, free, left)
            squares = fixing.squares
            bound = max(bound, fixing.bound)
            if search.settles(bound):
                break
            outside = np.where(free, squares, 0.0)
            outside[members] = 0.0
            entering = np.flatnonzero(outside > found.multiplier() * (1.0 + 1e-6))
            value = found.value + self.values.dearest * self.k
            if len(entering) == 0 or value - fixing.bound <= 2 * BNB_NODE_TOL * value:
                break
            entering = entering[np.argsort(-outside[entering])[:20]]
            members, z = _merge(members, z, entering)
        solved = replace(node, bound=bound, members=members[z > 0.0], z=z[z > 0.0])
        full = np.zeros(len(free))
        full[members] = z
        return solved, fixing, full

    def _problem(self, members: np.ndarray) -> GramProblem:
        """The relaxation on some of the candidates."""
        values, columns = self.values, self.values.column_places(members)
        return GramProblem(
            self._gram_matrix(columns),
            self.cross[columns],
            values.power,
            self.ridge,
            values.unit_numbers(members),
            None if values.discounts is None else values.discounts[members],
        )

    def _certify(self, used, weights, inside, free, left) -> _Fixing:
        used = self.values.column_places(used)
        A = self.Y - self.columns[:, used] @ weights
        dual = dual_point(
            A,
            self.columns.T @ A,
            self.values,
            weights=weights,
            features=self.values.features[used],
        )
        squares, prices = self.values.sum_by_unit(dual.squares), self.values.prices
        dual = replace(dual, squares=squares, prices=prices)
        return _Fixing(dual, inside, free, left, self.ridge)

    def _scores(self, squares: np.ndarray) -> np.ndarray:
        if squares.any():
            return squares
        return self.values.sum_by_unit(np.einsum("ij,ij->i", self.cross, self.cross))

    def _gram_matrix(self, members: np.ndarray) -> np.ndarray:
        if self._gram is not None:
            return self._gram[np.ix_(members, members)]
        columns = self.columns[:, members]
        return columns.T @ columns


def _merge(members, z, new) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([members, new]), np.concatenate([z, np.zeros(len(new))])


def _feasible(z: np.ndarray, low: np.ndarray, budget: float) -> np.ndarray:
    """Z within its budget: what is not fixed shrinks in proportion."""
    fixed = low > 0.0
    left_over = budget - float(low.sum())
    used = float(z[~fixed].sum())
    z = np.where(fixed, 1.0, z)
    if used > left_over:
        z[~fixed] *= max(left_over, 0.0) / used
    return z
