import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Lasso

from sparsieve import FStatisticSelector, HSICLassoSelector
from sparsieve.papers.baselines.solvers.nonnegative_lasso import NonnegativeLARS, NonnegativeLasso


def centred(K):
    n = len(K)
    H = np.eye(n) - 1 / n
    K = H @ K @ H
    return (K / np.linalg.norm(K)).ravel()


def kernels(X):
    """One row per feature, from the definition."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.array([centred(np.exp(-((x[:, None] - x) ** 2) / 2)) for x in X.T])


def additive(rng, n=60, d=12):
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 3]) + X[:, 5] ** 2 + 0.1 * rng.standard_normal(n)


def target_vectors(y, *, classes):
    if not classes:
        return kernels(y[:, None])[0]
    sizes = {c: np.sum(y == c) for c in y}
    return centred(np.array([[(a == b) / sizes[a] for a in y] for b in y]))


@pytest.mark.parametrize("classes", [False, True])
def test_against_a_general_solver(classes, rng):
    cvxpy = pytest.importorskip("cvxpy")
    X, y = additive(rng, n=30)
    y = np.where(y > 1, "high", np.where(y > 0.3, "some", "low")) if classes else y
    fitted = HSICLassoSelector(4).fit(X, y)
    Z, target = kernels(X), target_vectors(y, classes=classes)
    a = cvxpy.Variable(12, nonneg=True)
    loss = 0.5 * cvxpy.sum_squares(target - Z.T @ a) + fitted.lam_ * cvxpy.sum(a)
    best = cvxpy.Problem(cvxpy.Minimize(loss)).solve(solver="CLARABEL")
    assert fitted.objective_ == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(fitted.kernel_weights_, a.value, atol=1e-4)
    assert (fitted.kernel_weights_ > 0).sum() == 4
    assert fitted.converged_


@pytest.mark.long("many fits to full accuracy")
def test_order_of_entry_along_a_fine_grid(rng):
    X, y = additive(rng)
    fitted = HSICLassoSelector(6).fit(X, y)
    Z, target = kernels(X), target_vectors(y, classes=False)
    entered = {}
    for strength in np.geomspace(0.999 * (Z @ target).max(), 0.9 * fitted.path_.strength[-1], 400):
        model = Lasso(strength / Z.shape[1], positive=True, fit_intercept=False, tol=1e-10)
        for j in np.flatnonzero(model.fit(Z.T, target).coef_ > 1e-9):
            entered.setdefault(int(j), strength)
    assert list(entered)[:6] == fitted.path_.features.tolist()
    found = fitted.scores_[fitted.path_.features]
    np.testing.assert_allclose(found, list(entered.values())[:6], rtol=0.02)
    assert fitted.scores_.max() == pytest.approx((Z @ target).max(), rel=1e-5)


def test_path_on_which_features_leave(rng):
    """Down to no penalty: the non-negative least squares solution."""
    from scipy.optimize import nnls

    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((20, 10)) + rng.standard_normal((20, 1))
        Z /= np.linalg.norm(Z, axis=0)
        y = rng.standard_normal(20) + Z.sum(axis=1)
        problem = NonnegativeLasso(Z.T @ y, lambda j, Z=Z: Z.T @ Z[:, j], y @ y)
        found = NonnegativeLARS(n_steps=100).solve(problem)
        np.testing.assert_allclose(found.solution.weights, nnls(Z, y)[0], atol=1e-4)
        assert found.converged


@pytest.mark.parametrize("rank", [2, 3, 5])
def test_very_many_near_copies_in_few_dimensions_do_not_hold_the_path_up(rng, rank):
    Z = np.abs(rng.standard_normal((rank, 20_000))).astype(np.float32)
    Z[:, ::2] = Z[:, :1] + 1e-3 * Z[:, ::2]
    Z /= np.linalg.norm(Z, axis=0)
    y = Z[:, 0] + 0.01 * np.abs(rng.standard_normal(rank))
    inner = (Z.T @ y).astype(float)
    problem = NonnegativeLasso(inner, lambda j: (Z.T @ Z[:, j]).astype(float), y @ y)
    found = NonnegativeLARS(n_steps=10).solve(problem)
    assert found.converged
    assert found.n_iter < 60
    np.testing.assert_allclose(Z @ found.solution.weights, y, atol=1e-3)


def test_finds_what_is_not_linear_and_a_copy_scores_one(rng):
    X, y = additive(rng, n=120, d=60)
    fitted = HSICLassoSelector(2).fit(X, y)
    assert fitted.support_.nonzero()[0].tolist() == [3, 5]
    assert not FStatisticSelector(2).fit(X, y).support_[[3, 5]].all()
    X[:, 7] = -2 * y
    assert HSICLassoSelector(1).fit(X, y).scores_[7] == pytest.approx(1, abs=1e-5)
    noise = HSICLassoSelector(1).fit(rng.standard_normal((100, 60)), rng.standard_normal(100))
    assert noise.scores_.max() < 0.2


def test_memory_makes_no_difference_and_blocks_little(rng):
    X, y = additive(rng, n=130, d=40)
    held, again = (HSICLassoSelector(4, max_memory=m).fit(X, y) for m in (1e9, 0))
    np.testing.assert_array_equal(held.ranking_, again.ranking_)
    np.testing.assert_allclose(held.scores_, again.scores_, atol=1e-6)
    blocks = HSICLassoSelector(2, block_size=40, random_state=0).fit(X, y)
    assert blocks.support_[[3, 5]].all()
    with pytest.raises(ValueError, match="block_size"):
        HSICLassoSelector(block_size=1).fit(X, y)


def test_sparse_columns_are_looked_at_where_they_vary():
    X = sparse.random(240, 90, 0.02, format="csr", random_state=0)
    y = (np.asarray(X[:, :8].sum(axis=1)).ravel() > 0).astype(int)
    fits = [
        HSICLassoSelector(5, block_size=20, random_state=0, max_memory=m).fit(A, y)
        for A in (X, X.toarray())
        for m in (0, 1e9)
    ]
    Z = X.toarray()
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    groups = fits[0]._groups(240)
    vectors, target = [], np.concatenate([_block(y[g], classes=True, y=y) for g in groups])
    for column in Z.T:
        vectors.append(np.concatenate([_block(column[g]) for g in groups]))
    lengths = np.linalg.norm(vectors, axis=1)
    alone = np.array(vectors) @ target / np.maximum(lengths, 1e-9) / np.linalg.norm(target)
    for fitted in fits:
        assert fitted.scores_.max() == pytest.approx(alone.max(), rel=1e-5)
        np.testing.assert_array_equal(fitted.ranking_, fits[0].ranking_)
        np.testing.assert_allclose(fitted.scores_, fits[0].scores_, atol=2e-6)


def _block(values, *, classes=False, y=None):
    if classes:
        K = (values[:, None] == values) / np.bincount(y)[values]
    else:
        K = np.exp(-((values[:, None] - values) ** 2) / 2)
    H = np.eye(len(K)) - 1 / len(K)
    return (H @ K @ H).ravel()


def test_all_products_of_few_features_in_one_pass(rng, monkeypatch):
    X, y = additive(rng, n=130, d=12)
    labels = np.where(y > 1, "high", "low")
    for target in (y, labels):
        once = HSICLassoSelector(4, max_memory=0, block_size=30, random_state=0).fit(X, target)
        with monkeypatch.context() as patch:
            patch.setattr(
                "sparsieve.papers.baselines.solvers.nonnegative_lasso.MAX_FEATURES_IN_ONE_PASS", 0
            )
            again = HSICLassoSelector(4, max_memory=0, block_size=30, random_state=0)
            again.fit(X, target)
        np.testing.assert_array_equal(once.ranking_, again.ranking_)
        np.testing.assert_allclose(once.scores_, again.scores_, atol=2e-6)
        assert once.objective_ == pytest.approx(again.objective_, rel=1e-5)
