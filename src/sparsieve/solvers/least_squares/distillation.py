"""Forward distillation: does a column say more of the target than all the others could?

Columns are centred, and V is an orthonormal basis of the target. A path of forward selection takes
the column with the largest ||x'MV||^2 / (||Mx||^2 + ridge), where M is the projection off the
covariates and the columns taken before. It ends where the next step explains no more than it would
of a target in random directions. Every column j of the path is then tested: a path of the same
length that may use neither j nor any of its substitutes takes from the target and from x_j what the
other columns know of them, and what is left of x_j is compared with what is left of the target.
If what is left of x_j has no preferred direction, the share of it that a target of rank c explains
is Beta(c / 2, (nu - c) / 2) with nu degrees of freedom left.

Paths without j start where the first of its substitutes entered. The products of all columns with
those of any path are kept, so that X is read once for every column that enters one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincc

from ...design import DesignMatrix, own_passes
from ..base import Callback, Event, Result
from .forward_scores import CANDIDATES, RANK_TOL

# Numbers that the products of X with random targets may be while a path is followed.
MAX_KEPT = 1 << 25
# Random targets where a decision hangs on them, and multiplications that they may take.
MAX_ROTATIONS, MAX_WORK = 5000, 5e9
SAME = 1.0 - 1e-7  # correlations from here on are 1 up to rounding


@dataclass(frozen=True)
class DistillationProblem:
    """What is tested.

    Parameters
    ----------
    design : DesignMatrix
        Centred columns of unit variance.
    target : ndarray of shape (n_samples, n_outputs)
        Orthonormal columns: what the covariates leave of the target.
    covariates : ndarray of shape (n_samples, n_covariates)
        Orthonormal and centred columns that every path starts with.
    eligible : ndarray of bool of shape (n_features,)
        The columns to test and to test with; no two of them are copies.
    """

    design: DesignMatrix
    target: np.ndarray
    covariates: np.ndarray
    eligible: np.ndarray

    @property
    def freedom(self) -> int:
        """Degrees of freedom before the first step."""
        return self.design.shape[0] - 1 - self.covariates.shape[1]


@dataclass(frozen=True)
class DistilledTests:
    """What was found.

    Attributes
    ----------
    order : ndarray of int
        The path: columns in order of entry.
    step_pvalues : ndarray of shape (n_steps,)
        How often a random target explains as much of some column as the target does, by step.
    pvalues : ndarray of shape (n_steps,)
        Of the columns of the path, given all that are no substitutes.
    shares : ndarray of shape (n_steps,)
        Share of what is left of each that the target explains.
    remaining : ndarray of shape (n_features,)
        Share of what the path leaves of each column that the rest of the target explains.
    correlations : ndarray of shape (n_steps, n_features)
        Of the columns of the path with all columns, given the covariates.
    freedom : int
        Degrees of freedom that the tests have.
    """

    order: np.ndarray
    step_pvalues: np.ndarray
    pvalues: np.ndarray
    shares: np.ndarray
    remaining: np.ndarray
    correlations: np.ndarray
    freedom: int


@dataclass(frozen=True)
class ForwardDistillation:
    """Test the columns of a forward path, each given what all others know.

    Parameters
    ----------
    substitutes : float
        Smallest absolute correlation of columns that stand for each other.
    ridge : float
        Relative to the number of samples.
    max_share : float
        Steps as a share of the number of samples.
    stop : float
        The path ends at the first step whose p-value is above this; it has one step at least.
    n_rotations : int
        Random targets a step. Where the end of the path hangs on them, up to ``MAX_ROTATIONS`` are
        drawn, fewer where X is large.
    seed : int
    """

    substitutes: float = 0.7
    ridge: float = 0.05
    max_share: float = 0.125
    stop: float = 0.5
    n_rotations: int = 40
    seed: int = 0

    def solve(
        self,
        problem: DistillationProblem,
        start: Result[DistilledTests] | None = None,
        callback: Callback | None = None,
    ) -> Result[DistilledTests]:
        """Follow the path and test its columns; there is no warm start."""
        with own_passes(problem.design):
            return self._solve(problem, callback)

    def steps(self, problem: DistillationProblem) -> DistilledTests:
        """Follow the path without testing its columns."""
        with own_passes(problem.design):
            return self._path(problem, _Columns(problem), None)[1]

    def _solve(
        self, problem: DistillationProblem, callback: Callback | None
    ) -> Result[DistilledTests]:
        columns = _Columns(problem)
        path, tests = self._path(problem, columns, callback)
        order, pvalues, shares = tests.order, tests.pvalues, tests.shares
        for t, j in enumerate(order.tolist()):
            close = np.abs(tests.correlations[t]) >= min(self.substitutes, SAME)
            close[j] = True
            left = path.restarted(int(np.flatnonzero(close[order])[0]), ~close)
            while len(left.order) < len(order) and (i := left.best()) is not None:
                left.take(i, columns.products(i, left.gains))
            freedom = problem.freedom - len(left.order)
            shares[t], pvalues[t] = left.test(j, freedom)
            if callback:
                callback(Event(len(order) + t + 1, pvalues[t], note=f"feature {j} tested"))
        return Result(tests, float(pvalues.min(initial=1.0)), 0.0, 2 * len(order), True)

    def _path(
        self, problem: DistillationProblem, columns: _Columns, callback: Callback | None
    ) -> tuple[_Left, DistilledTests]:
        n_samples, n_features = problem.design.shape
        limit = max(1, int(self.max_share * n_samples))
        left = _Left.of(problem, limit, self.ridge * n_samples)
        rotations = RandomTargets(problem, self.n_rotations, self.seed)
        pvalues: list[float] = []
        while len(left.order) < limit and (j := left.best()) is not None:
            observed = float(left.explained().max(initial=0.0))
            p = rotations.pvalue(left, observed, self.stop)
            if pvalues and p > self.stop:
                break
            left.take(j, columns.products(j, left.gains))
            rotations.take(left, columns.column(j))
            pvalues.append(p)
            if callback:
                callback(Event(len(pvalues), p, note=f"feature {j} entered"))
        order, scale = np.array(left.order, dtype=np.int64), np.sqrt(left.norms)
        scale[scale == 0] = 1.0
        products = np.array([columns.products(j) for j in left.order])
        correlations = products.reshape(len(order), n_features) / scale / scale[order, None]
        return left, DistilledTests(
            order,
            np.array(pvalues),
            np.ones(len(order)),
            np.zeros(len(order)),
            left.explained(),
            correlations,
            problem.freedom - len(order),
        )


class _Columns:
    """Columns of X without what covariates know of them, and their products with all columns."""

    def __init__(self, problem: DistillationProblem) -> None:
        self.design, self.covariates = problem.design, problem.covariates
        self._kept: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def products(self, j: int, gains: np.ndarray | None = None) -> np.ndarray:
        """X'Mx_j; where X is read from a file, those that may follow are read with it."""
        if j not in self._kept:
            some = [j]
            if gains is not None and self.design.passes:
                likely = np.argsort(-gains, kind="stable")[:CANDIDATES].tolist()
                some += [i for i in likely if i != j and i not in self._kept]
            x = without(self.design.dense_columns(some), self.covariates)
            products = np.asarray(self.design.rmatmul(x.astype(self.design.dtype)), np.float64)
            for place, i in enumerate(some):
                self._kept[i] = x[:, place], np.ascontiguousarray(products[:, place])
        return self._kept[j][1]

    def column(self, j: int) -> np.ndarray:
        """Mx_j."""
        return self._kept[j][0]


