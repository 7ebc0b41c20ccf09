"""What all minimax probability machines share: scaling, two-class tasks and hyperplanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import DataConversionWarning

from ..._checks import check_choice, check_real, warn_user
from ...design import DesignMatrix, standardised
from ...design.convert import Standardisation
from ...solvers.minimax.hyperplane import Hyperplane
from ...solvers.minimax.moments import SampleGroup, TwoClassMoments
from ..margins import class_pairs
from ..preparation import Units

MULTI_CLASS = ("ovr", "ovo")
RIDGES = ("auto", "ledoit_wolf")


def warn_of_column(y) -> None:
    """What scikit-learn's classifiers say to labels in a column."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        warn_user(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel()",
            DataConversionWarning,
        )


def check_ridge(ridge) -> None:
    """Refuse anything but a nonnegative number or the name of a rule."""
    if isinstance(ridge, str):
        check_choice("ridge", ridge, RIDGES)
    else:
        check_real("ridge", ridge, minimum=0)


@dataclass(frozen=True)
class TwoClassTask:
    """One class (or several) against another; weights of the features in ``free`` cost nothing."""

    positive: int
    negative: int | None  # None: all the others
    moments: TwoClassMoments
    free: np.ndarray

    @property
    def penalised(self) -> np.ndarray:
        """One for the features whose weights cost something, zero for the others."""
        counted = np.ones(self.moments.n_features)
        counted[self.free] = 0.0
        return counted

    def name(self, classes) -> str:
        """For messages."""
        first = repr(classes.tolist()[self.positive])
        if self.negative is None:
            return f"class {first} against the others"
        return f"class {first} against class {classes.tolist()[self.negative]!r}"


def two_class_tasks(
    view: DesignMatrix,
    codes,
    classes,
    sample_weight,
    multi_class: str,
    ridge,
    auto_share=1e-2,
    free=(),
) -> Iterator[TwoClassTask]:
    """The tasks one after the other, so that only one set of factors is held at a time."""
    for positive, negative in class_pairs(len(classes), multi_class):
        others = codes != positive if negative is None else codes == negative
        first = SampleGroup.of(np.flatnonzero(codes == positive), sample_weight)
        second = SampleGroup.of(np.flatnonzero(others), sample_weight)
        moments = TwoClassMoments(view, first, second, ridge, auto_share)
        task = TwoClassTask(positive, negative, moments, np.asarray(free, dtype=np.int64))
        if not np.abs(task.moments.difference).max() > 1e-12 * _typical_size(task.moments):
            raise ValueError(
                f"the class means are identical for {task.name(classes)}; a minimax probability "
                "machine separates means and has nothing to go by here"
            )
        yield task


def _typical_size(moments: TwoClassMoments) -> float:
    return float(np.sqrt(max(variances.max() for variances in moments.variances)))


def machine_view(design: DesignMatrix, sample_weight, standardize: bool) -> Standardisation:
    """The data as the machines see them: centred, scaled if asked for, in double precision.

    Centring changes no machine (the offset follows) but keeps numbers small.
    """
    return standardised(
        design,
        centre=True,
        scale=standardize,
        sample_weight=sample_weight,
        weight_rows=False,
        dtype=np.float64,
    )


@dataclass(frozen=True)
class FittedPlanes:
    """The hyperplanes of all tasks in the units of the user.

    Attributes
    ----------
    coef, intercept : ndarray of shape (n_tasks, n_features) and (n_tasks,)
        sign(coef'x + intercept).
    sizes : ndarray of shape (n_tasks, n_features)
        Absolute weights of standardised features.
    lengths : ndarray of shape (n_tasks,)
        What margins of several tasks are divided by before they are compared; one for one task.
    """

    coef: np.ndarray
    intercept: np.ndarray
    sizes: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(
        cls, view: Standardisation, planes: Sequence[Hyperplane], sample_weight, dtype
    ) -> FittedPlanes:
        """Translate what was found on ``view``."""
        offsets = np.array([plane.offset for plane in planes])
        W = np.column_stack([plane.weights for plane in planes])
        units = Units(view.centre, view.scale, -offsets, None, fit_intercept=True)
        coef, intercept = units.coefficients(W)
        spread = np.sqrt(view.design.column_moments(sample_weight)[1])
        sizes = np.abs(W.T) * np.where(view.constant, 0.0, spread)
        lengths = np.ones(len(planes))
        if len(planes) > 1:
            lengths = np.linalg.norm(sizes, axis=1)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        return cls(coef.astype(dtype), intercept.astype(dtype), sizes, lengths)
