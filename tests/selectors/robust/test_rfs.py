"""RFSSelector against a conic solver, in user units and with every kind of input."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sparsieve import RFSSelector
from sparsieve.solvers.robust.problem import RobustRegression


def optimum(X, Y, alpha, *, intercept, weights=None):
    n, d = X.shape
    weights = np.ones(n) if weights is None else weights
    W = cp.Variable((d, Y.shape[1]))
    residual = Y - X @ W
    if intercept:
        residual = residual - np.ones((n, 1)) @ cp.Variable((1, Y.shape[1]))
    value = weights @ cp.norm(residual, 2, axis=1) + alpha * cp.sum(cp.norm(W, 2, axis=1))
    program = cp.Problem(cp.Minimize(value))
    return program.solve(solver="CLARABEL", tol_gap_rel=1e-9, tol_gap_abs=1e-9)


def value(selector, X, Y, weights=None):
    """The objective of the fitted coefficients on the X given (standardize=False)."""
    residual = Y - X @ selector.coef_.T - selector.intercept_
    loss = np.linalg.norm(residual, axis=1)
    loss = loss.sum() if weights is None else weights @ loss
    return loss + selector.alpha_ * np.linalg.norm(selector.coef_, axis=0).sum()


def classes(rng, n, d, c=3):
    X = rng.standard_normal((n, d)) + 0.5
    y = rng.integers(0, c, n)
    X[:, :2] += y[:, None]
    return X, y, np.eye(c)[y]


@pytest.mark.parametrize("share", [0.5, 0.1, 0.005])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("n", "d"), [(25, 70), (90, 12)])
def test_objective_is_optimal_in_user_units(n, d, intercept, share):
    X, y, Y = classes(np.random.default_rng(0), n, d)
    alpha = share * np.linalg.norm(X.T @ Y, axis=1).max()
    selector = RFSSelector(alpha=alpha, fit_intercept=intercept, standardize=False).fit(X, y)
    best = optimum(X, Y, alpha, intercept=intercept)
    assert selector.objective_ == pytest.approx(value(selector, X, Y), rel=1e-9)
    assert selector.objective_ <= best * (1 + 1e-6)
    assert selector.optimality_ <= 1e-6


def test_intercept_is_not_the_mean():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 5))
    Y = rng.standard_exponential((40, 2)) ** 3
    selector = RFSSelector(alpha=1.0, standardize=False).fit(X, Y)
    centred = optimum(X - X.mean(0), Y - Y.mean(0), 1.0, intercept=False)
    assert selector.objective_ < 0.99 * centred
    assert selector.objective_ <= optimum(X, Y, 1.0, intercept=True) * (1 + 1e-6)


def test_sample_weights_multiply_the_norms():
    rng = np.random.default_rng(2)
    X, y, Y = classes(rng, 40, 15)
    weights = rng.uniform(0.2, 3.0, 40)
    selector = RFSSelector(alpha=3.0, standardize=False).fit(X, y, sample_weight=weights)
    assert selector.objective_ == pytest.approx(value(selector, X, Y, weights), rel=1e-9)
    assert selector.objective_ <= optimum(X, Y, 3.0, intercept=True, weights=weights) * (1 + 1e-6)


def test_weight_two_is_the_row_twice():
    rng = np.random.default_rng(3)
    X, y, _ = classes(rng, 30, 10)
    weights = rng.integers(0, 3, 30)
    weighted = RFSSelector().fit(X, y, sample_weight=weights)
    repeated = RFSSelector().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.alpha_ == pytest.approx(repeated.alpha_)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


def test_standardised_problem_is_reported_in_its_own_units():
    X, y, Y = classes(np.random.default_rng(4), 50, 8)
    X = X * np.geomspace(0.01, 100, 8)
    selector = RFSSelector().fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert selector.objective_ <= optimum(Z, Y, selector.alpha_, intercept=True) * (1 + 1e-6)
    residual = Y - X @ selector.coef_.T - selector.intercept_
    rows = np.linalg.norm(selector.coef_ * X.std(axis=0), axis=0)
    size = np.sqrt(((Y - Y.mean(axis=0)) ** 2).sum(axis=1).mean())
    expected = np.linalg.norm(residual, axis=1).sum() + selector.alpha_ * rows.sum()
    assert selector.objective_ == pytest.approx(expected, rel=1e-9)
    assert selector.scores_ == pytest.approx(rows / size, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
def test_sparse_equals_dense(standardize):
    rng = np.random.default_rng(5)
    X = rng.random((40, 60)) * (rng.random((40, 60)) < 0.2)
    y = rng.integers(0, 2, 40)
    dense = RFSSelector(standardize=standardize).fit(X, y)
    thin = RFSSelector(standardize=standardize).fit(sparse.csr_array(X), y)
    assert thin.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    assert thin.coef_ == pytest.approx(dense.coef_, abs=1e-3)


@pytest.mark.parametrize("outputs", [1, 3])
def test_tall_sparse_columns_are_not_made_dense(outputs, monkeypatch):
    rng = np.random.default_rng(6)
    X = sparse.random_array((2200, 80), density=0.004, rng=rng, format="csr")
    Y = X[:, :6] @ rng.normal(size=(6, outputs)) + 0.3 * rng.standard_t(2, (2200, outputs))
    dense = RFSSelector(task="regression").fit(X.toarray(), Y)

    def refuse(self, features):
        raise AssertionError("columns were made dense")

    monkeypatch.setattr(RobustRegression, "columns", refuse)
    thin = RFSSelector(task="regression").fit(X, Y)
    assert thin.optimality_ <= 1e-6
    assert thin.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    assert thin.coef_ == pytest.approx(dense.coef_, abs=1e-3)


@pytest.mark.parametrize(("n", "d"), [(30, 80), (80, 12)])
def test_float32_is_accurate_to_its_precision(n, d):
    X, y, _ = classes(np.random.default_rng(6), n, d)
    single = RFSSelector().fit(X.astype(np.float32), y)
    double = RFSSelector().fit(X, y)
    assert single.coef_.dtype == np.float32
    assert single.intercept_.dtype == np.float32
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-4)


def test_two_classes_are_solved_as_one_output_without_loss():
    X, y, Y = classes(np.random.default_rng(7), 40, 10, c=2)
    selector = RFSSelector(alpha=2.0, standardize=False).fit(X, y)
    assert selector.coef_.shape == (2, 10)
    assert selector.objective_ <= optimum(X, Y, 2.0, intercept=True) * (1 + 1e-6)


def test_multi_output_regression():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 20))
    Y = X[:, [3, 7]] @ rng.standard_normal((2, 4)) + 0.1 * rng.standard_normal((60, 4))
    Y[:10] += 30.0 * rng.standard_normal((10, 4))
    selector = RFSSelector(n_features_to_select=2).fit(X, Y)
    assert selector.get_support(indices=True).tolist() == [3, 7]
    assert not hasattr(selector, "classes_")


def test_zero_rows_are_exact_and_ranked_by_their_pull():
    X, y, _ = classes(np.random.default_rng(9), 50, 30)
    selector = RFSSelector(standardize=False).fit(X, y)
    kept = selector.support_
    assert 0 < kept.sum() < 30
    assert not selector.coef_[:, ~kept].any()
    assert (selector.scores_[~kept] == 0).all()
    assert selector.at(29).support_.sum() == 29
    assert (selector.ranking_[kept] <= kept.sum()).all()


def test_path_agrees_with_single_fits():
    X, y, _ = classes(np.random.default_rng(10), 40, 60)
    path = RFSSelector().path(X, y, n_alphas=6)
    assert (np.diff(path.strength[1:]) < 0).all()
    assert (path.optimality <= 1e-6).all()
    assert len(path) == len(path.n_features) - 1 == 6
    for place in (2, 6):
        single = RFSSelector(alpha=path.strength[place]).fit(X, y)
        assert path.objective[place] == pytest.approx(single.objective_, rel=2e-6)
        assert path.coefs[place].toarray() == pytest.approx(single.coef_, abs=2e-3)
        assert path.intercepts[place] == pytest.approx(single.intercept_, abs=2e-3)
        assert path.supports[place].tolist() == np.flatnonzero(single.coef_.any(axis=0)).tolist()


def test_a_path_starts_where_nothing_is_kept():
    X, y, Y = classes(np.random.default_rng(13), 40, 20)
    path = RFSSelector().path(X, y, n_alphas=2)
    assert path.coefs[0].nnz == 0
    alone = optimum(X[:, :0], Y, 1.0, intercept=True)
    assert path.objective[0] == pytest.approx(alone, rel=1e-6)
    for share, kept in ((1.01, False), (0.9, True)):
        fitted = RFSSelector(alpha=share * path.strength[0]).fit(X, y)
        assert (fitted.scores_.max() > 1e-5) == kept


def test_too_few_iterations_are_reported():
    X, y, _ = classes(np.random.default_rng(11), 40, 20)
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        RFSSelector(max_iter=1).fit(X, y)


@pytest.mark.parametrize("alpha", [0, -1.0, "large"])
def test_bad_alpha_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha must be"):
        RFSSelector(alpha=alpha).fit(np.eye(4), [0, 1, 0, 1])


def test_a_target_that_the_intercept_explains():
    X = np.random.default_rng(12).standard_normal((10, 3))
    selector = RFSSelector(task="regression").fit(X, np.full(10, 2.5))
    assert selector.objective_ == 0.0
    assert selector.intercept_ == pytest.approx([2.5])


# -- the published iteration ---------------------------------------------------------------


def joint_iteration(X, Y, alpha, n_iter):
    """U = D^-1 A' (A D^-1 A')^-1 Y with A = (X, alpha I), as printed, from D = I; W of it."""
    n, d = X.shape
    A = np.hstack([X, alpha * np.eye(n)])
    D = np.eye(n + d)
    for _ in range(n_iter):
        product = np.linalg.inv(D) @ A.T
        U = product @ np.linalg.solve(A @ product, Y)
        D = np.diag(0.5 / np.linalg.norm(U, axis=1))
    return U[:d], alpha * np.linalg.norm(U, axis=1).sum()


@pytest.mark.parametrize(("n", "d"), [(20, 35), (50, 8)])
def test_the_published_iteration_is_the_printed_one(n, d):
    X, y, Y = classes(np.random.default_rng(14), n, d)
    selector = RFSSelector(
        alpha=2.0, solver="published", max_iter=6, fit_intercept=False, standardize=False
    )
    with pytest.warns(ConvergenceWarning, match="relative change of the objective"):
        selector.fit(X, y)
    W, value_ = joint_iteration(X, Y, 2.0, 6)
    assert pytest.approx(W, abs=1e-7) == selector.coef_.T
    assert selector.objective_ == pytest.approx(value_, rel=1e-9)
    assert selector.n_iter_ == len(selector.history_) == 6


@pytest.mark.thinned(6)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.02])
@pytest.mark.parametrize(("n", "d"), [(25, 70), (90, 12), (60, 200)])
def test_the_published_iteration_comes_close_to_the_optimum(n, d, share, intercept):
    for seed in range(3):
        X, y, _ = classes(np.random.default_rng(seed), n, d)
        weights = np.random.default_rng(seed).uniform(0.3, 3.0, n)
        certified = RFSSelector(fit_intercept=intercept).fit(X, y, sample_weight=weights)
        certified.set_params(alpha=share / 0.3 * certified.alpha_).fit(X, y, sample_weight=weights)
        published = RFSSelector(
            alpha=certified.alpha_, solver="published", fit_intercept=intercept
        ).fit(X, y, sample_weight=weights)
        assert published.converged_
        assert published.objective_ <= certified.objective_ * (1 + 1e-4)
        assert (np.diff(published.history_) <= 1e-9).all()


def test_the_published_iteration_keeps_what_the_optimum_keeps():
    X, y, _ = classes(np.random.default_rng(15), 80, 30)
    certified = RFSSelector(6).fit(X, y)
    published = RFSSelector(6, solver="published").fit(X, y)
    assert (certified.support_ == published.support_).all()
    assert published.set_params(n_features_to_select=None).fit(X, y).support_.sum() < 30


# -- scores ----------------------------------------------------------------------------------


def test_noise_scores_like_noise_and_units_do_not_matter():
    rng = np.random.default_rng(16)
    X = rng.standard_normal((100, 40))
    signal = RFSSelector().fit(X, 3.0 * X[:, 0] + 0.1 * rng.standard_normal(100))
    noise = RFSSelector().fit(X, 3.0 * rng.standard_normal(100))
    assert signal.scores_[0] > 0.7
    assert np.delete(signal.scores_, 0).max() < 0.05
    assert noise.scores_.max() < 0.3
    y = rng.standard_normal(100) + X[:, 1]
    scores = RFSSelector().fit(X, y).scores_
    again = RFSSelector().fit(X * np.geomspace(1e-3, 1e3, 40), 1e4 * y + 7.0).scores_
    assert again == pytest.approx(scores, abs=1e-4)
    assert "standardised" in RFSSelector().score_meaning


def test_weights_of_very_different_size(rng):
    X = (rng.random((1300, 60)) < 0.05) * rng.uniform(0.5, 1.5, (1300, 60))
    y = np.arange(1300) % 4
    found = RFSSelector(5, tol=1e-4, class_weight={0: 1e-3, 1: 1, 2: 1, 3: 1e3}).fit(X, y)
    assert found.converged_


@pytest.mark.parametrize(("dense", "n_features"), [(False, 5000), (True, 3000)])
def test_rare_positives_in_sparse_data(dense, n_features):
    X = sparse.random(2000, n_features, 2e-3, format="csr", random_state=1)
    positive = np.asarray(X[:, :10].sum(axis=1)).ravel() > 0
    found = RFSSelector(50).fit(X.toarray() if dense else X, np.where(positive, "yes", "no"))
    assert found.converged_
    assert found.optimality_ <= 1e-6
    assert found.support_[:10].all()


def test_weights_of_classes_may_span_twenty_four_orders_of_magnitude(rng):
    X, y = rng.random((20, 4)), np.arange(20) % 2
    found = RFSSelector(2, class_weight={0: 1e-12, 1: 1e12}).fit(X, y)
    assert found.support_.sum() == 2
    assert found.converged_ == (found.optimality_ <= 1e-6)
