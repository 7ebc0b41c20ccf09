"""What a path of columns leaves of all other columns and of the target, without reading X again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaincc

from ..._beside import (
    column_squares,
    convert_like,
    copy_array,
    empty_rows,
    in_double,
    read_entries,
    row_squares,
    to_numpy,
    where,
    write_entries,
)
from ...design import DesignMatrix
from ..searches.forward_scores import CANDIDATES, RANK_TOL
from .dependence import Dependence, uneven_inflation

MAX_PRODUCTS = 1 << 29  # numbers that are kept of products with columns
COPY_CORR = 1.0 - 1e-7  # correlations from here on are 1 up to rounding


@dataclass(frozen=True)
class DistillationProblem:
    """What is tested.

    Parameters
    ----------
    design : DesignMatrix
        Centred columns of unit variance.
    target : ndarray of shape (n_samples, n_outputs)
        Orthonormal columns: what the covariates leave of the target.
    covariates : ndarray of shape (n_samples, n_covariates)
        Orthonormal and centred columns that every path starts with.
    eligible : ndarray of bool of shape (n_features,)
        The columns to test and to test with; no two of them are copies.
    dependence : Dependence or None
        Which samples are not independent, or of a spread of their own.
    is_beside : bool
        Whether arrays with an entry per column lie beside X, and not on the host.
    is_uneven : bool
        Whether every sample may have a spread of its own, as with several classes or a rare one.
        Tests then use the geometric mean of White's variance and the usual one: of few samples,
        the former is too uncertain to be taken whole where only what is above the latter counts.
    """

    design: DesignMatrix
    target: np.ndarray
    covariates: np.ndarray
    eligible: np.ndarray
    dependence: Dependence | None = None
    is_beside: bool = True
    is_uneven: bool = False

    def product(self, V: np.ndarray) -> Any:
        """X'V in double precision."""
        given = V.astype(self.design.dtype)
        if self.is_beside:
            return in_double(self.design.native_projection(given))
        return np.asarray(self.design.rmatmul(given), dtype=np.float64)

    def sq_norms(self) -> Any:
        """||x||^2 of every column, in double precision."""
        found = self.design.native_sq_norms()
        return in_double(found if self.is_beside else to_numpy(found))

    @cached_property
    def open(self) -> Any:
        """``eligible`` where the other arrays are."""
        return self.design.to_native(self.eligible) if self.is_beside else self.eligible

    @property
    def is_plain(self) -> bool:
        """Whether all columns are tested with the same degrees of freedom."""
        return self.dependence is None and not self.is_uneven

    @property
    def freedom(self) -> int:
        """Degrees of freedom before the first step."""
        return self.design.shape[0] - 1 - self.covariates.shape[1]

    @cached_property
    def n_effective(self) -> float:
        """The number of samples, or of independent ones that would say as much."""
        if self.dependence is None:
            return float(self.design.shape[0])
        return self.dependence.n_effective(self.target)

    def degrees_of_freedom(self, order: Sequence[int], columns: np.ndarray) -> np.ndarray:
        """Degrees of freedom to test each of some columns with, after a path."""
        n_samples = self.design.shape[0]
        taken = n_samples - self.freedom + len(order)
        if self.is_plain:
            return np.full(columns.shape[1], float(n_samples - taken))
        path = np.asarray(self.design.dense_columns(list(order)), np.float64)
        basis = np.hstack((self.covariates, np.linalg.qr(project_out(path, self.covariates))[0]))
        rest = project_out(self.target, basis)
        white = rest @ inverse_root(rest.T @ rest, RANK_TOL[np.dtype(np.float64)])
        left, inflation = project_out(columns, basis), np.ones(columns.shape[1])
        if self.dependence is not None:
            inflation = self.dependence.inflation(left, white)
        if self.is_uneven:
            inflation = np.maximum(inflation, np.sqrt(uneven_inflation(left, white)))
        return np.maximum(n_samples / inflation - taken, 0.0)


