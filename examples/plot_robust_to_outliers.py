"""Wrong labels and gross errors: what a robust loss is good for.

Run it with ``python examples/robustness.py``. Two kinds of data with known relevant features are
spoilt more and more; every selector keeps as many features as there are relevant ones, and the
table shows how many of them it found (mean over ten data sets).
"""

import numpy as np

from sparsieve import RFSSelector, RidgeForwardSelector, RobustL20Selector, RPMFSSelector
from sparsieve.datasets import make_outliers

SELECTORS = {
    "ridge forward (squared)": RidgeForwardSelector(),
    "RFS": RFSSelector(),
    "robust l2,0": RobustL20Selector(),
    "RPMFS": RPMFSSelector(),
}


def flipped_labels(share, seed):
    """Two classes that differ on ten features; a share of the labels is wrong."""
    data = make_outliers(
        80,
        300,
        n_classes=2,
        signal=2.0,
        row_fraction=0.0,
        label_fraction=share,
        random_state=seed,
    )
    return data.X, data.y, data.relevant


def gross_errors(share, seed):
    """Three outputs that depend on eight features; a share of the targets is nonsense."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 120))
    relevant = np.sort(rng.permutation(120)[:8])
    Y = X[:, relevant] @ rng.standard_normal((8, 3)) + rng.standard_normal((80, 3))
    spoilt = rng.permutation(80)[: round(80 * share)]
    Y[spoilt] = 15.0 * rng.standard_normal((len(spoilt), 3))
    return X, Y, relevant


for make, title in ((flipped_labels, "wrong labels"), (gross_errors, "gross errors in y")):
    shares = (0.0, 0.1, 0.2, 0.3)
    print(f"{title:<26}" + "".join(f"{share:>7.0%}" for share in shares))
    for name, selector in SELECTORS.items():
        found = []
        for share in shares:
            counts = []
            for seed in range(10):
                X, y, relevant = make(share, seed)
                selector.set_params(n_features_to_select=len(relevant)).fit(X, y)
                counts.append(selector.support_[relevant].sum())
            found.append(f"{np.mean(counts):>7.1f}")
        print(f"{name:<26}" + "".join(found))
    print()
