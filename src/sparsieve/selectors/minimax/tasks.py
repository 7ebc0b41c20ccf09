"""What all minimax probability machines share: scaling, two-class tasks, and predicting."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._checks import check_choice, check_real
from ...design import DenseDesign, DesignMatrix, Scaled
from ...design.convert import CONSTANT_TOLERANCE, COPY_BYTES
from ...solvers.minimax.moments import SampleGroup, TwoClassMoments

MULTI_CLASS = ("ovr", "ovo")
RIDGES = ("auto", "ledoit_wolf")


def warn_of_column(y) -> None:
    """What scikit-learn's classifiers say to labels in a column."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel()",
            DataConversionWarning,
            stacklevel=4,
        )


def check_ridge(ridge) -> None:
    """Refuse anything but a nonnegative number or the name of a rule."""
    if isinstance(ridge, str):
        check_choice("ridge", ridge, RIDGES)
    else:
        check_real("ridge", ridge, minimum=0)


@dataclass(frozen=True)
class ScaledView:
    """The data as the machines see them: centred, and scaled if asked for.

    Attributes
    ----------
    design : DesignMatrix
    centre, scale : ndarray
        What was subtracted from and divided out of every column.
    spread : ndarray
        Standard deviation of every column of ``design``: one where scaled, zero where constant.
    constant : ndarray of bool
    """

    design: DesignMatrix
    centre: np.ndarray
    scale: np.ndarray
    spread: np.ndarray
    constant: np.ndarray

    @classmethod
    def of(cls, design: DesignMatrix, sample_weight, standardize: bool) -> ScaledView:
        """Centring changes no machine (the offset follows) but keeps numbers small."""
        means, variances = design.column_moments(sample_weight)
        deviations = np.sqrt(variances)
        tolerance = CONSTANT_TOLERANCE[np.dtype(design.dtype)]
        constant = deviations <= tolerance * (np.abs(means) + deviations)
        scale = np.where(constant, 1.0, deviations) if standardize else np.ones_like(means)
        view: DesignMatrix
        if isinstance(design, DenseDesign) and 8 * design.array.size <= COPY_BYTES:
            array = (design.array - means) / scale
            array[:, constant] = 0.0
            view = DenseDesign(array)
        else:
            view = Scaled(design, means, scale if standardize else None)
        return cls(view, means, scale, np.where(constant, 0.0, deviations / scale), constant)

    def in_user_units(self, weights: np.ndarray, offset: float) -> tuple[np.ndarray, float]:
        """(coef, intercept) of the hyperplane sign(coef'x + intercept) on the user's X."""
        coef = weights / self.scale
        return coef, -(offset + float(coef @ self.centre))


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
        first = repr(classes[self.positive].item())
        if self.negative is None:
            return f"class {first} against the others"
        return f"class {first} against class {classes[self.negative].item()!r}"


def class_pairs(n_classes: int, multi_class: str) -> list[tuple[int, int | None]]:
    """(positive, negative) of every task; two classes are one task, the second being positive."""
    if n_classes == 2:
        return [(1, 0)]
    if multi_class == "ovr":
        return [(k, None) for k in range(n_classes)]
    return [(k, m) for k in range(n_classes) for m in range(k)]


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


class MinimaxPredictor:
    """``decision_function`` and ``predict`` from hyperplanes ``_margins`` knows how to apply.

    Subclasses implement ``_margins(X)``: w'x - b of every task, of shape (n_samples, n_tasks),
    each divided by the length of w where there are several tasks, so that they can be compared.
    """

    classes_: np.ndarray
    multi_class: str
    intercept_: np.ndarray
    _lengths: np.ndarray

    def _margins(self, X) -> np.ndarray:
        raise NotImplementedError

    def decision_function(self, X):
        """Signed distance to the hyperplane; positive for the second of two classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For several classes: the margin of each class against the others, or with
            ``multi_class="ovo"`` the number of duels won, plus less than one half for the
            margins, which decide ties.
        """
        check_is_fitted(self)
        margins = self._margins(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return margins[:, 0]
        if self.multi_class == "ovr":
            return margins
        votes = np.zeros((len(margins), n_classes), dtype=margins.dtype)
        sums = np.zeros_like(votes)
        for task, (positive, negative) in enumerate(class_pairs(n_classes, "ovo")):
            won = margins[:, task] > 0
            votes[:, positive] += won
            votes[:, negative] += ~won
            sums[:, positive] += margins[:, task]
            sums[:, negative] -= margins[:, task]
        return votes + sums / (2.0 * (np.abs(sums) + 1.0))

    def predict(self, X):
        """Class labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)
        if decision.ndim == 1:
            return self.classes_[(decision > 0).astype(np.intp)]
        return self.classes_[decision.argmax(axis=1)]


class LinearPredictor(MinimaxPredictor):
    """Predict from ``coef_``, ``intercept_`` and the lengths of the weights."""

    def _set_hyperplanes(self, view: ScaledView, planes, dtype) -> None:
        """Take over (weights, offset) pairs found on ``view``."""
        pairs = [view.in_user_units(weights, offset) for weights, offset in planes]
        self.coef_ = np.array([coef for coef, _ in pairs]).astype(dtype, copy=False)
        self.intercept_ = np.array([intercept for _, intercept in pairs]).astype(dtype, copy=False)
        self._lengths = np.ones(len(planes))
        if len(planes) > 1:
            lengths = np.array([np.linalg.norm(w * view.spread) for w, _ in planes])
            self._lengths = np.where(lengths > 0.0, lengths, 1.0)

    def _margins(self, X):
        X = validate_data(
            self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False
        )
        margins = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return margins / self._lengths.astype(margins.dtype)
