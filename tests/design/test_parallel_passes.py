"""The compiled passes over large arrays against NumPy."""

import numpy as np
import pytest

from sparsieve.design import dense, dense_products
from sparsieve.design import parallel_passes as stream
from sparsieve.design import views as clipped
from sparsieve.design.dense import DenseDesign
from sparsieve.design.views import ClippedDense


@pytest.fixture
def everything_is_large(monkeypatch):
    for module in (clipped, dense):
        monkeypatch.setattr(module, "MAX_COPY_BYTES", 0)
    monkeypatch.setattr(dense, "COMPILED_NUMBERS", 0)


@pytest.mark.thinned(4)
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
    monkeypatch.setattr(stream, "MIN_WORK_PER_THREAD", 1)
    seen = np.zeros(1000, dtype=int)

    def work(start, stop):
        seen[start:stop] += 1

    stream.in_strips(work, 1000, 10**6)
    assert (seen == 1).all()


def test_threads_follow_the_limits_of_the_user():
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        assert stream.n_threads() == 1


def plain_moments(X, rows, weights):
    """A loop over columns in extended precision."""
    X = X[rows].astype(np.longdouble)
    w = np.ones(len(X)) if weights is None else weights[rows]
    means = [(w * column).sum() / w.sum() for column in X.T]
    spread = [(w * (column - m) ** 2).sum() / w.sum() for column, m in zip(X.T, means, strict=True)]
    return np.array(means, dtype=float), np.array(spread, dtype=float)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_groups_in_one_sweep(rng, everything_is_large, order, dtype, weighted):
    n, d = 61, 37
    X = rng.standard_normal((n, d)) * 3 + rng.choice([0.0, 1.0, 1e5], d)
    X[0] *= 1e6  # the first row of its group, from which deviations are counted
    X[:, 3], X[:, 4] = 7.3, np.where(np.arange(n) % 3 == 1, 2.5, X[:, 4])
    X = np.asarray(X, dtype=dtype, order=order)
    codes = np.arange(n) % 3
    codes[5], codes[7] = 3, 3  # a group of two rows, and four rows at a time leave a rest
    weights = rng.random(n) + 0.1 if weighted else None
    low, high = np.full(d, -2.0, dtype), np.full(d, 4.0, dtype)
    for design, values in [
        (DenseDesign(X), X),
        (ClippedDense(DenseDesign(X), low, high), np.clip(X, low, high)),
    ]:
        means, variances = design.group_moments(codes.astype(np.int8), 4, weights)
        for k in range(4):
            due = plain_moments(values, codes == k, weights)
            np.testing.assert_allclose(means[k], due[0], rtol=1e-13, atol=1e-13)
            np.testing.assert_allclose(variances[k], due[1], rtol=1e-10, atol=1e-12)
    constant = DenseDesign(X).group_moments(codes, 4, None)[1]
    assert (constant[:, 3] == 0).all()
    assert constant[1, 4] == 0


def test_moments_show_what_is_no_number(everything_is_large):
    for value in (np.nan, np.inf, -np.inf, 1e200):
        X = np.ones((9, 5))
        X[4, 2] = value
        for array in (X, np.asfortranarray(X)):
            means, variances = DenseDesign(array).group_moments(np.arange(9) % 2, 2)
            odd = ~np.isfinite(means + variances)
            assert odd[:, 2].any()
            assert not np.delete(odd, 2, axis=1).any()


def test_any_number_of_threads_gives_the_same_bits(rng, monkeypatch, everything_is_large):
    X, codes = rng.standard_normal((40, 3000)).astype(np.float32), np.arange(40) % 3
    monkeypatch.setattr(stream, "MIN_WORK_PER_THREAD", 1)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(stream, "n_threads", lambda threads=threads: threads)
        found.append(DenseDesign(X).group_moments(codes, 3))
        squared = list(stream.side_by_side(lambda k: k * k, range(20), 20))
        assert squared == [k * k for k in range(20)]
    np.testing.assert_array_equal(found[0], found[1])


def test_blas_gets_its_threads_back(monkeypatch):
    before = stream.n_threads()
    monkeypatch.setattr(stream, "MIN_WORK_PER_THREAD", 1)
    monkeypatch.setattr(stream, "n_threads", lambda: 2)
    list(stream.side_by_side(lambda k: np.eye(3) @ np.eye(3), range(4), 99))
    with pytest.raises(ZeroDivisionError):
        list(stream.side_by_side(lambda k: 1 / k, range(4), 99))
    monkeypatch.undo()
    assert stream.n_threads() == before


@pytest.mark.thinned(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [21, 1030])
@pytest.mark.parametrize("threads", [1, 3])
def test_few_and_many_values_outside_their_bounds(
    rng, monkeypatch, everything_is_large, dtype, n, threads
):
    width = dense_products.MIN_TILE_COLUMNS
    d = 4 * width + 300
    X = rng.standard_normal((n, d)).astype(dtype)
    X[:, 7] += 1000  # a centre far away
    X[3, 9] = 1e4  # and a value
    X[4, -1] = 40.0  # one less far
    X[:, -2] = 1 / 3  # constant
    centre = np.median(X, axis=0)
    low, high = centre - dtype(2.9), centre + dtype(2.9)
    second = slice(width, 2 * width)
    low[second], high[second] = -0.5, 0.5  # of the second strip much is clipped
    monkeypatch.setattr(stream, "MIN_WORK_PER_THREAD", 1)
    monkeypatch.setattr(stream, "n_threads", lambda: threads)
    design = ClippedDense(DenseDesign(X), low, high)
    known = design.clip.ends >= 0
    assert known.tolist() == [False, False, *[True] * (len(known) - 2)]
    expected = np.clip(X, low, high).astype(np.float64)
    size = 1.0 if dtype == np.float64 else 1e9
    for n_outputs in range(1, 7):
        R = rng.standard_normal((n, n_outputs)).astype(dtype)
        R -= R.mean(axis=0)
        due = expected.T @ R
        bound = 1e-15 * size * np.sqrt(n) * np.abs(X).max(axis=0)[:, None] * np.abs(R).max()
        assert (np.abs(design.rmatmul(R) - due) <= 8 * bound).all()
        due = X.astype(np.float64).T @ R
        assert (np.abs(DenseDesign(X).rmatmul(R) - due) <= 8 * bound).all()
    means, variances = design.column_moments()
    np.testing.assert_allclose(means, expected.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(variances, expected.var(axis=0), rtol=1e-9, atol=1e-28)


def blas_threads():
    return max(pool["num_threads"] for pool in stream._libraries().info())


def test_passes_keep_their_threads_while_blas_has_one():
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=2):
        allowed = stream.n_threads()
        with stream.limit_blas():
            assert (stream.n_threads(), blas_threads()) == (allowed, 1)
        assert (stream.n_threads(), blas_threads()) == (allowed, allowed)
    with threadpool_limits(limits=1), stream.limit_blas():
        assert stream.n_threads() == 1
