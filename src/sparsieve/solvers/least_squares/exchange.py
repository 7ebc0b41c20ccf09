"""Exchanges on top of forward selection: better supports of every size, in one run.

Forward selection never takes back a choice. This search does: after every addition it exchanges
features of the support for others as long as that lowers the objective, and once the longest
support is reached it walks back down, dropping the cheapest feature and exchanging again. Of all
supports of one size that were visited, and those of the forward path, the best is kept, so the
result is never worse than plain forward selection.

Everything an exchange does to min ||Y - X_S W||^2 + ridge ||W||^2 is known in closed form. Let
H = (X_S'X_S + ridge I)^-1, Z = X'X_S H, C = X'(Y - X_S W) and nu_i the squared norm of what S
leaves of column i. Dropping j costs ||w_j||^2 / h_jj; adding i after that gains
||C_i + z_ij w_j / h_jj||^2 / (ridge + nu_i + z_ij^2 / h_jj).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from ...design import DesignMatrix
from ..base import Path, Result
from .forward import SPENT, ForwardSelection
from .swept_gram import SweptGram

# Up to this many features the Gram matrix is searched thoroughly, two-for-two exchanges included.
SMALL = 32
# On larger problems this many of the features that are cheapest to drop are considered for every
# exchange that is allowed before the support grows or shrinks again.
CHEAPEST = 4
# An exchange must lower the objective by this share of ||Y||^2, or rounding would drive it.
WORTHWHILE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


@dataclass(frozen=True)
class ExchangedSupports:
    """The best support of every size that was found; they need not be nested.

    Attributes
    ----------
    path : Path
        Supports and their objectives. A feature that came in by an exchange has the place of the
        one it replaced, all others are in order of entry.
    remaining : ndarray of shape (n_features,)
        What each feature would gain beyond the longest support; 0 for those in it or spent.
    """

    path: Path
    remaining: np.ndarray


class _Support(Protocol):
    """A support that knows what every change to it would do."""

    order: list[int]

    @property
    def objective(self) -> float: ...

    def best_addition(self) -> tuple[int, float]: ...

    def gains(self) -> np.ndarray: ...

    def add(self, feature: int) -> None: ...

    def cheapest(self) -> int: ...

    def remove(self, feature: int) -> None: ...

    def best_exchange(self) -> tuple[tuple[int, ...], tuple[int, ...], float]: ...


def swap_path(
    design: DesignMatrix,
    Y: np.ndarray,
    start: ForwardSelection,
    *,
    ridge: float,
    n_swaps: int = 1,
    eligible: np.ndarray | None = None,
) -> Result[ExchangedSupports]:
    """Improve every support of a forward path by exchanges.

    Parameters
    ----------
    design, Y, ridge, eligible : as handed to :func:`forward_path`.
    start : what this gave.
    n_swaps : largest number of exchanges between two changes of the size. Up to ``SMALL``
        features the search is thorough whatever this number: it exchanges one for one and two
        for two until nothing helps, and goes beyond the path and back.
    """
    n_features = design.shape[1]
    n_steps = len(start.path)
    supports = list(start.path.supports)
    objectives = np.array(start.path.objective)
    remaining = start.remaining
    least = WORTHWHILE[np.dtype(design.dtype)] * objectives[0]
    candidates = np.ones(n_features, dtype=bool) if eligible is None else eligible.copy()

    def record(support: _Support) -> None:
        nonlocal remaining
        k = len(support.order)
        if k <= n_steps and support.objective < objectives[k] - least:
            objectives[k] = support.objective
            supports[k] = np.array(support.order, dtype=np.int64)
            if k == n_steps:
                remaining = support.gains()

    support: _Support
    if n_features <= SMALL:
        support, top, rounds = SweptGram(design, Y, ridge, candidates), n_features, 10 * n_features
    else:
        support = _Streamed(design, Y, ridge, candidates, n_steps, CHEAPEST * n_swaps)
        top, rounds = n_steps, n_swaps
    while len(support.order) < top:
        feature, gain = support.best_addition()
        if not gain > 0:
            break
        support.add(feature)
        _exchange(support, rounds, least)
        record(support)
    while len(support.order) > 1:
        support.remove(support.cheapest())
        _exchange(support, rounds, least)
        record(support)
    objectives = np.maximum(objectives, 0.0)
    # The fit on every support is exact; nothing certifies the supports.
    found = ExchangedSupports(Path(supports, objective=objectives), remaining)
    return Result(found, float(objectives[-1]), 0.0, n_steps, True, objectives[1:].tolist())


def _exchange(support: _Support, rounds: int, least: float) -> None:
    """Exchange features as long as it pays."""
    for _ in range(rounds):
        out, into, decrease = support.best_exchange()
        if not decrease > least:
            return
        places = [support.order.index(feature) for feature in out]
        for feature in out:
            support.remove(feature)
        for feature in into:
            support.add(feature)
        # The newcomers were put last; let them take the places of those they replaced.
        rest = support.order[: -len(into)]
        for place, feature in sorted(zip(places, into, strict=True)):
            rest.insert(place, feature)
        support.order[:] = rest


class _Streamed:
    """A support of a design of any size; a change costs one product with the design at most.

    The table of the exchanges needs Z (n_features x n_selected), C and nu; they follow every
    change by rank-one updates in the precision of the design. What decides the objective, the
    few columns of the support with their H and W, is kept in double precision.
    """

    def __init__(self, design, Y, ridge, candidates, n_steps, n_cheapest):
        n_samples, n_features = design.shape
        dtype = np.dtype(design.dtype)
        self.design, self.ridge, self.n_cheapest = design, ridge, n_cheapest
        self.Y = Y.astype(np.float64)
        self.order: list[int] = []
        self.objective = float(np.vdot(self.Y, self.Y))
        self._ger = get_blas_funcs("ger", dtype=dtype)
        self._C = np.asfortranarray(design.rmatmul(Y.astype(dtype, copy=False)))
        self._norms = design.column_sq_norms().astype(dtype, copy=True)
        self._nu = self._norms.copy()
        self._spent = SPENT[dtype] * self._norms if ridge == 0 else np.zeros(n_features, dtype)
        self._open = candidates & (self._norms > 0)
        self._features = np.empty(0, dtype=np.int64)  # in the order of the arrays below
        self._Z = np.zeros((n_features, n_steps + 1), dtype=dtype, order="F")
        self._columns = np.zeros((n_samples, n_steps + 1), order="F")
        self._H = np.zeros((0, 0))
        self._W = np.zeros((0, Y.shape[1]))
        self._found: tuple | None = None

    def best_addition(self) -> tuple[int, float]:
        return self._search()[0]

    def gains(self) -> np.ndarray:
        squares = np.einsum("ij,ij->i", self._C, self._C, dtype=np.float64)
        free = self._open & (self._nu > self._spent)
        left = self._nu + np.float64(self.ridge)
        return np.divide(squares, left, out=np.zeros_like(squares), where=free)

    def add(self, feature: int) -> None:
        k = len(self._features)
        column = self.design.dense_columns([feature])[:, 0].astype(np.float64)
        chosen = self._columns[:, :k]
        z = self._Z[feature, :k].astype(np.float64)
        v = column - chosen @ z
        # One step of refinement takes out what the updates of Z have lost to rounding.
        correction = self._H @ (chosen.T @ v - self.ridge * z)
        z += correction
        v -= chosen @ correction
        pivot = float(v @ v) + self.ridge * (1.0 + float(z @ z))
        r = (v @ self.Y) / pivot
        q = self.design.rmatmul(v[:, None].astype(self._C.dtype))[:, 0]
        scaled = (q / pivot).astype(q.dtype)
        self._update(self._C, -1.0, q, r)
        self._nu -= q * scaled
        if k:
            self._update(self._Z[:, :k], -1.0, scaled, z)
        self._Z[:, k] = scaled
        self._columns[:, k] = column
        self._W = np.vstack([self._W - z[:, None] * r, r])
        H = np.empty((k + 1, k + 1))
        H[:k, :k] = self._H + np.outer(z, z / pivot)
        H[:k, k] = H[k, :k] = -z / pivot
        H[k, k] = 1.0 / pivot
        self._H = H
        self._features = np.append(self._features, feature)
        self._open[feature] = False
        self.order.append(feature)
        self.objective -= float(r @ r) * pivot
        self._found = None

    def remove(self, feature: int) -> None:
        last = len(self._features) - 1
        place = int(np.flatnonzero(self._features == feature)[0])
        # Close the gap with what is last: the order of the arrays means nothing.
        kept = np.arange(last + 1)
        kept[place] = last
        kept = kept[:last]
        h, w, row = self._H[place, place], self._W[place].copy(), self._H[place, kept]
        z = self._Z[:, place].copy()
        self._update(self._C, 1.0, z, w / h)
        self._nu += z * (z / h).astype(z.dtype)
        self._Z[:, place] = self._Z[:, last]
        self._columns[:, place] = self._columns[:, last]
        if last:
            self._update(self._Z[:, :last], -1.0, z, row / h)
        self._W = self._W[kept] - np.outer(row, w / h)
        self._H = self._H[np.ix_(kept, kept)] - np.outer(row, row / h)
        self._features = self._features[kept]
        self._open[feature] = True
        self.order.remove(feature)
        self.objective += float(w @ w) / h
        self._found = None

    def cheapest(self) -> int:
        return int(self._features[np.argmin(self._costs())])

    def best_exchange(self) -> tuple[tuple[int, ...], tuple[int, ...], float]:
        return self._search()[1]

    def _search(self):
        """Best addition and best exchange; one pass finds both, so they are kept together."""
        from ._exchange_kernels import best_changes

        if self._found is None:
            costs = self._costs()
            places = np.argsort(costs, kind="stable")[: self.n_cheapest]
            feature, gain, into, out, decrease = best_changes(
                self._C,
                self._Z,
                self._nu,
                self._spent,
                self._open,
                places,
                self._W[places],
                np.diag(self._H)[places],
                costs[places],
                self.ridge,
            )
            leaving = () if out < 0 else (int(self._features[places[out]]),)
            self._found = (feature, gain), (leaving, (into,), decrease)
        return self._found

    def _costs(self) -> np.ndarray:
        return (self._W * self._W).sum(axis=1) / np.diag(self._H)

    def _update(self, A, sign, left, right) -> None:
        """A += sign * left right', in place."""
        self._ger(
            sign, left, right.astype(A.dtype), a=A, overwrite_x=0, overwrite_y=0, overwrite_a=1
        )
