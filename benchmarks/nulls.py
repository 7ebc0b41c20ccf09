"""Does "better than a guess" hold its level? Claims on data in which there is nothing to find.

Features are normal noise, half of them sharing a common part, and the target is drawn without
them. Each of twelve configurations is drawn 400 times, or as often as is said, and goes through
three procedures whole:

- ``found``: ``SelectorCV`` with its own 20 folds chooses the number of features;
- ``ten``: ten features, as ``sparsieve.select(X, y, k=10)`` checks them on ten folds;
- ``compare``: ``sparsieve.compare`` of three methods at two numbers of features on three folds, and
  whether any of them is claimed to be better than a guess.

At a level of 5 % there are 20 claims in 400 on average, and more than 34 in one time out of a
thousand. The first two rank by correlations (or the F statistic) computed here, because fits of the
package's selectors take most of the time. A procedure is run alone::

    python -m benchmarks.nulls found build/nulls.csv [draws]

and adds its lines to the file; a configuration that the file has already is not drawn again.
"""

from __future__ import annotations

import csv
import sys
import warnings
import zlib
from pathlib import Path

from benchmarks import common  # noqa: F401  (sets the number of threads)

import numpy as np  # isort: skip
from sklearn.base import BaseEstimator

N_NULLS = 400
N_FEATURES = 30
CONFIGURATIONS: dict[str, list[int] | int] = {
    "two classes of 8": [8, 8],
    "two classes of 12": [12, 12],
    "classes of 6 and 18": [6, 18],
    "classes of 10 and 20": [10, 20],
    "two classes of 20": [20, 20],
    "two classes of 100": [100, 100],
    "three classes of 10": [10, 10, 10],
    "classes of 20, 15 and 5": [20, 15, 5],
    "five classes of 8": [8, 8, 8, 8, 8],
    "16 numbers": 16,
    "40 numbers": 40,
    "100 numbers with a long tail": -100,
}


class Correlations(BaseEstimator):
    """Ranks features by how much of the target they explain alone; ``scores_`` after fit."""

    def fit(self, X, y):
        """Score every feature."""
        Y = np.asarray(y, dtype=float)[:, None]
        if (np.rint(Y) == Y).all():  # labels here are whole numbers, targets never
            Y = (np.unique(Y) == Y).astype(float)
        Y = Y - Y.mean(axis=0)
        Z = X - X.mean(axis=0)
        self.scores_ = ((Z.T @ Y) ** 2).sum(axis=1) / (Z**2).sum(axis=0)
        self.n_features_in_ = X.shape[1]
        return self


def drawn(name: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of one null."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), number])
    sizes = CONFIGURATIONS[name]
    if isinstance(sizes, int):
        y = rng.standard_normal(abs(sizes))
        y = np.exp(1.5 * y) if sizes < 0 else y
    else:
        y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.standard_normal((len(y), N_FEATURES))
    X[:, : N_FEATURES // 2] += 2.0 * rng.standard_normal((len(y), 1))
    return X, y


def claims(procedure: str, X: np.ndarray, y: np.ndarray) -> bool:
    """Whether the procedure says that something predicts better than a guess."""
    from sparsieve import SelectorCV, compare
    from sparsieve.meta.held_out import N_REPEATS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if procedure == "found":
            return bool(SelectorCV(Correlations()).fit(X, y).beats_guess_)
        if procedure == "ten":
            search = SelectorCV(Correlations(), ks=[10], n_repeats=N_REPEATS)
            return bool(search.fit(X, y).beats_guess_)
        methods = ["ridge-forward", "f-statistic", "mrmr"]
        found = compare(X, y, methods, ks=[1, 5], cv=3, n_repeats=1)
        return bool(found.verdict.predictive)


def main(procedure: str, path: str, n_nulls: int = N_NULLS) -> None:
    """Draw all configurations that the file does not have."""
    file = Path(path)
    done = set()
    if file.exists():
        with file.open(newline="") as lines:
            done = {(row["procedure"], row["configuration"]) for row in csv.DictReader(lines)}
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("procedure,configuration,nulls,claims\n")
    for name in CONFIGURATIONS:
        if (procedure, name) in done:
            continue
        count = sum(claims(procedure, *drawn(name, number)) for number in range(n_nulls))
        print(f"{procedure:8} {name:30} {count:3} of {n_nulls}", flush=True)
        with file.open("a") as lines:
            lines.write(f'{procedure},"{name}",{n_nulls},{count}\n')


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:4]))
