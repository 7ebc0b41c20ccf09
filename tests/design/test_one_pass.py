"""Means and variances in one pass, against two passes in long doubles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsieve.design import one_pass


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("part", [False, True])
def test_against_long_doubles(order, dtype, weighted, part, monkeypatch):
    monkeypatch.setattr(one_pass, "BLOCK", 64)
    monkeypatch.setattr(one_pass, "STRIP", 8)
    rng = np.random.default_rng(0)
    X = 1e6 * rng.standard_normal(21) + rng.standard_normal((50, 21)) * rng.uniform(0.01, 9, 21)
    X[0] += 1000.0  # where deviations are taken from
    X = X.astype(dtype)
    X = np.asarray(X, order=order) if order in "CF" else np.repeat(X, 2, axis=1)[:, ::2]
    rows = rng.permutation(50)[:31] if part else None
    weights = rng.uniform(0.0, 3.0, 31 if part else 50) if weighted else None
    means, variances = one_pass.moments(X, weights, rows)
    some = X[slice(None) if rows is None else rows].astype(np.longdouble)
    w = np.ones(len(some)) if weights is None else weights
    mean = w @ some / w.sum()
    assert_allclose(means, mean.astype(float), rtol=1e-13)
    assert_allclose(variances, (w @ (some - mean) ** 2 / w.sum()).astype(float), rtol=1e-9)
    assert means.dtype == variances.dtype == np.float64


def test_constants_have_no_spread_and_equal_numbers_equal_means():
    X = np.full((9, 2), 0.1)
    assert_array_equal(one_pass.moments(X)[1], [0, 0])
    x = np.tile([0.0, 1.0], 8)
    one, two = (one_pass.moments(x[shift : shift + 14, None])[0] for shift in (0, 1))
    assert_array_equal(one, two)
