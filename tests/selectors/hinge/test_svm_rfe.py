"""SVM-RFE: the elimination against a plain loop and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from hinge_reference import squared_hinge_minimum
from sparsieve import SVMRFESelector
from sparsieve.design import standardise as convert


def make(seed, n=40, d=15, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    X = rng.normal(size=(n, d))
    X[:, :4] += rng.normal(size=(classes, 4))[y]
    return X, y


# -- the elimination -------------------------------------------------------------------------


def plain_elimination(X, y, C, step):
    """Guyon's loop around scikit-learn's solver; features from worst to best."""
    left, order = list(range(X.shape[1])), []
    while left:
        machine = LinearSVC(C=C, fit_intercept=False, tol=1e-9, max_iter=10**6)
        importance = (machine.fit(X[:, left], y).coef_ ** 2).sum(axis=0)
        count = max(1, int(step * len(left))) if step < 1 else min(step, len(left))
        worst = np.argsort(importance)[:count]
        order += [left[j] for j in worst]
        left = [feature for j, feature in enumerate(left) if j not in set(worst)]
    return order


@pytest.mark.parametrize(("n", "d"), [(20, 45), (40, 12)])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("step", [0.2, 1, 5])
def test_elimination_equals_the_plain_loop(n, d, classes, step):
    X, y = make(n + classes, n=n, d=d, classes=classes)
    options = {"C": 0.1, "fit_intercept": False, "standardize": False}
    selector = SVMRFESelector(step=step, **options).fit(X, y)
    assert_array_equal(selector.path_.features[::-1], plain_elimination(X, y, 0.1, step))
    assert_array_equal(selector.ranking_[selector.path_.features], np.arange(1, d + 1))


def test_the_same_features_as_scikit_learn():
    X, y = make(9, n=60, d=30)
    Z = StandardScaler().fit_transform(X)
    machine = LinearSVC(C=0.1, intercept_scaling=100.0, tol=1e-8, max_iter=10**6)
    theirs = RFE(machine, n_features_to_select=7, step=1).fit(Z, y)
    ours = SVMRFESelector(n_features_to_select=7, C=0.1, step=1).fit(X, y)
    assert_array_equal(ours.support_, theirs.support_)


def test_every_k_from_one_fit():
    X, y = make(1, d=40)
    whole = SVMRFESelector(n_features_to_select=5, step=0.3).fit(X, y)
    for k in (1, 3, 12, 33, 40):
        again = SVMRFESelector(n_features_to_select=k, step=0.3).fit(X, y)
        assert_array_equal(whole.at(k).support_, again.support_)
        assert again.support_.sum() == k
    assert whole.optimality_ <= 1e-8


@pytest.mark.parametrize("d", [15, 90])
@pytest.mark.long("many fits to full accuracy")
def test_weights_order_and_sparse(d):
    X, y = make(2, d=d)
    X[np.abs(X) < 0.3] = 0.0
    ranking = SVMRFESelector().fit(X, y).ranking_
    assert_array_equal(SVMRFESelector().fit(sparse.csr_array(X), y).ranking_, ranking)
    rows, columns = (np.random.default_rng(0).permutation(k) for k in X.shape)
    assert_array_equal(SVMRFESelector().fit(X[rows], y[rows]).ranking_, ranking)
    assert_array_equal(SVMRFESelector().fit(X[:, columns], y).ranking_, ranking[columns])
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    weights[:3] = 1
    weighted = SVMRFESelector().fit(X, y, sample_weight=weights)
    repeated = SVMRFESelector().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_array_equal(weighted.ranking_, repeated.ranking_)


def test_lazy_standardisation_changes_nothing(monkeypatch):
    X, y = make(3, d=60)
    ranking = SVMRFESelector().fit(X, y).ranking_
    monkeypatch.setattr(convert, "MAX_COPY_BYTES", 0)
    assert_array_equal(SVMRFESelector().fit(X, y).ranking_, ranking)


def test_constant_and_duplicated_columns():
    X, y = make(4)
    X = np.c_[np.full(len(X), 0.1), X, np.full(len(X), 7.0)]
    selector = SVMRFESelector(step=1).fit(X, y)
    assert_array_equal(selector.ranking_[[0, -1]], [16, 17])
    best = int(np.argmin(selector.ranking_))
    doubled = SVMRFESelector(step=1).fit(np.c_[X, X[:, best]], y)
    # A copy is worth as much as its original; the original wins.
    assert doubled.ranking_[best] < doubled.ranking_[-1]


def test_tiny_classes_and_single_precision():
    X, y = make(5)
    y[:] = np.minimum(y, 1)
    y[0] = 2
    selector = SVMRFESelector(4, class_weight="balanced").fit(X, y)
    assert selector.support_.sum() == 4
    single = SVMRFESelector(4, class_weight="balanced").fit(X.astype(np.float32), y)
    assert_array_equal(single.support_, selector.support_)


def test_bad_parameters_and_budget():
    X, y = make(0)
    for options, message in [
        ({"C": 0.0}, "C must be positive"),
        ({"step": 0}, "step must be positive, got 0"),
        ({"step": 1.5}, "fraction below 1 or a whole number"),
    ]:
        with pytest.raises(ValueError, match=message):
            SVMRFESelector(**options).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="SVMRFESelector stopped after .* optimality"):
        SVMRFESelector(max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match="needs one column of class labels"):
        SVMRFESelector().fit(X, X[:, 0])


# -- the scores ------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 0.3])
def test_scores_are_rises_of_the_objective(step):
    X, y = make(6, n=60, d=12, classes=2)
    signs = np.where(y == 1, 1.0, -1.0)
    options = {"C": 0.2, "step": step, "standardize": False}
    fitted = SVMRFESelector(3, **options).fit(X, y)
    values, left, costs = [], 12, np.full(60, 0.2)
    while left:
        kept = fitted.path_.features[:left]
        values.append(squared_hinge_minimum(X[:, kept], signs, costs, True)[2])
        left -= max(1, int(step * left)) if step < 1 else 1
    empty = squared_hinge_minimum(np.zeros((60, 1)), signs, costs, True)[2]
    assert_allclose(fitted.history_, values, rtol=1e-6)
    assert fitted.objective_ == fitted.history_[-1]
    if step == 1:
        rises = np.diff([*values, empty]) / empty
        expected = np.maximum.accumulate(rises)[::-1]
        assert_allclose(fitted.scores_[fitted.path_.features], expected, atol=1e-6)
    assert fitted.scores_.sum() >= 1.0 - values[0] / empty - 1e-6
    assert fitted.scores_.max() <= 1.0
    assert (np.diff(fitted.scores_[fitted.path_.features]) <= 0).all()


@pytest.mark.parametrize(("n", "d"), [(300, 10), (100, 300)])
@pytest.mark.long("many draws of noise, or chance would not show")
def test_noise_scores_like_noise(n, d):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
        noise = SVMRFESelector(3).fit(X, y).scores_.max()
        X[:, 4] += 3.0 * y
        three = SVMRFESelector(3).fit(X, y)
        assert three.ranking_[4] == 1
        assert three.scores_[4] > 2.0 * noise
        scale = rng.uniform(0.01, 100.0, size=d)
        six = SVMRFESelector(6).fit(X * scale, y)
        assert_allclose(six.scores_, three.scores_, atol=1e-6)


@pytest.mark.parametrize("size", [(40, 15), (20, 60)])
@pytest.mark.parametrize("seed", [*range(12), 17])
def test_covariates_that_explain_everything_leave_no_scores(seed, size):
    X, y = make(seed, *size, classes=2)
    X[:, 0] = np.where(y == 1, 1.0, -1.0) + 0.01 * X[:, 0]
    fitted = SVMRFESelector(3, always_keep=[0], C=100.0).fit(X, y)
    assert fitted.support_[0]
    assert_allclose(fitted.scores_, 0.0, atol=1e-6)
