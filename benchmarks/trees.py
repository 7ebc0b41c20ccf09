"""Curves and interactions: which features do methods find, and what are they worth to a judge?

Twelve non-linear designs, whose features are known, and tall data sets: digits, and those of the
folder that SPARSIEVE_DATA names. Every method ranks the features on a training part of at most
1,000 samples; the boosted trees of LightGBM on the first 5 and 10 of them predict 5,000 fresh
samples of a design, or the other half of a data set, of which 2,000 samples are drawn::

    python -m benchmarks.trees FILE.csv [design or data set ...]

adds a line per data, seed, method and number of features to the file; what it has is not run again
(ten minutes of one core in all). Four linear designs are run where they are named.

    python -m benchmarks.trees --table FILE.csv

prints the table for docs/measured: accuracy or R squared in percent, the share of the features of
a design that are found among as many, and CPU seconds.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

from benchmarks.common import DATA, load

import numpy as np  # isort: skip
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.inspection import permutation_importance

import sparsieve
from sparsieve.registry import find_selector

SEEDS = range(201, 202)
FRESH = 5000
KS = (5, 10)
MOST = 1000  # samples to train on
TALL = 8  # times as many samples as features at least, but for madelon
SIZES = {
    "sine": (800, 40),
    "kinks": (5000, 100),
    "shapes": (2000, 60),
    "pairs": (1500, 500),
    "signs": (2000, 300),
    "three": (3000, 100),
    "hastie": (4000, 30),
    "friedman": (600, 50),
    "products": (3000, 30),
    "radius": (2000, 50),
    "switches": (2000, 40),
    "gates": (2500, 80),
    "line": (500, 100),
    "two classes": (1500, 60),
    "common factor": (1000, 200),
    "four classes": (900, 50),
}
LINEAR = ("line", "two classes", "common factor", "four classes")
CURVED = tuple(name for name in SIZES if name not in LINEAR)
COLUMNS = ("data", "seed", "method", "k", "score", "found", "seconds")


def design(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X and y of the training part and 5,000 samples more, and the features that y is made of."""
    rng = np.random.default_rng([seed, *map(ord, name)])
    n, d = SIZES[name]
    X, own = rng.standard_normal((n + FRESH, d)), rng.permutation(d)
    noise, x = rng.standard_normal(len(X)), X[:, own[:12]].T
    if name == "sine":
        y, count = np.sin(2 * x[0]) + np.sin(2 * x[1] + 1) + x[2] ** 2 / 1.4 + 0.6 * noise, 3
    elif name == "kinks":
        f = sum(np.abs(x[i] - at) for i, at in enumerate((0, 0.3, -0.3, 0.1, -0.1)))
        y, count = f / f.std() + 0.7 * noise, 5
    elif name == "shapes":
        waves = [np.sin(2 * x[0]), x[1] ** 2, np.abs(x[2]), 1.0 * (x[3] > 0.8)]
        f = sum(one / one.std() for one in [*waves, x[4], np.cos(2 * x[5]), np.exp(x[6] / 2)])
        y, count = f / f.std() + 0.7 * noise, 7
    elif name == "pairs":
        y, count = x[0] * x[1] + np.sign(x[2] * x[3]) + x[4] + 0.5 * noise > 0, 5
    elif name == "signs":
        y, count = np.sign(x[0] * x[1]) + 0.8 * np.sign(x[2] * x[3]) + 0.5 * noise > 0, 4
    elif name == "three":
        y, count = np.sign(x[0] * x[1] * x[2]) + 0.6 * noise > 0, 3
    elif name == "hastie":
        y, count = (x[:10] ** 2).sum(axis=0) > 9.34, 10
    elif name == "friedman":
        X = rng.random(X.shape)
        x = X[:, own[:5]].T
        f = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
        y, count = f + 2 * noise, 5
    elif name == "products":
        y, count = x[0] * x[1] + x[2] * x[3] + 0.7 * x[4] * x[0] + 0.6 * noise, 5
    elif name == "radius":
        y, count = np.digitize(np.sqrt((x[:3] ** 2).sum(axis=0)) + 0.2 * noise, [1.2, 1.9]), 3
    elif name == "switches":
        f = np.where(x[0] > 0, x[1], -x[1]) + np.where(x[2] > 0.5, x[3], 0) + 0.5 * x[4]
        y, count = f + 0.5 * noise, 5
    elif name == "gates":
        all_of, any_of = (x[:3] > 0).all(axis=0), (x[3] > 0.5) | (x[4] < -0.5)
        y, count = 2.0 * all_of + 1.5 * any_of - 0.8 * x[5] + 0.5 * noise, 6
    elif name == "line":
        y, count = np.linspace(1, 0.3, 8) @ x[:8] + noise, 8
    elif name == "two classes":
        y, count = np.linspace(1, 0.3, 8) @ x[:8] + noise > 0, 8
    elif name == "common factor":
        X = X + rng.standard_normal((len(X), 1))
        f = np.array([1, -1, 1, -1, 0.5, -0.5]) @ X[:, own[:6]].T
        y, count = f / f.std() + 0.8 * noise, 6
    else:
        f = x[:6].T @ rng.standard_normal((6, 4))
        y, count = np.argmax(f + rng.gumbel(size=f.shape), axis=1), 6
    return X, np.asarray(y), own[:count]


