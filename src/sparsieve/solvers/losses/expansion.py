"""A loss at linear predictors: value, gradient, dual value and products with its Hessian.

Where there are compiled functions of the loss all of this comes from one pass over the samples.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, Self

import numpy as np

from .base import CoxData, Loss
from .cox import CANCELLED

# Of the bound on the Hessian: what rounding may have taken from its diagonal.
ROUNDED_CURVATURE = 1e-14
# Predictors change by no more than this in one step, or than twice the largest of them: where a
# loss is all but flat Newton's step would lead to nowhere.
MAX_CHANGE = 100.0


class Expansion:
    """Any loss at predictors F of shape (n_samples, n_outputs), asked by its methods.

    Attributes
    ----------
    value : float
        Infinite, or not a number, where it cannot be evaluated.
    gradient : ndarray of the shape of F
    """

    def __init__(self, loss: Loss, F: np.ndarray) -> None:
        self.loss: Loss = loss
        self.F: np.ndarray = F
        self.value: float = loss.value(F)

    @cached_property
    def gradient(self) -> np.ndarray:
        return self.loss.gradient(self.F)

    def at(self, F: np.ndarray) -> Self:
        """The same loss at other predictors."""
        return type(self)(self.loss, F)

    def dual_value(self, t: float) -> float:
        """The value of the dual point -t times the gradient."""
        return self.loss.dual_value(self.F, t)

    def hessian(self, X: np.ndarray) -> np.ndarray:
        """X'HX of the columns of X."""
        return self.loss.hessian(self.F, X)

    def cross_hessian(self, X: np.ndarray, first: int) -> np.ndarray:
        """XHX' of all rows of X, and those from the first on; outputs are neighbours.

        Its diagonal is not less than what rounding may have left of it.
        """
        loss, new = self.loss, X[first:].T
        bounds = loss.curvature(self.F)
        cross = loss.mixed_hessian(self.F, X[:first].T, new)
        own = loss.hessian(self.F, new)
        own[np.diag_indices_from(own)] += ROUNDED_CURVATURE * (new**2).T.dot(bounds).ravel()
        return np.vstack((cross, own))


class CompiledExpansion(Expansion):
    """A loss of one output that has compiled functions.

    Attributes
    ----------
    curvature : ndarray of shape (n_samples,)
        The diagonal matrix that the Hessian is, or, of Cox, is below.
    """

    def __init__(self, loss: Loss, F: np.ndarray) -> None:
        self.loss: Loss = loss
        self.F: np.ndarray = F
        self.data: Any = loss.compiled
        self._f: np.ndarray = np.ascontiguousarray(F[:, 0])
        g, curvature, v = np.empty((3, len(F)))
        self.curvature: np.ndarray = curvature
        self._v: np.ndarray = v
        self._terms: np.ndarray = space_for_terms(self.data)
        evaluate, self._dual_value = _kernels(self.data.__class__)
        self.value: float = evaluate(self.data, self._f, g, self.curvature, self._v, self._terms)
        self.gradient = g[:, None]

    def dual_value(self, t: float) -> float:
        return self._dual_value(self.data, self._f, t, self._v)

    def hessian(self, X: np.ndarray) -> np.ndarray:
        return self.cross_hessian(np.ascontiguousarray(X.T), 0)

    def hessian_rows(self, rows: np.ndarray) -> np.ndarray:
        """H x of every row x."""
        if not isinstance(self.data, CoxData):
            return rows * self.curvature
        from ._loss_kernels import cox_rows

        found = np.empty_like(rows)
        cox_rows(self.data, rows, self.curvature, self._v, self._terms, found)
        return found

    def cross_hessian(self, X: np.ndarray, first: int) -> np.ndarray:
        new, h = X[first:], self.curvature
        found = X @ self.hessian_rows(new).T
        if isinstance(self.data, CoxData):
            away = new - (new @ h / h.sum())[:, None]
            found[np.arange(first, len(X)), np.arange(len(new))] += CANCELLED * (away**2 @ h)
        return found

    def squares(self, X: np.ndarray) -> np.ndarray:
        """The numbers x'Hx of Cox for all columns x of X, whose rows are in its order."""
        from ._loss_kernels import cox_squares

        found, sums = np.empty(X.shape[1]), np.empty((2, X.shape[1]))
        cox_squares(self.data, X, self.curvature, self._v, self._terms, sums, found)
        return np.maximum(found, 0.0)


@cache
def _kernels(kind: Any) -> tuple[Any, Any]:
    """The compiled functions of one loss."""
    from ._loss_kernels import dual_value, evaluate

    return evaluate.dispatch(kind), dual_value.dispatch(kind)


def usual_length(F: np.ndarray, moved: np.ndarray) -> float:
    """1, or less where a loss is all but flat."""
    longest = float(np.abs(moved).max(initial=0.0))
    if longest <= MAX_CHANGE:
        return 1.0
    far = max(MAX_CHANGE, 2.0 * float(np.abs(F).max(initial=0.0)))
    return 1.0 if longest <= far else far / longest


def space_for_terms(data: Any) -> np.ndarray:
    """Space for the sums that compiled Cox keeps of every block; none for other losses."""
    return np.empty((len(data.blocks) if isinstance(data, CoxData) else 0, 7))
