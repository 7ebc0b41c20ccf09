"""Table II and Figures 2 and 3: accuracy over the number of features, and the best of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sklearn.model_selection import ParameterGrid

from ...studies.exhibits import Exhibit
from ...studies.results import summarise
from ...studies.selector_spec import SelectorSpec
from ...studies.study import Study
from ..base import Bench, printed_name
from ..declared import exhibit
from ..numbers import grouped, mean, published_by, rounded, with_deviation
from ..splits import like_a_study
from .work import (
    BASELINE,
    CLASSIFIERS,
    OURS,
    SEED,
    Method,
    data_sets,
    methods,
    nested_choice,
    percent,
    protocol,
    scored_homotopy,
)

FIGURES = {"5nn": "Figure 2", "softmax": "Figure 3"}


def accuracy_curves(bench: Bench) -> Iterator[Exhibit]:
    """Figures 2 and 3."""
    sets, scale = data_sets(bench), bench.scale
    means, _ = curve_means(bench, sets, scale)
    for classifier, name in FIGURES.items():
        rows = [
            {
                "dataset": found["label"],
                "method": found["selector"],
                "k": k,
                "accuracy": percent(found["accuracy"]),
                "accuracy_sd": percent(found["accuracy_sd"]),
                "n_features": int(found["n_selected"]),
            }
            for found in sorted(means, key=lambda found: found["k"])
            # The baseline has all features: a level line beside the curves.
            for k in ([found["k"]] if found["method"] != BASELINE else scale.ks)
            if found["classifier"] == classifier
        ]
        yield exhibit(__package__, name, rows)


def accuracy_table(bench: Bench) -> Iterator[Exhibit]:
    """Table II."""
    sets, scale = data_sets(bench), bench.scale
    means, with_empty = curve_means(bench, sets, scale)
    nested = _nested_means(bench, sets, scale)
    rows = [
        table_row(label, classifier, method, means, nested, with_empty)
        for classifier in CLASSIFIERS
        for label in sets
        for method in methods(scale)
        if any(is_at(found, label, classifier, method.name) for found in means)
    ]
    yield exhibit(__package__, "Table II", rows)


# -- means over the splits -------------------------------------------------------------------


def curve_means(bench: Bench, sets: dict, scale: Any) -> tuple[list[dict], list[dict]]:
    """Mean accuracy of every method, number of features and classifier, best on test.

    The second list holds the means of l20-FS when strengths at which W is zero are candidates.
    """
    wanted = methods(scale)
    others = [method for method in wanted if method.name != OURS]
    rows = _study_rows(bench, "l20 curves", sets, scale, scale.ks, others, each_k=False)
    for k in scale.ks:
        name = f"l20 models of {k} features"
        rows += _study_rows(bench, name, sets, scale, [k], others, each_k=True)
    (homotopy,) = (method for method in wanted if method.name == OURS)
    own = _homotopy_rows(bench, sets, scale, homotopy)
    names = {_spec(method).label: method.name for method in wanted}
    labels = {name: label for label, name in sets.items()}

    def means(found: list[dict]) -> list[dict]:
        return [
            {**row, "label": labels[row["dataset"]], "method": names[row["selector"]]}
            for row in summarise(found)
        ]

    rows_of_w = {
        place: mean(row["rows_of_w"] for row in group)
        for place, group in grouped(own, "dataset", "parameters").items()
    }
    kept = [row for row in own if rows_of_w[row["dataset"], row["parameters"]]]
    known = {"rows_of_w": None}
    return [
        {**known, **row, "rows_of_w": rows_of_w.get((row["dataset"], row["parameters"]))}
        for row in means(rows + kept)
    ], means(own)


def _homotopy_rows(bench: Bench, sets: dict, scale: Any, method: Method) -> list[dict]:
    """Rows of the paper's own method, which goes beyond what the library calls a selection."""
    common = {
        "selector": method.selector,
        "ks": list(scale.ks),
        "classifiers": list(CLASSIFIERS),
        "protocol": protocol(scale.n_repeats).as_dict(),
    }
    settings = [
        {
            "dataset": name,
            "repeat": repeat,
            "parameters": {**method.parameters, **candidate},
            **common,
        }
        for name in sets.values()
        for candidate in ParameterGrid(dict(method.grid))
        for repeat in range(scale.n_repeats)
    ]
    label = _spec(method).label
    return [
        {**row, "rows_of_w": outcome["n_rows"]}
        for outcome in bench.jobs(f"l20 curves of {method.name}", scored_homotopy, settings)
        for row in like_a_study("l20 curves", label, outcome, "best-on-test")
    ]


