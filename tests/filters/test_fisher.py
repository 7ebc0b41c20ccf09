import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.feature_selection import f_classif

from sparsieve import FisherSelector


def test_is_the_f_statistic_up_to_a_factor():
    X, y = load_iris(return_X_y=True)
    scores = FisherSelector().fit(X, y).scores_
    np.testing.assert_allclose(scores * (150 - 3) / (3 - 1), f_classif(X, y)[0], rtol=1e-10)


def test_plain_definition_with_weights(rng):
    X, y, w = rng.standard_normal((30, 5)), rng.integers(0, 3, 30), rng.random(30) + 0.1
    scores = FisherSelector().fit(X, y, sample_weight=w).scores_
    for j in range(5):
        x, mean = X[:, j], np.average(X[:, j], weights=w)
        between = within = 0.0
        for k in range(3):
            part = y == k
            mean_k = np.average(x[part], weights=w[part])
            between += w[part].sum() * (mean_k - mean) ** 2
            within += (w[part] * (x[part] - mean_k) ** 2).sum()
        assert scores[j] == pytest.approx(between / within)


def test_perfect_constant_and_useless_features(rng):
    y = np.arange(20) % 2
    X = np.column_stack([np.full(20, 1e6 + 0.1), y * 2.0, rng.standard_normal(20)])
    fitted = FisherSelector(n_features_to_select=1).fit(X, y)
    assert fitted.support_.tolist() == [False, True, False]
    assert fitted.ranking_[0] == 3
    assert fitted.scores_[1] > 1e12


def test_sparse_is_not_densified(rng):
    X = sparse.random(60, 30, density=0.2, random_state=0, format="csr")
    y = rng.integers(0, 2, 60)
    dense = FisherSelector().fit(X.toarray(), y)
    np.testing.assert_allclose(FisherSelector().fit(X, y).scores_, dense.scores_, rtol=1e-10)


def test_keeps_ten_by_default_and_refuses_regression(rng):
    X = rng.standard_normal((40, 15))
    assert FisherSelector().fit(X, np.arange(40) % 2).support_.sum() == 10
    with pytest.raises(ValueError, match="needs one column of class labels"):
        FisherSelector().fit(X, rng.standard_normal(40))
