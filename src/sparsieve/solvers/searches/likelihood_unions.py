"""Groups that share columns, with one coefficient for each column.

The search ranks groups as if each had a column of its own; what is kept of every size is the fit on
the union of their columns, with the ridge of each once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .likelihood_neighbours import RidgeLikelihood
from .ridge_fit import ridge_fit

if TYPE_CHECKING:
    from .likelihood_forward import Selected


def columns_once(problem: RidgeLikelihood, support: ArrayLike) -> np.ndarray:
    """The free columns and those of a support, each once; of many columns, a factor."""
    if problem.groups is None or problem.members is None or not problem.members.overlap:
        return problem.columns(support)
    groups = np.asarray(support, dtype=np.int64).tolist()
    members = np.concatenate([np.arange(0), *(problem.groups[g] for g in groups)])
    A, _ = _factor(problem, np.unique(members))
    return np.asfortranarray(np.hstack([problem.free, A]))


def selected_once(problem: RidgeLikelihood, found: Selected, scale: float) -> Selected:
    """What was selected, with one coefficient for a column of several groups."""
    columns = np.unique(found.columns)
    if len(columns) == len(found.columns):
        return found
    A, back = _factor(problem, columns)
    both = np.asfortranarray(np.hstack([problem.free, A]))
    fit = ridge_fit(problem.loss, both, problem.penalty(A.shape[1]), scale=scale)
    n_free = problem.free.shape[1]
    W = fit.W[n_free:] if back is None else back @ fit.W[n_free:]
    return replace(found, columns=columns, W=W, free=fit.W[:n_free], objective=fit.objective)


def _factor(problem: RidgeLikelihood, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Columns of X; where they outnumber the samples L of X_U = LQ', and Q."""
    X = np.asarray(problem.design.dense_columns(columns), dtype=np.float64)
    if len(columns) <= len(X):
        return X, None
    Q, R = np.linalg.qr(X.T)
    return R.T, Q