@dataclass
class _Left:
    """What the covariates and the columns of a path leave of all columns and of the target.

    ``norms`` are ||x||^2 and ``products`` x'V before the first step, ``nu`` and ``C`` the same
    now; ``target`` is V'MV. Direction t of the path has the products P[t] with the columns and
    R[t] with the target.
    """

    norms: np.ndarray
    products: np.ndarray
    open: np.ndarray
    ridge: float
    limit: int
    tol: float
    P: np.ndarray
    R: np.ndarray
    nu: np.ndarray
    C: np.ndarray
    target: np.ndarray
    order: list[int]

    @classmethod
    def of(cls, problem: DistillationProblem, limit: int, ridge: float) -> _Left:
        design, V = problem.design, problem.target
        norms = np.asarray(design.column_sq_norms(), dtype=np.float64)
        tol = RANK_TOL[np.dtype(design.dtype)]
        both = np.hstack((V, problem.covariates)).astype(design.dtype)
        products = np.asarray(design.rmatmul(both), dtype=np.float64)
        C, known = products[:, : V.shape[1]], products[:, V.shape[1] :]
        left = np.maximum(norms - (known**2).sum(axis=1), 0.0)
        spent = left <= tol * norms
        left[spent] = 0.0
        C[spent] = 0.0
        P, R = np.empty((limit, len(norms))), np.empty((limit, V.shape[1]))
        open_ = problem.eligible & ~spent
        return cls(left, C, open_, ridge, limit, tol, P, R, left.copy(), C.copy(), V.T @ V, [])

    def restarted(self, n_steps: int, allowed: np.ndarray) -> _Left:
        """As after the first steps, to go on with the allowed columns."""
        P, R = self.P[:n_steps], self.R[:n_steps]
        order = self.order[:n_steps]
        open_ = self.open & allowed
        open_[self.order] = allowed[self.order]
        open_[order] = False
        buffer = np.empty_like(self.P)
        buffer[:n_steps] = P
        return _Left(
            self.norms,
            self.products,
            open_,
            self.ridge,
            self.limit,
            self.tol,
            buffer,
            self.R.copy(),
            self.norms - np.einsum("td,td->d", P, P),
            self.products - P.T @ R,
            np.eye(R.shape[1]) - R.T @ R,
            order,
        )

    @property
    def gains(self) -> np.ndarray:
        """What every open column would explain next."""
        gains = np.einsum("dc,dc->d", self.C, self.C) / (np.maximum(self.nu, 0.0) + self.ridge)
        gains[~self.open | (self.nu <= self.tol * self.norms)] = 0.0
        return gains

    def best(self) -> int | None:
        """The column that explains most, or None where none explains anything."""
        if np.trace(self.target) <= self.tol * len(self.target):
            return None
        gains = self.gains
        j = int(np.argmax(gains))
        return j if gains[j] > 0.0 else None

    def take(self, j: int, products: np.ndarray) -> None:
        """Let a column into the path."""
        t = len(self.order)
        p = products - self.P[:t].T @ self.P[:t, j]
        p /= np.sqrt(p[j])
        r = self.C[j] / p[j]
        self.P[t], self.R[t] = p, r
        self.nu -= p * p
        self.C -= np.outer(p, r)
        self.target = self.target - np.outer(r, r)
        self.order.append(j)
        self.open[j] = False

    def explained(self) -> np.ndarray:
        """Share of what is left of every open column that the rest of the target explains."""
        usable = self.open & (self.nu > self.tol * self.norms)
        nu = np.where(usable, self.nu, 1.0)
        rest = self.C @ inverse_root(self.target, self.tol)
        return np.where(usable, np.einsum("dc,dc->d", rest, rest) / nu, 0.0)

    def test(self, j: int, freedom: int) -> tuple[float, float]:
        """Share of what is left of a column that the target explains, and its p-value."""
        root = inverse_root(self.target, self.tol)
        if self.nu[j] <= self.tol * self.norms[j]:
            return 0.0, 1.0
        share = min(float(((self.C[j] @ root) ** 2).sum()) / self.nu[j], 1.0)
        return share, share_pvalue(share, root.shape[1], freedom)


