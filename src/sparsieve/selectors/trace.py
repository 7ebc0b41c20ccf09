"""How a fit went, read from a fitted selector: the way of its objective, and whether it arrived."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Descent:
    """Objective values of a fit.

    Attributes
    ----------
    histories : list of ndarray
        One per model, where a selector fits several.
    labels : list of str
        What to call the models.
    first : int
        Number of the first value.
    step_name : str
        What is counted: iterations, or the features of a greedy path.
    """

    histories: list[np.ndarray]
    labels: list[str]
    first: int
    step_name: str


def descent_of(selector) -> Descent:
    """``history_`` of a fitted selector with its meaning."""
    history = selector.history_
    several = len(history) > 0 and np.ndim(history[0]) > 0
    histories = [np.asarray(one, dtype=np.float64) for one in (history if several else [history])]
    return Descent(histories, _labels(selector, len(histories)), *_steps(selector, histories))


def why_not_converged(selector) -> str:
    """What kept a fitted selector from its goal, as part of a sentence; empty if it arrived."""
    if getattr(selector, "converged_", True):
        return ""
    optimality: Any = getattr(selector, "optimality_", None)
    tol: Any = getattr(selector, "tol", None)
    if isinstance(optimality, Real) and isinstance(tol, Real) and optimality > tol:
        return f"optimality {optimality:.2g} is above tol={tol:g}"
    return "it stopped early"


def _labels(selector, n_models: int) -> list[str]:
    classes = getattr(selector, "classes_", ())
    if n_models == 1:
        return ["objective"]
    if len(classes) == n_models:
        return [f"{label} against the rest" for label in classes]
    return [f"model {i}" for i in range(1, n_models + 1)]


def _steps(selector, histories: list[np.ndarray]) -> tuple[int, str]:
    """(first, what is counted): the objectives of a greedy path are no iterations."""
    by_size = getattr(getattr(selector, "path_", None), "objective", None)
    if by_size is not None and len(histories) == 1 and np.array_equal(by_size, histories[0]):
        n_sizes = len(selector.path_)
        return n_sizes + 1 - len(by_size), "number of features"
    return 1, "iteration"
