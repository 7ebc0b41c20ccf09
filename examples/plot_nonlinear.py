"""Features that act through a parabola or a step: seen by one kernel per feature, not by lines.

Run with ``python examples/nonlinear_selection.py``.
"""

import numpy as np

from sparsieve import FisherSelector, L0MKLSelector, L0SVMSelector, RidgeForwardSelector
from sparsieve.datasets import make_nonlinear_additive

SELECTORS = {
    "Fisher score": FisherSelector(4),
    "linear l0 SVM": L0SVMSelector(4),
    "ridge forward": RidgeForwardSelector(4),
    "l0-MKL, sigmoid": L0MKLSelector(4),
    "l0-MKL, rbf": L0MKLSelector(4, kernel="rbf"),
}


def exclusive_or(n_samples=300, n_features=100, seed=0):
    """The sign of a product: no function of a single feature says anything about it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    relevant = np.array([10, 20])
    return X, (X[:, relevant].prod(axis=1) > 0).astype(int), relevant


def main():
    problems = {}
    for kind in ("radial", "threshold"):
        data = make_nonlinear_additive(300, 100, kind=kind, random_state=0)
        problems[kind] = data.X, data.y, data.relevant
    problems["exclusive or"] = exclusive_or()
    print(f"{'relevant features found':24}" + "".join(f"{name:>16}" for name in problems))
    for name, selector in SELECTORS.items():
        cells = []
        for X, y, relevant in problems.values():
            found = selector.fit(X, y).get_support()[relevant].sum()
            cells.append(f"{found} of {len(relevant)}")
        print(f"{name:24}" + "".join(f"{cell:>16}" for cell in cells))
    print(
        "\nOne kernel per feature adds up functions of single features. It finds parabolas and\n"
        "steps; a pure interaction such as the exclusive or stays invisible to it by design."
    )


if __name__ == "__main__":
    main()
