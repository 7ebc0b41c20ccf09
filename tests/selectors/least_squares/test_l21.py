import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning

from sparsieve import L21Selector


def certified(X, Y, alpha, intercept, weights=None):
    root = np.ones(len(X)) if weights is None else np.sqrt(weights)
    W = cp.Variable((X.shape[1], Y.shape[1]))
    b = cp.Variable((1, Y.shape[1])) if intercept else np.zeros((1, Y.shape[1]))
    residual = cp.multiply(root[:, None], X @ W + np.ones((len(X), 1)) @ b - Y)
    objective = cp.sum_squares(residual) + alpha * cp.sum(cp.norm(W, 2, axis=1))
    return cp.Problem(cp.Minimize(objective)).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n", "d"), [(20, 45), (60, 12)])
def test_objective_is_optimal_for_the_data_given(n, d, weighted, intercept, rng):
    X, y = rng.standard_normal((n, d)) + 1.0, rng.integers(0, 3, n)
    X[:, 0] += y
    weights = rng.random(n) + 0.5 if weighted else None
    selector = L21Selector(alpha=6.0, fit_intercept=intercept, standardize=False, tol=1e-9)
    selector.fit(X, y, sample_weight=weights)
    Y = np.eye(3)[y]
    assert selector.objective_ == pytest.approx(certified(X, Y, 6.0, intercept, weights), rel=1e-6)
    W = selector.coef_.T
    w = np.ones(n) if weights is None else weights
    value = (w[:, None] * (X @ W + selector.intercept_ - Y) ** 2).sum()
    value += 6.0 * np.linalg.norm(W, axis=1).sum()
    assert selector.objective_ == pytest.approx(value, rel=1e-8)


def test_float32_reaches_1e_4(rng):
    X, y = rng.standard_normal((25, 60)), rng.integers(0, 2, 25)
    selector = L21Selector(alpha=3.0, fit_intercept=False, standardize=False)
    selector.fit(X.astype(np.float32), y)
    optimum = certified(X, np.eye(2)[y], 3.0, False)
    assert selector.objective_ == pytest.approx(optimum, rel=1e-4)
    assert selector.coef_.dtype == np.float32


def test_scores_are_standardised_coefficients():
    X, y = load_wine(return_X_y=True)
    selector = L21Selector(alpha=60.0).fit(X, y)
    target = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    spread = np.sqrt((target**2).sum() / len(y))
    norms = np.linalg.norm(selector.coef_ * X.std(axis=0), axis=0) / spread
    np.testing.assert_allclose(selector.scores_, norms, atol=1e-10)
    assert selector.support_.sum() == (norms > 0).sum()
    assert selector.optimality_ <= 1e-6
    # They do not depend on units.
    other = L21Selector(alpha=60.0 * 1e3).fit(1e-4 * X, 1e3 * target, sample_weight=None)
    np.testing.assert_allclose(other.scores_, norms, atol=1e-6)


def test_order_of_entry_follows_the_strengths():
    X, y = load_digits(return_X_y=True)
    selector = L21Selector(n_features_to_select=15).fit(X, y)
    entry = selector.path_.strength
    assert len(selector.path_) >= 15
    assert (np.diff(entry) <= 0).all()
    np.testing.assert_allclose(selector.scores_[selector.path_.features], entry[1:] / entry[0])
    assert selector.ranking_[selector.path_.features].tolist() == [
        *range(1, len(selector.path_) + 1)
    ]
    # A feature is active just below its strength of entry and not well above it.
    for feature, strength in zip(selector.path_.features[:6], entry[1:], strict=False):
        below = L21Selector(alpha=0.85 * strength).fit(X, y)
        above = L21Selector(alpha=1.12 * strength).fit(X, y)
        assert below.scores_[feature] > 0
        assert above.scores_[feature] == 0


def test_asking_for_more_features_than_can_enter():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((10, 80)), np.arange(10) % 2
    selector = L21Selector(n_features_to_select=60).fit(X, y)
    assert selector.support_.sum() == 60


def test_public_path(rng):
    X, y = rng.standard_normal((40, 60)), rng.integers(0, 3, 40)
    path = L21Selector().path(X, y, n_alphas=20)
    assert len(path) == 20
    assert path.strength[-1] == pytest.approx(0.01 * path.strength[0])
    assert path.n_features[0] == path.coefs[0].nnz == 0
    assert path.n_features[-1] > 20
    assert max(path.optimality) <= 1e-6
    alone = L21Selector(alpha=path.strength[12]).fit(X, y)
    assert path.objective[12] == pytest.approx(alone.objective_, rel=1e-5)
    np.testing.assert_allclose(path.coefs[12].toarray(), alone.coef_, atol=1e-3)
    with pytest.raises(ValueError, match="decreasing order"):
        L21Selector().path(X, y, alphas=[1.0, 2.0])
    with pytest.raises(ValueError, match="positive"):
        L21Selector().path(X, y, alphas=[1.0, -2.0])


def test_not_converging_warns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 60))
    X += 0.1 * rng.standard_normal((30, 60))
    y = rng.integers(0, 3, 30)
    with pytest.warns(ConvergenceWarning, match="after 5 iterations"):
        L21Selector(alpha=0.01, max_iter=5, tol=1e-12).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        L21Selector(alpha=1.0).fit(X, y)


