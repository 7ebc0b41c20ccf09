"""The Gaussian set of the l0-MPM paper."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_integer
from ..dataset import Dataset
from .parts import labelled


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
    return labelled("minimax Gaussian", X, y, ("-1", "1"), relevant=np.arange(10))
