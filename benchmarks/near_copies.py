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
            scores = [accuracy(A[:, some], y[train], B[:, some], y[test]) for some in kept]
            differ = len(np.setdiff1d(*kept))
            values = (name, seed, fold, k, *scores, differ, *seconds)
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def table(rows: list[dict]) -> str:
    """Markdown: differences at every number of features with intervals, and the time."""
    from sparsieve.scoring import bootstrap_interval

    lines = ["| data sets | k | where selections differ | points [95 %] | least | most |"]
    lines.append("|---|---|---|---|---|---|")
    for title, sets in (("of the study", set(SETS)), ("all", {row["data"] for row in rows})):
        for ks in [*((k,) for k in KS), KS]:
            by_set: dict[str, list[tuple[float, float]]] = {}
            for row in rows:
                if row["data"] in sets and int(row["k"]) in ks:
                    ahead = 100 * (float(row["with"]) - float(row["without"]))
                    by_set.setdefault(row["data"], []).append((ahead, float(row["differ"])))
            found = {name: np.mean([one for one, _ in of]) for name, of in by_set.items()}
            differ = sum(any(n for _, n in of) for of in by_set.values())
            interval = bootstrap_interval(list(found.values()), random_state=0)
            mean = float(np.mean(list(found.values())))
            least, most = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
            lines.append(
                f"| {title}, {len(found)} | {', '.join(map(str, ks))} | {differ} | {mean:+.2f} "
                f"[{interval.low:.2f}, {interval.high:.2f}] | {found[least]:+.1f} ({least}) | "
                f"{found[most]:+.1f} ({most}) |"
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
