"""The cone programs of the published machines: over all features, with |w| as variables."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .column_generation import ZERO_WEIGHT_TOL
from .conic import ConeProgram
from .moments import TwoClassMoments

CONE_TOL = 1e-9


def split_program(
    moments: TwoClassMoments,
    prices: np.ndarray,
    linear: np.ndarray,
    heads: np.ndarray,
    kappa: float,
    has_length: bool,
) -> ConeProgram:
    """Minimise prices't s.t. -t <= w <= t, ``linear`` <= -1, and both norms below ``heads``.

    Variables are w and t in units of the features, and a few others, the last of which is
    s >= ||w|| for the ridges. ``linear`` and ``heads`` have entries for w and for the others.

    Parameters
    ----------
    heads : ndarray of shape (2, n_features + n_others)
        What bounds kappa N_1 and kappa N_2, with the opposite sign.
    has_length : bool
        Whether s is bounded by the length of w.
    """
    d, units = moments.n_features, moments.sizes
    n_others = linear.shape[1] - d

    def wide(rows: np.ndarray) -> sparse.csc_matrix:
        return sparse.csc_matrix(np.hstack([rows[:, :d], np.zeros((len(rows), d)), rows[:, d:]]))

    eye, none = sparse.identity(d), sparse.csc_matrix((d, n_others))
    rows = [sparse.hstack([eye, -eye, none]), sparse.hstack([-eye, -eye, none]), wide(linear)]
    sizes = []
    for which in (0, 1):
        factor = moments.columns(which, np.arange(d)) / units
        block = np.zeros((len(factor) + 2, d + n_others))
        block[0] = heads[which]
        block[1:-1, :d] = -kappa * factor
        block[-1, -1] = -kappa * np.sqrt(moments.ridges[which])
        rows.append(wide(block))
        sizes.append(len(block))
    if has_length:
        head = np.zeros((1, d + n_others))
        head[0, -1] = -1.0
        body = sparse.hstack([-sparse.diags(1.0 / units), sparse.csc_matrix((d, d + n_others))])
        rows += [wide(head), body]
        sizes.append(d + 1)
    A = sparse.vstack(rows, format="csc")
    b = np.zeros(A.shape[0])
    b[2 * d : 2 * d + len(linear)] = -1.0
    cost = np.concatenate([np.zeros(d), prices / units, np.zeros(n_others)])
    return ConeProgram(cost, A, b, 2 * d + len(linear), sizes, CONE_TOL)


def without_noise(scaled: np.ndarray) -> np.ndarray:
    """The weights, with zeros for those that the accuracy of the solver leaves."""
    return np.where(np.abs(scaled) <= ZERO_WEIGHT_TOL * np.abs(scaled).max(), 0.0, scaled)
