"""How close some features are to the best ones of the same number, for a likelihood with ridge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...solvers.exact.likelihood_bounds import LikelihoodBounds
from ...solvers.searches.likelihood_forward import explainable
from ...solvers.searches.likelihood_groups import columns_once
from ...solvers.searches.likelihood_neighbours import RidgeLikelihood
from ...solvers.searches.ridge_fit import ridge_fit
from ..certificates import Certificate, make_certificate

# Objectives that differ by more than this share of what can be explained are of other data.
OBJECTIVE_TOL = 1e-4


def ridge_certificate(
    problem: RidgeLikelihood,
    sizes: np.ndarray,
    n_always: int,
    supports: Sequence[np.ndarray],
    known: np.ndarray | None = None,
) -> Certificate:
    """Bounds for the ridge fits on these supports.

    Parameters
    ----------
    problem : RidgeLikelihood
    sizes : ndarray of int
        Numbers of features, with the ``n_always`` that are free.
    n_always : int
    supports : sequence of ndarray
        The features that were chosen, for each of these numbers.
    known : ndarray or None
        Objectives that the supports had in the fit: others are refused.
    """
    loss, own = problem.loss, sizes - n_always
    bounds = LikelihoodBounds(problem, int(own.max(initial=0)))
    scale, reached = explainable(loss), np.empty(len(own))
    for place, (k, support) in enumerate(zip(own, supports, strict=True)):
        A = columns_once(problem, support)
        penalty = problem.penalty(A.shape[1] - problem.free.shape[1])
        reached[place] = ridge_fit(loss, A, penalty, scale=scale).objective
        if known is not None:
            check_same(reached[place], known[place], scale)
        bounds.bound(int(k), support)
    perfect = loss.null()[1] - scale
    objective, power = reached - perfect, float(bounds.best[0] - perfect)
    lower = np.minimum(bounds.best[own] - perfect, objective)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(own == 0, 0.0, (objective - lower) / objective)
    return make_certificate(
        problem.groups is not None, sizes, objective, lower, gap, power, n_always
    )


def check_same(objective: float, known: float, scale: float) -> None:
    """Refuse other data than those of the fit, by the objective on them."""
    if not abs(objective - known) <= OBJECTIVE_TOL * scale:
        raise ValueError(
            "X, y or the weights differ from what the selector was fitted on; pass the same data "
            "as to fit"
        )
