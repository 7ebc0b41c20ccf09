"""SVM-RFE: the machines against general-purpose solvers, the elimination against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sparsieve import SVMRFESelector
from sparsieve.design import standardise as convert
from sparsieve.solvers.hinge.newton import FeatureSide, FiniteNewton, GramSide, SquaredHinge


def make(seed, n=40, d=15, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    X = rng.normal(size=(n, d))
    X[:, :4] += rng.normal(size=(classes, 4))[y]
    return X, y


# -- the machines ----------------------------------------------------------------------------


def minimum(X, y, C, fit_intercept, charged=1.0):
    """The same objective, handed to L-BFGS; ``charged`` is zero for unpenalised columns."""

    def objective(v):
        w, b = v[:-1], v[-1] * fit_intercept
        slack = np.maximum(0.0, 1.0 - y * (X @ w + b))
        pull = -2.0 * C * y * slack
        gradient = np.append(charged * w + X.T @ pull, pull.sum() * fit_intercept)
        return 0.5 * (charged * w) @ w + C @ slack**2, gradient

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-11}
    start = np.zeros(X.shape[1] + 1)
    found = optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return found.x[:-1], found.x[-1] * fit_intercept, found.fun


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (80, 10), (25, 25)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_both_sides_find_the_minimum(fit_intercept, n, d, C):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    costs = C * rng.uniform(0.5, 2.0, n)
    w, b, value = minimum(X, y, costs, fit_intercept)
    for side in (GramSide(X @ X.T, fit_intercept), FeatureSide(X, fit_intercept)):
        problem, solver = SquaredHinge(side, y, costs), FiniteNewton(tol=1e-10)
        result = solver.solve(problem)
        beta, free = result.solution.beta, result.solution.free
        ours = X.T @ beta
        slack = np.maximum(0.0, 1.0 - y * (X @ ours + free.sum()))
        assert 0.5 * ours @ ours + costs @ slack**2 <= value * (1 + 1e-9)
        assert result.objective == pytest.approx(value, rel=1e-9)
        assert (np.diff(result.trace) <= 1e-9 * value).all()
        assert_allclose(ours, w, atol=2e-4 * np.abs(w).max())
        assert_allclose(free.sum(), b, atol=1e-3)
        assert result.optimality <= 1e-10
        # Starting at the solution, one step confirms it.
        assert solver.solve(problem, result).n_iter <= 1


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (80, 10)])
def test_unpenalised_columns(fit_intercept, n, d):
    rng = np.random.default_rng(n)
    X, F = rng.normal(size=(n, d)), rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + F[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    costs = rng.uniform(0.05, 0.2, n)
    charged = np.append(np.ones(d), np.zeros(2))
    w, _, value = minimum(np.hstack([X, F]), y, costs, fit_intercept, charged)
    for side in (GramSide(X @ X.T, fit_intercept, F), FeatureSide(X, fit_intercept, F)):
        problem, solver = SquaredHinge(side, y, costs), FiniteNewton(tol=1e-10)
        result = solver.solve(problem)
        ours, free = X.T @ result.solution.beta, result.solution.free
        slack = np.maximum(0.0, 1.0 - y * (X @ ours + side.free @ free))
        assert 0.5 * ours @ ours + costs @ slack**2 <= value * (1 + 1e-9)
        assert_allclose(ours, w[:d], atol=2e-4 * np.abs(w).max())
        assert_allclose(free[-2:], w[d:], atol=2e-3)
        assert result.objective == pytest.approx(value, rel=1e-8)
        assert result.optimality <= 1e-10


@pytest.mark.parametrize("seed", range(10))
def test_unpenalised_columns_that_separate_leave_nothing_to_do(seed):
    rng = np.random.default_rng(seed)
    n = 30
    F = rng.normal(size=(n, 2 + seed % 3))
    y = np.where(F[:, 0] > 0.1, 1.0, -1.0)
    X = rng.normal(size=(n, 40))
    for side in (GramSide(X @ X.T, True, F), FeatureSide(X, True, F)):
        result = FiniteNewton().solve(SquaredHinge(side, y, np.full(n, 2.0)))
        assert result.optimality <= 1e-8
        assert not result.solution.beta.any()
        assert (y * (side.free @ result.solution.free) > 0).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 20), st.integers(1, 20), st.floats(1e-3, 1e3))
def test_the_sides_agree(seed, n, d, C):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    costs = np.full(n, C)
    one = FiniteNewton().solve(SquaredHinge(GramSide(X @ X.T, True), y, costs))
    two = FiniteNewton().solve(SquaredHinge(FeatureSide(X, True), y, costs))
    assert max(one.optimality, two.optimality) <= 1e-8
    first, second = X.T @ one.solution.beta, X.T @ two.solution.beta
    assert_allclose(first, second, atol=1e-5 * max(1.0, np.abs(first).max()))


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
        values.append(minimum(X[:, kept], signs, costs, True)[2])
        left -= max(1, int(step * left)) if step < 1 else 1
    empty = minimum(np.zeros((60, 1)), signs, costs, True)[2]
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
