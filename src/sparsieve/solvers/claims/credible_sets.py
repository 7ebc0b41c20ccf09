"""Which of several correlated columns it may be: those that explain what is left nearly as well.

A test that leaves out a column and all of its neighbours says that one of them matters. Which one,
their likelihoods say, as in fine mapping in genetics: if exactly one of them matters, column i has
the weight (1 - s_i)^(-nu / 2), where s_i is the share of what is left of it that the target
explains and nu counts degrees of freedom. The set holds the heaviest columns that together have
nearly all of the weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._beside import some_of
from .distilled_state import PathResiduals, inverse_root

LARGEST_SHARE = 1.0 - 1e-12


@dataclass(frozen=True)
class CredibleSet:
    """Columns one of which matters.

    Attributes
    ----------
    columns : ndarray of int
        The heaviest first.
    weights : ndarray of float
        Their shares of the weight of all neighbours.
    """

    columns: np.ndarray
    weights: np.ndarray


def credible_set(
    left: PathResiduals, neighbours: np.ndarray, freedom: float, coverage: float
) -> CredibleSet:
    """The heaviest of some columns, with at least ``coverage`` of their weight.

    Parameters
    ----------
    left : PathResiduals
        What the columns of a path without any of these leave of them.
    neighbours : ndarray of int
        The columns that it may be.
    freedom : float
        Degrees of freedom that are left.
    coverage : float
        Between 0 and 1.
    """
    nu, norms = some_of(left.nu, neighbours), some_of(left.norms, neighbours)
    known = nu > left.tol * norms
    usable, nu = neighbours[known], nu[known]
    if not len(usable):
        return CredibleSet(neighbours[:1], np.ones(min(1, len(neighbours))))
    along = some_of(left.C, usable) @ inverse_root(left.target, left.tol)
    shares = np.minimum(np.einsum("dc,dc->d", along, along) / nu, LARGEST_SHARE)
    log_weights = -0.5 * freedom * np.log1p(-shares)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    order = np.argsort(-weights, kind="stable")
    size = int(np.searchsorted(np.cumsum(weights[order]), coverage)) + 1
    return CredibleSet(usable[order[:size]], weights[order[:size]])
