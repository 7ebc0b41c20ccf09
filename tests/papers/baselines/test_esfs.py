"""ESFSSelector: thresholded steps that leave the filter's features behind."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif

from sparsieve import ESFSSelector


def coded(X, y):
    """Standardised columns and discriminant codes of the classes, both centred."""
    classes, sizes = np.unique(y, return_counts=True)
    Y = (y[:, None] == classes) / np.sqrt(sizes)
    return (X - X.mean(axis=0)) / X.std(axis=0), Y - Y.mean(axis=0)


def residual(X, y, support):
    """Residual sum of squares of the coded problem after refitting a support."""
    Z, Y = coded(X, y)
    A = Z[:, list(support)]
    return float(((Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]) ** 2).sum())


def filtered(X, y, k):
    return np.argsort(-f_classif(X, y)[0], kind="stable")[:k]


def random_problem(seed):
    """Independent, one-factor and mixed columns, some of which shift with the class."""
    rng = np.random.default_rng(seed)
    n, d, c = int(rng.integers(40, 150)), int(rng.integers(10, 120)), int(rng.integers(2, 5))
    y = np.arange(n) % c
    X = rng.standard_normal((n, d))
    if seed % 3 == 1:
        X += rng.standard_normal((n, 1))
    elif seed % 3 == 2:
        X = X @ (np.eye(d) + 0.5 * rng.standard_normal((d, d)))
    X[:, :6] += rng.standard_normal((c, 6))[y] * rng.uniform(0.3, 1.5)
    return X, y, int(rng.integers(3, min(10, d // 2) + 1))


def exchangeable(X, y, support):
    """Whether one exchange of a feature lowers the residual: the set is not optimal."""
    value = residual(X, y, support)
    others = set(range(X.shape[1])) - set(support.tolist())
    return any(
        residual(X, y, [*np.delete(support, place), j]) < value * (1 - 1e-9)
        for place in range(len(support))
        for j in others
    )


@pytest.mark.slow
def test_thresholding_improves_on_the_filter_where_it_can():
    tried = better = 0
    for seed in itertools.count():
        X, y, k = random_problem(seed)
        start = filtered(X, y, k)
        if not exchangeable(X, y, start):
            continue
        fitted = ESFSSelector(k).fit(X, y)
        value, least = residual(X, y, fitted.get_support(indices=True)), residual(X, y, start)
        assert value <= least * (1 + 1e-9)
        assert fitted.objective_ == pytest.approx(value)
        assert fitted.n_iter_ > 1
        assert fitted.converged_
        assert (np.diff(fitted.history_) <= 1e-9).all()
        tried += 1
        better += value < least * (1 - 1e-6)
        if tried == 20:
            break
    assert better >= 15


@pytest.mark.parametrize("name", ["allaml", "colon", "lung_small"])
@pytest.mark.parametrize("k", [5, 20])
def test_thresholding_improves_on_the_filter_on_real_data(real_data, name, k):
    X, y = real_data(name)
    X = X[:, X.std(axis=0) > 0].astype(float)
    fitted = ESFSSelector(k).fit(X, y)
    least = residual(X, y, filtered(X, y, k))
    assert residual(X, y, fitted.get_support(indices=True)) < 0.9 * least
    assert fitted.n_iter_ > 1


def test_wine_has_its_best_four_features():
    X, y = load_wine(return_X_y=True)
    fitted = ESFSSelector(4).fit(X, y)
    best = min(residual(X, y, S) for S in itertools.combinations(range(13), 4))
    assert fitted.objective_ == pytest.approx(best)
    assert best == pytest.approx(0.408, abs=5e-4)
    assert residual(X, y, filtered(X, y, 4)) == pytest.approx(0.495, abs=5e-4)


def test_scores_are_standardised_coefficients_of_the_features_kept():
    X, y = load_wine(return_X_y=True)
    fitted = ESFSSelector(5).fit(X, y)
    Z, Y = coded(X, y)
    support = fitted.get_support(indices=True)
    W = np.linalg.lstsq(Z[:, support], Y, rcond=None)[0]
    expected = np.linalg.norm(W, axis=1) / np.sqrt((Y**2).sum() / len(Y))
    np.testing.assert_allclose(fitted.scores_[support], expected, rtol=1e-8)
    assert not fitted.scores_[~fitted.support_].any()
    np.testing.assert_allclose(ESFSSelector(5).fit(9 * X + 1, y).scores_, fitted.scores_)
    assert fitted.at(2).support_.sum() == 2
    with pytest.raises(ValueError, match="fit with n_features_to_select >= 6"):
        fitted.at(6)


def test_more_features_than_samples_and_few_iterations(rng, capsys):
    X, y = rng.standard_normal((12, 60)), np.arange(12) % 2
    assert ESFSSelector(40).fit(X, y).objective_ == pytest.approx(0, abs=1e-12)
    with pytest.warns(UserWarning, match="ESFSSelector stopped after 3 iterations"):
        short = ESFSSelector(4, max_iter=3, verbose=1).fit(X, y)
    assert short.n_iter_ == len(short.history_) == 3
    assert "[ESFSSelector] 3: objective" in capsys.readouterr().out
