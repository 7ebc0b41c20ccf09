"""Newton's method in the norms of groups of rows, for the last digits of the grouped l2,1 problem.

As in ``row_newton``, with one variable eta_g = ||W_g|| / c_g for all rows of a group: with
D = diag(eta) repeated over rows, b = alpha / 2 and K = X D X' + b I,

    W = D U,  U = X' K^-1 Y,
    g(eta) = ||Y||^2 - <W, X'Y> + b sum(c^2 eta),
    dg/deta_g = b (c_g^2 - ||U_g||^2),
    d2g/deta_g deta_h = alpha sum_k z_gk' K^-1 z_hk   with  z_gk = X_g U_g[:, k].

K is solved with in the space of the samples or, by K^-1 = (I - X D^1/2 S^-1 D^1/2 X') / b with
S = D^1/2 X'X D^1/2 + b I, in that of the rows, whichever is smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

from .row_newton import NormsPoint, newton_in_norms


@dataclass(frozen=True)
class ActiveGroups:
    """The groups with weight, and the target.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_rows)
        Their columns, one group after the other.
    gram : ndarray of shape (n_rows, n_rows) or None
        X'X, where there are no more rows than samples.
    correlation : ndarray of shape (n_rows, n_outputs)
        X'Y.
    Y : ndarray of shape (n_samples, n_outputs)
    starts : ndarray of int
        The first column of every group.
    weights : ndarray of shape (n_groups,)
        c_g.
    alpha : float
    """

    X: np.ndarray
    gram: np.ndarray | None
    correlation: np.ndarray
    Y: np.ndarray
    starts: np.ndarray
    weights: np.ndarray
    alpha: float

    @property
    def sizes(self) -> np.ndarray:
        """Columns of every group."""
        return np.diff(self.starts, append=self.X.shape[1])

    def some(self, index: np.ndarray) -> ActiveGroups:
        """Some of the groups."""
        if len(index) == len(self.starts):
            return self
        sizes = self.sizes
        rows = np.repeat(np.isin(np.arange(len(sizes)), index), sizes)
        starts = np.concatenate(([0], np.cumsum(sizes[index])[:-1]))
        X = self.X[:, rows]
        gram = self.gram
        if gram is not None:
            gram = gram[np.ix_(rows, rows)]
        elif X.shape[1] <= len(X):
            gram = X.T @ X
        parts = X, gram, self.correlation[rows], self.Y
        return ActiveGroups(*parts, starts, self.weights[index], self.alpha)

    def norms(self, W: np.ndarray) -> np.ndarray:
        """||W_g|| of every group."""
        return np.sqrt(np.add.reduceat(np.einsum("ij,ij->i", W, W), self.starts))


@dataclass(frozen=True)
class _Point(NormsPoint):
    groups: ActiveGroups


def newton_groups(
    groups: ActiveGroups, W: np.ndarray, power: float, goal: float, max_steps: int = 12
) -> np.ndarray:
    """Improve the rows of W, of groups that all have weight, for the problem restricted to them.

    Parameters
    ----------
    groups : ActiveGroups
    W : current rows.
    power : ||Y||^2.
    goal : stop when the duality gap on these groups is at most this.
    max_steps : largest number of Newton steps.

    Returns
    -------
    W : improved rows; some groups may have become zero.
    """
    everyone = np.arange(len(groups.starts))
    point = _evaluated(groups, everyone, groups.norms(W) / groups.weights, power)
    if point is None:
        return W

    def some(point: _Point, keep: np.ndarray, eta: np.ndarray) -> _Point | None:
        return _evaluated(point.groups.some(keep), point.index[keep], eta, power)

    point = newton_in_norms(point, some, _hessian, groups.alpha, power, goal, max_steps)
    improved = np.zeros_like(W)
    kept = np.repeat(np.isin(everyone, point.index), groups.sizes)
    improved[kept] = np.repeat(point.eta, point.groups.sizes)[:, None] * point.U
    return improved


def _evaluated(
    groups: ActiveGroups, index: np.ndarray, eta: np.ndarray, power: float
) -> _Point | None:
    half, wide = 0.5 * groups.alpha, np.repeat(eta, groups.sizes)
    in_samples = groups.gram is None
    root = np.sqrt(wide)
    if groups.gram is None:
        scaled = groups.X * root
        system = scaled @ scaled.T
    else:
        system = groups.gram * root
        system *= root[:, None]
    system[np.diag_indices_from(system)] += half
    # LAPACK expects columns: the transpose of a symmetric matrix saves it a copy.
    factor, failed = lapack.dpotrf(system.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    if in_samples:
        U = groups.X.T @ lapack.dpotrs(factor, groups.Y, lower=1)[0]
    else:
        right = root[:, None] * groups.correlation
        U = lapack.dpotrs(factor, right, lower=1)[0] / root[:, None]
    fit = float((wide[:, None] * U * groups.correlation).sum())
    lengths = groups.norms(U) / groups.weights
    squares = groups.weights**2
    value = power - fit + half * float(eta @ squares)
    return _Point(index, eta, squares, factor, U, lengths, value, fit, groups)


def _hessian(point: _Point) -> np.ndarray:
    groups = point.groups
    half, number = 0.5 * groups.alpha, len(point.eta)
    hessian = np.zeros((number, number), order="F")
    owners = np.repeat(np.arange(number), groups.sizes)
    for column in point.U.T:
        if groups.gram is None:
            spread = np.add.reduceat(groups.X * column, groups.starts, axis=1)
            solved = solve_triangular(point.factor, spread, lower=True, check_finite=False)
            hessian += solved.T @ solved
        else:
            scaled = column / np.sqrt(point.eta[owners])
            spread = np.zeros((len(owners), number))
            spread[np.arange(len(owners)), owners] = scaled
            solved = solve_triangular(point.factor, spread, lower=True, check_finite=False)
            hessian -= half * (solved.T @ solved)
            hessian[np.diag_indices(number)] += np.bincount(owners, scaled**2, number)
    return hessian
