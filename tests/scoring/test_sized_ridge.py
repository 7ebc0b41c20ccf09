"""Ridge regression whose strength is the number of columns."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from sparsieve.scoring.ridge_path import SizedRidge, ridge_path


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) @ rng.normal(size=(6, 6))
    return X, X[:, 0] + 0.5 * rng.normal(size=80), rng.integers(0, 4, 80).astype(float)


def test_it_is_scikit_learns_with_that_strength_and_weights_are_copies(data):
    X, y, weights = data
    expected = Ridge(alpha=6.0).fit(X, y, weights)
    assert SizedRidge().fit(X, y, weights).coef_ == pytest.approx(expected.coef_)
    copies = np.repeat(np.arange(80), weights.astype(int))
    assert clone(SizedRidge()).fit(X[copies], y[copies]).coef_ == pytest.approx(expected.coef_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_path_is_the_model_at_every_number(data, weighted, n_outputs):
    X, y, weights = data
    Y = y if n_outputs == 1 else np.column_stack([y, X[:, 1]])
    given = {"sample_weight": weights[:60]} if weighted else {}
    found = ridge_path(X[:60], Y[:60], X[60:], [1, 3, 6], alpha=None, is_classes=False, **given)
    for k, (prediction, votes) in zip([1, 3, 6], found, strict=True):
        scaler = StandardScaler().fit(X[:60, :k], sample_weight=given.get("sample_weight"))
        model = Ridge(alpha=float(k)).fit(scaler.transform(X[:60, :k]), Y[:60], **given)
        assert votes is None
        assert prediction == pytest.approx(model.predict(scaler.transform(X[60:, :k])))
