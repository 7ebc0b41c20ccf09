"""Proven best supports of every size, and the proven best of any size where there are prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from operator import mul

import numpy as np

from ..base import Callback, Path, Result
from .bounds import BoundSearch
from .branch_and_bound import TIE_TOL, Tree
from .support_values import EPS, least_objective

# Inner products of more samples than this take too long.
MAX_SAMPLES = 20_000


class ExactValues:
    """min ||sqrt(D) (Y - 1 b - Z B - X_S W)||^2 for any few features S, as a fraction.

    Parameters
    ----------
    column : callable
        Gives a column of X.
    Y : ndarray of shape (n_samples, n_outputs)
    weights : ndarray of shape (n_samples,) or None
        The diagonal of D.
    free : sequence of int
        The columns Z that are always used.
    intercept : bool
        Whether there is a b.
    """

    def __init__(
        self,
        column: Callable[[int], np.ndarray],
        Y: np.ndarray,
        weights: np.ndarray | None,
        *,
        free: Sequence[int] = (),
        intercept: bool = True,
    ):
        self._column, self._n_samples = column, len(Y)
        self._weights, weight_unit = ([1], 0) if weights is None else _integers(weights)
        self._is_weighted = weights is not None
        targets = [_integers(y) for y in np.asarray(Y, dtype=np.float64).T]
        # Outputs are named by negative numbers, the intercept by None.
        self._before = [*([None] if intercept else []), *free]
        self._outputs = [-1 - i for i in range(len(targets))]
        self._units = [2 * unit + weight_unit for _, unit in targets]
        self._columns: dict[int | None, list[int]] = {
            name: values for name, (values, _) in zip(self._outputs, targets, strict=True)
        }
        self._products: dict[tuple, int] = {}

    def __call__(self, features: np.ndarray) -> Fraction:
        """The objective of these features."""
        names = [*self._before, *(int(j) for j in features)]
        M, last = self._eliminate([*names, *self._outputs], len(names))
        rest = zip(range(len(names), len(M)), self._units, strict=True)
        return sum((Fraction(M[i][i], last) * Fraction(2) ** unit for i, unit in rest), Fraction(0))

    def depends(self, feature: int) -> bool:
        """Whether a feature lies in the span of the columns that are always used."""
        names = [*self._before, int(feature)]
        return self._eliminate(names, len(self._before))[0][-1][-1] == 0

    def rank(self) -> int:
        """How many of the columns that are always used are independent."""
        M = self._eliminate(self._before, len(self._before))[0]
        return sum(M[i][i] != 0 for i in range(len(M)))

    def _eliminate(self, everything: list, n_steps: int) -> tuple[list[list[int]], int]:
        """What the first columns leave of the inner products of all, times the second."""
        M = [[self._product(a, b) for b in everything] for a in everything]
        last = 1
        for step in range(n_steps):
            pivot = M[step][step]
            if pivot == 0:  # in the span of those before: its whole row is zero
                continue
            row = M[step]
            for i in range(step + 1, len(M)):
                other = M[i]
                factor = other[step]
                M[i] = [
                    (pivot * mine - factor * theirs) // last if j > step else 0
                    for j, (mine, theirs) in enumerate(zip(other, row, strict=True))
                ]
            last = pivot
        return M, last

    def _product(self, a, b) -> int:
        key = (a, b)
        if key not in self._products:
            weighted = self._values(a)
            if self._is_weighted:
                weighted = list(map(mul, weighted, self._weights))
            self._products[key] = self._products[b, a] = sum(map(mul, weighted, self._values(b)))
        return self._products[key]

    def _values(self, name) -> list[int]:
        if name not in self._columns:
            values = np.ones(self._n_samples) if name is None else self._column(name)
            self._columns[name] = _integers(values)[0]
        return self._columns[name]


def _integers(values: np.ndarray) -> tuple[list[int], int]:
    """Integers m and an exponent e with values = m 2^e, exactly."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    exponents = np.where(whole == 0, 0, exponents - 53)
    least = int(exponents[whole != 0].min(initial=0)) if (whole != 0).any() else 0
    shifts = np.where(whole == 0, 0, exponents - least)
    return [m << s for m, s in zip(whole.tolist(), shifts.tolist(), strict=True)], least


# Accuracy of the relaxation that may rule a size out by its price.
PRICED_SIZE_TOL = 1e-4


@dataclass(frozen=True)
class BestSubsets:
    """What is proven about the best supports of all sizes.

    Attributes
    ----------
    path : Path
        The supports with their objectives, and as ``optimality`` the proven gaps.
    low, high : ndarray
        What each support reaches, at least and at most.
    others : ndarray
        What every other support of the size reaches at least.
    finished : ndarray of bool
        Whether the search for the size came to its end: its gap is then a matter of rounding.
    least : float
        Gaps of smaller objectives are relative to this.
    beside : ndarray
        What every size costs beside these values.
    """

    path: Path
    low: np.ndarray
    high: np.ndarray
    others: np.ndarray
    finished: np.ndarray
    least: float
    beside: np.ndarray

    def gap(self, size: int, *, any_size: bool = False) -> tuple[float, bool]:
        """By what share another support could be better, and whether that is due to rounding alone.

        With ``any_size`` supports of all sizes are compared, by what they cost in all.
        """
        if not any_size:
            assert self.path.optimality is not None
            return float(self.path.optimality[size]), bool(self.finished[size])
        others = np.minimum(self.others, self.low)
        others[size] = self.others[size]
        cost, costs = self.high[size] + self.beside[size], others + self.beside
        cost, costs = cost * (1.0 + 4 * EPS), costs * (1.0 - 4 * EPS)
        gap = float(max(cost - costs.min(), 0.0) / max(cost, self.least))
        return gap, bool(self.finished[costs < cost].all())


