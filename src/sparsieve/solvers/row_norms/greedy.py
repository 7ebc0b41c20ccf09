"""Few rows under an l2,1 loss: greedy growth, then exchanges, for every number of rows at once.

Minimises sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_j ||w_j|| over W with at most K nonzero
rows, where f_i are free columns such as the intercept, for K = 1, 2, ... in one run. On a fixed
support the problem is convex and a few reweighted least-squares steps from a warm start are
enough to compare supports; whoever reports a result solves it to the end (`exact_fit`).
alpha may be zero.

The reweighted problem also says what a change of the support is worth. With V = s / ||r_i|| and
G the weighted Gram matrix of the support, dropping row j costs about ||w_j||^2 / (2 (G^-1)_jj)
and adding feature j gains about (||x_j'L|| - alpha)^2 / (2 v_j), with L = V R and v_j the
weighted square of x_j that the support does not explain.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv, dpotri

from ...design import leading, own_passes
from ...penalties import row_norms
from ..base import Callback, Event, Path
from ._all_supports import best_supports, can_try_all
from .problem import RobustData
from .support_columns import SupportColumns, better_sparse, support_columns

# Residuals below this share of their mean do not make a sample count for more when the worth
# of a change is estimated: they would pin the fit to samples that happen to be met exactly.
FLOOR = 0.05
SHORTLIST = 64
EXCHANGES = (5, 3, 2, 1)
# Reweighting steps per support at most; a fit that gains nothing more ends earlier.
STEPS = 30
# So many supports are compared closely where all can be tried.
LEADING = 12
# With no more features than this every swap of one feature is tried, and from several starts.
SMALL = 30
# A decrease below this share of the objective is not worth an exchange.
WORTHWHILE = 1e-6
# Fits to so few samples, as those to sparse columns, are too small for a second thread of BLAS.
FEW_SAMPLES = 2000


@dataclass(frozen=True)
class Support:
    """A set of features, and the objective that it reaches."""

    features: np.ndarray
    objective: float


@dataclass(frozen=True)
class Candidate(Support):
    """A support under comparison: its nearly optimal fit, and what it takes to go on from it."""

    columns: SupportColumns
    W: np.ndarray
    residual: np.ndarray
    sizes: np.ndarray  # residual norms, floored
    multiplier: np.ndarray  # s_i r_i / ||r_i||
    variances: np.ndarray  # diagonal of the inverse of the weighted Gram matrix


class RobustGreedy:
    """Grow and exchange supports of an l2,1-loss model.

    Parameters
    ----------
    data : RobustData
    alpha : strength of the row norms, zero allowed.
    eligible : mask of the features that may be selected.
    """

    def __init__(self, data: RobustData, alpha: float, eligible: np.ndarray):
        self.data = data
        self.alpha = float(alpha)
        self.eligible = eligible
        self.n_fits = 0
        self._closed = np.flatnonzero(~eligible)
        self._sparsely = better_sparse(data)
        self._small = int(eligible.sum()) <= SMALL
        # Supports that were tried, and the objective they could not get below.
        self._rejected: dict[frozenset, float] = {}

    # -- fits on a support ----------------------------------------------------------------

    def fit(
        self,
        features: np.ndarray,
        start: Candidate | None = None,
        *,
        steps: int = STEPS,
        stop_above: float = np.inf,
    ) -> Candidate:
        """Reweighted least squares on a support, from the residuals and rows of another fit.

        Ends when a step gains next to nothing, or when the objective has no hope to come
        below ``stop_above``.
        """
        self.n_fits += 1
        data, alpha = self.data, self.alpha
        columns = self._columns(features, start)
        size = len(features)
        n_columns = size + data.free.shape[1]
        norms, sizes = self._warm(features, columns, start)
        best = np.inf
        for step in range(steps):
            half = np.ones(n_columns)
            ridge = np.full(n_columns, 1e-12)
            if alpha > 0:
                half[:size] = np.sqrt(norms / alpha)
                half[size:] = np.sqrt(data.mean(sizes))  # so that no entry depends on units
                ridge[:size] = 1.0
            weight = data.weights / sizes
            matrix, right = columns.products(weight, data.Y, half)
            if alpha == 0:
                ridge *= max(float(np.trace(matrix)) / max(len(matrix), 1), 1e-300)
            matrix[np.diag_indices(len(matrix))] += np.maximum(
                ridge, 1e-13 * matrix.diagonal().max(initial=0.0)
            )
            factor, solved = _solve_definite(matrix, right)
            solved *= half[:, None]
            residual = columns.matmul(solved)
            np.subtract(data.Y, residual, out=residual)
            lengths = row_norms(residual)
            norms_new = row_norms(solved[:size])
            objective = float(data.weights @ lengths + alpha * norms_new.sum())
            gain = best - objective
            best = min(best, objective)
            sizes = np.maximum(lengths, 1e-10 * data.mean(lengths))
            norms = np.maximum(norms_new, 1e-12 * norms_new.max(initial=0.0) + 1e-300)
            if step >= 2 and (gain <= 1e-5 * objective or objective - 40 * gain > stop_above):
                break
        multiplier = weight[:, None] * residual
        variances = _inverse_diagonal(factor) * half**2
        return Candidate(
            features,
            objective,
            columns,
            solved[:size],
            residual,
            sizes,
            multiplier,
            variances[:size],
        )

    def _columns(self, features: np.ndarray, start: Candidate | None) -> SupportColumns:
        if start is None:
            return self._fetched(features)
        known = {int(j): place for place, j in enumerate(start.features)}
        places = [known[int(j)] for j in features if int(j) in known]
        fresh = [int(j) for j in features if int(j) not in known]
        fetched = self._fetched(np.array(fresh, dtype=np.int64))
        return start.columns.rearranged(np.array(places, dtype=np.int64), fetched)

    def _fetched(self, features: np.ndarray) -> SupportColumns:
        return support_columns(self.data, features, self._sparsely)

    def _warm(self, features: np.ndarray, columns: SupportColumns, start: Candidate | None):
        """Row norms and residual norms to weigh the first step with."""
        if start is None:
            lengths = row_norms(self.data.Y)
            sizes = np.maximum(lengths, 1e-3 * self.data.mean(lengths))
            return self._usual_rows(columns), sizes
        # Samples met exactly must be free to move again.
        sizes = np.maximum(start.sizes, 1e-2 * self.data.mean(start.sizes))
        known = dict(zip(start.features.tolist(), row_norms(start.W), strict=True))
        positive = [norm for norm in known.values() if norm > 0]
        if not positive:
            return self._usual_rows(columns), sizes
        usual = float(np.mean(positive))
        norms = np.array([max(known.get(int(j), usual), 0.05 * usual) for j in features])
        return norms, sizes

    def _usual_rows(self, columns: SupportColumns) -> np.ndarray:
        return self.data.usual_rows(columns.squares(self.data.weights))

    # -- what a change of the support is worth --------------------------------------------

    def wanted(
        self, fit: Candidate, count: int, by_pull: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ``count`` features outside the support worth most, and the pulls of all."""
        pulls = self.data.pulls(fit.multiplier)
        return self._best(fit, pulls, count, by_pull), pulls

    def _best(self, fit: Candidate, pulls: np.ndarray, count: int, by_pull: bool) -> np.ndarray:
        outside = self._outside(fit, pulls)
        if by_pull:
            return leading(outside, min(count, self._n_outside(fit)))
        room = min(max(SHORTLIST, 2 * count), self._n_outside(fit))
        candidates = np.sort(leading(outside, room))
        columns = self._fetched(candidates)
        sizes = np.maximum(fit.sizes, FLOOR * self.data.mean(fit.sizes))
        weight = self.data.weights / sizes
        cross = fit.columns.cross(weight, columns)
        gram = fit.columns.gram(weight)
        gram[np.diag_indices(len(gram))] += 1e-10 * np.trace(gram) / max(len(gram), 1) + 1e-300
        explained = np.einsum("ij,ij->j", cross, np.linalg.solve(gram, cross))
        square = columns.squares(weight)
        rest = np.maximum(square - explained, 1e-8 * square + 1e-300)
        gains = np.maximum(pulls[candidates] - self.alpha, 0.0) ** 2 / rest
        # Where nothing gains, the strongest pull still decides.
        order = np.lexsort([candidates, -pulls[candidates], -gains])
        return candidates[order[:count]]

    def costs(self, fit: Candidate) -> np.ndarray:
        """Estimated cost of dropping each feature of the support."""
        return row_norms(fit.W) ** 2 / np.maximum(fit.variances, 1e-300)

    # -- search ---------------------------------------------------------------------------

    def path(self, n_steps: int, callback: Callback | None = None) -> tuple[Path, np.ndarray]:
        """The best supports found of up to ``n_steps`` features, and the pulls at the largest.

        Supports grow with cheap exchanges on the way and thorough ones at the end; twice, by the
        gain that is estimated and by the pull alone, since neither rule is always the better one.
        They need not be nested. Objectives are a little above what an exact fit gives.
        """
        small = self._sparsely or self.data.design.shape[0] <= FEW_SAMPLES
        with own_passes(self.data.design) if small else nullcontext():
            return self._path(n_steps, callback)

    def _path(self, n_steps: int, callback: Callback | None) -> tuple[Path, np.ndarray]:
        n_steps = min(n_steps, int(self.eligible.sum()))
        nothing = self.fit(np.empty(0, dtype=np.int64))
        by_gain, one = self._grow(nothing, n_steps, by_pull=False, callback=callback)
        by_pull, other = self._grow(nothing, n_steps, by_pull=True, callback=callback)
        supports = [min(pair, key=_objective) for pair in zip(by_gain, by_pull, strict=True)]
        pulls = np.zeros(len(self.eligible))
        if supports:
            starts = [min(one, other, key=_objective)]
            if can_try_all(self.data, int(self.eligible.sum()), n_steps):
                starts += self._winners(n_steps)
            elif self._small:
                starts += [one, other, *self._other_starts(n_steps)]
            ends = [self.improve(start) for start in starts]
            supports[-1], pulls = min(ends, key=lambda end: end[0].objective)
        supports = [nothing, *supports]
        objective = np.array([support.objective for support in supports])
        return Path([support.features for support in supports], objective), pulls

    def _grow(
        self, nothing: Candidate, n_steps: int, *, by_pull: bool, callback: Callback | None
    ) -> tuple[list[Support], Candidate]:
        """One support of every size, each from the last, and the last one whole."""
        current = nothing
        wanted, _ = self.wanted(current, 1, by_pull)
        supports: list[Support] = []
        while len(supports) < n_steps:
            features = np.append(current.features, wanted[0])
            current = self.fit(features, current)
            wanted, pulls = self.wanted(current, 1, by_pull)
            if 1 < len(features) < n_steps and self._open(current, pulls):
                better = self._exchange(current, wanted, 1)
                if better is not None:
                    current = better
                    wanted, _ = self.wanted(current, 1, by_pull)
            supports.append(Support(current.features, current.objective))
            if callback is not None:
                callback(Event(len(supports), current.objective, n_features=len(supports)))
        return supports, current

    def _open(self, fit: Candidate, pulls: np.ndarray) -> bool:
        """Whether any feature outside wants in; if not, the limit on their number does not bind."""
        return bool(self._outside(fit, pulls).max() > self.alpha * (1.0 + 1e-4))

    def _outside(self, fit: Candidate, pulls: np.ndarray) -> np.ndarray:
        """The pulls, and -1 for features that cannot come."""
        outside = pulls.copy()
        outside[self._closed] = outside[fit.features] = -1.0
        return outside

    def _n_outside(self, fit: Candidate) -> int:
        return len(self.eligible) - len(self._closed) - len(fit.features)

    def improve(self, fit: Candidate, max_rounds: int = 20) -> tuple[Candidate, np.ndarray]:
        """Exchange features until no exchange tried lowers the objective."""
        for _ in range(max_rounds):
            most = max(EXCHANGES)
            by_gain, pulls = self.wanted(fit, most)
            if not self._open(fit, pulls):
                return fit, pulls
            wanted = (by_gain, self._best(fit, pulls, most, by_pull=True))
            tries = (
                self._exchange(fit, features, count)
                for count in EXCHANGES
                for features in wanted
                if count <= min(len(features), len(fit.features))
            )
            better = next((found for found in tries if found is not None), None)
            if better is None:
                better = self._swap(fit)
            if better is None:
                return fit, pulls
            fit = better
        return fit, self.wanted(fit, 1)[1]

    def _winners(self, size: int) -> list[Candidate]:
        """The best of all supports of this size, after a close look at the leading ones."""
        supports = best_supports(self.data, self.alpha, self.eligible, size, LEADING)
        fits = [self.fit(support) for support in supports]
        return [min(fits, key=_objective)]

    def _other_starts(self, size: int):
        """The features best on their own, and the largest rows without a limit."""
        alone = self.wanted(self.fit(np.empty(0, dtype=np.int64)), 1)[1]
        alone[~self.eligible] = -1.0
        yield self.fit(np.argsort(-alone, kind="stable")[:size])
        everything = self.fit(np.flatnonzero(self.eligible))
        largest = np.argsort(-row_norms(everything.W), kind="stable")[:size]
        yield self.fit(everything.features[largest])

    def _exchange(self, fit: Candidate, wanted: np.ndarray, count: int) -> Candidate | None:
        """Replace the ``count`` cheapest features by the most wanted."""
        kept = np.sort(np.argsort(self.costs(fit), kind="stable")[count:])
        features = np.concatenate([fit.features[kept], wanted[:count]])
        return self._if_better(features, fit, fit)

    def _swap(self, fit: Candidate) -> Candidate | None:
        """Replace one feature by what is wanted in its absence, the cheapest first."""
        n_out, n_in = (len(fit.features), SMALL) if self._small else (6, 2)
        for place in np.argsort(self.costs(fit), kind="stable")[:n_out]:
            rest = self.fit(np.delete(fit.features, place), fit, steps=4)
            wanted, _ = self.wanted(rest, n_in + 1)
            for fresh in wanted[wanted != fit.features[place]][:n_in]:
                better = self._if_better(np.append(rest.features, fresh), rest, fit)
                if better is not None:
                    return better
        return None

    def _if_better(self, features, start: Candidate, current: Candidate) -> Candidate | None:
        limit = current.objective * (1 - WORTHWHILE)
        key = frozenset(features.tolist())
        if self._rejected.get(key, -np.inf) >= limit:
            return None
        candidate = self.fit(features, start, stop_above=limit)
        if candidate.objective < limit:
            return candidate
        self._rejected[key] = limit
        return None


def _objective(support: Support) -> float:
    return support.objective


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


def _inverse_diagonal(factor: np.ndarray) -> np.ndarray:
    return np.diag(dpotri(factor, lower=True)[0]) if len(factor) else np.empty(0)
