"""Inner products of a block in standard units, against plain matrices."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import parallel_passes as stream
from sparsieve.design.blocks import moments as gram_blocks
from sparsieve.design.dense import DenseDesign
from sparsieve.design.sparse import SparseDesign
from sparsieve.design.views import ClippedDense


def blocks(X, low, high):
    yield DenseDesign(X), X
    yield DenseDesign(np.asfortranarray(X)), X
    yield ClippedDense(DenseDesign(X), low, high), np.clip(X, low, high)
    yield SparseDesign(sparse.csr_matrix(X)), X
    yield SparseDesign(sparse.csc_matrix(X)), X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_inner_products_at_once(rng, monkeypatch, dtype, weighted):
    monkeypatch.setattr(gram_blocks, "HEIGHT", 8)
    X = (rng.standard_normal((53, 6)) + 2.0).astype(dtype)
    X[X < 1.0] = 0.0
    Y, mix = rng.standard_normal((53, 3)), rng.standard_normal((3, 2))
    weights = rng.random(53) + 0.1 if weighted else None
    centre, scale = rng.standard_normal(6), rng.random(6) + 0.5
    tol = 1e-12 if dtype == np.float64 else 3e-6
    w = np.ones(53) if weights is None else weights
    for block, values in blocks(X, np.full(6, 0.5, dtype), np.full(6, 2.5, dtype)):
        S = np.hstack([(values - centre) / scale, Y @ mix, np.ones((53, 1))])
        due = (S.T @ (w[:, None] * S))[np.tril_indices(9)]
        found = gram_blocks.joint_gram(centre, scale, mix, block, Y, weights)
        np.testing.assert_allclose(found, due, rtol=tol, atol=100 * tol)
        plain = gram_blocks.joint_gram(None, None, mix, block, Y, weights)
        gram = (values.T.astype(float) @ (w[:, None] * values))[np.tril_indices(6)]
        np.testing.assert_allclose(plain[:21], gram, rtol=tol, atol=100 * tol)


def test_any_number_of_threads_gives_the_same_bits(rng, monkeypatch):
    monkeypatch.setattr(gram_blocks, "HEIGHT", 16)
    monkeypatch.setattr(stream, "MIN_WORK_PER_THREAD", 1)
    X, Y = rng.standard_normal((300, 9)).astype(np.float32), rng.standard_normal((300, 2))
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(stream, "n_threads", lambda threads=threads: threads)
        found.append(gram_blocks.joint_gram(None, None, np.eye(2), DenseDesign(X), Y, None))
    np.testing.assert_array_equal(found[0], found[1])


def test_single_precision_is_left_before_its_digits_are_lost(rng):
    # Of equal products all roundings go the same way: the worst that sums can meet.
    X = np.tile(rng.uniform(0.5, 2.0, 20).astype(np.float32), (100_000, 1))
    nothing = np.zeros((len(X), 0))
    found = gram_blocks.joint_gram(None, None, np.zeros((0, 0)), DenseDesign(X), nothing, None)
    due = len(X) * X[0].astype(np.float64) ** 2
    np.testing.assert_allclose(found[np.cumsum(np.arange(1, 21)) - 1], due, rtol=5e-6)
