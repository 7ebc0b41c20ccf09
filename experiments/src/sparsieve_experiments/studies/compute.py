"""Compute one cell, anywhere: no store, no files, only its data."""

from __future__ import annotations

import functools
import os
import threading
import time

import numpy as np

from sparsieve._checks import format_names
from sparsieve.scoring.curves import accuracy_curve
from sparsieve.scoring.outcomes import Outcome, call_guardedly, machine, software
from sparsieve.scoring.protocol import derive_seed
from sparsieve.scoring.tuning import tune
from sparsieve.selectors.methods import as_selector

from .guest_code import code_of
from .kinds import StudyError
from .names import is_elsewhere, selector_class
from .wrapped import Preparation, built, in_time, names_within


def compute(key: str, spec: dict, X, y, groups, relevant, names, train, test) -> Outcome:
    """Select on the training rows and score on the test rows; never raises for a bad cell."""
    return call_guardedly(key, _computed, spec, X, y, groups, relevant, names, train, test)


def check_code(spec: dict) -> None:
    """Refuse to compute a cell with other code of a guest than it was planned for."""
    if spec.get("code") and code_of(spec["guests"]) != spec["code"]:
        raise StudyError(
            f"the code of {format_names(spec['guests'])} is not the one that the study was "
            "planned with; "
            "run the study again, and see that all computers have the same files and packages"
        )


def end_with(parent: int) -> None:
    """End this process soon after its parent: when that is killed, nobody else will."""

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _computed(spec: dict, X, y, groups, relevant, names, train, test) -> dict:
    start = time.process_time()
    check_code(spec)
    task, ordered = spec.get("task", "classification"), spec["protocol"]["kind"] == "time"
    selector = built(
        *(spec["selector"], spec["parameters"]),
        task=task,
        seed=spec["seed"],
        allow_import=spec.get("allow_import", False),  # as planned here, never from a store
    )
    if ordered:
        selector = in_time(selector)
    for name in names_within(spec["selector"], spec["parameters"]):
        _compiled(name)
    settings = {
        "ks": spec["ks"],
        "task": task,
        "classifiers": spec["classifiers"],
        "zscore": spec["zscore"],
        "preprocessor": Preparation(spec["before"], names) if spec.get("before") else None,
        "groups": groups[train] if spec.get("grouped") else None,
    }
    X_train, y_train = X[train], y[train]
    chosen = {}
    if spec["tuning"] == "inner-cv":
        chosen = tune(
            selector,
            spec["grid"],
            X_train,
            y_train,
            cv=spec["inner_folds"],
            random_state=derive_seed(spec["seed"], "inner"),
            scoring=spec["metrics"][0],
            ordered=ordered,
            **settings,
        ).parameters
        selector = as_selector(selector, chosen)
    curve = accuracy_curve(
        selector,
        X_train,
        y_train,
        X[test],
        y[test],
        scoring=spec["metrics"],
        relevant=relevant,
        **settings,
    )
    kept = curve.feature_names or ([] if names is None else [names[j] for j in curve.features])
    return {
        # JSON has no NaN: a score that is not defined on these test samples is null.
        "scores": [
            {name: None if value != value else value for name, value in score.items()}
            for score in curve.scores
        ],
        "selections": curve.selections,
        "features": curve.features,
        "feature_names": [str(name) for name in kept],
        "n_columns": curve.n_columns,
        "warnings": curve.warnings,
        "chosen": chosen,
        "seconds": curve.seconds,
        "peak_mib": curve.peak_mib if np.isfinite(curve.peak_mib) else None,
        "memory_source": curve.memory_source,
        "cell_seconds": time.process_time() - start,
        "n_train": len(train),
        "n_test": len(test),
        "machine": machine(),
        "software": software(),
    }


@functools.cache
def _compiled(name: str) -> None:
    """Compile what a selector compiles at its first fit, so that no cell's seconds contain it."""
    X = np.random.default_rng(0).standard_normal((24, 5))
    if is_elsewhere(name):
        return
    try:
        selector_class(name)(n_features_to_select=2).fit(X, np.arange(24) % 2)
    except Exception:  # too small a problem for this method; the cell itself will tell
        return
