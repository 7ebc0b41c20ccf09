"""LikelihoodForwardSelector: every target, predictions, weights, covariates and odd data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve import LikelihoodForwardSelector


def survival_data(n: int = 120, d: int = 10, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    time = np.ceil(5 * rng.exponential(np.exp(-X[:, 3] + X[:, 8])))
    end = rng.integers(2, 20, n)
    y = np.empty(n, dtype=[("died", "?"), ("months", "f8")])
    y["died"], y["months"] = time <= end, np.minimum(time, end)
    return X, y


def test_classes():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["bad", "good"])[y]
    selector = LikelihoodForwardSelector(n_features_to_select=4, ridge=0.02).fit(X, names)
    kept = selector.get_support(indices=True)
    Z = StandardScaler().fit_transform(X)[:, kept]
    rho = 0.02 * len(y) * y.mean() * (1 - y.mean())
    other = LogisticRegression(C=1 / rho, tol=1e-10, max_iter=10_000).fit(Z, names)
    np.testing.assert_allclose(selector.predict_proba(X), other.predict_proba(Z), atol=1e-5)
    assert (selector.predict(X) == other.predict(Z)).all()
    assert selector.at(2).support_.sum() == 2
    assert np.count_nonzero(selector.at(2).coef_) == 2


def test_several_classes_sum_to_one():
    X, y = load_wine(return_X_y=True)
    selector = LikelihoodForwardSelector(n_features_to_select=3).fit(X, y)
    probabilities = selector.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (selector.classes_[probabilities.argmax(axis=1)] == selector.predict(X)).all()
    assert (selector.predict(X) == y).mean() > 0.9
    assert selector.coef_.shape == (3, 13)


def test_counts():
    rng = np.random.default_rng(0)
    X = 5 + 3 * rng.standard_normal((300, 6))
    y = rng.poisson(np.exp(0.2 * X[:, 2] - 1))
    selector = LikelihoodForwardSelector(loss="poisson", ridge=1e-3).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2]
    Z = StandardScaler().fit_transform(X)[:, [2]]
    other = PoissonRegressor(alpha=1e-3 * y.sum() / len(y), tol=1e-10).fit(Z, y)
    np.testing.assert_allclose(selector.predict(X), other.predict(Z), rtol=1e-5)
    again = LikelihoodForwardSelector(task="counts", ridge=1e-3).fit(X, y)
    assert again.objective_ == selector.objective_
    narrow = LikelihoodForwardSelector(loss="negative-binomial", dispersion=1e-6, ridge=1e-3)
    np.testing.assert_allclose(narrow.fit(X, y).coef_, selector.coef_, rtol=1e-3)
    wide = clone(narrow).set_params(dispersion=3.0).fit(X, y)
    assert not np.allclose(wide.coef_, selector.coef_, rtol=1e-2)


def test_survival():
    X, y = survival_data()
    selector = LikelihoodForwardSelector(n_features_to_select=2).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 8]
    risk = selector.predict(X)
    assert abs(risk.mean()) < 1e-9  # 0 is the average sample
    times = [1.0, 5.0, 10.0]
    survival = selector.predict_survival(X, times)
    assert (np.diff(survival, axis=1) <= 0).all()
    assert (np.argsort(survival[:, 1]) == np.argsort(-risk)).all()
    # Breslow's estimator by its definition, with Efron's terms.
    total = 0.0
    for t in np.unique(y["months"][y["died"]]):
        deaths = y["died"] & (y["months"] == t)
        inside, own = np.exp(risk[y["months"] >= t]).sum(), np.exp(risk[deaths]).sum()
        m = int(deaths.sum())
        total += sum(1 / (inside - place / m * own) for place in range(m)) if t <= 5.0 else 0.0
    np.testing.assert_allclose(survival[:, 1], np.exp(-total * np.exp(risk)), rtol=1e-10)
    one = selector.at(1)
    assert not np.allclose(one.predict_survival(X, times), survival)


def test_strata_and_entry_are_used():
    X, y = survival_data()
    strata = np.where(np.arange(len(y)) % 2, "north", "south")
    entry = np.where(np.arange(len(y)) % 3 == 0, y["months"] - 1.5, -1.0)
    fits = [
        LikelihoodForwardSelector(n_features_to_select=2).fit(X, y, **some)
        for some in ({}, {"strata": strata}, {"entry": entry}, {"strata": strata, "entry": entry})
    ]
    assert len({fit.objective_ for fit in fits}) == 4
    survival = fits[1].predict_survival(X[:2], [5.0], strata=["south", "north"])
    other = fits[1].predict_survival(X[:2], [5.0], strata=["north", "south"])
    assert not np.allclose(survival, other)
    with pytest.raises(ValueError, match="pass strata="):
        fits[1].predict_survival(X[:2], [5.0])
    with pytest.raises(ValueError, match="strata hold 'east', for which there is no baseline"):
        fits[1].predict_survival(X[:2], [5.0], strata=["north", "east"])
    with pytest.raises(ValueError, match="strata is for survival times"):
        LikelihoodForwardSelector().fit(X, y["died"], strata=strata)


def test_metadata_routing():
    X, y = survival_data()
    strata = np.arange(len(y)) % 2
    direct = LikelihoodForwardSelector(n_features_to_select=2).fit(X, y, strata=strata)
    with config_context(enable_metadata_routing=True):
        selector = LikelihoodForwardSelector(n_features_to_select=2).set_fit_request(strata=True)
        pipeline = make_pipeline(selector, StandardScaler()).fit(X, y, strata=strata)
    assert pipeline[0].objective_ == direct.objective_


class TakesSurvival(BaseEstimator):
    """As scikit-survival's estimators: y has a boolean and a number field."""

    def fit(self, X, y):
        assert y.dtype.names == ("died", "months")
        self.shape_ = X.shape
        return self

    def predict(self, X):
        return X[:, 0]


