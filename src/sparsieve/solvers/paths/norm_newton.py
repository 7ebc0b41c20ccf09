"""Newton's method in the norms of rows or groups, for the last digits of l2,1-penalised problems.

Writing c_g ||W_g|| = min over eta_g > 0 of (||W_g||^2 / eta_g + c_g^2 eta_g) / 2 and eliminating W
leaves a smooth convex function of one variable per group. With D = diag(eta) repeated over the rows
of a group, b = alpha / 2 and K = X D X' + b I the inner minimiser is W = D U with U = X' K^-1 Y,
its residual is b K^-1 Y, and

    g(eta) = ||Y||^2 - <W, X'Y> + b sum(c^2 eta),
    dg/deta_g = b (c_g^2 - ||U_g||^2),
    d2g/deta_g deta_h = alpha sum over i in g, j in h of (u_i'u_j) T_ij   with  T = X' K^-1 X,

so that eta is optimal iff ||U_g|| = c_g where eta_g > 0 and ||U_g|| <= c_g elsewhere; then
eta_g = ||W_g|| / c_g. The bound eta >= 0 is handled by Coleman and Li's scaling: where the gradient
pushes towards zero, gradient / eta joins the diagonal of the Hessian, so that a group leaves at a
superlinear rate without crossing zero, while those that stay feel the plain Newton step.

K is solved with in the space of the samples or, by K^-1 = (I - X D^1/2 S^-1 D^1/2 X') / b with
S = D^1/2 X'X D^1/2 + b I, in that of the rows, whichever is smaller. Coordinate descent needs
sweeps in proportion to the conditioning of the active columns; these steps hardly notice it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import lapack, solve_triangular

# A group this much shorter than the longest one, and with a smaller gradient than its penalty, is
# dropped.
ZERO_NORM_TOL = 1e-6
# Keeps the step defined where columns are copies of each other.
RIDGE_JITTER = 1e-10
# No step shrinks a group by more than this factor.
MAX_SHRINK = 0.02
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class ActiveGroups:
    """The groups with weight, and the target.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_rows)
        Their columns, one group after the other; not read where there is a Gram matrix.
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

    @cached_property
    def sizes(self) -> np.ndarray:
        """Columns of every group."""
        return np.diff(self.starts, append=self.X.shape[1])

    @cached_property
    def single(self) -> bool:
        """Whether every group is one row."""
        return len(self.starts) == self.X.shape[1]

    def of_each_row(self, values: np.ndarray) -> np.ndarray:
        """The value of its group for every row."""
        return values if self.single else np.repeat(values, self.sizes)

    @classmethod
    def of_rows(cls, gram: np.ndarray, correlation: np.ndarray, alpha: float) -> ActiveGroups:
        """Rows that are groups of their own, without their columns."""
        n_rows = len(gram)
        nothing = np.empty((0, n_rows)), np.empty((0, correlation.shape[1]))
        starts, weights = np.arange(n_rows), np.ones(n_rows)
        return cls(nothing[0], gram, correlation, nothing[1], starts, weights, alpha)

    @classmethod
    def of_columns(
        cls, X: np.ndarray, Y: np.ndarray, correlation: np.ndarray, alpha: float
    ) -> ActiveGroups:
        """Rows that are groups of their own, by their columns alone."""
        n_rows = X.shape[1]
        return cls(X, None, correlation, Y, np.arange(n_rows), np.ones(n_rows), alpha)

    def some(self, index: np.ndarray) -> ActiveGroups:
        """Some of the groups."""
        if len(index) == len(self.starts):
            return self
        sizes = self.sizes
        kept = np.zeros(len(sizes), dtype=bool)
        kept[index] = True
        rows = np.flatnonzero(self.of_each_row(kept))
        X, gram = self.X[:, rows], self.gram
        if gram is not None:
            gram = gram[np.ix_(rows, rows)]
        elif X.shape[1] <= len(X):
            gram = X.T @ X
        return replace(
            self,
            X=X,
            gram=gram,
            correlation=self.correlation[rows],
            starts=np.cumsum(sizes[index]) - sizes[index],
            weights=self.weights[index],
        )

    def norms(self, W: np.ndarray) -> np.ndarray:
        """||W_g|| of every group."""
        squares = np.einsum("ij,ij->i", W, W)
        return np.sqrt(squares if self.single else np.add.reduceat(squares, self.starts))


def newton_steps_work(n_samples: int, n_rows: int, n_groups: int, n_outputs: int) -> float:
    """Operations of one Newton step."""
    less, more = sorted((n_samples, n_rows))
    if n_rows <= n_samples:
        return n_rows**3 + n_rows**2 * n_outputs + n_groups**3 / 3
    by_outputs = n_outputs * n_groups * less * (less + n_groups)
    return less * less * more + min(by_outputs, less * more * (less + more)) + n_groups**3 / 3


