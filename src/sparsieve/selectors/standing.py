"""How features stand with a selector that saw only some of them, or saw them in another order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .feature_scores import FeatureScores
from .origins import put_back


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
