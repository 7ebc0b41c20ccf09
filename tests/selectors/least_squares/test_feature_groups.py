"""Forward selection of groups of features, against hat matrices written out."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sparsieve
from sparsieve import (
    L20Selector,
    L21Selector,
    RidgeForwardSelector,
    SelectorCV,
    make_preprocessor,
)

LABELS = np.array(list("aabccccddeffg"))
PLAIN = {"clip": None, "class_balance": 0.0}


def make(seed, n=60, relevant=(), noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(LABELS)))
    columns = np.isin(LABELS, list(relevant))
    return X, X[:, columns].sum(axis=1) + noise * rng.normal(size=n)


def hat(X, columns, ridge, weights=None):
    w = np.ones(len(X)) if weights is None else weights
    mean = np.average(X, axis=0, weights=w)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    columns = np.asarray(columns)
    columns = columns if columns.dtype == bool else np.unique(columns)
    Z = np.sqrt(w)[:, None] * Z[:, columns]
    return Z @ np.linalg.pinv(Z.T @ Z + ridge * w.sum() * np.eye(Z.shape[1])) @ Z.T


def spread(X, columns):
    """The largest variance of any direction in standardised columns."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.linalg.svd(Z[:, columns], compute_uv=False)[0] ** 2 / len(X)


def plain_forward(X, y, groups, ridge, n_wanted):
    """The definition: gain beyond what noise would gain, one group after the other."""
    y, chosen, scores = y - y.mean(), [], {}
    while True:
        inside = np.concatenate([*(groups[g] for g in chosen), []]).astype(int)
        H = hat(X, inside, ridge)
        variance = (y @ y - y @ H @ y) / (len(y) - 1 - np.trace(H))
        found = {}
        for name in groups:
            if name not in chosen:
                step = hat(X, np.append(inside, groups[name]).astype(int), ridge) - H
                found[name] = (y @ step @ y - variance * np.trace(step)) / (y @ y)
        scores |= {
            name: (1 + ridge / spread(X, groups[name])) * score for name, score in found.items()
        }
        if len(chosen) == n_wanted:
            return chosen, scores
        chosen.append(max(found, key=found.get))


def in_order(selector):
    best = np.argsort(selector.group_ranking_, kind="stable")
    return selector.group_names_[best[: selector.group_support_.sum()]].tolist()


