"""Make data in which each class has its own features."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_integer, check_real
from ..dataset import Dataset
from .parts import balanced, check_sizes, labelled, spaced_means


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
    X, y = rng.standard_normal((n_samples, n_features)), balanced(n_samples, n_classes, rng)
    columns = rng.permutation(n_features)[:n_relevant]
    shared = np.sort(columns[:n_shared])
    own = np.sort(columns[n_shared:].reshape(n_classes, n_relevant_per_class), axis=1)
    X[:, shared] += 0.5 * signal * spaced_means(n_classes, n_shared, rng)[y]
    for k in range(n_classes):
        signs = rng.choice([-1.0, 1.0], size=n_relevant_per_class)
        X[np.ix_(y == k, own[k])] += signal * signs
    return labelled(
        "class-exclusive features",
        X,
        y,
        range(n_classes),
        relevant=np.sort(columns),
        relevant_per_class=list(own),
        shared=shared,
    )
