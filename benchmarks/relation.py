"""Curves or lines: what ``select`` ships by default, against its linear way and all columns.

Designs with curves and interactions, linear ones (both of ``benchmarks.trees``), pure noise, and
real sets: features are chosen on a training part, and the model that ships predicts the other::

    python -m benchmarks.relation [seeds] [design or data set ...]
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from benchmarks.common import conditions, load
from benchmarks.trees import FRESH, LINEAR, SIZES, design

import numpy as np  # isort: skip  (after common, which sets the number of threads)

NOISE = ("noise 150", "noise 500", "noise 2000")
REAL = (
    *("digits", "wine", "diabetes", "pima", "wdbc", "wobc", "sonar", "ionosphere", "wpbc"),
    *("spambase", "mnist_1000", "coil20", "lung_203", "cnae9", "madelon"),
)
MOST = 2500  # samples of a data set


def parts_of(name: str, seed: int) -> tuple[Any, Any, Any, Any, np.ndarray] | None:
    """Training part, test part, and the features that count, where these are known."""
    from sklearn import datasets

    if name in SIZES:
        X, y, own = design(name, seed)
        y = y.astype(int) if y.dtype == bool else y
        return X[:-FRESH], y[:-FRESH], X[-FRESH:], y[-FRESH:], own
    rng = np.random.default_rng([seed, *map(ord, name)])
    if name in NOISE:
        n = int(name.split()[1])
        X, y = rng.standard_normal((n + FRESH, 40)), rng.integers(0, 2, n + FRESH)
        return X[:n], y[:n], X[n:], y[n:], np.empty(0, dtype=int)
    if name in ("digits", "wine", "diabetes"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    elif (data := load(name)) is not None:
        X, y = data
    else:
        return None
    rows = rng.permutation(len(y))[:MOST]
    cut = len(rows) * 2 // 3
    train, test = rows[:cut], rows[cut:]
    return X[train], y[train], X[test], y[test], np.empty(0, dtype=int)


def scored(model: Any, X: Any, y: np.ndarray, is_classes: bool) -> float:
    """Accuracy, or R squared times 100."""
    predicted = model.predict(X)
    if is_classes:
        return 100 * float((predicted == y).mean())
    return 100 * float(1 - ((predicted - y) ** 2).mean() / y.var())


def one(name: str, seed: int) -> list[float] | None:
    """Trees taken, and by default and linearly kept, found and scored; then all columns."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    import sparsieve

    if (parts := parts_of(name, seed)) is None:
        return None
    X, y, X_test, y_test, own = parts
    is_classes = y.dtype.kind != "f" and name != "diabetes"
    how = {"check": False, "task": "classification" if is_classes else "regression"}
    found: list[float] = []
    for linear_only in (False, True):
        selected = sparsieve.select(X, y, linear_only=linear_only, **how)
        if not linear_only:
            found.append(float(selected.relation.choice == "trees"))
        kept = np.flatnonzero(selected.selector.support_)
        found += [len(kept), np.isin(kept, own).sum()]
        found.append(scored(selected, X_test, y_test, is_classes))
    kind = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
    return [*found, scored(kind(random_state=0).fit(X, y), X_test, y_test, is_classes)]


def main(seeds: str = "2", *names: str) -> None:
    """A line for every design and data set, and the mean differences."""
    warnings.simplefilter("ignore")
    print(conditions(), end="\n\n")
    print(
        "| data | trees taken | kept | true of them | score | linear: kept | true | score | "
        "boosted trees on all columns |"
    )
    print("|---" * 9 + "|")
    curved = [name for name in SIZES if name not in LINEAR]
    gains: dict[str, list[float]] = {"curved": [], "linear": [], "noise": [], "real": []}
    for name in names or (*curved, *LINEAR, *NOISE, *REAL):
        table = [row for seed in range(int(seeds)) if (row := one(name, 500 + seed)) is not None]
        if not table:
            continue
        mean = np.mean(table, axis=0)
        cells = " | ".join(f"{value:.1f}" for value in mean[1:])
        print(f"| {name} | {mean[0] * len(table):.0f} of {len(table)} | {cells} |", flush=True)
        kind = "noise" if name in NOISE else "real" if name in REAL else "curved"
        gains["linear" if name in LINEAR else kind].append(mean[3] - mean[6])
    said = [f"{kind} {np.mean(one):+.1f}" for kind, one in gains.items() if one]
    print(f"\nScore less that of the linear way: {', '.join(said)}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