@pytest.mark.parametrize("ridge", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_against_hat_matrices(ridge, container):
    X, y = make(0, relevant="cf")
    places = {name: np.flatnonzero(name == LABELS) for name in "abcdefg"}
    fitted = RidgeForwardSelector(3, feature_groups=LABELS, ridge=ridge, **PLAIN)
    fitted.fit(container(X), y)
    chosen, scores = plain_forward(X, y, places, ridge, 3)
    assert in_order(fitted) == chosen
    np.testing.assert_allclose(fitted.group_scores_, [scores[g] for g in "abcdefg"], atol=1e-12)
    np.testing.assert_array_equal(fitted.support_, np.isin(LABELS, chosen))
    for k in (1, 2, 3):
        smaller = fitted.at(k)
        kept = np.isin(LABELS, chosen[:k])
        np.testing.assert_array_equal(smaller.support_, kept)
        H = hat(X, kept, ridge)
        np.testing.assert_allclose(
            X @ smaller.coef_[0] + smaller.intercept_, y.mean() + H @ (y - y.mean()), atol=1e-10
        )


def test_overlapping_groups_share_the_coefficients_of_their_columns():
    X, y = make(3, relevant="ac")
    groups = {"u": [0, 1, 2], "v": [2, 3, 4, 5, 6], "w": [6, 7]}
    fitted = RidgeForwardSelector(4, feature_groups=groups, ridge=0.5, **PLAIN).fit(X, y)
    every = groups | {f"x{j}": [j] for j in range(8, 13)}
    chosen, scores = plain_forward(X, y, every, 0.5, 4)
    assert in_order(fitted) == chosen
    np.testing.assert_allclose(
        fitted.group_scores_, [scores[name] for name in fitted.group_names_], atol=1e-12
    )
    union = np.concatenate([every[name] for name in chosen])
    assert set(np.flatnonzero(fitted.support_)) == set(union)
    H = hat(X, union, 0.5)
    np.testing.assert_allclose(
        X @ fitted.coef_[0] + fitted.intercept_, y.mean() + H @ (y - y.mean()), atol=1e-10
    )


def test_groups_of_one_are_no_groups():
    X, y = make(1, relevant="bd")
    plain = RidgeForwardSelector(5).fit(X, y)
    single = RidgeForwardSelector(5, feature_groups=list("abcdefghijklm")).fit(X, y)
    for name in ("scores_", "ranking_", "support_", "coef_", "gains_"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(single, name))
    np.testing.assert_array_equal(single.group_support_, single.support_)


def test_finds_the_best_pair_of_all_pairs():
    X, y = make(1, relevant="bd")
    y0 = y - y.mean()
    best = max(
        combinations("abcdefg", 2), key=lambda pair: y0 @ hat(X, np.isin(LABELS, pair), 0.01) @ y0
    )
    fitted = RidgeForwardSelector(2, feature_groups=LABELS, ridge=0.01, **PLAIN).fit(X, y)
    assert set(in_order(fitted)) == set(best) == set("bd")


@pytest.mark.parametrize("ridge", [0.01, 1.0])
def test_size_is_fair_to_noise(ridge):
    """Groups of 1 to 50 columns of noise: none scores above zero on average, none wins by size."""
    sizes = np.array([1, 2, 5, 10, 20, 50])
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rng, scores, winners = np.random.default_rng(0), [], []
    for _ in range(40):
        X, y = rng.normal(size=(120, len(labels))), rng.normal(size=120)
        fitted = RidgeForwardSelector(1, feature_groups=labels, ridge=ridge, **PLAIN).fit(X, y)
        winners.append(int(np.argmin(fitted.group_ranking_)))
        scores.append(fitted.group_scores_[winners[-1]])
    share = np.bincount(winners, minlength=len(sizes)) / 40
    assert share.max() < 0.5
    assert share[:2].sum() > 0.1
    assert np.mean(scores) < 0.1


def test_one_good_column_against_large_groups_of_noise():
    rng = np.random.default_rng(5)
    labels = np.array(["good", *np.repeat(np.arange(10), 20).astype(str)])
    hits = 0
    for _ in range(20):
        X = rng.normal(size=(100, len(labels)))
        y = 0.6 * X[:, 0] + rng.normal(size=100)
        fitted = RidgeForwardSelector(1, feature_groups=labels).fit(X, y)
        hits += in_order(fitted) == ["good"]
    assert hits >= 19


def test_none_keeps_what_is_better_than_noise():
    kept = []
    for seed in range(40):
        X, y = make(seed)
        kept.append(len(in_order(RidgeForwardSelector(feature_groups=LABELS).fit(X, y))))
    assert np.mean(np.array(kept) > 1) < 0.1
    X, y = make(3, n=300, relevant="acf")
    fitted = RidgeForwardSelector(feature_groups=LABELS, ridge=0.01, **PLAIN).fit(X, y)
    assert set(in_order(fitted)) == set("acf")


def test_a_copy_adds_nothing():
    X, y = make(2, n=200, relevant="c")
    both = np.hstack((X, X[:, LABELS == "c"]))
    labels = [*LABELS, *["copy"] * 4]
    fitted = RidgeForwardSelector(2, feature_groups=labels, ridge=0.0, **PLAIN).fit(both, y)
    assert len({"c", "copy"} & set(in_order(fitted))) == 1


def test_weights_are_copies_of_samples():
    X, y = make(4, relevant="cf")
    weights = np.random.default_rng(0).integers(1, 4, size=len(y))
    settings = {"feature_groups": LABELS, **PLAIN}
    weighted = RidgeForwardSelector(4, **settings).fit(X, y, sample_weight=weights)
    copied = RidgeForwardSelector(4, **settings).fit(X.repeat(weights, 0), y.repeat(weights))
    assert in_order(weighted) == in_order(copied)
    np.testing.assert_allclose(weighted.group_scores_, copied.group_scores_, atol=1e-12)
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-10)


def test_whole_groups_are_always_and_never_kept():
    X, y = make(6, relevant="cf")
    fitted = RidgeForwardSelector(3, feature_groups=LABELS, always_keep=[0], never_keep=[3])
    fitted.fit(X, y)
    assert in_order(fitted)[0] == "a"
    assert "c" not in in_order(fitted)
    assert fitted.support_[LABELS == "a"].all()
    assert fitted.group_support_.sum() == 3
    assert np.all(fitted.coef_[0][LABELS == "a"] != 0)
    with pytest.raises(ValueError, match="same feature group"):
        fitted.set_params(always_keep=[0], never_keep=[1]).fit(X, y)
    with pytest.warns(UserWarning, match="larger than the 7 feature groups of X"):
        every = RidgeForwardSelector(8, feature_groups=LABELS).fit(X, y)
    assert (every.n_features_to_select_, every.n_features_) == (7, len(LABELS))


