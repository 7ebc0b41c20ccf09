"""Few rows under an l2,1 loss: greedy growth, then exchanges, for every number of rows at once.

Minimises sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_j ||w_j|| over W with at most K nonzero
rows, where f_i are unpenalised columns such as the intercept, for K = 1, 2, ... in one run. On a
fixed support the problem is convex and a few reweighted least-squares steps from a warm start are
enough to compare supports; whoever reports a result solves it to the end (`RobustRefit`).
alpha may be zero.

The reweighted problem also says what a change of the support is worth. With V = s / ||r_i|| and
G the weighted Gram matrix of the support, dropping row j costs about ||w_j||^2 / (2 (G^-1)_jj)
and adding feature j gains about (||x_j'L|| - alpha)^2 / (2 v_j), with L = V R and v_j the
weighted square of x_j that the support does not explain.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np

from ...design import leading, own_passes
from ...penalties import row_norms
from ...solvers.base import Callback, Event, Path, Result
from ...solvers.robust.problem import RobustRegression
from ...solvers.searches.exchange import Exchanges, Proposal
from .support_fits import Candidate, Support, SupportFits

# Residuals below this share of their mean do not make a sample count for more when the worth
# of a change is estimated: they would pin the fit to samples that happen to be met exactly.
MIN_RESIDUAL_SHARE = 0.05
# Candidates, in features, whose gain is estimated by what the support leaves unexplained of them.
SHORTLIST = 64
# Numbers of features that are exchanged at once, in the order in which they are tried.
EXCHANGE_SIZES = (5, 3, 2, 1)
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
            search = SupportSearch(problem, self.max_rounds)
            if start is None:
                return search.path(callback)
            known = start.solution.path
            best, correlations = search.improve(search.fit(known.features))
            path = Path([*known.supports[:-1], best.features])
            solution = SupportPath(path, correlations)
            return Result(solution, best.objective, 0.0, len(path), True, [best.objective])


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


class SupportSearch(SupportFits, Exchanges[Candidate]):
    """Estimates and exchanges of one search."""

    max_rounds: int
    features: np.ndarray

    def __init__(self, problem: RobustRegression, max_rounds: int = 20):
        SupportFits.__init__(self, problem)
        Exchanges.__init__(self)
        self.max_rounds, self.features = max_rounds, problem.features
        self._small = len(self.features) <= ALL_SWAPS_MAX_FEATURES

    # -- what a change of the support is worth --------------------------------------------

    def gaining(
        self, fit: Candidate, count: int, by_correlation: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ``count`` features outside the support worth most, and the correlations of all."""
        correlations = self.problem.correlations(fit.multiplier)
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
        columns, weight, cross, gram = self._candidate_products(fit, candidates)
        explained = np.einsum("ij,ij->j", cross, np.linalg.solve(gram, cross))
        square = np.einsum("ij,ij->j", columns, columns * weight[:, None])
        rest = np.maximum(square - explained, 1e-8 * square + 1e-300)
        return np.maximum(correlations - self.alpha, 0.0) ** 2 / rest

    def _candidate_products(self, fit: Candidate, candidates: np.ndarray) -> tuple[np.ndarray, ...]:
        """Columns of candidates, weights of samples, and weighted products with the support."""
        columns = self.problem.columns(candidates)
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
        correlations = np.zeros(self.problem.design.shape[1])
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
                better = self.try_support(current, *self._exchange(current, entering, 1))
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
            better = self.better(fit)
            if better is None:
                return fit, self._latest
            fit = better
        return fit, self.gaining(fit, 1)[1]

    def goal(self, fit: Candidate) -> float:
        return fit.objective * (1 - MIN_DECREASE)

    def proposals(self, fit: Candidate) -> Iterator[Proposal[Candidate]]:
        most = max(EXCHANGE_SIZES)
        by_gain, correlations = self.gaining(fit, most)
        self._latest = correlations
        if not self._open(fit, correlations):
            return
        entering = (by_gain, self._best(fit, correlations, most, by_correlation=True))
        for count in EXCHANGE_SIZES:
            for features in entering:
                if count <= min(len(features), len(fit.features)):
                    yield self._exchange(fit, features, count)
        # One feature for what is entering in its absence, the cheapest first.
        n_out, n_in = (len(fit.features), ALL_SWAPS_MAX_FEATURES) if self._small else (6, 2)
        for place in np.argsort(self.costs(fit), kind="stable")[:n_out]:
            rest = self.fit(np.delete(fit.features, place), fit, steps=4)
            fresh, _ = self.gaining(rest, n_in + 1)
            for feature in fresh[fresh != fit.features[place]][:n_in]:
                yield self._proposal(np.append(rest.features, feature), rest)

    def _exchange(self, fit: Candidate, entering: np.ndarray, count: int) -> Proposal[Candidate]:
        """Replace the ``count`` cheapest features by the most entering."""
        kept = np.sort(np.argsort(self.costs(fit), kind="stable")[count:])
        return self._proposal(np.concatenate([fit.features[kept], entering[:count]]), fit)

    def _proposal(self, features: np.ndarray, start: Candidate) -> Proposal[Candidate]:
        return features.tolist(), lambda limit: self.fit(features, start, stop_above=limit)

    def _other_starts(self, size: int):
        """The features best on their own, and the largest rows without a limit."""
        nothing = self.fit(np.empty(0, dtype=np.int64))
        alone = self._outside(nothing, self.gaining(nothing, 1)[1])
        yield self.fit(np.argsort(-alone, kind="stable")[:size])
        everything = self.fit(self.features)
        norms = row_norms(everything.W)
        largest = np.argsort(-norms, kind="stable")[:size]
        yield self.fit(everything.features[largest])
