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
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpotrf, dtrtri

from ...design import DesignMatrix
from ...design.base import MAX_COPY_BYTES
from ...design.dense import DenseDesign
from ..losses.base import Loss
from ..losses.cox import Cox
from .ridge_fit import Model, RidgeFit, hessian_columns

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

    def product(self, V: np.ndarray) -> np.ndarray:
        """X'V, in double precision."""
        V = np.asfortranarray(V, dtype=self.design.dtype)
        return np.asarray(self.design.rmatmul(V), dtype=np.float64)

    def columns(self, support: ArrayLike) -> np.ndarray:
        """The free columns and those of a support, in double precision."""
        chosen = self.design.dense_columns(np.asarray(support, dtype=np.int64))
        return np.asfortranarray(np.hstack([self.free, chosen]), dtype=np.float64)

    def penalty(self, n_features: int) -> np.ndarray:
        """Ridge of every column of :meth:`columns`."""
        return np.repeat([0.0, self.ridge], [self.free.shape[1], n_features])

    @cached_property
    def _copy(self) -> np.ndarray | None:
        """What x'Hx is summed from again and again, where a copy of X is cheap."""
        if not isinstance(self.design, DenseDesign) or self.design.array.nbytes > MAX_COPY_BYTES:
            return None
        X = self.design.array
        return self.loss.arranged(X) if isinstance(self.loss, Cox) else X**2

    def weighted_squares(self, h: np.ndarray) -> np.ndarray:
        """Sum of h x^2 for all columns."""
        if self._copy is not None:
            return np.asarray(h.astype(self.design.dtype) @ self._copy, dtype=np.float64)
        if not h.sum() > 0.0:
            return np.zeros(self.design.shape[1])
        means, variances = self.design.column_moments(h)
        return np.asarray(h.sum() * (variances + means**2))

    def squares(self, fit: RidgeFit) -> np.ndarray:
        """x'Hx of all columns, for a loss of one output."""
        loss, (n_samples, n_features) = self.loss, self.design.shape
        if not isinstance(loss, Cox):
            known = fit.derivatives
            return self.weighted_squares(loss.curvature(fit.F)[:, 0] if known is None else known[1])
        if self._copy is not None:
            return loss.quadratic_forms(fit.F, self._copy)
        step = max(1, MAX_COPY_BYTES // (8 * n_samples))
        blocks = (np.arange(at, min(at + step, n_features)) for at in range(0, n_features, step))
        columns = (loss.arranged(self.design.dense_columns(block)) for block in blocks)
        return np.concatenate([loss.quadratic_forms(fit.F, block) for block in columns])


class Entrant(NamedTuple):
    """What a quadratic model knows of columns that are not in it.

    Attributes
    ----------
    cross : ndarray of shape (n_entering, n_columns)
        Products with the columns that are.
    own : ndarray of shape (n_entering, n_entering)
        Products with each other.
    slope : ndarray of shape (n_entering, n_outputs)
        Minus the gradient.
    """

    cross: np.ndarray
    own: np.ndarray
    slope: np.ndarray


class Change(NamedTuple):
    """A change of a support that promises to lower the objective.

    Attributes
    ----------
    decrease : float
        What it promises.
    place : int or None
        Which feature of the support leaves.
    feature : int
        Which one enters.
    entrants : list of Entrant
        One per part of the model.
    """

    decrease: float
    place: int | None
    feature: int
    entrants: list[Entrant]


class Part(NamedTuple):
    """The quadratic model 1/2 w'Kw - b'w of some outputs, on the columns of a support."""

    outputs: slice
    K: np.ndarray
    b: np.ndarray


def changed_model(
    parts: list[Part], places: np.ndarray, entrants: list[Entrant] | None = None
) -> Model:
    """The model on the columns at ``places``, where those that enter follow after the support's."""
    found = []
    for i, (outputs, K, b) in enumerate(parts):
        if entrants is not None:
            cross, own, slope = entrants[i]
            q, p = len(K), len(own)
            wider = np.empty((q + p, q + p))
            wider[:q, :q], wider[q:, :q], wider[:q, q:], wider[q:, q:] = K, cross, cross.T, own
            K, b = wider, np.concatenate([b, slope])
        found.append((outputs, K[places][:, places], b[places]))
    return found


class Neighbours:
    """Predicted changes of the objective around a fitted support.

    Attributes
    ----------
    gains : ndarray of shape (n_features,)
        What adding a feature gains; 0 for those that cannot be added.
    costs : ndarray of shape (n_support,)
        What dropping each feature of the support costs.
    parts : list of Part
        The quadratic model.
    """

    gains: np.ndarray
    costs: np.ndarray
    parts: list[Part]

    def __init__(self, problem: RidgeLikelihood, A: np.ndarray, support: list[int], fit: RidgeFit):
        ridge, n_free = problem.ridge, problem.free.shape[1]
        self._ridge, self._W, self._open = ridge, fit.W, problem.eligible.copy()
        self._open[support] = False
        penalty = problem.penalty(len(support))
        C, self.parts, self._rest = None, [], []
        self.gains, self.costs = np.zeros(problem.design.shape[1]), np.zeros(len(support))
        for outputs, HA, squares in _hessians(problem, A, fit):
            K = A.T @ HA
            K[np.diag_indices(len(K))] += penalty
            # Of L L' = K, the inverse of L.
            inverse, L = _inverse_factor(K)
            V = HA @ inverse.T
            if C is None:  # one reading of X for both
                known = fit.derivatives
                G = problem.loss.gradient(fit.F) if known is None else known[0][:, None]
                both = problem.product(np.hstack([G, V]))
                C, B = -both[:, : G.shape[1]], both[:, G.shape[1] :]
            else:
                B = problem.product(V)
            nu = squares - np.einsum("ij,ij->i", B, B)
            nu[nu <= SPENT * squares] = 0.0
            if ridge == 0.0:
                self._open &= nu > 0.0
            k = np.einsum("ij,ij->j", inverse, inverse)[n_free:]
            w = fit.W[n_free:, outputs]
            self._rest.append((C[:, outputs], nu, B, inverse[:, n_free:], k, w, squares, L))
            self.parts.append(Part(outputs, K, K @ fit.W[:, outputs]))
            with np.errstate(divide="ignore", invalid="ignore"):
                self.gains += 0.5 * np.einsum("ij,ij->i", C[:, outputs], C[:, outputs]) / (nu + ridge)
            self.costs += 0.5 * (w**2).sum(axis=1) / k
        self.gains[~self._open] = 0.0

    def change(self, decrease: float, place: int | None, feature: int) -> Change:
        """A change, with what is needed for a fit that starts from the model."""
        entrants = []
        for part, (C, _, B, _, _, _, squares, L) in zip(self.parts, self._rest, strict=True):
            cross = (L @ B[feature])[None]
            slope = C[feature] + cross @ self._W[:, part.outputs]
            entrants.append(Entrant(cross, squares[feature].reshape(1, 1) + self._ridge, slope))
        return Change(decrease, place, feature, entrants)

    def exchanges(self, count: int) -> list[tuple[float, int, int]]:
        """The most promising (decrease, place of the one that leaves, newcomer).

        For each of the features that are cheapest to drop its best replacement, and the best of all
        others.
        """
        places, leaving = np.flatnonzero(self._open), np.argsort(self.costs)[:CHEAPEST]
        if not len(places) or not len(leaving):
            return []
        table = np.zeros((len(places), len(leaving)))
        for C, nu, B, inverse, k, w, *_ in self._rest:
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


def _inverse_factor(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of L and L, where L L' is K, a little lifted."""
    if not len(K):
        return K, K
    lifted = K.copy()
    lifted[np.diag_indices(len(K))] += 1e-13 * np.diag(K).max()
    L, info = dpotrf(lifted, lower=True)
    if info:
        raise np.linalg.LinAlgError("a Hessian is not positive")
    return dtrtri(L, lower=True)[0], L


def _hessians(
    problem: RidgeLikelihood, A: np.ndarray, fit: RidgeFit
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Outputs that share a Hessian, its product with A, and x'Hx of all columns of X."""
    loss, m, F = problem.loss, problem.loss.n_outputs, fit.F
    if m == 1:
        h = None if fit.derivatives is None else fit.derivatives[1]
        yield slice(None), hessian_columns(loss, F[:, 0], A, h), problem.squares(fit)
    elif m > MAX_SEPARATE:
        h = loss.diagonal(F).sum(axis=1) / (m - 1)
        yield slice(None), h[:, None] * A, problem.weighted_squares(h)
    else:
        for k, h in enumerate(loss.diagonal(F).T * (m / (m - 1))):
            yield slice(k, k + 1), h[:, None] * A, problem.weighted_squares(h)
