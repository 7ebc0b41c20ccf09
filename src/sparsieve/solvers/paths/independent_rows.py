"""Fewer coefficients for the same fit, where there are more than the samples can tell apart.

Along z with X z = 0 the fit of one output stays, and sum |w_j| changes in proportion until a
coefficient becomes zero. Going the way on which it does not grow leaves columns that are
independent, for which Newton's method is defined; with dependent ones its steps are tiny.
"""

from __future__ import annotations

import numpy as np

# Singular values below this share of the largest are zero.
RANK_TOL = 1e-12


def independent_rows(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Coefficients with the fit of w, all nonzero, and no larger sum |w_j|, on independent columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.paths.independent_rows import independent_rows
    >>> X = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> independent_rows(X, np.array([1.0, 1.0, 3.0]))
    array([0. , 1.5, 3. ])
    """
    _, sizes, V = np.linalg.svd(X, full_matrices=True)
    null = V[int((sizes > RANK_TOL * sizes[0]).sum()) :].T
    w, signs = w.copy(), np.sign(w)
    while null.shape[1]:
        weights = null.T @ signs
        size = float(np.linalg.norm(weights))
        z = -null @ (weights / size) if size > 1e-12 else null[:, 0]
        shrinking = np.flatnonzero(z * signs < 0)
        if not len(shrinking):  # rounding alone
            break
        steps = np.abs(w[shrinking] / z[shrinking])
        first = shrinking[np.argmin(steps)]
        w += float(steps.min()) * z
        w[first] = 0.0
        signs[first] = 0.0
        # Turn the basis so that only its first direction moves that coefficient, and drop it.
        row = null[first].copy()
        row[0] += np.copysign(np.linalg.norm(row), row[0])
        null = (null - np.outer(null @ row, 2.0 * row / (row @ row)))[:, 1:]
        null[first] = 0.0
    return np.where(signs * w > 0, w, 0.0)
