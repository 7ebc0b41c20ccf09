"""Figure 2: six methods with features per class, and beside it with the same features for all."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from sparsieve.scoring.protocol import Folds

from ...studies.exhibits import Exhibit
from ..base import Bench, printed_name
from ..declared import exhibit
from ..numbers import grouped, mean, mean_rows
from ..splits import standardised_parts
from .methods import FACTS, METHODS, choose, loaded

N_FOLDS = 5


def compare_fold(setting: dict) -> dict:
    """Select on one training part and score the selection in every way on the test part."""
    from sparsieve.scoring.engine import score_columns
    from sparsieve.scoring.models import VOTES, predict_per_class

    X, codes, _ = loaded(setting["dataset"])
    splits = list(Folds(setting["n_folds"]).splits(codes, seed=setting["seed"]))
    split = splits[setting["fold"]]
    X_train, X_test = standardised_parts(X, split.train, split.test)
    y_train, y_test = codes[split.train], codes[split.test]
    counts = [count for count in setting["counts"] if count <= X.shape[1]]
    choice = choose(setting["method"], X_train, y_train, max(counts))
    found: dict[str, list[float | None]] = defaultdict(list)
    for count in counts:
        own = choice.per_class(count)
        for vote in VOTES:
            if vote == "majority" and count not in setting.get("majority_counts", counts):
                found[vote].append(None)
                continue
            labels = predict_per_class(X_train, y_train, X_test, own, vote=vote)
            found[vote].append(_percent(labels, y_test))
        found["features_used"].append(int(own.any(axis=0).sum()))
        shared = choice.shared(count)
        scored = score_columns(
            *(X_train, y_train, X_test, y_test), {None: np.flatnonzero(shared)}, models=["svm"]
        )
        found["equal_budget"].append(_percent(scored.predictions["svm", None], y_test))
    return {"features": counts, **found, "model": choice.facts}


def compared(bench: Bench) -> list[Exhibit]:
    """Accuracy with features per class, at equal budget, and the sparsity behind both."""
    scale = bench.scale
    names = bench.at_hand() if scale.sets is None else bench.datasets(scale.sets)
    settings = []
    for label, name in names.items():
        place = {"dataset": name, "label": label, "n_folds": N_FOLDS, "seed": 0}
        place["counts"] = list(scale.counts)
        if printed_name(label) in scale.votes:  # elsewhere the majority vote is held at every count
            place["majority_counts"] = list(scale.votes[printed_name(label)])
        # The first folds of the paper's rule.
        folds = range(min(N_FOLDS, scale.fewer_folds.get(printed_name(label), scale.folds)))
        settings += [{**place, "method": m, "fold": fold} for m in METHODS for fold in folds]
    found = bench.jobs("exclusive-l21 comparison", compare_fold, settings)
    groups = grouped(found, "label", "method")
    return [_per_class(groups), _equal_budget(groups), _sparsity(groups)]


def _per_class(groups: dict) -> Exhibit:
    rows = [
        {
            **place,
            "features_per_class": folds[0]["features"][i],
            **_accuracy(folds, "margin", i),
            "accuracy_majority_percent": mean(fold["majority"][i] for fold in folds),
            "features_used": mean(fold["features_used"][i] for fold in folds),
        }
        for place, i, folds in _points(groups)
    ]
    return exhibit(__package__, "Figure 2", rows)


def _equal_budget(groups: dict) -> Exhibit:
    rows = [
        {
            **place,
            "features": folds[0]["features"][i],
            **_accuracy(folds, "equal_budget", i),
        }
        for place, i, folds in _points(groups)
    ]
    return exhibit(__package__, "Figure 2, equal budget", rows)


def _sparsity(groups: dict) -> Exhibit:
    facts = [
        {"dataset": label, "method": method, **fold["model"]}
        for (label, method), folds in groups.items()
        for fold in folds
        if fold["model"]
    ]
    rows = mean_rows(facts, ("dataset", "method"), FACTS)
    return exhibit(__package__, "Figure 2, sparsity", rows)


def _points(groups: dict):
    """(data set and method, number of the point, folds) of every point of the curves."""
    for (label, method), folds in groups.items():
        for i in range(len(folds[0]["features"])):
            yield {"dataset": label, "method": method}, i, folds


def _accuracy(folds: list[dict], name: str, i: int) -> dict:
    values = [fold[name][i] for fold in folds]
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return {
        "accuracy_percent": mean(values),
        "accuracy_sd": None if spread is None else round(spread, 2),
        "folds": len(values),
    }


def _percent(labels, truth) -> float:
    return float(100.0 * np.mean(labels == truth))
