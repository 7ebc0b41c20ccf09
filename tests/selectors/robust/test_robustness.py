"""Spoilt samples: selectors with an l2,1 loss find more true features than squared-loss ones."""

import numpy as np
import pytest

from sparsieve import RFSSelector, RidgeForwardSelector, RobustL20Selector, RPMFSSelector
from sparsieve.datasets.synthetic.targets import make_outliers


def spoilt_regression(seed, n=80, d=120, k=8):
    """Every fifth sample has a target that has nothing to do with X."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    relevant = np.sort(rng.permutation(d)[:k])
    Y = X[:, relevant] @ rng.standard_normal((k, 3)) + rng.standard_normal((n, 3))
    Y[: n // 5] = 15.0 * rng.standard_normal((n // 5, 3))
    return X, Y, relevant


def flipped_labels(seed):
    """Two classes far apart, every fifth label wrong."""
    data = make_outliers(
        80,
        300,
        n_classes=2,
        signal=2.0,
        row_fraction=0.0,
        label_fraction=0.2,
        random_state=seed,
    )
    return data.X, data.y, data.relevant


def found(selector, make, seed):
    X, y, relevant = make(seed)
    kept = selector.set_params(n_features_to_select=len(relevant)).fit(X, y).support_
    return int(kept[relevant].sum())


def standard_errors_ahead(robust, plain, make, seeds):
    """Mean difference in true features found, in standard errors of that mean."""
    difference = np.array([found(robust, make, seed) - found(plain, make, seed) for seed in seeds])
    return difference.mean() / (difference.std(ddof=1) / np.sqrt(len(difference)))


SQUARED = [RidgeForwardSelector(), RidgeForwardSelector(ridge=0.0, clip=None)]
CASES = [
    (RFSSelector(), spoilt_regression),
    (RobustL20Selector(), spoilt_regression),
    (RPMFSSelector(), spoilt_regression),
    (RFSSelector(), flipped_labels),
    (RobustL20Selector(), flipped_labels),
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("robust", "make"), CASES, ids=lambda case: getattr(case, "__name__", None)
)
def test_more_true_features_quickly(robust, make):
    assert standard_errors_ahead(robust, SQUARED[0], make, range(6)) > 2


@pytest.mark.slow
@pytest.mark.parametrize("plain", SQUARED)
@pytest.mark.parametrize(
    ("robust", "make"), CASES, ids=lambda case: getattr(case, "__name__", None)
)
def test_more_true_features_over_twenty_seeds(robust, make, plain):
    assert standard_errors_ahead(robust, plain, make, range(20)) > 2
