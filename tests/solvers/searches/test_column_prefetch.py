"""Blocks of promising columns: fewer passes over X, the same selection."""

import numpy as np
import pytest

from sparsieve import RidgeForwardSelector
from sparsieve.design import as_design
from sparsieve.memory import set_memory
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.searches.forward import ForwardSelection
from sparsieve.solvers.searches.forward_scores import CandidateBlocks


def problem(rng, dtype, n=480, d=120):
    factors = rng.standard_normal((n, 12))
    X = factors @ rng.standard_normal((12, d)) + rng.standard_normal((n, d))
    X[:, 7] = X[:, 3] + 1e-4 * rng.standard_normal(n)  # nearly nothing is left of it
    Y = X[:, [3, 40, 50]] @ rng.standard_normal((3, 2)) + rng.standard_normal((n, 2))
    return (X - X.mean(axis=0)).astype(dtype), (Y - Y.mean(axis=0)).astype(dtype)


def paths(X, Y, at_once, ridge, monkeypatch):
    made = []
    original = CandidateBlocks.if_they_pay

    def noted(design, n_steps):
        made.append(original(design, n_steps))
        return made[-1]

    monkeypatch.setattr(CandidateBlocks, "if_they_pay", noted)
    found = []
    for columns_at_once in (1, at_once):
        design = as_design(X)
        design.columns_at_once = columns_at_once
        found.append(ForwardSelection(25).solve(LeastSquares(design, Y, ridge=ridge)).solution)
    assert made[0] is None
    return (*found, made[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ridge", [0.0, 5.0])
def test_blocks_select_the_same_in_fewer_passes(rng, monkeypatch, dtype, ridge):
    X, Y = problem(rng, dtype)
    plain, blocked, blocks = paths(X, Y, 8, ridge, monkeypatch)
    assert plain.path.features.tolist() == blocked.path.features.tolist()
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    scale = plain.gains.max()
    np.testing.assert_allclose(blocked.gains, plain.gains, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(blocked.remaining, plain.remaining, rtol=0, atol=tolerance * scale)
    assert 2 <= blocks.passes <= 12  # one for every step without


def test_what_is_nearly_spent_gets_a_pass_of_its_own(rng, monkeypatch):
    X, Y = problem(rng, np.float64)
    Y = Y + 100 * X[:, [3]] + 1e6 * (X[:, [7]] - X[:, [3]])  # the difference of the two matters
    plain, blocked, _ = paths(X, Y, 8, 0.0, monkeypatch)
    assert {3, 7} <= set(plain.path.features[:4].tolist())
    assert plain.path.features.tolist() == blocked.path.features.tolist()
    np.testing.assert_allclose(blocked.gains, plain.gains, rtol=1e-6)


def test_a_long_path_leaves_the_blocks_where_they_would_outgrow_x(rng, monkeypatch):
    X, Y = problem(rng, np.float64, n=200, d=60)
    plain, blocked, blocks = paths(X, Y, 4, 1.0, monkeypatch)
    assert plain.path.features.tolist() == blocked.path.features.tolist()
    assert blocks.passes > 25 - 200 // 16  # all steps beyond the room for them


def test_few_steps_or_samples_do_not_pay(rng):
    design = as_design(rng.standard_normal((400, 30)))
    design.columns_at_once = 8
    assert CandidateBlocks.if_they_pay(design, 20) is not None
    assert CandidateBlocks.if_they_pay(design, 2) is None
    small = as_design(rng.standard_normal((60, 30)))
    small.columns_at_once = 8
    assert CandidateBlocks.if_they_pay(small, 20) is None


def test_a_file_is_read_less_often_than_features_are_selected(rng, tmp_path):
    n, d = 600, 700
    X = rng.standard_normal((n, d)).astype(np.float32)
    y = (X[:, :10].sum(axis=1) + 2 * rng.standard_normal(n) > 0).astype(int)
    np.save(tmp_path / "X.npy", X)
    held = RidgeForwardSelector(25).fit(X, y)
    with set_memory("1MB"):
        read = RidgeForwardSelector(25).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    assert read.path_.features.tolist() == held.path_.features.tolist()
    np.testing.assert_allclose(read.scores_, held.scores_, atol=1e-5)
    assert read.n_passes_ < 20  # 29 with a pass for every feature
