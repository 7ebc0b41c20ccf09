"""The few features that a solver works with, as a growing block of dense columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._beside import put, rows_in_use
from ...design import DesignMatrix
from ...penalties import row_norms
from .engine import DOUBT_DECREASE, MIN_SHARE, is_doubtful


@dataclass(frozen=True)
class Goal:
    """How small a gap is enough: a share of the objective, but no less than ``least``.

    ``decided`` asks in addition that the gap tells which rows are zero, where that can be had.
    """

    share: float
    floor: float = 0.0  # of the objective
    least: float = 0.0
    decided: bool = False

    def gap(self, objective: float) -> float:
        """The gap that is enough at this objective."""
        return max(self.share * max(objective, self.floor), self.least)

    def tightened(self) -> Goal:
        """The next goal where rows are in doubt; the last one asks for no decision any more."""
        share = DOUBT_DECREASE * self.share
        return replace(self, share=share, least=0.0, decided=share > MIN_SHARE)


class WorkingSet:
    """Dense columns of a design with their coefficients, in double precision whatever the design.

    How to descend on them is for subclasses to say.

    Attributes
    ----------
    needs : str
        The method of a penalty that the descent uses.
    """

    needs: ClassVar[str]

    def __init__(self, design: DesignMatrix, Y: np.ndarray):
        self.design = design
        self.Y = Y.astype(np.float64)
        self.power: float = float(np.vdot(self.Y, self.Y))
        self.features: np.ndarray = np.empty(0, dtype=np.int64)
        # Which features may join still, beside X.
        self.outside: Any = design.beside(np.ones(design.shape[1], dtype=bool))
        self.seen: np.ndarray = np.zeros(
            design.shape[1], dtype=bool
        )  # nonzero in an earlier solution
        self._columns = np.empty((design.shape[0], 0), order="F")
        self.W = np.empty((0, Y.shape[1]))

    @property
    def size(self) -> int:
        return len(self.features)

    @property
    def columns(self) -> np.ndarray:
        return self._columns[:, : self.size]

    def add(self, features: np.ndarray) -> None:
        """Append features with zero coefficients."""
        old, new = self.size, self.size + len(features)
        if new > self._columns.shape[1]:
            self._reserve(min(max(new, 2 * old), self.design.shape[1]))
        self._columns[:, old:new] = self.design.dense_columns(features)
        put(self.outside, features, False)
        self.features = np.concatenate([self.features, features])
        self.W = np.vstack([self.W, np.zeros((len(features), self.W.shape[1]))])

    def _reserve(self, capacity: int) -> None:
        columns = np.empty((self.design.shape[0], capacity), order="F")
        columns[:, : self.size] = self.columns
        self._columns = columns

    def batch_size(self) -> int:
        """How many features are worth adding at once."""
        raise NotImplementedError

    def descend(self, penalty: Any, goal: Goal, max_sweeps: int) -> int:
        """Lower the objective until the gap of the restricted problem is small enough.

        Returns the number of sweeps made.
        """
        raise NotImplementedError

    def move_if_lower(self, penalty: Any, candidate: np.ndarray) -> None:
        """Take over other coefficients if their objective is lower."""
        raise NotImplementedError

    def refine(self, G: Any, R: np.ndarray) -> None:
        """Replace the rows of G = X'R in the set by more exact ones, where such are known."""
        raise NotImplementedError

    def in_doubt(
        self,
        squares: np.ndarray,
        spread: np.ndarray,
        dual_norms: np.ndarray,
        alpha: float,
        gap: float,
    ) -> bool:
        """Whether a new row is nonzero, or zero, by less than the gap can tell.

        A gap bounds the error of the residual by its root, and that of a row's dual
        norm by 2 ``spread`` times as much. ``squares`` are those of the columns' norms.
        """
        fits = squares * row_norms(self.W) ** 2
        doubtful = is_doubtful(fits, dual_norms, 2.0 * spread, alpha, gap)
        return bool((doubtful & ~self.seen[self.features]).any())

    def active(self) -> np.ndarray:
        """Rows with a nonzero coefficient."""
        return rows_in_use(self.W)

    def residual(self) -> np.ndarray:
        """Y - X_S W."""
        active = self.active()
        return self.Y - self.columns[:, active] @ self.W[active]
