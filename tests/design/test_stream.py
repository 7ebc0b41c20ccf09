"""The compiled passes over large arrays against NumPy."""

import numpy as np
import pytest

from sparsieve.design import clipped, dense, stream
from sparsieve.design.clipped import ClippedDense
from sparsieve.design.dense import DenseDesign


@pytest.fixture
def everything_is_large(monkeypatch):
    for module in (clipped, dense):
        monkeypatch.setattr(module, "COPY_BYTES", 0)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7, 5), (1030, 33), (4, 20000)])
def test_products_and_moments(rng, everything_is_large, order, dtype, shape):
    X = np.asarray(rng.standard_normal(shape) * 3 + 1, dtype=dtype, order=order)
    low, high = np.full(shape[1], -2.0, dtype), np.full(shape[1], 4.0, dtype)
    design = ClippedDense(DenseDesign(X), low, high)
    expected = np.clip(X, -2, 4).astype(np.float64)
    R = rng.standard_normal((shape[0], 3)).astype(dtype)
    tol = 1e-10 if dtype == np.float64 else 2e-4
    product = design.rmatmul(R)
    assert product.dtype == dtype
    np.testing.assert_allclose(product, expected.T @ R, rtol=tol, atol=tol * shape[0] ** 0.5)
    weights = rng.random(shape[0]) + 0.1
    for w in (None, weights):
        for values, found in [
            (expected, design.column_moments(w)),
            (X.astype(np.float64), DenseDesign(X).column_moments(w)),
        ]:
            mean = np.average(values, axis=0, weights=w)
            variance = np.average((values - mean) ** 2, axis=0, weights=w)
            np.testing.assert_allclose(found[0], mean, atol=1e-9)
            np.testing.assert_allclose(found[1], variance, atol=1e-9)


def test_strips_cover_all_columns_on_several_threads(monkeypatch):
    monkeypatch.setattr(stream, "n_threads", lambda: 3)
    monkeypatch.setattr(stream, "WORTH_A_THREAD", 1)
    seen = np.zeros(1000, dtype=int)

    def work(start, stop):
        seen[start:stop] += 1

    stream.in_strips(work, 1000, 10**6)
    assert (seen == 1).all()


def test_threads_follow_the_limits_of_the_user():
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        assert stream.n_threads() == 1
