"""The screen of products against the definition, and on noise."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pytest

from sparsieve.selectors.trees.boosting import Squares, code_columns
from sparsieve.selectors.trees.products import (
    _beyond,
    _limit,
    _screen,
    _standardise,
    found_products,
    has_own_effect,
    median_signs,
)


def test_signs_divide_the_samples_as_evenly_as_ties_allow():
    X = np.column_stack([np.arange(12.0), np.arange(12) > 2, np.arange(12) > 8, np.arange(12.0)])
    X[:4, 3] = np.nan
    signs = median_signs(code_columns(X))
    assert signs[:, 0].tolist() == [-1.0] * 6 + [1.0] * 6
    assert signs[:, 1].tolist() == [-1.0] * 3 + [1.0] * 9
    assert signs[:, 2].tolist() == [-1.0] * 9 + [1.0] * 3
    assert signs[:, 3].tolist() == [0.0] * 4 + [-1.0] * 4 + [1.0] * 4


def test_strengths_are_squared_correlations_of_the_products():
    rng = np.random.default_rng(0)
    signs = np.where(rng.random((400, 7)) < 0.5, -1.0, 1.0).astype(np.float32)
    S = _standardise(signs)
    R = (S[:, 0] * S[:, 3] + S[:, 2] * S[:, 4] * S[:, 6] + 0.5 * rng.standard_normal(400))[:, None]
    R = np.asarray((R - R.mean()) / R.std(), dtype=np.float32)
    owners, strengths = _screen(S, R)
    for one, strength in zip(owners, strengths, strict=True):
        product = S[:, list(one)].prod(axis=1)
        assert strength == pytest.approx((product @ R[:, 0]) ** 2 / 400, rel=1e-3)
    assert set(owners[:2]) == {(0, 3), (2, 4, 6)}
    limits = {2: _limit(21, 1), 3: _limit(35, 1)}
    beyond = {
        one
        for size in (2, 3)
        for one in combinations(range(7), size)
        if (S[:, list(one)].prod(axis=1) @ R[:, 0]) ** 2 / 400 > limits[size]
    }
    assert set(owners) == beyond
    assert _beyond(np.zeros((3, 3)), 1.0, ()) == []


def _given(samples, n_most):
    return samples


def test_noise_has_hardly_any_products():
    n_found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((300, 30)), rng.standard_normal((300, 1))
        loss = Squares(y)
        every = np.arange(300), loss
        found = found_products(code_columns(X), np.arange(30), partial(_given, every), rng)
        n_found += len(found.owners)
    assert n_found <= 3


def test_own_effects_are_those_that_octiles_show():
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal(1000), rng.standard_normal((1000, 1))
    codes = code_columns(x[:, None]).codes[:, 0]
    assert has_own_effect(codes, noise + 0.5 * np.abs(x)[:, None])
    assert has_own_effect(codes, np.hstack([noise, noise + x[:, None]]))
    n_found = sum(
        has_own_effect(codes, np.random.default_rng(seed).standard_normal((1000, 1)))
        for seed in range(200)
    )
    assert n_found <= 8
    assert not has_own_effect(np.zeros(1000, dtype=np.uint8), noise)