def _is_classes(y) -> bool:
    return np.asarray(y).dtype.kind != "f"


def boosted(y, **how):
    """The boosted trees of LightGBM for a target."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if _is_classes(y) else LGBMRegressor
    given = {"num_leaves": 15, "importance_type": "gain", "n_jobs": 1, "verbose": -1}
    return kind(**{**given, "random_state": 0, **how})


def judged(X, y, train, test, features) -> float:
    """Accuracy or R squared of boosted trees, in percent."""
    least = max(3, min(20, len(train) // 50))
    model = boosted(y, n_estimators=150, learning_rate=0.07, min_child_samples=least)
    model.fit(X[np.ix_(train, features)], y[train])
    return 100.0 * float(model.score(X[np.ix_(test, features)], y[test]))


# -- methods ---------------------------------------------------------------------------------


def _by(scores) -> np.ndarray:
    return np.argsort(-np.asarray(scores), kind="stable")


def _ours(name: str) -> Callable:
    def ranked(X, y):
        task = "classification" if _is_classes(y) else "regression"
        selector = find_selector(name)(task=task, n_features_to_select=min(20, X.shape[1]))
        return np.argsort(selector.fit(X, y).ranking_, kind="stable")

    return ranked


def by_default(X, y):
    """What ``select`` finds with ten: lines or trees, as it decides."""
    task = "classification" if _is_classes(y) else "regression"
    selected = sparsieve.select(X, y, k=min(10, X.shape[1]), task=task, check=False)
    return np.argsort(selected.selector.ranking_, kind="stable")


def by_gain(X, y):
    """One fit of boosted trees."""
    return _by(boosted(y, colsample_bytree=0.6).fit(X, y).feature_importances_)


def by_elimination(X, y):
    """Boosted trees, refitted to what is left without the weakest 40 %, 20 % or, from ten, one."""
    left, order = np.arange(X.shape[1]), []
    while len(left) > 1:
        model = boosted(y, colsample_bytree=0.6, random_state=len(left))
        best = _by(model.fit(X[:, left], y).feature_importances_)
        n = len(left)
        n_kept = n - 1 if n <= 10 else int(n * (0.8 if n <= 20 else 0.6))
        order = [*left[best[n_kept:]], *order]
        left = left[best[:n_kept]]
    return np.array([*left, *order])


def _forest(y, n_trees: int, **how):
    how["max_features"] = "sqrt" if _is_classes(y) else 1 / 3
    kind = ExtraTreesClassifier if _is_classes(y) else ExtraTreesRegressor
    return kind(n_trees, random_state=0, **how)


def by_forest(X, y):
    """Extremely randomised trees, by impurity."""
    return _by(_forest(y, 200, min_samples_leaf=3).fit(X, y).feature_importances_)


def by_shadows(X, y):
    """Boruta: a forest on the columns and on shuffled copies of them, 20 times."""
    search = sparsieve.ShadowSelector(_forest(y, 50, max_depth=7), hit_rate=0.5, max_rounds=20)
    return np.argsort(search.fit(X, y).ranking_, kind="stable")


def by_information(X, y):
    """Mutual information by neighbours, as in scikit-learn."""
    of = mutual_info_classif if _is_classes(y) else mutual_info_regression
    return _by(of(X, y, random_state=0))


def by_shuffling(X, y):
    """Permutation importance of boosted trees on a third that was held out."""
    part = np.random.default_rng(0).permutation(len(y))
    train, test = part[len(y) // 3 :], part[: len(y) // 3]
    model = boosted(y).fit(X[train], y[train])
    found = permutation_importance(model, X[test], y[test], n_repeats=3, random_state=0)
    return _by(found.importances_mean)


METHODS = {
    "BoostedTreesSelector": _ours("trees"),
    "select": by_default,
    "LightGBM, elimination by gain": by_elimination,
    "LightGBM, gain": by_gain,
    "LightGBM, permutation importance": by_shuffling,
    "forest": by_forest,
    "ShadowSelector with a forest (Boruta)": by_shadows,
    "ReliefFSelector": _ours("relieff"),
    "mutual information": by_information,
    "RidgeForwardSelector": _ours("ridge-forward"),
}


# -- runs ------------------------------------------------------------------------------------


def tall_sets() -> list[str]:
    """Digits, data sets of the folder with many samples per feature, and madelon."""
    found = ["digits"]
    for path in sorted(DATA.glob("*.npz")):
        n, d = load(path.stem)[0].shape
        if path.stem == "madelon" or (n >= TALL * d and n >= 1000 and d > max(KS)):
            found.append(path.stem)
    return found


def parts_of(name: str):
    """(name, seed, X, y, train, test, own features or None) of every run on some data."""
    for seed in SEEDS:
        if name in SIZES:
            X, y, own = design(name, seed)
            n = SIZES[name][0]
            yield name, seed, X, y, np.arange(min(n, MOST)), np.arange(n, len(y)), own
            continue
        X, y = load_digits(return_X_y=True) if name == "digits" else load(name)
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        y = np.unique(y, return_inverse=True)[1] if _is_classes(y) else y
        rows = np.random.default_rng(seed).permutation(len(y))[: 2 * MOST]
        yield name, seed, X, y, rows[::2], rows[1::2], None


def main(path: str, *names: str) -> None:
    """Run what the file does not have."""
    table = Path(path)
    known = set()
    if table.exists():
        with table.open(newline="") as rows:
            known = {(row["data"], row["seed"], row["method"]) for row in csv.DictReader(rows)}
    with table.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not known:
            writer.writeheader()
        runs = [parts_of(name) for name in names or (*CURVED, *tall_sets())]
        for runs_of_a_seed in zip_longest(*runs):  # so that what is done is of all data alike
            for name, seed, X, y, train, test, own in filter(None, runs_of_a_seed):
                for method, ranked in METHODS.items():
                    if (name, str(seed), method) in known:
                        continue
                    start = time.process_time()
                    order = ranked(X[train], y[train])
                    seconds = time.process_time() - start
                    found = "" if own is None else np.isin(order[: len(own)], own).mean().round(3)
                    for k in KS:
                        score = judged(X, y, train, test, order[:k])
                        row = (name, seed, method, k, round(score, 2), found, round(seconds, 3))
                        writer.writerow(dict(zip(COLUMNS, row, strict=True)))
                    file.flush()


def _mean(column: str, rows: list[dict]) -> float:
    """The mean over data of the means over seeds; NaN where there is none."""
    by_data: dict[str, list[float]] = {}
    for row in rows:
        if row[column]:
            by_data.setdefault(row["data"], []).append(float(row[column]))
    return float(np.mean([np.mean(one) for one in by_data.values()] or [np.nan]))


def print_table(path: str) -> None:
    """Means over designs, and over data sets, for every method."""
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    table = csv.writer(sys.stdout, lineterminator="\n")
    kinds = "designs: 5 features", "10", "true ones found (%)", "data sets: 5 features", "10"
    table.writerow(("method", *kinds, "CPU seconds, median", "most"))
    for method in METHODS:
        own = [row for row in rows if row["method"] == method]
        cells: list[str] = []
        for part in ([row for row in own if row["data"] in SIZES],
                     [row for row in own if row["data"] not in SIZES]):  # fmt: skip
            for k in KS:
                cells.append(f"{_mean('score', [row for row in part if int(row['k']) == k]):.1f}")
            if part and part[0]["found"]:
                cells.append(f"{100 * _mean('found', part):.0f}")
        seconds = [float(row["seconds"]) for row in own]
        table.writerow((method, *cells, f"{np.median(seconds):.2f}", f"{max(seconds):.1f}"))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if sys.argv[1:2] == ["--table"]:
            print_table(sys.argv[2])
        else:
            main(*sys.argv[1:])
