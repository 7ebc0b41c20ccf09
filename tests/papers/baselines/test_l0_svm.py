"""The l0 SVMs against linear programs, brute force and scikit-learn's rules."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from hinge_reference import hinge_minimum, small_problem
from sparsieve import ExactPenaltySVMSelector, L0SVMSelector
from sparsieve.penalties.concave import surrogate


@pytest.mark.thinned(6)
@parametrize_with_checks([L0SVMSelector(), ExactPenaltySVMSelector()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["exp", "capped_l1", "log", "scad", "l1"])
def test_objective_falls_and_is_what_it_says(name):
    X, y = small_problem(2)
    raw = {"fit_intercept": True, "standardize": False}
    selector = L0SVMSelector(surrogate=name, C=2.0, theta=3.0, **raw).fit(X, y)
    assert (np.diff(selector.history_) <= 1e-9).all()
    assert selector.optimality_ < 1e-6
    hinge = np.maximum(0.0, 1.0 - y * selector.decision_function(X)).sum()
    value = surrogate(name, 3.0).total(selector.coef_) + 2.0 * hinge
    assert selector.objective_ == pytest.approx(value, rel=1e-6)


def test_exact_penalty_objective():
    X, y = small_problem(2)
    selector = ExactPenaltySVMSelector(C=3.0, penalty=2.0, max_weight=0.8, standardize=False).fit(
        X, y
    )
    assert (np.diff(selector.history_) <= 1e-9).all()
    size = np.abs(selector.coef_[0])
    assert (size <= 0.8 + 1e-9).all()
    hinge = 3.0 * np.maximum(0.0, 1.0 - y * selector.decision_function(X)).sum()
    # Each switch is at |w| / B or at 1; the fitted ones are no better than the best ones.
    best = hinge + np.minimum(3.0 / 0.8 * size, 1.0).sum()
    assert selector.objective_ >= best - 1e-6
    assert selector.objective_ <= hinge + np.maximum(3.0 / 0.8 * size, 1.0)[size > 0].sum() + 1e-6


def test_exact_penalty_is_capped_l1_when_nothing_reaches_the_switches():
    X, y = small_problem(3)
    exact = ExactPenaltySVMSelector(C=0.5, penalty=1.0, max_weight=100.0).fit(X, y)
    capped = L0SVMSelector(surrogate="capped_l1", C=0.5, theta=2.0 / 100.0).fit(X, y)
    assert exact.objective_ == pytest.approx(capped.objective_, rel=1e-6)


def test_l1_case_is_the_global_optimum_in_user_units():
    X, y = small_problem(4)
    X = X * np.linspace(0.1, 10.0, X.shape[1]) + 3.0
    selector = L0SVMSelector(surrogate="l1", C=0.4).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    best = hinge_minimum(Z, y, np.full(30, 0.4), np.ones(80))
    assert selector.objective_ == pytest.approx(best, rel=1e-6)
    hinge = np.maximum(0.0, 1.0 - y * (X @ selector.coef_[0] + selector.intercept_[0])).sum()
    l1 = np.abs(selector.coef_[0] * X.std(axis=0)).sum()
    assert l1 + 0.4 * hinge == pytest.approx(best, rel=1e-6)


@pytest.mark.long("many fits to full accuracy")
def test_finds_the_features_that_matter():
    X, y = small_problem(5, n_samples=80, n_features=500)
    for selector in (L0SVMSelector(), ExactPenaltySVMSelector()):
        assert set(np.argsort(selector.fit(X, y).ranking_)[:2]) == {3, 7}


def test_fewer_features_are_solved_again():
    X, y = small_problem(6)
    selector = L0SVMSelector(surrogate="log", C=5.0).fit(X, y)
    two = selector.at(2)
    assert np.count_nonzero(two.coef_) <= 2
    assert two.support_.sum() == 2
    np.testing.assert_array_equal(selector.at(None).coef_, selector.coef_)
    assert selector.at(80).support_.all()
    losses = [np.maximum(0, 1 - y * s.decision_function(X)).sum() for s in (two, selector)]
    truncated = selector.coef_[0] * two.support_
    plain = np.maximum(0, 1 - y * (X @ truncated + selector.intercept_[0])).sum()
    assert losses[0] <= plain + 1e-9


@pytest.mark.parametrize("cls", [L0SVMSelector, ExactPenaltySVMSelector])
def test_weights_are_repetitions(cls):
    X, y = small_problem(7)
    weight = np.random.default_rng(0).integers(0, 3, size=30)
    weighted = cls().fit(X, y, sample_weight=weight)
    repeated = cls().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)


def test_sparse_and_single_precision():
    X, y = small_problem(8)
    X[np.abs(X) < 0.8] = 0.0
    dense = L0SVMSelector().fit(X, y)
    lean = L0SVMSelector().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(lean.coef_, dense.coef_, atol=1e-8)
    single = L0SVMSelector().fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(single.support_, dense.support_)


def test_several_classes():
    X, y = load_wine(return_X_y=True)
    selector = L0SVMSelector().fit(X, y)
    assert selector.coef_.shape == (3, 13)
    assert selector.history_[-1] == pytest.approx(selector.objective_)
    assert (selector.predict(X) == y).mean() > 0.95
    # The best feature of every class counts the same; the parts add up to the loss saved.
    share = np.abs(selector.coef_ * X.std(axis=0))
    joint = (share / share.max(axis=1, keepdims=True)).mean(axis=0) ** 2
    signs = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    loss = np.maximum(0.0, 1.0 - signs * selector.decision_function(X)).sum(axis=0)
    empty = 2.0 * np.minimum((signs > 0).sum(axis=0), (signs < 0).sum(axis=0))
    saved = np.mean(1.0 - loss / empty)
    np.testing.assert_allclose(selector.scores_, saved * joint / joint.sum(), rtol=1e-6)


def test_says_when_it_did_not_converge():
    X, y = make_classification(60, 40, n_informative=8, random_state=0)
    with pytest.warns(ConvergenceWarning, match="L0SVMSelector stopped after 1 iteration "):
        L0SVMSelector(C=10.0, max_iter=1).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1.0}, "C must be positive, got -1.0"),
        ({"surrogate": "l2"}, "surrogate must be one of"),
        ({"theta": 0}, "theta must be positive"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = small_problem()
    with pytest.raises(ValueError, match=message):
        L0SVMSelector(**parameters).fit(X, y)


def test_regression_is_refused():
    X, _ = small_problem()
    with pytest.raises(ValueError, match="needs one column of class labels"):
        L0SVMSelector().fit(X, X[:, 0])


def test_no_warnings_on_ordinary_data():
    X, y = small_problem(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        L0SVMSelector().fit(X, y)


@pytest.mark.thinned(6)
@pytest.mark.parametrize(
    "selector",
    [L0SVMSelector(), L0SVMSelector(surrogate="l1"), ExactPenaltySVMSelector()],
    ids=["exp", "l1", "exact penalty"],
)
@pytest.mark.parametrize(("n", "d"), [(300, 10), (100, 200)])
@pytest.mark.long("many draws of noise, or chance would not show")
def test_noise_scores_like_noise(selector, n, d):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
        noise = selector.fit(X, y).scores_.max()
        X[:, 4] += 3.0 * y
        informed = selector.fit(X * rng.uniform(0.01, 100.0, size=d), y)
        assert np.argmax(informed.scores_) == 4
        assert informed.scores_[4] > 2.0 * noise
        assert informed.scores_.sum() <= 1.0 + 1e-9


def test_scores_are_what_features_add_to_covariates():
    X, y = small_problem(3)
    X[:, 5] = y
    alone = L0SVMSelector(2, always_keep=[5]).fit(X, y)
    np.testing.assert_allclose(alone.scores_, 0.0, atol=1e-9)


def test_prints_when_asked(capsys):
    X, y = small_problem(1)
    fitted = L0SVMSelector(verbose=1).fit(X, y)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("[L0SVMSelector] 1: objective ")
    assert len(fitted.history_) == len(printed)
