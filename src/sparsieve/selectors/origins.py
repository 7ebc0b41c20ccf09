"""Which column of X is behind every column that the end of a guest's pipeline sees.

Steps may scale, fill, drop and reorder columns: then what the model says of its columns is said of
features of X. Structure comes first (pipelines, ColumnTransformer, FeatureUnion, selectors), then
the names that a step gives to what it makes. What says neither is refused.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from ..design.parallel_passes import read_only
from .base import BaseSelector
from .ranked import FeatureScores

NO_ORIGIN = -1  # the origin of a column that is the same whatever X holds


class NotTraced(ValueError):
    """A step makes columns that are no single columns of X: which one, and what it does."""

    def __init__(self, step: Any, what: str) -> None:
        super().__init__(f"{type(step).__name__} {what}")
        self.step: str = type(step).__name__
        self.what: str = what
        self.is_silent: bool = not hasattr(step, "get_feature_names_out")


def unwrap_model(estimator: Any) -> tuple[list[Any], Any]:
    """(the steps before it, the model) of a pipeline or a fitted search, however deep it lies."""
    steps: list[Any] = []
    while True:
        if isinstance(estimator, Pipeline):
            steps += [step for _, step in estimator.steps[:-1]]
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):  # a search for parameters
            estimator = estimator.best_estimator_
        else:
            return steps, estimator


def origins(steps: Iterable[Any], n_columns: int) -> np.ndarray:
    """The column of X behind every column that fitted steps make, one after the other.

    Parameters
    ----------
    steps : list of transformers
        Fitted.
    n_columns : int
        Number of columns that the first of them sees.

    Returns
    -------
    places : ndarray of int
        ``NO_ORIGIN`` for columns that a step fills with one value.

    Raises
    ------
    NotTraced
        If a step mixes columns, makes several of one, or does not say what it makes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.compose import ColumnTransformer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sparsieve.selectors.origins import origins
    >>> X = np.arange(12.0).reshape(4, 3)
    >>> last_first = ColumnTransformer([("s", StandardScaler(), [2])], remainder="passthrough")
    >>> origins([last_first.fit(X)], 3)
    array([2, 0, 1])
    """
    places, several = _chain_steps(steps, n_columns)
    own = places[places != NO_ORIGIN]
    if len(np.unique(own)) < len(own):
        raise NotTraced(several, "makes several columns of one feature")
    return places


def check_in_place(step: Any, X: Any) -> None:
    """Refuse a fitted step after which columns are other features than in X."""
    try:
        places = origins([step], X.shape[1])
    except NotTraced as error:
        why = error.what
        if error.is_silent:
            why += " (a FunctionTransformer says so by feature_names_out='one-to-one')"
    else:
        moved = (places != np.arange(len(places))) & (places != NO_ORIGIN)
        why = "moves columns to other places" if moved.any() else ""
    if why:
        raise ValueError(
            f"{type(step).__name__} {why}, so that features would get the scores of others; what "
            "prepares X must leave every column in its place"
        )


def put_back(values: np.ndarray, places: np.ndarray, n_features: int, fill: Any) -> np.ndarray:
    """Values of what a model saw at the places of the features of X that they belong to."""
    made = np.full(n_features, fill, dtype=np.result_type(values, type(fill)))
    own = places != NO_ORIGIN
    made[places[own]] = np.asarray(values)[own]
    return made


def in_wider(places: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The same places in data of which only the ``allowed`` columns were shown."""
    return np.where(places == NO_ORIGIN, NO_ORIGIN, allowed[places])


def _chain_steps(steps: Iterable[Any], n_columns: int) -> tuple[np.ndarray, Any]:
    """(the places, the first step that makes several columns of one)."""
    places, several = np.arange(n_columns), None
    for step in steps:
        made = _trace_step(step, len(places))
        places = np.where(made == NO_ORIGIN, NO_ORIGIN, places[made])
        own = places[places != NO_ORIGIN]
        if several is None and len(np.unique(own)) < len(own):
            several = step
    return places, several


