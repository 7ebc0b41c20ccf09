"""How many features? Accuracy against number of features, for constants and for rules.

Every data set of the folder is cut into five outer folds, twice where it has at most 1,100 samples.
On the training part ``SelectorCV`` scores numbers of features by 4 x 5 inner folds,
RidgeForwardSelector ranks all of it once, and a linear SVM on the first k features (columns
standardised) is scored on the test part. So all choices of k are compared on the same rankings and
the same samples:

- always 5, 10, ..., 100 (all features where there are fewer);
- the rules "fewest" (the default), "median", "one_se", "best" and "elbow" of ``SelectorCV``;
- the fewest within one standard error of the highest mean as usually computed (not paired);
- the best k in hindsight, which nobody can know.

The scores of a data set are kept in the folder, so that rules can be changed and replayed without
fitting anything again::

    python -m benchmarks.how_many build/how_many [data set ...]

The shared data sets come in two halves: every second family in alphabetical order and the others,
where sets of the same patients or cell lines are one family; "other" are two sets of scikit-learn
and five simulations.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from benchmarks.common import DATA, load

import numpy as np  # isort: skip  (after common, which sets the number of threads)

NAMES = sorted(path.stem for path in DATA.glob("*.npz"))
FAMILIES = {
    "allaml": "golub",
    "leukemia_38": "golub",
    "leukemia_72": "golub",
    "colon": "alon",
    "colon_raw": "alon",
    "lymphoma_62": "alizadeh",
    "lymphoma_96": "alizadeh",
    "nci9": "nci",
    "nci_61": "nci",
}
OTHER = ["digits", "wine", "blocks", "few", "many", "weak", "classes"]
CONSTANTS = (5, 10, 15, 20, 30, 50, 70, 100)
CURVE = ("ks", "scores", "repeats", "p_value", "guess")  # of a fold, in the folder
TESTED = ("test_ks", "test", "fewest")
FEW_SAMPLES = 1100  # up to so many the division into outer folds is made twice


def other_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Data that no rule was made on."""
    from sklearn import datasets

    from sparsieve.datasets.synthetic.classes import make_correlated_blocks

    if name in ("digits", "wine"):
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "blocks":
        made = make_correlated_blocks(100, 2000, n_relevant=8, block_size=5, random_state=1)
        return made.X, made.y
    if name == "few":  # three strong features
        return simulated(80, 3000, n_features=3, shift=1.2)
    if name == "many":  # many weak ones
        return simulated(120, 3000, n_features=150, shift=0.35)
    if name == "weak":  # hardly anything to find
        return simulated(80, 1000, n_features=20, shift=0.25)
    return datasets.make_classification(
        200, 500, n_informative=40, n_redundant=40, n_classes=5, class_sep=2.0, random_state=1
    )


