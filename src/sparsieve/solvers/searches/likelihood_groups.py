"""Groups of columns in forward selection by likelihood.

Groups that share columns, with one coefficient for each column.

The search ranks groups as if each had a column of its own; what is kept of every size is the fit on
the union of their columns, with the ridge of each once.

The changes of :mod:`.likelihood_neighbours` with groups of columns in place of features.

With E_i = X_i'HX_i + ridge I - B_i K^-1 B_i' for group i and D_j the block of K^-1 for group j:

    adding i gains             tr(C' E^-1 C) / 2 of C = C_i and E = E_i
    dropping j costs           tr(W_j' D_j^-1 W_j) / 2
    adding i after that gains  the same of C_i + Z_ij D_j^-1 W_j and E_i + Z_ij D_j^-1 Z_ij'

Of noise, 2 E_i^(-1/2) C_i C_i' E_i^(-1/2) would have as many directions of variance
h = s / (s + ridge) as E_i - ridge I has eigenvalues s: the gain of group i is a sum of h chi^2 / 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag, solve_triangular
from scipy.stats import gamma

from ...design.base import MAX_COPY_BYTES
from ..engines.group_products import RANK_TOL, solved_blocks
from .group_forward import SAFE_RIDGE
from .likelihood_neighbours import Hessian, Neighbours, RidgeLikelihood
from .ridge_fit import hessian_rows, ridge_fit

if TYPE_CHECKING:
    from .likelihood_forward import Selected


def columns_once(problem: RidgeLikelihood, support: ArrayLike) -> np.ndarray:
    """The free columns and those of a support, each once; of many columns, a factor."""
    if problem.groups is None or problem.members is None or not problem.members.overlap:
        return problem.columns(support)
    groups = np.asarray(support, dtype=np.int64).tolist()
    members = np.concatenate([np.arange(0), *(problem.groups[g] for g in groups)])
    A, _ = _factor(problem, np.unique(members))
    return np.asfortranarray(np.hstack([problem.free, A]))


def selected_once(problem: RidgeLikelihood, found: Selected, scale: float) -> Selected:
    """What was selected, with one coefficient for a column of several groups."""
    columns = np.unique(found.columns)
    if len(columns) == len(found.columns):
        return found
    A, back = _factor(problem, columns)
    both = np.asfortranarray(np.hstack([problem.free, A]))
    fit = ridge_fit(problem.loss, both, problem.penalty(A.shape[1]), scale=scale)
    n_free = problem.free.shape[1]
    W = fit.W[n_free:] if back is None else back @ fit.W[n_free:]
    return replace(found, columns=columns, W=W, free=fit.W[:n_free], objective=fit.objective)


def _factor(problem: RidgeLikelihood, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Columns of X; where they outnumber the samples L of X_U = LQ', and Q."""
    X = np.asarray(problem.design.dense_columns(columns), dtype=np.float64)
    if len(columns) <= len(X):
        return X, None
    Q, R = np.linalg.qr(X.T)
    return R.T, Q


