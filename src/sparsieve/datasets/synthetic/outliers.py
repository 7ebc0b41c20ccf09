"""Data of which some samples are spoilt."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_real
from ..dataset import Dataset
from .parts import labelled
from .shared import make_shared_features


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
    return labelled(
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
