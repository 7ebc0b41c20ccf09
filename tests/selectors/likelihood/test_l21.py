"""LikelihoodL21Selector: every target, groups, weights, covariates, predictions and odd data."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import LikelihoodL21Selector, SelectorCV


def survival_data(n: int = 120, d: int = 10, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    time = np.ceil(5 * rng.exponential(np.exp(-X[:, 3] + X[:, 8])))
    end = rng.integers(2, 20, n)
    y = np.empty(n, dtype=[("died", "?"), ("months", "f8")])
    y["died"], y["months"] = time <= end, np.minimum(time, end)
    return X, y


@pytest.mark.needs_sklearn("1.8", "l1_ratio had no effect by itself before")
def test_two_classes_are_l1_logistic_regression():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:150, [0, 1, 4, 8, 9, 11, 14, 18]]
    y = y[:150]
    selector = LikelihoodL21Selector(alpha=5.0, tol=1e-10).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    other = LogisticRegression(l1_ratio=1.0, C=0.2, solver="saga", tol=1e-9, max_iter=100_000)
    other.fit(Z, y)
    np.testing.assert_allclose(selector.predict_proba(X), other.predict_proba(Z), atol=1e-5)
    assert (selector.support_ == (other.coef_[0] != 0)).all()
    assert 0.0 <= selector.duality_gap_ <= 1e-10 * selector.objective_
    assert selector.converged_


def test_a_number_of_features_follows_the_path():
    X, y = load_wine(return_X_y=True)
    selector = LikelihoodL21Selector(n_features_to_select=5).fit(X, y)
    assert selector.support_.sum() == 5
    assert selector.at(2).support_.sum() == 2
    np.testing.assert_array_equal(selector.path_.features[:2], np.argsort(selector.ranking_)[:2])
    assert (np.diff(selector.path_.strength) <= 0).all()
    again = LikelihoodL21Selector(alpha=selector.alpha_).fit(X, y)
    np.testing.assert_allclose(again.coef_, selector.coef_, atol=1e-4 * np.abs(again.coef_).max())
    with pytest.raises(ValueError, match="more than the"):
        selector.at(13)


def test_the_path_has_the_objectives_of_the_fits():
    X, y = survival_data()
    path = LikelihoodL21Selector().path(X, y, n_alphas=5, ratio=0.1)
    assert path.n_features[0] == 0
    for k in (0, 2, 5):
        one = LikelihoodL21Selector(alpha=path.strength[k] * (1.0 + 1e-9)).fit(X, y)
        assert one.objective_ == pytest.approx(path.objective[k], rel=1e-6)
    with pytest.raises(ValueError, match="decreasing order"):
        LikelihoodL21Selector().path(X, y, alphas=[1.0, 2.0])


def test_groups_enter_as_a_whole_and_their_weights_count():
    X, y = load_wine(return_X_y=True)
    groups = {"a": [0, 12], "b": [6, 11], "c": [1, 2, 3, 4]}
    selector = LikelihoodL21Selector(n_features_to_select=1, feature_groups=groups).fit(X, y)
    chosen = selector.group_names_[selector.group_support_].tolist()
    assert len(chosen) == 1
    assert selector.get_support(indices=True).tolist() == groups[chosen[0]]
    names = selector.group_names_.tolist()
    heavy = {name: 1e3 if name == chosen[0] else 1.0 for name in names}
    other = LikelihoodL21Selector(
        n_features_to_select=1, feature_groups=groups, group_weights=heavy
    ).fit(X, y)
    assert other.group_names_[other.group_support_].tolist() != chosen
    with pytest.raises(ValueError, match="group_weights are for feature_groups"):
        LikelihoodL21Selector(group_weights=[1.0]).fit(X, y)


@pytest.mark.parametrize(("seed", "share"), [(0, 0.39712), (1, 0.015054), (4, 0.59784)])
def test_the_gap_tells_which_groups_are_zero(seed, share):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 60))
    X[:, 30:] = X[:, :30] + 0.1 * rng.standard_normal((40, 30))
    y = (X[:, :4].sum(axis=1) + rng.logistic(size=40) > 0).astype(int)
    selector = LikelihoodL21Selector(feature_groups=np.arange(60) // 3, tol=2e-2)
    alpha = share * selector.path(X, y, n_alphas=1).strength[0]
    kept = [clone(selector).set_params(alpha=alpha, tol=tol).fit(X, y) for tol in (2e-2, 1e-11)]
    np.testing.assert_array_equal(kept[0].support_, kept[1].support_)


def test_a_second_fit_is_the_first():
    X, y = survival_data()
    selector = LikelihoodL21Selector(n_features_to_select=3).fit(X, y)
    coef = selector.coef_.copy()
    np.testing.assert_array_equal(selector.fit(X, y).coef_, coef)


def test_groups_of_one_are_single_features():
    X, y = survival_data()
    single = LikelihoodL21Selector(alpha=3.0).fit(X, y)
    grouped = LikelihoodL21Selector(alpha=3.0, feature_groups=np.arange(10)).fit(X, y)
    np.testing.assert_allclose(grouped.coef_, single.coef_, rtol=1e-12)


@pytest.mark.parametrize("loss", ["auto", "multinomial"])
def test_weights_are_repeated_samples(loss):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:100], y[:100]
    times = 1 + np.arange(100) % 3
    weighted = LikelihoodL21Selector(alpha=2.0, loss=loss, tol=1e-10).fit(X, y, times)
    repeated = LikelihoodL21Selector(alpha=2.0, loss=loss, tol=1e-10).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4, atol=1e-9)
    balanced = LikelihoodL21Selector(alpha=2.0, class_weight="balanced", tol=1e-10).fit(X, y)
    by_hand = len(y) / (2 * np.bincount(y))[y]
    same = LikelihoodL21Selector(alpha=2.0, tol=1e-10).fit(X, y, by_hand)
    np.testing.assert_allclose(balanced.coef_, same.coef_, rtol=1e-6, atol=1e-12)


def test_covariates_are_not_penalised():
    X, y = survival_data()
    selector = LikelihoodL21Selector(alpha=1e3, always_keep=[3], never_keep=[8]).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3]
    sksurv = pytest.importorskip("sksurv.linear_model")
    free = sksurv.CoxPHSurvivalAnalysis(ties="efron", tol=1e-12).fit(X[:, [3]], y)
    assert selector.coef_[0, 3] == pytest.approx(free.coef_[0], rel=1e-6)


def test_covariates_have_no_slope_at_the_optimum():
    X, y = load_breast_cancer(return_X_y=True)
    selector = LikelihoodL21Selector(alpha=20.0, always_keep=[4, 9], tol=1e-10).fit(X, y)
    residual = selector.predict_proba(X)[:, 1] - y
    Z = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(Z[:, [4, 9]].T @ residual, 0.0, atol=1e-6)
    assert residual.sum() == pytest.approx(0.0, abs=1e-6)
    kept = np.flatnonzero(selector.coef_[0])
    own = np.setdiff1d(kept, [4, 9])
    np.testing.assert_allclose(np.abs(Z[:, own].T @ residual), 20.0, rtol=1e-6)


def test_survival_curves_and_strata():
    X, y = survival_data()
    strata = np.arange(len(y)) % 2
    selector = LikelihoodL21Selector(n_features_to_select=2).fit(X, y, strata=strata)
    assert selector.get_support(indices=True).tolist() == [3, 8]
    curves = selector.predict_survival(X, [0.0, 2.0, 10.0], strata=strata)
    np.testing.assert_array_equal(curves[:, 0], 1.0)
    assert (np.diff(curves, axis=1) <= 0).all()
    order = np.argsort(selector.predict(X)[strata == 0])
    assert (np.diff(curves[strata == 0][order, 1]) <= 1e-12).all()
    assert not hasattr(selector, "predict_proba")


def test_sparse_and_single_precision_select_the_same():
    X, y = survival_data(d=30)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = LikelihoodL21Selector(alpha=4.0).fit(X, y)
    thin = LikelihoodL21Selector(alpha=4.0).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-6, atol=1e-10)
    short = LikelihoodL21Selector(alpha=4.0, tol=1e-4).fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(short.support_, dense.support_)
    assert short.coef_.dtype == np.float32


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_the_unit_of_a_column_makes_no_difference(scale):
    X, y = survival_data()
    usual = LikelihoodL21Selector(alpha=4.0).fit(X, y)
    odd = LikelihoodL21Selector(alpha=4.0).fit(X * scale, y)
    np.testing.assert_array_equal(odd.support_, usual.support_)
    np.testing.assert_allclose(odd.coef_ * scale, usual.coef_, rtol=1e-6)


def test_counts_explain_the_mean():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    y = rng.negative_binomial(2, 2 / (2 + np.exp(1 + X[:, 2] - X[:, 5])))
    for loss in ("poisson", "negative-binomial"):
        selector = LikelihoodL21Selector(2, loss=loss, dispersion=0.5).fit(X, y)
        assert selector.get_support(indices=True).tolist() == [2, 5]
        assert (selector.predict(X) > 0).all()
    poisson = LikelihoodL21Selector(alpha=1.0, task="counts", tol=1e-9).fit(X, y)
    assert poisson.predict(X).sum() == pytest.approx(y.sum(), rel=1e-6)


def test_odd_targets():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5))
    X[:, 4] = 7.0
    y = np.arange(60) % 12
    y[0] = 99  # a class of one sample
    selector = LikelihoodL21Selector(alpha=0.5).fit(X, y)
    assert selector.converged_
    assert selector.coef_.shape == (13, 5)
    assert not selector.coef_[:, 4].any()
    separable = LikelihoodL21Selector(alpha=1e-3).fit(X, X[:, 0] > 0)
    assert separable.converged_
    with pytest.raises(ValueError, match="alpha must be"):
        LikelihoodL21Selector(alpha=0.0).fit(X, y)


def test_in_pipelines_with_routed_strata():
    X, y = survival_data()
    strata = np.arange(len(y)) % 3
    with config_context(enable_metadata_routing=True):
        step = LikelihoodL21Selector(alpha=3.0).set_fit_request(strata=True)
        pipe = make_pipeline(StandardScaler(), step).fit(X, y, strata=strata)
    alone = clone(step).fit(StandardScaler().fit_transform(X), y, strata=strata)
    np.testing.assert_allclose(pipe[-1].coef_, alone.coef_)
    assert SelectorCV(LikelihoodL21Selector(), ks=[1, 2, 4]).fit(X, y).best_k_ >= 2


def test_certificates_hold_for_all_subsets():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 6))
    y = X[:, 1] + X[:, 4] + rng.standard_normal(50) > 0.3
    selector = LikelihoodL21Selector(n_features_to_select=2).fit(X, y)
    certificate = selector.certify(X, y, n_features=[1, 2])
    Z, p = StandardScaler().fit_transform(X), y.mean()
    rho = 50 * p * (1 - p)

    def objective(columns):
        model = LogisticRegression(C=1 / rho, tol=1e-10).fit(Z[:, columns], y)
        log_p = model.predict_log_proba(Z[:, columns])[np.arange(50), y.astype(int)]
        return 0.5 * rho * (model.coef_**2).sum() - log_p.sum()

    for place, k in enumerate((1, 2)):
        chosen = tuple(np.flatnonzero(selector.at(k).support_))
        assert certificate.objective[place] == pytest.approx(objective(chosen), rel=1e-6)
        best = min(objective(some) for some in combinations(range(6), k))
        assert certificate.lower_bound[place] <= best * (1 + 1e-9)
        assert certificate.share[place] > 0.9
    with pytest.raises(ValueError, match="differ from what the selector was fitted on"):
        selector.certify(X, ~y)
    grouped = LikelihoodL21Selector(alpha=3.0, feature_groups=[[0, 1], [2, 3]]).fit(X, y)
    with pytest.raises(ValueError, match="cannot prove anything about feature groups"):
        grouped.certify(X, y)


class Ended(Exception):
    """Before the work."""


def test_a_long_fit_to_many_classes_is_announced(monkeypatch):
    def end(self, data):
        raise Ended

    monkeypatch.setattr(LikelihoodL21Selector, "_fit", end)
    X = np.random.default_rng(0).standard_normal((4000, 125))
    selector = LikelihoodL21Selector(task="classification")
    with pytest.warns(UserWarning, match="will take about 30 seconds"), pytest.raises(Ended):
        selector.fit(X, np.arange(4000) % 2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Ended):
            selector.fit(X, np.arange(4000) % 9)
