"""The experiments of the l0-MPM paper, done again: our numbers beside the printed ones.

    python benchmarks/studies/l0_mpm.py [--quick]

Ten folds, everything (scaling, selection, machine) fitted inside the training part. The paper
asks for delta = 0.9 everywhere, which is out of reach on all its low-dimensional sets, so ours is
0.8 and 0.95 of what each fold can reach. Sets that are not at hand are named and skipped. Data
are looked for in SPARSIEVE_DATA or ../shared/data, printed numbers in ../shared/published.
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import matthews_corrcoef
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from sparsieve import (
    L0MPMSelector,
    L1MPMSelector,
    MPMClassifier,
    SMPMSelector,
    SparseKernelMPMClassifier,
)

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SPARSIEVE_DATA", ROOT / ".." / "shared" / "data"))
PUBLISHED = DATA / ".." / "published" / "l0mpm_tables3_5_6_7.csv"

# Name in the paper, file, rows (the paper's Spam and Madelon have 200 of unknown choice).
SETS = [
    ("Sonar", "sonar", None),
    ("Pima", "pima", None),
    ("Ionosphere", "ionosphere", None),
    ("Spam", "spambase", 200),
    ("WOBC", "wobc", None),
    ("WPBC", "wpbc", None),
    ("WDBC", "wdbc", None),
    ("Madelon", "madelon", 200),
]


def load(name, n_rows=None):
    path = DATA / f"{name}.npz"
    if not path.exists():
        return None
    data = np.load(path, allow_pickle=True)
    X, y = data["X"].astype(float), data["y"]
    if n_rows is not None:
        rows = np.random.default_rng(0).choice(len(y), n_rows, replace=False)
        X, y = X[rows], y[rows]
    return X, y


def at_share(estimator, share, X, y):
    """Ask for this share of the best level that the training part can reach."""
    if not hasattr(estimator, "delta"):
        return estimator
    best = MPMClassifier(ridge=estimator.ridge).fit(StandardScaler().fit_transform(X), y)
    return estimator.set_params(delta=share * best.worst_case_accuracy_)


def ten_folds(estimator, X, y, n_folds, share=None):
    """Mean accuracy, MCC, number of features (or samples) kept and iterations."""
    rows = []
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for train, test in list(folds.split(X, y))[:n_folds]:
        scaler = StandardScaler().fit(X[train])
        machine = clone(estimator)
        if share is not None:
            machine = at_share(machine, share, X[train], y[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(scaler.transform(X[train]), y[train])
        predicted = machine.predict(scaler.transform(X[test]))
        support = getattr(machine, "support_", None)
        if support is None:
            kept = X.shape[1]
        else:
            kept = support.sum() if support.dtype == bool else len(support)
        accuracy = float(np.mean(predicted == y[test]))
        rows.append((accuracy, matthews_corrcoef(y[test], predicted), kept, machine.n_iter_))
    accuracy, mcc, kept, iterations = np.mean(rows, axis=0)
    return 100 * accuracy, 100 * mcc, kept, iterations


def printed_numbers():
    if not PUBLISHED.exists():
        print(f"(no printed numbers: {PUBLISHED.name} is not at hand)")
        return {}
    with PUBLISHED.open() as lines:
        return {(row["dataset"], row["method"]): row for row in csv.DictReader(lines)}


def linear_machines(n_folds):
    """Tables 3 to 7."""
    published = printed_numbers()
    machines = [
        ("MPM", MPMClassifier(), None),
        ("L1-MPM", L1MPMSelector(), 0.8),
        ("L1-MPM", L1MPMSelector(), 0.95),
        ("L0-MPM", L0MPMSelector(), 0.8),
        ("L0-MPM", L0MPMSelector(), 0.95),
        ("S-MPM", SMPMSelector(), None),
    ]
    print("Tables 3, 5, 6, 7: test accuracy / MCC / % of features / iterations; printed beside it")
    accuracies = []
    for title, name, n_rows in SETS:
        found = load(name, n_rows)
        if found is None:
            print(f"{title}: not at hand, skipped")
            continue
        X, y = found
        accuracies.append([])
        for method, machine, share in machines:
            accuracy, mcc, kept, iterations = ten_folds(machine, X, y, n_folds, share)
            accuracies[-1].append(accuracy)
            label = method if share is None else f"{method} {share:g} of best"
            row = published.get((title, method), {})
            beside = " / ".join(
                row.get(key) or "-" for key in ("tsa", "mcc", "percent_features", "iterations")
            )
            print(
                f"{title:<11}{label:<22}{accuracy:6.1f} /{mcc:6.1f} /{100 * kept / X.shape[1]:6.1f}"
                f" /{iterations:5.1f}    printed {beside}",
                flush=True,
            )
    if accuracies:
        ranks = np.array([rankdata(-np.array(row)[[0, 2, 4]]) for row in accuracies]).mean(axis=0)
        print(
            "Table 4, average rank by accuracy (levels 0.95 of best): "
            f"MPM {ranks[0]:.2f}, L1-MPM {ranks[1]:.2f}, L0-MPM {ranks[2]:.2f}"
            "    printed 1.83, 2.00, 1.72"
        )


def curves(n_folds):
    """Table 2 and Figures 2 to 4: Spam, over alpha and the level."""
    found = load("spambase", 200)
    if found is None:
        print("Spam is not at hand, Table 2 skipped")
        return
    X, y = found
    shares = (0.95, 0.8, 0.6, 0.4, 0.2)
    print("\nTable 2, Figures 2-4 (Spam): features kept, accuracy; level as a share of the best")
    print("alpha " + "".join(f"{share:>14g}" for share in shares))
    for alpha in (50, 10, 5, 1, 0.5, 0.1):
        cells = []
        for share in shares:
            result = ten_folds(L0MPMSelector(alpha=alpha), X, y, n_folds, share)
            cells.append(f"{result[2]:7.1f}{result[0]:7.1f}")
        print(f"{alpha:<6g}" + "".join(cells), flush=True)


def kernels(n_folds, widths):
    """Figures 6 and 7: Gaussian kernels; the percentage is of training samples."""
    print("\nFigures 6, 7 (Gaussian kernel): accuracy / MCC / samples kept")
    for title, name, n_rows in SETS:
        if title not in ("Sonar", "Ionosphere", "WDBC", "Madelon"):
            continue
        found = load(name, n_rows)
        if found is None:
            print(f"{title}: not at hand, skipped")
            continue
        X, y = found
        for width in widths:
            gamma = 0.5 / width**2
            for label, machine in (
                ("MPM", MPMClassifier("rbf", gamma=gamma)),
                ("L1-MPM", SparseKernelMPMClassifier(gamma=gamma, norm="l1")),
                ("L0-MPM", SparseKernelMPMClassifier(gamma=gamma)),
            ):
                accuracy, mcc, kept, _ = ten_folds(machine, X, y, n_folds)
                print(
                    f"{title:<11}width {width:<7g}{label:<8}{accuracy:6.1f} /{mcc:6.1f} /"
                    f"{kept:6.1f}",
                    flush=True,
                )


def synthetic(n_repeats):
    """Section 4.2: x_i = y N(-i, 1) for i = 1..10 and 990 features of noise, 50 samples."""

    def draw(rng, n):
        y = np.where(rng.random(n) < 0.5, -1, 1)
        X = rng.normal(size=(n, 1000))
        X[:, :10] = y[:, None] * (X[:, :10] - np.arange(1, 11))
        return X, y

    print("\nSynthetic (delta = 0.9, alpha = 10): features kept and accuracy on 2000 fresh samples")
    for label, machine in (
        ("L0-MPM", L0MPMSelector(delta=0.9, alpha=10.0)),
        ("L1-MPM", L1MPMSelector(delta=0.9)),
    ):
        kept, scores = [], []
        for seed in range(n_repeats):
            rng = np.random.default_rng(seed)
            fitted = machine.fit(*draw(rng, 50))
            kept.append(int(fitted.support_.sum()))
            scores.append(100 * fitted.score(*draw(rng, 2000)))
        print(f"{label}: {kept}, {np.mean(scores):.1f}%   printed 7 to 12 features, 46.8-86.7%")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two folds, three widths")
    quick = parser.parse_args().quick
    n_folds = 2 if quick else 10
    linear_machines(n_folds)
    curves(n_folds)
    synthetic(3 if quick else 10)
    kernels(n_folds, (0.125, 2.0, 8.0) if quick else [2.0**power for power in range(-3, 4)])


if __name__ == "__main__":
    main()
