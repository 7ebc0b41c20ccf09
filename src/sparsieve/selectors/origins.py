"""Which column of X is behind every column that the end of a guest's pipeline sees.

Steps may scale, fill, drop and reorder columns: then what the model says of its columns is said of
features of X. Structure comes first (pipelines, ColumnTransformer, FeatureUnion, selectors), then
the names that a step gives to what it makes. Where names tell nothing a step is tried: the values
of half of the columns are exchanged between samples, and the outputs that change depend on them.
The halves are the digits of the columns' numbers, so that a few tries tell all columns apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from .lending import lent

_TRIAL_VALUES = 1_000_000  # of X, in the rows by which a step is tried
_MIN_ROWS = 50
_ROUNDING_SHARE = 1e-9  # relative to the largest value of a column: smaller changes are rounding
NO_ORIGIN = -1  # the origin of a column that is the same whatever X holds


class NotTraced(ValueError):
    """A step makes columns that are no single columns of X: which one, and what it does."""

    def __init__(self, step: Any, what: str) -> None:
        super().__init__(f"{type(step).__name__} {what}")
        self.step: str = type(step).__name__
        self.what: str = what
        self.is_silent: bool = not hasattr(step, "get_feature_names_out")


def unfolded(estimator: Any) -> tuple[list[Any], Any]:
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


class Rows:
    """Some rows of what a step sees, made only where a step has to be tried."""

    def __init__(self, n_columns: int, make: Callable[[], Any]) -> None:
        self.n_columns = n_columns
        self._make = make
        self._made: Any = None

    @staticmethod
    def of(X: Any) -> Rows:
        """Rows of X in which every column varies that varies at all."""
        return Rows(X.shape[1], lambda: _some_rows(X))

    @property
    def values(self) -> Any:
        """The rows."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def through(self, steps: list[Any], n_columns: int) -> Rows:
        """What several steps make of them."""
        return Rows(n_columns, lambda: reduce(through, steps, self.values))

    def taken(self, columns: np.ndarray) -> Rows:
        """Some of the columns."""
        return Rows(len(columns), lambda: _columns(self.values, columns))


def origins(steps: Iterable[Any], rows: Rows) -> np.ndarray:
    """The column of X behind every column that fitted steps make, one after the other.

    Parameters
    ----------
    steps : list of transformers
        Fitted.
    rows : Rows
        Of what the first of them sees.

    Returns
    -------
    places : ndarray of int
        ``NO_ORIGIN`` for columns that are always the same.

    Raises
    ------
    NotTraced
        If a step mixes columns, or makes several of one.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.compose import ColumnTransformer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sparsieve.selectors.origins import Rows, origins
    >>> X = np.arange(12.0).reshape(4, 3)
    >>> last_first = ColumnTransformer([("s", StandardScaler(), [2])], remainder="passthrough")
    >>> origins([last_first.fit(X)], Rows.of(X))
    array([2, 0, 1])
    """
    places, several = _chained(steps, rows)
    own = places[places != NO_ORIGIN]
    if len(np.unique(own)) < len(own):
        raise NotTraced(several, "makes several columns of one feature")
    return places


def check_in_place(step: Any, X: Any) -> None:
    """Refuse a fitted step after which columns are other features than in X.

    What mixes columns and gives them no names, as a function that scales samples, is trusted.
    """
    try:
        places = origins([step], Rows.of(X))
    except NotTraced as error:
        why = "" if error.is_silent else error.what
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


def _chained(steps: Iterable[Any], rows: Rows) -> tuple[np.ndarray, Any]:
    """(the places, the first step that makes several columns of one)."""
    places, several = np.arange(rows.n_columns), None
    for step in steps:
        made = _made_by(step, rows)
        places = np.where(made == NO_ORIGIN, NO_ORIGIN, places[made])
        own = places[places != NO_ORIGIN]
        if several is None and len(np.unique(own)) < len(own):
            several = step
        rows = rows.through([step], len(made))
    return places, several


def _made_by(step: Any, rows: Rows) -> np.ndarray:
    """The column that a step sees behind every column that it makes."""
    if _passes(step):
        return np.arange(rows.n_columns)
    if isinstance(step, Pipeline):
        return _chained([each for _, each in step.steps], rows)[0]
    if isinstance(step, ColumnTransformer):
        return _of_column_transformer(step, rows)
    if isinstance(step, FeatureUnion):
        parts = [part for _, part in step.transformer_list if not _drops(part)]
        return np.concatenate([np.empty(0, dtype=np.intp), *(_made_by(p, rows) for p in parts)])
    if hasattr(step, "get_support"):
        support = np.asarray(step.get_support())
        if support.dtype == bool and support.shape == (rows.n_columns,):
            return np.flatnonzero(support)
    named = _by_names(step, rows.n_columns)
    return _by_trial(step, rows) if named is None else named


def _passes(step: Any) -> bool:
    """Whether columns come out of a step as they go in; some steps only resample the rows."""
    return (
        step is None
        or (isinstance(step, str) and step == "passthrough")
        or (hasattr(step, "fit_resample") and not hasattr(step, "transform"))
    )


def _drops(step: Any) -> bool:
    return isinstance(step, str) and step == "drop"


