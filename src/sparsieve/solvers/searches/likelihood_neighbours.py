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

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from ...design import DesignMatrix
from ...design.base import MAX_COPY_BYTES
from ...design.dense import DenseDesign
from ..losses.base import Loss
from ..losses.cox import CANCELLED, Cox
from ..paths.quadratic import factorised
from .ridge_fit import RidgeFit

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

    @cached_property
    def squares(self) -> DesignMatrix | None:
        """The squares of X, where a copy is cheap: they are summed with new weights every step."""
        if isinstance(self.design, DenseDesign) and self.design.array.nbytes <= MAX_COPY_BYTES:
            return DenseDesign(self.design.array**2)
        return None

    def weighted_squares(self, h: np.ndarray) -> np.ndarray:
        """Sum of h x^2 for all columns."""
        if self.squares is not None:
            found = self.squares.rmatmul(h[:, None].astype(self.design.dtype))
            return np.asarray(found[:, 0], dtype=np.float64)
        if not h.sum() > 0.0:
            return np.zeros(self.design.shape[1])
        means, variances = self.design.column_moments(h)
        return np.asarray(h.sum() * (variances + means**2))

    def columns(self, support: ArrayLike) -> np.ndarray:
        """The free columns and those of a support, in double precision."""
        chosen = self.design.dense_columns(np.asarray(support, dtype=np.int64))
        return np.asfortranarray(np.hstack([self.free, chosen]), dtype=np.float64)

    def penalty(self, n_features: int) -> np.ndarray:
        """Ridge of every column of :meth:`columns`."""
        return np.repeat([0.0, self.ridge], [self.free.shape[1], n_features])


class Neighbours:
    """Predicted changes of the objective around a fitted support.

    Attributes
    ----------
    gains : ndarray of shape (n_features,)
        What adding a feature gains; 0 for those that cannot be added.
    costs : ndarray of shape (n_support,)
        What dropping each feature of the support costs.
    """

    gains: np.ndarray
    costs: np.ndarray

    def __init__(self, problem: RidgeLikelihood, A: np.ndarray, support: list[int], fit: RidgeFit):
        design, loss, ridge = problem.design, problem.loss, problem.ridge
        self._free, self._ridge = problem.free.shape[1], ridge
        self._open = problem.eligible.copy()
        self._open[support] = False
        C = -self._product(design, loss.gradient(fit.F))
        penalty = problem.penalty(len(support))
        self._parts = []
        self.gains, self.costs = np.zeros(design.shape[1]), np.zeros(len(support))
        for outputs, h, HA, squares in _hessians(problem, A, fit.F):
            K = A.T @ HA
            K[np.diag_indices(len(K))] += penalty + CANCELLED * (h @ A**2)
            L = factorised(K) if len(K) else K
            if L is None:
                raise ValueError(
                    "features of this size make the curvature of the likelihood overflow; pass "
                    "standardize=True, or X in other units"
                )
            B = self._product(design, solve_triangular(L, HA.T, lower=True).T if len(K) else HA)
            nu = squares - np.einsum("ij,ij->i", B, B)
            nu[nu <= SPENT * squares] = 0.0
            if ridge == 0.0:
                self._open &= nu > 0.0
            inverse = solve_triangular(L, np.eye(len(K)), lower=True)
            k = np.einsum("ij,ij->j", inverse, inverse)[self._free :]
            w = fit.W[self._free :, outputs]
            part = (C[:, outputs], nu, B, inverse[:, self._free :], k, w)
            self._parts.append(part)
            with np.errstate(divide="ignore", invalid="ignore"):
                self.gains += 0.5 * (part[0] ** 2).sum(axis=1) / (nu + ridge)
            self.costs += 0.5 * (w**2).sum(axis=1) / k
        self.gains[~self._open] = 0.0

    @staticmethod
    def _product(design: DesignMatrix, R: np.ndarray) -> np.ndarray:
        R = np.asfortranarray(R, dtype=design.dtype)
        return np.asarray(design.rmatmul(R), dtype=np.float64)

    def exchanges(self, count: int) -> list[tuple[float, int, int]]:
        """The most promising (decrease, place of the one that leaves, newcomer).

        For each of the features that are cheapest to drop its best replacement, and the best of all
        others.
        """
        places, leaving = np.flatnonzero(self._open), np.argsort(self.costs)[:CHEAPEST]
        if not len(places) or not len(leaving):
            return []
        table = np.zeros((len(places), len(leaving)))
        for C, nu, B, inverse, k, w in self._parts:
            k, w, c = k[leaving], w[leaving], C[places]
            Z = B[places] @ (inverse[:, leaving] / np.sqrt(k))
            after = nu[places, None] + Z**2 + self._ridge
            if w.shape[1] == 1:  # most often, and simpler
                table += (c + Z * (w[:, 0] / np.sqrt(k))) ** 2 / after
                continue
            along = (c**2).sum(axis=1)[:, None] + 2.0 * Z * (c @ w.T / np.sqrt(k))
            table += (along + Z**2 * ((w**2).sum(axis=1) / k)) / after
        table = 0.5 * table - self.costs[leaving]
        best, flat = table.argmax(axis=0), table.ravel()
        top = np.argpartition(flat, -min(count, len(flat)))[-count:]
        chosen = {(int(best[j]), j) for j in range(table.shape[1])}
        chosen |= {divmod(int(place), table.shape[1]) for place in top}
        found = [(float(table[i, j]), int(leaving[j]), int(places[i])) for i, j in chosen]
        return sorted(found, reverse=True)[:count]


def _hessians(problem: RidgeLikelihood, A: np.ndarray, F: np.ndarray):
    """Outputs that share a Hessian, a diagonal above it, HA, and x'Hx of all columns of X."""
    loss, m = problem.loss, problem.loss.n_outputs
    if m == 1:
        HA = loss.hessian_product(F, A[:, None])[:, 0]
        yield slice(None), loss.curvature(F)[:, 0], HA, _squares(problem, F)
    elif m > MAX_SEPARATE:
        h = loss.diagonal(F).sum(axis=1) / (m - 1)
        yield slice(None), h, h[:, None] * A, problem.weighted_squares(h)
    else:
        for k, h in enumerate(loss.diagonal(F).T * (m / (m - 1))):
            yield slice(k, k + 1), h, h[:, None] * A, problem.weighted_squares(h)


def _squares(problem: RidgeLikelihood, F: np.ndarray) -> np.ndarray:
    loss, design = problem.loss, problem.design
    if not isinstance(loss, Cox):
        return problem.weighted_squares(loss.curvature(F)[:, 0])
    n_samples, n_features = design.shape
    step = max(1, MAX_COPY_BYTES // (8 * n_samples))
    blocks = (np.arange(at, min(at + step, n_features)) for at in range(0, n_features, step))
    return np.concatenate(
        [loss.quadratic_forms(F, design.dense_columns(block).astype(float)) for block in blocks]
    )
