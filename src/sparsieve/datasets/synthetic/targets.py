"""Simulated targets that are hard: curves, outliers, survival times."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_integer, check_real
from ...validation.survival import as_survival
from ..load import Dataset
from .classes import check_sizes, make_dataset, make_shared_features, random_columns


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
        return make_dataset(title, X, target, None, relevant=relevant)
    y = np.empty(n_samples, dtype=np.int64)
    y[np.argsort(target, kind="stable")] = np.arange(n_samples) >= n_samples // 2
    return make_dataset(title, X, y, range(2), relevant=relevant)


def _steps(inputs: Any, rng: np.random.RandomState) -> np.ndarray:
    """Steps of random place and direction, each centred and of unit variance in the sample."""
    count = inputs.shape[1]
    places, signs = rng.uniform(-0.5, 0.5, size=count), rng.choice([-1.0, 1.0], size=count)
    steps = signs * (inputs > places)
    spread = steps.std(axis=0)
    return (steps - steps.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def make_outliers(
    n_samples: int = 200,
    n_features: int = 500,
    *,
    n_relevant: int = 10,
    n_classes: int = 4,
    signal: float = 1.0,
    row_fraction: float = 0.1,
    label_fraction: float = 0.0,
    magnitude: float = 10.0,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Make data in which some samples are outliers.

    A row outlier has all its features replaced by normal noise of standard deviation
    ``magnitude``; a label outlier has the label of another class. No sample is both.

    Parameters
    ----------
    n_samples, n_features, n_relevant, n_classes : int
        As for :func:`make_shared_features`.
    signal : float, default=1.0
        As for :func:`make_shared_features`.
    row_fraction : float, default=0.1
        Fraction of samples with gross errors in X.
    label_fraction : float, default=0.0
        Fraction of samples with a wrong label.
    magnitude : float, default=10.0
        Size of the gross errors; clean noise has size 1.
    random_state : int, RandomState or None
        Seed of the random number generator; an int makes results reproducible.

    Returns
    -------
    dataset : Dataset
        Data set with ``relevant``, ``row_outlier_mask``, ``label_outlier_mask``, ``outlier_mask``
        (either) and ``y_clean``.

    See Also
    --------
    sparsieve.datasets.make_shared_features : Classes that differ on the same few features.
    sparsieve.RobustL20Selector : Robust regression with few features.

    Examples
    --------
    >>> from sparsieve.datasets import make_outliers
    >>> data = make_outliers(100, row_fraction=0.1, label_fraction=0.05, random_state=0)
    >>> int(data.outlier_mask.sum()), int((data.y != data.y_clean).sum())
    (15, 5)
    """
    check_real("row_fraction", row_fraction, minimum=0, maximum=1)
    check_real("label_fraction", label_fraction, minimum=0, maximum=1)
    if row_fraction + label_fraction > 1:
        raise ValueError(
            f"row_fraction + label_fraction must be at most 1, got {row_fraction + label_fraction}"
        )
    check_real("magnitude", magnitude, minimum=0)
    rng = check_random_state(random_state)
    clean = make_shared_features(
        n_samples,
        n_features,
        n_relevant=n_relevant,
        n_classes=n_classes,
        signal=signal,
        random_state=rng,
    )
    X, y = clean.X, clean.y.copy()
    n_rows, n_labels = round(row_fraction * n_samples), round(label_fraction * n_samples)
    order = rng.permutation(n_samples)
    # rounding both up may ask for one sample more than there is
    rows, labels = order[:n_rows], order[n_rows : n_rows + n_labels]
    X[rows] = magnitude * rng.standard_normal((n_rows, n_features))
    y[labels] = (y[labels] + rng.randint(1, n_classes, size=labels.size)) % n_classes
    row_mask, label_mask = (np.isin(np.arange(n_samples), some) for some in (rows, labels))
    return make_dataset(
        "shared features with outliers",
        X,
        y,
        range(n_classes),
        relevant=clean.relevant,
        outlier_mask=row_mask | label_mask,
        row_outlier_mask=row_mask,
        label_outlier_mask=label_mask,
        y_clean=clean.y,
    )


def make_survival(
    n_samples: int = 200,
    n_features: int = 500,
    *,
    n_relevant: int = 10,
    signal: float = 0.5,
    censored: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Make survival times that depend on a few features, some of them censored.

    The hazard of a sample is constant over time, and its logarithm is a sum of the relevant
    features with the coefficients ``signal`` and ``-signal``. Censoring has nothing to do with the
    features.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of X, which is standard normal.
    n_relevant : int, default=10
        Number of features that the hazard depends on.
    signal : float, default=0.5
        Size of their coefficients.
    censored : float, default=0.5
        Expected share of samples whose event is not observed.
    random_state : int, RandomState or None
        Seed of the random number generator; an int makes results reproducible.

    Returns
    -------
    dataset : Dataset
        Data set with ``relevant``, the indices of the relevant features, and ``coef``, their
        coefficients. ``y`` is a structured array with the fields "event" and "time".

    See Also
    --------
    sparsieve.datasets.make_shared_features : All classes differ on the same few features.
    sparsieve.scoring.concordance_index : Scores predicted risks.

    Examples
    --------
    >>> from sparsieve.datasets import make_survival
    >>> data = make_survival(100, 50, n_relevant=3, random_state=0)
    >>> data.y.dtype.names, int(data.y["event"].sum())
    (('event', 'time'), 47)
    """
    check_integer("n_samples", n_samples, minimum=2)
    check_integer("n_features", n_features)
    check_integer("n_relevant", n_relevant, maximum=n_features)
    check_real("signal", signal, minimum=0)
    check_real("censored", censored, minimum=0)
    if censored >= 1:
        raise ValueError(f"censored must be below 1, got {censored!r}")
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_features))
    relevant = random_columns(n_features, n_relevant, rng)
    coef = signal * rng.choice([-1.0, 1.0], n_relevant)
    hazard = np.exp(X[:, relevant] @ coef)
    time, event = rng.exponential(1.0 / hazard), np.ones(n_samples, dtype=bool)
    if censored > 0:
        # A censoring of rate c comes first with the chance c / (c + hazard).
        scale = brentq(
            lambda s: np.mean(np.exp(s) / (np.exp(s) + hazard)) - censored, -700.0, 700.0
        )
        end = rng.exponential(np.exp(-scale), n_samples)
        time, event = np.minimum(time, end), time <= end
    y = as_survival((time, event))
    return Dataset(name="survival", X=X, y=y, relevant=relevant, coef=coef)