class KeptColumns:
    """Columns of X without what covariates know of them, and their products with all columns.

    A column is on the host, the products are where all arrays of the problem are. Of very many
    products the oldest are forgotten, and taken again where they are asked for.
    """

    problem: DistillationProblem

    def __init__(self, problem: DistillationProblem) -> None:
        self.problem = problem
        self._columns: dict[int, np.ndarray] = {}
        self._products: dict[int, Any] = {}
        self._most = max(2 * CANDIDATES, MAX_PRODUCTS // problem.design.shape[1])

    def products(self, j: int, gains: Any = None) -> Any:
        """X'Mx_j; where X is read from a file, those that may follow are read with it."""
        if j not in self._products:
            some, design = [j], self.problem.design
            if gains is not None and design.passes:
                likely = np.argsort(-gains, kind="stable")[:CANDIDATES].tolist()
                some += [i for i in likely if i != j and i not in self._products]
            x = project_out(design.dense_columns(some), self.problem.covariates)
            products = self.problem.product(x)
            for place, i in enumerate(some):
                self._columns[i], self._products[i] = x[:, place], copy_array(products[:, place])
            for i in list(self._products)[: max(0, len(self._products) - self._most)]:
                del self._products[i]
        return self._products[j]

    def column(self, j: int) -> np.ndarray:
        """Mx_j."""
        return self._columns[j]


@dataclass
class PathResiduals:
    """What the covariates and the columns of a path leave of all columns and of the target.

    ``norms`` are ||x||^2 and ``products`` x'V before the first step, ``nu`` and ``C`` the same
    now; ``target`` is V'MV. Direction t of the path has the products P[t] with the columns and
    R[t] with the target. What has an entry per column may lie beside X.
    """

    norms: Any
    products: Any
    open: Any
    ridge: float
    limit: int
    tol: float
    P: Any
    R: np.ndarray
    nu: Any
    C: Any
    target: np.ndarray
    order: list[int]

    @classmethod
    def from_problem(cls, problem: DistillationProblem, limit: int, ridge: float) -> PathResiduals:
        design, V = problem.design, problem.target
        norms, tol = problem.sq_norms(), RANK_TOL[np.dtype(design.dtype)]
        products = problem.product(np.hstack((V, problem.covariates)))
        C, known = products[:, : V.shape[1]], products[:, V.shape[1] :]
        left = (norms - (known**2).sum(axis=1)).clip(0.0)
        spent = left <= tol * norms
        left[spent] = 0.0
        C[spent] = 0.0
        P, R = empty_rows(limit, norms), np.empty((limit, V.shape[1]))
        now = copy_array(left), copy_array(C)
        return cls(left, C, problem.open & ~spent, ridge, limit, tol, P, R, *now, V.T @ V, [])

    def restart(self, n_steps: int, allowed: Any) -> PathResiduals:
        """As after the first steps, to go on with the allowed columns."""
        P, R = self.P[:n_steps], self.R[:n_steps]
        open_ = self.open & allowed
        taken = np.array(self.order, dtype=np.int64)
        write_entries(open_, taken, read_entries(allowed, taken))
        write_entries(open_, taken[:n_steps], False)
        buffer = empty_rows(self.limit, self.norms)
        buffer[:n_steps] = P
        return replace(
            self,
            open=open_,
            P=buffer,
            R=self.R.copy(),
            nu=self.norms - column_squares(P),
            C=self.products - P.T @ convert_like(R, P),
            target=np.eye(R.shape[1]) - R.T @ R,
            order=self.order[:n_steps],
        )

    @property
    def gains(self) -> Any:
        """What every open column would explain next."""
        gains = row_squares(self.C) / (self.nu.clip(0.0) + self.ridge)
        gains[~self.open | (self.nu <= self.tol * self.norms)] = 0.0
        return gains

    def best(self) -> int | None:
        """The column that explains most, or None where none explains anything."""
        if np.trace(self.target) <= self.tol * len(self.target):
            return None
        gains = self.gains
        j = int(gains.argmax())
        return j if gains[j] > 0.0 else None

    def take(self, j: int, products: Any) -> None:
        """Let a column into the path."""
        t = len(self.order)
        p = products - self.P[:t].T @ self.P[:t, j]
        p /= np.sqrt(float(p[j]))
        along = self.C[j] / p[j]
        r = to_numpy(along)
        self.P[t], self.R[t] = p, r
        self.nu -= p * p
        self.C -= p[:, None] * along
        self.target = self.target - np.outer(r, r)
        self.order.append(j)
        self.open[j] = False

    @property
    def usable(self) -> Any:
        """Open columns of which something is left."""
        return self.open & (self.nu > self.tol * self.norms)

    def explained_shares(self) -> Any:
        """Share of what is left of every open column that the rest of the target explains."""
        usable = self.usable
        rest = self.C @ convert_like(inverse_root(self.target, self.tol), self.C)
        return where(usable, row_squares(rest) / where(usable, self.nu, 1.0), 0.0)

    def test(self, j: int, freedom: float) -> tuple[float, float]:
        """Share of what is left of a column that the target explains, and its p-value."""
        root = inverse_root(self.target, self.tol)
        if self.nu[j] <= self.tol * self.norms[j]:
            return 0.0, 1.0
        share = min(float(((to_numpy(self.C[j]) @ root) ** 2).sum()) / float(self.nu[j]), 1.0)
        return share, float(share_pvalue(share, root.shape[1], freedom))


def project_out(columns: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Columns off an orthonormal basis, in double precision."""
    columns = np.asarray(columns, dtype=np.float64)
    for _ in range(2):  # the second pass removes what rounding left of the first
        columns = columns - basis @ (basis.T @ columns)
    return columns


def inverse_root(product: np.ndarray, tol: float) -> np.ndarray:
    """W of as many columns as the rank of a product S = A'A, with A W orthonormal."""
    if product.shape == (1, 1):
        return np.full((1, int(product[0, 0] > 0)), 1.0 / np.sqrt(max(product[0, 0], 1e-300)))
    values, vectors = np.linalg.eigh(product)
    kept = values > tol * values.max(initial=0.0)
    return vectors[:, kept] / np.sqrt(values[kept])


def share_pvalue(share: Any, rank: int, freedom: Any) -> Any:
    """P-value of the share of a column in ``freedom`` dimensions that ``rank`` of them explain.

    It is that of a normal column. Shares and freedom may be arrays.

    Examples
    --------
    >>> from scipy.stats import ttest_ind
    >>> from sparsieve.solvers.claims.distilled_state import share_pvalue
    >>> t, p = ttest_ind([1.0, 2.0, 4.0], [3.0, 5.0, 7.0, 8.0])
    >>> bool(abs(share_pvalue(t**2 / (t**2 + 5), 1, 6) - p) < 1e-12)
    True
    """
    rest = np.asarray(freedom, dtype=np.float64) - rank
    if rank == 0:
        return np.ones_like(share)
    found = betaincc(rank / 2, np.maximum(rest, 1e-9) / 2, np.minimum(share, 1.0))
    return np.where(rest > 0, found, 1.0)


def representatives(columns: np.ndarray, tol: float) -> np.ndarray:
    """The first of the copies of every column, from products of unit columns with random ones.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_products)
        Columns that agree in all products, but for a common sign, are copies.
    tol : float
        Largest difference of equal numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.claims.distilled_state import representatives
    >>> representatives(np.array([[1.0, 2.0], [0.5, 0.1], [-1.0, -2.0]]), 1e-9)
    array([0, 1, 0])
    """
    found = np.array(columns, dtype=np.float64)
    found *= np.where(found[:, :1] < 0, -1.0, 1.0)
    order = np.lexsort((np.arange(len(found)), found[:, 0]))
    same = (np.abs(np.diff(found[order], axis=0)) <= tol).all(axis=1)
    runs = np.concatenate(([0], np.cumsum(~same)))
    first = np.full(len(found), len(found))
    np.minimum.at(first, runs, order)
    representative = np.empty(len(found), dtype=np.int64)
    representative[order] = first[runs]
    return representative