class GroupNeighbours(Neighbours):
    """Predicted changes of the objective around a fitted set of groups."""

    def _judge(self, hessian: Hessian, c: np.ndarray, B: np.ndarray, inverse: np.ndarray) -> None:
        problem = self._problem
        w = self._W[:, hessian.outputs]
        blocks = []
        for members, columns, own in _products(hessian):
            along = B[:, columns].transpose(1, 2, 0)
            left = own - along @ along.transpose(0, 2, 1)
            size = np.einsum("gpp->gp", own).max(axis=1) + problem.ridge
            blocks.append((members, columns, own, left, size))
            self.gains[members] += 0.5 * self._group_gains(
                left, c[:, columns].transpose(1, 2, 0), size
            )
        ends = problem.free.shape[1] + np.cumsum([0, *problem.sizes[self._support]])
        out = []
        for i, (first, last) in enumerate(pairwise(ends)):
            own = inverse[:, first:last]
            root = np.linalg.cholesky(own.T @ own)  # of D_j
            rows = solve_triangular(root, np.hstack([own.T, w[first:last]]), lower=True)
            out.append((rows[:, : len(inverse)], rows[:, len(inverse) :]))
            self.costs[i] += 0.5 * float((out[-1][1] ** 2).sum())
        self._rest.append((c, B, blocks, out))

    def _group_gains(self, left: np.ndarray, c: np.ndarray, size: np.ndarray) -> np.ndarray:
        """The numbers tr(C'E^-1 C), where ``left`` is E without the ridge."""
        ridge, tol = self._problem.ridge, RANK_TOL[np.dtype(self._problem.design.dtype)]
        regular = ridge > SAFE_RIDGE * float(size.max(initial=0.0))
        E = left + ridge * np.eye(left.shape[1])
        return np.maximum(
            (c * solved_blocks(E, c, tol * size, regular=regular)).sum(axis=(1, 2)), 0.0
        )

    def _entering(self, features: list[int], rest: tuple) -> tuple[np.ndarray, np.ndarray]:
        known = {
            int(g): own[i]
            for members, _, own, *_ in rest[2]
            for i, g in enumerate(members.tolist())
            if g in features
        }
        assert self._problem.members is not None  # these are the neighbours of groups
        groups, ridge = self._problem.members.groups, self._problem.ridge
        columns = np.concatenate([np.arange(0), *(groups[g] for g in features)])
        return columns, block_diag(*(known[g] for g in features)) + ridge * np.eye(len(columns))

    def _table(self, leaving: np.ndarray) -> np.ndarray:
        table = np.zeros((len(leaving), len(self._open)))
        for c, B, blocks, out in self._rest:
            for row, place in enumerate(leaving.tolist()):
                inverse, w = out[place]
                Z = inverse @ B
                moved = c + w.T @ Z
                for members, columns, _, left, size in blocks:
                    along = Z[:, columns].transpose(1, 2, 0)
                    E, C = (
                        left + along @ along.transpose(0, 2, 1),
                        moved[:, columns].transpose(1, 2, 0),
                    )
                    table[row, members] += 0.5 * self._group_gains(E, C, size)
        return table

    def noise(self) -> tuple[np.ndarray, np.ndarray]:
        """What noise would gain in every group, and how many directions each has.

        The gain is the one that a group of noise exceeds with a probability of one in the number of
        groups, so that each size wins as often; the sum of chi^2 is taken for the gamma variable of
        the same mean and variance (Satterthwaite 1946).
        """
        problem, m = self._problem, self._problem.loss.n_outputs
        tol = RANK_TOL[np.dtype(problem.design.dtype)]
        mean, spread = np.zeros((2, len(self._open)))
        ranks = np.zeros(len(self._open), dtype=np.int64)
        for c, _, blocks, _ in self._rest:
            # Of redundant outputs one says nothing.
            outputs = len(c) * (m - 1) / m if problem.loss.is_redundant else len(c)
            for members, _, _, left, size in blocks:
                values = np.linalg.eigvalsh(left)
                values[values <= tol * size[:, None]] = 0.0
                ranks[members] = (values > 0.0).sum(axis=1)
                share = np.divide(values, values + problem.ridge, out=values, where=values > 0.0)
                mean[members] += outputs * share.sum(axis=1)
                spread[members] += outputs * (share**2).sum(axis=1)
        prices, some = np.zeros(len(mean)), mean > 0.0
        shape = 0.5 * mean[some] ** 2 / spread[some]
        level = 1.0 / max(int(some.sum()), 2)
        prices[some] = 0.5 * gamma.isf(level, shape, scale=mean[some] / shape)
        return prices, ranks


def _products(hessian: Hessian) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(groups, their columns, X_g'HX_g) for every size of a group."""
    sizes, members = hessian.problem.sizes, hessian.problem.members
    assert members is not None
    n_samples = len(hessian.F)
    for size in np.unique(sizes[sizes > 0]).tolist():
        own = np.flatnonzero(sizes == size)
        found = np.empty((len(own), size, size))
        step = max(1, MAX_COPY_BYTES // (8 * n_samples * size))
        for first in range(0, len(own), step):
            some = own[first : first + step]
            rows = np.ascontiguousarray(hessian.problem.take_columns(some).T)
            turned = hessian_rows(*hessian.place, rows, hessian.diagonal)
            turned = turned.reshape(len(some), size, n_samples)
            found[first : first + step] = rows.reshape(turned.shape) @ turned.transpose(0, 2, 1)
        yield own, np.array([members.groups[g] for g in own.tolist()]), found
