"""Permutation importance as a method: what it measures, for any model, by name."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine, make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import sparsieve
from sparsieve import PermutationSelector

WINE, KIND = load_wine(return_X_y=True)


def test_it_agrees_with_scikit_learn_on_average():
    """The same quantity, with other shuffles: equal within the noise of many of them."""
    X, y = make_friedman1(90, 5, random_state=0)
    folds = list(KFold(3).split(X))
    found = PermutationSelector(estimator=LinearRegression(), cv=folds, n_repeats=30).fit(X, y)
    theirs = [
        permutation_importance(
            LinearRegression().fit(X[train], y[train]), X[test], y[test], n_repeats=30
        ).importances_mean
        for train, test in folds
    ]
    np.testing.assert_allclose(found.scores_, np.mean(theirs, axis=0), atol=0.1)
    models = [LinearRegression().fit(X[train], y[train]) for train, _ in folds]
    scores = [m.score(X[test], y[test]) for m, (_, test) in zip(models, folds, strict=True)]
    assert found.held_out_score_ == pytest.approx(np.mean(scores))


def test_it_is_a_plain_loop():
    """One shuffle, written down: the same seed for every column."""
    X, y = make_friedman1(60, 5, random_state=1)
    (train, test), *_ = folds = list(KFold(2).split(X))
    found = PermutationSelector(estimator=LinearRegression(), cv=folds[:1], n_repeats=1).fit(X, y)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=1)[0]
    order = np.random.default_rng(seed).permutation(len(test))
    model = LinearRegression().fit(X[train], y[train])
    for j in range(5):
        other = X[test].copy()
        other[:, j] = other[order, j]
        loss = model.score(X[test], y[test]) - model.score(other, y[test])
        assert found.scores_[j] == pytest.approx(loss)


def test_by_name_with_any_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.where(np.abs(X[:, 2]) > 0.7, "far", "near")  # which no line tells apart
    model = KNeighborsClassifier(5)
    selected = sparsieve.select(X, y, k=1, method="permutation", estimator=model, check=False)
    assert selected.features == ["x2"]
    assert selected.method.estimator is not None
    assert np.mean(selected.predict(X) == y) > 0.9
    assert "permutation" in sparsieve.registry.all_methods()


def test_gaps_go_to_models_that_take_them():
    X = WINE.copy()
    X[::7, 6] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    found = PermutationSelector(3, estimator=trees, n_repeats=1, cv=2).fit(X, KIND)
    assert found.support_.sum() == 3
    with pytest.raises(ValueError, match="NaN"):
        PermutationSelector(3).fit(X, KIND)


@pytest.mark.slow
def test_the_number_of_jobs_makes_no_difference():
    forest = RandomForestRegressor(5, random_state=0)
    X, y = make_friedman1(60, 5, random_state=0)
    how = {"estimator": forest, "cv": 2, "n_repeats": 1}
    ways = [PermutationSelector(**how, n_jobs=n).fit(X, y) for n in (1, 2)]
    np.testing.assert_array_equal(ways[0].scores_, ways[1].scores_)


def test_what_is_clearly_needed_is_kept_by_default():
    X, y = make_friedman1(200, 12, noise=0.5, random_state=0)
    found = PermutationSelector().fit(X, y)
    assert found.support_[[0, 1, 3]].all()
    assert found.support_[5:].sum() <= 1  # no test of each, so noise may slip in
    own = found.scores_ > 2 * found.standard_errors_
    assert found.support_.sum() == own.sum()


def test_scores_and_tasks():
    found = PermutationSelector(2, scoring="neg_log_loss", estimator=GaussianNB(), cv=2)
    assert np.isfinite(found.fit(WINE, KIND).scores_).all()
    with pytest.raises(ValueError, match="class"):
        found.set_params(task="regression").fit(WINE, WINE[:, 0])


class Lonely(BaseEstimator):
    def fit(self, X, y):
        return self


def test_bad_parameters_have_a_sentence():
    with pytest.raises(TypeError, match="estimator must be a model with fit and predict"):
        PermutationSelector(estimator=Lonely()).fit(WINE, KIND)
    with pytest.raises(ValueError, match="n_repeats"):
        PermutationSelector(n_repeats=0).fit(WINE, KIND)
    with pytest.raises(ValueError, match="cv"):
        PermutationSelector(cv=1).fit(WINE, KIND)
    with pytest.raises(ValueError, match="PermutationSelector does not take weights of samples"):
        sparsieve.select(WINE, KIND, k=2, method="permutation", sample_weight=np.ones(len(KIND)))


def test_rare_classes_have_fewer_folds():
    y = np.zeros(20, dtype=int)
    y[:2] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PermutationSelector(2).fit(np.random.default_rng(0).normal(size=(20, 4)), y)


class Ended(Exception):
    """Before the work."""


def test_a_long_fit_is_announced(monkeypatch):
    def end(self, data):
        raise Ended

    monkeypatch.setattr(PermutationSelector, "_fit", end)
    said = "PermutationSelector will take about 4 minutes"
    with pytest.warns(UserWarning, match=said), pytest.raises(Ended):
        PermutationSelector(3).fit(np.zeros((40, 20_000)), np.arange(40) % 2)
