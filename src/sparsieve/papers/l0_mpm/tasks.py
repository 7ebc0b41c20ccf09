"""What all minimax probability machines share: scaling, two-class tasks and hyperplanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..._checks import check_choice, check_integer, check_real
from ...design import DesignMatrix
from ...design.standardise import Standardisation
from ...selectors.base import TrainingData
from ...selectors.margins import class_pairs
from ...selectors.preparation import Units
from ...solvers.base import Result
from .solvers.hyperplane import Hyperplane
from .solvers.moments import SampleGroup, TwoClassMoments
from .solvers.problem import Minimax

MULTI_CLASS = ("ovr", "ovo")
RIDGES = ("auto", "ledoit_wolf")


def check_real_or_name(name: str, value: Any, names: Sequence[str], **limits: Any) -> None:
    """Refuse anything but a number within the limits or one of ``names``."""
    if isinstance(value, str):
        check_choice(name, value, names)
    else:
        check_real(name, value, **limits)


def check_machine(estimator: Any) -> None:
    """Refuse bad values of the parameters that all machines have."""
    check_real_or_name("ridge", estimator.ridge, RIDGES, minimum=0)
    check_choice("multi_class", estimator.multi_class, MULTI_CLASS)
    check_integer("max_iter", estimator.max_iter)
    check_real("tol", estimator.tol, minimum=0, strict=True)


@dataclass(frozen=True)
class TwoClassTask:
    """One class (or several) against another; weights of the features in ``free`` cost nothing."""

    positive: int
    negative: int | None  # None: all the others
    moments: TwoClassMoments
    free: np.ndarray

    def problem(self, cost: float = 1.0, level: float = 0.0) -> Minimax:
        """The task with one cost for all features that are not free."""
        costs = np.full(self.moments.n_features, cost)
        costs[self.free] = 0.0
        return Minimax(self.moments, costs, level)

    def name(self, classes: np.ndarray) -> str:
        """For messages."""
        first = repr(classes.tolist()[self.positive])
        if self.negative is None:
            return f"class {first} against the rest"
        return f"class {first} against class {classes.tolist()[self.negative]!r}"


def two_class_tasks(
    estimator: Any,
    data: TrainingData,
    view: DesignMatrix,
    auto_share: float = 1e-2,
    free: ArrayLike = (),
) -> Iterator[TwoClassTask]:
    """The tasks one after the other, so that only one set of factors is held at a time."""
    codes, classes, sample_weight = data.target.codes, estimator.classes_, data.sample_weight
    for positive, negative in class_pairs(len(classes), estimator.multi_class):
        others = codes != positive if negative is None else codes == negative
        first = SampleGroup.from_rows(np.flatnonzero(codes == positive), sample_weight)
        second = SampleGroup.from_rows(np.flatnonzero(others), sample_weight)
        moments = TwoClassMoments(view, first, second, estimator.ridge, auto_share)
        task = TwoClassTask(positive, negative, moments, np.asarray(free, dtype=np.int64))
        typical_size = float(np.sqrt(np.max(moments.variances)))
        if not np.abs(moments.difference).max() > 1e-12 * typical_size:
            raise ValueError(
                f"the class means of X are identical for {task.name(classes)}; a minimax "
                "probability machine separates classes by their means, so use another method"
            )
        yield task


def keep_planes(
    estimator: Any,
    data: TrainingData,
    view: Standardisation,
    results: Iterable[Result[Hyperplane]],
    dtype: DTypeLike,
) -> tuple[np.ndarray, np.ndarray]:
    """Translate the hyperplanes found on ``view`` into the units of the user.

    The estimator keeps all but the weights: the intercepts, the worst-case accuracy, and what
    margins of several tasks are divided by before they are compared (one for one task).

    Returns
    -------
    coef : ndarray of shape (n_tasks, n_features)
        Of sign(coef'x + intercept).
    sizes : ndarray of shape (n_tasks, n_features)
        Absolute weights of standardised features, of several tasks divided likewise.
    """
    planes: list[Hyperplane] = [result.solution for result in results]
    offsets = np.array([plane.offset for plane in planes])
    W = np.column_stack([plane.weights for plane in planes])
    units = Units(view.centre, view.scale, -offsets, None, fit_intercept=True)
    coef, intercept = units.coefficients(W)
    spread = np.sqrt(view.design.column_moments(data.sample_weight)[1])
    sizes = np.abs(W.T) * np.where(view.constant, 0.0, spread)
    lengths = np.ones(1) if len(planes) == 1 else np.linalg.norm(sizes, axis=1)
    estimator._lengths = lengths = np.where(lengths > 0.0, lengths, 1.0)
    estimator.intercept_ = intercept.astype(dtype)
    estimator.worst_case_accuracy_ = min(plane.accuracy for plane in planes)
    return coef.astype(dtype), sizes / lengths[:, None]
