"""Whatever has coefficients predicts, and is taken where scikit-learn wants a model."""

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    validation_curve,
)
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from sparsieve import (
    L0SVMSelector,
    L20Selector,
    L21Selector,
    LikelihoodL21Selector,
    RFSSelector,
    RidgeForwardSelector,
    RobustL20Selector,
    all_estimators,
)
from sparsieve.selectors.linear import LinearSelector

X, Y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
PAIR = (Y == 1).astype(int)
FOLDS = StratifiedKFold(3)  # not known to be a classifier before the fit
NUMBERS, AMOUNT = load_diabetes(return_X_y=True)
AMOUNT = AMOUNT + 0.5
LINEAR = {n: cls for n, cls in all_estimators().items() if issubclass(cls, LinearSelector)}
# It has a machine for every step.
SILENT = ("SVMRFESelector",)


@pytest.mark.parametrize("name", sorted({*LINEAR} - {*SILENT}))
@pytest.mark.filterwarnings("ignore")
def test_classes_are_those_with_the_largest_value(name):
    for y in (Y, PAIR):
        selector = LINEAR[name](5).fit(X, y)
        found = selector.decision_function(X)
        F = X @ selector.coef_.T + selector.intercept_
        assert found.shape == ((178, 3) if y is Y else (178,))
        if F.shape[1] == 3:
            np.testing.assert_array_equal(selector.predict(X), F.argmax(axis=1))
        else:
            np.testing.assert_array_equal(selector.predict(X), (found > 0).astype(int))
        if F.shape[1] == 2:
            np.testing.assert_allclose(found, F[:, 1] - F[:, 0])
        assert selector.score(X, y) == accuracy_score(y, selector.predict(X))
        assert selector.score(X, y) > 0.65  # strongly shrunk ones among them


def test_numbers_are_those_of_the_same_least_squares():
    selector = RidgeForwardSelector(4, ridge=1e-9, clip=None).fit(NUMBERS, AMOUNT)
    kept = selector.get_support()
    exact = Ridge(alpha=1e-9).fit(NUMBERS[:, kept], AMOUNT)
    expected = exact.predict(NUMBERS[:, kept])
    np.testing.assert_allclose(selector.predict(NUMBERS), expected, rtol=1e-5)
    assert selector.score(NUMBERS, AMOUNT) == r2_score(AMOUNT, selector.predict(NUMBERS))
    assert not hasattr(selector, "decision_function")
    both = np.column_stack([AMOUNT, -AMOUNT])
    two = L21Selector(4).fit(NUMBERS, both).predict(NUMBERS)
    np.testing.assert_allclose(two[:, 0], -two[:, 1], atol=1e-6 * np.abs(AMOUNT).max())
    smaller = selector.at(2).predict(NUMBERS)
    assert not np.allclose(smaller, selector.predict(NUMBERS))


def test_votes_folds_curves_and_importances_take_them():
    members = [
        ("l21", L21Selector(5, task="classification")),
        ("l20", L20Selector(5, task="classification")),
        ("l0", L0SVMSelector(5)),
        ("rfs", RFSSelector(5, task="classification")),
        ("plain", LogisticRegression()),
    ]
    assert VotingClassifier(members).fit(X, Y).score(X, Y) > 0.9
    numbers = [("l21", L21Selector(4, task="regression")), ("plain", Ridge())]
    assert VotingRegressor(numbers).fit(NUMBERS, AMOUNT).score(NUMBERS, AMOUNT) > 0.3
    selector = L21Selector(8, task="classification")
    assert np.mean(cross_val_predict(selector, X, Y, cv=3) == Y) > 0.8
    assert (cross_val_score(L21Selector(5), X, PAIR, cv=FOLDS, scoring="roc_auc") > 0.8).all()
    how = {"param_name": "n_features_to_select", "param_range": [1, 5], "cv": 3}
    assert validation_curve(selector, X, Y, **how)[1].mean(axis=1)[1] > 0.8
    fitted = selector.fit(X, Y)
    found = permutation_importance(fitted, X, Y, n_repeats=2, random_state=0).importances_mean
    assert found[~fitted.coef_.any(axis=0)].max(initial=0.0) == 0.0
    assert found.max() > 0.02


def test_what_they_are_is_known_when_it_is_said_or_seen():
    assert is_classifier(L21Selector(task="classification"))
    assert is_regressor(L21Selector(task="regression"))
    assert is_classifier(L0SVMSelector())
    selector = L21Selector()
    assert not is_classifier(selector)
    assert not is_regressor(selector)
    assert is_classifier(selector.fit(X, Y))
    assert is_regressor(L21Selector().fit(NUMBERS, AMOUNT))
    for name in SILENT:
        assert not hasattr(LINEAR[name](), "predict")
        assert not hasattr(LINEAR[name](5).fit(X, Y), "predict")


@pytest.mark.parametrize("cls", [RFSSelector, RobustL20Selector, LikelihoodL21Selector])
def test_predictions_are_as_exact_as_their_tolerance(cls):
    check_sample_weight_equivalence_on_dense_data(cls.__name__, cls(tol=1e-9))


def test_a_fit_forgets_what_an_earlier_one_left():
    selector = L21Selector(3).fit(X, Y)
    selector.find_substitutes(X)
    assert {"path_", "substitutes_", "classes_"} <= vars(selector).keys()
    selector.set_params(n_features_to_select=None).fit(X, AMOUNT[: len(X)])
    assert not {"path_", "substitutes_", "classes_"} & vars(selector).keys()


def test_an_indicator_matrix_gives_labels():
    y = np.column_stack([Y == 0, Y != 1]).astype(int)
    selector = L20Selector(5, task="classification").fit(X, y)
    F = X @ selector.coef_.T + selector.intercept_
    np.testing.assert_array_equal(selector.predict(X), (F > 0.5).astype(int))
    assert selector.score(X, y) > 0.8
