"""The compiled descent of ``_newton_kernels`` for losses that have no compiled functions.

The same code runs uncompiled, with questions to the loss in the place of compiled functions. All
that goes through numbers one by one is compiled there as well.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from ..losses.base import Loss
from .free import settled

# Of the bound on the Hessian: what rounding may have taken from its diagonal.
ROUNDED_CURVATURE = 1e-14


class AskedLoss:
    """A loss with the two places for what is known that compiled ones have."""

    here: _Known
    kept: _Known

    def __init__(self, loss: Loss) -> None:
        self.loss: Loss = loss
        self.here, self.kept = _Known(), _Known()


class _Known:
    """The predictors that a loss was evaluated at."""

    F: np.ndarray


def _evaluate(asked: AskedLoss, known: _Known, F: np.ndarray, gradient: np.ndarray) -> float:
    if known is asked.kept:
        known.F = F.copy()
        return np.nan  # nobody asks for it there
    value = asked.loss.value(F)
    if np.isfinite(value):
        gradient[:] = asked.loss.gradient(F)
    return value


def _bound(asked: AskedLoss, known: _Known, F: np.ndarray, t: float) -> float:
    return asked.loss.dual_value(F, t)


def _cross_hessian(
    asked: AskedLoss, known: _Known, X: np.ndarray, rows: np.ndarray, first: int
) -> np.ndarray:
    loss, new = asked.loss, X[rows[first:]].T
    bounds = loss.curvature(known.F)
    cross = loss.mixed_hessian(known.F, X[rows[:first]].T, new)
    own = loss.hessian(known.F, new)
    own[np.diag_indices_from(own)] += ROUNDED_CURVATURE * (new**2).T.dot(bounds).ravel()
    return np.vstack((cross, own))


def _settle(
    asked: AskedLoss,
    X: np.ndarray,
    n_free: int,
    W: np.ndarray,
    F: np.ndarray,
    gradient: np.ndarray,
    value: float,
) -> float:
    F[:], gradient[:], further = settled(asked.loss, X[:n_free].T, F)
    W[:n_free] += further
    return asked.loss.value(F)


@cache
def proximal_newton() -> Any:
    """The function of ``_newton_kernels`` of that name, for an :class:`AskedLoss`."""
    from . import _newton_kernels

    questions = {
        "evaluate": _evaluate,
        "bound": _bound,
        "cross_hessian": _cross_hessian,
        "settle": _settle,
    }
    own = {**vars(_newton_kernels), **questions}
    code = getattr(own["proximal_newton"], "py_func", own["proximal_newton"]).__code__
    return FunctionType(code, own)
