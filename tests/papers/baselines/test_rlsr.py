"""RLSRSelector and ESFSSelector."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sparsieve import ESFSSelector, RLSRSelector
from sparsieve.papers.baselines.rlsr import project_to_simplex

PLAIN = {"fit_intercept": False, "standardize": False, "task": "regression"}


def certified(X, Y, alpha, free=None):
    """Optimum of the model, with the rows in ``free`` labelled by the solver."""
    W = cp.Variable((X.shape[1], Y.shape[1]))
    b = cp.Variable((1, Y.shape[1])) if free is not None else np.zeros((1, Y.shape[1]))
    target, rules = Y, []
    if free is not None:
        soft = cp.Variable(Y.shape, nonneg=True)
        rules = [cp.sum(soft, axis=1) == 1, soft[~free] == Y[~free]]
        target = soft
    fitted = X @ W + np.ones((len(X), 1)) @ b
    penalty = cp.square(cp.sum(cp.norm(W, 2, axis=1)))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(fitted - target) + alpha * penalty), rules)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value


@pytest.mark.parametrize("shape", [(40, 15), (15, 40)])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0, 1000.0])
def test_reaches_the_certified_optimum(shape, alpha):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + 0.5 * rng.standard_normal((shape[0], 2))
    selector = RLSRSelector(alpha=alpha, **PLAIN).fit(X, Y)
    assert selector.objective_ == pytest.approx(certified(X, Y, alpha), rel=1e-6)
    W = selector.coef_.T
    value = ((X @ W - Y) ** 2).sum() + alpha * np.linalg.norm(W, axis=1).sum() ** 2
    assert selector.objective_ == pytest.approx(value, rel=1e-10)
    assert 0 <= selector.optimality_ <= 1e-6


def test_weights_sparse_and_single_precision(rng):
    X, y = rng.standard_normal((60, 30)), rng.integers(0, 3, 60)
    X[np.arange(60), y] += 2
    weights = rng.integers(0, 3, 60).astype(float)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    fit = RLSRSelector(alpha=5.0, tol=1e-9).fit(X, y, sample_weight=weights)
    again = RLSRSelector(alpha=5.0, tol=1e-9).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(fit.coef_, again.coef_, atol=1e-5)
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    dense = RLSRSelector(alpha=5.0).fit(X, y)
    assert RLSRSelector(alpha=5.0).fit(sparse.csr_matrix(X), y).objective_ == pytest.approx(
        dense.objective_
    )
    single = RLSRSelector(alpha=5.0, tol=1e-4).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    assert single.objective_ == pytest.approx(dense.objective_, rel=1e-3)


def test_semi_supervised_minimises_over_the_labels_too(rng):
    X, y = rng.standard_normal((40, 12)), rng.integers(0, 3, 40)
    X[np.arange(40), y] += 2.5
    hidden = rng.random(40) < 0.4
    masked = np.where(hidden, -1, y)
    selector = RLSRSelector(alpha=2.0, semi_supervised=True, standardize=False).fit(X, masked)
    assert list(selector.classes_) == [0, 1, 2]
    assert selector.coef_.shape == (3, 12)
    expected = certified(X, np.eye(3)[y] * ~hidden[:, None], 2.0, hidden)
    assert selector.objective_ == pytest.approx(expected, rel=1e-3)
    labels = selector.label_distributions_
    np.testing.assert_allclose(labels.sum(axis=1), 1)
    np.testing.assert_array_equal(labels[~hidden], np.eye(3)[y[~hidden]])
    assert (labels.argmax(axis=1) == y).mean() > 0.8
    assert (np.diff(selector.history_) <= 1e-9 * selector.history_[0]).all()


def test_semi_supervised_without_hidden_labels_is_supervised(rng):
    X, y = rng.standard_normal((40, 12)), rng.integers(0, 3, 40)
    plain, soft = (
        RLSRSelector(alpha=2.0).fit(X, y),
        RLSRSelector(alpha=2.0, semi_supervised=True).fit(X, y),
    )
    np.testing.assert_array_equal(plain.coef_, soft.coef_)


def published_objective(X, Y, alpha, n_iter):
    """The alternation of the paper, as printed."""
    theta = np.full(X.shape[1], 1.0 / X.shape[1])
    for _ in range(n_iter):
        W = np.linalg.solve(X.T @ X + alpha * np.diag(1.0 / theta), X.T @ Y)
        norms = np.linalg.norm(W, axis=1)
        theta = norms / norms.sum()
    return ((X @ W - Y) ** 2).sum() + alpha * norms.sum() ** 2


@pytest.mark.parametrize("shape", [(40, 15), (15, 40)])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_published_alternation_ends_at_the_same_objective_or_says_that_it_stalls(shape, alpha):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + 0.5 * rng.standard_normal((shape[0], 2))
    exact = RLSRSelector(alpha=alpha, **PLAIN).fit(X, Y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        published = RLSRSelector(alpha=alpha, solver="published", **PLAIN).fit(X, Y)
    assert published.objective_ == pytest.approx(exact.objective_, rel=1e-4)
    assert published.converged_ == (published.optimality_ <= 1e-6)
    stalls = any("published iteration stalls" in str(w.message) for w in caught)
    assert stalls == (not published.converged_)
    assert (np.diff(published.history_) <= 1e-9 * published.history_[0]).all()
    assert published.history_[9:10] == pytest.approx(
        [published_objective(X, Y, alpha, 10)] if published.n_iter_ > 9 else [], rel=1e-8
    )


def test_published_alternation_says_when_it_is_cut_short(rng):
    X, y = rng.standard_normal((30, 60)), np.arange(30) % 3
    with pytest.warns(ConvergenceWarning, match="published iteration stalls"):
        selector = RLSRSelector(solver="published", max_iter=3).fit(X, y)
    assert selector.n_iter_ == len(selector.history_) == 3
    assert not selector.converged_


def test_scores_are_standardised_coefficients(rng):
    X, y = rng.standard_normal((120, 20)), np.arange(120) % 3
    X[np.arange(120), y] += 2.0
    selector = RLSRSelector(3).fit(X, y)
    target = np.eye(3)[y] - 1 / 3
    spread = np.sqrt((target**2).sum() / 120)
    norms = np.linalg.norm(selector.coef_ * X.std(axis=0), axis=0) / spread
    np.testing.assert_allclose(selector.scores_, norms, atol=1e-8)
    np.testing.assert_allclose(RLSRSelector(6).fit(X, y).scores_, selector.scores_)
    noise = RLSRSelector(3).fit(X, rng.permutation(y))
    assert noise.scores_.max() < 0.5 * selector.scores_[:3].min()


def test_targets_that_cannot_be_squared_are_refused_in_words(rng):
    X = rng.standard_normal((30, 8))
    for solver in ("root", "published"):
        with pytest.raises(ValueError, match="y holds"):
            RLSRSelector(solver=solver).fit(X, 1e200 * rng.standard_normal(30))
    with pytest.raises(ValueError, match="solver must be one of"):
        RLSRSelector(solver="newton").fit(X, np.arange(30) % 2)


def test_bad_labels_are_named(rng):
    X = rng.standard_normal((10, 3))
    with pytest.raises(ValueError, match="only 1 class among its labelled"):
        RLSRSelector(semi_supervised=True).fit(X, np.array([0] * 5 + [-1] * 5))
    with pytest.raises(ValueError, match="alpha must be positive"):
        RLSRSelector(alpha=0.0).fit(X, np.arange(10) % 2)
    with pytest.raises(ValueError, match="class_weight"):
        RLSRSelector(semi_supervised=True, class_weight="balanced").fit(X, np.arange(10) % 2)


def test_simplex_projection_is_the_nearest_point(rng):
    V = rng.standard_normal((20, 4))
    P = project_to_simplex(V)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (P >= 0).all()
    for other in rng.dirichlet(np.ones(4), 50):
        assert (((V - P) ** 2).sum(axis=1) <= ((V - other) ** 2).sum(axis=1) + 1e-12).all()


def test_esfs_improves_on_the_single_feature_ranking(rng):
    X, y = rng.standard_normal((60, 40)), rng.integers(0, 3, 60)
    X[:, 5] = X[:, 0] + 0.1 * rng.standard_normal(60)
    X[np.arange(60), y] += 2
    X[:, 5] += X[:, 0]
    selector = ESFSSelector(4).fit(X, y)
    assert selector.support_.sum() == 4
    assert selector.objective_ <= selector.history_[0]
    # The fit is least squares on the support, for 0/1 targets.
    kept = np.hstack([np.ones((60, 1)), X[:, selector.support_]])
    expected = kept @ np.linalg.lstsq(kept, np.eye(3)[y], rcond=None)[0]
    np.testing.assert_allclose(X @ selector.coef_.T + selector.intercept_, expected, atol=1e-8)
    assert selector.at(2).support_.sum() == 2
    scaled = ((np.eye(3)[y] - expected) ** 2 / np.bincount(y)).sum()
    assert selector.objective_ == pytest.approx(scaled)
