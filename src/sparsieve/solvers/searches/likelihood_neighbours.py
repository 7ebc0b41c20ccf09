"""What every change to a support would do, by the quadratic model of the loss at its fit.

With H the Hessian of the loss at the fit, A the columns of the support (and those without a
penalty), K = A'HA + P, B = X'HA, Z = B K^-1 and C minus the gradient, X'grad:

    adding i gains             ||C_i||^2 / 2 (nu_i + ridge), nu_i = x_i'Hx_i - B_i K^-1 B_i'
    dropping j costs           ||w_j||^2 / 2 k_j, where k_j is the diagonal of K^-1
    adding i after that gains  ||C_i + z_ij w_j / k_j||^2 / 2 (nu_i + z_ij^2 / k_j + ridge)

Both products with X take one reading of it. With several outputs every output has a diagonal
Hessian of its own, s p (1 - p) m / (m - 1), which is exact for two classes and for equal ones;
beyond ``MAX_SEPARATE`` outputs they share the mean of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dtrtri

from ..._beside import (
    column_squares,
    convert_like,
    copy_array,
    in_double,
    read_entries,
    strongest,
    take_columns,
    where,
    write_entries,
    zeros_like_entries,
)
from ...design import DesignMatrix
from ...design.base import MAX_COPY_BYTES, slices
from ...design.dense import DenseDesign
from ..engines.group_products import GroupColumns
from ..losses.base import Loss
from ..losses.cox import Cox
from ..losses.expansion import CompiledExpansion
from ..paths.free import factorise
from .redundancy import Redundancy
from .ridge_fit import Model, Part, RidgeFit, hessian_products

# Columns that Cox reads at a time.
COX_COLUMNS = 512
# Outputs up to which each has a Hessian of its own.
MAX_SEPARATE = 25
# How many of the features that are cheapest to drop are considered for an exchange.
DROPS_CONSIDERED = 10
# Samples up to which the Hessian of Cox's likelihood is taken to a device as a matrix; with more,
# columns are fetched from there.
MAX_HESSIAN = 5000
# Of a column that others give, rounding leaves less than this share of its squared norm.
MIN_RESIDUAL_SHARE = 1e-9


@dataclass(frozen=True)
class RidgeLikelihood:
    """The problem: L(XW + free B) + ridge / 2 ||W||^2 with few rows of W that are not zero.

    With groups of columns, what is chosen are groups: "features" are these then. Columns that are
    in several of them are separate copies to the search, see :mod:`.likelihood_unions`.

    Attributes
    ----------
    design : DesignMatrix
    loss : Loss
    free : ndarray of shape (n_samples, n_free)
        Columns without a penalty that are always in the model: ones, covariates.
    ridge : float
    eligible : ndarray of bool of shape (n_features,)
        Columns to choose from.
    groups : sequence of arrays of int or None
        The columns of every group; empty ones are never chosen. None chooses columns.
    redundancy : Redundancy or None
        Which features are passed over as near copies.
    """

    design: DesignMatrix
    loss: Loss
    free: np.ndarray
    ridge: float
    eligible: np.ndarray
    groups: Sequence[np.ndarray] | None = None
    redundancy: Redundancy | None = None

    @cached_property
    def members(self) -> GroupColumns | None:
        """Columns of groups; those with more columns than samples are factorised."""
        return None if self.groups is None else GroupColumns(self.design, self.groups)

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many coefficients every feature has."""
        if self.members is None:
            return np.ones(self.design.shape[1], dtype=np.int64)
        return np.array([len(columns) for columns in self.members.groups])

    @cached_property
    def is_open(self) -> np.ndarray:
        """Mask of what can be chosen."""
        return self.eligible if self.groups is None else self.sizes > 0

    @cached_property
    def native_open(self) -> Any:
        """The same beside X; groups are worked on by the host."""
        return self.is_open if self.groups is not None else self.design.to_native(self.is_open)

    def product(self, rows: np.ndarray) -> Any:
        """Rows times X, in double precision and beside X; those with groups on the host."""
        if self.members is not None:
            return np.ascontiguousarray(self.members.product(rows.T).T)
        if self.is_small and self.design.dtype == np.float64:
            assert isinstance(self.design, DenseDesign)
            return np.asarray(rows @ self.design.array)  # faster than X'rows' and a transposition
        V = np.ascontiguousarray(rows, dtype=self.design.dtype).T
        found = self.design.native_projection(V).T
        if isinstance(found, np.ndarray):
            return np.ascontiguousarray(found, dtype=np.float64)
        return in_double(found)

    def take_columns(self, support: ArrayLike) -> np.ndarray:
        """The columns of a support, in double precision."""
        features = np.asarray(support, dtype=np.int64)
        if self.members is not None and self.members.large:
            found = [self.members.columns(g) for g in features.tolist()]
            return np.asfortranarray(np.hstack([self.free[:, :0], *found]))
        if self.groups is not None:
            none = np.empty(0, dtype=np.int64)
            features = np.concatenate([none, *(self.groups[g] for g in features.tolist())])
        return np.asfortranarray(self.design.dense_columns(features), dtype=np.float64)

    def columns(self, support: ArrayLike) -> np.ndarray:
        """The free columns and those of a support."""
        return np.asfortranarray(np.hstack([self.free, self.take_columns(support)]))

    def expand_support(self, support: list[int], W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns of X, and coefficients of these from those of :meth:`take_columns`."""
        if self.groups is None or self.members is None:
            return np.array(support, dtype=np.int64), W
        places, parts, first = [np.arange(0)], [W[:0]], 0
        for g in support:
            own, first = W[first : first + self.sizes[g]], first + self.sizes[g]
            places.append(self.groups[g])
            parts.append(self.members.factor(g)[1].T @ own if g in self.members.large else own)
        return np.concatenate(places), np.vstack(parts)

    def penalty(self, n_columns: int) -> np.ndarray:
        """Ridge of every column of :meth:`columns`."""
        return np.repeat([0.0, self.ridge], [self.free.shape[1], n_columns])

    @cached_property
    def is_small(self) -> bool:
        """Whether X is an array that is worth its own ways to be read."""
        return isinstance(self.design, DenseDesign) and self.design.array.nbytes <= MAX_COPY_BYTES

    @cached_property
    def means(self) -> np.ndarray:
        """The mean of every column of a small X."""
        return np.asarray(self.design.array.mean(axis=0), dtype=np.float64)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Hessian:
    """The Hessian of some outputs, for a loss of one output or with that of others left out.

    Attributes
    ----------
    problem : RidgeLikelihood
    F : ndarray of shape (n_samples, n_outputs)
        Where it is.
    outputs : slice
        The outputs that share it.
    diagonal : ndarray of shape (n_samples,)
        All of it, except for Cox.
    """

    problem: RidgeLikelihood
    F: np.ndarray
    outputs: slice
    diagonal: np.ndarray

    @property
    def place(self) -> tuple[Loss, np.ndarray]:
        """The loss and where it is, as :mod:`.ridge_fit` asks for them."""
        return self.problem.loss, np.ascontiguousarray(self.F[:, 0])

    def squares(self) -> Any:
        """The numbers x'Hx of all columns of X, beside it."""
        problem, h, design = self.problem, self.diagonal, self.problem.design
        if isinstance(problem.loss, Cox):
            return self._squares_of_cox(problem.loss)
        if problem.is_small:
            assert isinstance(design, DenseDesign)
            weights, total = h.astype(design.dtype), np.zeros(design.shape[1])
            for rows in design.row_blocks():
                total += weights[rows] @ np.square(design.array[rows])
            return total
        if not h.sum() > 0.0:
            return zeros_like_entries(problem.native_open)
        means, variances = design.native_moments(h)
        return h.sum() * (variances + means**2)

    def _squares_of_cox(self, loss: Cox) -> Any:
        design: Any = self.problem.design
        n_samples, n_features = design.shape
        if design.is_on_device and n_samples <= MAX_HESSIAN:
            H = loss.hessian_product(self.F, np.eye(n_samples)[:, None, :])[:, 0]
            return design.quadratic_forms(H).clip(0.0)
        if self.problem.is_small and loss.compiled is not None:
            here, means = CompiledExpansion(loss, self.F), self.problem.means
            if np.isfinite(here.value):  # a few columns at a time, in the order of the loss
                X, order, found = design.array, loss.compiled.order, np.empty(n_features)
                for some in slices(n_features, COX_COLUMNS):
                    block = np.subtract(X[order, some], means[some], order="C")
                    found[some] = here.squares(block)
                return found
        step = max(1, MAX_COPY_BYTES // (8 * n_samples))
        places = (np.arange(at, min(at + step, n_features)) for at in range(0, n_features, step))
        blocks = (design.dense_columns(some).astype(float) for some in places)
        forms = np.concatenate([loss.quadratic_forms(self.F, block) for block in blocks])
        return convert_like(forms, self.problem.native_open)


def hessians(problem: RidgeLikelihood, fit: RidgeFit) -> Iterator[Hessian]:
    """One, or one for every output of a few."""
    loss, m, F = problem.loss, problem.loss.n_outputs, fit.F
    if m == 1:
        known = fit.derivatives
        diagonal = loss.diagonal(F)[:, 0] if known is None else known[1]
        yield Hessian(problem, F, slice(None), diagonal)
    elif m > MAX_SEPARATE:
        yield Hessian(problem, F, slice(None), loss.diagonal(F).sum(axis=1) / (m - 1))
    else:
        for k, h in enumerate(loss.diagonal(F).T * (m / (m - 1))):
            yield Hessian(problem, F, slice(k, k + 1), h)


class Neighbours:
    """Predicted changes of the objective around a fitted support.

    Attributes
    ----------
    gains : array of shape (n_features,)
        What adding a feature gains; 0 for those that cannot be added. It lies beside X.
    costs : ndarray of shape (n_support,)
        What dropping each feature of the support costs.
    model : list of Part
        The quadratic model.
    """

    gains: Any
    costs: np.ndarray
    model: list[Part]

    def __init__(
        self, problem: RidgeLikelihood, A: np.ndarray, support: list[int], fit: RidgeFit
    ) -> None:
        self._problem, self._support, self._W = problem, support, fit.W
        self._open = copy_array(problem.native_open)
        write_entries(self._open, np.array(support, dtype=np.int64), False)
        self.gains, self.costs = zeros_like_entries(self._open), np.zeros(len(support))
        known, penalty = fit.derivatives, problem.penalty(len(fit.W) - problem.free.shape[1])
        G = problem.loss.gradient(fit.F) if known is None else known[0][:, None]
        self.model, self._factors = [], []
        C: Any = None
        self._rest: list[tuple[Any, ...]] = []
        for hessian in hessians(problem, fit):
            outputs, (HA, K) = (
                hessian.outputs,
                hessian_products(*hessian.place, A.T, hessian.diagonal),
            )
            K[np.diag_indices(len(K))] += penalty
            L = factorise(K) if len(K) else K
            if L is None:
                raise ValueError(
                    "features of this size make the curvature of the likelihood overflow; pass "
                    "standardize=True, or X in other units"
                )
            inverse = dtrtri(L, lower=1)[0] if len(K) else K
            first = G.shape[1] if C is None else 0  # one reading of X for both
            rows = np.empty((first + len(K), len(A)))
            rows[:first] = -G.T[:first]
            np.matmul(inverse, HA, out=rows[first:])
            both = problem.product(rows)
            C, B = both[:first] if C is None else C, both[first:]
            self.model.append(Part(outputs, K, K @ fit.W[:, outputs]))
            self._factors.append(L)
            self._judge(hessian, C[outputs], B, inverse)
        self.gains[~self._open] = 0.0

    def _judge(self, hessian: Hessian, c: Any, B: Any, inverse: np.ndarray) -> None:
        """Add gains and costs of some outputs, from C, B K^(-1/2) and K^(-1/2)."""
        ridge, n_free = self._problem.ridge, self._problem.free.shape[1]
        squares = hessian.squares()
        nu = squares - column_squares(B)
        nu[nu <= MIN_RESIDUAL_SHARE * squares] = 0.0
        if ridge == 0.0:
            self._open &= nu > 0.0
        w, inverse = self._W[n_free:, hessian.outputs], inverse[:, n_free:]
        k = np.einsum("ij,ij->j", inverse, inverse)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.gains += 0.5 * column_squares(c) / (nu + ridge)
        self.costs += 0.5 * np.einsum("ij,ij->i", w, w) / k
        roots = np.sqrt(k)
        self._rest.append((c, B, squares, nu, inverse / roots, w / roots[:, None]))

    def shut(self, features: np.ndarray) -> None:
        """Let none of these features enter."""
        write_entries(self._open, features, False)
        write_entries(self.gains, features, 0.0)

    def wider(self, features: list[int]) -> Model:
        """The model with these features after the support, for one of them to enter."""
        found = []
        for (outputs, K, b), L, rest in zip(self.model, self._factors, self._rest, strict=True):
            places, own = self._entering(features, rest)
            c, B, q = rest[0], rest[1], len(K)
            cross = (L @ take_columns(B, places)).T
            wide = np.zeros((q + len(cross),) * 2)
            wide[:q, :q], wide[q:, :q], wide[:q, q:], wide[q:, q:] = K, cross, cross.T, own
            slopes = take_columns(c, places).T + cross @ self._W[:, outputs]
            found.append(Part(outputs, wide, np.vstack([b, slopes])))
        return found

    def _entering(self, features: list[int], rest: tuple) -> tuple[np.ndarray, np.ndarray]:
        """The columns of features, and their products with each other within a feature."""
        places = np.array(features, dtype=np.int64)
        return places, np.diag(read_entries(rest[2], places) + self._problem.ridge)

    def exchanges(
        self, count: int, prices: np.ndarray | float = 0.0
    ) -> list[tuple[float, int, int]]:
        """The most promising (decrease, place of the one that leaves, newcomer).

        ``prices`` are those of all features, or the same for each; decreases include them.
        """
        costs = self.costs - np.broadcast_to(prices, len(self._open))[self._support]
        leaving = np.argsort(costs)[:DROPS_CONSIDERED]
        if not count or not self._open.any() or not len(leaving):
            return []
        table = self._table(leaving)
        table -= convert_like(costs[leaving, None], table)
        table -= where(self._open, prices, np.inf)
        values, places = strongest(table.reshape(-1), count)
        known = values > -np.inf
        out, into = np.divmod(places[known], table.shape[1])
        found = (values[known], leaving[out], into)
        return list(zip(*(part.tolist() for part in found), strict=True))

    def _table(self, leaving: np.ndarray) -> Any:
        """What every feature would gain in the absence of each of these, beside X."""
        table: Any = None
        for c, B, _, nu, inverse, w in self._rest:
            rows, w = convert_like(inverse[:, leaving].T, B), convert_like(w[leaving], B)
            Z = rows @ B
            squares = Z**2
            if len(c) == 1:  # most often, and simpler
                gained = w * Z
                gained += c[0]
                gained *= gained
            else:
                gained = column_squares(c) + 2.0 * Z * (w @ c)
                gained += squares * (w**2).sum(axis=1)[:, None]
            squares += nu + self._problem.ridge
            gained /= squares
            table = gained if table is None else table + gained
        table *= 0.5
        return table
