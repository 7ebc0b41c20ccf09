from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from sparsieve import RidgeForwardSelector, load, save


def published_steps(X, y, k, ridge=1.0, clip=3.0):
    """The algorithm written down step by step, dense and plain."""
    n = len(X)
    X = X - X.mean(axis=0)
    X = X[:, X.std(axis=0) > 0]
    X = np.clip(X / X.std(axis=0), -clip, clip)
    X = X - X.mean(axis=0)
    X = X / X.std(axis=0)
    classes, sizes = np.unique(y, return_counts=True)
    Y = (y[:, None] == classes) / sizes**0.25
    Y = Y - Y.mean(axis=0)
    lam = ridge * n
    C, nu, R = X.T @ Y, np.full(X.shape[1], float(n)), Y.copy()
    chosen, vs, ws, gains = [], [], [], []
    for _ in range(k):
        score = (C**2).sum(axis=1) / (lam + nu)
        score[chosen] = -1
        j = int(np.argmax(score))
        gains.append(score[j])
        v = X[:, j].copy()
        for w_s, v_s in zip(ws, vs, strict=True):
            v = v - w_s * v_s * (v_s @ X[:, j])
        w = 1 / (lam + X[:, j] @ v)
        p, r = X.T @ v, X[:, j] @ R
        C -= w * np.outer(p, r)
        nu -= w * p * p
        R -= w * np.outer(v, r)
        chosen.append(j)
        vs.append(v)
        ws.append(w)
    return chosen, gains


@pytest.mark.parametrize("ridge", [1.0, "auto"])
@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_equals_the_published_steps(load, ridge):
    X, y = load(return_X_y=True)
    X = X[:, X.std(axis=0) > 0]
    strength = X.shape[1] / (3 * X.shape[0]) if ridge == "auto" else ridge
    order, gains = published_steps(X, y, 12, ridge=strength)
    selector = RidgeForwardSelector(12, max_correlation=None, ridge=ridge).fit(X, y)
    assert selector.path_.features.tolist() == order
    np.testing.assert_allclose(selector.gains_, gains, rtol=1e-8)


def test_coefficients_minimise_the_stated_objective(rng):
    X, y = rng.standard_normal((50, 20)), rng.integers(0, 3, 50)
    selector = RidgeForwardSelector(6, ridge=0.5, fit_intercept=False, standardize=False).fit(X, y)
    Y = np.eye(3)[y]
    S = selector.get_support(indices=True)
    W = np.linalg.solve(X[:, S].T @ X[:, S] + 25 * np.eye(6), X[:, S].T @ Y)
    np.testing.assert_allclose(selector.coef_[:, S].T, W, atol=1e-10)
    assert not np.delete(selector.coef_, S, axis=1).any()
    value = ((X[:, S] @ W - Y) ** 2).sum() + 25 * (W**2).sum()
    assert selector.objective_ == pytest.approx(value, rel=1e-10)


def test_at_refits_the_coefficients():
    X, y = load_breast_cancer(return_X_y=True)
    long, short = RidgeForwardSelector(10).fit(X, y), RidgeForwardSelector(4).fit(X, y)
    np.testing.assert_allclose(long.at(4).coef_, short.coef_, atol=1e-10)
    np.testing.assert_array_equal(long.at(4).support_, short.support_)
    assert long.at(4).objective_ == pytest.approx(short.objective_)


def test_prediction_in_user_units():
    X, y = load_diabetes(return_X_y=True)
    selector = RidgeForwardSelector(5, ridge=1e-6, clip=None, task="regression")
    selector.fit(X * 3 + 7, y)
    prediction = (X * 3 + 7) @ selector.coef_.T + selector.intercept_
    assert np.corrcoef(prediction[:, 0], y)[0, 1] > 0.7
    assert prediction.mean() == pytest.approx(y.mean())


