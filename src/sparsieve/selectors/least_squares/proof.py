"""The problem that a proof is about, in double precision, and how far from the data it may be."""

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
    can_condense,
    in_double,
)
from ...design.base import slices
from ...solvers.exact.accuracy import Accuracy, rounding
from ...solvers.exact.bounds import BoundSearch
from ...solvers.exact.exact_values import MAX_SAMPLES, ExactValues
from ...validation.training_data import TrainingData
from ..preparation import Prepared

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
