"""Make data in which all classes differ on the same few features."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_real
from ..dataset import Dataset
from .parts import balanced, check_sizes, labelled, random_columns, spaced_means


def make_shared_features(
    n_samples: int = 200,
    n_features: int = 500,
    *,
    n_relevant: int = 10,
    n_classes: int = 4,
    signal: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Make data in which all classes differ on the same few features.

    On every relevant feature the class means are equally spaced, in a random order, so that each of
    these features distinguishes every pair of classes; the noise has unit variance.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of X.
    n_relevant : int, default=10
        Number of features that distinguish the classes.
    n_classes : int, default=4
        Number of classes.
    signal : float, default=1.0
        Standard deviation of the class means on a relevant feature.
    random_state : int, RandomState or None
        Seed of the random number generator; an int makes results reproducible.

    Returns
    -------
    dataset : Dataset
        Data set with ``relevant``, the indices of the relevant features.

    See Also
    --------
    sparsieve.datasets.make_class_exclusive : Classes that each have their own features.
    sparsieve.datasets.make_correlated_blocks : Relevant features with noisy copies.

    Examples
    --------
    >>> from sparsieve.datasets import make_shared_features
    >>> data = make_shared_features(60, 100, n_relevant=3, random_state=0)
    >>> data.X.shape, len(data.relevant)
    ((60, 100), 3)
    """
    check_sizes(n_samples, n_features, n_classes, n_relevant=n_relevant)
    check_real("signal", signal, minimum=0)
    rng = check_random_state(random_state)
    X, y = rng.standard_normal((n_samples, n_features)), balanced(n_samples, n_classes, rng)
    relevant = random_columns(n_features, n_relevant, rng)
    X[:, relevant] += signal * spaced_means(n_classes, n_relevant, rng)[y]
    return labelled("shared features", X, y, range(n_classes), relevant=relevant)