def test_repeated_rows_count_like_weights(rng):
    X, y = rng.standard_normal((30, 10)), rng.integers(0, 3, 30)
    weights = rng.integers(0, 4, 30)
    weighted = RidgeForwardSelector(5).fit(X, y, sample_weight=weights)
    repeated = RidgeForwardSelector(5).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)


def test_sparse_equals_dense_also_with_clipping(rng):
    X = rng.poisson(0.3, (80, 40)).astype(float)
    X[0, 0] = 50.0
    y = rng.integers(0, 2, 80)
    dense = RidgeForwardSelector(8).fit(X, y)
    other = RidgeForwardSelector(8).fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.ranking_[dense.support_], other.ranking_[dense.support_])
    np.testing.assert_allclose(dense.gains_, other.gains_, rtol=1e-8)


def test_multi_output_regression_and_multilabel(rng):
    X = rng.standard_normal((60, 15))
    Y = X[:, [2, 7]] @ rng.standard_normal((2, 3)) + 0.1 * rng.standard_normal((60, 3))
    assert set(RidgeForwardSelector(2).fit(X, Y).get_support(indices=True)) == {2, 7}
    assert RidgeForwardSelector(2).fit(X, (Y > 0).astype(int)).coef_.shape == (3, 15)


def test_without_a_number_it_stops_at_noise():
    rng = np.random.default_rng(3)
    y = np.arange(120) % 3
    X = rng.standard_normal((120, 500))
    X[:, 10] += 2.0 * (y == 0)
    X[:, 20] += 2.0 * (y == 1)
    kept = RidgeForwardSelector().fit(X, y).get_support(indices=True)
    assert {10, 20} <= set(kept)
    assert len(kept) <= 4


def test_without_a_number_it_goes_on_where_many_features_share_the_signal():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 300)) + 0.8 * (y - 0.5)[:, None]
    dense = RidgeForwardSelector().fit(X, y)
    assert 40 < dense.support_.sum() < 80
    assert dense.scores_[dense.support_].min() >= 0.002
    shuffled = [RidgeForwardSelector().fit(X, rng.permutation(y)).support_.sum() for _ in range(9)]
    assert np.median(shuffled) <= 3
    weights = np.repeat([1, 2], 40)
    weighted = RidgeForwardSelector().fit(X, y, sample_weight=weights)
    repeated = RidgeForwardSelector().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.support_, repeated.support_)


def test_k_may_exceed_the_number_of_samples(rng):
    X, y = rng.standard_normal((12, 60)), np.arange(12) % 2
    selector = RidgeForwardSelector(40).fit(X, y)
    assert selector.support_.sum() == 40
    assert len(selector.path_) == 40


def test_class_balance_and_verbose(rng, capsys):
    X, y = rng.standard_normal((40, 6)), (np.arange(40) < 5).astype(int)
    even = RidgeForwardSelector(3, class_balance=0.0).fit(X, y)
    balanced = RidgeForwardSelector(3, class_balance=0.5, verbose=1).fit(X, y)
    assert even.gains_[0] != balanced.gains_[0]
    printed = capsys.readouterr().out
    assert "[RidgeForwardSelector] 3: objective" in printed
    assert "3 features, feature" in printed


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": -1.0}, "ridge must be at least 0, got -1.0"),
        ({"clip": 0}, "clip must be positive, got 0"),
        ({"clip": 2.0, "standardize": False}, "needs standardize=True"),
        ({"class_balance": -0.1}, "class_balance must be at least 0"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
        ({"task": "rank"}, "task must be one of"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RidgeForwardSelector(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_real_data(real_data):
    X, y = real_data("allaml")
    selector = RidgeForwardSelector(50).fit(X, y)
    assert len(selector.path_) == 50
    assert (np.diff(selector.path_.objective) < 0).all()


@pytest.mark.parametrize("ridge", [0.0, 0.3, 1.0])
def test_scores_are_shares_of_the_target_at_entry(rng, ridge):
    X, y = rng.standard_normal((80, 10)), rng.integers(0, 3, 80)
    X[:, 4] += y
    X[:, 7] += y == 1
    options = {"clip": None, "class_balance": 0.0, "ridge": ridge}
    selector = RidgeForwardSelector(4, **options).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)

    def objective(S):
        W = np.linalg.solve(Z[:, S].T @ Z[:, S] + ridge * 80 * np.eye(len(S)), Z[:, S].T @ Y)
        return ((Z[:, S] @ W - Y) ** 2).sum() + ridge * 80 * (W**2).sum()

    order = selector.path_.features.tolist()
    np.testing.assert_array_equal(np.argsort(selector.ranking_)[:4], order)
    for t, j in enumerate(order):
        gain = objective(order[:t]) - objective(order[: t + 1])
        assert selector.scores_[j] == pytest.approx((1 + ridge) * gain / (Y**2).sum())
    for j in set(range(10)) - set(order):
        gain = objective(order) - objective([*order, j])
        assert selector.scores_[j] == pytest.approx((1 + ridge) * gain / (Y**2).sum())
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)][4:]) <= 0).all()


