"""Relevant features hidden among correlated copies."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_integer, check_real
from ..dataset import Dataset
from .parts import balanced, check_sizes, labelled, spaced_means


def make_correlated_blocks(
    n_samples: int = 200,
    n_features: int = 500,
    *,
    n_relevant: int = 5,
    block_size: int = 10,
    correlation: float = 0.9,
    n_classes: int = 2,
    signal: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Make data in which every relevant feature has a block of noisy copies.

    A copy has the same variance as its relevant feature and the given correlation with it, and is
    related to the classes only through that feature.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of X.
    n_relevant : int, default=5
        Number of blocks.
    block_size : int, default=10
        Number of columns per block: the relevant feature and its copies.
    correlation : float, default=0.9
        Correlation between a relevant feature and a copy, from 0 to 1.
    n_classes : int, default=2
        Number of classes.
    signal : float, default=1.0
        Standard deviation of the class means on a relevant feature.
    random_state : int, RandomState or None
        Seed of the random number generator; an int makes results reproducible.

    Returns
    -------
    dataset : Dataset
        Data set with ``relevant`` and ``block``: for each feature the number of its block, -1 for
        none; ``relevant[b]`` is the relevant feature of block b.

    See Also
    --------
    sparsieve.datasets.make_shared_features : Classes that differ on the same few features.
    sparsieve.StabilitySelection : Keeps features that are selected on most random halves of the
        samples.

    Examples
    --------
    >>> from sparsieve.datasets import make_correlated_blocks
    >>> data = make_correlated_blocks(n_relevant=3, block_size=4, random_state=0)
    >>> data.block[data.relevant].tolist(), int((data.block == 0).sum())
    ([0, 1, 2], 4)
    """
    check_integer("n_relevant", n_relevant)
    check_integer("block_size", block_size)
    n_columns = n_relevant * block_size
    check_sizes(n_samples, n_features, n_classes, **{"n_relevant * block_size": n_columns})
    check_real("correlation", correlation, minimum=0, maximum=1)
    check_real("signal", signal, minimum=0)
    rng = check_random_state(random_state)
    X, y = rng.standard_normal((n_samples, n_features)), balanced(n_samples, n_classes, rng)
    columns = rng.permutation(n_features)[:n_columns].reshape(n_relevant, block_size)
    columns = columns[np.argsort(columns[:, 0])]  # so that the leaders come sorted
    relevant = columns[:, 0]
    X[:, relevant] += signal * spaced_means(n_classes, n_relevant, rng)[y]
    spread = np.sqrt((1.0 + signal**2) * (1.0 - correlation**2))
    for leader, *copies in columns:
        X[:, copies] = correlation * X[:, [leader]] + spread * X[:, copies]
    block = np.full(n_features, -1)
    block[columns] = np.arange(n_relevant)[:, None]
    return labelled("correlated blocks", X, y, range(n_classes), relevant=relevant, block=block)
