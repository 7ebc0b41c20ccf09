"""The DC algorithm: minimise g - h by replacing h with its tangent, again and again.

The program is any object with three methods; this module owns the loop, the check that the
objective never rises, the trace and the stopping rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..base import Callback, Event, Result


class DCProgram(Protocol):
    """Minimise g(x) - h(x) over a convex set, with g and h convex.

    x and the slope may be any objects; the loop only passes them on. A program may also have
    ``has_same_support(old, new) -> bool``, asked in addition to the relative decrease before
    stopping (for example: is the support the same?).
    """

    def value(self, x: Any) -> float:
        """g(x) - h(x); infinity outside the feasible set."""

    def linearise(self, x: Any) -> Any:
        """A subgradient of h at x, in whatever form ``solve_convex`` takes it."""

    def solve_convex(self, slope: Any, x0: Any) -> Any:
        """A minimiser of g(x) - <slope, x>; x0 is the current point, for a warm start."""


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

    def solve(self, program: DCProgram, x0: Any, callback: Callback | None = None) -> Result[Any]:
        """Run from x0, which may be infeasible (of infinite value).

        The optimality of the result is the last relative decrease, zero where the convex step
        found nothing lower; its trace never rises. The callback sees every accepted point.
        """
        x, best = x0, float(program.value(x0))
        settled = getattr(program, "has_same_support", lambda old, new: True)
        trace: list[float] = []
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
                    decrease = 0.0 if converged else -decrease
                    break
            elif value == np.inf:
                break  # the convex step found no feasible point either
            unchanged = settled(x, candidate)
            x, best = candidate, value
            trace.append(value)
            if callback is not None and callback(Event(n_iter, value, decrease, solution=x)):
                break
            if decrease <= self.tol and unchanged:
                converged = True
                break
        return Result(x, best, float(decrease), n_iter, converged, trace)