@pytest.mark.parametrize("ridge", [0.0, 1.0, 100.0])
def test_a_copy_of_the_target_scores_one_and_noise_scores_like_noise(rng, ridge):
    X = rng.standard_normal((200, 30))
    y = rng.uniform(-1, 1, 200)
    noise = RidgeForwardSelector(5, ridge=ridge).fit(X, y).scores_
    assert 0 < noise.mean() < 2 / 200
    assert noise.max() < 0.1
    X[:, 12] = 7 - 3 * y
    scores = RidgeForwardSelector(1, ridge=ridge).fit(X, y).scores_
    assert scores[12] == pytest.approx(1.0)
    assert np.delete(scores, 12).max() < 0.1
    labels = np.arange(200) % 2
    X[:, 12] = labels
    assert RidgeForwardSelector(1, ridge=ridge).fit(X, labels).scores_[12] == pytest.approx(1.0)


def test_scores_depend_neither_on_the_number_of_features_nor_on_units(rng):
    X = rng.standard_normal((100, 20))
    y = X[:, :4] @ np.array([3.0, 2.0, 1.5, 1.0]) + rng.standard_normal(100)
    few, more = RidgeForwardSelector(3).fit(X, y), RidgeForwardSelector(6).fit(X, y)
    first = few.path_.features
    np.testing.assert_array_equal(few.scores_[first], more.scores_[first])
    np.testing.assert_array_equal(few.ranking_[first], more.ranking_[first])
    other = RidgeForwardSelector(3).fit(1000 * X + 5, y / 1000)
    np.testing.assert_allclose(few.scores_, other.scores_, rtol=1e-8)


def test_at_goes_as_far_as_the_path_and_says_so_beyond(rng):
    X, y = rng.standard_normal((40, 12)), np.arange(40) % 2
    selector = RidgeForwardSelector(5).fit(X, y)
    assert selector.at(5).support_.sum() == 5
    with pytest.raises(ValueError, match="fit with n_features_to_select >= 6"):
        selector.at(6)
    kept = RidgeForwardSelector(5, always_keep=[0, 3]).fit(X, y)
    assert kept.at(3).support_.sum() == 3
    with pytest.raises(ValueError, match="fit with n_features_to_select >= 6"):
        kept.at(6)


def test_how_the_fit_went_is_told_in_the_units_of_the_objective(rng):
    X, y = rng.standard_normal((60, 9)), np.arange(60) % 3
    selector = RidgeForwardSelector(5).fit(X, y)
    assert selector.converged_
    assert selector.optimality_ == 0
    assert selector.n_iter_ == 5
    assert selector.history_ == selector.path_.objective[1:].tolist()
    for k in range(1, 6):
        assert selector.at(k).objective_ == selector.path_.objective[k]


