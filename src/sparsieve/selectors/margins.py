"""What estimators built from two-class margins share: models per class, predictions, a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._saved import Floats, Labels, Maybe
from ..design import DesignMatrix, standardise_columns
from ..design.standardise import Standardisation
from ..validation.target import Target
from ..validation.training_data import Capabilities, transform_data
from .fitted import FittedOnFeatures

# Margins closer than this share of their size are equal up to rounding.
TIE_TOL = 1e-9


def machine_view(
    design: DesignMatrix,
    sample_weight: np.ndarray | None,
    standardize: bool,
    centre: bool = True,
    dtype: DTypeLike | None = np.float64,
) -> Standardisation:
    """The data as machines see them: weights are those of the loss, and not of rows of X.

    Centring changes no machine with an intercept but keeps numbers small.
    """
    return standardise_columns(
        design,
        centre=centre,
        scale=standardize,
        sample_weight=sample_weight,
        weight_rows=False,
        dtype=dtype,
    )


def class_pairs(n_classes: int, multi_class: str = "ovr") -> list[tuple[int, int | None]]:
    """(positive, negative) class of every model; None stands for all the others.

    Two classes are one model, the second being positive.
    """
    if n_classes == 2:
        return [(1, 0)]
    if multi_class == "ovr":
        return [(k, None) for k in range(n_classes)]
    return [(k, m) for k in range(n_classes) for m in range(k)]


@dataclass(frozen=True)
class ClassSigns(Sequence[np.ndarray]):
    """Labels -1 and 1 of the models to fit, made when asked for: many classes have many."""

    codes: np.ndarray
    positives: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.positives)

    def __getitem__(self, place: int) -> np.ndarray:  # type: ignore[override]
        return np.where(self.codes == self.positives[place], 1.0, -1.0)


def class_signs(target: Target) -> ClassSigns:
    """The second class of two against the first, or each of several against the rest."""
    assert target.classes is not None
    assert target.codes is not None
    pairs = class_pairs(len(target.classes))
    return ClassSigns(target.codes, tuple(positive for positive, _ in pairs))


def joint_sizes(importances: ArrayLike) -> np.ndarray:
    """One size per feature from the importances of shape (n_models, n_features).

    Each model is divided by its largest importance before the mean is taken. The scale of a
    margin says nothing about how much its class matters, and a share of the model's total would
    favour classes that need few features; this way the best feature of every class counts the
    same, so the first features serve all classes, and those that serve several come first.
    """
    importances = np.asarray(importances)
    top = importances.max(axis=1, keepdims=True)
    return (importances / np.where(top > 0, top, 1.0)).mean(axis=0)


def shared_out(total: float, sizes: np.ndarray) -> np.ndarray:
    """``total`` divided among the features in proportion to the squares of their sizes.

    For centred features that are not correlated the squares of standardised weights are what
    each adds to the variance of the margin; the parts add up and can be compared across data.
    """
    squares = np.square(sizes)
    whole = float(squares.sum())
    return total * squares / whole if whole > 0.0 else np.zeros_like(squares)


def linear_predictors(X: Any, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """X W' + b, of shape (n_samples, n_outputs); columns without weight are not read."""
    used = np.flatnonzero(coef.any(axis=0))
    return safe_sparse_dot(X[:, used], coef[:, used].T, dense_output=True) + intercept


class Predictions:
    """Mixin: ``predict``, where the model ``_can_predict``, by ``_predict(X)``."""

    @property
    def _can_predict(self) -> bool:
        return True

    def _predict(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    @available_if(lambda self: self._can_predict)
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of every sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, those with the largest value or margin; a 0/1 indicator matrix; numbers or
            expected counts; or, for survival times, the logarithm of the hazard relative to a
            sample with average features: the larger, the earlier the event. The model may use more
            features than are kept where fewer are asked for than it has.
        """
        return self._predict(X)


class MarginPredictions(ClassifierMixin, Predictions, FittedOnFeatures, Capabilities):
    """Mixin: ``decision_function`` and ``predict`` from ``_margins(X)``, one column per model.

    ``_margins`` is that of the hyperplanes ``coef_`` and ``intercept_`` unless overridden. Where
    models have ``_lengths``, margins are divided by them, so that they can be compared.
    ``multi_class``, where an estimator has it, says which models there are (``class_pairs``).
    """

    classes_: Annotated[Labels, "classes"]
    coef_: Maybe[Annotated[Floats, "outputs", "features"]]
    intercept_: Annotated[Floats, "outputs"]
    _lengths: Maybe[Annotated[Floats, "outputs"] | None]

    def _margins(self, X: Any) -> np.ndarray:
        """Margins of validated samples, of shape (n_samples, n_models)."""
        return linear_predictors(X, self.coef_, self.intercept_)

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance to the decision boundary of every model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``. Otherwise one column per class: its
            margin against the others (one-vs-rest), or its number of votes plus a term below one
            half from the margins that breaks ties (one-vs-one).
        """
        check_is_fitted(self)
        margins = self._margins(transform_data(self, X))
        lengths = getattr(self, "_lengths", None)
        if lengths is not None:
            margins = margins / lengths.astype(margins.dtype)
        if margins.shape[1] == 1:
            return margins[:, 0]
        if getattr(self, "multi_class", "ovr") == "ovr":
            return margins
        return _votes(margins, len(self.classes_))

    def _predict(self, X: Any) -> np.ndarray:
        margins = self.decision_function(X)
        if margins.ndim == 1:
            return self.classes_[(margins > 0).astype(int)]
        # Margins of exactly -1 are common with a hinge loss; rounding must not decide such ties.
        top = margins.max(axis=1, keepdims=True)
        return self.classes_[(margins >= top - TIE_TOL * (1.0 + np.abs(top))).argmax(axis=1)]


def _votes(margins: np.ndarray, n_classes: int) -> np.ndarray:
    """Duels won by every class, with the sums of margins as decimals."""
    votes = np.zeros((len(margins), n_classes), dtype=margins.dtype)
    sums = np.zeros_like(votes)
    for model, (positive, negative) in enumerate(class_pairs(n_classes, "ovo")):
        won = margins[:, model] > 0
        votes[:, positive] += won
        votes[:, negative] += ~won
        sums[:, positive] += margins[:, model]
        sums[:, negative] -= margins[:, model]
    return votes + sums / (2.0 * (np.abs(sums) + 1.0))
