"""Probabilities that hold on samples held out: a slope and offsets for what a model says."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline

from .._saved import Savable
from ..meta.held_out import held_out_search
from ..scoring.engine import fit_preparation, read_columns
from ..selectors.around import weight_arguments, without_routing
from ..validation.containers import plain_vector
from ..validation.target import with_task
from .covariates import is_in_memory
from .selected_data import SelectedData, raw_values

if TYPE_CHECKING:
    from .result import SelectedFeatures

_LEAST = 1e-12  # of a probability whose logarithm is taken


def class_scores(model: Any, Z: Any) -> np.ndarray:
    """What a classifier says of the classes, as one number per row for two of them."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(Z), dtype=np.float64)
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{type(model).__name__} says nothing of the classes beyond the label; pass a model "
            "that has probabilities to select, such as "
            "estimator=LogisticRegression(max_iter=1000)"
        )
    found = np.log(np.maximum(model.predict_proba(Z), _LEAST))
    return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found


def platt(
    scores: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """A slope and offsets that make probabilities of scores (Platt, 1999, for any classes).

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Of samples held out.
    codes : ndarray of int of shape (n_samples,)
        Places of their classes; as many samples of each are expected elsewhere.
    sample_weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    slope : float
        Not negative.
    offsets : ndarray of shape (1,) or (n_classes,)
        Of the second class where there are two.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.selection.calibrated import platt
    >>> slope, offsets = platt(np.array([-9.0, -9.0, 9.0, 9.0]), np.array([0, 1, 0, 1]))
    >>> round(abs(slope), 6), offsets.round(3).tolist()
    (0.0, [0.0])
    """
    weights = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, float)
    is_pair = scores.ndim == 1
    S = np.column_stack([np.zeros(len(scores)), scores]) if is_pair else scores
    n_classes = S.shape[1]
    spread = float(np.std(S - S.mean(axis=1, keepdims=True))) or 1.0
    S = S / spread
    sizes = np.bincount(codes, weights, minlength=n_classes)
    # A class that is always told apart does not drive the slope to infinity.
    targets = np.repeat(1.0 / (sizes + n_classes)[:, None], n_classes, axis=1)
    np.fill_diagonal(targets, (sizes + 1.0) / (sizes + n_classes))
    T = targets[codes]

    def evaluate(point: np.ndarray) -> tuple[float, np.ndarray]:
        F = point[0] * S + point[1:]
        D = (softmax(F, axis=1) - T) * weights[:, None] / weights.sum()
        loss = -float(np.sum(weights[:, None] * T * log_softmax(F, axis=1))) / weights.sum()
        return loss, np.append(np.vdot(D, S), D.sum(axis=0))

    start = np.append(0.0, np.log(np.maximum(sizes, 0.5)))
    bounds = [(0.0, None), *[(None, None)] * n_classes]
    limits = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 1000}
    found = minimize(evaluate, start, jac=True, method="L-BFGS-B", bounds=bounds, options=limits).x
    offsets = found[1:] - found[1:].mean()
    if is_pair:
        offsets = offsets[1:] - offsets[:1]
    return float(found[0] / spread), offsets


class CalibratedModel(Savable, ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probabilities were calibrated on samples held out.

    Parameters
    ----------
    model : fitted classifier
    slope : float
    offsets : ndarray
        See :func:`platt`.
    """

    def __init__(self, model: Any, slope: float, offsets: Any) -> None:
        self.model: Any = model
        self.slope = slope
        self.offsets = offsets

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model again; the calibration stays."""
        self.model = clone(self.model).fit(X, y)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> np.ndarray:
        """Of the model."""
        return np.asarray(self.model.classes_)

    def decision_function(self, X: Any) -> np.ndarray:
        """Log odds of the second class of two, or logarithms of odds between classes."""
        found = self.slope * class_scores(self.model, X)
        return found + (self.offsets[0] if found.ndim == 1 else np.asarray(self.offsets))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes."""
        found = self.decision_function(X)
        if found.ndim == 1:
            found = np.column_stack([np.zeros(len(found)), found])
        return np.asarray(softmax(found, axis=1))

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Calibrating:
    """What can have its probabilities calibrated."""

    def calibrated(self) -> SelectedFeatures:
        """Make probabilities that hold on samples held out.

        The selection and its model are repeated in folds; a slope and an offset per class are
        fitted to what the models say of the samples held out (Platt scaling). Models without
        probabilities get some.

        Returns
        -------
        selected : SelectedFeatures
            The same with a ``model`` that is calibrated; ``selected.model[-1]`` has the slope
            (below 1 where probabilities were too extreme) and the offsets.

        Examples
        --------
        >>> import sparsieve
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> selected = sparsieve.select(X, y, k=3, check=False).calibrated()
        >>> bool(0.5 < selected.model[-1].slope < 2)
        True
        """
        return _calibrate(cast("SelectedFeatures", self))


def _calibrate(selected: SelectedFeatures) -> SelectedFeatures:
    if selected.task != "classification" or not hasattr(selected, "classes_"):
        raise ValueError(
            f"probabilities of classes can be calibrated, but the task is {selected.task}"
        )
    if not is_in_memory(selected.X):
        raise ValueError("calibration repeats the selection in folds, which needs X in memory")
    if selected.calibration is not None:
        return selected
    steps, labels = selected.model.steps, np.asarray(selected.classes_)
    y = np.asarray(plain_vector("y", selected.y)).ravel()
    scores, samples = _held_out_scores(selected, y)
    weights = selected.inputs.sample_weight
    weights = None if weights is None else weights[samples]
    slope, offsets = platt(scores, np.searchsorted(labels, y[samples]), weights)
    fitted = CalibratedModel(steps[-1][1], slope, offsets)
    made = copy.copy(selected)  # with all that was found out about it
    made.__dict__["calibration"] = (slope, offsets)
    made.__dict__["model"] = Pipeline([*steps[:-1], ("model", fitted)])
    return made


def _held_out_scores(selected: SelectedFeatures, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(what models say of samples held out from selection and fit, which samples)."""
    from .model import model_to_fit

    kept = SelectedData.from_selector(selected.method, selected.prepared_X, y, selected._all_names)
    selector = with_task(kept.clone_selector(), "classification")
    X = kept.X if selected.prepare is None else raw_values(selected.X)
    search = held_out_search(selector, y, selected.groups, "classification", ks=[kept.n_kept])
    how = selected.inputs.folds | {"n_repeats": 1, "scoring": selected.inputs.scoring}
    search.set_params(prepare=selected.prepare, **how)
    estimator, weights = model_to_fit(selected), selected.inputs.sample_weight
    found, places, n_classes = [], [], len(np.unique(y))
    with warnings.catch_warnings(), without_routing():
        warnings.simplefilter("ignore")  # the fit on all samples said them
        search.fit(X, y, groups=selected.groups, sample_weight=weights)
        for (train, test), result in zip(search.folds_, search.results_, strict=True):
            if len(np.unique(y[train])) < n_classes:
                continue
            made = fit_preparation(search.how_["prepare"], X, train)[1]
            columns = result.columns.get(kept.n_kept, result.columns[int(search.ks_[-1])])
            Z = read_columns(made, columns, dense=selected.inputs.estimator is None)
            some = None if weights is None else weights[train]
            model = clone(estimator).fit(Z[train], y[train], **weight_arguments(estimator, some))
            found.append(class_scores(model, Z[test]))
            places.append(np.asarray(test))
    if not found:
        raise ValueError(
            "calibration needs samples of every class in the training part of a fold; a class is "
            "too small"
        )
    return np.concatenate(found), np.concatenate(places)