def _trace_step(step: Any, n_columns: int) -> np.ndarray:
    """The column that a step sees behind every column that it makes."""
    if _passes(step):
        return np.arange(n_columns)
    if isinstance(step, Pipeline):
        return _chain_steps([each for _, each in step.steps], n_columns)[0]
    if isinstance(step, ColumnTransformer):
        return _of_column_transformer(step)
    if isinstance(step, FeatureUnion):
        parts = [part for _, part in step.transformer_list if not _drops(part)]
        made = (_trace_step(part, n_columns) for part in parts)
        return np.concatenate([np.empty(0, dtype=np.intp), *made])
    if hasattr(step, "get_support"):
        support = np.asarray(step.get_support())
        if support.dtype == bool and support.shape == (n_columns,):
            return np.flatnonzero(support)
    return _by_names(step, n_columns)


def _passes(step: Any) -> bool:
    """Whether columns come out of a step as they go in; some steps only resample the rows."""
    return (
        step is None
        or (isinstance(step, str) and step == "passthrough")
        or (hasattr(step, "fit_resample") and not hasattr(step, "transform"))
        # A function of every value by itself, such as numpy.log1p.
        or (isinstance(step, FunctionTransformer) and isinstance(step.func, np.ufunc | None))
    )


def _drops(step: Any) -> bool:
    return isinstance(step, str) and step == "drop"


def _of_column_transformer(step: ColumnTransformer) -> np.ndarray:
    spans = step.output_indices_
    places = np.full(max((span.stop for span in spans.values()), default=0), NO_ORIGIN)
    for name, part, columns in step.transformers_:
        span = spans.get(name, slice(0, 0))
        if _drops(part) or span.start == span.stop:
            continue
        taken = _column_numbers(columns, step)
        made = _trace_step(part, len(taken))
        if len(made) != span.stop - span.start:
            raise NotTraced(part, "makes another number of columns than it says")
        places[span] = np.where(made == NO_ORIGIN, NO_ORIGIN, taken[made])
    return places


