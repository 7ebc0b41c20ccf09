"""What does passing over near copies cost in accuracy and in time?

Ridge forward with ``max_correlation=0.99``, its default, and with None on the same folds (five,
drawn with two seeds) of every data set of the folder that SPARSIEVE_DATA names: the accuracy of a
linear SVM on the features that they keep, and the CPU time of a selection, the least of three::

    python -m benchmarks.near_copies FILE.csv

adds a line per data set, fold and number of features to the file; what it has is not run again. Of
a data set with more than 600 samples that many are drawn, in the same shares of classes::

    python -m benchmarks.near_copies --table FILE.csv

prints what is in it.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from itertools import product
from pathlib import Path

from benchmarks.common import DATA, load
from benchmarks.quality import FOLDS, SAMPLES, SEEDS, SETS

import numpy as np  # isort: skip
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

KS = (10, 20, 50)
LIMITS = (0.99, None)
N_TIMES = 3
MOST_COINS = 16
COLUMNS = (
    *("data", "seed", "fold", "k", "with", "without", "differ"),
    *("seconds_with", "seconds_without"),
)


def selections(X, y) -> tuple[list, list[float]]:
    """The selection with and without the limit, and the least CPU seconds of each."""
    from sparsieve import RidgeForwardSelector

    count = min(max(KS), X.shape[1])
    fitted, seconds = [None, None], [np.inf, np.inf]
    for _ in range(N_TIMES):  # in turns, so that other work on the machine disturbs both
        for place, limit in enumerate(LIMITS):
            start = time.process_time()
            fitted[place] = RidgeForwardSelector(count, max_correlation=limit).fit(X, y)
            seconds[place] = min(seconds[place], time.process_time() - start)
    return fitted, seconds


def accuracy(X_train, y_train, X_test, y_test) -> float:
    """Share of labels that a linear SVM gets right."""
    return float((SVC(kernel="linear").fit(X_train, y_train).predict(X_test) == y_test).mean())


def rows_of(name: str) -> list[dict]:
    """A row for every fold and number of features below that of the columns."""
    X, y = load(name)
    if len(y) > SAMPLES:
        X, _, y, _ = train_test_split(X, y, train_size=SAMPLES, stratify=y, random_state=0)
    rows = []
    folds = [
        (seed, *fold)
        for seed in SEEDS
        for fold in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    ]
    for seed, fold, (train, test) in folds:
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        fitted, seconds = selections(A, y[train])
        for k in (k for k in KS if k < X.shape[1]):
            kept = [np.flatnonzero(one.at(k).support_) for one in fitted]
            differ = len(np.setdiff1d(*kept))
            different = kept[: 1 if np.array_equal(*kept) else 2]
            scores = [accuracy(A[:, some], y[train], B[:, some], y[test]) for some in different]
            values = (name, seed, fold, k, scores[0], scores[-1], differ, *seconds)
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def chances(differences: np.ndarray) -> np.ndarray:
    """How often the largest of all columns is as large as each, when coins give rows their signs.

    Sizes are sums over the root of the sum of squares, which no coin changes. All tosses are tried
    where few rows are not zero.
    """
    D = differences[differences.any(axis=1)]
    if len(D) <= MOST_COINS:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(D))))
    else:
        signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(2**MOST_COINS, len(D)))
    lengths = np.maximum(np.sqrt((D**2).sum(axis=0)), 1e-300)
    largest = (np.abs(signs @ D) / lengths).max(axis=1)
    found = np.abs(D.sum(axis=0)) / lengths
    return (largest[:, None] >= (1.0 - 1e-9) * found).mean(axis=0)


def table(rows: list[dict]) -> str:
    """Markdown: differences at every number of features with intervals, and the time."""
    from sparsieve.scoring import bootstrap_interval

    head = (
        "| data sets | k | where selections differ | points [95 %] | p, all four | least | most |"
    )
    lines = [head, "|---|---|---|---|---|---|---|"]
    for title, sets in (("of the study", set(SETS)), ("all", {row["data"] for row in rows})):
        families = [*((k,) for k in KS), KS]
        names = sorted(sets & {row["data"] for row in rows})
        ahead = np.full((len(names), len(families)), np.nan)
        differ = np.zeros_like(ahead, dtype=bool)
        for place in np.ndindex(ahead.shape):
            some = [
                row
                for row in rows
                if row["data"] == names[place[0]] and int(row["k"]) in families[place[1]]
            ]
            if some:
                ahead[place] = 100 * np.mean(
                    [float(row["with"]) - float(row["without"]) for row in some]
                )
                differ[place] = any(int(row["differ"]) for row in some)
        for column, p in enumerate(chances(np.nan_to_num(ahead))):
            has = np.flatnonzero(~np.isnan(ahead[:, column]))
            values = ahead[has, column]
            interval = bootstrap_interval(values, random_state=0)
            least, most = int(np.argmin(values)), int(np.argmax(values))
            lines.append(
                f"| {title}, {len(has)} | {', '.join(map(str, families[column]))} | "
                f"{differ[:, column].sum()} | {values.mean():+.2f} [{interval.low:.2f}, "
                f"{interval.high:.2f}] | {p:.2f} | {values[least]:+.1f} ({names[has[least]]}) | "
                f"{values[most]:+.1f} ({names[has[most]]}) |"
            )
    times: dict[str, list[float]] = {}
    for row in rows:
        once = times.setdefault(row["data"], [])
        once.append(float(row["seconds_with"]) / float(row["seconds_without"]))
    ratios = {name: float(np.median(of)) for name, of in times.items()}
    slowest = max(ratios, key=ratios.__getitem__)
    whole = [sum(float(row[name]) for row in rows) for name in COLUMNS[-2:]]
    lines.append(
        f"\nTime: median over the sets {np.median(list(ratios.values())):.3f}, most "
        f"{ratios[slowest]:.3f} ({slowest}), of the sums {whole[0] / whole[1]:.3f}; "
        f"more than 1.05: {sorted(name for name, ratio in ratios.items() if ratio > 1.05)}."
    )
    return "\n".join(lines)


def main(*arguments: str) -> None:
    """Run what the file does not have, and print its table."""
    warnings.simplefilter("ignore")
    file, rows = Path(arguments[-1]), []
    if file.exists():
        with file.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
    else:
        file.write_text(",".join(COLUMNS) + "\n")
    done = {row["data"] for row in rows}
    names = sorted(path.stem for path in DATA.glob("*.npz") if path.stem not in done)
    for name in [] if "--table" in arguments else names:
        found = rows_of(name)
        rows += found
        with file.open("a", newline="") as lines:
            csv.DictWriter(lines, COLUMNS).writerows(found)
        print(f"{time.process_time():6.0f} s  {name}", file=sys.stderr, flush=True)
    print(table(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
