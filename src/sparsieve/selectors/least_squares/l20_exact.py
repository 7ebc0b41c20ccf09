"""The exact solver of the l2,0 model: the best support of every size, proven."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from ...design import (
    DenseDesign,
    RowBlockedDesign,
    SparseDesign,
    blank_columns,
    can_condense,
    in_double,
)
from ...design.base import slices
from ...solvers.base import Callback, Path, Result
from ...solvers.exact.best_subsets import MAX_SAMPLES, BestSubsets, BestSubsetSearch, ExactValues
from ...solvers.exact.bounds import BoundSearch
from ...solvers.exact.support_values import Accuracy, rounding
from ...solvers.searches.forward import EndRule
from ...validation.training_data import TrainingData
from ..preparation import Prepared
from .l20_greedy import GreedySearch, SupportsBySize
from .support_fit import SupportLeastSquares

# What columns that stand for inner products of an X in files or on a cluster leave out, per feature
# and as a share of squared norms.
CONDENSED_ERROR = 1e-12
_DIGEST_ENTRIES = 1 << 17  # entries that are copied at a time


def to_double(data: TrainingData) -> TrainingData:
    """The same data; everything that is made of them is in double precision."""
    return replace(data, design=in_double(data.design))


@dataclass(frozen=True)
class Proof:
    """A prepared problem, and what is known about its errors.

    Attributes
    ----------
    data : TrainingData
        What the problem was made of.
    problem : Prepared
        In double precision; columns that covariates nearly explain are not blank.
    ridge : float
        Absolute.
    plain : bool
        Whether columns were centred, scaled and weighted, and nothing else.
    clip : float or None
        Values beyond so many standard deviations were moved there.
    prices : float or ndarray of shape (n_groups,)
        What every feature, or every feature group, adds to ||Y - XW||^2 + ridge ||W||^2.
    """

    data: TrainingData
    problem: Prepared
    ridge: float
    plain: bool
    clip: float | None = None
    prices: float | np.ndarray = 0.0

    @cached_property
    def search(self) -> BoundSearch:
        """Bounds and values of this problem."""
        Y, accuracy = self.problem.Y, self.accuracy
        left = Y - accuracy.removed @ (accuracy.removed.T @ Y)
        doubtful = float(np.linalg.norm(left)) <= 10.0 * accuracy.target
        nothing = np.empty(0, dtype=np.int64)
        if doubtful and self.exact is not None and self.exact(nothing) == 0:  # rounding alone
            Y, accuracy = np.zeros_like(Y), replace(accuracy, target=0.0)
        groups, given = None, self.data.groups
        if given is not None and not (given.are_single and np.ndim(self.prices) == 0):
            closed, kept = self.data.choices.either, self.eligible
            groups = [c[kept[c] & (not closed[g])] for g, c in enumerate(given.columns)]
        return BoundSearch(
            self.problem.design, Y, self.ridge, self.eligible, accuracy, groups, self.prices
        )

    @cached_property
    def eligible(self) -> np.ndarray:
        """Mask of the columns that may be chosen: those that explain what covariates do not."""
        eligible = ~self.problem.constant
        if self.problem.units.covariates is None:
            return eligible & (self._norms > 0.0)
        if self.exact is not None:
            # What is left of a column may be a difference of squares, with the rounding of these.
            share = np.sqrt(rounding(self.data.design.shape[0]))
            doubtful = self._norms <= np.maximum(10.0 * self.accuracy.columns, share * self._before)
            for j in np.flatnonzero(eligible & doubtful).tolist():
                eligible[j] = not self.exact.depends(j)
        return eligible

    @cached_property
    def accuracy(self) -> Accuracy:
        """What standardising, and taking out covariates, did to the columns and the target."""
        data, problem = self.data, self.problem
        units, covariates = problem.units, problem.units.covariates
        n_samples, n_rows = data.design.shape[0], problem.design.shape[0]
        share = rounding(n_samples)
        power = float(np.vdot(problem.Y, problem.Y))
        removed = np.zeros((n_rows, 0))
        factor = share
        if covariates is not None:
            power += n_rows * float((covariates.target**2).sum())
            removed = covariates.directions / np.sqrt(n_rows)
            factor *= 1.0 + self._condition()
        before, size = self._before, np.sqrt(power)
        # Deviations are wrong by the square of what the means are.
        spread = np.abs(units.centre / units.scale) + self._norms / np.sqrt(data.total_weight)
        errors = factor + (share * spread) ** 2
        if not self.plain:  # values were moved to bounds that are known only so well
            errors = errors + share * (1.0 + spread)
        if self._from_products:
            mean = float(np.linalg.norm(units.target_mean)) * np.sqrt(data.total_weight)
            worst = float(errors[~problem.constant].max(initial=factor))
            share = self._condensation_error() + 2.0 * worst
            return Accuracy(before, size + mean, share, removed, True)
        if units.fit_intercept:
            root = np.ones(n_rows) if data.sample_weight is None else np.sqrt(data.sample_weight)
            removed = np.hstack([root[:, None], removed])
        removed = np.linalg.qr(removed)[0]
        return Accuracy(errors * before, factor * size, share, removed, exactly=self.exact)

    @cached_property
    def exact(self) -> ExactValues | None:
        """The same problem without a ridge in exact arithmetic, where that is possible."""
        return self._exact_data if self.plain else None

    @cached_property
    def _exact_data(self) -> ExactValues | None:
        """The data as they were given, in exact arithmetic."""
        data = self.data
        is_here = isinstance(data.design, DenseDesign | SparseDesign)
        if not (is_here and data.design.shape[0] <= MAX_SAMPLES):
            return None
        return ExactValues(
            lambda j: data.design.dense_columns([j])[:, 0],
            np.asarray(data.target.Y),
            data.sample_weight,
            free=np.flatnonzero(data.fixed.always).tolist(),
            intercept=self.problem.units.fit_intercept,
        )

    @cached_property
    def _norms(self) -> np.ndarray:
        return np.sqrt(self.problem.design.column_sq_norms().astype(np.float64))

    @cached_property
    def _before(self) -> np.ndarray:
        """Norms of the columns before covariates were taken out."""
        covariates, squares = self.problem.units.covariates, self._norms**2
        if covariates is not None:
            n_rows = self.problem.design.shape[0]
            squares = squares + n_rows * (covariates.explained**2).sum(axis=0)
        return np.sqrt(squares)

    @property
    def _from_products(self) -> bool:
        design, n_outputs = self.data.design, self.data.target.Y.shape[1]
        if not isinstance(design, RowBlockedDesign):
            return False
        return can_condense(design, n_outputs) or design.is_remote

    def _condensation_error(self) -> float:
        """What is left out of inner products, relative to norms."""
        problem, covariates = self.problem, self.problem.units.covariates
        (n_rows, n_features), n_outputs = problem.design.shape, problem.Y.shape[1]
        share = CONDENSED_ERROR * n_features
        # Of a column in the span of others, products with the target lose the root of that.
        n_varying = int((~problem.constant).sum())
        is_regular = isinstance(problem.design, DenseDesign) and covariates is None
        return share if is_regular and n_rows >= n_varying + n_outputs else float(np.sqrt(share))

    def _condition(self) -> float:
        """By how much errors of covariates grow when these are taken out."""
        covariates = self.problem.units.covariates
        assert covariates is not None
        lengths = np.linalg.norm(covariates.basis, axis=0)
        if len(lengths) == 0:
            return 0.0
        if len(lengths) < self._n_covariates():
            return 1.0 / rounding(self.data.design.shape[0])
        return float(lengths.max() / lengths.min())

    def _n_covariates(self) -> int:
        """How many of the covariates are independent; a direction that was left out may not be."""
        index = np.flatnonzero(self.data.fixed.always)
        if self._exact_data is None or self._may_need_clipping(index):
            return len(index)
        return self._exact_data.rank() - int(self.problem.units.fit_intercept)

    def _may_need_clipping(self, index: np.ndarray) -> bool:
        """Whether some of these columns say something else than they did before they were clipped.

        One with two values only does not: it still has two.
        """
        if self.clip is None:
            return False
        weights = self.data.sample_weight
        for j in index:
            column = self.data.design.dense_columns([j])[:, 0].astype(np.float64)
            mean = np.average(column, weights=weights)
            spread = np.sqrt(np.average((column - mean) ** 2, weights=weights))
            inside = np.abs(column - mean).max() <= self.clip * spread * (1.0 - 1e-9)
            if not inside and len(np.unique(column)) > 2:
                return True
        return False


# -- whether data are the same -------------------------------------------------------------------


def target_digest(data: TrainingData) -> str:
    """What tells targets and weights apart."""
    made = hashlib.sha256()
    for rows in _slices(data.target.Y.shape):
        made.update(np.ascontiguousarray(data.target.Y[rows], dtype=np.float64).tobytes())
    if data.sample_weight is not None:
        made.update(np.ascontiguousarray(data.sample_weight).tobytes())
    return made.hexdigest()


def feature_digest(data: TrainingData) -> str | None:
    """What tells one X from another, whatever holds it; None where X is not in memory."""
    design = data.design
    if not isinstance(design, DenseDesign | SparseDesign):
        return None
    held = sparse.csr_array(design.matrix) if isinstance(design, SparseDesign) else design.array
    made = hashlib.sha256(repr(design.shape).encode())
    made.update(np.broadcast_to(np.float64(design.unit), (design.shape[1],)).tobytes())
    for rows in _slices(design.shape):
        part = sparse.csr_array(held[rows], dtype=np.float64, copy=True)
        part.eliminate_zeros()
        part.sort_indices()
        for piece in (np.diff(part.indptr), part.indices):
            made.update(np.ascontiguousarray(piece, dtype=np.int64).tobytes())
        made.update(np.ascontiguousarray(part.data).tobytes())
    return made.hexdigest()


def _slices(shape: tuple[int, ...]) -> Iterator[slice]:
    return slices(shape[0], max(1, _DIGEST_ENTRIES // max(1, shape[1])))


# Accuracy of the relaxations that say how far sizes have to be searched for a price.
SIZE_ACCURACY = 1e-3


@dataclass(frozen=True)
class ExactSupports:
    """What the search found, what is proven about it, and whether an interrupt cut it short.

    With ``any_size`` the proof is about sets of all sizes, by what they cost in all.
    """

    supports: SupportsBySize
    proven: BestSubsets
    n_nodes: int
    any_size: bool
    interrupted: bool

    def result(self, count: int, tol: float) -> tuple[Result[SupportsBySize], str]:
        """How the search for a number of features went, and what would help."""
        values = np.asarray(self.supports.path.objective)
        gap, finished = self.proven.gap(count, any_size=self.any_size)
        remedy = "raise the solver's time_limit"
        if finished:
            remedy = (
                "some columns are so nearly collinear that double precision cannot decide: drop "
                "near-duplicates, or increase ridge"
            )
        trace = values[1:].tolist()
        return (
            Result(self.supports, float(values[-1]), gap, self.n_nodes, gap <= tol, trace),
            remedy,
        )


def exact_supports(
    greedy: GreedySearch,
    proof: Proof,
    n_steps: int,
    stop: EndRule | None,
    time_limit: float,
    callback: Callback | None,
) -> ExactSupports:
    """Greedy first, then exact on the problem of ``proof`` with the prices that greedy has.

    Sets of all sizes compete where there is a ``lam``, those of each size otherwise.
    """
    start, lam = greedy.supports(n_steps, stop).solution, greedy.selector.lam
    proof = replace(proof, prices=start.charges(0.0 if lam is None else lam))
    supports = list(start.path.supports)
    if lam is not None:
        longest = min(sizes_worth_searching(proof.search, start.path), n_steps)
        if longest > len(start.path):
            start = greedy.supports(longest, None).solution
        supports = _extend_supports(start, proof.search.choices, longest)
    elif stop is None:
        supports = _extend_supports(start, proof.search.choices, n_steps)
    interrupted, any_size = False, lam is not None
    solver = BestSubsetSearch(supports, any_size, time_limit=time_limit)
    try:
        found = solver.solve(proof.search, callback=callback)
    except KeyboardInterrupt:
        if solver.best is None:  # it came before there was anything to keep
            raise
        found, interrupted = solver.best, True
    ordered = _order_supports(start, found.solution, proof, greedy.problem.design.dtype)
    return ExactSupports(ordered, found.solution, found.n_iter, any_size, interrupted)


def _extend_supports(start: SupportsBySize, eligible: np.ndarray, n_most: int) -> list[np.ndarray]:
    """Supports of all sizes: where greedy search finds nothing to add, other features follow."""
    supports = [support for support in start.path.supports if eligible[support].all()]
    last = supports[-1]
    others = np.setdiff1d(np.flatnonzero(eligible), last)
    others = others[np.argsort(-start.alone[others], kind="stable")]
    for feature in others[: max(0, n_most - len(last))]:
        last = np.append(last, feature)
        supports.append(last)
    return supports


def sizes_worth_searching(search: BoundSearch, path: Path) -> int:
    """The largest number of features that could pay for itself, by a proven bound."""
    n_open = int(search.choices.sum())
    costs = [
        float(search.value(support).high[0] + search.size_costs(len(support)))
        for support in path.supports
    ]
    best = min(costs) * (1.0 + 1e-12)
    most = int(np.searchsorted(search.cheapest(), best, side="right")) - 1
    if not search.has_ridge or most == 0:
        return most
    longest = min(max(len(path), 1), most)
    while True:
        found = search.solve(longest, tol=SIZE_ACCURACY).solution
        bounds = found.dual.bounds(n_open, search.ridge)
        worth = np.flatnonzero(bounds + search.size_costs(np.arange(len(bounds))) <= best)
        furthest = min(int(worth.max(initial=0)), most)
        if furthest <= longest:
            return longest
        longest = furthest


def _order_supports(
    start: SupportsBySize, found: BestSubsets, proof: Proof, dtype: np.dtype
) -> SupportsBySize:
    """The exact supports with their own order, scores and fits."""
    path, problem = found.path, proof.problem
    # A column of a group that covariates explain is in no fit: what is left of it is rounding.
    problem = replace(problem, design=blank_columns(problem.design, ~proof.eligible))
    known = np.unique(np.concatenate([start.columns(support) for support in path.supports]))
    model = replace(SupportLeastSquares.factorise(problem, known, proof.ridge), dtype=dtype)
    longest, gains = replace(start, model=model).entry(path.supports[-1], path.supports[-1][:0])
    paid = np.array([proof.search.inside(support) for support in path.supports])
    values = 0.5 * np.maximum(np.asarray(path.objective) - paid, 0.0)
    ordered = Path([*path.supports[:-1], longest], objective=values, optimality=path.optimality)
    leftover = start.leftover.copy()
    leftover[longest] = 0.0
    constant = start.constant.copy()
    constant[np.unique(np.concatenate(path.supports))] = False
    return replace(
        start, path=ordered, model=model, gains=gains, leftover=leftover, constant=constant
    )
