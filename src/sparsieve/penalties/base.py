"""The interface of a penalty, and how solvers ask for more than the minimum."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Penalty(Protocol):
    """A function of the whole coefficient matrix W (n_features x n_outputs).

    ``value`` and ``prox`` are required. Optional capabilities, each a method:

    - ``optimality(W, G)``: distance of -G to the subdifferential at W, per row;
    - ``critical_strength(G0)``: smallest strength at which W = 0 is optimal when the gradient
      of the loss at zero is G0;
    - ``row_strengths()``: (alpha, beta) of a penalty alpha ||w||_2 + beta ||w||_1^2 per row;
    - ``dual_bound_from(residual_sq, inner, G)``: a lower bound of the optimum of the squared-loss
      problem, from ||R||^2, <R, Y> and G = 2 X'R at any W;
    - ``dc_gradient(W)``: subgradient of the concave part of a difference of convex functions.
    """

    def value(self, W) -> float: ...

    def prox(self, V, step): ...


def require(penalty, *capabilities: str, solver: str) -> None:
    """Name the capability that a solver needs and a penalty lacks."""
    for capability in capabilities:
        if not hasattr(penalty, capability):
            raise TypeError(
                f"{solver} needs a penalty with {capability}(), "
                f"which {type(penalty).__name__} does not have"
            )


def row_norms(W) -> np.ndarray:
    """Euclidean norm of every row."""
    return np.sqrt(np.einsum("ij,ij->i", W, W))
