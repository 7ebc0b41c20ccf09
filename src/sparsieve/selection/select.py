"""``sparsieve.select``: the features worth keeping, in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from .. import _clock
from .._checks import check_choice, check_integer, warn_user
from ..diagnosis import permutation_null
from ..diagnosis.null import looks_at_target
from ..meta import SelectorCV
from ..preprocessing.prepare import preparation
from ..registry import find_selector
from ..selectors.base import BaseSelector
from ..selectors.parameters import configured
from ..validation.columns import columns_mask
from ..validation.containers import plain_vector
from ..validation.dataframes import frame_library
from ..validation.external import check_in_memory
from ..validation.target import TASKS, is_categorical, read_task, with_task
from ..validation.values import check_finite
from .annotated import is_annotated, labels_of, matrix_of, names_of, write_back
from .result import AUTO, SelectedFeatures

if TYPE_CHECKING:
    pass


def select(
    X: Any,
    y: Any,
    k: int | float | str | None = AUTO,
    method: str | type | BaseSelector = "ridge-forward",
    *,
    task: str = AUTO,
    rule: str | None = None,
    layer: str | None = None,
    feature_names: Any = None,
    prepare: Any = None,
    groups: Any = None,
    check: bool | str = AUTO,
    permutations: int = 0,
    certify: bool = False,
    **params: Any,
) -> SelectedFeatures:
    """Select the features of X that say most about y.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or AnnData of shape (n_samples, n_features)
        The data. What is found in an AnnData object is also written into it:
        ``var["sparsieve_rank"]``, ``var["sparsieve_score"]``, ``var["sparsieve_selected"]``, and
        how it was found into ``uns["sparsieve"]``.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
        Class labels or real targets; of an AnnData object the name of a column of ``obs``.
    k : int, float, "auto" or None, default="auto"
        How many features to keep, or which fraction; "auto" finds the number by cross-validation
        (:class:`~sparsieve.SelectorCV`, some 20 fits), None keeps what the method itself keeps.
    method : str, class or selector, default="ridge-forward"
        The name of a method, as ``sparsieve methods`` lists them, or a selector.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y. "auto" reads text, booleans, categories and whole numbers as classes and
        numbers with fractions as quantities; whole numbers that could be either are read as
        quantities, which is said.
    rule : {"best", "one_se", "elbow"} or None, default=None
        Which number ``k="auto"`` takes, see :class:`~sparsieve.SelectorCV`; None is its default,
        "best".
    layer : str or None, default=None
        Of an AnnData object: the layer to select from; None is ``X``.
    feature_names : array-like of str, default=None
        For an X without names.
    prepare : "log-cpm", transformer or None, default=None
        What is done to X first, in cross-validation with what training samples teach: "log-cpm"
        is :class:`~sparsieve.LogCPM`, for raw counts. It must keep the columns. With a number as
        k the selector takes what ``selected.prepare`` makes of other data.
    groups : array-like of shape (n_samples,), default=None
        Samples of a group stay together in cross-validation.
    check : bool or "auto", default="auto"
        Whether to say how well the selection predicts held-out samples, whether that is better
        than a guess, by a test at the level of 5 %, and how stable the list is, by ten more fits on
        folds; a search with ``k="auto"`` has made them. True does so at once, "auto" when the
        result is first shown and only if it takes less than about 20 s.
    permutations : int, default=0
        How often y is shuffled to see what scores noise reaches; ``selected.null`` has the answer.
    certify : bool, default=False
        Whether to prove how much of what any as many features could explain these do, on the
        training data; ``selected.certificate`` has the answer. For methods with ``certify``.
    **params : dict
        Parameters of the method.

    Returns
    -------
    selected : SelectedFeatures
        ``features``, ``table``, ``selector``, ``check``, ``accuracy``, ``report(path)``,
        ``plot()`` and ``save_figures(folder)``; a notebook shows it.

    See Also
    --------
    sparsieve.SelectedFeatures : What is returned.
    sparsieve.compare : Several methods on the same folds.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selected = sparsieve.select(X, y, k=2, method="f-statistic")
    >>> selected.features
    ['worst concave points', 'worst perimeter']
    >>> selected.table["substitutes"][0]
    'mean concave points (0.91)'
    """
    if not isinstance(check, bool) and check != AUTO:
        raise ValueError(f'check must be True, False or "auto", got {check!r}')
    check_integer("permutations", permutations, minimum=0)
    selector = _with_task(_chosen(method, params), task)
    if certify:
        _check_certifiable(selector)
    if isinstance(k, str):
        if k != AUTO:
            raise ValueError(f'k must be a number, a fraction, "auto" or None, got {k!r}')
        if not isinstance(selector, SelectorCV):
            selector = SelectorCV(selector)
        if rule is not None:
            selector.set_params(rule=rule)
    elif isinstance(selector, SelectorCV):
        raise ValueError(
            f'SelectorCV finds the number of features itself; leave k="auto", got k={k!r}'
        )
    elif rule is not None:
        raise ValueError(f'rule={rule!r} is for k="auto", where it finds the number; got k={k!r}')
    elif isinstance(k, bool | np.bool_) or not (k is None or np.isscalar(k)):
        raise ValueError(f'k must be a number, a fraction, "auto" or None, got {k!r}')
    else:
        selector.set_params(n_features_to_select=k)
    adata, target, names = None, y, None
    if is_annotated(X):
        adata, names = X, names_of(X)
        y, X = labels_of(X, y), matrix_of(X, layer, streams=selector._accepts_external)
    elif layer is not None:
        raise ValueError(f"layer={layer!r} is for AnnData, but X is of type {type(X).__name__}")
    elif isinstance(y, str):
        raise TypeError(
            f"y={y!r} names a column, which is for AnnData; pass the values themselves as y, and "
            "the other columns as X"
        )
    elif feature_names is not None:
        names = np.array([str(name) for name in feature_names], dtype=object)
        _number_columns(selector, names)
    in_memory = isinstance(X, np.ndarray) or sparse.issparse(X)
    if names is not None and in_memory and not get_tags(selector).input_tags.allow_nan:
        check_finite(X, names)  # with the names, which the matrix does not have
    made = preparation(prepare)
    selector = _with_reading_settled(selector, y)
    selected = _fitted(SelectedFeatures(selector, X, y, names, made, groups, check))
    if adata is not None:
        write_back(adata, selector, selected.method, target, layer)
    if selected.interrupted:
        return selected  # who interrupts does not want to wait
    if permutations:
        null = permutation_null(selected.method, selected.prepared_X, y, n_repeats=permutations)
        selected = replace(selected, null=null)
    if certify:
        selected = replace(selected, certificate=_proven(selected))
    is_known = isinstance(selector, SelectorCV) and check is not False
    if (is_known or check is True) and selected.nothing_found:
        warn_user(selected.nothing_found)
    return selected


def _with_task(selector: Any, task: str) -> Any:
    """The selector that reads y as it is said to be."""
    check_choice("task", task, TASKS)
    if task == AUTO:
        return selector
    if task == "regression" and not selector._accepts_regression:
        raise ValueError(
            f"{type(selector).__name__} selects for class labels only, not for task={task!r}"
        )
    return with_task(selector, task)


def _check_certifiable(selector: Any) -> None:
    """Refuse, before any work, a method that nothing can be proven about."""
    inner = selector.selector if isinstance(selector, SelectorCV) else selector
    if not hasattr(inner, "certify"):
        raise ValueError(f"nothing can be proven about the selections of {type(inner).__name__}")
    inner._check_certifiable()


def _proven(selected: SelectedFeatures) -> Any:
    """The certificate of the selection and of smaller ones."""
    method, X = selected.method, selected.prepared_X
    if isinstance(selected.selector, SelectorCV):  # which tried larger ones too
        method = method.reaching(selected.selector.best_k_).fit(X, selected.y)
    return method.certify(X, selected.y)


def _number_columns(selector: Any, names: np.ndarray) -> None:
    """Columns that parameters call by name, by their place: X itself has no names."""
    selector = getattr(selector, "selector", selector)
    for parameter in ("always_keep", "never_keep"):
        columns = getattr(selector, parameter, None)
        if columns is not None:
            columns = [columns] if isinstance(columns, str) else columns
            mask = columns_mask(parameter, columns, len(names), list(names))
            selector.set_params(**{parameter: np.flatnonzero(mask).tolist()})


def _with_reading_settled(selector: Any, y: Any) -> Any:
    """The selector with a fixed reading of y, where it was left to decide; doubts are said."""
    is_open = getattr(selector, "task", None) == AUTO and selector._accepts_regression
    if not is_open or not looks_at_target(selector):
        return selector
    values = y if is_categorical(y) else plain_vector("y", y)
    if values is None or sparse.issparse(values) or np.ndim(values) != 1:
        return selector
    task, doubt = read_task(values)
    if doubt:
        warn_user(doubt)
    return with_task(selector, task)


def _fitted(selected: SelectedFeatures) -> SelectedFeatures:
    """The same with its preparation and its selector fitted."""
    selector, X, prepare = selected.selector, selected.X, selected.prepare
    if prepare is not None:
        check_in_memory("prepare", X)
        if (library := frame_library(X)) in ("pandas", "polars") and hasattr(prepare, "set_output"):
            prepare.set_output(transform=library)  # names are not lost on the way
        prepare.fit(X)
    start, interrupted = _clock.clock(), False
    try:
        if isinstance(selector, SelectorCV):
            if prepare is not None:
                selector.set_params(prepare=prepare)
            selector.fit(X, selected.y, groups=selected.groups)
        else:
            selector.fit(selected.prepared_X, selected.y)
    except KeyboardInterrupt:
        if getattr(selector, "support_", None) is None:
            raise
        interrupted = True
    return replace(selected, fit_seconds=_clock.clock() - start, interrupted=interrupted)


def _chosen(method: Any, params: dict[str, Any]) -> Any:
    """The unfitted selector that is meant."""
    if isinstance(method, str):
        method = find_selector(method)
    if "n_features_to_select" in params:
        raise ValueError(
            f"select() takes the number of features as k, got n_features_to_select="
            f"{params['n_features_to_select']!r}; use k"
        )
    if isinstance(method, type) and issubclass(method, BaseSelector):
        return configured(method, params)
    if isinstance(method, BaseSelector):
        return clone(method).set_params(**params)
    given = method.__name__ if isinstance(method, type) else type(method).__name__
    raise TypeError(f"method must be the name of a method or a selector, got {given}")
