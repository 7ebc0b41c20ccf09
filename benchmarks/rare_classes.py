"""Is a rare class called noise, and is noise called a rare class?

1,000 samples, five features, 1 to 16 % of the samples in the smaller class. With a signal two
features are shifted by 1.25 standard deviations in it (AUC 0.9), without one none is. The p-value
of ``SelectorCV`` is that of its test whether anything predicts better than a guess; beside it, for
some of the draws with a signal, that of ``permutation_test_score`` of scikit-learn with the same
model and the AUC::

    python -m benchmarks.rare_classes [draws] [draws for scikit-learn]
"""

from __future__ import annotations

import sys
import warnings

from benchmarks import common  # noqa: F401  (sets the number of threads)

import numpy as np  # isort: skip

SHARES = (0.01, 0.02, 0.04, 0.08, 0.16)
N_SAMPLES, N_FEATURES, SHIFT, LEVEL = 1000, 5, 1.25, 0.05


def drawn(share: float, signal: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and classes."""
    rng = np.random.default_rng([seed, int(1000 * share), signal])
    y = rng.permutation(np.arange(N_SAMPLES) < share * N_SAMPLES).astype(int)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[:, :2] += SHIFT * signal * y[:, None]
    return X, y


def ours(X, y, scoring) -> float:
    from sparsieve import FisherSelector, SelectorCV

    search = SelectorCV(FisherSelector(), ks=[N_FEATURES], n_repeats=1, scoring=scoring)
    return search.fit(X, y).p_value_


def theirs(X, y) -> float:
    from sklearn.model_selection import StratifiedKFold, permutation_test_score

    from sparsieve.scoring.ridge_path import default_estimator

    model = default_estimator("classification", len(y))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    how = {"scoring": "roc_auc", "cv": folds, "n_permutations": 99, "random_state": 0}
    return permutation_test_score(model, X, y, **how)[2]


def main(draws: str = "40", with_theirs: str = "5") -> None:
    """A line for every share of the rare class."""
    warnings.simplefilter("ignore")
    print("| class | noise, accuracy | noise, AUC | signal, accuracy | signal, AUC | sklearn |")
    print("|---|---|---|---|---|---|")
    for share in SHARES:
        cells = []
        for signal in (False, True):
            tables = [drawn(share, signal, seed) for seed in range(int(draws))]
            for scoring in ("accuracy", "roc_auc"):
                cells.append(sum(ours(*table, scoring) <= LEVEL for table in tables))
        found = [theirs(*table) <= LEVEL for table in tables[: int(with_theirs)]]
        shown = " | ".join(f"{cell} of {draws}" for cell in cells)
        print(f"| {100 * share:.0f} % | {shown} | {sum(found)} of {len(found)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
