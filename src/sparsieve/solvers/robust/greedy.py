"""Few rows under an l2,1 loss: greedy growth, then exchanges, for every number of rows at once.

Minimises sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_j ||w_j|| over W with at most K nonzero
rows, where f_i are unpenalised columns such as the intercept, for K = 1, 2, ... in one run. On a
fixed support the problem is convex and a few reweighted least-squares steps from a warm start are
enough to compare supports; whoever reports a result solves it to the end (`SupportFit`).
alpha may be zero.

The reweighted problem also says what a change of the support is worth. With V = s / ||r_i|| and
G the weighted Gram matrix of the support, dropping row j costs about ||w_j||^2 / (2 (G^-1)_jj)
and adding feature j gains about (||x_j'L|| - alpha)^2 / (2 v_j), with L = V R and v_j the
weighted square of x_j that the support does not explain.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np
from scipy.linalg.lapack import dposv, dpotri

from ...design import leading, own_passes
from ...penalties import row_norms
from ..base import Callback, Event, Path, Result
from .problem import RobustRegression

# Residuals below this share of their mean do not make a sample count for more when the worth
# of a change is estimated: they would pin the fit to samples that happen to be met exactly.
MIN_RESIDUAL_SHARE = 0.05
# Candidates, in features, whose gain is estimated by what the support leaves unexplained of them.
SHORTLIST = 64
# Numbers of features that are exchanged at once, in the order in which they are tried.
EXCHANGE_SIZES = (5, 3, 2, 1)
# Reweighting steps per support at most; a fit that gains nothing more ends earlier.
MAX_ITER_FIT = 30
# With no more features than this every swap of one feature is tried, and from several starts.
ALL_SWAPS_MAX_FEATURES = 30
# A decrease below this share of the objective is not worth an exchange.
MIN_DECREASE = 1e-6
# Fits to so few samples are too small for a second thread of BLAS.
ONE_THREAD_MAX_SAMPLES = 2000


@dataclass(frozen=True)
class SupportPath:
    """Supports of every size, and what could still enter the largest.

    Attributes
    ----------
    path : Path
        The best support found of every number of features, and its objective, a little above what
        an exact fit gives. Supports need not be nested.
    correlations : ndarray of shape (n_features,)
        Correlations of all features with the residual directions at the largest support.
    """

    path: Path
    correlations: np.ndarray


@dataclass(frozen=True)
class GreedyExchange:
    """Grow supports of up to k eligible features and exchange features of the largest.

    Supports grow with cheap exchanges on the way and thorough ones at the end; twice, by the gain
    that is estimated and by the correlation alone, since neither rule is always the better one.

    Parameters
    ----------
    max_rounds : int
        Maximum number of exchanges at the end.
    """

    max_rounds: int = 20

    def solve(
        self,
        problem: RobustRegression,
        start: Result[SupportPath] | None = None,
        callback: Callback | None = None,
    ) -> Result[SupportPath]:
        """Supports of 0 to k features; with a ``start`` its last support is exchanged alone."""
        few = problem.design.shape[0] <= ONE_THREAD_MAX_SAMPLES
        with own_passes(problem.design) if few else nullcontext():
            search = self._search(problem)
            if start is None:
                return search.path(callback)
            known = start.solution.path
            best, correlations = search.improve(search.fit(known.features))
            path = Path([*known.supports[:-1], best.features])
            solution = SupportPath(path, correlations)
            return Result(solution, best.objective, 0.0, len(path), True, [best.objective])

    def _search(self, problem: RobustRegression) -> SupportSearch:
        return SupportSearch(problem, self.max_rounds)


def filled_support(problem: RobustRegression, features: np.ndarray) -> np.ndarray:
    """The features, and as many more as are missing to k: those that gain most, in turn."""
    assert problem.k is not None
    if len(features) >= problem.k:
        return features
    search = SupportSearch(problem)
    fit = search.fit(features)
    while len(fit.features) < problem.k:
        best, _ = search.gaining(fit, 1)
        fit = search.fit(np.append(fit.features, best), fit)
    return fit.features


@dataclass(frozen=True)
class Support:
    """A set of features, and the objective that it reaches."""

    features: np.ndarray
    objective: float


@dataclass(frozen=True)
class Candidate(Support):
    """A support under comparison: its nearly optimal fit, and what it takes to go on from it."""

    columns: np.ndarray  # those of the features, then the free ones
    W: np.ndarray
    sizes: np.ndarray  # residual norms, floored
    multiplier: np.ndarray  # s_i r_i / ||r_i||
    variances: np.ndarray  # diagonal of the inverse of the weighted Gram matrix


class SupportSearch:
    """Fits, estimates and exchanges of one search; features may stand for groups of columns."""

    def __init__(self, problem: RobustRegression, max_rounds: int = 20):
        self.problem, self.max_rounds = problem, max_rounds
        self.alpha = float(problem.alpha)
        self.features = self._features()
        self._small = len(self.features) <= ALL_SWAPS_MAX_FEATURES
        # Supports that were tried, and the objective they could not get below.
        self._rejected: dict[frozenset, float] = {}

    # -- what a feature is ----------------------------------------------------------------

    def _features(self) -> np.ndarray:
        return self.problem.features

    @property
    def n_all(self) -> int:
        """How many features there are, eligible or not."""
        return self.problem.design.shape[1]

    def _columns_of(self, features: np.ndarray) -> np.ndarray:
        """The columns of these features."""
        return self.problem.columns(features)

    def _norms(self, rows: np.ndarray, features: np.ndarray) -> np.ndarray:
        """The norm of the rows of every feature."""
        return row_norms(rows)

    def _wide(self, values: np.ndarray, features: np.ndarray) -> np.ndarray:
        """One number per feature as one per column."""
        return values

    def _usual(self, columns: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Norms to begin with."""
        return self.problem.usual_rows(columns)

    def correlations(self, multiplier: np.ndarray) -> np.ndarray:
        """The correlations of all features with the residual directions."""
        return self.problem.correlations(multiplier)

    # -- fits on a support ----------------------------------------------------------------

    def fit(
        self,
        features: np.ndarray,
        start: Candidate | None = None,
        *,
        steps: int = MAX_ITER_FIT,
        stop_above: float = np.inf,
    ) -> Candidate:
        """Reweighted least squares on a support, from the residuals and rows of another fit.

        Ends when a step gains next to nothing, or when the objective has no hope to come
        below ``stop_above``.
        """
        problem, alpha = self.problem, self.alpha
        columns = self._columns(features, start)
        n_columns = columns.shape[1]
        size = n_columns - problem.free.shape[1]
        norms, sizes = self._warm(features, columns[:, :size], start)
        best = np.inf
        for step in range(steps):
            half = np.ones(n_columns)
            ridge = np.full(n_columns, 1e-12)
            if alpha > 0:
                half[:size] = np.sqrt(self._wide(norms, features) / alpha)
                half[size:] = np.sqrt(problem.mean(sizes))  # so that no entry depends on units
                ridge[:size] = 1.0
            weight = problem.weights / sizes
            scaled = columns * half
            root = scaled * np.sqrt(weight)[:, None]
            matrix, right = root.T @ root, scaled.T @ (weight[:, None] * problem.Y)
            if alpha == 0:
                ridge *= max(float(np.trace(matrix)) / max(len(matrix), 1), 1e-300)
            matrix[np.diag_indices(len(matrix))] += np.maximum(
                ridge, 1e-13 * matrix.diagonal().max(initial=0.0)
            )
            factor, solved = _solve_definite(matrix, right)
            solved *= half[:, None]
            residual = columns @ solved
            np.subtract(problem.Y, residual, out=residual)
            lengths = row_norms(residual)
            norms_new = self._norms(solved[:size], features)
            objective = float(problem.weights @ lengths + alpha * norms_new.sum())
            gain = best - objective
            best = min(best, objective)
            sizes = np.maximum(lengths, 1e-10 * problem.mean(lengths))
            norms = np.maximum(norms_new, 1e-12 * norms_new.max(initial=0.0) + 1e-300)
            if step >= 2 and (gain <= 1e-5 * objective or objective - 40 * gain > stop_above):
                break
        multiplier = weight[:, None] * residual
        variances = np.diag(dpotri(factor, lower=True)[0]) * half**2 if len(half) else half
        return Candidate(
            features,
            objective,
            columns,
            solved[:size],
            sizes,
            multiplier,
            variances[:size],
        )

    def _columns(self, features: np.ndarray, start: Candidate | None) -> np.ndarray:
        """The columns of these features, then the free ones; those of ``start`` are not read."""
        if start is None:
            return np.hstack([self._columns_of(features), self.problem.free])
        numbers = self._wide(np.arange(len(start.features)), start.features)
        known = {int(j): place for place, j in enumerate(start.features)}
        old = [known[int(j)] for j in features if int(j) in known]
        places = [int(at) for place in old for at in np.flatnonzero(numbers == place)]
        fresh = np.array([j for j in features if int(j) not in known], dtype=np.int64)
        return np.hstack([start.columns[:, places], self._columns_of(fresh), self.problem.free])

    def _warm(self, features: np.ndarray, columns: np.ndarray, start: Candidate | None):
        """Row norms and residual norms to weigh the first step with."""
        if start is None:
            lengths = row_norms(self.problem.Y)
            sizes = np.maximum(lengths, 1e-3 * self.problem.mean(lengths))
            return self._usual(columns, features), sizes
        # Samples met exactly must be free to move again.
        sizes = np.maximum(start.sizes, 1e-2 * self.problem.mean(start.sizes))
        norms = self._norms(start.W, start.features)
        known = dict(zip(start.features.tolist(), norms, strict=True))
        positive = [norm for norm in known.values() if norm > 0]
        if not positive:
            return self._usual(columns, features), sizes
        usual = float(np.mean(positive))
        norms = np.array([max(known.get(int(j), usual), 0.05 * usual) for j in features])
        return norms, sizes

    # -- what a change of the support is worth --------------------------------------------

    def gaining(
        self, fit: Candidate, count: int, by_correlation: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ``count`` features outside the support worth most, and the correlations of all."""
        correlations = self.correlations(fit.multiplier)
        return self._best(fit, correlations, count, by_correlation), correlations

    def _best(
        self, fit: Candidate, correlations: np.ndarray, count: int, by_correlation: bool
    ) -> np.ndarray:
        outside = self._outside(fit, correlations)
        n_outside = len(self.features) - len(fit.features)
        if by_correlation:
            return leading(outside, min(count, n_outside))
        most = min(max(SHORTLIST, 2 * count), n_outside)
        candidates = np.sort(leading(outside, most))
        gains = self._gains(fit, candidates, correlations[candidates])
        # Where nothing gains, the largest correlation still decides.
        order = np.lexsort([candidates, -correlations[candidates], -gains])
        return candidates[order[:count]]

    def _gains(
        self, fit: Candidate, candidates: np.ndarray, correlations: np.ndarray
    ) -> np.ndarray:
        """What these features would gain, roughly."""
        columns, weight, cross, gram = self._beside(fit, candidates)
        explained = np.einsum("ij,ij->j", cross, np.linalg.solve(gram, cross))
        square = np.einsum("ij,ij->j", columns, columns * weight[:, None])
        rest = np.maximum(square - explained, 1e-8 * square + 1e-300)
        return np.maximum(correlations - self.alpha, 0.0) ** 2 / rest

    def _beside(self, fit: Candidate, candidates: np.ndarray) -> tuple[np.ndarray, ...]:
        """Columns of candidates, weights of samples, and weighted products with the support."""
        columns = self._columns_of(candidates)
        sizes = np.maximum(fit.sizes, MIN_RESIDUAL_SHARE * self.problem.mean(fit.sizes))
        weight = self.problem.weights / sizes
        weighted = fit.columns * weight[:, None]
        cross, gram = weighted.T @ columns, weighted.T @ fit.columns
        gram[np.diag_indices(len(gram))] += 1e-10 * np.trace(gram) / max(len(gram), 1) + 1e-300
        return columns, weight, cross, gram

    def costs(self, fit: Candidate) -> np.ndarray:
        """Estimated cost of dropping each feature of the support."""
        return row_norms(fit.W) ** 2 / np.maximum(fit.variances, 1e-300)

    # -- search ---------------------------------------------------------------------------

    def path(self, callback: Callback | None) -> Result[SupportPath]:
        """Growth by both rules, then exchanges."""
        n_features = len(self.features)
        n_steps = n_features if self.problem.k is None else min(self.problem.k, n_features)
        nothing = self.fit(np.empty(0, dtype=np.int64))
        by_gain, one = self._grow(nothing, n_steps, by_correlation=False, callback=callback)
        by_correlation, other = self._grow(nothing, n_steps, by_correlation=True, callback=callback)
        lower = partial(min, key=attrgetter("objective"))
        supports = [lower(pair) for pair in zip(by_gain, by_correlation, strict=True)]
        correlations = np.zeros(self.n_all)
        if supports:
            starts = [lower(one, other)]
            if self._small:
                starts += [one, other, *self._other_starts(n_steps)]
            ends = [self.improve(start) for start in starts]
            supports[-1], correlations = min(ends, key=lambda end: end[0].objective)
        supports = [nothing, *supports]
        trace = [support.objective for support in supports]
        path = Path([support.features for support in supports], np.array(trace))
        solution = SupportPath(path, correlations)
        return Result(solution, trace[-1], 0.0, n_steps, True, trace)

    def _grow(
        self, nothing: Candidate, n_steps: int, *, by_correlation: bool, callback: Callback | None
    ) -> tuple[list[Support], Candidate]:
        """One support of every size, each from the last, and the last one whole."""
        current = nothing
        entering, _ = self.gaining(current, 1, by_correlation)
        supports: list[Support] = []
        while len(supports) < n_steps:
            features = np.append(current.features, entering[0])
            current = self.fit(features, current)
            entering, correlations = self.gaining(current, 1, by_correlation)
            if 1 < len(features) < n_steps and self._open(current, correlations):
                better = self._exchange(current, entering, 1)
                if better is not None:
                    current = better
                    entering, _ = self.gaining(current, 1, by_correlation)
            supports.append(Support(current.features, current.objective))
            if callback is not None:
                callback(Event(len(supports), current.objective, n_features=len(supports)))
        return supports, current

    def _open(self, fit: Candidate, correlations: np.ndarray) -> bool:
        """Whether a feature outside violates its optimality condition: the limit binds."""
        return bool(self._outside(fit, correlations).max() > self.alpha * (1.0 + 1e-4))

    def _outside(self, fit: Candidate, correlations: np.ndarray) -> np.ndarray:
        """The correlations, and -1 for features that cannot come."""
        outside = np.full_like(correlations, -1.0)
        outside[self.features] = correlations[self.features]
        outside[fit.features] = -1.0
        return outside

    def improve(self, fit: Candidate) -> tuple[Candidate, np.ndarray]:
        """Exchange features until no exchange tried lowers the objective."""
        for _ in range(self.max_rounds):
            most = max(EXCHANGE_SIZES)
            by_gain, correlations = self.gaining(fit, most)
            if not self._open(fit, correlations):
                return fit, correlations
            entering = (by_gain, self._best(fit, correlations, most, by_correlation=True))
            tries = (
                self._exchange(fit, features, count)
                for count in EXCHANGE_SIZES
                for features in entering
                if count <= min(len(features), len(fit.features))
            )
            better = next((found for found in tries if found is not None), None)
            if better is None:
                better = self._swap(fit)
            if better is None:
                return fit, correlations
            fit = better
        return fit, self.gaining(fit, 1)[1]

    def _other_starts(self, size: int):
        """The features best on their own, and the largest rows without a limit."""
        nothing = self.fit(np.empty(0, dtype=np.int64))
        alone = self._outside(nothing, self.gaining(nothing, 1)[1])
        yield self.fit(np.argsort(-alone, kind="stable")[:size])
        everything = self.fit(self.features)
        norms = self._norms(everything.W, everything.features)
        largest = np.argsort(-norms, kind="stable")[:size]
        yield self.fit(everything.features[largest])

    def _exchange(self, fit: Candidate, entering: np.ndarray, count: int) -> Candidate | None:
        """Replace the ``count`` cheapest features by the most entering."""
        kept = np.sort(np.argsort(self.costs(fit), kind="stable")[count:])
        features = np.concatenate([fit.features[kept], entering[:count]])
        return self._if_better(features, fit, fit)

    def _swap(self, fit: Candidate) -> Candidate | None:
        """Replace one feature by what is entering in its absence, the cheapest first."""
        n_out, n_in = (len(fit.features), ALL_SWAPS_MAX_FEATURES) if self._small else (6, 2)
        for place in np.argsort(self.costs(fit), kind="stable")[:n_out]:
            rest = self.fit(np.delete(fit.features, place), fit, steps=4)
            entering, _ = self.gaining(rest, n_in + 1)
            for fresh in entering[entering != fit.features[place]][:n_in]:
                better = self._if_better(np.append(rest.features, fresh), rest, fit)
                if better is not None:
                    return better
        return None

    def _if_better(self, features, start: Candidate, current: Candidate) -> Candidate | None:
        limit = current.objective * (1 - MIN_DECREASE)
        key = frozenset(features.tolist())
        if self._rejected.get(key, -np.inf) >= limit:
            return None
        candidate = self.fit(features, start, stop_above=limit)
        if candidate.objective < limit:
            return candidate
        self._rejected[key] = limit
        return None


def _solve_definite(matrix: np.ndarray, right: np.ndarray):
    """Cholesky factor and solution; a matrix that rounding left indefinite is lifted.

    LAPACK itself: on matrices this small SciPy's wrappers cost more than the solve.
    """
    if len(matrix) == 0:
        return matrix, right
    lift = 1e-14 * float(matrix.diagonal().max())
    while True:
        factor, solved, info = dposv(matrix, right, lower=True)
        if info == 0:
            return factor, solved
        lift *= 100.0
        matrix[np.diag_indices(len(matrix))] += lift