def test_a_feature_is_used_for_all_outputs_or_none(rng):
    X = rng.standard_normal((50, 20))
    Y = X[:, :3] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((50, 4))
    coef = L21Selector(alpha=20.0).fit(X, Y).coef_
    assert coef.shape == (4, 20)
    used = coef.any(axis=0)
    assert used[:3].all()
    assert (coef[:, used] != 0).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha must be positive, got -1.0"),
        ({"alpha": 0}, "alpha must be positive, got 0"),
        ({"alpha": "big"}, "alpha must be a real number"),
        ({"tol": 0}, "tol must be positive"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"max_iter": 1.5}, "max_iter must be an integer"),
        ({"standardize": 1}, "standardize must be True or False"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        L21Selector(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_class_weight(rng):
    X, y = rng.standard_normal((40, 8)), (np.arange(40) < 8).astype(int)
    balanced = L21Selector(alpha=2.0, class_weight="balanced").fit(X, y)
    by_hand = L21Selector(alpha=2.0).fit(X, y, sample_weight=np.where(y == 1, 2.5, 0.625))
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="class_weight needs class labels"):
        L21Selector(class_weight="balanced").fit(X, X[:, 0])


def test_verbose_shows_progress(rng, capsys):
    X, y = rng.standard_normal((40, 8)), rng.integers(0, 2, 40)
    L21Selector(alpha=2.0, verbose=1).fit(X, y)
    assert "objective" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["allaml", "warppie10p"])
def test_real_data_reaches_its_gap(name, real_data):
    X, y = real_data(name)
    assert L21Selector().fit(X, y).optimality_ <= 1e-6


def random_set(seed):
    """Correlated features, of which some come and go, and a number to keep."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 200))
    X += 0.5 * rng.standard_normal((40, 200))
    y, count = rng.integers(0, 3, 40), int(rng.integers(3, 25))
    return X, y, count, rng.permutation(200)


@pytest.mark.slow
def test_the_order_of_columns_does_not_matter():
    # A row that is nonzero in passing must not count as entered.
    for seed in range(100):
        X, y, count, order = random_set(seed)
        plain = L21Selector(count).fit(X, y)
        other = L21Selector(count).fit(X[:, order], y)
        assert plain.path_.features.tolist() == order[other.path_.features].tolist(), seed
        assert set(order[other.get_support(indices=True)]) == set(plain.get_support(indices=True))


def test_rows_that_entered_are_those_of_a_sharper_solution():
    for seed in range(10):
        X, y, count, _ = random_set(seed)
        loose, sharp = (L21Selector(count, tol=tol).fit(X, y) for tol in (1e-6, 1e-11))
        assert loose.path_.features.tolist() == sharp.path_.features.tolist()


def test_scores_compare_across_numbers_of_features_and_data(rng):
    X, y = rng.standard_normal((120, 30)), np.arange(120) % 3
    X[np.arange(120), y] += 2.0
    three, six = L21Selector(3).fit(X, y), L21Selector(6).fit(X, y)
    first = three.path_.features[:3]
    assert set(first) == {0, 1, 2}
    np.testing.assert_array_equal(six.path_.features[:3], first)
    np.testing.assert_allclose(six.scores_[first], three.scores_[first], rtol=1e-9)
    assert six.scores_.max() == pytest.approx(1.0)
    # Features left out score lower than any that entered.
    left = np.setdiff1d(np.arange(30), six.path_.features)
    assert six.scores_[left].max() < six.scores_[six.path_.features].min()
    # At a given strength noise has small coefficients and signal has not.
    share = L21Selector(alpha=0.5 * three.path_.strength[0])
    assert share.fit(X, y).scores_[:3].min() > 0.1
    assert "standardised" in share.score_meaning
    noise = rng.permutation(y)
    assert share.fit(X, noise).scores_.max() < 0.1
    assert "entered" in three.score_meaning
    # Units of y do not matter, nor do those of X.
    other = L21Selector(6, task="regression").fit(X * 1e-3, 1e4 * np.eye(3)[y])
    np.testing.assert_allclose(other.scores_, six.scores_, rtol=1e-6)


def test_at_goes_no_further_than_the_path(rng):
    X, y = rng.standard_normal((60, 40)), np.arange(60) % 3
    selector = L21Selector(5).fit(X, y)
    entered = len(selector.path_)
    assert selector.at(entered).support_.sum() == entered
    with pytest.raises(ValueError, match=f"fit with n_features_to_select >= {entered + 1}"):
        selector.at(entered + 1)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_targets_that_cannot_be_squared_are_refused_in_words(rng, factor):
    X, y = rng.standard_normal((30, 8)), factor * rng.standard_normal(30)
    for selector in (L21Selector(3), L21Selector(alpha=1.0)):
        with pytest.raises(ValueError, match="y holds"):
            selector.fit(X, y)
    with pytest.raises(ValueError, match="y holds"):
        L21Selector().path(X, y)


def test_weights_that_cannot_be_squared_are_refused_in_words(rng):
    X, y = rng.standard_normal((30, 8)), np.arange(30) % 2
    for selector in (L21Selector(3), L21Selector()):
        with pytest.raises(ValueError, match="sample_weight holds"):
            selector.fit(X, y, sample_weight=np.full(30, 1e200))


@pytest.mark.parametrize("seed", [0, 25])
def test_the_nonzero_rows_are_those_of_the_optimum(seed):
    """Where they are the selection, a gap that cannot tell which they are is not enough."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 40)
    X = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 90)) + rng.normal(size=(40, 90))
    X += 0.5 * rng.normal(size=(3, 90))[y]
    exact = L21Selector(tol=1e-13).fit(X, y)
    np.testing.assert_array_equal(L21Selector().fit(X, y).support_, exact.support_)
