"""Simulated classes whose relevant features are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_integer, check_real
from ..load import Dataset


def make_dataset(title: str, X: Any, y: Any, classes: Any, **truth: Any) -> Dataset:
    """The data with their truth; ``classes`` is None for regression."""
    names = None if classes is None else [str(label) for label in classes]
    description = f"synthetic: {title}"
    return Dataset(name=title, X=X, y=y, class_names=names, description=description, **truth)


def check_sizes(n_samples: int, n_features: int, n_classes: int, **needed: Any) -> None:
    """Refuse sizes that do not fit; ``needed`` names counts of features that must exist."""
    check_integer("n_classes", n_classes, minimum=2)
    check_integer("n_samples", n_samples, minimum=n_classes)
    check_integer("n_features", n_features)
    for name, count in needed.items():
        check_integer(name, count)
        if count > n_features:
            raise ValueError(f"{name} must be at most n_features={n_features}, got {count}")


def draw_balanced_labels(n_samples: int, n_classes: int, rng: np.random.RandomState) -> np.ndarray:
    """Shuffled labels, each class as often as the others give or take one."""
    return rng.permutation(np.arange(n_samples) % n_classes)


def random_columns(n_features: int, count: int, rng: np.random.RandomState) -> np.ndarray:
    """Sorted indices of ``count`` features drawn without replacement."""
    return np.sort(rng.permutation(n_features)[:count])


def spaced_means(n_classes: int, count: int, rng: np.random.RandomState) -> np.ndarray:
    """(n_classes, count): equally spaced levels of unit variance, permuted for each feature."""
    levels = np.arange(n_classes) - (n_classes - 1) / 2.0
    levels /= np.sqrt(np.mean(levels**2))
    order = np.argsort(rng.random_sample((n_classes, count)), axis=0)
    return levels[order]


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
    X, y = (
        rng.standard_normal((n_samples, n_features)),
        draw_balanced_labels(n_samples, n_classes, rng),
    )
    columns = rng.permutation(n_features)[:n_columns].reshape(n_relevant, block_size)
    columns = columns[np.argsort(columns[:, 0])]  # so that the leaders come sorted
    relevant = columns[:, 0]
    X[:, relevant] += signal * spaced_means(n_classes, n_relevant, rng)[y]
    spread = np.sqrt((1.0 + signal**2) * (1.0 - correlation**2))
    for leader, *copies in columns:
        X[:, copies] = correlation * X[:, [leader]] + spread * X[:, copies]
    block = np.full(n_features, -1)
    block[columns] = np.arange(n_relevant)[:, None]
    return make_dataset("correlated blocks", X, y, range(n_classes), relevant=relevant, block=block)


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
    X, y = (
        rng.standard_normal((n_samples, n_features)),
        draw_balanced_labels(n_samples, n_classes, rng),
    )
    relevant = random_columns(n_features, n_relevant, rng)
    X[:, relevant] += signal * spaced_means(n_classes, n_relevant, rng)[y]
    return make_dataset("shared features", X, y, range(n_classes), relevant=relevant)


def make_class_exclusive(
    n_samples: int = 200,
    n_features: int = 500,
    *,
    n_relevant_per_class: int = 5,
    n_shared: int = 0,
    n_classes: int = 4,
    signal: float = 2.0,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Make data in which each class has its own features.

    An exclusive feature of class k is shifted by plus or minus ``signal`` in class k and has mean
    zero in all others. Shared features are those of :func:`make_shared_features`.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of X.
    n_relevant_per_class : int, default=5
        Number of features specific to each class.
    n_shared : int, default=0
        Number of additional features that distinguish all classes.
    n_classes : int, default=4
        Number of classes.
    signal : float, default=2.0
        Shift of an exclusive feature; half of it is the standard deviation of the class means on
        a shared one.
    random_state : int, RandomState or None
        Seed of the random number generator; an int makes results reproducible.

    Returns
    -------
    dataset : Dataset
        Data set with ``relevant_per_class`` (one index array per class), ``shared`` and
        ``relevant`` (their union).

    See Also
    --------
    sparsieve.datasets.make_shared_features : Classes that differ on the same few features.
    sparsieve.ExclusiveL21Selector : Few features, each used for few classes.

    Examples
    --------
    >>> from sparsieve.datasets import make_class_exclusive
    >>> data = make_class_exclusive(n_relevant_per_class=3, n_classes=5, random_state=0)
    >>> len(data.relevant_per_class), len(data.relevant)
    (5, 15)
    """
    check_integer("n_relevant_per_class", n_relevant_per_class)
    check_integer("n_shared", n_shared, minimum=0)
    check_integer("n_classes", n_classes, minimum=2)
    n_relevant = n_classes * n_relevant_per_class + n_shared
    check_sizes(
        n_samples,
        n_features,
        n_classes,
        **{"n_classes * n_relevant_per_class + n_shared": n_relevant},
    )
    check_real("signal", signal, minimum=0)
    rng = check_random_state(random_state)
    X, y = (
        rng.standard_normal((n_samples, n_features)),
        draw_balanced_labels(n_samples, n_classes, rng),
    )
    columns = rng.permutation(n_features)[:n_relevant]
    shared = np.sort(columns[:n_shared])
    own = np.sort(columns[n_shared:].reshape(n_classes, n_relevant_per_class), axis=1)
    X[:, shared] += 0.5 * signal * spaced_means(n_classes, n_shared, rng)[y]
    for k in range(n_classes):
        signs = rng.choice([-1.0, 1.0], size=n_relevant_per_class)
        X[np.ix_(y == k, own[k])] += signal * signs
    return make_dataset(
        "class-exclusive features",
        X,
        y,
        range(n_classes),
        relevant=np.sort(columns),
        relevant_per_class=list(own),
        shared=shared,
    )


def make_minimax_gaussian(
    n_samples: int = 50,
    n_features: int = 1000,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Make the two-class Gaussian data of the l0-MPM paper.

    The class s is -1 or 1 with equal probability. Feature i = 1, ..., 10 is s times a normal
    variable of mean -i and variance 1, as printed there; all others are standard normal.

    Parameters
    ----------
    n_samples : int, default=50
        At least 2; both classes occur.
    n_features : int, default=1000
        At least 10.
    random_state : int, RandomState or None
        Seed of the random number generator; an int makes results reproducible.

    Returns
    -------
    dataset : Dataset
        Data set with ``relevant``, the first ten columns; ``y`` is 0 for s = -1 and 1 for s = 1.

    See Also
    --------
    sparsieve.datasets.make_shared_features : Classes that differ on the same few features.
    sparsieve.L0MPMSelector : Fewest features that reach a given worst-case accuracy.

    Examples
    --------
    >>> from sparsieve.datasets import make_minimax_gaussian
    >>> data = make_minimax_gaussian(random_state=0)
    >>> data.X.shape, data.class_names.tolist()
    ((50, 1000), ['-1', '1'])
    """
    check_integer("n_samples", n_samples, minimum=2)
    check_integer("n_features", n_features, minimum=10)
    rng = check_random_state(random_state)
    y = rng.randint(0, 2, size=n_samples, dtype=np.int64)
    while y.min() == y.max():
        y = rng.randint(0, 2, size=n_samples, dtype=np.int64)
    sign = 2.0 * y[:, None] - 1.0
    X = rng.standard_normal((n_samples, n_features))
    X[:, :10] = sign * (X[:, :10] - np.arange(1.0, 11.0))
    return make_dataset("minimax Gaussian", X, y, ("-1", "1"), relevant=np.arange(10))
