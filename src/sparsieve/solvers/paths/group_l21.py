"""Least squares with a penalty on groups of rows, along a path of strengths."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...penalties import L21
from ..base import LeastSquares, Result
from ..engines.group_products import PenalisedGroups
from .block_model import BlockModel, GroupRows
from .engine import PathEngine


@dataclass(frozen=True)
class GroupL21(PathEngine, PenalisedGroups):
    """Minimise ||XW - Y||^2 + a penalty on groups of rows, for falling strengths.

    The penalty is that of the problem, alpha sum_g c_g ||W_g|| where it has none.

    Parameters
    ----------
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used.
    weights : ndarray of shape (n_groups,)
        c_g, positive.
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective or, for a penalty that is
        not convex, the residual of the stationarity conditions ``tol`` times their strength.
    max_iter : int
        Largest number of sweeps over the working set for one strength.
    decided : bool
        Go on where the gap cannot tell which groups are zero.
    """

    def _model(self, problem: LeastSquares, start: Result[GroupRows] | None) -> BlockModel:
        penalty = L21(1.0) if problem.penalty is None else problem.penalty
        model = BlockModel(replace(problem, penalty=penalty), self)
        if start is not None:
            model.begin(start.solution)
        return model
