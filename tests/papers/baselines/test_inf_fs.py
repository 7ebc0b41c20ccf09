import numpy as np
import pytest
from scipy import sparse
from scipy.stats import spearmanr

from sparsieve import InfFSSelector
from sparsieve.papers.baselines.inf_fs import path_energies


def scaled(values):
    return (values - values.min()) / (values.max() - values.min())


def weights(X, y=None, mixing=0.5, unit_range=True):
    """The matrix of the definition, entry by entry."""
    d = X.shape[1]
    spread = np.array([X[:, j].std() / (np.ptp(X[:, j]) if unit_range else 1) for j in range(d)])
    spread = scaled(np.array([[max(a, b) for a in spread] for b in spread]))
    if y is None:
        other = 1 - np.abs(spearmanr(X).statistic)
    else:
        f = np.zeros(d)
        for a in np.unique(y):
            for b in np.unique(y):
                if a < b:
                    A, B = X[y == a], X[y == b]
                    f += (A.mean(0) - B.mean(0)) ** 2 / (A.var(0, ddof=1) + B.var(0, ddof=1))
        other = scaled(np.outer(f, f))
    return mixing * spread + (1 - mixing) * other


def closed_form(A):
    r = 0.9 / np.abs(np.linalg.eigvalsh(A)).max()
    identity = np.eye(len(A))
    return (np.linalg.inv(identity - r * A) - identity).sum(axis=1)


def series(A):
    r = 0.9 / np.abs(np.linalg.eigvalsh(A)).max()
    total, power = np.zeros(len(A)), np.ones(len(A))
    for _ in range(300):  # 0.9^300 is 2e-14
        power = r * (A @ power)
        total += power
    return total


@pytest.mark.parametrize("shape", [(40, 12), (15, 30)])
@pytest.mark.parametrize("settings", [{}, {"mixing": 0.2, "unit_range": False}])
def test_all_paths_unsupervised(shape, settings, rng):
    X = rng.standard_normal(shape) * rng.uniform(0.5, 2, shape[1]) + rng.standard_normal(
        (shape[0], 1)
    )
    A = weights(X, **settings)
    fitted = InfFSSelector(**settings).fit(X)
    np.testing.assert_allclose(fitted.scores_, closed_form(A), rtol=1e-8)
    np.testing.assert_allclose(fitted.scores_, series(A), rtol=1e-8)
    assert fitted.spectral_radius_ == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-9)
    assert fitted.converged_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_paths_supervised(n_classes, rng):
    y = np.arange(36) % n_classes
    X = rng.standard_normal((36, 50))
    X[:, 3] += 4 * y
    fitted = InfFSSelector(5, mixing=0.3, supervised=True).fit(X, y)
    np.testing.assert_allclose(fitted.scores_, closed_form(weights(X, y, 0.3)), rtol=1e-8)
    assert InfFSSelector(1, mixing=0.0, supervised=True).fit(X, y).support_[3]
    assert fitted.classes_.tolist() == list(range(n_classes))
    with pytest.raises(ValueError, match="requires y"):
        InfFSSelector(supervised=True).fit(X)


def test_equal_nodes_score_nine_and_blocks_make_no_difference(monkeypatch, rng):
    found = path_energies(lambda v: np.full_like(v, v.sum()), 7)
    np.testing.assert_allclose(found.solution[0], 9.0, rtol=1e-9)
    X = rng.standard_normal((10, 25))
    whole = InfFSSelector().fit(X).scores_
    monkeypatch.setattr("sparsieve.papers.baselines.inf_fs.BLOCK_BYTES", 8 * 25 * 4)
    np.testing.assert_allclose(InfFSSelector().fit(X).scores_, whole, rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"supervised": True}, {"unit_range": False}])
@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
def test_sparse_data_are_scored_as_dense_ones(shape, options, rng):
    X = sparse.random(*shape, 0.3, random_state=rng, data_rvs=rng.standard_normal).tocsr()
    X.data = np.round(X.data, 1)  # ties, and zeros that are stored
    y = np.arange(shape[0]) % 2
    dense = InfFSSelector(5, **options).fit(X.toarray(), y)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        found = InfFSSelector(5, **options).fit(kind(X), y)
        np.testing.assert_allclose(found.scores_, dense.scores_, rtol=1e-8)
        assert np.array_equal(found.support_, dense.support_)
