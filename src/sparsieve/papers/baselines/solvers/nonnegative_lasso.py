"""HSIC lasso: centred kernels of single features, and the exact path of weights from zero on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ....design import DesignMatrix
from ....solvers.base import Callback, Event, Result

# Kernels are evaluated in blocks of about this many bytes.
BLOCK_BYTES = 1 << 24
# So few features have all their inner products computed in one pass over the groups.
MAX_FEATURES_IN_ONE_PASS = 64
# How many features a block has, and of every matrix its feature (counted from the block's first)
# and its group.
Block = tuple[int, np.ndarray, np.ndarray, np.ndarray]


class CentredKernels:
    """The kernel matrices of all features on groups of samples, as vectors of norm one.

    Column j of ``design`` (of unit variance) gives exp(-(u - v)^2 / 2) for all pairs of samples in
    every group; the matrix of each group is centred in rows and columns, and all of them together
    are divided by their Frobenius norm. Constant columns give zero. So does a column on a group
    where it is constant, as most columns of sparse data are on most groups: these are left out.

    The vectors are held in single precision if all fit ``max_memory`` bytes, and are evaluated
    again in every pass if they do not; but of few features one pass finds all inner products.

    Parameters
    ----------
    design : DesignMatrix
        Standardised features.
    groups : ndarray of shape (n_groups, group_size)
        Samples of every group.
    target : callable
        Gives the target's kernel matrices on groups; their largest entry is about one.
    max_memory : float
        Bytes that the kernels may take.

    Attributes
    ----------
    target_products : ndarray of shape (n_features,)
        Inner products of the features' kernels with the target's, which has norm one, too.
    target_power : float
        Its inner product with itself: one, or zero where the target is constant.
    """

    design: DesignMatrix
    groups: np.ndarray
    target_power: float
    target_products: np.ndarray

    def __init__(
        self,
        design: DesignMatrix,
        groups: np.ndarray,
        target: Callable[[np.ndarray], np.ndarray],
        max_memory: float,
    ):
        self.design, self.groups = design, groups
        self.n_features: int = design.shape[1]
        self.size: int = groups.shape[0] * groups.shape[1] ** 2
        self._gram: np.ndarray | None = None
        self._held: list[Block] | None = None  # None: evaluated in every pass
        if (
            4 * self.size * self.n_features > max_memory
            and self.n_features <= MAX_FEATURES_IN_ONE_PASS
        ):
            gram = self._all_products(target)
            self._gram = gram[:-1, :-1]
            self.target_products, self.target_power = gram[:-1, -1], float(gram[-1, -1])
            return
        vectors = _centre(target(groups))
        vectors = vectors.astype(np.float32)
        vectors *= _inverse(np.einsum("gi,gi->", vectors, vectors, dtype=np.float64), self.size)
        self.target_power = float(np.einsum("gi,gi->", vectors, vectors, dtype=np.float64))
        bytes_left, kept, found = max_memory, list[Block](), []
        for block in self._evaluate(np.arange(self.n_features)):
            found.append(_inner(block, vectors))
            bytes_left -= block[-1].nbytes
            kept = [*kept, block] if bytes_left >= 0 else []
        self.target_products = np.concatenate(found)
        self._held = kept if bytes_left >= 0 else None

    def products(self, feature: int) -> np.ndarray:
        """Inner product of every kernel with that of this feature, in double precision."""
        if self._gram is not None:
            return self._gram[feature]
        vectors = np.zeros((len(self.groups), self.size // len(self.groups)), dtype=np.float32)
        _, _, groups, matrices = next(self._evaluate(np.array([feature])))
        vectors[groups] = matrices
        blocks = self._evaluate(np.arange(self.n_features)) if self._held is None else self._held
        return np.concatenate([_inner(block, vectors) for block in blocks])

    def _evaluate(self, features: np.ndarray) -> Iterator[Block]:
        """The kernels of a few features at a time."""
        step = max(1, BLOCK_BYTES // (4 * self.size))
        for start in range(0, len(features), step):
            columns = self.design.dense_columns(features[start : start + step])
            values = np.moveaxis(columns.astype(np.float32, copy=False)[self.groups], -1, 0)
            rows, groups = np.nonzero(values.max(axis=-1) > values.min(axis=-1))
            matrices = _gaussian(values[rows, groups])
            squares = np.einsum("pi,pi->p", matrices, matrices, dtype=np.float64)
            power = np.bincount(rows, weights=squares, minlength=len(values))
            matrices *= _inverse(power, self.size)[rows, None]
            yield len(values), rows, groups, matrices

    def _all_products(self, target: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Inner products of all features and, in the last place, of the target."""
        columns = self.design.dense_columns(np.arange(self.n_features)).astype(np.float32)
        gram = np.zeros((self.n_features + 1,) * 2)
        step = max(1, BLOCK_BYTES * len(self.groups) // (4 * self.size * len(gram)))
        for start in range(0, len(self.groups), step):
            groups = self.groups[start : start + step]
            vectors = np.empty((len(gram), len(groups) * groups.shape[1] ** 2), dtype=np.float32)
            for row, values in zip(vectors, np.moveaxis(columns[groups], -1, 0), strict=False):
                row[:] = _gaussian(values).ravel()
            vectors[-1] = _centre(target(groups)).ravel()
            gram += vectors @ vectors.T
        inverse = _inverse(np.diag(gram), self.size)
        return gram * np.multiply.outer(inverse, inverse)


def _gaussian(values: np.ndarray) -> np.ndarray:
    """Centred kernel matrices of rows of values, a row each."""
    distances = values[:, :, None] - values[:, None, :]
    distances *= distances
    distances *= -0.5
    return _centre(np.exp(distances, out=distances))


def _centre(matrices: np.ndarray) -> np.ndarray:
    """Matrices centred in rows and columns (in place), a row each."""
    matrices -= matrices.mean(axis=-1, keepdims=True)
    matrices -= matrices.mean(axis=-2, keepdims=True)
    return matrices.reshape(len(matrices), matrices.shape[-1] ** 2)


def _inverse(power: np.ndarray, size: int) -> np.ndarray:
    """One over the length of vectors; zero for what centring leaves of a constant: rounding."""
    lengths = np.sqrt(power)
    known = lengths > 1e-6 * np.sqrt(size)
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=known).astype(np.float32)


