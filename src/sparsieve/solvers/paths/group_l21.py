"""Least squares with an l2,1 penalty on groups of rows, along a path of strengths.

Minimises ||XW - Y||^2 + alpha sum_g c_g ||W_g||_F. A working set of groups keeps its columns and
their Gram matrix. Blocks are minimised exactly, one group after the other, until the support
settles; Newton's method in the group norms then takes over. The design is read to certify: the
point s (Y - XW) is dual feasible once 2 ||X_g'(Y - XW)|| s <= alpha c_g for all groups.

Groups may share columns: each of them has its own copy of a coefficient, and the copies add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...penalties.l21 import bound_by_multiples
from ..base import Callback, Event, Result, relative
from ..engines.group_products import GroupColumns, PenalisedGroups
from ..least_squares import LeastSquares, Rows
from .group_newton import ActiveGroups, newton_groups

# Sweeps between two looks at the gap.
SWEEPS = 3
# Of the tolerance, for the problem on the working set, or of the last gap on all groups.
INNER_SHARE = 0.3
INNER_DROP = 0.03
# Newton's method takes about four steps of matrix products, which are faster than sweeps by a
# factor of about eight.
NEWTON_WORK = 0.5
# Groups that enter the working set at once: at least so many, or as many as are in the model.
MIN_BATCH = 10


@dataclass(frozen=True)
class GroupRows(Rows):
    """A solution on groups of rows.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_outputs)
        Coefficients; where groups share a feature, their sum.
    correlation : ndarray of shape (n_groups,)
        ||2 X_g'(Y - XW)|| / c_g, the strength at which a group without weight would enter.
    norms : ndarray of shape (n_groups,)
        ||W_g|| of every group.
    parts : dict of int to ndarray
        The rows of every group with weight; where groups share a feature each has its own.
    """

    norms: np.ndarray
    parts: dict[int, np.ndarray]


@dataclass(frozen=True)
class GroupL21(PenalisedGroups):
    """Solve for falling strengths, each from the last.

    Parameters
    ----------
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used.
    weights : ndarray of shape (n_groups,)
        c_g, positive.
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Largest number of sweeps over the working set for one strength.
    """

    tol: float = 1e-6
    max_iter: int = 10_000

    def path(
        self,
        problem: LeastSquares,
        alphas: Iterable[float],
        callback: Callback | None = None,
        start: Result[GroupRows] | None = None,
    ) -> Iterator[Result[GroupRows]]:
        """One result per strength, the first from ``start``."""
        state = _State(problem, self.groups, self.weights)
        if start is not None:
            state.begin(start.solution.parts)
        strengths = self.strengths(state.gradient())
        for alpha in alphas:
            result = self._solve(state, float(alpha), strengths, problem.floor, callback)
            strengths = result.solution.correlation
            yield result

    def solve(
        self,
        problem: LeastSquares,
        start: Result[GroupRows] | None = None,
        callback: Callback | None = None,
    ) -> Result[GroupRows]:
        """Solve for ``problem.penalty.alpha``."""
        return next(self.path(problem, [problem.penalty.alpha], callback, start))

    def _solve(
        self,
        state: _State,
        alpha: float,
        strengths: np.ndarray,
        floor: float,
        callback: Callback | None,
    ) -> Result[GroupRows]:
        trace: list[float] = []
        sweeps, optimality = 0, 1.0
        while True:
            grown = state.grow(strengths, alpha)
            share = max(INNER_SHARE * self.tol, INNER_DROP * min(optimality, 1.0))
            made = state.descend(alpha, share, floor, self.max_iter - sweeps)
            sweeps += made
            G = state.gradient()
            strengths = self.strengths(G)
            R = state.residual
            value = float(np.vdot(R, R)) + alpha * float(state.norms() @ self.weights)
            inner, largest = float(np.vdot(R, state.Y)), float(strengths.max(initial=0.0))
            gap = value - bound_by_multiples(alpha, float(np.vdot(R, R)), inner, largest)
            optimality = relative(max(gap, 0.0), value, floor)
            trace.append(value)
            converged = bool(optimality <= self.tol)
            event = Event(sweeps, value, optimality, int((state.norms() > 0).sum()))
            stop = callback is not None and callback(event)
            stuck = not np.isfinite(gap) or (len(trace) > 1 and not (grown or made))
            if converged or stuck or stop or sweeps >= self.max_iter:
                break
        solution = GroupRows(state.coefficients(), strengths, state.norms(), state.parts())
        return Result(solution, value, optimality, sweeps, converged, trace)


class _State:
    """The groups that a solution may use, their columns and coefficients."""

    def __init__(
        self, problem: LeastSquares, groups: Sequence[np.ndarray], weights: np.ndarray
    ) -> None:
        self.design, self.groups, self.weights = problem.design, groups, weights
        self.Y = problem.Y.astype(np.float64)
        self.power = float(np.vdot(self.Y, self.Y))
        self.residual = self.Y.copy()
        self.inside: list[int] = []
        sizes = np.array([len(columns) for columns in groups])
        self.outside = sizes > 0
        # Sparse columns are not unpacked: their inner products and products with W will do.
        self.packed = self.design.is_very_sparse and sizes.max(initial=0) <= len(self.Y)
        self.X = np.empty((len(self.Y), 0))  # stays empty where columns are packed
        self.gram = np.empty((0, 0))
        self.correlation = np.empty((0, self.Y.shape[1]))
        self.W = np.empty((0, self.Y.shape[1]))
        self.spans: list[slice] = []
        self.back: dict[int, np.ndarray] = {}  # Q' of X_g = L Q', where L stands for a large group
        self.vectors = np.empty((0, 0))  # eigenvectors of the blocks, one below the other
        self.bases: list[tuple[np.ndarray, np.ndarray]] = []  # eigenvalues and vectors of blocks

    def gradient(self) -> np.ndarray:
        """2 X'R of all features."""
        R = self.residual.astype(self.design.dtype, copy=False)
        return 2.0 * np.asarray(self.design.rmatmul(R), dtype=np.float64)

    def norms(self) -> np.ndarray:
        """||W_g|| of all groups."""
        found = np.zeros(len(self.groups))
        found[self.inside] = self._norms(self.W)
        return found

    def _norms(self, rows: np.ndarray) -> np.ndarray:
        """The norm of every group of the working set."""
        if not self.inside:
            return np.zeros(0)
        squares = np.einsum("ij,ij->i", rows, rows)
        return np.sqrt(np.add.reduceat(squares, [span.start for span in self.spans]))

    def coefficients(self) -> np.ndarray:
        """One row per feature."""
        W = np.zeros((self.design.shape[1], self.Y.shape[1]), dtype=self.design.dtype)
        for g, span in zip(self.inside, self.spans, strict=True):
            rows = self.back[g].T @ self.W[span] if g in self.back else self.W[span]
            W[self.groups[g]] += rows.astype(W.dtype)
        return W

    def parts(self) -> dict[int, np.ndarray]:
        """The rows of the groups with weight."""
        return {self.inside[i]: self.W[self.spans[i]].copy() for i in self.active()}

    def begin(self, parts: dict[int, np.ndarray]) -> None:
        """Take in groups with these rows."""
        known = [g for g in parts if self.outside[g]]
        if not known:
            return
        self._take_in(np.array(known))
        for g, span in zip(self.inside, self.spans, strict=True):
            self.W[span] = parts[g]
        self.residual = self.Y - self._product()

    def _product(self) -> np.ndarray:
        """X W of the working set."""
        if self.packed:
            return np.asarray(self.design.matmul(self.coefficients()), dtype=np.float64)
        return self.X @ self.W

    def grow(self, strengths: np.ndarray, alpha: float) -> bool:
        """Take in the groups that violate their optimality condition most, if there are any."""
        violating = np.flatnonzero(self.outside & (strengths > alpha))
        if not len(violating):
            return False
        batch = max(MIN_BATCH, len(self.inside))
        near = np.flatnonzero(self.outside & (strengths > 0.9 * alpha))
        self._take_in(near[np.argsort(-strengths[near], kind="stable")][:batch])
        return True

    def _take_in(self, chosen: np.ndarray) -> None:
        old = len(self.W)
        if self.packed:
            sizes = [len(self.groups[g]) for g in chosen]
            columns = np.concatenate([self.groups[g] for g in (*self.inside, *chosen)])
            self.gram = self.design.inner(columns)
            fresh = self.design.columns(columns[old:]).rmatmul(self.Y.astype(self.design.dtype))
        else:
            X, sizes = self._columns(chosen)
            cross, fresh = self.X.T @ X, X.T @ self.Y
            self.gram = np.block([[self.gram, cross], [cross.T, X.T @ X]])
            self.X = np.asfortranarray(np.hstack((self.X, X)))
        self.correlation = np.vstack((self.correlation, fresh))
        self.W = np.vstack((self.W, np.zeros(fresh.shape)))
        for g, size in zip(chosen.tolist(), sizes, strict=True):
            span = slice(old, old + size)
            old = span.stop
            self.inside.append(g)
            self.spans.append(span)
            values, vectors = np.linalg.eigh(self.gram[span, span])
            self.bases.append((np.maximum(values, 0.0), vectors))
        self.outside[chosen] = False

    def _columns(self, chosen: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """The columns of some groups, and how many each has; of large ones a factor."""
        own = GroupColumns(self.design, [self.groups[g] for g in chosen])
        parts = [own.columns(i) for i in range(len(chosen))]
        self.back |= {int(chosen[i]): own.factor(i)[1] for i in own.large}
        return np.hstack(parts), [part.shape[1] for part in parts]

    def descend(self, alpha: float, share: float, floor: float, max_sweeps: int) -> int:
        """Solve the problem on the working set to a share of its objective."""
        if not self.inside:
            return 0
        Q = self.correlation - self.gram @ self.W
        sweeps = spent = 0
        while sweeps < max_sweeps:
            value, gap = self._gap(alpha, Q)
            if not gap > share * max(value, floor):
                break
            before = self.active()
            self._sweep(alpha, Q)
            sweeps, spent = sweeps + SWEEPS, spent + SWEEPS
            active = self.active()
            # Newton steps hardly notice conditioning, and are tried once as much went into sweeps.
            settled = np.array_equal(before, active)
            if spent >= self._newton_in_sweeps() and (settled or spent >= 4 * SWEEPS):
                Q, spent = self._newton(alpha, share * max(value, floor), Q), 0
        self.residual = self.Y - self._product()
        return sweeps

    def _newton_in_sweeps(self) -> float:
        """What Newton's method costs, in sweeps over the working set."""
        columns, active = len(self.W), len(self.active_rows())
        less, more = sorted((active, len(self.Y)))
        return NEWTON_WORK * less * less * more / max(columns * columns * self.W.shape[1], 1)

    def active(self) -> np.ndarray:
        """Places in the working set of the groups with weight."""
        return np.flatnonzero(self._norms(self.W))

    def active_rows(self) -> np.ndarray:
        """Rows of the working set that belong to these."""
        spans = [self.spans[i] for i in self.active()]
        return np.concatenate([np.arange(s.start, s.stop) for s in spans] or [np.arange(0)])

    def _sweep(self, alpha: float, Q: np.ndarray) -> None:
        """Minimise over every group in turn, several times; Q = X'R is kept up to date."""
        from ._group_cd_kernels import group_epochs

        starts = np.array([0, *(span.stop for span in self.spans)])
        largest, n_outputs = int(np.diff(starts).max()), Q.shape[1]
        if self.vectors.shape != (len(Q), largest):
            self.vectors = np.zeros((len(Q), largest))
            for span, (_, own) in zip(self.spans, self.bases, strict=True):
                self.vectors[span, : own.shape[1]] = own
        group_epochs(
            *(self.gram, self.W, Q, starts, 0.5 * alpha * self.weights[self.inside]),
            *(np.concatenate([values for values, _ in self.bases]), self.vectors, SWEEPS),
            *(np.empty((largest, n_outputs)), np.empty((largest, n_outputs)), np.empty(largest)),
        )

    def _newton(self, alpha: float, goal: float, Q: np.ndarray) -> np.ndarray:
        """Newton steps in the norms of the groups with weight, kept if they are lower."""
        active = self.active()
        if not len(active):
            return Q
        rows = self.active_rows()
        sizes = [self.spans[i].stop - self.spans[i].start for i in active]
        few = len(rows) <= len(self.Y)
        X = np.empty((0, len(rows)))  # not needed beside inner products
        if not few:
            inside = [self.groups[self.inside[i]] for i in active]
            X = (
                self.X[:, rows]
                if not self.packed
                else self.design.dense_columns(np.concatenate(inside))
            )
        groups = ActiveGroups(
            X=X,
            gram=self.gram[np.ix_(rows, rows)] if few else None,
            correlation=self.correlation[rows],
            Y=self.Y,
            starts=np.concatenate(([0], np.cumsum(sizes)[:-1])),
            weights=self.weights[self.inside][active],
            alpha=alpha,
        )
        improved = newton_groups(groups, self.W[rows], self.power, 0.1 * goal)
        old, W = self._gap(alpha, Q)[0], self.W
        self.W = np.zeros_like(W)
        self.W[rows] = improved
        moved = self.correlation - self.gram[:, rows] @ improved
        if self._gap(alpha, moved)[0] < old:
            return moved
        self.W = W
        return Q

    def _gap(self, alpha: float, Q: np.ndarray) -> tuple[float, float]:
        """Objective and duality gap on the working set, from Q = X'R."""
        fit = float(np.vdot(self.W, self.correlation))
        residual = max(self.power - fit - float(np.vdot(self.W, Q)), 0.0)
        weights = self.weights[self.inside]
        value = residual + alpha * float(weights @ self._norms(self.W))
        largest = 2.0 * float((self._norms(Q) / weights).max(initial=0.0))
        bound = bound_by_multiples(alpha, residual, self.power - fit, largest)
        return value, value - bound
