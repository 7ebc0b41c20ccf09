"""Cone programs by Clarabel, called directly: no modelling layer, no parsing, no copies.

    minimise q'x  subject to  b - A x in K,

where K is a product of nonnegative rays and second-order cones, in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

# A failed solve is tried again: with the rows and columns rescaled by Clarabel (which helps badly
# scaled programs and harms well scaled ones), then with tolerances this much looser; the last one
# is still far below the accuracy at which features are told apart.
ATTEMPTS = ((False, 1.0), (True, 1.0), (False, 1e2), (True, 1e2), (False, 1e4), (True, 1e4))


@dataclass(frozen=True)
class ConeSolution:
    """Primal and dual solution of a cone program.

    Attributes
    ----------
    status : {"solved", "infeasible", "unbounded", "failed"}
    x, z : ndarray
        Primal variables, and multipliers of the rows (in the dual cone).
    objective, dual_objective : float
        Values of the two; equal up to the tolerance.
    """

    status: str
    x: np.ndarray
    z: np.ndarray
    objective: float
    dual_objective: float


@dataclass
class ConeProgram:
    """A cone program whose cost can be changed and solved again.

    Attributes
    ----------
    q : ndarray of shape (n_variables,)
        Cost.
    A : sparse matrix of shape (n_rows, n_variables)
    b : ndarray of shape (n_rows,)
    n_nonnegative : int
        The first rows, each nonnegative.
    cone_sizes : sequence of int
        Sizes of the second-order cones that the other rows form; the first row of each bounds
        the norm of its others.
    tol : float
        Tolerance on gap and feasibility, relative and absolute.
    """

    q: np.ndarray
    A: sparse.csc_matrix
    b: np.ndarray
    n_nonnegative: int
    cone_sizes: Sequence[int]
    tol: float = 1e-9
    _solver: object = field(default=None, init=False, repr=False)

    def solve(self, q: np.ndarray | None = None) -> ConeSolution:
        """Solve, for a new cost if one is given; what fails (or seems unbounded) is retried."""
        if q is not None:
            self.q = q
        solution = None
        for attempt, (equilibrate, factor) in enumerate(ATTEMPTS):
            solution = self._attempt(self.tol * factor, equilibrate, fresh=attempt > 0)
            if solution.status in ("solved", "infeasible"):
                break
        assert solution is not None
        return solution

    def _attempt(self, tol: float, equilibrate: bool, fresh: bool) -> ConeSolution:
        import clarabel

        if self._solver is None or fresh:
            cones = []
            if self.n_nonnegative:
                cones.append(clarabel.NonnegativeConeT(self.n_nonnegative))
            cones += [clarabel.SecondOrderConeT(size) for size in self.cone_sizes]
            settings = clarabel.DefaultSettings()
            settings.verbose = False
            settings.max_threads = 1
            # Presolve may drop rows, after which the cost can no longer be updated.
            settings.presolve_enable = False
            settings.equilibrate_enable = equilibrate
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
            n_variables = len(self.q)
            no_quadratic = sparse.csc_matrix((n_variables, n_variables))
            self._solver = clarabel.DefaultSolver(
                no_quadratic, self.q, sparse.csc_matrix(self.A), self.b, cones, settings
            )
        else:
            self._solver.update(q=self.q)  # type: ignore[attr-defined]
        answer = self._solver.solve()  # type: ignore[attr-defined]
        status = {
            "Solved": "solved",
            "PrimalInfeasible": "infeasible",
            "DualInfeasible": "unbounded",
        }.get(str(answer.status), "failed")
        return ConeSolution(
            status,
            np.asarray(answer.x),
            np.asarray(answer.z),
            float(answer.obj_val),
            float(answer.obj_val_dual),
        )
