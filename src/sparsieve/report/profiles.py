"""What a report knows about single features: values, ranks by method, substitutes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..filters import FStatisticSelector, InfoGainSelector
from ..registry import name_of
from .elements import Profiles
from .sample_charts import shown_samples, values_chart, which_samples
from .selected_data import SelectedData

_BLOCK_COLUMNS = 32  # columns that are dense at a time


def profiles(
    kept: SelectedData,
    substitutes: dict[int, list[tuple[int, float]]] | None,
    most: int,
    threshold: float,
) -> Profiles:
    """Everything about the first ``most`` features of the ranking."""
    order = _reading_order(kept)[:most]
    samples = shown_samples(kept)
    stored = order[: max(300_000 // max(len(samples), 1), 1)]  # values, a byte each in the page
    levels, ranges = _levels(kept, stored, samples)
    own = name_of(kept.selector)
    ranks = {own: _own_ranks(kept), **_filters(kept)}
    if own == FStatisticSelector.__name__:
        del ranks["F-statistic"]
    known = set(order.tolist())
    return Profiles(
        features=order.tolist(),
        names=[kept.names[j] for j in order],
        ranks={name: [found[j] for j in order] for name, found in ranks.items() if found},
        chart=values_chart(kept, samples),
        levels=levels,
        ranges=ranges,
        substitutes=None
        if substitutes is None
        else {
            feature: [pair for pair in others if pair[0] in known][:20]
            for feature, others in _both_ways(substitutes).items()
        },
        note=_note(kept, samples, len(stored), len(order)),
        threshold=threshold,
    )


def _reading_order(kept: SelectedData) -> np.ndarray:
    """Columns as tables list them: the selected ones first, then by rank."""
    n_features = kept.X.shape[1]
    ranking = getattr(kept.selector, "ranking_", None)
    if ranking is None:
        return np.concatenate([kept.order, np.setdiff1d(np.arange(n_features), kept.order)])
    return np.argsort(np.asarray(ranking), kind="stable")


def _own_ranks(kept: SelectedData) -> list[int | None] | None:
    ranking = getattr(kept.selector, "ranking_", None)
    if ranking is None:
        return None
    last = getattr(kept.selector, "_n_ranked", len(ranking))
    return [int(rank) if rank <= last else None for rank in ranking]


def _filters(kept: SelectedData) -> dict[str, list[int | None] | None]:
    """Ranks by filters that take a moment, whatever the selector is."""
    y: Any = kept.y if kept.classes is not None else kept.targets
    if kept.classes is not None:
        by_statistic, by_gain = FStatisticSelector(task="classification"), InfoGainSelector
        gains = _ranks(by_gain(discretize="frequency"), kept.X, y)
        return {"F-statistic": _ranks(by_statistic, kept.X, y), "information gain, 5 levels": gains}
    y = y[:, 0] if y.shape[1] == 1 else y
    by_statistic = FStatisticSelector(task="regression")
    found = {"F-statistic": _ranks(by_statistic, kept.X, y)}
    if isinstance(kept.X, np.ndarray) and np.isfinite(kept.X).all():
        name = "Spearman's correlation" if y.ndim == 1 else "F-statistic of ranks"
        found[name] = _ranks(by_statistic, rankdata(kept.X, axis=0), rankdata(y, axis=0))
    return found


def _ranks(selector: Any, X: Any, y: Any) -> list[int | None] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return selector.fit(X, y).ranking_.tolist()
        except (ValueError, TypeError):  # missing values, for instance: then without it
            return None


def _levels(
    kept: SelectedData, features: np.ndarray, samples: np.ndarray
) -> tuple[list[bytes], list[tuple[float, float]]]:
    """Values as one byte each between the smallest and the largest that is shown."""
    levels, ranges = [], []
    for start in range(0, len(features), _BLOCK_COLUMNS):
        values = kept.columns(features[start : start + _BLOCK_COLUMNS])[samples]
        missing = np.isnan(values)
        known = np.ma.masked_array(values, missing)
        low, high = known.min(axis=0).filled(0.0), known.max(axis=0).filled(0.0)
        span = np.where(high > low, high - low, 1.0)
        codes = np.where(missing, 255, np.round(254 * (values - low) / span))
        levels += [column.tobytes() for column in np.ascontiguousarray(codes.T, dtype=np.uint8)]
        ranges += list(zip(low.tolist(), high.tolist(), strict=True))
    return levels, ranges


def _both_ways(
    substitutes: dict[int, list[tuple[int, float]]],
) -> dict[int, list[tuple[int, float]]]:
    """Those who can stand in for a selected feature name it in turn."""
    found = {feature: list(others) for feature, others in substitutes.items() if others}
    for feature, others in substitutes.items():
        for other, correlation in others:
            found.setdefault(other, []).append((feature, correlation))
    return found


def _note(kept: SelectedData, samples: np.ndarray, n_stored: int, n_features: int) -> str:
    note = which_samples(kept, samples).strip()
    if n_stored < n_features:
        note += f" The file holds values of the first {n_stored:,} features of the ranking."
    return note.strip()
