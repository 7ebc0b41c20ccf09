"""The interface of a penalty, and how solvers ask for more than the minimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from .. import _beside
from .._saved import Savable


class Penalty(Protocol):
    """A function of the whole coefficient matrix W (n_features x n_outputs).

    Only ``value`` is required. Solvers check for further methods with ``require``:

    - ``prox(V, step)``: the minimiser of ||W - V||^2 / 2 + step * penalty(W);
    - ``dual_norms(G)``: per row, the regularisation parameter at which it enters where 2 X'R is G;
    - ``row_strengths()``: (alpha, beta) of a penalty alpha ||w||_2 + beta ||w||_1^2 per row;
    - ``dual_bound(Y, R, G)``: a lower bound of the optimum of the squared-loss problem, from
      R = Y - XW and G = 2 X'R at any W, and ``dual_bound_by_products(residual_sq, inner, G)``, the
      same from ||R||^2 and <R, Y>;
    - what ``GroupPenalty`` has, for coordinate descent over groups of rows.

    See Also
    --------
    sparsieve.penalties.require : Checks that a penalty has the methods a solver needs.
    sparsieve.penalties.GroupPenalty : Penalties on groups of rows.
    """

    def value(self, W: np.ndarray) -> float: ...


@dataclass(frozen=True)
class GroupPenalty(Savable):
    """sum_g phi(||W_g||) + sum_j psi(w_j) over groups of rows, for block coordinate descent.

    phi increases and is concave from zero on, psi is convex, and both grow with ``alpha``. As it
    stands this is alpha sum_g c_g ||W_g||; a penalty overrides what is different about it. One that
    is not convex is solved by majorisation, with the slopes as weights of norms, and has no duality
    gap: what solvers stop on is then the residual of the stationarity conditions.

    Attributes
    ----------
    alpha : float
        Strength.
    is_convex : bool
        Whether phi is linear.
    rows : tuple or None
        What compiled code needs of psi: strengths, as a named tuple of a class for which
        ``penalties._row_kernels`` has a proximal map; None without psi.

    See Also
    --------
    sparsieve.penalties.L21 : The one that overrides nothing.
    """

    alpha: float

    is_convex: ClassVar[bool] = True

    @property
    def rows(self) -> Any:
        return None

    def check(self) -> None:
        """Refuse bad settings in one sentence."""

    def rescale(self, total_weight: float) -> Self:
        """The penalty where columns have a variance of one: their squares add up to this."""
        return self

    def value(self, W: np.ndarray) -> float:
        """Penalty of W, with every row a group of its own."""
        norms = row_norms(W)
        return float(self.norm_values(norms, np.ones_like(norms)).sum()) + self.row_value(W)

    def norm_values(self, norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Phi of every group, from ||W_g|| and c_g."""
        return self.alpha * weights * norms

    def norm_slopes(self, norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The slope of phi, of groups without weight that to the right of zero."""
        return self.alpha * weights

    def row_value(self, W: np.ndarray) -> float:
        """The sum of psi over rows."""
        return 0.0

    def entering(self, squares: np.ndarray, starts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The strength at which every group without weight would enter.

        Parameters
        ----------
        squares : ndarray of shape (n_rows, n_points)
            ||g_j||^2 of every row of 2 X'R, one group after the other, at several points.
        starts : ndarray of int of shape (n_groups,)
            Where groups, none of them empty, begin.
        weights : ndarray of shape (n_groups,)

        Returns
        -------
        strengths : ndarray of shape (n_points, n_groups)
        """
        return np.sqrt(_group_sums(squares, starts)).T / weights


def _group_sums(rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sums of the rows of every group; of groups of one size they take a fraction of the time."""
    n_groups, (n_rows, n_points) = len(starts), rows.shape
    if n_rows == n_groups:
        return rows
    if n_rows % n_groups == 0 and (np.diff(starts) == n_rows // n_groups).all():
        return np.einsum("gpk->gk", rows.reshape(n_groups, -1, n_points))
    return np.add.reduceat(rows, starts, axis=0)


def require(penalty: object, *capabilities: str, solver: str) -> None:
    """Raise an error if a penalty lacks a method that a solver needs.

    See Also
    --------
    sparsieve.penalties.Penalty : Interface of a penalty.
    """
    for capability in capabilities:
        if not hasattr(penalty, capability):
            raise TypeError(
                f"{solver} needs a penalty with {capability}(), "
                f"which {type(penalty).__name__} does not have"
            )


def row_norms(W: Any) -> Any:
    """Euclidean norm of every row, of an array or a tensor.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    """
    return _beside.row_norms(W)


def critical_strength(G: Any) -> float:
    """Smallest strength of an l2,1 norm at which W = 0 is optimal, given the gradient G there.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    """
    return _beside.largest(row_norms(G))