@dataclass
class BestSubsetSearch:
    """Branch and bound for the best support of every size.

    Parameters
    ----------
    starts : sequence of ndarray
        A good support of every size, the empty one first.
    any_size : bool
        Whether sizes compete by what they cost in all. Those that provably cost more than the best
        one keep their start, unsearched, with what their bound says of it.
    tol : float
        Relative gap at which the search for a support may end.
    time_limit : float
        Seconds for every size.

    Attributes
    ----------
    best : Result of BestSubsets, or None
        What is proven so far, for whoever catches an interrupt: sizes that were not searched
        keep their starts. None before there was anything to keep.
    """

    starts: Sequence[np.ndarray]
    any_size: bool = False
    tol: float = TIE_TOL
    time_limit: float = np.inf
    best: Result[BestSubsets] | None = field(default=None, init=False)

    def solve(
        self,
        problem: BoundSearch,
        start: Result[BestSubsets] | None = None,
        callback: Callback | None = None,
    ) -> Result[BestSubsets]:
        """Search one size after the other, each from its start or from those of ``start``."""
        self.best = None
        starts = self.starts if start is None else start.solution.path.supports
        found = _Subsets(problem, starts)
        if not problem.has_ridge:
            found.check_supports()
        trace: list[float] = []
        n_nodes = 0
        tree: Tree | None = None
        try:
            for k in range(1, len(starts)):
                if self.any_size and found.rules_out(k):
                    continue
                tree = Tree(problem, k, found.supports[k], self.tol, self.time_limit, callback)
                best = tree.run()
                found.keep(k, best)
                n_nodes += best.n_iter
                trace.append(best.objective)
        except KeyboardInterrupt:
            if tree is not None and tree.result is not None:
                found.keep(tree.k, tree.result)
            self.best = found.result(n_nodes, trace, self.tol)
            raise
        self.best = found.result(n_nodes, trace, self.tol)
        return self.best


class _Subsets:
    """The best so far: at first the starts, with nothing proven about them."""

    def __init__(self, search: BoundSearch, starts: Sequence[np.ndarray]):
        self.search = search
        self.supports = [np.asarray(start, dtype=np.int64) for start in starts]
        values = [search.value(support) for support in self.supports]
        self.objective, self.low, self.high = (
            np.array([float(value[i][0]) for value in values]) for i in range(3)
        )
        self.beside = search.size_costs(np.arange(len(starts)))
        self.others = np.zeros(len(starts))
        self.others[0] = np.inf  # there is only one support without features
        self.finished = np.zeros(len(starts), dtype=bool)
        self.finished[0] = True

    def check_supports(self) -> None:
        """Refuse a search without a ridge that has too much to try, before any work is done."""
        n_features, sizes = int(self.search.choices.sum()), range(1, len(self.supports))
        if hardest := max(sizes, key=lambda k: comb(n_features, k), default=0):
            Tree(self.search, hardest, self.supports[hardest], time_limit=0.0)

    def keep(self, k: int, best: Result) -> None:
        self.supports[k] = best.solution.support
        self.objective[k] = best.objective
        self.low[k], self.high[k] = best.solution.low, best.solution.high
        self.others[k], self.finished[k] = best.solution.bound, best.solution.finished

    def rules_out(self, k: int) -> bool:
        """Whether no support of this size can cost less in all than the best known."""
        best = float((self.high + self.beside).min())
        if self.search.has_ridge:
            self.search.solve(k, tol=PRICED_SIZE_TOL)
        bound = self._bound(k)
        self.others[k] = max(self.others[k], bound)
        return bound + float(self.beside[k]) > best * (1.0 + 1e-15)

    def _bound(self, k: int) -> float:
        """What the last dual point says about a size."""
        if self.search.last is None:
            return 0.0
        return float(self.search.last.bounds(k, self.search.ridge)[-1])

    def result(self, n_nodes: int, trace: list[float], tol: float) -> Result[BestSubsets]:
        others = self.others
        for k in np.flatnonzero(~self.finished).tolist():
            others[k] = max(others[k], self._bound(k))
        least = least_objective(self.search.power)
        gaps = np.maximum(self.high - others, 0.0) / np.maximum(self.high, least)
        path = Path(self.supports, objective=self.objective, optimality=gaps)
        found = BestSubsets(path, self.low, self.high, others, self.finished, least, self.beside)
        gap = float(gaps[-1])
        return Result(found, float(self.objective[-1]), gap, n_nodes, gap <= tol, trace)