def _inner(block: Block, vectors: np.ndarray) -> np.ndarray:
    """Inner products of a block's features with what has these vectors on the groups."""
    count, rows, groups, matrices = block
    if len(rows) == count * len(vectors):
        return (matrices.reshape(count, -1) @ vectors.ravel()).astype(np.float64)
    products = np.einsum("pi,pi->p", matrices, vectors[groups])
    return np.bincount(rows, weights=products, minlength=count)


# What the inner products, of vectors in single precision, are good for, relative to the first
# strength: features closer than this enter at the same time, the first one first.
PRECISION = 1e-6


@dataclass(frozen=True)
class NonnegativePath:
    """Where a path ended, and how it got there.

    Attributes
    ----------
    order : ndarray
        Features in the order of their first entry.
    strengths : ndarray
        Of the penalty when each of them entered.
    strength : float
        Of the penalty at the end: the next feature would enter here, or it is zero.
    weights : ndarray of shape (n_features,)
        The solution there.
    correlations : ndarray of shape (n_features,)
        Inner products with what is left of the target there.
    """

    order: np.ndarray
    strengths: np.ndarray
    strength: float
    weights: np.ndarray
    correlations: np.ndarray


@dataclass(frozen=True)
class NonnegativeLasso:
    """Minimise 1/2 ||y - Z a||^2 + strength sum(a) over a >= 0, given by inner products.

    Attributes
    ----------
    correlations : ndarray of shape (n_features,)
        Inner products of the features, of norm one or zero, with y.
    gram_column : callable
        Inner products of all features with one of them.
    target_power : float
        ||y||^2.
    """

    correlations: np.ndarray
    gram_column: Callable[[int], np.ndarray]
    target_power: float


