"""Figures 2 and 3: accuracy over the number of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from ...studies.exhibits import Drawing, Exhibit, by_method
from ...studies.results import summarise
from ...studies.selector_spec import SelectorSpec
from ...studies.study import Study
from ..base import Bench
from ..numbers import wide_rows
from ..scored import like_a_study
from ..verdicts import chance_levels, lower_verdict, verdict_of
from .plan import (
    BASELINE,
    CLASSIFIERS,
    OURS,
    Method,
    Scale,
    about_data,
    about_repeats,
    coarser,
    data_sets,
    methods,
    percent,
    scale_of,
)
from .work import SEED, homotopy_scores, protocol


def accuracy_curves(bench: Bench) -> list[Exhibit]:
    """Figures 2 and 3."""
    sets, scale = data_sets(bench), scale_of(bench)
    if not sets:
        return []
    means = curve_means(bench, sets, scale)
    return [
        _curve_exhibit(bench, name, classifier, title, means, sets, scale)
        for name, classifier, title in (
            ("Figure 2", "5nn", "Accuracy of 5-NN over the number of features"),
            ("Figure 3", "softmax", "Accuracy of softmax regression over the number of features"),
        )
    ]


def curve_means(bench: Bench, sets: dict, scale: Scale) -> list[dict]:
    """Mean accuracy of every method, number of features and classifier, best on test."""
    wanted = methods(scale)
    others = [method for method in wanted if method.name != OURS]
    rows = _study_rows(bench, "l20 curves", sets, scale, scale.ks, others, each_k=False)
    for method in wanted:
        if method.name == OURS:
            rows += _homotopy_rows(bench, sets, scale, method)
    for k in scale.ks:
        name = f"l20 models of {k} features"
        rows += _study_rows(bench, name, sets, scale, [k], wanted, each_k=True)
    names = {_spec(method).label: method.name for method in wanted}
    labels = {name: label for label, name in sets.items()}
    return [
        {**mean, "label": labels[mean["dataset"]], "method": names[mean["selector"]]}
        for mean in summarise(rows)
    ]


def _homotopy_rows(bench: Bench, sets: dict, scale: Scale, method: Method) -> list[dict]:
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
        row
        for outcome in bench.jobs(f"l20 curves of {method.name}", homotopy_scores, settings)
        for row in like_a_study("l20 curves", label, outcome, "best-on-test")
    ]


def _study_rows(
    bench: Bench,
    name: str,
    sets: dict,
    scale: Scale,
    ks: Sequence[int],
    wanted: Sequence[Method],
    *,
    each_k: bool,
) -> list[dict]:
    return bench.study(
        Study(
            name,
            list(sets.values()),
            [_spec(method) for method in wanted if method.each_k == each_k],
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


def is_at(mean: dict, label: str, classifier: str, method: str) -> bool:
    """Whether a mean belongs to this data set, classifier and method."""
    place = mean["label"], mean["classifier"], mean["method"]
    return place == (label, classifier, method)


def about_methods(scale: Scale) -> str:
    """How the methods were run, in a few sentences."""
    reduced = coarser(scale, "ks", "lams", "gammas", "rpmfs_iterations")
    return (
        "Relief is ReliefF with 10 neighbours, mRMR the difference of mutual informations, "
        f"{OURS} is AHIHT with the square of the spectral norm as initial step constant (the paper "
        "does not give its own); features beyond the nonzero rows follow by their gradients. "
        "Softmax regression has a ridge (C = 1). The paper does not say how it scaled the "
        "features; here they have mean 0 and variance 1 on the training part."
        + (f" {reduced}" if reduced else "")
    )


def _curve_exhibit(bench, name, classifier, title, means, sets, scale) -> Exhibit:
    rows = [
        {
            "dataset": mean["label"],
            "method": mean["selector"],
            "k": k,
            "accuracy": percent(mean["accuracy"]),
            "accuracy_sd": percent(mean["accuracy_sd"]),
            "n_features": int(mean["n_selected"]),
        }
        for mean in sorted(means, key=lambda mean: mean["k"])
        # The baseline has all features: a level line beside the curves.
        for k in ([mean["k"]] if mean["method"] != BASELINE else scale.ks)
        if mean["classifier"] == classifier
    ]
    levels = {
        (mean["label"], mean["method"]): [
            other["accuracy"]
            for other in means
            if is_at(other, mean["label"], classifier, mean["method"])
        ]
        for mean in means
        if mean["method"] != BASELINE
    }
    note = [
        about_repeats(scale.n_repeats),
        "Where a strength is to be chosen every point takes the one with the best mean accuracy "
        "on the test samples, as the paper seems to have done (best on test).",
        "RPMFS and ESFS are fitted anew for every number of features; the others rank once. The "
        f"{BASELINE} keeps all features (n_features), whatever the number on the axis.",
        about_methods(scale),
        about_data(bench, sets),
        *_curve_verdicts(levels, scale.n_repeats, chance_levels(bench, sets)),
    ]
    ks = scale.ks
    shown = sorted({ks[0], ks[len(ks) // 4], ks[len(ks) // 2], ks[-1]})
    summary = wide_rows(rows, "method", "accuracy", {"k": shown}, "accuracy at {}")
    return Exhibit(name, title, rows, [accuracy_drawing()], " ".join(note), summary)


def accuracy_drawing(**settings: Any) -> Drawing:
    """Accuracy in percent over the number of features, with its standard deviation."""
    settings = {"band": "accuracy_sd", "x_title": "number of features", **settings}
    return by_method("k", "accuracy", "accuracy in percent", **settings)


def _curve_verdicts(levels: dict, n_repeats: int, chance: Mapping[str, float]) -> list[str]:
    """Accuracy and steadiness over the numbers of features, by data set and method."""
    rows = [
        {
            "dataset": label,
            "method": method,
            "accuracy": 100.0 * float(np.mean(values)),
            "spread": 100.0 * float(np.std(values)),
        }
        for (label, method), values in levels.items()
    ]
    methods = {row["method"] for row in rows}
    if OURS not in methods or len(methods) < 2:
        return []
    accurate = verdict_of(
        rows,
        "accuracy",
        OURS,
        measure="accuracy averaged over the numbers of features",
        splits=n_repeats,
        chance=chance,
    )
    measure = "standard deviation of the accuracy over the numbers of features"
    steady = lower_verdict(rows, "spread", OURS, None, measure, " points", splits=n_repeats)
    return [
        f"Claim that {OURS} is the most accurate. {accurate}",
        f"Claim that it is the steadiest. {steady}",
    ]