@pytest.mark.parametrize("parameter", ["ridge", "clip", "class_balance"])
def test_a_whole_number_beyond_all_floats_is_refused_in_words(rng, parameter):
    X, y = rng.standard_normal((20, 5)), np.arange(20) % 2
    with pytest.raises(ValueError, match=f"{parameter} must be a real number, got a whole number"):
        RidgeForwardSelector(2, **{parameter: 10**400}).fit(X, y)


def test_class_balance_is_a_small_power(rng):
    X, y = rng.standard_normal((20, 5)), np.arange(20) % 2
    with pytest.raises(ValueError, match="class_balance must be at most 10, got 1000"):
        RidgeForwardSelector(2, class_balance=10**30).fit(X, y)
    assert np.isfinite(RidgeForwardSelector(2, class_balance=10).fit(X, y).scores_).all()


@pytest.fixture
def patients(rng):
    """120 rows of 40 patients, 30 columns of which two matter."""
    X = rng.standard_normal((120, 30))
    y = X[:, 0] - X[:, 3] + rng.standard_normal(120)
    return X, y, np.repeat(np.arange(40), 3)


def test_the_ridge_fades_with_samples_as_documented(patients):
    X, y, people = patients
    weights = np.arange(120) % 3 + 1.0  # 240 in all
    found = RidgeForwardSelector(3).fit(X, y)
    assert found.ridge_ == pytest.approx(30 / (3 * 120))
    found.fit(X, y, sample_weight=weights)
    assert found.ridge_ == pytest.approx(30 / (3 * 240))
    found.fit(X, y, groups=people)
    assert found.ridge_ == pytest.approx(30 / (3 * 40))
    found.fit(X, y, sample_weight=weights, groups=people)  # a patient weighs 6 instead of 3
    assert found.ridge_ == pytest.approx(30 / (3 * 80))
    found.fit(X, y)  # nothing is left of the groups
    assert found.ridge_ == pytest.approx(30 / (3 * 120))
    # Samples that weigh nothing are not there, and neither are patients who have no others.
    without = np.where(people < 10, 0.0, 1.0)
    found.fit(X, y, sample_weight=without, groups=people)
    assert found.ridge_ == pytest.approx(30 / (3 * 30))


def test_the_ridge_counts_the_columns_that_are_open(patients):
    X, y, _ = patients
    decided = {"always_keep": [5, 9], "never_keep": [1, 2, 8]}
    assert RidgeForwardSelector(4, **decided).fit(X, y).ridge_ == pytest.approx(25 / (3 * 120))
    fewer = RidgeForwardSelector(4, never_keep=list(range(10, 30))).fit(X, y)
    alone = RidgeForwardSelector(4).fit(X[:, :10], y)
    assert fewer.ridge_ == alone.ridge_ == pytest.approx(10 / (3 * 120))
    np.testing.assert_allclose(fewer.coef_[:, :10], alone.coef_, atol=1e-12)
    in_groups = RidgeForwardSelector(3, feature_groups=np.repeat(np.arange(10), 3)).fit(X, y)
    assert in_groups.ridge_ == pytest.approx(30 / (3 * 120))  # columns, not groups of them


def test_the_ridge_is_exactly_one_where_samples_are_few(patients):
    X, y, people = patients
    for n in (6, 9, 10):
        assert RidgeForwardSelector(3).fit(X[:n], y[:n]).ridge_ == 1.0
    assert RidgeForwardSelector(3).fit(X[:11], y[:11]).ridge_ == pytest.approx(30 / 33)
    by_patient = RidgeForwardSelector(3).fit(X[:30], y[:30], groups=people[:30])
    assert by_patient.ridge_ == 1.0
    given = RidgeForwardSelector(3, ridge=1.0).fit(X[:30], y[:30])
    np.testing.assert_array_equal(by_patient.coef_, given.coef_)
    np.testing.assert_array_equal(by_patient.scores_, given.scores_)
    assert by_patient.objective_ == given.objective_


