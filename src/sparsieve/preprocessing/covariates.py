"""Covariates: columns that are always in the model, made into numbers beside the features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .._checks import format_names, suggestion, warn_user
from .._saved import Savable
from .._text import listed_names
from ..validation.containers import check_finite
from ..validation.dataframes import open_frame
from ..validation.raw_columns import AS_VALUE, RawColumn, values_of_array
from ..validation.raw_tables import make_plan
from .steps import STRATEGIES, Imputer, Log1p, LogCPM, _Step
from .table import column_names, is_anndata, obs_column


@dataclass(frozen=True)
class Covariates:
    """What was said to be covariates.

    Attributes
    ----------
    names : tuple of str
        As they were given.
    values : dict of str to array or None
        Where they were not columns of the data frame X.
    places : tuple of int
        Their columns among those that the selector sees, once that is known.
    from_table : bool
        Whether they are columns of the table of a file, which gave them roles.
    """

    names: tuple[str, ...] = ()
    values: Mapping[str, Any] | None = None
    places: tuple[int, ...] = ()
    from_table: bool = False

    @property
    def is_separate(self) -> bool:
        """Whether they were given apart from X."""
        return self.values is not None and not self.from_table

    @property
    def words(self) -> str:
        """Their names."""
        return listed_names(self.names[:5], len(self.names) - 5)


def read_covariates(X: Any, covariates: Any) -> Covariates:
    """Read what ``covariates`` of :func:`~sparsieve.select` may be, before X is looked at."""
    if covariates is None:
        return Covariates()
    if isinstance(covariates, str):
        covariates = [covariates]
    frame = open_frame(covariates)
    if frame is not None:
        covariates = {name: frame.get_column(name).to_numpy() for name in frame.columns}
    if isinstance(covariates, Mapping):
        values = {str(name): values for name, values in covariates.items()}
        return Covariates(tuple(values), values)
    if isinstance(covariates, list | tuple) and all(isinstance(one, str) for one in covariates):
        names = tuple(dict.fromkeys(covariates))
        if is_anndata(X):
            return Covariates(names, {name: obs_column(X, name) for name in names})
        if (known := column_names(X)) is None:
            raise TypeError(
                f"covariates={list(names)!r} names columns, but X is of type {type(X).__name__}, "
                "which has no named columns; pass their values, such as a data frame"
            )
        for name in names:
            if name not in known:
                raise ValueError(f"X has no column {name!r}{suggestion(name, known)}")
        return Covariates(names)
    table = np.asarray(covariates)
    if table.ndim not in (1, 2) or table.dtype.kind not in "biufUO":
        raise TypeError(
            "covariates must be names of columns, a data frame, a dict of columns or an array, got "
            f"{type(covariates).__name__}"
        )
    columns = table.reshape(len(table), -1).T
    made = {f"covariate {j}": column for j, column in enumerate(columns, 1)}
    return Covariates(tuple(made), made)


def covariate_columns(
    given: Mapping[str, Any],
) -> tuple[np.ndarray, list[RawColumn], list[str]]:
    """(numbers, what makes them, covariates with gaps) of covariates given as columns by name.

    They are encoded as columns of a data frame are: text and categories become a column of zeros
    and ones for each value, one column where there are two, a missing one being a value of its
    own; dates become days since 1970.

    Examples
    --------
    >>> from sparsieve.preprocessing.covariates import covariate_columns
    >>> made, columns, _ = covariate_columns({"age": [40, 61], "sex": ["m", "f"]})
    >>> made.tolist(), [column.outputs for column in columns]
    ([[40.0, 1.0], [61.0, 0.0]], [['age'], ['sex=m']])
    """
    for one in map(np.asarray, given.values()):
        if one.ndim != 1:
            raise ValueError(f"a covariate must be one column, got values of shape {one.shape}")
    values = {name: values_of_array(one) for name, one in given.items()}
    if empty := [name for name, one in values.items() if one.gaps.all()]:
        raise ValueError(f"covariate {empty[0]!r} has no values; leave it out")
    plan = make_plan(values, gaps=AS_VALUE, decides=False)
    for name, several in plan.wordy.items():
        raise ValueError(
            f"covariate {name!r} is text with {several} different values, too many for categories; "
            "leave it out"
        )
    for said in plan.odd:
        warn_user(f"{said}; they are filled as other gaps")
    return plan.numbers().astype(np.float64), plan.columns, plan.gaps


def append_columns(X: Any, columns: np.ndarray, names: Sequence[str]) -> Any:
    """X with further columns behind its own: a data frame, an array or a sparse matrix."""
    frame = open_frame(X)
    if frame is not None:
        import narwhals as nw

        taken = [name for name in names if name in frame.columns]
        if taken:
            raise ValueError(f"a covariate and a feature are both called {taken[0]!r}; rename one")
        made = [
            nw.new_series(name, columns[:, j], backend=frame.implementation)
            for j, name in enumerate(names)
        ]
        native = frame.to_native()
        if hasattr(native, "iloc"):  # pandas would put rows together by their index
            return native.assign(**{one.name: one.to_numpy() for one in made})
        return frame.with_columns(*made).to_native()
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(columns.astype(X.dtype))], format="csr")
    X = np.asarray(X)
    dtype = X.dtype if X.dtype.kind == "f" else np.float64
    return np.hstack([X, columns]).astype(dtype, copy=False)


class BesideCovariates(Savable, _Step):
    """A preparation of all columns but the covariates, whose gaps alone are filled.

    Parameters
    ----------
    prepare : transformer
        Keeps the columns.
    places : sequence of int
        The columns of the covariates.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.preprocessing.covariates import BesideCovariates
    >>> from sparsieve.preprocessing.steps import Log1p
    >>> step = BesideCovariates(Log1p(), places=[1])
    >>> step.fit_transform(np.array([[0.0, 40.0], [0.0, np.nan]])).tolist()
    [[0.0, 40.0], [0.0, 40.0]]
    """

    n_features_in_: int
    prepare_: Any
    fill_: Imputer

    def __init__(self, prepare: Any = None, places: Sequence[int] = ()) -> None:
        self.prepare = prepare
        self.places = places

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the preparation on the other columns, and the filling of gaps on the covariates."""
        X = self._check_input(X, reset=True)
        own, given = self._divide_columns(X)
        self.prepare_ = clone(self.prepare).fit(own)
        self.fill_ = Imputer().fit(given)
        return self

    def transform(self, X: Any) -> Any:
        """All columns, in their order."""
        check_is_fitted(self)
        X = self._check_input(X, reset=False)
        own, given = self._divide_columns(X)
        parts = [self.prepare_.transform(own), self.fill_.transform(given)]
        order = np.argsort(np.concatenate([self.others, self.places]))
        if sparse.issparse(X):
            return sparse.hstack(parts, format="csr")[:, order]
        return np.hstack([np.asarray(part) for part in parts])[:, order]

    def _divide_columns(self, X: Any) -> tuple[Any, Any]:
        X = X.tocsc() if sparse.issparse(X) else X
        return X[:, self.others], X[:, list(self.places)]

    @property
    def others(self) -> np.ndarray:
        """The columns that are no covariates."""
        return np.setdiff1d(np.arange(self.n_features_in_), self.places).astype(np.intp)


