"""A support of very many features that knows what every change to it would do."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from ..._wings import load_entry
from ...design import DesignMatrix
from ...design import parallel_passes as stream
from .forward_scores import RANK_TOL

# The best addition (feature, gain) and the best exchange (which of the places given leaves, or -1,
# the feature that enters, decrease of the objective).
Changes = tuple[tuple[int, float], tuple[int, int, float]]


class TabledSupport:
    """A support of a design of any size; a change costs one product with the design at most.

    The table of the exchanges needs Z (n_features x n_selected), C and nu; they follow every
    change by rank-one updates in the precision of the design. What decides the objective, the
    few columns of the support with their H and W, is kept in double precision.
    """

    table: Any  # a HostTable, or the same beside X
    n_cheapest: int
    ridge: float

    def __init__(
        self,
        design: DesignMatrix,
        Y: np.ndarray,
        ridge: float,
        candidates: np.ndarray,
        n_steps: int,
        n_cheapest: int,
    ):
        self.ridge, self.n_cheapest = ridge, n_cheapest
        self.Y: np.ndarray = Y.astype(np.float64)
        self.order: list[int] = []
        self.objective: float = float(np.vdot(self.Y, self.Y))
        kind: Any = HostTable  # also where the table would outgrow an X on a device
        if design.is_on_device and 2 * (n_steps + 1) <= design.shape[0]:
            kind = load_entry("sparsieve.device", "swap_table")
        self.table = kind(design, Y, ridge, candidates, n_steps)
        self._features = np.empty(0, dtype=np.int64)  # in the order of the arrays below
        self._columns = np.zeros((design.shape[0], n_steps + 1), order="F")
        self._H = np.zeros((0, 0))
        self._W = np.zeros((0, Y.shape[1]))
        self._found: tuple | None = None

    def shut(self, features: np.ndarray, is_shut: bool) -> None:
        """Let none of these features enter, or let them again; they are outside."""
        self.table.shut(features, is_shut)
        self._found = None

    def best_addition(self) -> tuple[int, float]:
        return self._search()[0]

    def gains(self) -> np.ndarray:
        return self.table.gains()

    def add(self, feature: int) -> None:
        k = len(self._features)
        column, z = self.table.read_column(feature, k)
        chosen = self._columns[:, :k]
        v = column - chosen @ z
        # One step of refinement takes out what the updates of Z have lost to rounding.
        correction = self._H @ (chosen.T @ v - self.ridge * z)
        z += correction
        v -= chosen @ correction
        pivot = float(v @ v) + self.ridge * (1.0 + float(z @ z))
        r = (v @ self.Y) / pivot
        self.table.enter(feature, v, pivot, r, z)
        self._columns[:, k] = column
        self._W = np.vstack([self._W - z[:, None] * r, r])
        H = np.empty((k + 1, k + 1))
        H[:k, :k] = self._H + np.outer(z, z / pivot)
        H[:k, k] = H[k, :k] = -z / pivot
        H[k, k] = 1.0 / pivot
        self._H = H
        self._features = np.append(self._features, feature)
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
        self.table.leave(feature, place, h, w, row)
        self._columns[:, place] = self._columns[:, last]
        self._W = self._W[kept] - np.outer(row, w / h)
        self._H = self._H[np.ix_(kept, kept)] - np.outer(row, row / h)
        self._features = self._features[kept]
        self.order.remove(feature)
        self.objective += float(w @ w) / h
        self._found = None

    def cheapest(self) -> int:
        return int(self._features[np.argmin(self._costs())])

    def best_exchange(self) -> tuple[tuple[int, ...], tuple[int, ...], float]:
        return self._search()[1]

    def _search(self):
        """Best addition and best exchange; one pass finds both, so they are kept together."""
        if self._found is None:
            costs = self._costs()
            places = np.argsort(costs, kind="stable")[: self.n_cheapest]
            addition, (out, into, decrease) = self.table.best_changes(
                places, self._W[places], np.diag(self._H)[places], costs[places]
            )
            leaving = () if out < 0 else (int(self._features[places[out]]),)
            self._found = addition, (leaving, (into,), decrease)
        return self._found

    def _costs(self) -> np.ndarray:
        return (self._W * self._W).sum(axis=1) / np.diag(self._H)


class HostTable:
    """C, Z and nu of all features, which follow every change of a support.

    NumPy arrays, searched by compiled code; ``DeviceTable`` is the same beside an X on a device.
    """

    design: DesignMatrix
    ridge: float

    def __init__(
        self,
        design: DesignMatrix,
        Y: np.ndarray,
        ridge: float,
        candidates: np.ndarray,
        n_steps: int,
    ):
        dtype = np.dtype(design.dtype)
        self.design, self.ridge = design, ridge
        self._ger = get_blas_funcs("ger", dtype=dtype)
        self._C = np.asfortranarray(design.rmatmul(Y.astype(dtype, copy=False)))
        self._nu = design.column_sq_norms().astype(dtype, copy=True)
        spent = RANK_TOL[dtype] * self._nu if ridge == 0 else np.zeros_like(self._nu)
        # How much must be left of a feature that comes: infinitely much of those that are closed.
        self._least = np.where(candidates & (self._nu > 0), spent, np.inf).astype(dtype)
        self._own_least = self._least.copy()  # of features that are neither inside nor shut out
        self._Z = np.zeros((design.shape[1], n_steps + 1), dtype=dtype, order="F")

    def read_column(self, feature: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The column of a feature, and its coefficients on a support of this size."""
        column = self.design.dense_columns([feature])[:, 0].astype(np.float64)
        return column, self._Z[feature, :size].astype(np.float64)

    def enter(
        self, feature: int, v: np.ndarray, pivot: float, r: np.ndarray, z: np.ndarray
    ) -> None:
        """Let a feature enter, with the coefficients z on the support and the rest v."""
        k = len(z)
        q = self.design.rmatmul(v[:, None].astype(self._C.dtype))[:, 0]
        scaled = (q / pivot).astype(q.dtype)
        self._update(self._C, -1.0, q, r)
        self._nu -= q * scaled
        if k:
            self._update(self._Z[:, :k], -1.0, scaled, z)
        self._Z[:, k] = scaled
        self._least[feature] = np.inf

    def leave(self, feature: int, place: int, h: float, w: np.ndarray, row: np.ndarray) -> None:
        """Let the feature at a place leave; the last of the support takes its place."""
        last = len(row)
        z = self._Z[:, place].copy()
        self._update(self._C, 1.0, z, w / h)
        self._nu += z * (z / h).astype(z.dtype)
        self._Z[:, place] = self._Z[:, last]
        if last:
            self._update(self._Z[:, :last], -1.0, z, row / h)
        self._least[feature] = self._own_least[feature]

    def shut(self, features: np.ndarray, is_shut: bool) -> None:
        """Let none of these features enter, or let them again; they are outside."""
        self._least[features] = np.inf if is_shut else self._own_least[features]

    def gains(self) -> np.ndarray:
        """What every feature outside would gain."""
        squares = np.einsum("ij,ij->i", self._C, self._C, dtype=np.float64)
        free = self._nu > self._least
        left = self._nu + np.float64(self.ridge)
        return np.divide(squares, left, out=np.zeros_like(squares), where=free)

    def best_changes(
        self, places: np.ndarray, W: np.ndarray, h: np.ndarray, costs: np.ndarray
    ) -> Changes:
        """The best addition, and the best exchange for a feature at one of these places."""
        from ._swap_kernels import BLOCK, best_changes

        dtype = self._C.dtype
        given = (
            *(self._C.T, self._Z.T, self._nu, self._least, places),
            *(W.astype(dtype), h.astype(dtype), costs.astype(dtype), dtype.type(self.ridge)),
        )

        def work(begin: int, end: int) -> tuple:
            return best_changes(*given, np.empty((2, BLOCK), dtype), begin, end)

        n_features, n_outputs = self._C.shape
        size = n_features * (n_outputs + len(places))
        found = stream.in_strips(work, n_features, size, BLOCK)
        feature, gain = max((one[:2] for one in found), key=lambda one: one[1])
        into, out, decrease = max((one[2:] for one in found), key=lambda one: one[2])
        return (feature, float(gain)), (out, into, float(decrease))

    def _update(self, A: Any, sign: float, left: np.ndarray, right: np.ndarray) -> None:
        """A += sign * left right', in place."""
        self._ger(
            sign, left, right.astype(A.dtype), a=A, overwrite_x=0, overwrite_y=0, overwrite_a=1
        )
