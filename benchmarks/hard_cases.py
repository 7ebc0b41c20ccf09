"""Fits that used to take longest: CPU seconds of one thread, objective and certified gap.

Run with one BLAS thread, for example::

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.hard_cases
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from time import process_time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402

from sparsieve import (  # noqa: E402
    ExactPenaltySVMSelector,
    ExclusiveLassoSelector,
    L0MKLSelector,
    L0MPMSelector,
    L0SVMSelector,
    L1MPMSelector,
    LikelihoodL21Selector,
    MIKFSSelector,
    ReliefFSelector,
    RFSSelector,
    StabilitySelection,
)

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SPARSIEVE_DATA", ROOT.parent / "shared" / "data"))


def load(name: str, n_samples: int | None = None):
    """X and y of a stored data set, or of some of its samples."""
    with np.load(DATA / f"{name}.npz") as file:
        X, y = file["X"].astype(float), file["y"]
    some = np.random.default_rng(0).permutation(len(y))[:n_samples]
    return X[some], y[some]


def many_zeros(n_samples: int = 20_000, n_features: int = 50_000, n_stored: int = 2_000_000):
    """Ten classes; sixty features are larger in one class each, the others are noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n_samples)
    rows, columns = rng.integers(0, n_samples, n_stored), rng.integers(0, n_features, n_stored)
    values = np.abs(rng.standard_normal(n_stored))
    informative = rng.choice(n_features, 60, replace=False)
    for place, feature in enumerate(informative):
        own = np.flatnonzero((y == place % 10) & (rng.random(n_samples) < 0.3))
        rows = np.concatenate([rows, own])
        columns = np.concatenate([columns, np.full(len(own), feature)])
        values = np.concatenate([values, 1.0 + rng.random(len(own))])
    return sparse.csr_array((values, (rows, columns)), shape=(n_samples, n_features)), y


def noise(n_samples: int, n_features: int):
    """Two classes, and five features that differ between them by a standard deviation."""
    y = np.arange(n_samples) % 2
    X = np.random.default_rng(0).standard_normal((n_samples, n_features))
    X[y == 1, :5] += 1.0
    return X, y


def many_classes(n_samples: int = 2000, n_features: int = 100, n_classes: int = 1000):
    """A thousand classes with centres of their own in twenty of the features."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_samples - n_classes)])
    centres = 1.5 * rng.standard_normal((n_classes, 20))
    X = rng.standard_normal((n_samples, n_features))
    X[:, :20] += centres[y]
    return X, y


def show(label: str, selector, X, y) -> None:
    """Fit once and print what it took."""
    start = process_time()
    selector.fit(X, y)
    spent = process_time() - start
    reached = getattr(selector, "objective_", np.nan), getattr(selector, "optimality_", np.nan)
    print(f"{label:<38}{spent:>8.1f} s   objective {reached[0]:<12.7g} gap {reached[1]:.1e}")


def main() -> None:
    warnings.simplefilter("ignore")
    X, y = load("warppie10p")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = np.eye(y.max() + 1)[y]
    beta = 0.01 * 2 * np.linalg.norm(Z.T @ (Y - Y.mean(axis=0)), axis=1).max()
    show("ExclusiveLasso, warppie10p", ExclusiveLassoSelector(beta=beta), X, y)
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, 3000)).astype(np.float32), rng.standard_normal((60, 20))
    show("ExclusiveLasso, 60 x 3000 float32", ExclusiveLassoSelector(beta=0.1), X, Y)
    for name in ("isolet", "coil20"):
        show(f"RFS, {name}", RFSSelector(), *load(name))
    for selector in (ExactPenaltySVMSelector(), L0SVMSelector(), L1MPMSelector(), L0MPMSelector()):
        name = type(selector).__name__.removesuffix("Selector")
        show(f"{name}, 800 of basehock", selector, *load("basehock", 800))
    for selector in (L0MKLSelector(), MIKFSSelector(), StabilitySelection()):
        name = type(selector).__name__.removesuffix("Selector")
        selector.fit(*noise(60, 6000))  # compiles
        show(f"{name}, 60 x 10,000", selector, *noise(60, 10_000))
        show(f"{name}, lung_cancer_181", selector, *load("lung_cancer_181"))
    LikelihoodL21Selector().fit(*noise(60, 30))  # compiles
    X, y = many_classes()
    show(
        "LikelihoodL21, 1,000 classes, k = 10", LikelihoodL21Selector(n_features_to_select=10), X, y
    )
    show("LikelihoodL21, 1,000 classes", LikelihoodL21Selector(), X, y)
    X, y = many_zeros()
    show("RFS, sparse 20,000 x 50,000", RFSSelector(tol=1e-4), X, y)
    show("ReliefF, the same, 50 queries", ReliefFSelector(n_samples=50, random_state=0), X, y)


if __name__ == "__main__":
    main()