def simulated(n: int, d: int, *, n_features: int, shift: float):
    """Normal noise, and two classes that differ by ``shift`` in some features, in either sign."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((n, d)), np.arange(n) % 2
    X[:, :n_features] += np.where(y[:, None] > 0, shift, -shift) * rng.choice([-1, 1], n_features)
    return X, y


# -- computing ---------------------------------------------------------------------------------


def svm_accuracies(X, y, X_test, y_test, order, ks) -> np.ndarray:
    """Accuracy of a linear SVM on the first k columns of ``order``, from growing Gram matrices."""
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    scaler = StandardScaler().fit(X[:, order])
    train, test = scaler.transform(X[:, order]), scaler.transform(X_test[:, order])
    gram, gram_test, done, found = 0.0, 0.0, 0, []
    for k in ks:
        new = slice(done, k)
        gram = gram + train[:, new] @ train[:, new].T
        gram_test = gram_test + test[:, new] @ train[:, new].T
        done = k
        predicted = SVC(kernel="precomputed").fit(gram, y).predict(gram_test)
        found.append(float((predicted == y_test).mean()))
    return np.array(found)


def one_fold(X, y, X_test, y_test) -> dict[str, np.ndarray]:
    """Inner scores at the numbers that SelectorCV tries, and accuracies on the test part."""
    from sparsieve import SelectorCV

    search = SelectorCV().fit(X, y)
    inner = [search.cv_results_[f"split{i}_test_score"] for i in range(search.n_splits_)]
    last = int(search.ks_[-1])
    ks = np.unique([*search.ks_, *(min(k, last) for k in CONSTANTS)])
    order = np.argsort(search.ranking_)[:last]
    return {
        "ks": search.ks_,
        "scores": np.array(inner).T,
        "repeats": np.arange(search.n_splits_) // (search.n_splits_ // search.n_repeats),
        "p_value": search.p_value_,
        "guess": np.bincount(y).max() / len(y),
        "test_ks": ks,
        "test": svm_accuracies(X, y, X_test, y_test, order, ks),
        "fewest": search.k_by_rule_["fewest"],  # which sees more than the scores
    }


def one_set(X, y) -> list[dict[str, np.ndarray]]:
    """All outer folds."""
    from sklearn.model_selection import StratifiedKFold

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes smaller than the number of folds
        for seed in range(2 if len(y) <= FEW_SAMPLES else 1):
            folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
            found += [one_fold(X[train], y[train], X[test], y[test]) for train, test in folds]
    return found


def kept_or_computed(folder: Path, name: str) -> list[dict[str, np.ndarray]] | None:
    """The outer folds of a data set, from the folder where they are there."""
    path = folder / f"{name}.npz"
    if not path.exists():
        data = other_data(name) if name in OTHER else load(name)
        if data is None:
            return None
        folds = one_set(*data)
        arrays = {
            f"{i}.{key}": value for i, fold in enumerate(folds) for key, value in fold.items()
        }
        np.savez_compressed(path, **arrays)
        print(f"{name}: done", file=sys.stderr)
    with np.load(path) as arrays:
        count = 1 + max(int(key.partition(".")[0]) for key in arrays)
        return [{key: arrays[f"{i}.{key}"] for key in (*CURVE, *TESTED)} for i in range(count)]


# -- choosing ----------------------------------------------------------------------------------


def chosen(fold: dict[str, np.ndarray]) -> dict[str, int]:
    """The number of features of every choice."""
    from sparsieve.meta.rules import CountCurve, choices

    curve = CountCurve(**{key: fold[key][()] for key in CURVE})
    ks, scores = curve.ks, curve.scores
    plain = scores.std(axis=1, ddof=1)[curve.top] / np.sqrt(scores.shape[1])
    last = int(ks[-1])
    return {
        **{f"always {k}": min(k, last) for k in CONSTANTS},
        **{rule: int(ks[i]) for rule, i in choices(curve).items()},
        "fewest": int(fold["fewest"]),
        "usual one_se": int(ks[np.argmax(curve.means >= curve.means.max() - plain)]),
        "in hindsight": int(fold["test_ks"][np.argmax(fold["test"])]),
    }


def accuracy_at(fold: dict[str, np.ndarray], k: int) -> float:
    return float(fold["test"][np.searchsorted(fold["test_ks"], k)])


def table(found: dict[str, list[dict]], names: list[str], title: str) -> None:
    """Accuracy, difference to always 100 with its standard error over sets, k and its spread."""
    ks = {name: [chosen(fold) for fold in found[name]] for name in names}
    print(f"\n{title}: {len(names)} data sets\n")
    print("| choice | accuracy % | - always 100 | features | geometric mean | spread |")
    print("|---|---|---|---|---|---|")
    base = None
    for choice in ("always 100", *(c for c in ks[names[0]][0] if c != "always 100")):
        counts = [[fold[choice] for fold in ks[name]] for name in names]
        accuracy = np.array(
            [
                np.mean([accuracy_at(fold, k) for fold, k in zip(found[name], row, strict=True)])
                for name, row in zip(names, counts, strict=True)
            ]
        )
        base = accuracy if base is None else base
        gap = 100 * (accuracy - base)
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        means = np.array([np.mean(row) for row in counts])
        spread = np.mean([np.log2(row).std(ddof=1) for row in counts])
        print(
            f"| {choice} | {100 * accuracy.mean():.1f} | {gap.mean():+.1f} ± {error:.1f} | "
            f"{means.mean():.0f} | {np.exp(np.log(means).mean()):.0f} | {spread:.2f} |"
        )


def main(folder: str = "build/how_many", *names: str) -> None:
    """Compute what is missing in the folder, then print tables of all that is there."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in names or (*NAMES, *OTHER):
        folds = kept_or_computed(place, name)
        if folds is not None:
            found[name] = folds
    shared = [name for name in found if name not in OTHER]
    first = sorted({FAMILIES.get(name, name) for name in NAMES})[::2]
    parts = {
        "all shared data": shared,
        "first half": [name for name in shared if FAMILIES.get(name, name) in first],
        "second half": [name for name in shared if FAMILIES.get(name, name) not in first],
        "other": [name for name in found if name in OTHER],
    }
    for title, members in parts.items():
        if len(members) > 3:
            table(found, members, title)


if __name__ == "__main__":
    main(*sys.argv[1:])