def newton_norms(
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
    point = _evaluate(groups, everyone, groups.norms(W) / groups.weights, power)
    if point is None:
        return W
    for _ in range(max_steps):
        if _gap(point, power) <= goal:
            break
        step = _newton_step(point)
        following = None if step is None else _line_search(point, step, power)
        if following is None:
            break
        point = following
    improved = np.zeros_like(W)
    kept = np.zeros(len(everyone), dtype=bool)
    kept[point.index] = True
    improved[groups.of_each_row(kept)] = point.groups.of_each_row(point.eta)[:, None] * point.U
    return improved


@dataclass(frozen=True)
class _Point:
    """The inner solution at some eta."""

    groups: ActiveGroups
    index: np.ndarray  # of those that the search began with
    eta: np.ndarray
    factor: np.ndarray  # Cholesky factor of S or of K
    U: np.ndarray
    lengths: np.ndarray  # ||U_g|| / c_g
    value: float  # g(eta)
    fit: float  # <W, X'Y>


def _evaluate(
    groups: ActiveGroups, index: np.ndarray, eta: np.ndarray, power: float
) -> _Point | None:
    half, wide = 0.5 * groups.alpha, groups.of_each_row(eta)
    root = np.sqrt(wide)
    if groups.gram is None:
        scaled = groups.X * root
        system = scaled @ scaled.T
    else:
        system = groups.gram * root
        system *= root[:, None]
    np.einsum("ii->i", system)[:] += half
    # LAPACK expects columns: the transpose of a symmetric matrix saves it a copy.
    factor, failed = lapack.dpotrf(system.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    if groups.gram is None:
        U = groups.X.T @ lapack.dpotrs(factor, groups.Y, lower=1)[0]
    else:
        right = root[:, None] * groups.correlation
        U = lapack.dpotrs(factor, right, lower=1)[0] / root[:, None]
    fit = float((wide[:, None] * U * groups.correlation).sum())
    lengths = groups.norms(U) / groups.weights
    value = power - fit + half * float(eta @ groups.weights**2)
    return _Point(groups, index, eta, factor, U, lengths, value, fit)


def _hessian(point: _Point) -> np.ndarray:
    """The second derivatives over alpha, of which the lower triangle is read."""
    groups, U = point.groups, point.U
    n_rows, n_groups, n_outputs = len(U), len(point.eta), U.shape[1]
    if groups.gram is not None:
        # T = D^-1/2 (I - b S^-1) D^-1/2. Only the lower triangle of what LAPACK hands back means
        # anything.
        T = lapack.dpotri(point.factor, lower=1)[0]
        T *= -0.5 * groups.alpha
        np.einsum("ii->i", T)[:] += 1.0
        U = U / np.sqrt(groups.of_each_row(point.eta))[:, None]
    elif n_outputs * n_groups < n_rows:
        hessian = np.zeros((n_groups, n_groups), order="F")
        for column in U.T:
            spread = np.add.reduceat(groups.X * column, groups.starts, axis=1)
            solved = solve_triangular(point.factor, spread, lower=True, check_finite=False)
            hessian += solved.T @ solved
        return hessian
    else:
        solved = solve_triangular(point.factor, groups.X, lower=True, check_finite=False)
        T = np.asfortranarray(solved.T @ solved)
    T *= (U @ U.T).T
    if n_groups == n_rows:
        return T
    T = np.tril(T) + np.tril(T, -1).T
    T = np.add.reduceat(np.add.reduceat(T, groups.starts, axis=0), groups.starts, axis=1)
    return np.asfortranarray(T)


def _gap(point: _Point, power: float) -> float:
    """Duality gap of W = D U: its residual correlations are b U, feasible after scaling."""
    lengths, eta, alpha = point.lengths, point.eta * point.groups.weights**2, point.groups.alpha
    inner = power - point.fit
    residual = max(inner - 0.5 * alpha * float(eta @ lengths**2), TINY)
    scale = min(inner / residual, 1.0 / lengths.max(initial=TINY))
    bound = scale * (2.0 * inner - scale * residual)
    return residual + alpha * float(eta @ lengths) - bound


def _newton_step(point: _Point) -> np.ndarray | None:
    hessian = _hessian(point)
    downhill = 0.5 * (point.lengths**2 - 1.0) * point.groups.weights**2
    diagonal = np.einsum("ii->i", hessian)
    diagonal *= 1.0 + RIDGE_JITTER
    diagonal += np.maximum(-downhill, 0.0) / point.eta
    factor, failed = lapack.dpotrf(hessian, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    return lapack.dpotrs(factor, downhill, lower=1)[0]


def _line_search(point: _Point, step: np.ndarray, power: float) -> _Point | None:
    slack = 1e-13 * abs(point.value)
    for length in (1.0, 0.4, 0.15, 0.05):
        eta = np.maximum(point.eta + length * step, MAX_SHRINK * point.eta)
        keep = np.flatnonzero((eta > ZERO_NORM_TOL * eta.max()) | (point.lengths >= 1.0))
        candidate = _evaluate(point.groups.some(keep), point.index[keep], eta[keep], power)
        if candidate is not None and candidate.value <= point.value + slack:
            return candidate
    return None