@pytest.mark.parametrize("ridge", [0.0, 0.3, 2])
def test_a_given_ridge_is_the_one_that_counts(patients, ridge):
    X, y, people = patients
    selector = RidgeForwardSelector(3, ridge=ridge).fit(X, y, groups=people)
    assert selector.ridge_ == ridge
    plain = RidgeForwardSelector(3, ridge=ridge).fit(X, y)
    np.testing.assert_array_equal(selector.coef_, plain.coef_)


def test_an_automatic_ridge_is_the_same_fit_as_its_value(patients):
    X, y, people = patients
    labels = np.digitize(y, [-1.0, 1.0])
    for target in (y, labels):
        for groups in (None, people):
            found = RidgeForwardSelector(5).fit(X, target, groups=groups)
            other = RidgeForwardSelector(5, ridge=found.ridge_).fit(X, target)
            for name in ("ranking_", "scores_", "coef_", "gains_"):
                np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
            assert found.at(2).ridge_ == found.ridge_
            assert found.at(2).objective_ == other.at(2).objective_


def test_a_proof_after_a_fit_with_groups_is_about_the_ridge_of_the_fit(patients, tmp_path):
    X, y, people = patients
    X = X[:, :8]
    selector = RidgeForwardSelector(4, clip=None).fit(X, y, groups=people)
    assert selector.ridge_ == pytest.approx(8 / (3 * 40))
    certificate = selector.certify(X, y)
    other = RidgeForwardSelector(4, clip=None, ridge=8 / 120).fit(X, y).certify(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    y0 = y - y.mean()

    def value(S):
        S = list(S)
        products = Z[:, S].T @ Z[:, S] + selector.ridge_ * 120 * np.eye(len(S))
        return y0 @ y0 - y0 @ Z[:, S] @ np.linalg.solve(products, Z[:, S].T @ y0)

    for k in range(1, 5):
        best = min(value(S) for S in combinations(range(8), k))
        own = value(selector.path_.supports[k])
        assert certificate.objective[k - 1] == pytest.approx(own, rel=1e-9)
        assert certificate.lower_bound[k - 1] <= best * (1 + 1e-9)
    for name in ("objective", "lower_bound", "gap"):
        np.testing.assert_allclose(getattr(certificate, name), getattr(other, name), rtol=1e-9)
    save(selector, tmp_path / "fitted.sparsieve")
    again = load(tmp_path / "fitted.sparsieve")
    assert again.ridge_ == selector.ridge_
    np.testing.assert_allclose(again.certify(X, y).gap, certificate.gap, atol=1e-9)
    np.testing.assert_allclose(selector.at(2).certify(X, y).gap, certificate.gap, atol=1e-9)


def chain(seed):
    """60 columns that go along with their neighbours; ten that matter less and less."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1500, 60))
    for j in range(1, 60):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    true = rng.choice(60, 10, replace=False)
    y = X[:, true] @ (0.8 ** np.arange(10) * rng.choice([-1, 1], 10)) + rng.standard_normal(1500)
    return X, y, set(true)


@pytest.mark.parametrize("classes", [False, True])
def test_of_many_samples_it_finds_what_a_strong_ridge_leaves_for_noise(classes):
    """Noise that goes along with several true features is worth more than one under a ridge."""
    hits = {"auto": [], 1.0: []}
    for seed in range(5):
        X, y, true = chain(seed)
        for ridge, found in hits.items():
            selector = RidgeForwardSelector(10, ridge=ridge).fit(X, y > 0 if classes else y)
            found.append(len(true & set(selector.get_support(indices=True))))
    assert (np.array(hits["auto"]) > hits[1.0]).all()
    assert np.mean(hits["auto"]) >= 9
    assert np.mean(hits[1.0]) <= 8
