"""What wrong labels and outliers do to every fast method: what ``sparsieve methods --for`` lists.

``python -m benchmarks.outliers --write`` measures and replaces the packaged table; without
``--write`` the rows are only printed. Classes: accuracy in % of a linear SVM on clean held-out
samples, over small sets of the folder that SPARSIEVE_DATA names, three folds, and 10, 20 and 50
features, where labels of the training part are flipped (10 % and 20 %), or values of X are gross
errors. Numbers: % of ten true features found among ten, in planted data of which 10 % or 20 % of
the targets are gross errors. Methods that take more than ``SECONDS`` in ``method_times.csv`` have
no row.
"""

from __future__ import annotations

import argparse
import csv
import warnings

from benchmarks import common
from benchmarks.quality import VARIANTS, varied

import numpy as np  # isort: skip
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sparsieve.registry import Method, all_methods

TABLE = common.ROOT / "src" / "sparsieve" / "method_outliers.csv"
FIELDS = ("method", "labels", "X", "y")  # percent with wrong labels, outliers in X, and in y
SECONDS = 0.5
KS = (10, 20, 50)
SETS = ("allaml", "brain", "colon_raw", "glioma", "leukemia_38", "lymphoma_62", "sonar", "sorlie")
SEEDS = range(20)


def able(method: Method, task: str) -> bool:
    """Whether a method is fast enough and selects for the task on its own."""
    if "unsupervised" in method.purposes or method.name in ("fdr", "chi-square"):
        return False  # no target; as many as can be claimed; counts
    takes = task == "classification" or "regression" in method.purposes
    return takes and method.seconds is not None and method.seconds <= SECONDS


def accuracies(method: Method) -> dict[str, float]:
    """Mean accuracy by what was done to the training samples."""
    found: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for name in SETS:
        X, y = common.load(name)
        folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
        for fold, (train, test) in enumerate(folds):
            scaler = StandardScaler().fit(X[train])
            A, B = scaler.transform(X[train]), scaler.transform(X[test])
            for variant in VARIANTS:
                learn, labels = varied(A, y[train], variant, np.random.default_rng([0, fold]))
                fitted = method.cls(max(KS)).fit(learn, labels)
                for k in KS:
                    kept = fitted.at(k).get_support(indices=True)
                    model = LinearSVC(random_state=0).fit(learn[:, kept], labels)
                    found[variant].append(model.score(B[:, kept], y[test]))
    return {variant: 100 * float(np.mean(scores)) for variant, scores in found.items()}


def recovery(method: Method) -> float:
    """Share of the true features found where some targets are gross errors."""
    found = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((100, 300)) + 0.7 * rng.standard_normal((100, 1))
        true = rng.choice(300, 10, replace=False)
        y = X[:, true] @ rng.choice([-1.0, 1.0], 10) + 0.5 * rng.standard_normal(100)
        hit = rng.random(100) < (0.1, 0.2)[seed % 2]
        y += hit * 20 * y.std() * rng.standard_normal(100)
        found.append(method.cls(10, task="regression").fit(X, y).support_[true].mean())
    return 100 * float(np.mean(found))


def row(method: Method) -> dict[str, str]:
    """What was measured of one method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_classes = accuracies(method)
        of_numbers = f"{recovery(method):.1f}" if able(method, "regression") else ""
    *flipped, gross = of_classes.values()
    figures = (f"{np.mean(flipped):.1f}", f"{gross:.1f}", of_numbers)
    return dict(zip(FIELDS, (method.name, *figures), strict=True))


def main() -> None:
    """Measure every method that is fast enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    rows = []
    asked = parser.parse_args()
    for method in all_methods().values():
        if able(method, "classification"):
            rows.append(row(method))
            print(*rows[-1].values(), sep=",", flush=True)
    if asked.write:
        with TABLE.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
