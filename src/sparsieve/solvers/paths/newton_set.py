"""The groups that a penalised likelihood may use, and proximal Newton steps on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..searches.ridge_fit import usual_length
from .free import definite, settled
from .many_outputs import bounded_direction, newton_direction
from .quadratic import Blocks, minimise_quadratic, solved

if TYPE_CHECKING:
    from ..losses.base import Loss
    from .likelihood import PenalisedLikelihood

# Of the relative gap on the working set: how well the quadratic model of one step is solved.
MODEL_SHARE = 1e-2
# Of the objective: what rounding may add to it.
ROUNDING = 1e-14
# A step that leaves more than this share of the gap makes no progress.
PROGRESS = 0.9
MAX_SLOW = 20
# Where a step leaves more than this share of the gap, the Hessian is computed anew.
WORTH = 0.1
MAX_HALVINGS = 40
# Of several outputs: coefficients whose Hessian is held in memory.
MAX_DENSE = 600


@dataclass(frozen=True)
class GroupCoefficients:
    """A solution, few of whose groups have weight.

    Attributes
    ----------
    groups : ndarray of int
        The groups with weight.
    columns : ndarray of int
        Their columns, one group after the other.
    blocks : ndarray of shape (len(columns), n_outputs)
        The coefficients of these columns.
    B : ndarray of shape (n_free, n_outputs)
        Coefficients of the columns without penalty.
    norms, correlation : ndarray of shape (n_groups,)
        ||W_g||, and ||X_g' grad L|| / c_g: the strength at which a group without weight enters.
    gap : float
        The objective less a lower bound on that of every other solution.
    """

    groups: np.ndarray
    columns: np.ndarray
    blocks: np.ndarray
    B: np.ndarray
    norms: np.ndarray
    correlation: np.ndarray
    gap: float

    @cached_property
    def features(self) -> np.ndarray:
        """The columns with weight, each once."""
        return np.unique(self.columns)

    @cached_property
    def W(self) -> np.ndarray:
        """Coefficients of ``features``; where groups share a feature, their sum."""
        W = np.zeros((len(self.features), self.blocks.shape[1]))
        np.add.at(W, np.searchsorted(self.features, self.columns), self.blocks)
        return W


class WorkingSet:
    """Columns and coefficients of some groups, and the predictors F that they give."""

    loss: Loss
    problem: PenalisedLikelihood
    gradient: np.ndarray

    def __init__(
        self, problem: PenalisedLikelihood, F: np.ndarray, gradient: np.ndarray, B: np.ndarray
    ) -> None:
        self.problem, self.loss = problem, problem.loss
        self.F, self.gradient, self.B = F, gradient, B
        self.value: float = self.loss.value(F)
        self.least: float = self.loss.dual_value(F, 0.0)  # no predictors have a smaller loss
        self.groups: np.ndarray = np.arange(0)
        self.outside: np.ndarray = np.array([len(columns) > 0 for columns in problem.groups])
        self.X = np.empty((len(F), 0), order="F")
        self.w: np.ndarray = np.empty(0)  # the outputs of a column are neighbours
        # X'HX with the free columns first, at predictors that may be older than F.
        self.H = np.empty((0, 0))
        self.F_of_H: np.ndarray | None = None
        self.blocks: Blocks = Blocks.of(np.arange(0))

    @property
    def n_active(self) -> int:
        """How many groups have weight."""
        return int((self.blocks.norms(self.w) > 0.0).sum())

    def objective(self, alpha: float) -> float:
        """Loss and penalty."""
        return self.value + alpha * float(self._costs @ self.blocks.norms(self.w))

    def size(self, value: float) -> float:
        """What gaps are relative to: an objective, or how far it is above that of a perfect fit.

        Losses of counts are without their constant terms, and may be close to zero by chance.
        """
        return max(abs(value), value - self.least)

    @property
    def _costs(self) -> np.ndarray:
        return self.problem.weights[self.groups]

    def coefficients(self, strengths: np.ndarray, gap: float) -> GroupCoefficients:
        """What was found."""
        found = self.blocks.norms(self.w)
        norms = np.zeros(len(self.problem.groups))
        norms[self.groups] = found
        active = self.groups[found > 0.0]
        w = self.w[found[self.blocks.numbers] > 0.0].reshape(-1, self.loss.n_outputs)
        return GroupCoefficients(
            active, self._columns(active), w, self.B.copy(), norms, strengths, gap
        )

    def move_to(self, start: GroupCoefficients) -> None:
        """Begin at the solution of a problem nearby on the same groups."""
        self._add(start.groups)
        self.w, self.B = start.blocks.ravel().copy(), start.B.copy()
        self.F = self.X @ start.blocks + self.problem.free @ self.B
        self.F, self.gradient, further = settled(self.loss, self.problem.free, self.F)
        self.B = self.B + further
        self.value = self.loss.value(self.F)

    def _columns(self, groups: np.ndarray) -> np.ndarray:
        """The columns of some groups, one group after the other."""
        parts = [self.problem.groups[g] for g in groups]
        return np.concatenate([*parts, np.arange(0)]).astype(np.int64)

    def grow(self, strengths: np.ndarray, near: float, batch: int) -> bool:
        """Take in the groups that are nearest to entering; drop those that are far from it."""
        weighted = self.blocks.norms(self.w) > 0.0
        spent = ~weighted & (strengths[self.groups] < near)
        if 2 * spent.sum() > len(self.groups):
            self._keep(np.flatnonzero(~spent))
        candidates = np.flatnonzero(self.outside & (strengths >= near))
        if not len(candidates):
            return False
        new = candidates[np.argsort(-strengths[candidates], kind="stable")][:batch]
        self._add(new)
        return True

    def _add(self, new: np.ndarray) -> None:
        columns = self._columns(new)
        added = np.asarray(self.problem.design.dense_columns(columns), dtype=np.float64)
        if self.loss.n_outputs > 1 and len(self.w) + self.loss.n_outputs * len(columns) > MAX_DENSE:
            self.F_of_H = None
        if self.F_of_H is not None:
            loss, old = self.loss, np.hstack((self.problem.free, self.X))
            cross = loss.mixed_hessian(self.F_of_H, old, added)
            self.H = np.block([[self.H, cross], [cross.T, loss.hessian(self.F_of_H, added)]])
        self.X = np.asfortranarray(np.hstack((self.X, added)))
        self.w = np.append(self.w, np.zeros(len(columns) * self.loss.n_outputs))
        self._set(np.append(self.groups, new))
        self.outside[new] = False

    def _set(self, groups: np.ndarray) -> None:
        self.groups = groups
        m = self.loss.n_outputs
        self.blocks = Blocks.of(np.array([m * len(self.problem.groups[g]) for g in groups], int))

    def _keep(self, places: np.ndarray) -> None:
        self.outside[self.groups] = True
        kept = np.isin(self.blocks.numbers, places)
        self.X = np.asfortranarray(self.X[:, kept[:: self.loss.n_outputs]])
        self.w = self.w[kept]
        if self.F_of_H is not None:
            rows = np.append(np.full(len(self.H) - len(kept), True), kept)
            self.H = self.H[np.ix_(rows, rows)]
        self._set(self.groups[places])
        self.outside[self.groups] = False

    def descend(self, alpha: float, share: float, max_steps: int) -> int:
        """Newton steps until the gap on the working set is a share of the objective."""
        costs, steps, best, slow = alpha * self._costs, 0, np.inf, 0
        before = np.inf
        while steps < max_steps:
            slopes = (self.X.T @ self.gradient).ravel()
            value = self.objective(alpha)
            largest = float((self.blocks.norms(slopes) / costs).max(initial=0.0))
            gap = value - self.loss.dual_value(self.F, 1.0 / max(largest, 1.0))
            slow = slow + 1 if gap > PROGRESS * best else 0
            if gap > WORTH * before:
                self.F_of_H = None
            best, before = min(best, gap), gap
            if not gap > share * self.size(value) or slow > MAX_SLOW:
                break
            tol = max(MODEL_SHARE * gap / self.size(value), ROUNDING)
            if not self._step(slopes, costs, value, tol):
                break
            steps += 1
        return steps

    def _step(self, slopes: np.ndarray, costs: np.ndarray, value: float, tol: float) -> bool:
        """One step; False where rounding is all that is left."""
        if self.loss.n_outputs == 1 or len(self.w) <= MAX_DENSE:
            fresh = self.F_of_H is None
            if self._move(*self._newton(slopes, costs, tol), slopes, costs, value):
                return True
            self.F_of_H = None  # an older Hessian may have been the reason
            return not fresh
        parts = self.loss, self.F, self.problem.free, self.X, slopes, self.w, self.blocks, costs
        moved = self._move(*bounded_direction(*parts, tol), slopes, costs, value)
        if not self.n_active:
            return moved
        slopes = (self.X.T @ self.gradient).ravel()
        value = self.value + float(costs @ self.blocks.norms(self.w))
        parts = self.loss, self.F, self.problem.free, self.X, slopes, self.w, self.blocks, costs
        return self._move(*newton_direction(*parts), slopes, costs, value) or moved

    def _newton(
        self, slopes: np.ndarray, costs: np.ndarray, tol: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The proximal Newton step: changes of w and of the free coefficients."""
        loss, Z, m = self.loss, self.problem.free, self.loss.n_outputs
        z = Z.shape[1] * m
        if self.F_of_H is None:
            self.F_of_H = self.F
            self.H = loss.hessian(self.F, np.hstack((Z, self.X)) if z else self.X)
        H = self.H
        if not z:
            new = minimise_quadratic(H, slopes, self.w, self.blocks, costs, tol)
            return new - self.w, np.zeros_like(self.B)
        # What the free columns do about a change of the others, at once.
        follow = solved(definite(loss, H[:z, :z]), H[:z, z:])
        assert follow is not None
        A = np.ascontiguousarray(H[z:, z:] - H[z:, :z] @ follow)
        A[np.diag_indices_from(A)] += ROUNDING * H.diagonal()[z:]  # which may be what was lost
        d = minimise_quadratic(A, slopes, self.w, self.blocks, costs, tol) - self.w
        return d, -(follow @ d).reshape(-1, m)

    def _move(
        self, d: np.ndarray, B: np.ndarray, slopes: np.ndarray, costs: np.ndarray, value: float
    ) -> bool:
        """Go along a direction as far as the objective falls, and settle the free columns."""
        loss, Z = self.loss, self.problem.free
        whole = self.w + d
        promised = float(slopes @ d)
        promised += float(costs @ (self.blocks.norms(whole) - self.blocks.norms(self.w)))
        direction = self.X @ d.reshape(-1, loss.n_outputs) + Z @ B
        length, slack = usual_length(self.F, direction), ROUNDING * abs(value)
        for _ in range(MAX_HALVINGS):
            w = whole if length == 1.0 else self.w + length * d
            F = self.F + length * direction
            there = loss.value(F) + float(costs @ self.blocks.norms(w))
            if there <= value + 1e-4 * length * min(promised, 0.0) + slack:
                break
            length *= 0.5
        else:
            return False
        self.w = w
        self.F, self.gradient, further = settled(loss, Z, F)
        self.B = self.B + length * B + further
        self.value = loss.value(self.F)
        return True