def _column_numbers(columns: Any, step: ColumnTransformer) -> np.ndarray:
    """The columns that a ColumnTransformer was given by numbers, names, a slice or a mask."""
    names = {name: j for j, name in enumerate(getattr(step, "feature_names_in_", ()))}
    every = np.arange(step.n_features_in_)
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):  # the last one counts
            first = 0 if columns.start is None else names[columns.start]
            last = len(every) - 1 if columns.stop is None else names[columns.stop]
            return every[first : last + 1 : columns.step]
        return every[columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # scikit-learn 1.6 on columns by name
        listed = [columns] if isinstance(columns, str) or np.ndim(columns) == 0 else list(columns)
    if all(isinstance(one, str) for one in listed):
        return np.array([names[one] for one in listed], dtype=np.intp)
    return every[np.asarray(listed)]


def _by_names(step: Any, n_columns: int) -> np.ndarray:
    """By the names that a step gives to what it makes."""
    given = getattr(step, "feature_names_in_", None)
    names = [f"column_{j}_of_x" for j in range(n_columns)] if given is None else list(given)
    places = {name: j for j, name in enumerate(names)}
    try:
        made = list(step.get_feature_names_out(np.array(names, dtype=object)))
    except Exception as error:  # whatever a class of somebody else does
        raise NotTraced(step, "does not say which columns it makes of which") from error
    new = [name for name in made if name not in places]
    if new or len(places) != n_columns:
        raise NotTraced(step, "makes columns that are no single columns of X")
    return np.array([places[name] for name in made], dtype=np.intp)


def transform_by_step(X: Any, step: Any) -> Any:
    """What a fitted step makes of X."""
    if isinstance(step, Pipeline):  # which would ask whether its last step has learnt anything
        return reduce(transform_by_step, [each for _, each in step.steps], X)
    return X if _passes(step) else call_with_views(step.transform, X)


_READ_ONLY_ERROR = re.compile(r"read[- ]?only|not writ(e)?able|non-writ(e)?able", re.IGNORECASE)
Found = TypeVar("Found")


def call_with_views(call: Callable[..., Found], *data: Any, **params: Any) -> Found:
    """Call somebody's code with views of the data that cannot be written to.

    Code that writes into its data is called again with a copy of them, which is its own. Frames of
    pandas are copied at once.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.selectors.origins import call_with_views
    >>> def careless(X):
    ...     X -= X.mean()
    ...     return float(X.max())
    >>> X = np.array([1.0, 2.0, 3.0])
    >>> call_with_views(careless, X), X
    (1.0, array([1., 2., 3.]))
    """
    views = [_each(one, read_only) for one in data]
    try:
        return call(*views, **{name: _each(one, read_only) for name, one in params.items()})
    except Exception as error:  # of NumPy, SciPy, Numba, Cython: each has its own class
        if not _READ_ONLY_ERROR.search(str(error)):
            raise
    copies = [_each(one, np.copy) for one in data]
    return call(*copies, **{name: _each(one, np.copy) for name, one in params.items()})


def _each(data: Any, made: Callable[[np.ndarray], np.ndarray]) -> Any:
    """The same with every array in it replaced; what holds no NumPy arrays as it is."""
    if isinstance(data, np.ndarray):
        return made(data)
    if hasattr(data, "iloc"):  # whose columns are many arrays
        return data.copy()
    if not sparse.issparse(data) or data.format not in ("csr", "csc"):
        return data
    parts = (made(data.data), made(data.indices), made(data.indptr))
    held = type(data)(parts, shape=data.shape, copy=False)
    held.has_sorted_indices = data.has_sorted_indices
    held.has_canonical_format = data.has_canonical_format
    return held


class Refits:
    """Fits guests to the same samples, which stay here while the process lasts."""

    def __init__(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        self.X: Any = X
        self.y: Any = y
        self.params: dict[str, Any] = params

    def fit(self, guest: Any) -> Any:
        """A fitted copy."""
        if isinstance(guest, BaseSelector):  # which writes nowhere
            return clone(guest).fit(self.X, self.y, **self.params)
        return call_with_views(partial(_fit_guest, guest), self.X, self.y, **self.params)

    def __reduce__(self) -> tuple[Any, ...]:
        return Refits, (None, None, {})


def _fit_guest(guest: Any, X: Any, y: Any, **params: Any) -> Any:
    guest = clone(guest, safe=False)
    fitted = guest.fit(X, y, **params)
    return guest if fitted is None else fitted


def at_number(fitted: Any, k: int | None) -> Any:
    """A fitted selector, or pipeline that ends in one, at another number of features."""
    if isinstance(fitted, Pipeline):
        name, last = fitted.steps[-1]
        return Pipeline([*fitted.steps[:-1], (name, at_number(last, k))])
    return fitted.at(k)


def standing(selector: Any, places: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """(scores, ranking) of d features by a fitted selector that saw those at the places."""
    support = np.asarray(selector.get_support())
    ranking = getattr(selector, "ranking_", None)
    if ranking is None:
        ranking = order_to_ranks(np.argsort(~support, kind="stable"))
    scores = getattr(selector, "scores_", None)
    scores = support.astype(np.float64) if scores is None else scores
    if np.array_equal(places, np.arange(d)):
        return scores, ranking
    lowest = np.min(scores, initial=0.0)
    order = np.argsort(put_back(ranking, places, d, d + len(places)), kind="stable")
    return put_back(scores, places, d, lowest), order_to_ranks(order)


def rank_visible(found: FeatureScores, places: np.ndarray) -> FeatureScores:
    """The same where a guest did not see all features: only those that it saw are ranked."""
    seen = np.isin(np.arange(len(found.scores)), places)
    if seen.all():
        return found
    order = np.argsort(np.where(seen, found.ranking(), len(seen) + 1), kind="stable")
    return replace(found, order=order[: seen.sum()], complete=False)


def order_to_ranks(order: np.ndarray) -> np.ndarray:
    """Rank of every feature, 1 for the first of an order."""
    ranking = np.empty(len(order), dtype=np.int64)
    ranking[order] = np.arange(1, len(order) + 1)
    return ranking
