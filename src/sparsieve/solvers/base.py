"""What goes into a solver and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..design import DesignMatrix
from ..losses import Loss

# Called after every outer iteration with what is worth watching; returning True stops the solver.
Callback = Callable[[dict[str, Any]], bool | None]


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
class Result:
    """The outcome of a solver.

    ``optimality`` is the measure that the solver stops on (a duality gap or a stationarity
    residual); ``converged`` says whether it became small enough. ``pull`` is, where a solver
    knows it, the norm of the loss gradient of every row: how much a zero row wants to enter.
    """

    W: np.ndarray
    objective: float
    optimality: float
    n_iter: int
    converged: bool
    history: list[float] = field(default_factory=list)
    pull: np.ndarray = field(default_factory=lambda: np.empty(0))


class Solver(Protocol):
    """Settings in, ``solve`` out; warm starts are first-class."""

    def solve(
        self, problem: Problem, W0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Result: ...
