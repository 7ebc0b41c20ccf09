"""The model on the kept features: how it is made and asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..design import external_design
from ..meta import SelectorCV
from ..meta.final_model import usual_model
from ..preprocessing.kept_columns import (
    KeptColumns,
    numbers_at,
    ranges_of,
    restricted,
    unnamed,
)
from ..scoring.rare import seeing_score
from ..scoring.scorers import one_score
from ..selectors.around import weights_for
from ..selectors.likelihood.baselines import listed_times
from ..validation.containers import plain_vector
from ..validation.dataframes import frame_library, framed, opened, text_named
from ..validation.external import is_tensor
from ..validation.raw_columns import RawColumn
from ..validation.survival import as_survival
from .checks import is_in_memory
from .covariates import padded
from .own import unrouted

if TYPE_CHECKING:
    from .result import SelectedFeatures


class Predicting:
    """What has a ``model`` and can be asked about new data."""

    model: Any
    task: Any

    def predict(self, X: Any) -> np.ndarray:
        """Predict by the model on the kept features.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData
            New data: a data frame needs only the columns that the model uses; an array has all
            columns of the training data, or only those used.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, numbers, expected counts, or for survival times the risk: the larger,
            the earlier the event.
        """
        return self.model.predict(X)

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """``predict_proba(X)``: the probability of every class, where the model has them."""
        return self._of_model("predict_proba", "probabilities")

    @property
    def classes_(self) -> np.ndarray:
        """The classes, in the order of the columns of ``predict_proba``."""
        found: Any = self._of_model("classes_", "classes")
        return found

    @property
    def decision_function(self) -> Callable[[Any], np.ndarray]:
        """``decision_function(X)``: how far samples are on the side of a class."""
        return self._of_model("decision_function", "decision values")

    def _of_model(self, name: str, what: str) -> Callable[[Any], np.ndarray]:
        if hasattr(self.model, name):
            return getattr(self.model, name)
        last = type(self.model[-1]).__name__
        remedy = f"the task is {self.task}, which has none"
        if self.task == "classification":
            remedy = (
                "pass a model that has them to select, such as "
                "estimator=LogisticRegression(max_iter=1000)"
            )
        raise AttributeError(f"{last} predicts without {what}; {remedy}")

    def predict_survival(self, X: Any, times: Any, *, strata: Any = None) -> np.ndarray:
        """Predict the probability that the event has not happened by given times.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData
            New data, as for :meth:`predict`.
        times : array-like of shape (n_times,)
            Times, in the unit of the survival times.
        strata : array-like of shape (n_samples,), default=None
            The stratum of every sample, where the training data had strata.

        Returns
        -------
        survival : ndarray of shape (n_samples, n_times)
            Probabilities.
        """
        if self.task != "survival":
            raise AttributeError(
                f"predict_survival is for survival times, but the task is {self.task}; use predict"
            )
        Z, last = self.model[:-1].transform(X), self.model[-1]
        if hasattr(last, "predict_survival"):
            return last.predict_survival(Z, times, strata=strata)
        if strata is None and hasattr(last, "predict_survival_function"):
            asked = listed_times(times)
            curves = last.predict_survival_function(Z)
            # Outside the times that it knows such a curve raises an error: it is 1 before them.
            return np.array([[_at(curve, time) for time in asked] for curve in curves])
        raise AttributeError(
            f"{type(last).__name__} has no probabilities of survival; leave estimator out"
        )


def _at(curve: Any, time: float) -> float:
    """A step function at a time, from 1 on and constant after its last time."""
    before = np.searchsorted(curve.x, time, side="right") - 1
    return 1.0 if before < 0 else float(curve.a * curve.y[before] + curve.b)


# -- making it ------------------------------------------------------------------------------------


def kept_columns(
    selected: SelectedFeatures, encode: Sequence[RawColumn] | None = None
) -> KeptColumns:
    """The step that takes the kept features out of new data, with what preparation has learnt.

    ``encode`` says what the columns of X were made of, in their order, where X was encoded before
    it was selected from, as the columns of a file are.
    """
    support = np.flatnonzero(selected.selector.get_support()).astype(np.int64)
    n_columns, names = len(selected.selector.get_support()), _names(selected)
    features = [f"x{j}" for j in support] if names is None else [names[j] for j in support]
    own = restricted(selected.prepare, support) if selected.prepare is not None else None
    whole = selected.prepare is not None and own is None
    wanted = np.arange(n_columns, dtype=np.int64) if whole else support
    kept = support if whole else None
    prepare = unnamed(selected.prepare) if whole else own
    estimator = _estimator(selected)
    library = frame_library(selected.X)
    options: dict[str, Any] = {
        "features": features,
        "library": library if library in ("pandas", "polars") else None,
        "prepare": prepare,
        "allow_nan": _takes_gaps(estimator),
        "dense": selected.own.estimator is None,
        "layer": selected.layer,
    }
    parts = list(encode or ())
    raw = [one.name for one in parts]
    if selected.encode is not None:
        parts = list(selected.encode.columns_)
        raw = [str(name) for name in selected.encode.feature_names_in_]
    if not parts:
        columns = None if names is None else [names[j] for j in wanted]
        made = KeptColumns(wanted, n_columns=n_columns, columns=columns, kept=kept, **options)
    else:
        assert names is not None
        asked = {names[j] for j in wanted}
        parts = [one.restricted(asked) for one in parts if asked & set(one.outputs)]
        # What is made of the columns comes in their order, which the model need not have.
        order = {name: j for j, name in enumerate(n for one in parts for n in one.outputs)}
        made = KeptColumns(
            np.array([raw.index(one.name) for one in parts], dtype=np.int64),
            n_columns=len(raw),
            columns=[one.name for one in parts],
            encode=parts,
            kept=np.array([order[name] for name in features], dtype=np.int64),
            **options,
        )
        if prepare is not None:  # in the order of what is made
            inside = {name: j for j, name in enumerate(names)}
            places = np.array([inside[name] for name in order], dtype=np.int64)
            own = restricted(selected.prepare, places)
            made.prepare = prepare = unnamed(selected.prepare) if own is None else own
    return made.ready(prepare)


def _learn_ranges(step: KeptColumns, selected: SelectedFeatures) -> None:
    """Let the step know the range of the training values, which new ones are compared with."""
    if not is_in_memory(selected.X):
        return
    places = np.asarray(step.places)
    if step.encode is not None:
        names = _names(selected) or []
        at = {name: j for j, name in enumerate(names)}
        places = np.array([at[name] for name in step.encoded_names], dtype=np.int64)
    step.low, step.high = ranges_of(numbers_at(selected.X, places))


def fitted_model(selected: SelectedFeatures, encode: Sequence[RawColumn] | None = None) -> Pipeline:
    """The pipeline of the kept columns and the model that was checked, fitted on all samples."""
    estimator = _estimator(selected)
    if selected.y is None or estimator is None:
        raise ValueError("there is nothing to predict: pass y to select")
    support = np.flatnonzero(selected.selector.get_support())
    if not len(support):
        raise ValueError("no feature was kept, so there is no model that could predict")
    step = kept_columns(selected, encode)
    if is_in_memory(selected.X):
        kept = numbers_at(selected.prepared_X, support)
    else:
        kept = selected.transform(selected.X)
        kept = kept.cpu().numpy() if is_tensor(kept) else kept
    if step.dense and sparse.issparse(kept):
        kept = kept.toarray()
    if step.library is not None:
        kept = framed(kept, list(step.features), step.library)
    _learn_ranges(step, selected)
    y = selected.y
    y = as_survival(y) if selected.task == "survival" else np.asarray(plain_vector("y", y))
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    with unrouted():
        weights = weights_for(estimator, selected.own.sample_weight)
        fitted = clone(estimator).fit(kept, y, **weights)
    inside = [("model", fitted)]
    if isinstance(fitted, Pipeline):
        inside = [*fitted.steps[:-1], ("model", fitted.steps[-1][1])]
    return Pipeline([("columns", step), *inside])


def _takes_gaps(estimator: Any) -> bool:
    """Whether a model, or every step of a pipeline, takes missing values."""
    if isinstance(estimator, Pipeline):
        return all(_takes_gaps(step) for _, step in estimator.steps)
    return estimator is not None and bool(get_tags(estimator).input_tags.allow_nan)


def _estimator(selected: SelectedFeatures) -> Any:
    """The model that was checked, unfitted; None without a target."""
    search = selected.selector
    if isinstance(search, SelectorCV) and hasattr(search, "estimator_"):
        return search.estimator_
    if selected.y is None:
        return None
    if selected.own.estimator is not None:
        return selected.own.estimator
    n_samples, task = selected.X.shape[0], selected.task
    is_classes = task == "classification"
    scoring = selected.scoring
    labels = np.asarray(plain_vector("y", selected.y)) if is_classes else np.empty(0)
    if scoring is None and labels.size == n_samples:
        scoring = seeing_score(labels)
    scores = [] if scoring is None else [one_score(scoring, None)]
    kind = getattr(selected.selector, "_usual_model", "linear")
    return usual_model(task, n_samples, scores, has_classes=is_classes, kind=kind).estimator


def _names(selected: SelectedFeatures) -> list[str] | None:
    """Names of all features, where they have some."""
    found = selected.names
    if found is None:
        found = getattr(selected.selector, "feature_names_in_", None)
    return None if found is None else [str(name) for name in found]


def transformed(selected: SelectedFeatures, X: Any) -> Any:
    """The kept columns of X, in a container of the kind of X."""
    step = selected._kept_columns
    if selected.covariates.apart:
        X = padded(text_named(X), selected.covariates, selected.names)
    if step.encode is None and (is_tensor(X) or external_design(X) is not None):
        return selected.selector.transform(X)
    return like(step.transform(X), X, list(step.features))


def like(made: Any, X: Any, names: list[str]) -> Any:
    """Columns as a frame of the library of X, or as an array where X is none."""
    frame = opened(X)
    if frame is None:
        return made if frame_library(made) is None else made.to_numpy()
    library = str(frame.implementation)
    if frame_library(made) == library:
        return made
    values = made.to_numpy() if frame_library(made) is not None else made
    values = values.toarray() if hasattr(values, "toarray") else values
    if library in ("pandas", "polars"):
        return framed(values, names, library, X)
    import narwhals as nw

    columns = dict(zip(names, values.T, strict=True))
    return nw.from_dict(columns, backend=frame.implementation).to_native()