class RandomTargets:
    """Targets in random directions, to compare the largest share of a column with.

    Those drawn first follow the path with their products; more are drawn where a decision hangs on
    them, and forgotten. They belong to samples by what these are, whatever their order.
    """

    def __init__(self, problem: DistillationProblem, number: int, seed: int) -> None:
        self.problem, self.number = problem, number
        self.rng = np.random.default_rng(seed)
        self.n_outputs = problem.target.shape[1]
        n_features = problem.design.shape[1]
        self.at_once = max(1, min(number, MAX_KEPT // (n_features * self.n_outputs)))
        self.most = int(min(MAX_ROTATIONS, MAX_WORK / (problem.design.stored * self.n_outputs)))
        self.places = places_of_samples(problem)
        self.basis = problem.covariates
        self.followed = self._drawn(number) if self.at_once == number else None

    def _drawn(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """(targets, their products with the columns) off all that was taken."""
        design = self.problem.design
        drawn = self.rng.standard_normal((design.shape[0], number * self.n_outputs))[self.places]
        drawn = without(drawn - drawn.mean(axis=0), self.basis)
        products = np.asarray(design.rmatmul(drawn.astype(design.dtype)), dtype=np.float64)
        return drawn, products

    def take(self, left: _Left, column: np.ndarray) -> None:
        """Take the column that has just entered out of the targets."""
        q = without(column[:, None], self.basis)
        q /= np.linalg.norm(q)
        self.basis = np.hstack((self.basis, q))
        if self.followed is not None:
            drawn, products = self.followed
            along = q[:, 0] @ drawn
            drawn -= q * along
            products -= np.outer(left.P[len(left.order) - 1], along)

    def largest(self, left: _Left, targets: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The largest share of an open column that each target explains."""
        drawn, products = targets
        usable = left.open & (left.nu > left.tol * left.norms)
        products, nu = products[usable], left.nu[usable]
        blocks = drawn.reshape(len(drawn), -1, self.n_outputs)
        inside = np.einsum("nbc,nbk->bck", blocks, blocks)
        if self.n_outputs == 1:
            shares = products**2 / nu[:, None]
            return shares.max(axis=0, initial=0.0) / np.maximum(inside[:, 0, 0], 1e-300)
        # Whitened: of unit length in every direction that they have.
        values, vectors = np.linalg.eigh(inside)
        kept = values > left.tol * values[:, -1:]
        white = vectors * np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)[:, None]
        rest = products.reshape(len(nu), -1, self.n_outputs).transpose(1, 0, 2) @ white
        return (np.einsum("bdc,bdc->bd", rest, rest) / nu).max(axis=1, initial=0.0)

    def pvalue(self, left: _Left, observed: float, level: float) -> float:
        """How often random targets explain as much, more of them where ``level`` is near."""
        beyond, number = 0, 0
        n_numbers = self.problem.design.shape[1] * self.n_outputs
        further = max(1, min(500, MAX_KEPT // (4 * n_numbers)))
        while True:
            if number == 0 and self.followed is not None:
                found = self.largest(left, self.followed)
            else:
                found = self.largest(left, self._drawn(self.at_once if number == 0 else further))
            beyond += int((found >= observed).sum())
            number += len(found)
            p = (1 + beyond) / (number + 1)
            doubt = 3.0 * np.sqrt(level * (1.0 - level) / number)
            if number >= self.number and (number >= self.most or abs(p - level) > doubt):
                return p


def places_of_samples(problem: DistillationProblem) -> np.ndarray:
    """The place of every sample in an order that follows from its values alone.

    It is that of the lengths of the rows of XX'V without copies of columns, which neither the
    order of rows and columns nor their signs nor the choice of V changes.
    """
    design = problem.design
    weights = np.asarray(design.rmatmul(problem.target.astype(design.dtype)), dtype=np.float64)
    weights[~problem.eligible] = 0.0
    keys = (np.asarray(design.matmul(weights.astype(design.dtype)), np.float64) ** 2).sum(axis=1)
    places = np.empty(len(keys), dtype=np.int64)
    places[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return places


def without(columns: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Columns off an orthonormal basis, in double precision."""
    columns = np.asarray(columns, dtype=np.float64)
    for _ in range(2):  # the second pass removes what rounding left of the first
        columns = columns - basis @ (basis.T @ columns)
    return columns


def inverse_root(product: np.ndarray, tol: float) -> np.ndarray:
    """W of as many columns as the rank of a product S = A'A, with A W orthonormal."""
    if product.shape == (1, 1):
        return np.full((1, int(product[0, 0] > 0)), 1.0 / np.sqrt(max(product[0, 0], 1e-300)))
    values, vectors = np.linalg.eigh(product)
    kept = values > tol * max(float(values[-1]), 0.0)
    return vectors[:, kept] / np.sqrt(values[kept])


def share_pvalue(share: float, rank: int, freedom: int) -> float:
    """P-value of the share of a column in ``freedom`` dimensions that ``rank`` of them explain.

    Examples
    --------
    >>> from scipy.stats import ttest_ind
    >>> from sparsieve.solvers.least_squares.distillation import share_pvalue
    >>> t, p = ttest_ind([1.0, 2.0, 4.0], [3.0, 5.0, 7.0, 8.0])
    >>> bool(abs(share_pvalue(t**2 / (t**2 + 5), 1, 6) - p) < 1e-12)
    True
    """
    if rank == 0 or freedom <= rank:
        return 1.0
    return float(betaincc(rank / 2, (freedom - rank) / 2, share))


def representatives(columns: Sequence[np.ndarray] | np.ndarray, tol: float) -> np.ndarray:
    """The first of the copies of every column, from products of unit columns with random ones.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_products)
        Columns that agree in all products, but for a common sign, are copies.
    tol : float
        Largest difference of equal numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.least_squares.distillation import representatives
    >>> representatives(np.array([[1.0, 2.0], [0.5, 0.1], [-1.0, -2.0]]), 1e-9)
    array([0, 1, 0])
    """
    found = np.array(columns, dtype=np.float64)
    found *= np.where(found[:, :1] < 0, -1.0, 1.0)
    order = np.lexsort((np.arange(len(found)), found[:, 0]))
    same = (np.abs(np.diff(found[order], axis=0)) <= tol).all(axis=1)
    runs = np.concatenate(([0], np.cumsum(~same)))
    first = np.full(len(found), len(found))
    np.minimum.at(first, runs, order)
    representative = np.empty(len(found), dtype=np.int64)
    representative[order] = first[runs]
    return representative