def _of_column_transformer(step: ColumnTransformer, rows: Rows) -> np.ndarray:
    spans = step.output_indices_
    places = np.full(max((span.stop for span in spans.values()), default=0), NO_ORIGIN)
    for name, part, columns in step.transformers_:
        span = spans.get(name, slice(0, 0))
        if _drops(part) or span.start == span.stop:
            continue
        taken = _numbers_of(columns, step)
        made = _made_by(part, rows.taken(taken))
        if len(made) != span.stop - span.start:
            raise NotTraced(part, "makes another number of columns than it says")
        places[span] = np.where(made == NO_ORIGIN, NO_ORIGIN, taken[made])
    return places


def _numbers_of(columns: Any, step: ColumnTransformer) -> np.ndarray:
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


def _by_names(step: Any, n_columns: int) -> np.ndarray | None:
    """By the names that a step gives to what it makes; None where these are no names of columns."""
    given = getattr(step, "feature_names_in_", None)
    names = [f"column_{j}_of_x" for j in range(n_columns)] if given is None else list(given)
    places = {name: j for j, name in enumerate(names)}
    if len(places) != n_columns:
        return None
    try:
        made = list(step.get_feature_names_out(np.array(names, dtype=object)))
    except Exception:  # whatever a class of somebody else does
        return None
    if not all(name in places for name in made):
        return None
    return np.array([places[name] for name in made], dtype=np.intp)


# -- trying a step -------------------------------------------------------------------------------


def _by_trial(step: Any, rows: Rows) -> np.ndarray:
    """By which outputs change with which columns."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            X = rows.values
            before, again = _dense(through(X, step)), _dense(through(X, step))
            if _changed(before, again).any():
                raise NotTraced(step, "makes other values at every call")
            open_ones = _changed(before, np.roll(before, 1, axis=0))  # the others are constant
            places = np.where(open_ones, 0, NO_ORIGIN)
            for digit in range((rows.n_columns - 1).bit_length()):
                is_one = (np.arange(rows.n_columns) >> digit & 1).astype(bool)
                one, zero = (
                    _changed(before, _dense(through(_exchanged(X, some), step)))
                    for some in (is_one, ~is_one)
                )
                if (open_ones & one & zero).any():
                    raise NotTraced(step, "mixes columns of X")
                if (open_ones & ~one & ~zero).any():
                    raise NotTraced(step, "does not go by the values of single columns")
                places[open_ones & one] += 1 << digit
    except NotTraced:
        raise
    except Exception as error:  # whatever a class of somebody else does
        raise NotTraced(step, "does not say which columns it makes of which") from error
    return places


def through(X: Any, step: Any) -> Any:
    """What a fitted step makes of X."""
    if isinstance(step, Pipeline):  # which would ask whether its last step has learnt anything
        return reduce(through, [each for _, each in step.steps], X)
    return X if _passes(step) else lent(step.transform, X)


def _some_rows(X: Any) -> Any:
    if hasattr(X, "columns"):  # rows of a frame are taken as they are
        return X.head(_MIN_ROWS)
    n_samples, n_columns = X.shape
    most = max(_MIN_ROWS, _TRIAL_VALUES // max(1, n_columns))
    if n_samples <= most:
        return X
    rows = np.random.default_rng(0).permutation(n_samples)[:most]
    some = X[rows]
    still = _dense(some.max(axis=0)).ravel() == _dense(some.min(axis=0)).ravel()
    ends = [np.asarray(end).ravel()[still] for end in (X.argmin(axis=0), X.argmax(axis=0))]
    return X[np.unique(np.concatenate([rows, *ends]))]


def _columns(X: Any, columns: np.ndarray) -> Any:
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]


def _exchanged(X: Any, columns: np.ndarray) -> Any:
    """X with the values of some columns moved to the next row: a varying one changes somewhere."""
    order = np.roll(np.arange(X.shape[0]), 1)
    if sparse.issparse(X):
        kept, moved = (sparse.diags_array(mask.astype(X.dtype)) for mask in (~columns, columns))
        X = sparse.csr_array(X)
        return X @ kept + X[order] @ moved
    if hasattr(X, "iloc"):
        made = X.copy()
        for j in np.flatnonzero(columns):
            made.isetitem(int(j), X.iloc[order, j].array)
        return made
    if hasattr(X, "with_columns"):
        moved = X[order.tolist()]
        return X.with_columns(moved[:, int(j)] for j in np.flatnonzero(columns))
    made = X.copy()
    made[:, columns] = X[order][:, columns]
    return made


def _dense(made: Any) -> np.ndarray:
    made = made.toarray() if sparse.issparse(made) else np.asarray(made)
    return made[:, None] if made.ndim == 1 else made


def _changed(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Which columns differ, by more than rounding."""
    if before.shape != after.shape:
        raise ValueError("the number of columns depends on the rows")
    if before.dtype.kind not in "fiub":
        gaps = (before != before) & (after != after)
        return ((before != after) & ~gaps).any(axis=0)
    one, two = before.astype(np.float64), after.astype(np.float64)
    size = np.nanmax(np.where(np.isfinite(one), np.abs(one), 0.0), axis=0, initial=0.0)
    gaps = np.isnan(one)
    differs = (np.abs(one - two) > _ROUNDING_SHARE * size) | (gaps != np.isnan(two))
    return (differs & (one != two)).any(axis=0)
