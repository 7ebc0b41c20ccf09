"""``sparsieve.select``: the features worth keeping, in one line."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from .._checks import check_finite, warn_user
from .._frames import frame_library
from ..choose import SelectorCV
from ..diagnosis import diagnose
from ..discovery import find_selector
from ..selectors.base import BaseSelector, Count
from ..selectors.parameters import configured
from ..selectors.table import as_frame, selection_columns
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
        Sentences of :func:`~sparsieve.diagnose` on features that know too much, and on ids; found
        when first asked for or shown.

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
    >>> selected
    3 of 13 features by RidgeForwardSelector: proline, od280/od315_of_diluted_wines, color_intensity
    """

    selector: Any
    X: Any
    y: Any
    names: np.ndarray | None = None

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
        return getattr(self.selector, "nothing_found", "")

    @cached_property
    def leaks(self) -> list[str]:
        """What should make a reader ask whether a feature was known beforehand."""
        frame, held = frame_library(self.X), type(self.X) is np.ndarray or sparse.issparse(self.X)
        if self.y is None or not (held or frame in ("pandas", "polars")):
            return []  # X in a file, on a cluster or on a device is not fetched for this
        names = self.names
        if names is None and held:
            names = np.array([f"x{j}" for j in range(self.X.shape[1])], dtype=object)
        task = "regression" if getattr(self.method, "classes_", None) is None else "classification"
        found = diagnose(self.X, self.y, feature_names=names, task=task, try_models=False)
        return [one.sentence for one in found.findings if one.kind in ("leak", "id")]

    @cached_property
    def accuracy(self) -> float:
        """Cross-validated score of the selection with a model on top."""
        if isinstance(self.selector, SelectorCV):
            return float(self.selector.best_score_)
        n_kept = int(self.selector.get_support().sum())
        if n_kept == 0:
            raise ValueError("nothing was kept, so there is nothing to predict with")
        search = SelectorCV(clone(self.selector), ks=[n_kept], n_repeats=1)
        return float(search.fit(self.X, self.y).best_score_)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report on the selection: one HTML file to open in any browser.

        Parameters
        ----------
        path : str or path-like
            Where to; a file of this name is replaced.
        """
        from ..report import check_installed, selector_report

        check_installed()
        selector_report(self.method, self.X, self.y, feature_names=self.names).save(path)

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
        warning = f"{self.nothing_found} " if self.nothing_found else ""
        notes = "".join(f"\nnote: {sentence}" for sentence in self.leaks)
        return (
            f"{warning}{len(self.features)} of {n_features} features by "
            f"{type(self.method).__name__}{names}{notes}"
        )

    def _repr_html_(self) -> str:
        return selection_view(self)


def select(
    X: Any,
    y: Any,
    k: int | float | str | None = AUTO,
    method: str | type | BaseSelector = "ridge-forward",
    *,
    layer: str | None = None,
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
    layer : str or None, default=None
        Of an AnnData object: the layer to select from; None is ``X``.
    **params : dict
        Parameters of the method.

    Returns
    -------
    selected : SelectedFeatures
        ``features``, ``table``, ``selector``, ``accuracy``, ``report(path)`` and ``plot()``; a
        notebook shows it.

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
    selector = _chosen(method, params)
    if isinstance(k, str):
        if k != AUTO:
            raise ValueError(f'k must be a number, a fraction, "auto" or None, got {k!r}')
        if not isinstance(selector, SelectorCV):
            selector = SelectorCV(selector)
    elif isinstance(selector, SelectorCV):
        raise ValueError(
            f'SelectorCV finds the number of features itself; leave k="auto", got k={k!r}'
        )
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
    selector.fit(X, y)
    with suppress(ValueError):  # columns with gaps have no correlations
        selector.find_substitutes(X)
    selected = SelectedFeatures(selector, X, y, names)
    if adata is not None:
        write_back(adata, selector, selected.method, target, layer)
    if selected.nothing_found:
        warn_user(selected.nothing_found)
    return selected


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
