"""Targets that no linear model sees, or none sees whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_real
from ..dataset import Dataset
from .parts import check_sizes, labelled, random_columns


def make_nonlinear_additive(
    n_samples: int = 400,
    n_features: int = 200,
    *,
    kind: str = "radial",
    n_relevant: int = 4,
    noise: float = 0.1,
    task: str = "classification",
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Make data with a target that is a sum of non-linear functions of single features.

    Every relevant feature x contributes x squared ("radial", uncorrelated with x itself) or a step
    up or down at a random threshold between -0.5 and 0.5 ("threshold"). Each contribution has unit
    variance. Classes are the halves below and above the median of the sum.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of X.
    kind : {"radial", "threshold"}, default="radial"
        Function of every relevant feature.
    n_relevant : int, default=4
        Number of features in the sum.
    noise : float, default=0.1
        Standard deviation of the noise added to the sum, which is scaled to unit variance.
    task : {"classification", "regression"}, default="classification"
        Whether the target is classes, or the sum itself.
    random_state : int, RandomState or None
        Seed of the random number generator; an int makes results reproducible.

    Returns
    -------
    dataset : Dataset
        Data set with ``relevant``, the indices of the relevant features.

    See Also
    --------
    sparsieve.datasets.make_shared_features : Classes that differ on the same few features.
    sparsieve.HSICLassoSelector : Non-linear selection by one convex problem.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.datasets import make_nonlinear_additive
    >>> data = make_nonlinear_additive(2000, 20, n_relevant=2, random_state=0)
    >>> x = data.X[:, data.relevant[0]]
    >>> bool(abs(np.corrcoef(x, data.y)[0, 1]) < 0.1)
    True
    >>> bool(np.corrcoef(abs(x), data.y)[0, 1] > 0.3)
    True
    """
    check_choice("kind", kind, ("radial", "threshold"))
    check_choice("task", task, ("classification", "regression"))
    check_real("noise", noise, minimum=0)
    check_sizes(n_samples, n_features, 2, n_relevant=n_relevant)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_features))
    relevant = random_columns(n_features, n_relevant, rng)
    inputs = X[:, relevant]
    parts = (inputs**2 - 1.0) / np.sqrt(2.0) if kind == "radial" else _steps(inputs, rng)
    target = parts.sum(axis=1) / np.sqrt(n_relevant) + noise * rng.standard_normal(n_samples)
    title = f"{kind} additive"
    if task == "regression":
        return labelled(title, X, target, None, relevant=relevant)
    y = np.empty(n_samples, dtype=np.int64)
    y[np.argsort(target, kind="stable")] = np.arange(n_samples) >= n_samples // 2
    return labelled(title, X, y, range(2), relevant=relevant)


def _steps(inputs: Any, rng: np.random.RandomState) -> np.ndarray:
    """Steps of random place and direction, each centred and of unit variance in the sample."""
    count = inputs.shape[1]
    places, signs = rng.uniform(-0.5, 0.5, size=count), rng.choice([-1.0, 1.0], size=count)
    steps = signs * (inputs > places)
    spread = steps.std(axis=0)
    return (steps - steps.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
