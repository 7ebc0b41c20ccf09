"""Compiled products with compressed matrices are those of SciPy, whatever the number of threads."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import SparseDesign, compressed, stream

INDEX = np.int32, np.int32  # of places and of starts


def matrix(kind, dtype, index, shape=(70, 90)):
    """Empty rows and columns, and one row and one column that hold most entries."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    X[rng.random(shape) < 0.9] = 0.0
    X[10:20] = X[:, 30:50] = 0.0
    X[3], X[:, 7] = 1.5, -2.0
    made = kind(X.astype(dtype))
    made.indices, made.indptr = made.indices.astype(index[0]), made.indptr.astype(index[1])
    return made


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(stream, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(stream, "n_threads", lambda: request.param)
    return request.param


@pytest.mark.thinned(3)
@pytest.mark.parametrize("n_outputs", [1, 2, 3, 4, 5, 7, 8, 10])
@pytest.mark.parametrize("index", [INDEX, (np.int64, np.int64), (np.int32, np.int64)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_products_are_those_of_scipy(kind, dtype, index, n_outputs, threads, rng):
    X = matrix(kind, dtype, index)
    lines = X if kind is sparse.csr_array else X.T
    for product, of in ((compressed.along, lines), (compressed.across, lines.T)):
        V = rng.standard_normal((of.shape[1], n_outputs)).astype(dtype)
        for operand in (V, np.asfortranarray(V)):
            found = product(X, operand)
            assert found.dtype == dtype
            close = 1e-4 if dtype == np.float32 else 1e-12  # also to zero: large values may cancel
            np.testing.assert_allclose(found, of @ V, rtol=close, atol=close)


@pytest.mark.parametrize("product", [compressed.along, compressed.across])
def test_threads_change_nothing(product, monkeypatch, rng):
    X, V = matrix(sparse.csc_array, np.float64, INDEX, (300, 300)), rng.random((300, 10))
    monkeypatch.setattr(stream, "WORTH_A_THREAD", 1)
    found = []
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(stream, "n_threads", lambda n=n_threads: n)
        found.append(product(X, V))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_data_that_must_not_be_written_to(rng):
    X, V = matrix(sparse.csr_array, np.float64, INDEX), rng.random((90, 3))
    for part in (X.data, X.indices, X.indptr, V):
        part.flags.writeable = False
    np.testing.assert_allclose(compressed.along(X, V), X @ V)


def test_ranges_hold_as_many_entries_each():
    starts = np.array([0, 100, 100, 100, 110, 120, 200])
    assert compressed._even_ranges(starts, 1) == [(0, 6)]
    assert compressed._even_ranges(starts, 2) == [(0, 1), (1, 6)]
    edges = compressed._even_ranges(starts, 8)  # more than there are lines
    assert edges[0][0] == 0
    assert edges[-1][1] == 6
    assert all(first <= last for first, last in edges)


def test_what_is_small_or_of_another_precision_is_left_to_scipy(monkeypatch, rng):
    def never(*_):
        raise AssertionError("compiled")

    monkeypatch.setattr(compressed, "along", never)
    monkeypatch.setattr(compressed, "across", never)
    design = SparseDesign(matrix(sparse.csr_array, np.float32, INDEX))
    design.matmul(rng.random((90, 2)).astype(np.float32))
    design.compiled_from = 0
    assert design.matmul(rng.random((90, 2))).dtype == np.float64
    assert design.rmatmul(np.empty((70, 0), dtype=np.float32)).shape == (90, 0)
    with pytest.raises(AssertionError, match="compiled"):
        design.matmul(rng.random((90, 2)).astype(np.float32))