@dataclass(frozen=True)
class NonnegativeLARS:
    """The homotopy method (LARS with the lasso's modification), which ends exactly on the path.

    Between two events, where a feature enters or leaves, the solution is linear in the strength:
    a = G^-1 (c - strength) on the features in use, with their Gram matrix G and the inner products
    c with y. Only the columns of the Gram matrix are needed of features that enter. The optimality
    is the largest violation of the KKT conditions, relative to the first strength.

    Attributes
    ----------
    n_steps : int
        Features to take up; the path ends where the next one would enter.
    tol : float
    """

    n_steps: int
    tol: float = 1e-4

    def solve(
        self,
        problem: NonnegativeLasso,
        start: Result[NonnegativePath] | None = None,
        callback: Callback | None = None,
    ) -> Result[NonnegativePath]:
        """Follow the path from the first entry; there is no other place to start from."""
        correlations, target_power = problem.correlations, problem.target_power
        first = float(correlations.max(initial=0.0))
        n_features = len(correlations)
        if first <= PRECISION * target_power**0.5:
            empty = np.empty(0, dtype=np.int64)
            nothing = NonnegativePath(empty, np.empty(0), 0.0, np.zeros(n_features), correlations)
            return Result(nothing, 0.5 * target_power, 0.0, 1, True)
        grain = PRECISION * first
        open_ = np.ones(n_features, dtype=bool)  # not in use
        redundant = np.zeros(n_features, dtype=bool)  # in the span of the features in use
        strengths: dict[int, float] = {}
        columns: dict[int, np.ndarray] = {}
        use: list[int] = []
        left: int | None = None
        now, strength, trace = correlations, first, [0.5 * target_power]
        weights = np.empty(0)
        limit = 20 * self.n_steps + 100
        for n_iter in range(1, limit + 1):
            if use:
                G = np.stack([columns[j][use] for j in use])
                G = 0.5 * (G + G.T)
                slope = np.linalg.solve(G, np.ones(len(use)))
                fall = np.stack([columns[j] for j in use], axis=1) @ slope
            else:
                slope, fall = np.empty(0), np.zeros(n_features)
            # How far the strength falls until a feature enters, and until one leaves.
            pace = 1.0 - fall
            may_enter = open_ & ~redundant & (pace > PRECISION)
            if left is not None:
                may_enter[left] = False
            until = np.full(n_features, np.inf)
            np.divide(strength - now, pace, out=until, where=may_enter)
            np.maximum(until, 0.0, out=until)
            entry = float(until.min())
            leaving = np.full(len(use), np.inf)
            np.divide(-weights, slope, out=leaving, where=slope < 0)
            exit_ = float(leaving.min(initial=np.inf))
            step = min(entry, exit_, strength)
            strength = max(strength - step, 0.0)
            if use:
                weights = np.linalg.solve(G, correlations[use] - strength)
                now = correlations - np.stack([columns[j] for j in use], axis=1) @ weights
            trace.append(_objective(weights, correlations[use], strength, target_power))
            done = strength <= grain or (entry <= exit_ and len(strengths) >= self.n_steps)
            event = Event(n_iter, trace[-1], n_features=len(use))
            if done or (callback is not None and callback(event)):
                break
            left = None
            if exit_ < entry:
                place = int(np.argmin(leaving))
                left = use.pop(place)
                weights = np.delete(weights, place)
                open_[left] = True
                redundant[:] = False
                continue
            j = int(np.flatnonzero(until <= entry + grain)[0])
            columns[j] = columns[j] if j in columns else problem.gram_column(j)
            if use:
                shared = columns[j][use]
                if columns[j][j] - shared @ np.linalg.solve(G, shared) <= 10 * PRECISION:
                    # The features in use say all that this one does. There may be very many such.
                    table = np.stack([columns[i] for i in use])
                    power = np.einsum("ij,ij->j", table, np.linalg.solve(G, table))
                    redundant |= power >= 1.0 - 10 * PRECISION
                    redundant[j] = True
                    continue
            open_[j] = False
            use.append(j)
            weights = np.append(weights, 0.0)
            strengths.setdefault(j, strength)
        a = np.zeros(n_features)
        a[use] = np.maximum(weights, 0.0)
        # The KKT conditions: correlations with the residual are at most the strength, and equal to
        # it for the features in use.
        excess = float((now - strength).max())
        uneven = float(np.abs(now[use] - strength).max(initial=0.0))
        negative = float(-weights.min(initial=0.0))
        optimality = max(excess, uneven, negative * first, 0.0) / first
        order = np.array(list(strengths), dtype=np.int64)
        path = NonnegativePath(order, np.array(list(strengths.values())), strength, a, now)
        return Result(
            path, trace[-1], float(optimality), n_iter, bool(done and optimality <= self.tol), trace
        )


def _objective(a: np.ndarray, c: np.ndarray, strength: float, target_power: float) -> float:
    """At a solution G a = c - strength, so that the Gram matrix is not needed."""
    fitted = float(a @ (c - strength))
    return 0.5 * (target_power - 2.0 * float(a @ c) + fitted) + strength * float(a.sum())
