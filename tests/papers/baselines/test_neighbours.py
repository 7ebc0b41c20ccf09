"""The nearest samples, against a sort of all distances."""

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.papers.baselines import laplacian as neighbours
from sparsieve.papers.baselines.laplacian import nearest_samples


def sorted_distances(X, count):
    """By definition: all squared distances, equal ones in the order of the samples."""
    sizes = (X**2).sum(axis=1)
    squared = np.maximum(sizes[:, None] + sizes - 2.0 * X @ X.T, 0.0)
    grain = 1e-12 * sizes.max()
    if grain > 0:
        squared = grain * np.rint(squared / grain)
    np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :count]
    return order, np.take_along_axis(squared, order, axis=1)


def samples(kind, rng):
    X = {
        "normal": lambda: rng.standard_normal((150, 4)),
        "grid": lambda: rng.integers(0, 3, (120, 3)).astype(float),
        "counts": lambda: rng.poisson(3.0, (150, 5)).astype(float),
        "equal": lambda: np.ones((40, 2)),
        "copies": lambda: np.repeat(rng.standard_normal((40, 3)), 4, axis=0),
        "wide": lambda: rng.standard_normal((30, 60)),
    }[kind]()
    return X - X.mean(axis=0)


@pytest.mark.parametrize("many", [10, 5000])
@pytest.mark.parametrize("kind", ["normal", "grid", "counts", "equal", "copies", "wide"])
def test_blocks_and_search_trees_find_what_sorting_finds(rng, monkeypatch, kind, many):
    monkeypatch.setattr(neighbours, "TREE_MIN_SAMPLES", many)  # beyond it a tree is asked first
    monkeypatch.setattr(neighbours, "BLOCK_BYTES", 1 << 14)
    X = samples(kind, rng)
    for count in (1, 5, len(X) - 1):
        found, distances = nearest_samples(as_design(X), count)
        expected, squared = sorted_distances(X, count)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(distances, squared, rtol=1e-9, atol=1e-10)
