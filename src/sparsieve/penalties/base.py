"""The interface of a penalty, and how solvers ask for more than the minimum."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Penalty(Protocol):
    """A function of the whole coefficient matrix W (n_features x n_outputs).

    Only ``value`` is required. Solvers check for further methods with ``require``:

    - ``prox(V, step)``: the minimiser of ||W - V||^2 / 2 + step * penalty(W);
    - ``dual_norms(G)``: per row, the regularisation parameter at which it enters where 2 X'R is G;
    - ``row_strengths()``: (alpha, beta) of a penalty alpha ||w||_2 + beta ||w||_1^2 per row;
    - ``dual_bound(Y, R, G)``: a lower bound of the optimum of the squared-loss problem, from
      R = Y - XW and G = 2 X'R at any W, and ``dual_bound_from(residual_sq, inner, G)``, the
      same from ||R||^2 and <R, Y>.

    See Also
    --------
    sparsieve.penalties.require : Checks that a penalty has the methods a solver needs.
    """

    def value(self, W: np.ndarray) -> float: ...


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


def row_norms(W: np.ndarray) -> np.ndarray:
    """Euclidean norm of every row.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    """
    return np.sqrt(np.einsum("ij,ij->i", W, W))


def critical_strength(G: np.ndarray) -> float:
    """Smallest strength of an l2,1 norm at which W = 0 is optimal, given the gradient G there.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    """
    return float(row_norms(G).max(initial=0.0))
