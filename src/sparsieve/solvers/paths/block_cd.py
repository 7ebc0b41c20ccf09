"""Block coordinate descent with working sets for row-sparse least squares.

The working set keeps a dense copy of its few columns and descends on them, on their Gram matrix
or, for the l1,inf norm, on the residual. The design itself is only read to certify (one
product X'R over all features) and to find features that violate their optimality condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...penalties import require
from ..base import Result
from ..least_squares import LeastSquares
from .engine import PathEngine
from .gram_cd import GramModel
from .l1inf_cd import CutRowsModel
from .rows_model import RowsModel

MODELS: tuple[type[RowsModel], ...] = (GramModel, CutRowsModel)


@dataclass(frozen=True)
class BlockCD(PathEngine):
    """Minimise ||XW - Y||^2 + sum_j alpha ||w_j||_2 + beta ||w_j||_1^2, or + alpha ||w_j||_inf.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Maximum number of sweeps over the working set for one strength, in all rounds together.
    decided : bool
        Go on where the gap cannot tell which rows of a plain l2,1 problem are zero.
    """

    def _model(self, problem: LeastSquares, start: Result[Any] | None) -> RowsModel:
        require(problem.penalty, "dual_norms", "dual_bound", solver="BlockCD")
        able = [kind for kind in MODELS if hasattr(problem.penalty, kind.needs)]
        if not able:
            require(problem.penalty, MODELS[0].needs, solver="BlockCD")
        model = able[0](problem)
        if start is not None:
            model.begin(start.solution.W)
        return model
