"""Selectors that predict are classifiers or regressors to scikit-learn, whatever its version."""

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, d2_tweedie_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from sparsieve import (
    L0SVMSelector,
    L1MPMSelector,
    LikelihoodForwardSelector,
    LikelihoodL21Selector,
    RidgeForwardSelector,
    SelectorCV,
    all_estimators,
)
from sparsieve.selectors.linear import LinearSelector

X, Y = make_classification(60, 6, n_informative=3, class_sep=2.0, random_state=0)
PREDICTING = [
    n for n, cls in all_estimators().items() if n != "SelectorCV" and hasattr(cls(), "predict")
]
SURVIVAL = np.zeros(60, dtype=[("event", "?"), ("time", "f8")])
SURVIVAL["event"], SURVIVAL["time"] = True, np.arange(60) + 1.0


@pytest.mark.parametrize("name", sorted(PREDICTING))
def test_what_predicts_classes_is_a_classifier(name):
    made = all_estimators()[name]()
    if isinstance(made, LinearSelector) and made._accepts_regression:  # may be either
        assert not is_classifier(made)
        made.set_params(task="classification")
    assert is_classifier(made)


@pytest.mark.parametrize("cls", [LikelihoodForwardSelector, L0SVMSelector, L1MPMSelector])
@pytest.mark.filterwarnings("ignore:Only 1 feature")
def test_scores_by_name_are_numbers(cls):
    found = cross_val_score(cls(2), X, Y, scoring="roc_auc", cv=3)
    assert (found > 0.6).all()
    fitted = cls(2).fit(X, Y)
    assert fitted.score(X, Y) == accuracy_score(Y, fitted.predict(X))


def test_a_grid_search_tells_candidates_apart():
    search = GridSearchCV(
        LikelihoodForwardSelector(), {"n_features_to_select": [1, 4]}, scoring="roc_auc", cv=3
    ).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_index_ == search.cv_results_["mean_test_score"].argmax()


def test_calibration_and_votes_take_them():
    calibrated = CalibratedClassifierCV(LikelihoodForwardSelector(2), cv=3).fit(X, Y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    voting = VotingClassifier([("a", LikelihoodForwardSelector(2)), ("b", L1MPMSelector(2))])
    assert voting.fit(X, Y).score(X, Y) > 0.7


@pytest.mark.long("compiles the Cox model")
@pytest.mark.parametrize("cls", [LikelihoodForwardSelector, LikelihoodL21Selector])
def test_the_task_decides(cls):
    counts = cls(task="counts")
    assert is_regressor(counts)
    assert not is_classifier(counts)
    assert is_regressor(cls(loss="poisson"))
    for survival in (cls(task="survival"), cls(2).fit(X, SURVIVAL)):
        assert not is_classifier(survival)
        assert not is_regressor(survival)
        assert not hasattr(survival, "score")
    y = np.arange(60) % 4
    fitted = counts.set_params(n_features_to_select=2).fit(X, y)
    assert fitted.score(X, y) == pytest.approx(d2_tweedie_score(y, fitted.predict(X), power=1))


def test_a_search_is_what_it_has_seen():
    search = SelectorCV(ks=[1, 2], cv=2, n_repeats=1)
    assert not is_classifier(search)
    assert is_classifier(SelectorCV(RidgeForwardSelector(task="classification")))
    assert is_regressor(SelectorCV(RidgeForwardSelector(task="regression")))
    assert np.isfinite(cross_val_score(search, X, Y, cv=2, scoring="roc_auc")).all()
    assert is_classifier(search.fit(X, Y))
    assert is_regressor(search.fit(X, X[:, 0]))


@pytest.mark.parametrize("cls", [LikelihoodForwardSelector, L0SVMSelector, L1MPMSelector])
def test_labels_in_a_column_are_warned_of_in_the_words_of_scikit_learn(cls):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        found = cls(2).fit(X, Y[:, None])
    np.testing.assert_array_equal(found.predict(X), cls(2).fit(X, Y).predict(X))
