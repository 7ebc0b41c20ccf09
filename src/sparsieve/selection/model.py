"""The model on the kept features: how it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._saved import Floats
from ..design import external_design
from ..meta import SelectorCV
from ..meta.final_model import usual_model
from ..preprocessing.kept_columns import (
    KeptColumns,
    column_ranges,
    read_numbers,
    restrict_preparation,
    strip_names,
)
from ..scoring.folds import seeing_score
from ..scoring.scorers import one_score
from ..selectors.around import estimator_tags, weight_arguments, without_routing
from ..selectors.groups import usual_model_kind
from ..validation.columns import is_tensor
from ..validation.containers import plain_vector
from ..validation.dataframes import frame_library, make_frame, open_frame, rename_to_text
from ..validation.survival import as_survival
from .calibrated import CalibratedModel
from .covariates import is_in_memory, pad_columns

if TYPE_CHECKING:
    from .result import SelectedFeatures


def kept_columns(selected: SelectedFeatures) -> KeptColumns:
    """The step that takes the kept features out of new data, with what preparation has learnt."""
    support = np.flatnonzero(selected.selector.get_support()).astype(np.int64)
    n_columns, names = len(selected.selector.get_support()), _names(selected)
    features = [f"x{j}" for j in support] if names is None else [names[j] for j in support]
    own = restrict_preparation(selected.prepare, support) if selected.prepare is not None else None
    whole = selected.prepare is not None and own is None
    wanted = np.arange(n_columns, dtype=np.int64) if whole else support
    kept = support if whole else None
    prepare = strip_names(selected.prepare) if whole else own
    estimator = model_to_fit(selected)
    library = frame_library(selected.X)
    options: dict[str, Any] = {
        "features": features,
        "library": library if library in ("pandas", "polars") else None,
        "prepare": prepare,
        "allow_nan": estimator is not None and estimator_tags(estimator).input_tags.allow_nan,
        "dense": selected.inputs.estimator is None,
        "layer": selected.inputs.layer,
    }
    encode = selected.inputs.encode
    parts = [] if encode is None else list(encode.columns_)
    raw = [] if encode is None else [str(name) for name in encode.feature_names_in_]
    if not parts:
        columns = None if names is None else [names[j] for j in wanted]
        made = KeptColumns(wanted, n_columns=n_columns, columns=columns, kept=kept, **options)
    else:
        assert names is not None
        asked = {names[j] for j in wanted}
        parts = [one.restrict(asked) for one in parts if asked & set(one.outputs)]
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
            own = restrict_preparation(selected.prepare, places)
            made.prepare = prepare = strip_names(selected.prepare) if own is None else own
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
    step.low, step.high = column_ranges(read_numbers(selected.X, places))


def _means(kept: Any) -> Floats:
    """The mean of every column that the model sees; 0 where all values are missing."""
    kept = kept.toarray() if hasattr(kept, "toarray") else np.asarray(kept, dtype=np.float64)
    known = ~np.isnan(kept)
    return np.asarray(np.where(known, kept, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def fitted_model(selected: SelectedFeatures) -> Pipeline:
    """The pipeline of the kept columns and the model that was checked, fitted on all samples."""
    estimator = model_to_fit(selected)
    if selected.y is None or estimator is None:
        raise ValueError("there is nothing to predict: pass y to select")
    support = np.flatnonzero(selected.selector.get_support())
    if not len(support):
        raise ValueError("no feature was kept, so there is no model that could predict")
    step = kept_columns(selected)
    if is_in_memory(selected.X):
        kept = read_numbers(selected.prepared_X, support)
    else:
        kept = selected.transform(selected.X)
        kept = kept.cpu().numpy() if is_tensor(kept) else kept
    if step.dense and sparse.issparse(kept):
        kept = kept.toarray()
    usual = _means(kept)
    if step.library is not None:
        kept = make_frame(kept, list(step.features), step.library)
    _learn_ranges(step, selected)
    step.usual = usual
    y = selected.y
    y = as_survival(y) if selected.task == "survival" else np.asarray(plain_vector("y", y))
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    with without_routing():
        weights = weight_arguments(estimator, selected.inputs.sample_weight)
        fitted = clone(estimator).fit(kept, y, **weights)
    inside = [("model", fitted)]
    if isinstance(fitted, Pipeline):
        inside = [*fitted.steps[:-1], ("model", fitted.steps[-1][1])]
    if selected.calibration is not None:
        inside[-1] = ("model", CalibratedModel(inside[-1][1], *selected.calibration))
    return Pipeline([("columns", step), *inside])


def model_to_fit(selected: SelectedFeatures) -> Any:
    """The model that was checked, unfitted; None without a target."""
    search = selected.selector
    if isinstance(search, SelectorCV) and hasattr(search, "estimator_"):
        return search.estimator_
    if selected.y is None:
        return None
    if selected.inputs.estimator is not None:
        return selected.inputs.estimator
    n_samples, task = selected.X.shape[0], selected.task
    is_classes = task == "classification"
    scoring = selected.scoring
    labels = np.asarray(plain_vector("y", selected.y)) if is_classes else np.empty(0)
    if scoring is None and labels.size == n_samples:
        scoring = seeing_score(labels)
    scores = [] if scoring is None else [one_score(scoring, None)]
    kind = usual_model_kind(selected.selector)
    return usual_model(task, n_samples, scores, has_classes=is_classes, kind=kind).estimator


def _names(selected: SelectedFeatures) -> list[str] | None:
    """Names of all features, where they have some."""
    found = selected.names
    if found is None:
        found = getattr(selected.selector, "feature_names_in_", None)
    return None if found is None else [str(name) for name in found]


def transform_columns(selected: SelectedFeatures, X: Any) -> Any:
    """The kept columns of X, in a container of the kind of X."""
    step = selected._kept_columns
    if selected.covariates.is_separate:
        X = pad_columns(rename_to_text(X), selected.covariates, selected.names)
    if step.encode is None and (is_tensor(X) or external_design(X) is not None):
        return selected.selector.transform(X)
    return like(step.transform(X), X, list(step.features))


def like(made: Any, X: Any, names: list[str]) -> Any:
    """Columns as a frame of the library of X, or as an array where X is none."""
    frame = open_frame(X)
    if frame is None:
        return made if frame_library(made) is None else made.to_numpy()
    library = str(frame.implementation)
    if frame_library(made) == library:
        return made
    values = made.to_numpy() if frame_library(made) is not None else made
    values = values.toarray() if hasattr(values, "toarray") else values
    if library in ("pandas", "polars"):
        return make_frame(values, names, library, X)
    import narwhals as nw

    columns = dict(zip(names, values.T, strict=True))
    return nw.from_dict(columns, backend=frame.implementation).to_native()
