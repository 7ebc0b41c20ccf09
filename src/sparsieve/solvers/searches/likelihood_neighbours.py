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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dtrtri

from ...design import DesignMatrix
from ...design.base import MAX_COPY_BYTES
from ...design.dense import DenseDesign
from ..losses.base import Loss
from ..losses.cox import Cox
from ..paths.quadratic import factorised
from .ridge_fit import Model, Part, RidgeFit, hessian_rows

MAX_SEPARATE = 25
# How many of the features that are cheapest to drop are considered for an exchange.
CHEAPEST = 10
# Of a column that others give, rounding leaves less than this share.
SPENT = 1e-9


@dataclass(frozen=True)
class RidgeLikelihood:
    """The problem: L(XW + free B) + ridge / 2 ||W||^2 with few rows of W that are not zero.

    Attributes
    ----------
    design : DesignMatrix
    loss : Loss
    free : ndarray of shape (n_samples, n_free)
        Columns without a penalty that are always in the model: ones, covariates.
    ridge : float
    eligible : ndarray of bool of shape (n_features,)
        Columns to choose from.
    """

    design: DesignMatrix
    loss: Loss
    free: np.ndarray
    ridge: float
    eligible: np.ndarray

    def product(self, rows: np.ndarray) -> np.ndarray:
        """Rows times X, in double precision."""
        if self._copy is not None and self.design.dtype == np.float64:
            return np.asarray(rows @ self.design.array)  # faster than X'rows' and a transposition
        V = np.ascontiguousarray(rows, dtype=self.design.dtype).T
        return np.ascontiguousarray(self.design.rmatmul(V).T, dtype=np.float64)

    def chosen(self, support: ArrayLike) -> np.ndarray:
        """The columns of a support, in double precision."""
        found = self.design.dense_columns(np.asarray(support, dtype=np.int64))
        return np.asfortranarray(found, dtype=np.float64)

    def columns(self, support: ArrayLike) -> np.ndarray:
        """The free columns and those of a support."""
        return np.asfortranarray(np.hstack([self.free, self.chosen(support)]))

    def penalty(self, n_features: int) -> np.ndarray:
        """Ridge of every column of :meth:`columns`."""
        return np.repeat([0.0, self.ridge], [self.free.shape[1], n_features])

    @cached_property
    def _copy(self) -> np.ndarray | None:
        """What x'Hx is summed from again and again, where a copy of X is cheap.

        Squares; for Cox deviations from the mean, rows in the order of the compiled loss.
        """
        if not isinstance(self.design, DenseDesign) or self.design.array.nbytes > MAX_COPY_BYTES:
            return None
        X, compiled = self.design.array, self.loss.compiled
        if isinstance(self.loss, Cox) and compiled is not None:
            return np.ascontiguousarray(X[compiled[5]] - X.mean(axis=0), dtype=np.float64)
        return X**2

    def weighted_squares(self, h: np.ndarray) -> np.ndarray:
        """Sum of h x^2 for all columns."""
        if self._copy is not None:
            return np.asarray(h.astype(self.design.dtype) @ self._copy, dtype=np.float64)
        if not h.sum() > 0.0:
            return np.zeros(self.design.shape[1])
        means, variances = self.design.column_moments(h)
        return np.asarray(h.sum() * (variances + means**2))

    def squares(self, fit: RidgeFit) -> np.ndarray:
        """The numbers x'Hx of all columns, for a loss of one output."""
        loss, (n_samples, n_features) = self.loss, self.design.shape
        if not isinstance(loss, Cox):
            known = fit.derivatives
            return self.weighted_squares(loss.curvature(fit.F)[:, 0] if known is None else known[1])
        if loss.compiled is not None and self._copy is not None:
            from ..losses._loss_kernels import cox_squares

            found, sums = np.empty(n_features), np.empty((2, n_features))
            scratch, terms = np.empty((3, n_samples)), np.empty((len(loss.compiled[6]), 7))
            f = np.ascontiguousarray(fit.F[:, 0])
            if np.isfinite(cox_squares(loss.compiled, f, self._copy, scratch, terms, sums, found)):
                return np.maximum(found, 0.0)
        step = max(1, MAX_COPY_BYTES // (8 * n_samples))
        blocks = (np.arange(at, min(at + step, n_features)) for at in range(0, n_features, step))
        return np.concatenate(
            [
                loss.quadratic_forms(fit.F, self.design.dense_columns(b).astype(float))
                for b in blocks
            ]
        )


class Neighbours:
    """Predicted changes of the objective around a fitted support.

    Attributes
    ----------
    gains : ndarray of shape (n_features,)
        What adding a feature gains; 0 for those that cannot be added.
    costs : ndarray of shape (n_support,)
        What dropping each feature of the support costs.
    model : Model
        The quadratic model.
    """

    gains: np.ndarray
    costs: np.ndarray
    model: list[Part]

    def __init__(
        self, problem: RidgeLikelihood, A: np.ndarray, support: list[int], fit: RidgeFit
    ) -> None:
        ridge, n_free = problem.ridge, problem.free.shape[1]
        self._ridge, self._W, self._open = ridge, fit.W, problem.eligible.copy()
        self._open[support] = False
        known, penalty = fit.derivatives, problem.penalty(len(support))
        G = problem.loss.gradient(fit.F) if known is None else known[0][:, None]
        C, self.model, self._rest = None, [], []
        self.gains, self.costs = np.zeros(problem.design.shape[1]), np.zeros(len(support))
        for outputs, HA, squares in _hessians(problem, A.T, fit):
            K = HA @ A
            K[np.diag_indices(len(K))] += penalty
            L = factorised(K) if len(K) else K
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
            nu = squares - np.einsum("ij,ij->j", B, B)
            nu[nu <= SPENT * squares] = 0.0
            if ridge == 0.0:
                self._open &= nu > 0.0
            c, w, inverse = C[outputs], fit.W[n_free:, outputs], inverse[:, n_free:]
            k = np.einsum("ij,ij->j", inverse, inverse)
            self._rest.append((c, nu, B, inverse / np.sqrt(k), w / np.sqrt(k)[:, None], squares, L))
            self.model.append(Part(outputs, K, K @ fit.W[:, outputs]))
            with np.errstate(divide="ignore", invalid="ignore"):
                self.gains += 0.5 * np.einsum("ij,ij->j", c, c) / (nu + ridge)
            self.costs += 0.5 * np.einsum("ij,ij->i", w, w) / k
        self.gains[~self._open] = 0.0

    def wider(self, features: np.ndarray) -> Model:
        """The model with these features after the support, for one of them to enter."""
        found = []
        for (outputs, K, b), (c, _, B, _, _, squares, L) in zip(
            self.model, self._rest, strict=True
        ):
            cross, q = (L @ B[:, features]).T, len(K)
            wide = np.zeros((q + len(features),) * 2)
            wide[:q, :q], wide[q:, :q], wide[:q, q:] = K, cross, cross.T
            places = np.arange(q, len(wide))
            wide[places, places] = squares[features] + self._ridge
            slopes = c[:, features].T + cross @ self._W[:, outputs]
            found.append(Part(outputs, wide, np.vstack([b, slopes])))
        return found

    def exchanges(self, count: int) -> list[tuple[float, int, int]]:
        """The most promising (decrease, place of the one that leaves, newcomer)."""
        leaving = np.argsort(self.costs)[:CHEAPEST]
        if not self._open.any() or not len(leaving):
            return []
        table = np.zeros((len(leaving), len(self._open)))
        for c, nu, B, inverse, w, *_ in self._rest:
            Z = inverse[:, leaving].T @ B
            squares = Z**2
            if len(c) == 1:  # most often, and simpler
                gained = w[leaving] * Z
                gained += c[0]
                gained *= gained
            else:
                gained = np.einsum("ij,ij->j", c, c) + 2.0 * Z * (w[leaving] @ c)
                gained += squares * (w[leaving] ** 2).sum(axis=1)[:, None]
            squares += nu + self._ridge
            gained /= squares
            table += gained
        table *= 0.5
        table -= self.costs[leaving, None]
        table[:, ~self._open] = -np.inf
        flat = table.ravel()
        top = np.argpartition(flat, -min(count, len(flat)))[-count:]
        top = top[np.argsort(-flat[top], kind="stable")]
        out, into = np.divmod(top[flat[top] > -np.inf], table.shape[1])
        return list(
            zip(table[out, into].tolist(), leaving[out].tolist(), into.tolist(), strict=True)
        )


def _hessians(
    problem: RidgeLikelihood, rows: np.ndarray, fit: RidgeFit
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Outputs that share a Hessian H, H x of all rows, and x'Hx of all columns of X."""
    loss, m, F = problem.loss, problem.loss.n_outputs, fit.F
    if m == 1:
        h = None if fit.derivatives is None else fit.derivatives[1]
        yield slice(None), hessian_rows(loss, F[:, 0], rows, h), problem.squares(fit)
    elif m > MAX_SEPARATE:
        h = loss.diagonal(F).sum(axis=1) / (m - 1)
        yield slice(None), rows * h, problem.weighted_squares(h)
    else:
        for k, h in enumerate(loss.diagonal(F).T * (m / (m - 1))):
            yield slice(k, k + 1), rows * h, problem.weighted_squares(h)
