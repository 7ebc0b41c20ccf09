"""What goes into the least-squares solvers, and what comes out of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...design import DesignMatrix

LegacyCallback = Callable[[dict[str, Any]], "bool | None"]

# ||Y||^2 outside of [this, 1 / this] is refused: its products with squares of X would overflow.
SMALLEST = 1e-150


@dataclass(frozen=True)
class Problem:
    """Minimise ||XW - Y||^2 + penalty(W) over W.

    The penalty is a ``Penalty`` with whatever capabilities the solver asks for.
    """

    design: DesignMatrix
    Y: np.ndarray
    penalty: Any

    def __post_init__(self) -> None:
        largest = float(np.abs(self.Y).max(initial=0.0))
        if largest > 0 and not SMALLEST <= self.power <= 1.0 / SMALLEST:
            size = "large" if largest > 1 else "small"
            raise ValueError(
                f"the target is too {size} for its squares (its largest centred, weighted value "
                f"is {largest:.3g}); rescale y or the sample weights"
            )

    @property
    def power(self) -> float:
        """||Y||^2, which is the objective at W = 0."""
        Y = self.Y.astype(np.float64, copy=False)
        return float(np.vdot(Y, Y))

    @property
    def floor(self) -> float:
        """The least objective that gaps are measured by: below it a fit counts as perfect."""
        return float(np.sqrt(np.finfo(self.design.dtype).eps)) * self.power

    def objective(self, W: np.ndarray) -> float:
        """Value at W."""
        R = self.Y - self.design.matmul(W)
        return float(np.vdot(R, R)) + self.penalty.value(W)


@dataclass(frozen=True)
class Rows:
    """A solution of a row-sparse problem.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_outputs)
        Coefficients.
    pull : ndarray of shape (n_features,)
        ||2 x_j'(Y - XW)||, how hard every feature wants in.
    """

    W: np.ndarray
    pull: np.ndarray


@dataclass
class LegacyResult:
    """To be replaced by solvers.base.Result."""

    W: np.ndarray
    objective: float
    optimality: float
    n_iter: int
    converged: bool
    history: list[float] = field(default_factory=list)
    pull: np.ndarray = field(default_factory=lambda: np.empty(0))