def test_a_frame_with_categories():
    frame = pd.DataFrame(
        {
            "diet": ["fish", "meat", "none"] * 20,
            "age": [30 + i % 7 for i in range(60)],
            "site": ["a", "b", "b", "a"] * 15,
        }
    )
    ill = (frame["diet"] == "meat").astype(int)
    by_name = RidgeForwardSelector(1, feature_groups="categories")
    model = make_pipeline(make_preprocessor(frame), by_name).fit(frame, ill)
    assert in_order(model[-1]) == ["diet"]
    assert model.get_feature_names_out().tolist() == ["diet=fish", "diet=meat", "diet=none"]
    assert model[-1].to_frame()["group"].tolist() == ["diet"] * 3
    encoder = make_column_transformer(
        (OneHotEncoder(), ["diet", "site"]), remainder="passthrough"
    ).fit(frame)
    X = encoder.transform(frame)
    by_encoder = RidgeForwardSelector(2, feature_groups=encoder)
    assert in_order(clone(by_encoder).fit(X, ill))[0] == "diet"
    search = SelectorCV(RidgeForwardSelector(feature_groups=encoder), cv=3).fit(X, ill)
    assert search.transform(X).shape[1] >= 3


def test_saved_pickled_and_in_single_precision(tmp_path):
    X, y = make(7, relevant="cf")
    fitted = RidgeForwardSelector(3, feature_groups=LABELS.tolist()).fit(X, y)
    sparsieve.save(fitted, tmp_path / "groups.sparsieve")
    loaded = sparsieve.load(tmp_path / "groups.sparsieve")
    for k in (1, 3):
        np.testing.assert_array_equal(loaded.at(k).support_, fitted.at(k).support_)
        np.testing.assert_array_equal(loaded.at(k).coef_, fitted.at(k).coef_)
    assert loaded.group_names_.tolist() == fitted.group_names_.tolist()
    half = RidgeForwardSelector(3, feature_groups=LABELS).fit(X.astype(np.float32), y)
    assert half.coef_.dtype == np.float32
    assert in_order(half) == in_order(fitted)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_certificates_against_all_sets_of_groups(seed, overlap):
    X, y = make(seed, n=40, relevant="ce")
    groups = {name: np.flatnonzero(name == LABELS).tolist() for name in "abcdefg"}
    if overlap:
        groups["a"] += [3, 4]
        groups["d"] += [2]
    fitted = RidgeForwardSelector(4, feature_groups=groups, ridge=1.0, **PLAIN).fit(X, y)
    certificate = fitted.certify(X, y)
    assert certificate.n_features.tolist() == [1, 2, 3, 4]
    y0 = y - y.mean()
    best = {}
    for k in range(1, 5):
        values = {
            some: y0 @ y0 - y0 @ hat(X, np.concatenate([groups[g] for g in some]), 1.0) @ y0
            for some in combinations(groups, k)
        }
        best[k] = min(values.values())
        own = tuple(sorted(in_order(fitted)[:k]))
        assert certificate.objective[k - 1] == pytest.approx(values[own], rel=1e-10)
    low = certificate.lower_bound
    assert (low <= np.array(list(best.values())) * (1 + 1e-12)).all()
    assert (certificate.gap < 0.2).all()
    assert "feature groups" in certificate.sentence()


def test_the_bound_is_that_of_the_perspective_relaxation():
    """Indicators of groups between 0 and 1, solved by cones."""
    import cvxpy as cp

    X, y = make(9, n=30, relevant="cf", noise=2.0)
    fitted = RidgeForwardSelector(2, feature_groups=LABELS, ridge=1.0, **PLAIN).fit(X, y)
    certificate = fitted.certify(X, y)
    Z, y0 = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    for k in (1, 2):
        w, z, t = cp.Variable(len(LABELS)), cp.Variable(7), cp.Variable(7)
        limits = [z >= 0, z <= 1, cp.sum(z) <= k]
        limits += [
            cp.quad_over_lin(w[np.flatnonzero(name == LABELS)], z[g]) <= t[g]
            for g, name in enumerate("abcdefg")
        ]
        value = cp.Problem(
            cp.Minimize(cp.sum_squares(y0 - Z @ w) + len(y) * cp.sum(t)), limits
        ).solve(solver=cp.CLARABEL)
        assert certificate.lower_bound[k - 1] == pytest.approx(value, rel=1e-3)


