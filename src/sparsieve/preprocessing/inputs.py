"""What was asked: the data, the roles of their columns, the folds, the model and the score.

Arrays, data frames, AnnData and tables of files come in by :func:`read_inputs` and go on as one
object to the fit, the check on held-out samples, reports, comparisons, diagnoses and saved models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..validation.columns import is_tensor
from ..validation.containers import plain_vector
from ..validation.dataframes import check_names, is_plain, native, open_frame
from ..validation.survival import as_survival, is_survival
from ..validation.training_data import check_weights
from ..validation.written import MAX_CATEGORIES, MAX_MISSING
from .covariates import Covariates, preparation, read_covariates
from .table import (
    Table,
    annotated_matrix,
    check_complete,
    frame_column,
    is_anndata,
    obs_column,
    variable_names,
)


@dataclass(frozen=True)
class Inputs:
    """What a selection starts from, read once.

    Attributes
    ----------
    X : array-like, sparse matrix, data frame, matrix of AnnData or design
        Without the columns that have another role.
    y : array-like
        Survival times are a structured array.
    task : str
        How to read y, as it was given; "survival" where y holds survival times.
    names : ndarray of str or None
        Names of the features, where X itself has none.
    groups, sample_weight : array-like or None
        Of the samples.
    feature_groups : as in :func:`~sparsieve.select`
    covariates : Covariates
    prepare : transformer or None
    scoring, estimator, cv, random_state, n_jobs
        As in :func:`~sparsieve.select`; folds that could be read only once are a list.
    layer : str or None
    target_names : tuple of str
        The columns that y named: one, or a time and an event.
    max_categories, max_missing : int, float
        What becomes of text and gaps of a data frame.
    table : Table or None
        The table of a file that X came from.
    encode : FramePreprocessor or None
        What made the columns of X of those of the frame or the file.
    sources : dict of str to list of str
        The columns of X made of each of them; empty without an encoder.
    source_names : dict of str to object
        The column of the frame that a column of X was made of, where these are kept together or
        its name is no text.
    gaps : tuple of str
        Columns of numbers with missing values.
    notes : tuple of str
        What was done without being asked, one sentence each.
    id_name : str
        The column that was taken for the names of the samples; empty where there is none.
    left_out : dict of str to TextKind or None
        The columns of a frame that are not used, with what their text is.
    leaves_gaps : bool
        Whether the method takes missing values.
    """

    X: Any
    y: Any
    task: str = "auto"
    names: np.ndarray | None = None
    groups: Any = None
    sample_weight: Any = None
    feature_groups: Any = None
    covariates: Covariates = field(default_factory=Covariates)
    prepare: Any = None
    scoring: Any = None
    estimator: Any = None
    cv: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    layer: str | None = None
    target_names: tuple[str, ...] = ()
    max_categories: int = MAX_CATEGORIES
    max_missing: float = MAX_MISSING
    table: Table | None = None
    is_annotated: bool = False
    encode: Any = None
    sources: Mapping[str, list[str]] = field(default_factory=dict)
    source_names: Mapping[str, Any] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    id_name: str = ""
    left_out: Mapping[str, Any] = field(default_factory=dict)
    leaves_gaps: bool = False

    @property
    def folds(self) -> dict[str, Any]:
        """Parameters of :class:`~sparsieve.SelectorCV`; those left open keep their defaults."""
        named = ("cv", "estimator", "random_state", "n_jobs")
        found = {name: getattr(self, name) for name in named}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def time_name(self) -> str:
        """What survival times are called."""
        return self.target_names[0] if len(self.target_names) == 2 else "time"


def read_inputs(
    X: Any,
    y: Any = None,
    *,
    task: str = "auto",
    entry: Any = None,
    strata: Any = None,
    event_value: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    covariates: Any = None,
    feature_names: Any = None,
    layer: str | None = None,
    prepare: Any = None,
    cv: Any = None,
    **options: Any,
) -> Inputs:
    """Look up the columns that are named, and check what can be checked without a method.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, AnnData or Table
    y, groups, sample_weight : array-like or str
        Values, or the name of a column: of the data frame, or of ``obs`` of AnnData. None is what
        a Table holds.
    task, entry, strata, event_value, covariates, layer, prepare, cv
        As in :func:`~sparsieve.select`.
    feature_names : array-like of str, default=None
        For an X without names.
    **options : dict
        Further fields of :class:`Inputs`, as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.inputs import read_inputs
    >>> frame = pd.DataFrame({"a": [1, 2], "kind": ["x", "y"], "donor": [7, 8]})
    >>> found = read_inputs(frame, "kind", groups="donor")
    >>> list(found.X.columns), found.groups.tolist(), found.target_names
    (['a'], [7, 8], ('kind',))
    """
    check_names(X)
    options |= {"cv": _read_once(cv)}
    if isinstance(X, Table):
        named = {"groups": groups, "sample_weight": sample_weight, "covariates": covariates}
        named |= {"y": y, "feature_names": feature_names, "layer": layer}
        return _of_table(X, named, task=task, prepare=preparation(prepare), **options)
    own_covariates = read_covariates(X, covariates)
    times = _is_survival(y, task, entry, strata, event_value)
    names_both = names_survival(y)
    target_names = tuple(y) if names_both else (y,) if isinstance(y, str) else ()
    asked = {"entry": entry, "strata": strata}
    if times and names_both:
        asked = {"time": y[0], "event": y[1], **asked}
    named = {} if times else {"y": y}
    named |= {"groups": groups, "sample_weight": sample_weight}
    if layer is not None and not is_anndata(X):
        raise ValueError(f"layer={layer!r} is for AnnData, but X is of type {type(X).__name__}")
    X, values, names = _take_columns(native(X), asked, named, layer)
    if times:
        further = {name: values[name] for name in ("entry", "strata")}
        y = as_survival(
            (values["time"], values["event"]) if names_both else y,
            **further,
            event_value=event_value,
        )
    else:
        y = values["y"]
    groups, sample_weight = values["groups"], values["sample_weight"]
    check_complete(groups)
    if sample_weight is not None:
        if hasattr(X, "shape") and not is_tensor(sample_weight):
            check_weights(sample_weight, X.shape[0], _row_labels(X))
        sample_weight = np.asarray(plain_vector("sample_weight", sample_weight))
    if feature_names is not None:
        names = np.array([str(name) for name in feature_names], dtype=object)
    return Inputs(
        X,
        y,
        task="survival" if times else task,
        names=names,
        groups=groups,
        sample_weight=sample_weight,
        covariates=own_covariates,
        prepare=preparation(prepare),
        layer=layer,
        target_names=target_names,
        is_annotated=names is not None and feature_names is None,
        **options,
    )


def names_survival(y: Any) -> bool:
    """Whether y names two columns: a time and an event."""
    return isinstance(y, tuple | list) and len(y) == 2 and all(isinstance(n, str) for n in y)


def _is_survival(y: Any, task: str, *further: Any) -> bool:
    """Whether y holds survival times; refused is what only these have."""
    if not (names_survival(y) or task == "survival" or is_survival(y)):
        if not [one for one in further if one is not None]:
            return False
        raise ValueError(
            "entry, strata and event_value are for survival times, but y holds none; name the "
            'columns of the time and the event, such as y=("months", "died")'
        )
    if task not in ("auto", "survival"):
        raise ValueError(f'y holds survival times, but task="{task}"; leave task out')
    return True


def _take_columns(
    X: Any, times: Mapping[str, Any], roles: Mapping[str, Any], layer: str | None
) -> tuple[Any, dict[str, Any], np.ndarray | None]:
    """(X without the columns that are named, what each of them holds, names of AnnData).

    A time may be an event or a stratum as well; any other column has one role.
    """
    asked = {**times, **roles}
    named = {role: column for role, column in asked.items() if isinstance(column, str)}
    if is_anndata(X):
        found = {role: obs_column(X, column) for role, column in named.items()}
        return annotated_matrix(X, layer), {**asked, **found}, variable_names(X)
    if not named:
        return X, asked, None
    frame = open_frame(X)
    if frame is None:
        role, column = next(iter(named.items()))
        role = "y" if role in ("time", "event") else role
        raise TypeError(
            f"{role}={column!r} names a column, but X is of type {type(X).__name__}, which has "
            f"no named columns; pass the values themselves as {role}"
        )
    for role, column in named.items():
        if role in times:
            continue
        if alike := [one for one in roles if one != role and named.get(one) == column]:
            raise ValueError(f"{role} and {alike[0]} both name the column {column!r}")
    found = {role: frame_column(frame, column) for role, column in named.items()}
    for role in found.keys() & {"y", "groups", *times}:
        if role != "y" or is_plain(getattr(found[role], "dtype", None)):
            found[role] = np.asarray(found[role])
    return frame.drop(list(dict.fromkeys(named.values()))).to_native(), {**asked, **found}, None


def _of_table(table: Table, named: Mapping[str, Any], task: str, **options: Any) -> Inputs:
    """What a table of a file holds; its columns got their roles when it was read."""
    if given := [name for name, value in named.items() if value is not None]:
        raise ValueError(
            f"{given[0]} was named beside a table, whose columns got their roles when it was read; "
            "name it in read_table instead"
        )
    known = dict(table.covariates)
    return Inputs(
        table.X,
        table.y,
        task="survival" if is_survival(table.y) else task,
        names=np.array(table.feature_names, dtype=object),
        groups=table.groups,
        sample_weight=table.weights,
        covariates=Covariates(tuple(known), known or None, from_table=True),
        target_names=(table.target_name,) if table.target_name else (),
        table=table,
        id_name=table.id_name,
        **options,
    )


def _read_once(cv: Any) -> Any:
    """Folds as they can be read again."""
    if isinstance(cv, Iterable) and not hasattr(cv, "split") and not isinstance(cv, str):
        return list(cv)
    if isinstance(cv, str | bool):
        raise ValueError(
            f"cv must be a number of folds, a scikit-learn splitter or a list of (train, test) "
            f"pairs, got {cv!r}"
        )
    return cv


def _row_labels(X: Any) -> list[Any] | None:
    """What the rows of a pandas frame are called, where they are not just counted."""
    index = getattr(X, "index", None) if hasattr(X, "iloc") else None
    return None if index is None or type(index).__name__ == "RangeIndex" else index.tolist()