PREPARATIONS: dict[str, Callable[[], Any]] = {
    "impute": Imputer,
    **{f"impute-{name.replace('_', '-')}": partial(Imputer, name) for name in STRATEGIES[1:]},
    "log": Log1p,
    "log-cpm": LogCPM,
}


def preparation(prepare: Any) -> Any:
    """The unfitted transformer that ``prepare`` stands for, which returns arrays; None for none.

    A list of names or transformers becomes a Pipeline.

    Examples
    --------
    >>> from sparsieve.preprocessing.covariates import preparation
    >>> preparation("log-cpm")
    LogCPM()
    >>> [name for name, _ in preparation(["impute", "log"]).steps]
    ['step 1', 'step 2']
    """
    if prepare is None:
        return None
    if isinstance(prepare, list | tuple):
        steps = [preparation(step) for step in prepare if step is not None]
        if len(steps) < 2:
            return steps[0] if steps else None
        return Pipeline([(f"step {place}", step) for place, step in enumerate(steps, 1)])
    if isinstance(prepare, str) and prepare in PREPARATIONS:
        prepare = PREPARATIONS[prepare]()
    if isinstance(prepare, str | type) or not hasattr(prepare, "transform"):
        known = ", ".join(map(repr, PREPARATIONS))
        raise ValueError(
            f"prepare must be one of {known}, a transformer, a list of these or None, "
            f"got {prepare!r}"
        )
    made = clone(prepare)
    return made.set_output(transform="default") if hasattr(made, "set_output") else made


