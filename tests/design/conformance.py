"""What any design must pass: one oracle, a plain array that holds what the design stands for.

A new kind of design adds its maker to ``MAKERS`` of ``test_conformance.py`` and nothing else. A
maker takes a plain array (and pytest's ``tmp_path``) and returns the design of it. Set
``counts_passes`` where X is not in memory and reading it is dear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from sparsieve.design import DesignMatrix, standardise_columns
from sparsieve.design.views import Deflated, Scaled, in_double


@dataclass(frozen=True)
class Maker:
    """How to make a design, and what it promises beside the interface."""

    name: str
    make: Callable[..., DesignMatrix]
    counts_passes: bool = False
    standardises: bool = True

    def __call__(self, X, tmp_path) -> DesignMatrix:
        return self.make(X, tmp_path)


def matrix(shape=(23, 9), dtype=np.float64, seed=0):
    """Columns with offsets, many zeros, and a constant one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) + 3.0 * rng.standard_normal(shape[1])
    X[rng.random(shape) < 0.4] = 0.0
    X[:, shape[1] // 2] = 2.5
    return X.astype(dtype)


def tolerance(dtype):
    return {"rtol": 1e-10, "atol": 1e-10} if dtype == np.float64 else {"rtol": 3e-4, "atol": 3e-4}


def as_array(design):
    """All of a design, through its products."""
    return design.matmul(np.eye(design.shape[1], dtype=design.dtype))


class DesignConformance:
    """Inherit from this and provide the fixtures ``maker`` and ``dtype``."""

    @pytest.fixture
    def X(self, dtype):
        return matrix(dtype=dtype)

    @pytest.fixture
    def design(self, maker, X, tmp_path):
        return maker(X, tmp_path)

    @pytest.fixture
    def close(self, dtype):
        def check(found, expected):
            np.testing.assert_allclose(found, expected, **tolerance(dtype))

        return check

    def test_shape_and_dtype(self, design, X):
        assert np.count_nonzero(X) <= design.n_entries <= X.size
        assert isinstance(design, DesignMatrix)
        assert tuple(design.shape) == X.shape
        assert np.dtype(design.dtype) == X.dtype

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("n_outputs", [1, 3])
    def test_products(self, design, X, close, rng, n_outputs, order):
        W = np.asarray(rng.standard_normal((X.shape[1], n_outputs)), dtype=X.dtype, order=order)
        R = np.asarray(rng.standard_normal((X.shape[0], n_outputs)), dtype=X.dtype, order=order)
        for found, expected in ((design.matmul(W), X @ W), (design.rmatmul(R), X.T @ R)):
            assert isinstance(found, np.ndarray)
            assert found.dtype == X.dtype
            close(found, expected)
        few = np.zeros_like(W)
        few[[1, 4]] = W[[1, 4]]
        close(design.matmul(few), X @ few)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_moments(self, design, X, close, rng, weighted):
        weights = rng.random(len(X)) + 0.1 if weighted else None
        for _ in range(2):  # what was kept is as good as new
            means, variances = design.column_moments(weights)
            assert means.dtype == variances.dtype == np.float64
            expected = np.average(X, axis=0, weights=weights)
            close(means, expected)
            close(variances, np.average((X - expected) ** 2, axis=0, weights=weights))
        codes = np.arange(len(X)) % 3
        means, variances = design.group_moments(codes, 3, weights)
        for k in range(3):
            some = None if weights is None else weights[codes == k]
            expected = np.average(X[codes == k], axis=0, weights=some)
            close(means[k], expected)
            close(variances[k], np.average((X[codes == k] - expected) ** 2, axis=0, weights=some))
        sums = np.eye(3)[codes].T @ (X if weights is None else weights[:, None] * X)
        close(design.group_sums(codes, 3, weights), sums)
        close(design.column_minima(), X.min(axis=0))
        other = None if weighted else rng.random(len(X)) + 0.1
        close(design.column_moments(other)[0], np.average(X, axis=0, weights=other))

    def test_moments_do_not_lose_a_large_offset(self, maker, dtype, tmp_path, rng):
        if not maker.standardises:
            pytest.skip("a view that is made when standardising")
        X = (rng.standard_normal((60, 3)) + 1e4).astype(dtype)
        _, variances = maker(X, tmp_path).column_moments()
        np.testing.assert_allclose(variances, X.astype(np.float64).var(axis=0), rtol=1e-8)

    def test_norms_and_minima(self, design, X, close):
        close(design.column_sq_norms(), (X**2).sum(axis=0))
        assert (design.column_magnitudes() >= 0.999 * np.linalg.norm(X, axis=0)).all()
        close(design.column_minima(), X.min(axis=0))

    def test_inner_products(self, design, X, close):
        close(design.gram(), X.T @ X)
        close(design.cross_gram(), X @ X.T)
        some = np.array([X.shape[1] - 1, 1, 3])
        close(design.inner(some), X[:, some].T @ X[:, some])
        weights = 1.0 + np.arange(len(X)) % 3
        close(design.inner(some, weights), X[:, some].T @ (weights[:, None] * X[:, some]))
        assert design.spectral_norm() == pytest.approx(np.linalg.norm(X.astype(float), 2), 1e-3)

    def test_columns(self, design, X, close):
        some = np.array([X.shape[1] - 1, 1, 3])
        for index in (some, some.tolist(), some[:1]):
            found = design.dense_columns(index)
            close(found, X[:, index])
            assert found.flags.f_contiguous
            assert found.dtype == X.dtype
        found[:] = 0.0  # the caller's own
        close(design.dense_columns(some[:1]), X[:, some[:1]])
        close(as_array(design.columns(some)), X[:, some])
        close(as_array(design.columns(some).columns(np.array([2, 0]))), X[:, [3, X.shape[1] - 1]])
        taken = design.take_columns(some)
        close(taken.cpu().numpy() if hasattr(taken, "cpu") else np.asarray(taken), X[:, some])

    def test_rows(self, design, X, close, rng):
        n = len(X)
        for index in (np.array([n - 1, 0, 2, 0]), np.arange(n) % 3 == 1, np.arange(4, n - 3)):
            some = design.rows(index)
            close(as_array(some), X[index])
            R = rng.standard_normal((len(X[index]), 2)).astype(X.dtype)
            close(some.rmatmul(R), X[index].T @ R)
            close(some.dense_columns([1, 0]), X[index][:, [1, 0]])
            close(some.column_moments()[0], X[index].mean(axis=0))
        twice = design.rows(np.arange(2, 12)).rows(np.array([5, 1]))
        close(as_array(twice.columns([2, 1])), X[[7, 3]][:, [2, 1]])

    @pytest.mark.parametrize("clip", [None, 1.0])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_standardised(self, maker, design, X, close, rng, weighted, clip):
        if not maker.standardises:
            pytest.skip("a view that is made when standardising")
        weights = rng.random(len(X)) + 0.2 if weighted else None
        view = standardise_columns(
            design, centre=True, scale=True, sample_weight=weights, clip=clip
        )
        expected = _standard(X.astype(np.float64), weights)
        if clip is not None:
            expected = _standard(np.clip(expected, -clip, clip), weights)
        if weights is not None:
            expected *= np.sqrt(weights)[:, None]
        # A constant column is blanked by whoever uses it.
        varied = np.flatnonzero(~view.constant)
        assert view.constant.sum() == 1
        assert view.design.dtype == X.dtype
        close(as_array(view.design)[:, varied], expected[:, varied])
        close(view.design.dense_columns(varied), expected[:, varied])
        R = rng.standard_normal((len(X), 2)).astype(X.dtype)
        close(view.design.rmatmul(R)[varied], expected.T[varied] @ R)
        close(view.design.column_sq_norms()[varied], (expected**2).sum(axis=0)[varied])

    def test_scaled_and_deflated(self, design, X, close, rng):
        centre, scale = rng.standard_normal(X.shape[1]), rng.random(X.shape[1]) + 0.5
        rows = rng.random(len(X)) + 0.5
        scaled = Scaled(design, centre, scale, rows)
        expected = rows[:, None] * (X - centre) / scale
        close(as_array(scaled), expected)
        left = np.linalg.qr(rng.standard_normal((len(X), 2)))[0]
        blank = np.arange(X.shape[1]) == 2
        smaller = Deflated(scaled, left, left.T @ expected, blank)
        rest = np.where(blank, 0.0, expected - left @ (left.T @ expected))
        R = rng.standard_normal((len(X), 2)).astype(X.dtype)
        close(smaller.rmatmul(R), rest.T @ R)
        close(smaller.column_moments()[1], rest.var(axis=0))

    def test_in_double(self, maker, design, X):
        if not maker.standardises:
            pytest.skip("a view, whose base is rounded to single precision here")
        exact = X.astype(np.float64)
        twice = in_double(design)
        assert np.dtype(twice.dtype) == np.float64
        np.testing.assert_allclose(as_array(twice), exact, rtol=1e-12)
        np.testing.assert_allclose(twice.rmatmul(exact), exact.T @ exact, rtol=1e-10)

    def test_the_array_of_the_user_stays_as_it_was(self, maker, design, X, dtype):
        if maker.standardises:
            standardise_columns(design, centre=True, scale=True, clip=1.0).design.rmatmul(X[:, :1])
        np.testing.assert_allclose(as_array(design), matrix(dtype=dtype), **tolerance(dtype))

    def test_passes(self, maker, design, X):
        if not maker.counts_passes:
            assert design.passes == 0
            return
        start = design.passes
        design.column_moments()
        assert design.passes == start + 1
        design.column_moments()  # kept
        assert design.passes == start + 1
        design.rmatmul(X[:, :2])
        assert design.passes == start + 2
        design.dense_columns([1, 2])
        design.dense_columns([2])  # kept
        assert design.passes == start + 3
        view = Scaled(design.columns([0, 1, 2]).rows(np.arange(5)), np.zeros(3))
        view.rmatmul(X[:5, :1])
        assert view.passes == design.passes == start + 4


def _standard(Z, weights):
    Z = Z - np.average(Z, axis=0, weights=weights)
    deviation = np.sqrt(np.average(Z**2, axis=0, weights=weights))
    return Z / np.where(deviation < 1e-12, 1.0, deviation)
