"""The features that a fitted selector keeps at any number: those of ``at(k)``, and no others."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from .._checks import warning_sentences
from ..registry import selector_name
from ..selectors.adapter import SelectorAdapter
from ..selectors.around import last_step
from ..selectors.base import BaseSelector
from ..selectors.methods import as_selector
from ..selectors.preparation import find_groups
from ..validation.target import with_task
from .outcomes import Measured, measure


@dataclass(frozen=True)
class Selection:
    """A selector fitted on some samples, and its features at several numbers.

    Attributes
    ----------
    fitted : BaseSelector
        The selector, fitted as far as the largest number.
    columns : dict of int (or None) to ndarray of int
        The features of ``at(k)``, best first where the selector ranks them; None stands for the
        number that the model itself keeps. Numbers beyond what the selector ranks are left out.
    seconds, peak_mib, memory_source
        What the fit took; the memory only where it was measured.
    warnings : list of str
        What the fit warned of, where that was recorded.
    """

    fitted: Any
    columns: dict[int | None, np.ndarray]
    seconds: float
    peak_mib: float = float("nan")
    memory_source: str = "none"
    warnings: list[str] = field(default_factory=list)


def fit_selection(
    selector: Any,
    X: Any,
    y: Any,
    ks: Iterable[int | None],
    *,
    fit_params: Mapping[str, Any] | None = None,
    need_all: bool = False,
    measured: bool = False,
    record_warnings: bool = False,
) -> Selection:
    """Fit a copy of a selector once and ask it for every number of features.

    Parameters
    ----------
    selector : estimator, function or str
        Whatever :func:`~sparsieve.selectors.methods.as_selector` takes.
    X, y : arrays
        The training samples.
    ks : list of int, or [None]
        In rising order; [None] is the number that the model itself keeps.
    fit_params : dict, default=None
        Further arguments of ``fit``.
    need_all : bool, default=False
        Refuse a selector that does not rank as many features, instead of leaving numbers out.
    measured : bool, default=False
        Measure the memory too, see :func:`measure`.
    record_warnings : bool, default=False
        Return what the fit warns of, and warn nobody.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.scoring.selections import fit_selection
    >>> found = fit_selection(FisherSelector(), *load_wine(return_X_y=True), [1, 3])
    >>> {k: len(features) for k, features in found.columns.items()}
    {1: 1, 3: 3}
    """
    counts = list(ks)
    selector = as_selector(selector)
    if counts != [None]:
        selector = reaching(selector, max(k or 0 for k in counts))
    run = measure if measured else _time_call
    with warnings.catch_warnings(record=record_warnings) as caught:
        if record_warnings:
            warnings.simplefilter("always")
        fit = run(lambda: _fit_selector(selector, X, y, counts, fit_params or {}))
    columns = features_by_count(fit.value, counts, need_all=need_all)
    return Selection(
        fit.value,
        columns,
        fit.seconds,
        fit.peak_mib,
        fit.memory_source,
        warning_sentences(caught or []),
    )


def _fit_selector(
    selector: Any, X: Any, y: Any, counts: list, fit_params: Mapping[str, Any]
) -> Any:
    fitted = clone(selector).fit(X, y, **fit_params)
    if isinstance(fitted, SelectorAdapter):
        fitted._fit_counts(counts)
    return fitted


def _time_call(call: Any) -> Measured:
    start = perf_counter()
    value = call()
    return Measured(value, perf_counter() - start, float("nan"), "none")


def reaching(selector: Any, n_features: int, task: str = "auto") -> BaseSelector:
    """A copy whose path will go as far as ``n_features``, and that reads y as the task says."""
    # A part of the samples may look like classes where the whole looks like numbers.
    return with_task(as_selector(selector).reaching(n_features), task)


def features_by_count(
    fitted: BaseSelector, ks: Iterable[int | None], *, need_all: bool = False
) -> dict[int | None, np.ndarray]:
    """The columns that a fitted selector keeps at every number that it ranks, best first."""
    counts, most = list(ks), fitted.n_ranked_
    if need_all:
        read_ranking(fitted, max((k or 0) for k in counts))
    within = [k for k in counts if k is None or k <= most]
    if not within:
        raise ValueError(
            f"every k of ks is larger than the {most} features that {selector_name(fitted)} "
            "ranks with "
            "its parameters; ask for fewer features"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has said it
        return {k: best_first(fitted if k is None else fitted.at(k)) for k in within}


def best_first(model: Any) -> np.ndarray:
    """The columns that a fitted selector keeps, the best first."""
    kept = np.flatnonzero(model.get_support())
    return kept[np.argsort(np.asarray(model.ranking_)[kept], kind="stable")]


def count_fixed_features(selector: Any) -> int:
    """How many features a selector keeps at any number, by its ``always_keep``."""
    inner = selector.selector if isinstance(selector, SelectorAdapter) else selector
    columns: set[Any] = set()
    for one in (selector, last_step(inner)):
        always = getattr(one, "always_keep", None)
        if always is not None:
            named = np.asarray(always)
            columns.update((np.flatnonzero(named) if named.dtype == bool else named).tolist())
    return len(columns)


def read_ranking(fitted: BaseSelector, n_needed: int = 0) -> np.ndarray:
    """Rank of every feature, or feature group where there are some, 1 for the best.

    Refused where it means nothing before ``n_needed``.
    """
    if fitted.n_ranked_ < n_needed:
        raise ValueError(
            f"{selector_name(fitted)} ranks {fitted.n_ranked_} features with its parameters, but "
            f"{n_needed} are asked for; ask for fewer, or leave out what limits it"
        )
    return fitted.ranking_ if find_groups(fitted) is None else fitted.group_ranking_
