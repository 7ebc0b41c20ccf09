"""One oracle for every design: a plain dense array that holds what the design stands for."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import DenseDesign, DesignMatrix, SparseDesign, as_design, standardise_columns
from sparsieve.design import standardise as convert
from sparsieve.design.views import ClippedDense, Deflated, Scaled, clipped_sparse

SHAPES = [(7, 12), (30, 9), (5, 5)]


def matrix(shape, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) + 3.0 * rng.standard_normal(shape[1])
    X[rng.random(shape) < 0.4] = 0.0
    return X.astype(dtype)


def scaling(shape, seed=1):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal(shape[1]),
        rng.random(shape[1]) + 0.5,
        rng.random(shape[0]) + 0.5,
    )


def build(kind, shape, dtype):
    """A design of some kind and the dense array it stands for."""
    X = matrix(shape, dtype)
    centre, scale, row_scale = scaling(shape)
    if kind == "dense C":
        return DenseDesign(np.ascontiguousarray(X)), X
    if kind == "dense F":
        return DenseDesign(np.asfortranarray(X)), X
    if kind == "csr":
        return SparseDesign(sparse.csr_matrix(X)), X
    if kind == "csc":
        return SparseDesign(sparse.csc_array(X)), X
    if kind == "clipped":
        low, high = -np.abs(centre), np.abs(centre) + 0.1
        return ClippedDense(DenseDesign(X), low, high), np.clip(X, low, high).astype(dtype)
    if kind == "deflated":
        left = np.linalg.qr(matrix((shape[0], 2), seed=3))[0]
        blank = np.arange(shape[1]) == 2
        oracle = np.where(blank, 0.0, X - left @ (left.T @ X)).astype(dtype)
        return Deflated(SparseDesign(sparse.csr_array(X)), left, left.T @ X, blank), oracle
    base = SparseDesign(sparse.csr_array(X)) if kind == "scaled sparse" else DenseDesign(X)
    oracle = (row_scale[:, None] * (X - centre) / scale).astype(dtype)
    return Scaled(base, centre, scale, row_scale), oracle


KINDS = ["dense C", "dense F", "csr", "csc", "clipped", "scaled dense", "scaled sparse", "deflated"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_design_agrees_with_its_dense_oracle(kind, shape, dtype, rng):
    design, X = build(kind, shape, dtype)
    tol = {"rtol": 1e-10, "atol": 1e-10} if dtype == np.float64 else {"rtol": 2e-4, "atol": 2e-4}
    n, d = shape
    assert isinstance(design, DesignMatrix)
    assert design.shape == shape
    assert design.dtype == dtype
    for c in (1, 3):
        W = rng.standard_normal((d, c)).astype(dtype)
        R = rng.standard_normal((n, c)).astype(dtype)
        np.testing.assert_allclose(design.matmul(W), X @ W, **tol)
        np.testing.assert_allclose(design.rmatmul(R), X.T @ R, **tol)
        assert design.matmul(W).dtype == dtype
        assert design.rmatmul(R).dtype == dtype
    np.testing.assert_allclose(design.column_sq_norms(), (X**2).sum(axis=0), **tol)
    weights = rng.random(n) + 0.1
    for w in (None, weights):
        means, variances = design.column_moments(w)
        np.testing.assert_allclose(means, np.average(X, axis=0, weights=w), **tol)
        expected = np.average((X - np.average(X, axis=0, weights=w)) ** 2, axis=0, weights=w)
        np.testing.assert_allclose(variances, expected, **tol)
    np.testing.assert_allclose(design.cross_gram(), X @ X.T, **tol)
    np.testing.assert_allclose(design.gram(), X.T @ X, **tol)
    assert design.spectral_norm() == pytest.approx(np.linalg.norm(X.astype(float), 2), rel=1e-4)
    some_rows = np.array([n - 1, 0, 2])
    some_columns = np.array([d - 1, 1])
    np.testing.assert_allclose(
        design.rows(some_rows).matmul(np.eye(d, dtype=dtype)), X[some_rows], **tol
    )
    np.testing.assert_allclose(
        design.columns(some_columns).matmul(np.eye(2, dtype=dtype)), X[:, some_columns], **tol
    )
    columns = design.dense_columns(some_columns)
    np.testing.assert_allclose(columns, X[:, some_columns], **tol)
    assert columns.flags.f_contiguous
    assert columns.dtype == dtype


def test_spectral_norm_of_larger_and_of_zero_matrices(rng):
    X = rng.standard_normal((200, 300)) * np.linspace(1, 3, 300)
    assert as_design(X).spectral_norm() == pytest.approx(np.linalg.norm(X, 2), rel=1e-5)
    assert as_design(np.zeros((4, 6))).spectral_norm() == 0.0
    assert as_design(np.ones((6, 4))).spectral_norm() == pytest.approx(np.sqrt(24))


def test_moments_stream_many_blocks(rng, monkeypatch):
    monkeypatch.setattr("sparsieve.design.dense.CACHE_BLOCK_BYTES", 8 * 20 * 3)
    X = rng.standard_normal((50, 20))
    design = DenseDesign(X)
    assert len(list(design.row_blocks())) == 17
    means, variances = design.column_moments()
    np.testing.assert_allclose(means, X.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(variances, X.var(axis=0))


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["small dense", "large dense", "sparse"])
def test_standardised(kind, weighted, clip, rng, monkeypatch):
    X = matrix((40, 6))
    X[:, 3] = 7.0  # constant
    weights = rng.random(40) + 0.2 if weighted else None
    if kind == "large dense":
        monkeypatch.setattr(convert, "MAX_COPY_BYTES", 0)
    design = SparseDesign(sparse.csr_array(X)) if kind == "sparse" else DenseDesign(X)
    view = standardise_columns(design, centre=True, scale=True, sample_weight=weights, clip=clip)

    def standard(Z):
        Z = Z - np.average(Z, axis=0, weights=weights)
        deviation = np.sqrt(np.average(Z**2, axis=0, weights=weights))
        return Z / np.where(deviation < 1e-12, 1.0, deviation)

    expected = standard(X)
    if clip is not None:
        expected = standard(np.clip(expected, -clip, clip))
    if weighted:
        expected *= np.sqrt(weights)[:, None]
    np.testing.assert_allclose(view.design.matmul(np.eye(6)), expected, atol=1e-9)
    np.testing.assert_array_equal(view.constant, [False, False, False, True, False, False])


def test_large_designs_are_not_copied(monkeypatch):
    monkeypatch.setattr(convert, "MAX_COPY_BYTES", 0)
    design = DenseDesign(matrix((20, 5)))
    assert standardise_columns(design, centre=True, scale=True).design.base is design


def test_nothing_to_standardise_is_the_design_itself():
    design = DenseDesign(matrix((20, 5)))
    assert standardise_columns(design, centre=False, scale=False).design is design


def test_inner_products_of_very_sparse_columns(rng):
    X = sparse.random_array((400, 30), density=0.01, rng=rng, format="csc")
    design = Scaled(SparseDesign(X), X.mean(axis=0), rng.uniform(1, 2, 30))
    assert design.is_very_sparse
    some = np.array([4, 1, 29])
    dense = (X.toarray() - design.centre) / design.scale
    np.testing.assert_allclose(
        design.inner(some), (dense.T @ dense)[np.ix_(some, some)], atol=1e-13
    )
    weights = rng.uniform(size=400)
    weighted = (dense.T @ (weights[:, None] * dense))[np.ix_(some, some)]
    np.testing.assert_allclose(design.inner(some, weights), weighted, atol=1e-13)
    # Of a column far from zero the products would lose their digits.
    wide = sparse.hstack([X, 1e9 + rng.normal(size=(400, 1))], format="csc")
    far = Scaled(SparseDesign(wide), wide.mean(axis=0))
    column = wide[:, [30]].toarray() - far.centre[30]
    assert far.is_very_sparse
    assert far.inner([30])[0, 0] == pytest.approx(float((column**2).sum()), rel=1e-6)


def test_clipped_sparse_keeps_the_pattern():
    X = sparse.csc_array(matrix((20, 5)))
    low, high = np.full(5, 0.5), np.full(5, 1.5)  # zero lies outside the interval
    clipped = clipped_sparse(SparseDesign(X), low, high)
    assert clipped.matrix.nnz <= X.nnz
    np.testing.assert_allclose(clipped.matrix.toarray() + 0.5, np.clip(X.toarray(), 0.5, 1.5))


def test_weights_make_no_variance_of_a_stored_constant(rng):
    X = np.column_stack([np.full(300, 3.0), rng.integers(0, 2, 300)])
    for weights in rng.uniform(0.1, 3.0, (5, 300)):
        design = SparseDesign(sparse.csr_array(X))
        means, variances = design.column_moments(weights)
        assert variances[0] <= 1e-28
        expected = DenseDesign(X).column_moments(weights)
        np.testing.assert_allclose([means, variances], expected, rtol=1e-12, atol=1e-14)
        view = standardise_columns(design, centre=True, scale=True, sample_weight=weights)
        assert view.constant.tolist() == [True, False]


def test_float32_moments_do_not_lose_a_large_offset(rng):
    X = (rng.standard_normal((1000, 3)) + 1e4).astype(np.float32)
    _, variances = DenseDesign(X).column_moments()
    np.testing.assert_allclose(variances, X.astype(np.float64).var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_float32_sums_over_many_samples_keep_their_digits(rng, order):
    X = np.asarray(rng.random((300_000, 3)) < 0.3, dtype=np.float64)
    R = X + 1.0  # of one sign: a running sum in single precision would be off by one in a thousand
    design = DenseDesign(np.asarray(X, dtype=np.float32, order=order))
    centred = Scaled(design, centre=X.mean(axis=0))
    clipped = ClippedDense(design, np.zeros(3), np.full(3, 0.75))
    R32 = R.astype(np.float32)
    np.testing.assert_allclose(design.rmatmul(R32), X.T @ R, rtol=3e-7)
    np.testing.assert_allclose(design.rmatmul(R32[:, :1]), X.T @ R[:, :1], rtol=3e-7)
    np.testing.assert_allclose(design.column_sq_norms(), (X**2).sum(axis=0), rtol=3e-7)
    np.testing.assert_allclose(design.gram(), X.T @ X, rtol=3e-7)
    np.testing.assert_allclose(clipped.rmatmul(R32), 0.75 * X.T @ R, rtol=3e-7)
    np.testing.assert_allclose(clipped.column_sq_norms(), 0.5625 * X.sum(axis=0), rtol=3e-7)
    exact = (X - X.mean(axis=0)).T @ R
    np.testing.assert_allclose(centred.rmatmul(R32), exact, atol=1e-6 * np.abs(X.T @ R).max())
