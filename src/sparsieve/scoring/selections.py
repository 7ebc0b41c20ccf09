"""The features that a fitted selector keeps at any number: those of ``at(k)``, and no others."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._checks import sentences_of
from ..selectors.base import FeatureScores
from ..validation.target import with_task
from .resources import Measured, measure


@dataclass(frozen=True)
class Selection:
    """A selector fitted on some samples, and its features at several numbers.

    Attributes
    ----------
    fitted : estimator
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
    selector : estimator
        A selector of this package, or what :func:`ranking_of` can rank by.
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
    if counts != [None]:
        selector = reaching(selector, max(k or 0 for k in counts))
    run = measure if measured else _timed
    with warnings.catch_warnings(record=record_warnings) as caught:
        if record_warnings:
            warnings.simplefilter("always")
        fit = run(lambda: clone(selector).fit(X, y, **(fit_params or {})))
    columns = features_at(fit.value, counts, X.shape[1], need_all=need_all)
    return Selection(
        fit.value, columns, fit.seconds, fit.peak_mib, fit.memory_source, sentences_of(caught or [])
    )


def _timed(call: Any) -> Measured:
    start = perf_counter()
    value = call()
    return Measured(value, perf_counter() - start, float("nan"), "none")


def reaching(selector: Any, n_features: int, task: str = "auto") -> Any:
    """A copy whose path will go as far as ``n_features``, and that reads y as the task says."""
    if isinstance(selector, Pipeline):
        selector = clone(selector)
        name, last = selector.steps[-1]
        return selector.set_params(**{name: reaching(last, n_features, task)})
    if hasattr(selector, "reaching"):
        selector = selector.reaching(n_features)
    else:
        selector = clone(selector)
        if "n_features_to_select" in selector.get_params(deep=False):
            # Recursive elimination only ranks what it eliminates.
            selector.set_params(n_features_to_select=1)
    # A part of the samples may look like classes where the whole looks like numbers.
    return with_task(selector, task)


def at_number(fitted: Any, k: int | None) -> Any:
    """A fitted selector, or pipeline that ends in one, at another number of features.

    What only ranks the features is returned as it is.
    """
    if isinstance(fitted, Pipeline):
        name, last = fitted.steps[-1]
        return Pipeline([*fitted.steps[:-1], (name, at_number(last, k))])
    return fitted.at(k) if hasattr(fitted, "at") else fitted


def features_at(
    fitted: Any, ks: Iterable[int | None], n_features: int, *, need_all: bool = False
) -> dict[int | None, np.ndarray]:
    """The columns that a fitted selector keeps at every number that it ranks, best first."""
    counts = list(ks)
    model = last_step(fitted)
    most = getattr(model, "n_ranked_", n_features)
    needed = max((k or 0) for k in counts) if need_all else 0
    if need_all or not hasattr(model, "at"):
        ranking = ranking_of(fitted, n_features, needed)
    if not hasattr(model, "at"):
        order = np.argsort(ranking, kind="stable")
        return {k: order[:k] for k in counts}
    within = [k for k in counts if k is None or k <= most]
    if not within:
        raise ValueError(
            f"every k of ks is larger than the {most} features that {type(model).__name__} ranks "
            "with its parameters; ask for fewer features"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has said it
        return {k: _kept(model if k is None else model.at(k)) for k in within}


def _kept(model: Any) -> np.ndarray:
    kept = np.flatnonzero(model.get_support())
    ranking = getattr(model, "ranking_", None)
    return kept if ranking is None else kept[np.argsort(ranking[kept], kind="stable")]


def last_step(fitted: Any) -> Any:
    """The end of a pipeline; anything else as it is."""
    return fitted[-1] if isinstance(fitted, Pipeline) else fitted


def n_always_kept(selector: Any) -> int:
    """How many features a selector keeps at any number, by its ``always_keep``."""
    always = getattr(last_step(selector), "always_keep", None)
    if always is None:
        return 0
    named = np.asarray(always)
    return int(named.sum() if named.dtype == bool else named.size)


def ranking_of(fitted: Any, n_features: int, n_needed: int = 0) -> np.ndarray:
    """Rank of every feature, 1 for the best, from whatever a fitted estimator offers.

    A selector whose ranking means nothing before place ``n_needed`` is refused.
    """
    model = last_step(fitted)
    reached = getattr(model, "n_ranked_", n_features)
    if reached < n_needed:
        raise ValueError(
            f"{type(model).__name__} ranks {reached} features with its parameters, but "
            f"{n_needed} are asked for; ask for fewer, or leave out what limits it"
        )
    scores = _importance(model)
    if scores is None:
        raise ValueError(
            f"{type(model).__name__} does not say how important features are; a selector needs "
            "ranking_, scores_, feature_importances_ or coef_ after fit"
        )
    if len(scores) != n_features:
        raise ValueError(
            f"{type(model).__name__} judges {len(scores)} features but X has {n_features}; steps "
            "before it must keep the number of columns"
        )
    return FeatureScores(np.nan_to_num(scores, nan=-np.inf, posinf=np.inf), n_kept=1).ranking()


def _importance(model: Any) -> np.ndarray | None:
    if hasattr(model, "ranking_"):
        return -np.asarray(model.ranking_, dtype=np.float64)
    for name in ("scores_", "feature_importances_"):
        if getattr(model, name, None) is not None:
            return np.asarray(getattr(model, name), dtype=np.float64)
    if not hasattr(model, "coef_"):
        return None
    coef = model.coef_
    coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
    return np.sqrt((np.atleast_2d(coef) ** 2).sum(axis=0))
