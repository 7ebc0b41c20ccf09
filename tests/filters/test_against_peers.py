"""The same answers as other packages, where those are installed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsieve import MRMRSelector, ReliefFSelector


def make(seed, n=60, d=25, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d))
    X[:, :5] += rng.normal(size=(classes, 5))[y]
    return X, y


@pytest.mark.parametrize("seed", range(3))
def test_mrmr_selection(seed):
    mrmr = pytest.importorskip("mrmr")
    pd = pytest.importorskip("pandas")
    X, y = make(seed)
    options = {"n_jobs": 1, "show_progress": False}
    theirs = mrmr.mrmr_classif(pd.DataFrame(X), pd.Series(y), 15, **options)
    assert_array_equal(MRMRSelector(15).fit(X, y).path_.features, theirs)
    target = X[:, 0] + X[:, 7] - 0.5 * X[:, 9]
    theirs = mrmr.mrmr_regression(pd.DataFrame(X), pd.Series(target), 15, **options)
    assert_array_equal(MRMRSelector(15).fit(X, target).path_.features, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_fast_select(seed):
    fast_select = pytest.importorskip("fast_select")
    X, y = make(seed, n=120)
    peer = fast_select.ReliefF(n_neighbors=7, n_features_to_select=5, backend="cpu", n_jobs=1)
    theirs = peer.fit(X, y).feature_importances_
    assert_allclose(ReliefFSelector(n_neighbors=7).fit(X, y).scores_, theirs, atol=1e-5)
