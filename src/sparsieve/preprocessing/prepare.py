"""What is done to X before features are selected from it, learnt on training samples only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .._checks import format_names
from ..validation.values import check_finite
from .covariates import BesideCovariates
from .steps import STRATEGIES, Imputer, Log1p, LogCPM

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
    >>> from sparsieve.preprocessing.prepare import preparation
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
    >>> from sparsieve.preprocessing.prepare import describe_preparation, preparation
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
    >>> from sparsieve.preprocessing.prepare import check_preparable, preparation
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
