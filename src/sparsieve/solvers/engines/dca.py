"""The DC algorithm: minimise g - h by replacing h with its tangent, again and again.

The program is any object with three methods; this module owns the loop, the check that the
objective never rises, the history and the stopping rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


class DCProgram(Protocol):
    """Minimise g(x) - h(x) over a convex set, with g and h convex.

    x and the slope may be any objects; the loop only passes them on. A program may also have
    ``settled(old, new) -> bool``, asked in addition to the relative decrease before stopping
    (for example: is the support the same?).
    """

    def value(self, x) -> float:
        """g(x) - h(x); infinity outside the feasible set."""

    def linearise(self, x) -> Any:
        """A subgradient of h at x, in whatever form ``solve_convex`` takes it."""

    def solve_convex(self, slope, x0) -> Any:
        """A minimiser of g(x) - <slope, x>; x0 is the current point, for a warm start."""


@dataclass(frozen=True)
class DCAResult:
    """Where the DC algorithm ended.

    Attributes
    ----------
    x : object
        The last accepted point.
    objective : float
        Its value; the smallest of ``history``.
    n_iter : int
        Number of convex problems solved.
    converged : bool
        Whether the stopping rule was met (not the iteration limit, the callback, or a convex
        step that made things worse).
    decrease : float
        Last relative decrease of the objective.
    history : list of float
        Objective after every accepted step; never increases.
    """

    x: Any
    objective: float
    n_iter: int
    converged: bool
    decrease: float
    history: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class DCA:
    """Settings of the DC algorithm.

    Attributes
    ----------
    max_iter : int
        Most convex problems to solve.
    tol : float
        Stop when the objective falls by less than this share of itself.
    slack : float
        Relative error of the convex solver. A rise within the slack means that the objective
        has settled as far as the convex solver can tell: the better point is kept and the loop
        has converged. A larger rise stops the loop as not converged.
    """

    max_iter: int = 20
    tol: float = 1e-4
    slack: float = 1e-6

    def solve(
        self,
        program: DCProgram,
        x0,
        callback: Callable[[int, Any, float], bool | None] | None = None,
    ) -> DCAResult:
        """Run from x0, which may be infeasible (of infinite value).

        ``callback(iteration, x, value)`` sees every accepted point; returning True stops.
        """
        x, best = x0, float(program.value(x0))
        settled = getattr(program, "settled", lambda old, new: True)
        history: list[float] = []
        decrease, converged, n_iter = np.inf, False, 0
        for n_iter in range(1, self.max_iter + 1):
            candidate = program.solve_convex(program.linearise(x), x)
            value = float(program.value(candidate))
            if np.isnan(value):
                break
            if np.isfinite(best):
                scale = max(abs(best), np.finfo(float).tiny)
                decrease = (best - value) / scale
                if decrease < 0.0:
                    converged = -decrease <= self.slack
                    break
            elif value == np.inf:
                break  # the convex step found no feasible point either
            unchanged = settled(x, candidate)
            x, best = candidate, value
            history.append(value)
            if callback is not None and callback(n_iter, x, value):
                break
            if decrease <= self.tol and unchanged:
                converged = True
                break
        return DCAResult(x, best, n_iter, converged, float(max(decrease, 0.0)), history)
