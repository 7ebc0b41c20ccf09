"""Boosted trees on coded columns: what splits on each column gain.

The trees are those of scikit-learn's HistGradientBoosting, grown one at a time on columns that are
coded once for all fits. Several outputs share their trees: the structure of each tree follows a
random projection of the gradients, and its leaves have a value for every output.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import entr, logit

from ..._sklearn import grown_tree
from ...solvers.losses.cox import Cox
from ...solvers.losses.separable import Poisson
from ...validation.target import Target

MAX_CODES = 64  # of a column; half of them below SMALL samples
SMALL = 1000
N_BINS = MAX_CODES + 1  # the last one holds missing values
QUANTILE_SAMPLES = 4000  # rows that the quantiles are taken from, or up to twice as many
BLOCK = 256  # columns that are sorted at a time
ALL_COLUMNS = 10  # up to so many a tree may use them all


@dataclass(frozen=True)
class CodedColumns:
    """Columns as small whole numbers, in the order of their values.

    Attributes
    ----------
    codes : ndarray of uint8 of shape (n_samples, n_columns)
        In the order of Fortran; ``MAX_CODES`` where a value is missing.
    n_codes : ndarray of shape (n_columns,)
        How many codes a column has.
    has_gaps : ndarray of bool of shape (n_columns,)
        Whether values of a column are missing.
    """

    codes: np.ndarray
    n_codes: np.ndarray
    has_gaps: np.ndarray

    @property
    def constant(self) -> np.ndarray:
        """Columns of one value without gaps, or of gaps alone."""
        return (self.n_codes <= 1) & (~self.has_gaps | (self.codes == MAX_CODES).all(axis=0))

    def columns(self, places: np.ndarray) -> CodedColumns:
        """Some of the columns."""
        return CodedColumns(self.codes.T[places].T, self.n_codes[places], self.has_gaps[places])

    def rows(self, places: np.ndarray) -> CodedColumns:
        """Some of the rows."""
        return replace(self, codes=np.take(self.codes.T, places, axis=1).T)

    def append(self, others: CodedColumns) -> CodedColumns:
        """These columns and others."""
        return CodedColumns(
            np.asfortranarray(np.hstack([self.codes, others.codes])),
            np.concatenate([self.n_codes, others.n_codes]),
            np.concatenate([self.has_gaps, others.has_gaps]),
        )


def code_columns(X: np.ndarray) -> CodedColumns:
    """Columns by their quantiles, or by their values where these are few."""
    n_samples, n_columns = X.shape
    n_wanted = MAX_CODES if n_samples >= SMALL else MAX_CODES // 2
    step = max(1, n_samples // QUANTILE_SAMPLES)
    codes = np.empty((n_samples, n_columns), dtype=np.uint8, order="F")
    n_codes = np.full(n_columns, n_wanted, dtype=np.uint32)
    has_gaps = np.zeros(n_columns, dtype=bool)
    for first in range(0, n_columns, BLOCK):
        block = np.asfortranarray(X[:, first : first + BLOCK])
        gaps = np.isnan(block)
        ordered = np.sort(block[::step], axis=0)
        places = np.linspace(0, len(ordered) - 1, n_wanted + 1)[1:-1].astype(np.intp)
        edges = ordered[places]
        has_ties = (edges[1:] == edges[:-1]).any(axis=0)
        for k, j in enumerate(range(first, first + block.shape[1])):  # searched in compiled code
            own, column = edges[:, k], block[:, k]
            has_gaps[j] = gaps[:, k].any()
            if has_gaps[j] or has_ties[k] or len(column) <= n_wanted:
                own = _edges(column[~gaps[:, k]], n_wanted, step)
                n_codes[j] = len(own) + 1
            codes[:, j] = np.searchsorted(own, column, side="left")
            if has_gaps[j]:
                codes[gaps[:, k], j] = MAX_CODES
    return CodedColumns(codes, n_codes, has_gaps)


def _edges(known: np.ndarray, n_wanted: int, step: int) -> np.ndarray:
    """Upper ends of all codes but the last one: all values where these are few."""
    ordered = np.sort(known[::step])
    values = np.unique(ordered)
    if len(values) <= n_wanted:
        values = np.unique(known)
    if len(values) <= n_wanted:
        return values[:-1]
    edges = np.unique(ordered[np.linspace(0, len(ordered) - 1, n_wanted + 1)[1:-1].astype(np.intp)])
    return edges[:-1] if edges[-1] == values[-1] else edges


class Squares:
    """Half of the squared error of several columns of numbers, each in units of its spread."""

    def __init__(self, Y: np.ndarray, weights: np.ndarray | None = None) -> None:
        Y = np.asarray(Y, dtype=np.float64)
        self.weights: np.ndarray = np.ones(len(Y)) if weights is None else weights
        self._is_plain = weights is None
        self._centre = np.average(Y, axis=0, weights=self.weights)
        Y = Y - self._centre
        self._unit = np.sqrt(np.average(Y**2, axis=0, weights=self.weights))
        self.Y: np.ndarray = np.divide(Y, self._unit, out=np.zeros_like(Y), where=self._unit > 0)

    def in_units(self, F: np.ndarray) -> np.ndarray:
        """Predictions in the units of the target."""
        return self._centre + F * self._unit

    def null(self) -> tuple[np.ndarray, float]:
        """(means, error) of the best model without features."""
        return np.zeros(self.Y.shape[1]), 0.5 * float(self.weights @ (self.Y**2).sum(axis=1))

    def gradient(self, F: np.ndarray) -> np.ndarray:
        """The derivatives."""
        return self.weights[:, None] * (F - self.Y)

    def diagonal(self, F: np.ndarray) -> np.ndarray:
        """The second derivatives, one row where all are the same."""
        ones = np.ones((1, F.shape[1]))
        return ones if self._is_plain else self.weights[:, None] * ones


class Shares:
    """The log loss of two classes, with one output, or of more, by nothing but probabilities.

    The losses of the solvers keep digits where a class is all but certain, for which trees would
    pay a third of their time.
    """

    def __init__(self, codes: np.ndarray, n_classes: int, weights: np.ndarray | None) -> None:
        self.Y: np.ndarray = np.eye(n_classes)[codes][:, int(n_classes == 2) :]
        self.weights: np.ndarray = np.ones(len(codes)) if weights is None else weights

    def null(self) -> tuple[np.ndarray, float]:
        """(predictors, loss) of the best model without features."""
        p = np.average(self.Y, axis=0, weights=self.weights)
        is_single = len(p) == 1
        loss = entr(p).sum() + entr(1.0 - p).sum() * is_single
        with np.errstate(divide="ignore"):
            return logit(p) if is_single else np.log(p), float(self.weights.sum() * loss)

    def _probabilities(self, F: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            if F.shape[1] == 1:
                return 1.0 / (1.0 + np.exp(-F))
            P = np.exp(F - F.max(axis=1, keepdims=True))
            return P / P.sum(axis=1, keepdims=True)

    def gradient(self, F: np.ndarray) -> np.ndarray:
        """The derivatives."""
        return self.weights[:, None] * (self._probabilities(F) - self.Y)

    def diagonal(self, F: np.ndarray) -> np.ndarray:
        """The second derivatives."""
        P = self._probabilities(F)
        return self.weights[:, None] * P * (1.0 - P)


def choose_loss(target: Target, weights: np.ndarray | None) -> Any:
    """The loss that trees lower: logistic, multinomial, Poisson, Cox or squares."""
    if target.task == "survival":
        return Cox(target.survival, weights)
    if target.task == "counts":
        return Poisson(np.asarray(target.Y, dtype=np.float64)[:, 0], weights)
    if target.codes is None:
        return Squares(target.Y, weights)
    classes, codes = np.unique(target.codes, return_inverse=True)
    if len(classes) < 2:
        return Squares(target.Y, weights)
    return Shares(codes, len(classes), weights)


@dataclass(frozen=True)
class Boosting:
    """How trees are boosted.

    Attributes
    ----------
    n_trees, n_leaves : int
        Trees, and leaves of each.
    rate : float
        Share of a leaf's value that is taken.
    l2 : float
        Added to the Hessian of every leaf, in units of the mean Hessian of a sample.
    price : float
        What a split must gain, in units of what a split of noise gains.
    columns : float
        Share of the columns that a tree may use.
    """

    n_trees: int = 12
    n_leaves: int = 16
    rate: float = 0.3
    l2: float = 1.0
    price: float = 4.0
    columns: float = 0.8

    def fit(
        self,
        table: CodedColumns,
        loss: Any,
        rng: np.random.Generator,
        start: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(share of the target that splits on every column explain, linear predictors).

        Trees go on from the predictors ``start``, where these are given.
        """
        n_samples, n_columns = table.codes.shape
        F = np.tile(np.asarray(loss.null()[0], dtype=np.float64), (n_samples, 1))
        power = _power(loss.gradient(F), loss.diagonal(F))
        F = F if start is None else start.copy()
        gains, leaf = np.zeros(n_columns), np.empty(n_samples, dtype=np.intp)
        min_leaf = 20 if n_samples >= SMALL else max(3, n_samples // 50)
        n_used = n_columns
        if n_columns > ALL_COLUMNS:
            n_used = max(ALL_COLUMNS, round(self.columns * n_columns))
        for _ in range(self.n_trees):
            G, H = loss.gradient(F), loss.diagonal(F)
            g, h = G, H
            if G.shape[1] > 1:
                direction = rng.standard_normal(G.shape[1])
                g, h = G @ direction, H @ direction**2
            g, h = g.ravel().astype(np.float32), h.ravel().astype(np.float32)
            places = np.sort(rng.permutation(n_columns)[:n_used])
            some = table if n_used == n_columns else table.columns(places)
            mean = float(h.mean())
            noise = float((g.astype(np.float64) ** 2).mean()) / max(mean, 1e-300)
            if not noise > 0:
                break
            tree = grown_tree(
                some.codes,
                some.n_codes,
                some.has_gaps,
                g,
                h,
                n_bins=N_BINS,
                n_leaves=self.n_leaves,
                min_leaf=min_leaf,
                min_gain=self.price * noise,
                l2=self.l2 * mean,
            )
            if not len(tree.features):
                continue
            np.add.at(gains, places[tree.features], tree.gains)
            sums = np.add.reduceat(G[tree.samples], tree.starts, axis=0)
            sizes = np.diff(tree.starts, append=n_samples)
            if len(H) == 1:
                curvature = sizes[:, None] * H
            else:
                curvature = np.add.reduceat(H[tree.samples], tree.starts, axis=0)
            values = -self.rate * sums / (curvature + self.l2 * H.mean(axis=0) + 1e-12)
            leaf[tree.samples] = np.repeat(np.arange(len(sizes)), sizes)
            F += values[leaf]
        unit = self.rate * (2.0 - self.rate)
        return gains * unit / power, F


def _power(G: np.ndarray, H: np.ndarray) -> float:
    """What there is to explain, per output: the squared error, or as much as samples."""
    return max(float(((G**2).sum(axis=0) / np.maximum(H.mean(axis=0), 1e-300)).mean()), 1e-300)


STUMPS = Boosting(n_trees=60, n_leaves=2, rate=0.2)
