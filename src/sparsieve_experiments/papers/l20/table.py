"""Table II: the best accuracy of every method, and an honest one beside it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...studies.exhibits import Drawing, Exhibit, by_method
from ..base import Bench, printed_name
from ..numbers import mean_rows, rounded
from ..published import published_by
from ..verdicts import Verdict, chance_levels, verdict_of
from .curves import about_methods, curve_means, is_at
from .plan import (
    BASELINE,
    CLASSIFIERS,
    FULL,
    OURS,
    Method,
    Scale,
    about_data,
    about_repeats,
    data_sets,
    mean_sd,
    methods,
    percent,
    scale_of,
)
from .work import nested_accuracy


def accuracy_table(bench: Bench) -> Iterator[Exhibit]:
    """Table II."""
    sets, scale = data_sets(bench), scale_of(bench)
    if not sets:
        return
    means = curve_means(bench, sets, scale)
    nested = _nested_means(bench, sets, scale)
    rows = [
        _table_row(label, classifier, method, means, nested)
        for classifier in CLASSIFIERS
        for label in sets
        for method in methods(scale)
        if any(is_at(mean, label, classifier, method.name) for mean in means)
    ]
    note = [
        about_repeats(scale.n_repeats),
        "accuracy_best_on_test takes the number of features (and the strength of RFS, RLSR and "
        f"{OURS}) with the best mean accuracy on the test samples, as the paper did: optimistic "
        "for every method. accuracy_nested chooses both by "
        f"{scale.inner_folds}-fold cross-validation inside the training part.",
        about_methods(scale),
        about_data(bench, sets),
        *_verdicts(rows, scale.n_repeats, chance_levels(bench, sets)),
    ]
    yield Exhibit(
        "Table II",
        "Accuracy in percent and number of features, ours beside the printed ones",
        rows,
        [
            _bars("accuracy_best_on_test", "accuracy in percent, best on test"),
            _bars("accuracy_nested", "accuracy in percent, nested choice"),
            by_method(
                "published",
                "accuracy_best_on_test",
                "our accuracy in percent, best on test",
                "points",
                panel="classifier",
                x_title="printed accuracy in percent",
            ),
        ],
        " ".join(note),
        _table_summary(rows),
    )


def _bars(column: str, title: str) -> Drawing:
    return by_method("method", column, title, "bars", colour="classifier", band=f"{column}_sd")


def _nested_means(bench: Bench, sets: dict, scale: Scale) -> dict:
    """Mean and deviation of the accuracy, and mean number, by set, method and classifier."""
    settings = [
        {
            "dataset": name,
            "label": label,
            "method": method.name,
            "selector": method.selector,
            "parameters": dict(method.parameters),
            "grid": dict(method.grid),
            "each_k": method.each_k,
            "repeat": repeat,
            "ks": list(scale.ks),
            "classifiers": list(CLASSIFIERS),
            "inner_folds": scale.inner_folds,
        }
        for label, name in sets.items()
        for method in methods(scale)
        if method.name != BASELINE
        for repeat in range(scale.n_repeats)
    ]
    groups = defaultdict(list)
    for outcome in bench.jobs("l20 nested choice", nested_accuracy, settings):
        for classifier in CLASSIFIERS:
            place = outcome["label"], outcome["method"], classifier
            groups[place].append((outcome["accuracy"][classifier], outcome["n_chosen"][classifier]))
    return {
        place: (*mean_sd(accuracy for accuracy, _ in group), mean_sd(k for _, k in group)[0])
        for place, group in groups.items()
    }


def _table_row(label: str, classifier: str, method: Method, means, nested: dict) -> dict:
    curve = [mean for mean in means if is_at(mean, label, classifier, method.name)]
    # The fewest features of the best.
    best = max(sorted(curve, key=lambda mean: mean["k"]), key=lambda mean: mean["accuracy"])
    table = published_by("l20_table2", "dataset", "classifier", "method")
    printed = table.get((printed_name(label), CLASSIFIERS[classifier], method.name), {})
    accuracy, number = printed.get("accuracy"), printed.get("n_features")
    honest, honest_sd, honest_number = nested.get(
        (label, method.name, classifier), (None, None, None)
    )
    if method.name == BASELINE:  # nothing to choose
        honest, honest_sd, honest_number = best["accuracy"], best["accuracy_sd"], best["n_selected"]
    ours = percent(best["accuracy"])
    return {
        "dataset": label,
        "classifier": classifier,
        "method": method.name,
        "accuracy_best_on_test": ours,
        "accuracy_best_on_test_sd": percent(best["accuracy_sd"]),
        "n_features_best_on_test": int(best["n_selected"]),
        "published": accuracy,
        "published_n_features": int(number) if isinstance(number, float) else None,
        "difference": None if accuracy is None else rounded(ours - accuracy),
        "accuracy_nested": percent(honest),
        "accuracy_nested_sd": percent(honest_sd),
        "n_features_nested": rounded(honest_number),
        "strength_best_on_test": _strength(best, method),
    }


def _strength(mean: dict, method: Method) -> float | None:
    parameters = json.loads(mean["parameters"])
    return next((parameters[name] for name in method.grid), None)


def _table_summary(rows: list[dict]) -> list[dict]:
    """Means over the data sets."""
    columns = (
        "accuracy_best_on_test",
        "published",
        "difference",
        "accuracy_nested",
        "n_features_best_on_test",
        "published_n_features",
        "n_features_nested",
    )
    return mean_rows(rows, ("classifier", "method"), columns, count="n_sets")


# -- what the rows say about the claims --------------------------------------------------


def _verdicts(rows: list[dict], n_repeats: int, chance: Mapping[str, float]) -> list[str]:
    sentences = [f"Claim that {OURS} is the most accurate selector."]
    for column, what in (
        ("accuracy_best_on_test", "With choices on test samples"),
        ("accuracy_nested", "With choices inside the training part"),
        ("published", "In the printed table"),
    ):
        splits = FULL.n_repeats if column == "published" else n_repeats
        verdict = best_of_selectors(rows, column, splits=splits, chance=chance)
        if verdict is not None:
            sentences.append(f"{what}, {verdict}")
    differences = [row["difference"] for row in rows if row["difference"] is not None]
    if differences:
        sentences.append(
            f"Ours minus printed: mean {np.mean(differences):+.1f} points, mean size "
            f"{np.mean(np.abs(differences)):.1f}, largest {max(map(abs, differences)):.1f}."
        )
    optimism = [
        row["accuracy_best_on_test"] - row["accuracy_nested"]
        for row in rows
        if row["accuracy_nested"] is not None and row["method"] != BASELINE
    ]
    if optimism:
        sentences.append(
            f"Choosing on test samples adds {np.mean(optimism):.1f} points on average."
        )
    return sentences


def best_of_selectors(rows: list[dict], column: str, **settings: Any) -> Verdict | None:
    """How often ours is the best of the selectors; the baseline is none."""
    selectors = [row for row in rows if row["method"] != BASELINE and row[column] is not None]
    if len({row["method"] for row in selectors} | {OURS}) < 2:
        return None
    return verdict_of(
        selectors,
        column,
        OURS,
        by=("dataset", "classifier"),
        measure="accuracy",
        cases="pairs of data set and classifier",
        **settings,
    )
