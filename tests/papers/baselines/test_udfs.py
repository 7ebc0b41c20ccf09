import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsieve import UDFSSelector
from sparsieve.papers.baselines import udfs as discriminant
from sparsieve.papers.baselines.udfs import SMOOTHING


def plain_scatter(X, n_neighbors, ridge):
    """The definition, one sample at a time."""
    M = np.zeros((X.shape[1],) * 2)
    for x in X:
        near = np.argsort(((X - x) ** 2).sum(axis=1), kind="stable")[: n_neighbors + 1]
        local = X[near] - X[near].mean(axis=0)
        M += local.T @ np.linalg.inv(local @ local.T + ridge * np.eye(len(near))) @ local
    return M * len(M) / np.trace(M)


def clusters(rng, n=90, d=14):
    X = rng.standard_normal((n, d))
    X[:, :3] += 5 * rng.standard_normal((3, 3))[rng.integers(0, 3, n)]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def objective(M, W, alpha):
    norms = np.sqrt((W**2).sum(axis=1) + SMOOTHING**2)
    return np.trace(W.T @ M @ W) + alpha * norms.sum()


def test_objective_and_stationarity(rng):
    X = clusters(rng)
    fitted = UDFSSelector(3, n_components=2, alpha=0.2, n_neighbors=4, tol=1e-6).fit(X)
    M, W = plain_scatter(X, 4, 1.0), fitted.components_.T
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-10)
    assert fitted.objective_ == pytest.approx(objective(M, W, 0.2), rel=1e-8)
    assert fitted.converged_
    assert (np.diff(fitted.history_) <= 1e-12).all()
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(W, axis=1), atol=1e-7)
    # No small turn of W, found by drawing, is better.
    for _ in range(200):
        turned, _ = np.linalg.qr(W + 1e-3 * rng.standard_normal(W.shape))
        assert objective(M, turned, 0.2) > fitted.objective_ - 1e-9


def test_without_penalty_it_is_an_eigenvalue_problem(rng):
    X = clusters(rng)
    fitted = UDFSSelector(3, alpha=0.0, n_components=3).fit(X)
    values = np.linalg.eigvalsh(plain_scatter(X, 5, 1.0))
    assert fitted.objective_ == pytest.approx(values[:3].sum(), rel=1e-8)


def test_finds_clusters_and_scores_noise_alike(rng):
    assert UDFSSelector(3, n_components=2).fit(clusters(rng)).support_[:3].all()
    noise = UDFSSelector(3, n_components=2, alpha=0.01).fit(rng.standard_normal((300, 10)))
    assert noise.scores_.mean() == pytest.approx(np.sqrt(2 / 10), rel=0.2)


def test_more_features_than_samples_are_answered_with_a_warning(rng):
    X = rng.standard_normal((20, 30))
    with pytest.warns(UserWarning, match="30 non-constant features from only 20 samples"):
        fitted = UDFSSelector(5).fit(X)
    assert fitted.converged_
    assert fitted.support_.sum() == 5
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    W = fitted.components_.T
    np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-10)
    np.testing.assert_allclose(Z.T @ np.linalg.lstsq(Z.T, W)[0], W, atol=1e-10)
    constant = np.hstack([rng.standard_normal((20, 5)), np.ones((20, 30))])
    assert UDFSSelector(5).fit(constant).support_[:5].all()


def test_the_difference_of_two_copies_is_no_direction(rng):
    X = clusters(rng)
    twice = UDFSSelector(3).fit(np.hstack([X, X])).components_
    np.testing.assert_allclose(twice[:, : X.shape[1]], twice[:, X.shape[1] :], atol=1e-8)


@pytest.mark.long("thousands of published iterations")
def test_looking_ahead_ends_where_the_published_steps_do_and_sooner(rng, monkeypatch):
    X = rng.standard_normal((30, 100))[np.arange(120) % 30] + rng.standard_normal((120, 100))
    found = UDFSSelector(3).fit(X)
    assert found.converged_
    assert (np.diff(found.history_) <= 1e-12).all()
    # A step that went too far is not taken, not even the last one.
    too_far = 1 + np.flatnonzero(np.diff(found.history_) == 0.0)[0]
    with pytest.warns(ConvergenceWarning):
        stopped = UDFSSelector(3, max_iter=too_far + 1).fit(X)
    W = stopped.components_.T
    assert stopped.history_ == pytest.approx(found.history_[: too_far + 1], rel=1e-12)
    assert stopped.objective_ == pytest.approx(
        objective(plain_scatter(X / X.std(axis=0), 5, 1.0), W, 0.1)
    )
    monkeypatch.setattr(discriminant, "PUBLISHED_STEPS", 10_000)
    plain = UDFSSelector(3).fit(X)
    assert plain.n_iter_ > 2 * found.n_iter_
    assert found.objective_ == pytest.approx(plain.objective_, rel=1e-6)
