"""The verdict on held-out samples belongs to the model that scored, and says no more than that."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve import PermutationSelector, RidgeForwardSelector, SelectorCV
from sparsieve.meta.guess import TestedModel


def drawn(seed: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 20)), np.arange(60) % 2
    X[:, 3] += shift * y
    return X, y


class Unknown(BaseEstimator):
    """A model that scikit-learn knows neither as a classifier nor as a regressor."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]

    def score(self, X, y):
        return 0.5


@pytest.mark.parametrize("k", [2, "auto"])
@pytest.mark.parametrize("model", [GaussianNB(), make_pipeline(StandardScaler(), GaussianNB())])
def test_noise_is_recognised_and_a_signal_is_not_lost(model, k):
    method = "fisher" if k == 2 else SelectorCV("fisher", ks=[1, 3], n_repeats=2)
    asked = {"k": k, "estimator": model, "method": method, "cv": 4}
    noise = sparsieve.select(*drawn(1), **asked)
    assert noise.check.beats_guess is False
    said = "GaussianNB on the selected features does not predict better than a guess without"
    assert str(noise).startswith(said)
    assert "Other models were not tested: try estimator=HistGradientBoosting" in noise.nothing_found
    assert said in noise._repr_html_()
    found = sparsieve.select(*drawn(1, 2.0), **asked)
    assert found.check.beats_guess
    assert found.nothing_found == ""


def test_numbers_are_tested_by_the_model_that_was_given():
    X = drawn(0)[0]
    noise = np.random.default_rng(5).standard_normal(60)
    how = {"k": 2, "method": "f-statistic", "estimator": Ridge()}
    assert sparsieve.select(X, noise, **how).nothing_found.startswith("Ridge on the selected")
    found = sparsieve.select(X, X[:, 2] + 0.5 * noise, **how)
    assert found.check.beats_guess
    assert found.nothing_found == ""


def test_what_was_not_tested_is_said():
    selected = sparsieve.select(*drawn(0), k=2, method="fisher", estimator=Unknown())
    assert selected.check.beats_guess is None
    said = "Not tested against a guess: what Unknown scores itself by is not known; pass scoring="
    assert said in str(selected)
    assert said in selected._repr_html_()
    assert selected.check.as_dict()["not_tested"].startswith("what Unknown scores itself by")
    known = sparsieve.select(
        *drawn(0), k=2, method="fisher", estimator=Unknown(), scoring="accuracy"
    )
    assert known.check.beats_guess is False
    assert "Not tested" not in str(known)


REGRESSORS = [
    LinearRegression(),
    make_pipeline(StandardScaler(), LinearRegression()),
    GridSearchCV(Ridge(), {"alpha": [1.0]}),
]
CLASSIFIERS = [
    LogisticRegression(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    GridSearchCV(LogisticRegression(), {"C": [1.0]}),
]


@pytest.mark.parametrize("model", REGRESSORS)
def test_a_model_of_numbers_is_refused_for_classes(model):
    X, y = drawn(0)
    said = "given as estimator, predicts numbers, but y holds classes; pass a model such as Logi"
    for how in ({"k": 2}, {}, {"k": 2, "method": "permutation"}):
        with pytest.raises(ValueError, match=said):
            sparsieve.select(X, y, estimator=model, **how)
    with pytest.raises(ValueError, match=said):
        sparsieve.compare(X, y, ["fisher"], ks=[2], estimator=model)
    for inside in (RidgeForwardSelector(task="classification"), "ridge-forward"):
        labels = np.array(["a", "b"])[y] if isinstance(inside, str) else y
        with pytest.raises(ValueError, match=said):
            SelectorCV(inside, estimator=model).fit(X, labels)
    with pytest.raises(ValueError, match=said):
        PermutationSelector(2, estimator=model, task="classification").fit(X, y)


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_a_model_of_classes_is_refused_for_numbers(model):
    X = drawn(0)[0]
    said = r"given as estimator, predicts classes, but y holds numbers; pass a model such as Ridge"
    for how in ({"k": 2}, {}, {"k": 2, "method": "permutation"}):
        with pytest.raises(ValueError, match=said):
            sparsieve.select(X, X[:, 0], estimator=model, **how)
    with pytest.raises(ValueError, match=said):
        sparsieve.compare(X, X[:, 0], ["mrmr"], ks=[2], estimator=model)
    name = type(model).__name__
    for selector in (SelectorCV(estimator=model), PermutationSelector(2, estimator=model)):
        with pytest.raises(ValueError, match=f"predicts numbers in the place of {name}"):
            selector.fit(X, X[:, 0])


def test_whole_numbers_may_be_the_classes_of_a_classifier():
    X, y = drawn(0)
    search = SelectorCV(estimator=GaussianNB(), ks=[2], cv=2, n_repeats=1)
    assert set(search.fit(X, y + 7).classes_) == {7, 8}
    assert sparsieve.select(X, y + 7, k=2, estimator=GaussianNB()).task == "classification"


def test_methods_that_are_no_better_are_said_to_be_scored_by_one_model():
    X, y = drawn(1)
    linear = sparsieve.compare(X, y, ["fisher"], ks=[2], n_repeats=1).recommendation
    assert "Predictions are those of a linear model. Other models were not tested: for" in linear
    near = sparsieve.compare(X, y, ["fisher"], ks=[2], n_repeats=1, model="1nn").recommendation
    assert "Predictions are those of nearest neighbour. Other models were not tested" in near
    own = sparsieve.compare(X, y, ["fisher"], ks=[2], n_repeats=1, estimator=GaussianNB())
    assert "Predictions are those of GaussianNB. Other models" in own.recommendation
    for said in (linear, near, own.recommendation):
        assert "nothing to find" not in said


def test_what_to_try_is_named_where_there_is_something():
    others = "Other models were not tested"
    assert TestedModel("regression", "HistGradientBoostingRegressor").beyond == others
    assert TestedModel("survival", "").beyond.startswith(f"{others}: that of survival times")
