"""Block coordinate descent over groups of orthogonal columns, with Anderson's extrapolation.

Sweeps are compiled (``_group_cd_kernels``), what is done once a sweep is NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from .quadratic_model import block_norms

MEMORY = 5  # sweeps that the extrapolation combines
# Share of the trace that is added to the products of steps, which may be dependent.
JITTER = 1e-12


def descend(
    columns: np.ndarray,
    packed: Any,
    firsts: np.ndarray,
    starts: np.ndarray,
    squares: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    target: np.ndarray,
    power: float | None,
    halves: np.ndarray,
    rows: Any,
    share: float,
    floor: float,
    max_sweeps: int,
) -> int:
    """Sweeps over groups, with extrapolations, until their gap is small enough.

    Minimises ||R||^2 / 2 + sum_g halves_g ||W_g||, in place. Groups are visited in turn and
    minimised exactly. Where ``rows`` puts something more on single rows, sweeps go on until one of
    them lowers the objective by no more than the gap may be.

    Parameters
    ----------
    columns : (n, n_samples), or the Gram matrix of these columns.
    packed : None, or sparse columns as ``PackedColumns.packed`` has them.
    firsts : the first column of every group; ``starts``: its place in W and the squares.
    squares : squared norms of the columns.
    W : (n_outputs, n_columns); ``R``: (n_outputs, n_samples), the residual, or X'R.
    target : (n_outputs, n_samples), Y, or X'Y.
    power : None, or ||Y||^2 where R is X'R.
    rows : None, or the ``rows`` of a penalty.
    share, floor : stop where the gap is at most share times the objective, or times the floor.

    Returns the number of sweeps.
    """
    from ._group_cd_kernels import price_of_rows, sweep

    widest = int(np.diff(starts).max())
    space = np.empty((widest, len(W))), np.empty(2 * widest)
    kept_W, kept_R = np.empty((MEMORY + 1, *W.shape)), np.empty((MEMORY + 1, *R.shape))

    def assess(largest: float) -> tuple[float, float]:
        """Objective and duality gap, halved, from the largest ||X_g'R|| / halves_g."""
        if power is None:
            fit, rest = float(np.vdot(R, target)), float(np.vdot(R, R))
        else:
            fit = power - float(np.vdot(W, target))
            rest = max(fit - float(np.vdot(W, R)), 0.0)
        value = 0.5 * rest + float(halves @ block_norms(W.T, starts))
        if rows is not None:
            value += price_of_rows(rows, W)
        scale = fit / rest if rest > 0.0 else 0.0
        scale = 1.0 / largest if scale * largest > 1.0 else scale
        return value, value - scale * (fit - 0.5 * scale * rest)

    sweeps, value = 0, assess(0.0)[0]
    while True:
        kept_W[0], kept_R[0] = W, R
        for memory in range(1, MEMORY + 1):
            largest = sweep(
                *(columns, packed, firsts, starts, squares, W, R, power),
                *(halves, rows, *space),
            )
            sweeps += 1
            before = value
            value, gap = assess(largest)
            if rows is not None:
                gap = before - value
            # Also where it is no number.
            if not gap > share * max(value, floor) or sweeps >= max_sweeps:
                return sweeps
            kept_W[memory], kept_R[memory] = W, R
        mixing = weights_of(kept_W.reshape(MEMORY + 1, -1))
        if mixing is not None:
            W[:], R[:] = np.tensordot(mixing, kept_W[1:], 1), np.tensordot(mixing, kept_R[1:], 1)
            mixed = assess(0.0)[0]
            if mixed < value:
                value = mixed
            else:
                W[:], R[:] = kept_W[MEMORY], kept_R[MEMORY]


def weights_of(iterates: np.ndarray) -> np.ndarray | None:
    """Anderson's weights of the last iterates, if there are any.

    They sum to one, and the combination of the steps with them is shortest.
    """
    steps = np.diff(iterates, axis=0)
    M = steps @ steps.T
    M[np.diag_indices(MEMORY)] += JITTER * M.trace()
    z, failed = lapack.dposv(M, np.ones(MEMORY), lower=1)[1:]
    return None if failed else z / z.sum()
