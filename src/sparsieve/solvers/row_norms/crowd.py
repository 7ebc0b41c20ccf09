"""Which l2,1-loss problems on sparse data have too many features for dense columns, and how then.

A round of the working set takes the features that pull hard enough, as sparse columns, and takes
primal-dual steps on them; all of X is read once per round, to certify and to find more of them.
"""

from __future__ import annotations

import numpy as np

from ...design import DesignMatrix, in_double
from ...penalties import row_norms
from ..base import Callback, Event, Result, relative
from .primal_dual import PrimalDual, SaddlePoint
from .problem import RobustData
from .row_norm_problem import FeaturesInUse, RowNormPoint

# Below so many samples dense columns are cheap.
MANY_SAMPLES = 2000
# A Newton step costs n p^2 multiplications at the speed of BLAS, a primal-dual step four times
# the stored numbers and outputs at that of sparse products, ten times slower; there are a dozen of
# the ones and hundreds of the others. With few outputs there are more of these, not fewer.
WORTH, FEW_OUTPUTS = 1000.0, 10
# Features this close to entering come along; what is zero and this far from it is left behind.
CLOSE, FAR = 0.95, 0.8
# Accuracy rises by this factor from round to round, once nothing outside pulls by so much more
# than alpha.
FIRST_TOL, SHARPER, EAGER = 1e-2, 0.1, 1.02
# With so many of them X itself is used and no copy of columns.
MOST = 0.7


def crowded(data: RobustData, size: int) -> bool:
    """Whether so many features are better taken as sparse columns, by primal-dual steps."""
    n_samples = len(data.Y)
    if n_samples <= MANY_SAMPLES or data.design.is_remote:
        return False
    per_sample = data.design.stored / n_samples
    return float(size) ** 2 > WORTH * per_sample * max(data.Y.shape[1], FEW_OUTPUTS)


def solve_crowd(
    data: RobustData,
    eligible: np.ndarray,
    alpha: float,
    pulls: np.ndarray,
    start: SaddlePoint,
    *,
    tol: float,
    max_iter: int,
    callback: Callback | None,
) -> Result[FeaturesInUse]:
    """Solve to a relative duality gap of ``tol``; ``start`` and ``pulls`` are for all features."""
    inside = eligible & ((pulls > CLOSE * alpha) | start.W.any(axis=1))
    W, B, M = start.W, start.B, start.M
    trace: list[float] = []
    n_iter, stage = 0, max(FIRST_TOL, tol)
    while True:
        whole = inside.sum() > MOST * len(inside) and bool(eligible.all())
        features = np.arange(len(inside)) if whole else np.flatnonzero(inside)
        solver = PrimalDual(
            _columns(data.design, None if whole else features),
            data.Y,
            data.weights,
            data.free_basis,
            alpha,
        )
        inner = solver.run(stage, max_iter - n_iter, SaddlePoint(W[features], B.copy(), M.copy()))
        point = inner.solution
        n_iter += inner.n_iter
        trace.extend(inner.trace)
        pulls = data.pulls(point.dual)
        excess = max(1.0, float((pulls[eligible] / alpha).max(initial=0.0)))
        bound = point.bound / excess
        gap = relative(inner.objective - bound, inner.objective)
        stop = callback is not None and callback(Event(n_iter, inner.objective, gap, len(features)))
        if gap <= tol or n_iter >= max_iter or stop or not inner.converged:
            used = _in_use(data, features, point, alpha, pulls)
            return Result(used, inner.objective, gap, n_iter, gap <= tol, trace)
        if excess <= EAGER:
            stage = max(SHARPER * stage, 0.5 * tol)
        W = np.zeros_like(start.W)
        W[features] = point.W
        B, M = point.B, point.dual
        far = (pulls < FAR * alpha) & ~W.any(axis=1)
        inside = eligible & ((inside & ~far) | (pulls > CLOSE * alpha))


def _columns(design: DesignMatrix, features: np.ndarray | None) -> DesignMatrix:
    return in_double(design if features is None else design.columns(features))


def _in_use(
    data: RobustData, features: np.ndarray, point: RowNormPoint, alpha: float, pulls: np.ndarray
) -> FeaturesInUse:
    kept = point.W.any(axis=1)
    features, W = features[kept], point.W[kept]
    predicted = data.design.columns(features).matmul(W.astype(data.design.dtype, copy=False))
    residual = data.Y - predicted - data.free_basis @ point.B
    # The multipliers at a solution: norms over their prices.
    rows = np.concatenate([row_norms(W) / alpha, row_norms(residual) / data.weights])
    return FeaturesInUse(features, W, point.B, point.dual, rows, pulls)
