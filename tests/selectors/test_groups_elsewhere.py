"""Groups of features of a sparse X, or one in files, Dask arrays or tensors: as in memory."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sparsieve import (
    L20Selector,
    L21Selector,
    RidgeForwardSelector,
    set_memory,
)
from sparsieve.scale.files import arrays as files

LABELS = np.repeat(np.arange(8), 4)
GROUPS = {str(g): np.flatnonzero(g == LABELS).tolist() for g in range(8)}
GROUPS["0"] += [5, 6]  # they overlap
SELECTORS = [
    RidgeForwardSelector(3),
    L20Selector(3),
    L20Selector(3, solver="exact", ridge=1.0),  # elsewhere the bound is tight with it
    L21Selector(3),
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, len(LABELS)))
    X[np.abs(X) < 0.6] = 0.0
    X[:, 11] = 4.0  # constant
    Y = X[:, 8:12] @ rng.normal(size=(4, 2)) + X[:, 20:24] @ rng.normal(size=(4, 2))
    return X, Y + rng.normal(size=(150, 2))


def same(selector, X, other, Y, *, tol=1e-9):
    selector = clone(selector).set_params(feature_groups=GROUPS)
    here, there = clone(selector).fit(X, Y), clone(selector).fit(other, Y)
    np.testing.assert_array_equal(here.group_ranking_, there.group_ranking_)
    np.testing.assert_array_equal(here.support_, there.support_)
    np.testing.assert_allclose(here.group_scores_, there.group_scores_, atol=tol)
    np.testing.assert_allclose(here.coef_, there.coef_, atol=tol)
    assert here.objective_ == pytest.approx(there.objective_, rel=tol)
    if hasattr(selector, "certify"):
        gaps = here.certify(X, Y).gap, there.certify(other, Y).gap
        np.testing.assert_allclose(*gaps, atol=2e-2)
        assert (gaps[1] >= 0).all()
    return there


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_in_sparse_matrices(selector, data):
    X, Y = data
    same(selector, X, sparse.csr_array(X), Y)


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_in_files(selector, data, tmp_path, monkeypatch):
    X, Y = data
    monkeypatch.setattr(files, "BLOCK_BYTES", 8 * X.shape[1] * 17)
    monkeypatch.setattr(files, "LOAD_SHARE", 1 << 20)
    np.save(tmp_path / "X.npy", X)
    with set_memory("1MB"):
        found = same(selector, X, np.load(tmp_path / "X.npy", mmap_mode="r"), Y)
    assert found.n_passes_ >= 1


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_in_dask_arrays(selector, data):
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    X, Y = data
    with dask.config.set(scheduler="threads", num_workers=1):
        found = same(selector, X, da.from_array(X, chunks=(40, -1)), Y)
    assert found.n_passes_ >= 1


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_in_tensors(selector, data):
    torch = pytest.importorskip("torch")
    X, Y = data
    same(selector, X, torch.from_numpy(X), Y)