def test_before_a_survival_model_in_a_pipeline():
    X, y = survival_data()
    pipeline = make_pipeline(LikelihoodForwardSelector(n_features_to_select=3), TakesSurvival())
    assert pipeline.fit(X, y)[-1].shape_ == (120, 3)
    sksurv = pytest.importorskip("sksurv.linear_model")
    model = make_pipeline(
        LikelihoodForwardSelector(n_features_to_select=2, ridge=1e-9),
        sksurv.CoxPHSurvivalAnalysis(ties="efron"),
    ).fit(X, y)
    np.testing.assert_allclose(model[0].coef_[0, model[0].support_], model[1].coef_, rtol=1e-4)


@pytest.mark.parametrize("kind", ["classes", "counts", "survival"])
def test_weights_are_copies_and_sparse_is_dense(kind):
    X, y = survival_data(80, 9)
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    target, options = {
        "classes": (y["died"], {}),
        "counts": (y["months"].astype(int), {"task": "counts"}),
        "survival": (y, {"ties": "breslow"}),
    }[kind]
    weights = np.arange(len(y)) % 3
    selector = LikelihoodForwardSelector(n_features_to_select=3, **options)
    weighted = clone(selector).fit(X, target, sample_weight=weights)
    copied = clone(selector).fit(np.repeat(X, weights, axis=0), np.repeat(target, weights))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6, atol=1e-9)
    thin = clone(selector).fit(sparse.csr_array(X), target, sample_weight=weights)
    np.testing.assert_allclose(thin.coef_, weighted.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(thin.predict(sparse.csr_array(X[:5])) != 0, True)


def test_class_weight_is_sample_weight():
    X, y = load_breast_cancer(return_X_y=True)
    by_class = LikelihoodForwardSelector(n_features_to_select=3, class_weight={0: 5.0, 1: 1.0})
    by_sample = LikelihoodForwardSelector(n_features_to_select=3)
    a, b = by_class.fit(X, y), by_sample.fit(X, y, sample_weight=np.where(y == 0, 5.0, 1.0))
    np.testing.assert_allclose(a.coef_, b.coef_)


def test_covariates_are_kept_and_not_penalised():
    X, y = survival_data()
    selector = LikelihoodForwardSelector(n_features_to_select=3, always_keep=[5], ridge=1.0)
    selector.fit(X, y)
    assert selector.support_[5]
    assert selector.ranking_[5] == 1
    strong = LikelihoodForwardSelector(n_features_to_select=2, always_keep=[3], ridge=1e6).fit(X, y)
    free = LikelihoodForwardSelector(n_features_to_select=1, ridge=1e-9).fit(X[:, [3]], y)
    np.testing.assert_allclose(strong.coef_[0, 3], free.coef_[0, 0], rtol=1e-4)
    assert abs(np.delete(strong.coef_[0], 3)).max() < 1e-3
    never = LikelihoodForwardSelector(n_features_to_select=2, never_keep=[3]).fit(X, y)
    assert not never.support_[3]


def test_units_and_constant_columns_make_no_difference():
    X, y = survival_data()
    plain = LikelihoodForwardSelector(n_features_to_select=3).fit(X, y)
    odd = X * 10.0 ** np.linspace(-100, 100, X.shape[1])
    odd[:, 0] = 7.0
    same = LikelihoodForwardSelector(n_features_to_select=3, never_keep=[0]).fit(X, y)
    other = LikelihoodForwardSelector(n_features_to_select=3).fit(odd, y)
    assert (other.support_ == same.support_).all()
    assert other.objective_ == pytest.approx(same.objective_, rel=1e-9)
    np.testing.assert_allclose(other.predict(odd), same.predict(X), atol=1e-8)
    assert other.ranking_[0] == X.shape[1]
    assert plain.n_ranked_ == 3


def test_the_number_of_features_is_chosen_without_noise():
    X, y = survival_data(300, 40)
    assert LikelihoodForwardSelector().fit(X, y).get_support(indices=True).tolist() == [3, 8]
    noise = np.random.default_rng(5).standard_normal((300, 40))
    assert LikelihoodForwardSelector().fit(noise, y).support_.sum() <= 2


def test_rare_classes_of_one_sample():
    X, _ = survival_data()
    y = np.zeros(len(X), dtype=int)
    y[0] = 1
    selector = LikelihoodForwardSelector(n_features_to_select=2).fit(X, y)
    assert selector.predict_proba(X)[0, 1] > 5 * selector.predict_proba(X)[:, 1].mean()
    y[1:3] = [2, 3]
    assert LikelihoodForwardSelector(n_features_to_select=2).fit(X, y).coef_.shape == (4, 10)


def test_refusals():
    X, y = survival_data()
    fit = LikelihoodForwardSelector
    with pytest.raises(ValueError, match='needs task="counts"'):
        fit(loss="poisson", task="survival").fit(X, y)
    with pytest.raises(ValueError, match="for two classes, but y has 3"):
        fit(loss="logistic").fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="such as RidgeForwardSelector"):
        fit().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="no event"):
        fit(task="survival").fit(X, (y["months"], np.zeros(len(y))))
    with pytest.raises(ValueError, match="pass ridge > 0"):
        fit(5, ridge=0).fit(X, X[:, 0] > 0)
    with pytest.raises(AttributeError, match="predict_proba"):
        fit().fit(X, y).predict_proba(X)
    with pytest.raises(AttributeError, match="predict_survival"):
        fit(2).fit(X, y["died"]).predict_survival(X, [1.0])


def test_one_event_is_enough():
    X, y = survival_data()
    y["died"] = False
    y["died"][np.argmin(y["months"])] = True
    selector = LikelihoodForwardSelector(n_features_to_select=2).fit(X, y)
    assert np.isfinite(selector.coef_).all()
    assert selector.coef_.any()


def test_a_saved_survival_model_predicts_the_same(tmp_path):
    X, y = survival_data()
    strata = np.where(np.arange(len(y)) % 2, "north", "south")
    selector = LikelihoodForwardSelector(n_features_to_select=2).fit(X, y, strata=strata)
    selector.certify(X, y, strata=strata)
    sparsieve.save(selector, tmp_path / "model.sparsieve")
    again = sparsieve.load(tmp_path / "model.sparsieve")
    for model in (again, again.at(1)):
        survival = model.predict_survival(X, [3.0], strata=strata)
        same = selector.at(int(model.support_.sum()))
        np.testing.assert_array_equal(survival, same.predict_survival(X, [3.0], strata=strata))
