"""``sparsieve.select``: the features worth keeping, in one line."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from .. import _clock
from .._checks import check_finite, warn_user
from .._frames import frame_library
from ..choose import SelectorCV
from ..diagnosis import diagnose
from ..diagnosis.null import looks_at_target
from ..discovery import find_selector
from ..evaluation.held_out import HeldOutCheck, checked
from ..frames.prepare import preparation
from ..selectors.base import BaseSelector, Count
from ..selectors.foreign import check_in_memory
from ..selectors.parameters import configured
from ..selectors.plain import plain_vector
from ..selectors.table import as_frame, selection_columns
from ..selectors.target import is_categorical, read_task, with_task
from .annotated import is_annotated, labels_of, matrix_of, names_of, write_back
from .view import selection_view

if TYPE_CHECKING:
    from ..displays import RankingDisplay

AUTO = "auto"


@dataclass(frozen=True, repr=False, eq=False)
class SelectedFeatures:
    """What :func:`~sparsieve.select` found.

    Attributes
    ----------
    selector : selector
        Fitted: it transforms other data, and with ``k="auto"`` it also predicts.
    X, y : array-like
        The data, as given; of an AnnData object its matrix and the labels.
    names : ndarray of str or None
        Names of all features, where X itself has none.
    features : list of str
        The kept features, the best first.
    table : DataFrame or dict
        One row for each of them: rank, feature, score, meaning, coefficients and p-values where
        the method has them, substitutes. A frame of the library that X came from.
    accuracy : float
        Accuracy (R squared for numbers) on samples that neither the selection nor the model has
        seen, by cross-validation with a ridge model; found when first asked for, and with
        ``k="auto"`` by the search itself, which makes it a little too good.
    leaks : list of str
        Sentences of :func:`~sparsieve.diagnose` on copies of samples, on features that know too
        much, on ids and on raw counts; found when first asked for or shown.
    prepare : transformer or None
        What ``prepare`` of :func:`~sparsieve.select` stands for, fitted on all samples.
    groups : array-like or None
        Groups of samples that cross-validation keeps together.
    check : HeldOutCheck or None
        What held-out samples say: ``score`` with its interval, the level of a ``guess``, whether
        the score is better than that, and the ``stability`` of the list. Made when first asked for
        or shown; None where that was declined or would take more than 20 s.
    asked : bool or "auto"
        Whether to check on held-out samples, as ``check`` of :func:`~sparsieve.select` said.
    fit_seconds : float
        How long the fit took.

    See Also
    --------
    sparsieve.select : Selection in one line, the number of features found.
    sparsieve.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selected = sparsieve.select(X, y, k=3)
    >>> print(selected)  # doctest: +NORMALIZE_WHITESPACE
    3 of 13 features by RidgeForwardSelector: proline, od280/od315_of_diluted_wines, color_intensity
    On held-out samples: accuracy 93.0 % (95 % interval 88.3 % to 97.7 %), a guess 39.9 %; stability
    of the list 0.69 (1: the same in every fold); 10 folds.
    """

    selector: Any
    X: Any
    y: Any
    names: np.ndarray | None = None
    prepare: Any = None
    groups: Any = None
    asked: bool | str = AUTO
    fit_seconds: float = 0.0

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The table as arrays by name."""
        return selection_columns(self.selector, names=self.names)

    @property
    def features(self) -> list[str]:
        """Names of the kept features, the best first."""
        return self.columns["feature"].tolist()

    @property
    def table(self) -> Any:
        """One row per kept feature."""
        return as_frame(self.columns, getattr(self.selector, "_frame_library", None))

    @property
    def nothing_found(self) -> str:
        """A sentence where no number of features beats a guess, as far as that is known."""
        return "" if self.check is None else self.check.warning

    @property
    def check(self) -> HeldOutCheck | None:
        """How the selection does on held-out samples."""
        return self._checked[0]

    @property
    def unchecked(self) -> str:
        """Why there is no check and how to have one, in a sentence; empty where there is one."""
        return self._checked[1]

    @cached_property
    def _checked(self) -> tuple[HeldOutCheck | None, str]:
        if self.asked is False or self.y is None:
            return None, ""
        return self._check(None if self.asked is True else self.fit_seconds)

    def _check(self, fit_seconds: float | None) -> tuple[HeldOutCheck | None, str]:
        if isinstance(self.selector, SelectorCV):
            return HeldOutCheck.of(self.selector), ""
        if not self._is_in_memory:
            return None, "Not checked on held-out samples: X is not in memory."
        task = (
            "regression" if getattr(self.selector, "classes_", None) is None else "classification"
        )
        if not looks_at_target(self.selector):
            task = "auto"
        return checked(
            self.selector,
            *(self.X, self.y),
            task=task,
            prepare=self.prepare,
            groups=self.groups,
            fit_seconds=fit_seconds,
            how="select(..., check=True) makes it",
        )

    @property
    def _is_in_memory(self) -> bool:
        held = type(self.X) is np.ndarray or sparse.issparse(self.X)
        return held or frame_library(self.X) in ("pandas", "polars")

    @cached_property
    def leaks(self) -> list[str]:
        """What should make a reader ask whether a feature was known beforehand."""
        if self.y is None or not self._is_in_memory:
            return []  # X in a file, on a cluster or on a device is not fetched for this
        names = self.names
        if names is None and frame_library(self.X) is None:
            names = np.array([f"x{j}" for j in range(self.X.shape[1])], dtype=object)
        task = "regression" if getattr(self.method, "classes_", None) is None else "classification"
        found = diagnose(self.X, self.y, feature_names=names, task=task, try_models=False)
        return found.first(groups=self.groups, prepared=self.prepare is not None)

    @cached_property
    def accuracy(self) -> float:
        """Cross-validated score of the selection with a model on top."""
        check, reason = self.check, ""
        if check is None:
            check, reason = self._check(None)
        if check is None:
            raise ValueError(reason)
        return check.score

    @property
    def prepared_X(self) -> Any:
        """What the features were selected from: X as given, or what ``prepare`` makes of it."""
        return self.X if self.prepare is None else self.prepare.transform(self.X)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report on the selection: one HTML file to open in any browser.

        Parameters
        ----------
        path : str or path-like
            Where to; a file of this name is replaced.
        """
        from ..report import check_installed, selector_report

        check_installed()
        search = self.selector if isinstance(self.selector, SelectorCV) else None
        selector_report(
            self.method,
            self.prepared_X,
            self.y,
            feature_names=self.names,
            search=search,
            check=self.check,
        ).save(path)

    def plot(self, *, ax: Any = None, **bar_kw: Any) -> RankingDisplay:
        """Draw the best features as bars.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **bar_kw : dict
            For the bars, as in ``matplotlib.axes.Axes.barh``.

        Returns
        -------
        display : RankingDisplay
        """
        from ..displays import RankingDisplay

        return RankingDisplay.from_estimator(
            self.selector, feature_names=self.names, ax=ax, **bar_kw
        )

    @property
    def method(self) -> Any:
        """The selector that ranks the features: inside the search where there was one."""
        return getattr(self.selector, "selector_", self.selector)

    def __repr__(self) -> str:
        n_features = len(self.selector.get_support())
        shown, more = self.features[:10], len(self.features) - 10
        rest = f" and {more} more" if more > 0 else ""
        names = f": {', '.join(shown)}{rest}" if shown else ""
        lines = [
            *(f"note: {sentence}" for sentence in self.leaks),
            self.nothing_found,
            f"{len(self.features)} of {n_features} features by {type(self.method).__name__}{names}",
            self.check.sentence() if self.check is not None else self.unchecked,
        ]
        return "\n".join(line for line in lines if line)

    def _repr_html_(self) -> str:
        return selection_view(self)


def select(
    X: Any,
    y: Any,
    k: int | float | str | None = AUTO,
    method: str | type | BaseSelector = "ridge-forward",
    *,
    rule: str | None = None,
    layer: str | None = None,
    prepare: Any = None,
    groups: Any = None,
    check: bool | str = AUTO,
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
    rule : {"best", "one_se", "elbow"} or None, default=None
        Which number ``k="auto"`` takes, see :class:`~sparsieve.SelectorCV`; None is its default,
        "best".
    layer : str or None, default=None
        Of an AnnData object: the layer to select from; None is ``X``.
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
    **params : dict
        Parameters of the method, such as ``task``: whole numbers that could be classes or
        quantities are read as quantities, which is said, unless ``task="classification"``.

    Returns
    -------
    selected : SelectedFeatures
        ``features``, ``table``, ``selector``, ``check``, ``accuracy``, ``report(path)`` and
        ``plot()``; a notebook shows it.

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
    selector = _chosen(method, params)
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
    else:
        _set_count(selector, k)
    adata, target, names = None, y, None
    if is_annotated(X):
        adata, names = X, names_of(X)
        y, X = labels_of(X, y), matrix_of(X, layer, streams=selector._takes_foreign())
        in_memory = isinstance(X, np.ndarray) or sparse.issparse(X)
        if in_memory and not get_tags(selector).input_tags.allow_nan:
            check_finite(X, names)  # with the names, which the matrix does not have
    elif layer is not None:
        raise ValueError(f"layer={layer!r} is for AnnData, but X is of type {type(X).__name__}")
    elif isinstance(y, str):
        raise TypeError(
            f"y={y!r} names a column, which is for AnnData; pass the values themselves as y, and "
            "the other columns as X"
        )
    made = preparation(prepare)
    selector = _with_doubt_settled(selector, y)
    selected = _fitted(selector, X, y, made, groups, names, check)
    with suppress(ValueError):  # columns with gaps have no correlations
        selector.find_substitutes(selected.prepared_X)
    if adata is not None:
        write_back(adata, selector, selected.method, target, layer)
    is_known = isinstance(selector, SelectorCV) and check is not False
    if (is_known or check is True) and selected.nothing_found:
        warn_user(selected.nothing_found)
    return selected


def _with_doubt_settled(selector: Any, y: Any) -> Any:
    """The selector, told to read numbers where whole numbers could be classes or quantities."""
    is_open = getattr(selector, "task", None) == AUTO and selector._accepts_regression
    if not is_open or not looks_at_target(selector):
        return selector
    values = y if is_categorical(y) else plain_vector("y", y)
    if values is None or sparse.issparse(values) or np.ndim(values) != 1:
        return selector
    task, doubt = read_task(values)
    if not doubt:
        return selector
    warn_user(doubt)
    return with_task(selector, task)


def _fitted(
    selector: Any,
    X: Any,
    y: Any,
    prepare: Any,
    groups: Any,
    names: np.ndarray | None,
    check: bool | str,
) -> SelectedFeatures:
    if prepare is not None:
        check_in_memory("prepare", X)
        if (library := frame_library(X)) in ("pandas", "polars") and hasattr(prepare, "set_output"):
            prepare.set_output(transform=library)  # names are not lost on the way
        prepare.fit(X)
    selected = SelectedFeatures(selector, X, y, names, prepare, groups, check)
    start = _clock.clock()
    if isinstance(selector, SelectorCV):
        if prepare is not None:
            selector.set_params(prepare=prepare)
        selector.fit(X, y, groups=groups)
    else:
        selector.fit(selected.prepared_X, y)
    return replace(selected, fit_seconds=_clock.clock() - start)


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


def _set_count(selector: BaseSelector, k: Count) -> None:
    if k is not None and (isinstance(k, bool | np.bool_) or not np.isscalar(k)):
        raise ValueError(f'k must be a number, a fraction, "auto" or None, got {k!r}')
    selector.set_params(n_features_to_select=k)
