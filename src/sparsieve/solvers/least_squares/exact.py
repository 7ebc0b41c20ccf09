"""The best k features for sure: branch and bound on the perspective relaxation.

Every node of the tree has features that are in for sure and features that are out; its relaxation
gives a lower bound for all supports below it, a fractional z to branch on, and, by its pulls,
features that no better support can have or lack:

    bound + (s_(k) - s_j) / ridge > best   =>   j is in no better support,
    bound + (s_j - s_(k+1)) / ridge > best =>   j is in every better support,

with s the pulls of the free features in falling order and k the places left. The node with the
lowest bound comes next, and from it the search dives along the branch that takes the feature in.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...design import DesignMatrix
from ..base import Event, Result
from .bounds import EPS, BoundSearch
from .relaxation import GramProblem, relax

# Relative accuracy of a node's relaxation, and rounds of pricing after which its bound is taken.
NODE_TOL, NODE_ROUNDS = 1e-3, 6
ROOT_TOL = 1e-6
# Two objectives closer than this share of each other are the same.
SAME = 1e-9
# Up to this many features the candidates' Gram matrix is kept.
GRAM_SIZE = 2000


@dataclass(frozen=True)
class BestSupport:
    """What an exact search ends with.

    Attributes
    ----------
    support : ndarray
        The best features found, sorted.
    bound : float
        No support of this size has a lower objective.
    n_nodes : int
        Nodes of the tree that were solved.
    n_candidates : int
        Features that were left after the root.
    """

    support: np.ndarray
    bound: float
    n_nodes: int
    n_candidates: int


@dataclass
class _Node:
    bound: float
    inside: np.ndarray  # candidates that are in for sure
    open: np.ndarray  # mask of the candidates that are not out
    members: np.ndarray  # where z is known, and its values
    z: np.ndarray


def best_support(
    design: DesignMatrix,
    Y: np.ndarray,
    ridge: float,
    k: int,
    start: np.ndarray,
    *,
    eligible: np.ndarray | None = None,
    tol: float = SAME,
    time_limit: float = np.inf,
    search: BoundSearch | None = None,
    callback: Callable[[Event], bool | None] | None = None,
) -> Result[BestSupport]:
    """The support of k features with the least objective, or the best found and how good it is.

    Parameters
    ----------
    design, Y, ridge, eligible : as for :class:`BoundSearch`.
    k : number of features.
    start : a good support to begin with.
    tol : relative gap at which the best support counts as proven.
    time_limit : seconds.
    search : bounds on the same problem, to go on from.
    """
    search = BoundSearch(design, Y, ridge, eligible) if search is None else search
    return _Tree(search, k, start, tol, time_limit, callback).run()


class _Tree:
    def __init__(self, search: BoundSearch, k: int, start, tol, time_limit, callback):
        self.deadline = time.monotonic() + time_limit
        self.callback = callback
        self.k, self.ridge, self.power = k, search.ridge, search.power
        self.tol = max(float(tol), SAME)
        relaxed, dual = search.solve(k, tol=ROOT_TOL)
        self.n_nodes = 1
        self.trace: list[float] = []
        self.closed = np.inf  # the least bound of what was left behind as good as the best
        start = np.asarray(start, dtype=np.int64)
        self.best = search.objective(start)
        self.best_features = np.sort(start)
        # The root removes most features for good.
        scale = dual.agreement / (dual.power + _top(dual.pulls, k) / self.ridge)
        bound = dual.bounds(k, self.ridge)[-1]
        pulls = scale**2 * dual.pulls
        order = np.sort(pulls)[::-1]
        level = order[k - 1] if k <= len(order) else 0.0
        keep = search.eligible & (bound + (level - pulls) / self.ridge <= self.best)
        keep[start] = True
        keep[search.features[relaxed.z > 0.0]] = True
        self.features = np.flatnonzero(keep)
        self.columns = search.design.dense_columns(self.features)
        self.cross = search.cross[self.features]
        self.norms = np.einsum("ij,ij->j", self.columns, self.columns)
        self.gram = self.columns.T @ self.columns if len(self.features) <= GRAM_SIZE else None
        self.Y = search.Y
        largest = float(self.norms.max(initial=0.0))
        self.slack = 16 * (len(self.Y) + k + 32) * EPS * (1 + k * largest / self.ridge) * self.power
        place = {feature: i for i, feature in enumerate(self.features)}
        inside = [i for i in range(len(relaxed.z)) if relaxed.z[i] > 0.0]
        members = np.array([place[search.features[i]] for i in inside], dtype=np.int64)
        self.root = _Node(
            bound,
            np.empty(0, dtype=np.int64),
            np.ones(len(self.features), dtype=bool),
            members,
            relaxed.z[inside],
        )

    # -- the search ----------------------------------------------------------------------

    def run(self) -> Result[BestSupport]:
        count = itertools.count()
        heap: list[tuple[float, int, _Node]] = [(self.root.bound, next(count), self.root)]
        stopping = False
        # Of what is popped but not yet pushed back or solved, when an interrupt comes.
        pending = self.root.bound
        try:
            while heap and not stopping:
                pending = heap[0][0]
                node: _Node | None = heapq.heappop(heap)[2]
                while node is not None:
                    if node.bound >= self._enough():
                        self.closed = min(self.closed, node.bound)
                        break
                    if time.monotonic() > self.deadline or self._told_to_stop(node, heap):
                        heapq.heappush(heap, (node.bound, next(count), node))
                        stopping = True
                        break
                    children = self._branch(node)
                    node = None
                    for child in children[1:]:
                        heapq.heappush(heap, (child.bound, next(count), child))
                    if children:
                        node = children[0]
        except KeyboardInterrupt as stopped:
            stopped.best = self._result(min(self.closed, pending))  # type: ignore[attr-defined]
            raise
        return self._result(min([self.closed, *(bound for bound, _, _ in heap)]))

    def _told_to_stop(self, node: _Node, heap) -> bool:
        self.trace.append(self.best)
        if self.callback is None:
            return False
        least = min(node.bound, heap[0][0] if heap else np.inf)
        gap = max(self.best - least, 0.0) / self.best if self.best > 0 else 0.0
        note = f"{len(heap)} nodes open"
        return bool(self.callback(Event(self.n_nodes, self.best, gap, self.k, note)))

    def _result(self, bound: float) -> Result[BestSupport]:
        bound = min(bound, self.best)
        gap = (self.best - bound) / self.best if self.best > 0 else 0.0
        found = BestSupport(self.best_features, bound, self.n_nodes, len(self.features))
        return Result(
            found, self.best, gap, self.n_nodes, gap <= self.tol, self.trace or [self.best]
        )

    def _enough(self) -> float:
        return self.best * (1.0 - self.tol)

    # -- a node --------------------------------------------------------------------------

    def _branch(self, node: _Node) -> list[_Node]:
        """Solve a node; its children, the one to dive into first."""
        self.n_nodes += 1
        left = self.k - len(node.inside)
        free = node.open.copy()
        free[node.inside] = False
        if left == 0 or np.count_nonzero(free) <= left:
            self._offer(np.concatenate([node.inside, np.flatnonzero(free)[:left]]))
            return []
        node, pulls, z = self._solve(node, free)
        self._offer_rounded(node, z, free)
        if node.bound >= self._enough():
            self.closed = min(self.closed, node.bound)
            return []
        node = self._fix(node, pulls, free)
        free = node.open.copy()
        free[node.inside] = False
        left = self.k - len(node.inside)
        if left <= 0 or np.count_nonzero(free) <= left:
            self._offer(np.concatenate([node.inside, np.flatnonzero(free)[: max(left, 0)]]))
            return []
        chosen = self._branching(node, free)
        with_it = replace(node, inside=np.append(node.inside, chosen))
        without = replace(node, open=node.open.copy())
        without.open[chosen] = False
        return [with_it, without]

    def _branching(self, node: _Node, free: np.ndarray) -> int:
        """The free feature with the largest z: taking it out costs most."""
        z = np.where(free[node.members], node.z, -1.0)
        if len(z) and z.max() > 0.0:
            return int(node.members[np.argmax(z)])
        return int(np.flatnonzero(free)[0])

    def _solve(self, node: _Node, free: np.ndarray) -> tuple[_Node, np.ndarray, np.ndarray]:
        """Relax on a growing set of features; the node with its bound, and all pulls."""
        low_of = np.zeros(len(self.features))
        low_of[node.inside] = 1.0
        known = np.zeros(len(self.features))
        known[node.members] = node.z
        known[~node.open] = 0.0
        known[node.inside] = 1.0
        members = np.flatnonzero((known > 0.0) | (low_of > 0.0))
        left = self.k - len(node.inside)
        bound = node.bound
        pulls = np.zeros(len(self.features))
        z = known[members]
        for _ in range(NODE_ROUNDS):
            if len(members) < self.k + 5:
                others = np.setdiff1d(np.flatnonzero(free), members)
                strong = others[np.argsort(-self._scores(pulls)[others])[: self.k + 10]]
                members, z = _merged(members, z, strong)
            problem = GramProblem(
                self._gram_of(members), self.cross[members], self.power, self.ridge
            )
            z = _feasible(z, low_of[members], float(self.k))
            found = relax(
                problem,
                z,
                float(self.k),
                tol=NODE_TOL,
                low=low_of[members],
                enough=self._enough(),
            )
            z = found.z
            used = z > 0.0
            A = self.Y - self.columns[:, members[used]] @ found.weights[used]
            product = self.columns.T @ A
            pulls = np.einsum("ij,ij->i", product, product)
            agreement, size = float(np.vdot(A, self.Y)), float(np.vdot(A, A))
            charge = (float(pulls[node.inside].sum()) + _top(pulls[free], left)) / self.ridge
            scale = agreement / (size + charge)
            reached = scale * agreement - self.slack
            pulls *= scale**2
            bound = max(bound, reached)
            if bound >= self._enough():
                break
            outside = pulls.copy()
            outside[~free] = 0.0
            outside[members] = 0.0
            inner = used & (z < 1.0)
            level = found.pulls[inner].max() if inner.any() else found.pulls[used].min()
            wanted = np.flatnonzero(outside > scale**2 * level * (1.0 + 1e-6))
            if len(wanted) == 0 or found.value - reached <= 2 * NODE_TOL * found.value:
                break
            wanted = wanted[np.argsort(-outside[wanted])[:20]]
            members, z = _merged(members, z, wanted)
        solved = replace(node, bound=bound, members=members[z > 0.0], z=z[z > 0.0])
        self._reached = reached
        full = np.zeros(len(self.features))
        full[members] = z
        return solved, pulls, full

    def _scores(self, pulls: np.ndarray) -> np.ndarray:
        return pulls if pulls.any() else np.einsum("ij,ij->i", self.cross, self.cross)

    def _fix(self, node: _Node, pulls: np.ndarray, free: np.ndarray) -> _Node:
        """Take features in or out that every or no better support below has."""
        left = self.k - len(node.inside)
        values = np.sort(pulls[free])[::-1]
        bound, best = self._reached, self.best
        out = free & (bound + (values[left - 1] - pulls) / self.ridge > best)
        sure = free & (bound + (pulls - values[left]) / self.ridge > best)
        opened = node.open & ~out
        return replace(
            node, open=opened, inside=np.concatenate([node.inside, np.flatnonzero(sure)])
        )

    def _gram_of(self, members: np.ndarray) -> np.ndarray:
        if self.gram is not None:
            return self.gram[np.ix_(members, members)]
        columns = self.columns[:, members]
        return columns.T @ columns

    # -- supports ------------------------------------------------------------------------

    def _offer_rounded(self, node: _Node, z: np.ndarray, free: np.ndarray) -> None:
        left = self.k - len(node.inside)
        candidates = np.flatnonzero(free)
        best = candidates[np.argsort(-z[candidates], kind="stable")[:left]]
        self._offer(np.concatenate([node.inside, best]))

    def _offer(self, support: np.ndarray) -> None:
        """Take a support if it is better than the best, and improve it by exchanges."""
        value = self._value(support)
        if value >= self.best * (1.0 - SAME):
            return
        improved = True
        while improved:
            improved = False
            for feature in support.copy():
                rest = support[support != feature]
                other, reached = self._best_addition(rest)
                if reached < value * (1.0 - SAME):
                    support, value, improved = np.append(rest, other), reached, True
        self.best, self.best_features = value, np.sort(self.features[support])

    def _value(self, support: np.ndarray) -> float:
        gram = self._gram_of(support)
        return GramProblem(gram, self.cross[support], self.power, self.ridge).full_value()

    def _best_addition(self, support: np.ndarray) -> tuple[int, float]:
        """The feature that lowers the objective of a support most, and what it then is."""
        columns = self.columns[:, support]
        system = columns.T @ columns
        system.flat[:: len(support) + 1] += self.ridge
        across = columns.T @ self.columns
        solved = np.linalg.solve(system, np.hstack([self.cross[support], across]))
        c = self.cross.shape[1]
        weights, reach = solved[:, :c], solved[:, c:]
        left = self.cross - across.T @ weights
        rest = self.norms - np.einsum("ij,ij->j", across, reach)
        gains = np.einsum("ij,ij->i", left, left) / (self.ridge + np.maximum(rest, 0.0))
        gains[support] = -1.0
        other = int(np.argmax(gains))
        value = self.power - float(np.vdot(self.cross[support], weights))
        return other, value - float(gains[other])


def _merged(members, z, new) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([members, new]), np.concatenate([z, np.zeros(len(new))])


def _feasible(z: np.ndarray, low: np.ndarray, budget: float) -> np.ndarray:
    """Z within its budget: what is not fixed shrinks in proportion."""
    fixed = low > 0.0
    room = budget - float(low.sum())
    used = float(z[~fixed].sum())
    z = np.where(fixed, 1.0, z)
    if used > room:
        z[~fixed] *= max(room, 0.0) / used
    return z


def _top(values: np.ndarray, count: int) -> float:
    if count <= 0:
        return 0.0
    if count >= len(values):
        return float(values.sum())
    return float(np.partition(values, len(values) - count)[len(values) - count :].sum())
