"""How far a problem in double precision may be from the one that it stands for.

A proof is about the data that were given. What is searched are their columns centred, scaled and
weighted, in double precision, so every column and the target carry errors. Everything that is
said to be proven holds for all columns and targets within these errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...design import DesignMatrix

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)


def least_objective(power: float) -> float:
    """Machine precision relative to the target: gaps of smaller objectives are relative to this."""
    return max(EPS * power, TINY)


def rounding(n_terms: int) -> float:
    """What orthogonal steps over so many terms lose at most, relative to the norm of a column.

    The worst case of one step is n eps; several steps add up like random numbers, far below the
    factor that is allowed here.
    """
    return 4.0 * (n_terms + 32) * EPS


@dataclass(frozen=True)
class Accuracy:
    """Errors of the columns and of the target of a least-squares problem.

    Attributes
    ----------
    columns : ndarray of shape (n_features,)
        The norm of the error of every column is at most this.
    target : float
        The same of the target.
    relative : float
        What factorising adds to the error of a column, relative to its norm.
    removed : ndarray of shape (n_samples, n_directions)
        Orthonormal directions that the exact columns and target are orthogonal to: the intercept
        and covariates. What the columns still show of them is no part of the problem.
    from_products : bool
        Only inner products were computed, and the columns made of these: they may be far from the
        exact ones. The error of an inner product is at most ``relative`` times the ``columns`` of
        both, or the ``target``.
    exactly : callable or None
        Gives min ||Y - X_S W||^2 of some features as a fraction, without any rounding.
    """

    columns: np.ndarray
    target: float
    relative: float
    removed: np.ndarray
    from_products: bool = False
    exactly: Callable[[np.ndarray], Fraction] | None = None

    @classmethod
    def from_data(cls, design: DesignMatrix, Y: np.ndarray) -> Accuracy:
        """The accuracy of columns and a target that are exact as they are."""
        n_samples, n_features = design.shape
        return cls(np.zeros(n_features), 0.0, rounding(n_samples), np.zeros((n_samples, 0)))
