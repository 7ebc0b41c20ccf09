"""What goes into the least-squares solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...design import DesignMatrix
from ...losses import Loss

LegacyCallback = Callable[[dict[str, Any]], "bool | None"]


@dataclass(frozen=True)
class Problem:
    """Minimise loss(Y, X W) + penalty(W) over W.

    The penalty is a ``Penalty`` with whatever further capabilities the solver asks for.
    """

    design: DesignMatrix
    Y: np.ndarray
    loss: Loss
    penalty: Any

    def objective(self, W) -> float:
        """Value at W."""
        return self.loss.value(self.Y, self.design.matmul(W)) + self.penalty.value(W)


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
