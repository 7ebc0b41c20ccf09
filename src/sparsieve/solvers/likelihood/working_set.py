"""The groups that a penalised likelihood may use, and proximal Newton steps on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .free import definite, settled
from .quadratic import Blocks, minimise_quadratic, solved

if TYPE_CHECKING:
    from .path import GroupCoefficients, PenalisedLikelihood

# Of the relative gap on the working set: how well the quadratic model of one step is solved.
MODEL_SHARE = 1e-2
# Of the objective: what rounding may add to it.
ROUNDING = 1e-14
# A step that leaves more than this share of the gap makes no progress.
PROGRESS = 0.9
MAX_SLOW = 20


class WorkingSet:
    """Columns and coefficients of some groups, and the predictors F that they give."""

    def __init__(
        self, problem: PenalisedLikelihood, F: np.ndarray, gradient: np.ndarray, B: np.ndarray
    ) -> None:
        self.problem, self.loss = problem, problem.loss
        self.F, self.gradient, self.B = F, gradient, B
        self.value = self.loss.value(F)
        self.groups = np.arange(0)
        self.outside = np.array([len(columns) > 0 for columns in problem.groups])
        self.X = np.empty((len(F), 0), order="F")
        self.w = np.empty(0)  # the outputs of a column are neighbours
        self.blocks = Blocks.of(np.arange(0))

    @property
    def n_active(self) -> int:
        """How many groups have weight."""
        return int((self.blocks.norms(self.w) > 0.0).sum())

    def objective(self, alpha: float) -> float:
        """Loss and penalty."""
        return self.value + alpha * float(self._costs @ self.blocks.norms(self.w))

    @property
    def _costs(self) -> np.ndarray:
        return self.problem.weights[self.groups]

    def coefficients(self, strengths: np.ndarray, gap: float) -> GroupCoefficients:
        """What was found."""
        from .path import GroupCoefficients

        found = self.blocks.norms(self.w)
        norms = np.zeros(len(self.problem.groups))
        norms[self.groups] = found
        W = self.w.reshape(-1, self.loss.n_outputs)
        columns = np.concatenate([*(self.problem.groups[g] for g in self.groups), np.arange(0)])
        used = np.flatnonzero(W.any(axis=1))
        features, place = np.unique(columns[used], return_inverse=True)
        together = np.zeros((len(features), W.shape[1]))
        np.add.at(together, place, W[used])
        return GroupCoefficients(
            features.astype(np.int64), together, self.B.copy(), norms, strengths, gap
        )

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
        columns = np.concatenate([self.problem.groups[g] for g in new])
        added = np.asarray(self.problem.design.dense_columns(columns), dtype=np.float64)
        self.X = np.asfortranarray(np.hstack((self.X, added)))
        self.w = np.append(self.w, np.zeros(len(columns) * self.loss.n_outputs))
        self._set(np.append(self.groups, new))
        self.outside[new] = False
        return True

    def _set(self, groups: np.ndarray) -> None:
        self.groups = groups
        m = self.loss.n_outputs
        self.blocks = Blocks.of(np.array([m * len(self.problem.groups[g]) for g in groups], int))

    def _keep(self, places: np.ndarray) -> None:
        self.outside[self.groups] = True
        kept = np.isin(self.blocks.numbers, places)
        self.X = np.asfortranarray(self.X[:, kept[:: self.loss.n_outputs]])
        self.w = self.w[kept]
        self._set(self.groups[places])
        self.outside[self.groups] = False

    def descend(self, alpha: float, share: float, max_steps: int) -> int:
        """Newton steps until the gap on the working set is a share of the objective."""
        costs, steps, best, slow = alpha * self._costs, 0, np.inf, 0
        while steps < max_steps:
            slopes = (self.X.T @ self.gradient).ravel()
            value = self.objective(alpha)
            largest = float((self.blocks.norms(slopes) / costs).max(initial=0.0))
            gap = value - self.loss.dual_value(self.F, 1.0 / max(largest, 1.0))
            slow = slow + 1 if gap > PROGRESS * best else 0
            best = min(best, gap)
            if not gap > share * abs(value) or slow > MAX_SLOW:
                break
            tol = max(MODEL_SHARE * gap / abs(value), ROUNDING)
            if not self._step(slopes, costs, value, tol):
                break
            steps += 1
        return steps

    def _step(self, slopes: np.ndarray, costs: np.ndarray, value: float, tol: float) -> bool:
        """One proximal Newton step; False where rounding is all that is left."""
        loss, Z, m = self.loss, self.problem.free, self.loss.n_outputs
        z = Z.shape[1] * m
        H = loss.hessian(self.F, np.hstack((Z, self.X)))
        A, G = H[z:, z:], slopes
        if z:
            # What the free columns do about a change of the others, at once.
            follow = _solved_columns(definite(loss, H[:z, :z]), H[:z, z:])
            A = A - H[z:, :z] @ follow
        A = np.ascontiguousarray(A)
        new = minimise_quadratic(A, G, self.w, self.blocks, costs, tol)
        d = new - self.w
        before, after = self.blocks.norms(self.w), self.blocks.norms(new)
        promised = float(G @ d + costs @ (after - before))
        D = d.reshape(-1, m)
        B = -(follow @ d).reshape(-1, m) if z else np.zeros_like(self.B)
        direction = self.X @ D + Z @ B
        length, slack = 1.0, ROUNDING * abs(value)
        for _ in range(40):
            w = self.w + length * d
            F = self.F + length * direction
            lost = loss.value(F)
            there = lost + float(costs @ self.blocks.norms(w))
            if there <= value + 1e-4 * length * min(promised, 0.0) + slack:
                break
            length *= 0.5
        else:
            return False
        self.w = new if length == 1.0 else w
        self.F, self.gradient, further = settled(loss, Z, F)
        self.B = self.B + length * B + further
        self.value = loss.value(self.F)
        return True


def _solved_columns(system: np.ndarray, targets: np.ndarray) -> np.ndarray:
    found = solved(system, targets)
    assert found is not None
    return found