def test_a_search_names_columns_and_counts_groups(tmp_path):
    X, y = make(11, n=120, relevant="cf")
    frame = pd.DataFrame(X, columns=[f"{label}{j}" for j, label in enumerate(LABELS)])
    groups = {name: [c for c in frame.columns if c.startswith(name)] for name in "abcdefg"}
    method = RidgeForwardSelector(feature_groups=groups, always_keep=["a0"])
    found = SelectorCV(method, n_repeats=1).fit(frame, y)
    assert found.ks_.max() <= 7
    assert {"c3", "c4", "c5", "c6", "f10", "f11", "a0", "a1"} <= set(found.get_feature_names_out())
    sparsieve.save(found, tmp_path / "search.sparsieve")
    again = sparsieve.load(tmp_path / "search.sparsieve")
    np.testing.assert_array_equal(again.at(2).support_, found.at(2).support_)
    selected = sparsieve.select(frame, y, k=3, feature_groups=groups)
    assert set(selected.table["group"]) >= {"c", "f"}
    assert "held-out" in str(selected)


def test_groups_that_add_nothing_are_ranked_and_not_used():
    X, y = make(12, relevant="c")
    X[:, LABELS == "b"] = 3.0
    X[:, LABELS == "g"] = X[:, LABELS == "e"]
    fitted = RidgeForwardSelector(7, feature_groups=LABELS, ridge=0.0, **PLAIN).fit(X, y)
    assert sorted(fitted.group_ranking_) == list(range(1, 8))
    assert fitted.group_ranking_[1] == 7
    assert np.isfinite(fitted.coef_).all()
    one = RidgeForwardSelector(1, feature_groups=LABELS).fit(X[:1].repeat(3, 0), [0.1, 0.2, 0.7])
    assert one.group_support_.sum() == 1


@pytest.mark.parametrize("ridge", [0.01, 1.0])
def test_groups_with_more_columns_than_samples(ridge, tmp_path):
    rng = np.random.default_rng(3)
    labels = np.repeat(list("abcd"), [70, 5, 90, 35])
    X = rng.normal(size=(40, 200))
    X[:, labels == "a"] += 2.0 * rng.normal(size=(40, 1))
    y = X[:, labels == "a"].mean(axis=1) + X[:, labels == "b"].sum(axis=1)
    places = {name: np.flatnonzero(name == labels) for name in "abcd"}
    fitted = RidgeForwardSelector(2, feature_groups=labels.tolist(), ridge=ridge, **PLAIN).fit(X, y)
    chosen, scores = plain_forward(X, y, places, ridge, 2)
    assert in_order(fitted) == chosen
    np.testing.assert_allclose(fitted.group_scores_, [scores[g] for g in "abcd"], atol=1e-8)
    sparsieve.save(fitted, tmp_path / "large.sparsieve")
    for k in (1, 2):
        smaller = sparsieve.load(tmp_path / "large.sparsieve").at(k)
        H = hat(X, np.isin(labels, chosen[:k]), ridge)
        np.testing.assert_allclose(
            X @ smaller.coef_[0] + smaller.intercept_, y.mean() + H @ (y - y.mean()), atol=1e-7
        )


def test_groups_too_large_for_inner_products():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 15_000))
    X[:, :14_200] += rng.normal(size=(12, 1))
    y = X[:, :14_200].mean(axis=1)
    groups = {"large": list(range(14_200)), "other": list(range(14_200, 15_000))}
    Z, y0 = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    Z = Z[:, :14_200]
    for selector in (RidgeForwardSelector(1, **PLAIN), L20Selector(1)):
        fitted = selector.set_params(feature_groups=groups).fit(X, y)
        assert in_order(fitted) == ["large"]
        dual = np.linalg.solve(Z @ Z.T + 12 * np.eye(12), y0)  # the same by kernels
        np.testing.assert_allclose(
            fitted.coef_[0, :14_200] * X.std(axis=0)[:14_200], Z.T @ dual, atol=1e-9
        )
    fitted = L21Selector(alpha=1.0, feature_groups=groups, tol=1e-8).fit(X, y)
    assert "large" in in_order(fitted)
    assert fitted.optimality_ <= 1e-8
    rest = y - X @ fitted.coef_[0] - fitted.intercept_[0]
    scaled = fitted.coef_[0] * X.std(axis=0)
    norms = [np.sqrt(11) * np.linalg.norm(scaled[columns]) for columns in groups.values()]
    assert fitted.objective_ == pytest.approx(rest @ rest + sum(norms), rel=1e-6)


def test_the_gap_tells_which_groups_are_zero(real_data):
    X, y = real_data("colon")
    asked = {"alpha": 7.482, "feature_groups": np.arange(X.shape[1]) // 4}
    for tol in (1e-6, 1e-10):
        kept = L21Selector(**asked, tol=tol).fit(X, y).support_
        assert kept.sum() == 4 * 13