def _study_rows(
    bench: Bench,
    name: str,
    sets: dict,
    scale: Any,
    ks: Sequence[int],
    wanted: Sequence[Method],
    *,
    each_k: bool,
) -> list[dict]:
    specs = [_spec(method) for method in wanted if method.each_k == each_k]
    if not (specs and sets):
        return []
    return bench.study(
        Study(
            name,
            list(sets.values()),
            specs,
            protocol(scale.n_repeats),
            ks=list(ks),
            classifiers=list(CLASSIFIERS),
            scoring=["accuracy"],
            seed=SEED,
        )
    )


def _spec(method: Method) -> SelectorSpec:
    return SelectorSpec(
        method.selector,
        method.parameters,
        method.grid,
        tuning="best-on-test" if method.grid else "none",
        label=method.name,
    )


def _nested_means(bench: Bench, sets: dict, scale: Any) -> dict:
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
    outcomes = bench.jobs("l20 nested choice", nested_choice, settings)
    return {
        (label, method, classifier): {
            **with_deviation("accuracy_nested", [100 * o["accuracy"][classifier] for o in group]),
            "n_features_nested": mean(o["n_chosen"][classifier] for o in group),
        }
        for (label, method), group in grouped(outcomes, "label", "method").items()
        for classifier in CLASSIFIERS
    }


# -- rows of the table -----------------------------------------------------------------------


def is_at(found: dict, label: str, classifier: str, method: str) -> bool:
    """Whether a mean belongs to this data set, classifier and method."""
    place = found["label"], found["classifier"], found["method"]
    return place == (label, classifier, method)


def _best(means: Sequence[dict], *place: str) -> dict | None:
    """The best mean of a place; of equals that with the fewest features."""
    curve = sorted((m for m in means if is_at(m, *place)), key=lambda found: found["k"])
    return max(curve, key=lambda found: found["accuracy"]) if curve else None


def table_row(
    label: str, classifier: str, method: Method, means: Sequence[dict], nested: dict, with_empty=()
) -> dict:
    """The row of a data set, classifier and method."""
    place = label, classifier, method.name
    best = _best(means, *place)
    assert best is not None
    table = published_by("l20_table2", "dataset", "classifier", "method")
    printed = table.get((printed_name(label), CLASSIFIERS[classifier], method.name), {})
    accuracy, number = printed.get("accuracy"), printed.get("n_features")
    ours, sd = percent(best["accuracy"]), percent(best["accuracy_sd"])
    names = ("accuracy_nested", "accuracy_nested_sd", "n_features_nested")
    chosen = nested.get((label, method.name, classifier), dict.fromkeys(names))
    if method.name == BASELINE:  # nothing to choose
        chosen = dict(zip(names, (ours, sd, rounded(best["n_selected"])), strict=True))
    before = _best(with_empty, *place)
    if before is not None and before["parameters"] == best["parameters"]:
        before = None
    return {
        "dataset": label,
        "classifier": classifier,
        "method": method.name,
        "accuracy_best_on_test": ours,
        "accuracy_best_on_test_sd": sd,
        "n_features_best_on_test": int(best["n_selected"]),
        "published": accuracy,
        "published_n_features": int(number) if isinstance(number, float) else None,
        "difference": None if accuracy is None else rounded(ours - accuracy),
        **chosen,
        "strength_best_on_test": _strength(best, method),
        "rows_of_w": best.get("rows_of_w"),
        "accuracy_with_empty_w": before and percent(before["accuracy"]),
        "n_features_with_empty_w": before and int(before["n_selected"]),
        "strength_with_empty_w": before and _strength(before, method),
    }


def _strength(found: dict, method: Method) -> float | None:
    parameters = json.loads(found["parameters"])
    return next((parameters[name] for name in method.grid), None)