def describe_preparation(prepare: Any) -> Any:
    """What to write after ``prepare=`` to have the same again: names, where there are some.

    Examples
    --------
    >>> from sparsieve.preprocessing.covariates import describe_preparation, preparation
    >>> describe_preparation(preparation(["impute-mean", "log"]))
    ['impute-mean', 'log']
    """
    found = [_name(step) for step in steps_of(prepare)]
    return found if len(found) > 1 else found[0] if found else None


def fills_gaps(prepare: Any) -> bool:
    """Whether this preparation accepts missing values and fills them."""
    for step in steps_of(prepare):
        if not get_tags(step).input_tags.allow_nan:
            return False
        if not isinstance(step, Log1p):  # which lets them pass
            return True
    return False


def takes_logarithms(prepare: Any) -> bool:
    """Whether this preparation puts counts on a log scale."""
    return any(isinstance(step, Log1p | LogCPM) for step in steps_of(prepare))


def check_preparable(X: Any, names: Any, prepare: Any, *, allow_nan: bool = False) -> None:
    """Refuse, naming the columns, values that neither the preparation nor the method takes.

    Parameters
    ----------
    X : array or sparse matrix
        The data before the preparation.
    names : sequence of str or None
        Names of the columns.
    prepare : transformer or None
        As :func:`preparation` returns it.
    allow_nan : bool, default=False
        Whether the method itself takes missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.preprocessing.covariates import check_preparable, preparation
    >>> try:
    ...     check_preparable(np.array([[1.0, -2.0]]), ["a", "b"], preparation("log"))
    ... except ValueError as error:
    ...     print(error)
    prepare='log' takes logarithms, but 1 column has negative values: 'b'; leave it out if the \
values are on a log scale already
    """
    allow_nan = allow_nan or fills_gaps(prepare)
    check_finite(X, names, allow_nan=allow_nan, imputer='prepare="impute"')
    if not takes_logarithms(prepare):
        return
    if sparse.issparse(X):
        low = np.asarray(X.min(axis=0).todense()).ravel()
    else:
        low = np.fmin.reduce(X, axis=0)
    if isinstance(prepare, BesideCovariates):
        low[list(prepare.places)] = 0.0  # left as they are
    where = np.flatnonzero(low < 0)
    if len(where):
        made = next(step for step in steps_of(prepare) if isinstance(step, Log1p | LogCPM))
        several = len(where) > 1
        raise ValueError(
            f"prepare={_name(made)!r} takes logarithms, but {len(where)} "
            f"column{'s have' if several else ' has'} negative values: "
            f"{format_names([int(j) if names is None else names[j] for j in where])}; leave "
            "it out if "
            "the values are on a log scale already"
        )


def steps_of(prepare: Any) -> Iterator[Any]:
    """The steps of a preparation, one by one."""
    if isinstance(prepare, Pipeline):
        for _, step in prepare.steps:
            yield from steps_of(step)
    elif isinstance(prepare, BesideCovariates):
        yield from steps_of(prepare.prepare)
    elif prepare is not None:
        yield prepare


def _name(step: Any) -> Any:
    """The name of a step, or the step itself."""
    for name, make in PREPARATIONS.items():
        made = make()
        if type(step) is type(made) and _settings(step) == _settings(made):
            return name
    return step


def _settings(step: Any) -> dict[str, Any]:
    """The parameters but those that tables decide."""
    return {key: value for key, value in step.get_params().items() if key != "text_groups"}
