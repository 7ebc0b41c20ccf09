"""Machines that are said to need no feature, against the linear program of each of them."""

from __future__ import annotations

import numpy as np
import pytest

from hinge_reference import hinge_minimum
from sparsieve.design import DenseDesign
from sparsieve.papers.baselines.solvers import column_generation as module
from sparsieve.papers.baselines.solvers.column_generation import without_features


def needs_none(X, codes, C, costs):
    """Whether the best machine of each class is as good with the bias alone."""
    answers = []
    for code in range(codes.max() + 1):
        y = np.where(codes == code, 1.0, -1.0)
        alone = min(C[y > 0].sum(), C[y < 0].sum()) * 2.0
        answers.append(hinge_minimum(X, y, C, costs) >= alone * (1 - 1e-9))
    return np.array(answers)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_proven_is_true(seed):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(6), rng.integers(0, 6, 54))
    X = rng.normal(size=(60, 5))
    X[:, 0] += 3.0 * (codes == 2)
    C = rng.uniform(0.5, 1.5, 60)
    truths = []
    for cost in np.geomspace(2.0, 60.0, 12):
        costs = np.full(5, cost)
        proven, truth = (
            without_features(DenseDesign(X), codes, C, costs),
            needs_none(X, codes, C, costs),
        )
        assert not (proven & ~truth).any()
        truths.append((proven.sum(), truth.sum()))
    assert truths[-1] == (6, 6)  # nothing pays for itself


def test_two_classes_share_one_machine():
    rng = np.random.default_rng(1)
    X, codes, C = rng.normal(size=(40, 3)), (np.arange(40) < 12) * 1, np.ones(40)
    for cost in (0.5, 4.0, 8.0, 40.0):
        proven = without_features(DenseDesign(X), codes, C, np.full(3, cost))
        truth = needs_none(X, codes, C, np.full(3, cost))
        assert truth[0] == truth[1]
        assert not (proven & ~truth).any()


def test_steps_prove_what_an_even_share_does_not(monkeypatch):
    """A class inside the others: some samples of the rest are like it, on average they are not."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(12), 10)
    X = rng.normal(size=(120, 3)) + np.repeat(rng.normal(size=(12, 3)), 10, axis=0)
    C, costs = np.ones(120), np.full(3, 6.0)
    design = DenseDesign(X)
    with_steps = without_features(design, codes, C, costs)
    monkeypatch.setattr(module, "MAX_STEPS", 0)
    evenly = without_features(design, codes, C, costs)
    assert (evenly <= with_steps).all()
    assert evenly.sum() < with_steps.sum()
    assert needs_none(X, codes, C, costs)[with_steps].all()
