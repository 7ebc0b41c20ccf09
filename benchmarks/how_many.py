"""How many features? Accuracy and number of features of every automatic choice, on data held out.

Every data set is cut into five outer folds. The training part is ranked by RidgeForwardSelector
once, and a linear SVM on the first k features (columns standardised) is scored on the test part;
so all choices of k are compared on the same rankings and the same samples:

- always 100, 50 or 30;
- SelectorCV's rules "best" (the default) and "one_se", from 4 x 5 shuffled folds;
- the same rules as they were: 5 folds in file order, the highest mean with ties to the smaller k,
  and the smallest k within a plain standard error of it;
- ``n_features_to_select=None`` of RidgeForwardSelector.

Settings of the rules were chosen on the first, third, ... data set of the list in alphabetical
order ("develop") and are judged on the others ("decide"). The difference to always 100 comes with
its standard error over data sets, and "spread" is the standard deviation of log2 k over the five
folds of a data set. Run with a folder for results, which is resumed::

    python -m benchmarks.how_many build/how_many [data set ...]

The table below is not the output of one run of this script, which makes a single division into
outer folds. It was put together while the rules were developed: the same inner folds, rankings and
SVM, scores kept at the numbers of features that SelectorCV tries, on the 32 data sets in two or
three divisions (82 in all), and the rules applied to the scores that were kept:

=============== ======== ============ ==== ====== ======== ============ ==== ======
                develop                           decide
--------------- --------------------------------- ---------------------------------
choice          accuracy - always 100    k spread accuracy - always 100    k spread
=============== ======== ============ ==== ====== ======== ============ ==== ======
best possible       88.9 +3.3 ± 0.6     27   1.17     89.9 +3.7 ± 1.1     24   1.10
always 100          85.6                96            86.2                93
always 70           85.3 -0.3 ± 0.3     75            85.9 -0.2 ± 0.3     74
always 50           84.6 -1.0 ± 0.3     47            84.6 -1.6 ± 0.7     47
always 30           83.3 -2.4 ± 0.7     30            84.0 -2.1 ± 1.0     30
best before         84.6 -1.1 ± 0.4     50   0.90     84.7 -1.5 ± 0.8     42   1.06
one_se before       82.5 -3.1 ± 1.0     32   0.89     83.2 -3.0 ± 0.9     26   0.95
None before         77.1 -8.6 ± 3.0     26   0.23     77.5 -8.7 ± 2.9     23   0.19
best                85.4 -0.2 ± 0.3     59   0.46     85.4 -0.8 ± 0.6     60   0.53
one_se              82.8 -2.9 ± 0.9     32   0.62     83.8 -2.4 ± 0.9     36   0.86
None                85.2 -0.5 ± 0.4     64   0.25     84.4 -1.7 ± 1.1     54   0.12
=============== ======== ============ ==== ====== ======== ============ ==== ======

("None before" and "None" were scored at the nearest k of the grid, at most 100.) No rule that looks
at cross-validated accuracy was found to do better at about 30 features than always taking 30. The
smallest k within c paired standard errors and a share d of the top gave, on "develop",
-1.1 ± 0.4 at 50 features (c = 2, d = 2 %), -1.9 ± 0.6 at 43 (1, 4 %), -2.0 ± 0.6 at 39 (2, 4 %),
-2.8 ± 0.9 at 37 (1, none) and -4.3 ± 1.3 at 28 (1.5, none).
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

from benchmarks.common import load

import numpy as np  # isort: skip  (after common, which sets the number of threads)

NAMES = [
    "allaml",
    "borovecki",
    "brain",
    "breast3",
    "carcinoma_174",
    "christensen",
    "cnae9",
    "cns",
    "colon",
    "colon_raw",
    "dbworld",
    "glioma",
    "gravier",
    "leukemia_38",
    "leukemia_72",
    "lung_203",
    "lung_small",
    "lymphoma_62",
    "lymphoma_96",
    "mnist_1000",
    "nci9",
    "nci_61",
    "pixraw10p",
    "sonar",
    "sorlie",
    "su_102",
    "tumor14_190",
    "warpar10p",
    "warppie10p",
    "wdbc",
    "wpbc",
    "yale",
]
FIXED = (100, 50, 30)
LARGEST = 100


def svm_accuracies(X, y, X_test, y_test, order, ks) -> np.ndarray:
    """Accuracy of a linear SVM on the first k columns of ``order``, from growing Gram matrices."""
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    scaler = StandardScaler().fit(X)
    train, test = scaler.transform(X)[:, order], scaler.transform(X_test)[:, order]
    gram, gram_test, done, found = 0.0, 0.0, 0, []
    for k in ks:
        new = slice(done, k)
        gram = gram + train[:, new] @ train[:, new].T
        gram_test = gram_test + test[:, new] @ train[:, new].T
        done = k
        predicted = SVC(kernel="precomputed").fit(gram, y).predict(gram_test)
        found.append(float((predicted == y_test).mean()))
    return np.array(found)


def as_before(search) -> dict[str, int]:
    """The rules as they were, on the scores of five folds in file order."""
    results = search.cv_results_
    scores = np.array([results[f"split{i}_test_score"] for i in range(search.n_splits_)]).T
    means = np.round(scores.mean(axis=1), 12)
    top = int(np.argmax(means))
    error = scores[top].std(ddof=1) / np.sqrt(scores.shape[1])
    smallest = int(np.flatnonzero(means >= means[top] - error - 1e-12)[0])
    return {"best before": int(search.ks_[top]), "one_se before": int(search.ks_[smallest])}


def one_fold(X, y, X_test, y_test) -> dict[str, tuple[int, float]]:
    """(k, accuracy) of every choice."""
    from sklearn.model_selection import StratifiedKFold

    from sparsieve import RidgeForwardSelector, SelectorCV

    search = SelectorCV().fit(X, y)
    before = SelectorCV(cv=StratifiedKFold(5)).fit(X, y)
    own = RidgeForwardSelector().fit(X, y)
    last = min(LARGEST, X.shape[1])
    chosen = {
        **{f"always {k}": min(k, last) for k in FIXED},
        **{name: search.k_by_rule_[name] for name in ("best", "one_se")},
        **as_before(before),
        "None": int(own.support_.sum()),
    }
    ks = np.unique([*chosen.values(), *search.ks_])
    longest = RidgeForwardSelector(int(ks[-1])).fit(X, y)
    order = np.argsort(longest.ranking_)[: ks[-1]]
    accuracies = svm_accuracies(X, y, X_test, y_test, order, ks)
    return {name: (k, float(accuracies[ks == k][0])) for name, k in chosen.items()}


def one_set(name: str) -> list[dict] | None:
    """The choices on each of the five outer folds."""
    from sklearn.model_selection import StratifiedKFold

    data = load(name)
    if data is None:
        return None
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes smaller than the number of folds
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
        return [one_fold(X[train], y[train], X[test], y[test]) for train, test in folds]


def table(found: dict[str, list[dict]]) -> None:
    """Accuracy, difference to always 100 and its error, mean k and spread, on both halves."""
    names = sorted(found)
    halves = {"develop": names[::2], "decide": names[1::2]}
    print(f"{'':<16}" + "".join(f"{half:<42}" for half in halves))
    print(f"{'choice':<16}" + 2 * f"{'accuracy':>9}{'- always 100':>17}{'k':>7}{'spread':>7}  ")
    for choice in found[names[0]][0]:
        line = f"{choice:<16}"
        for half in halves.values():
            ks, accuracy = (
                np.array([[fold[choice][part] for fold in found[name]] for name in half])
                for part in (0, 1)
            )
            base = np.array([[fold["always 100"][1] for fold in found[name]] for name in half])
            gap = 100 * (accuracy - base).mean(axis=1)
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            line += f"{100 * accuracy.mean():>9.1f}{gap.mean():>+9.2f} ± {error:<5.2f}"
            line += f"{ks.mean():>7.1f}{np.log2(ks).std(axis=1, ddof=1).mean():>7.2f}  "
        print(line)
    print(*(f"{half}: {', '.join(members)}" for half, members in halves.items()), sep="\n")


def main(folder: str = "build/how_many", *names: str) -> None:
    """Compute what is missing in the folder, then print the table of all that is there."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    found = {}
    for name in names or NAMES:
        path = Path(folder) / f"{name}.json"
        if not path.exists():
            result = one_set(name)
            if result is None:
                continue
            path.write_text(json.dumps(result))
            print(f"{name}: done", file=sys.stderr)
        found[name] = json.loads(path.read_text())
    if len(found) > 3:
        table(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
