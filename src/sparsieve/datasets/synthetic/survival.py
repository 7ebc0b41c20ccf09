"""Make survival times that depend on a few features."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from sklearn.utils import check_random_state

from ..._checks import check_integer, check_real
from ...validation.survival import as_survival
from ..dataset import Dataset
from .parts import random_columns


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
