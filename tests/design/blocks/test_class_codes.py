"""Targets as codes, and what a target spans, against the plain matrix."""

import numpy as np
import pytest

from sparsieve.design.blocks import class_codes as coded
from sparsieve.design.blocks.class_codes import Coded, code_sizes, independent, totals


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(coded, "STEP", 7)


@pytest.fixture
def labels(rng):
    return Coded((np.arange(50) % 4).astype(np.int8), rng.standard_normal((4, 3)))


def test_it_is_its_table_row_by_row(labels):
    plain = labels.table[labels.codes]
    assert labels.shape == plain.shape
    assert len(labels) == 50
    np.testing.assert_array_equal(np.asarray(labels), plain)
    np.testing.assert_array_equal(labels.astype(np.float32), plain.astype(np.float32))
    for rows in (slice(3, 9), np.array([4, 4, 1])):
        np.testing.assert_array_equal(labels[rows], plain[rows])
    np.testing.assert_array_equal(np.asarray(Coded(labels.codes, 2 * labels.table)), 2 * plain)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums(labels, rng, weighted):
    weights = rng.random(50) if weighted else None
    due = np.bincount(labels.codes, weights=weights)
    np.testing.assert_allclose(code_sizes(labels.codes, 4, weights), due)
    plain = np.asarray(labels)
    expected = (np.ones(50) if weights is None else weights) @ plain
    np.testing.assert_allclose(totals(labels, weights), expected)
    np.testing.assert_allclose(totals(plain, weights), expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["coded", "plain"])
def test_independent_columns_span_the_target(rng, weighted, kind):
    weights = rng.random(50) + 0.1 if weighted else None
    codes = np.arange(50) % 4
    sizes = code_sizes(codes, 4, weights)
    members = Coded(codes, np.eye(4) - sizes / sizes.sum())  # centred: one column too many
    Y = members if kind == "coded" else np.asarray(members)
    mix, rotation = independent(Y, weights)
    assert mix.shape == (4, 3)
    B = np.asarray(members) @ mix
    w = np.ones(50) if weights is None else weights
    np.testing.assert_allclose(B.T @ (w[:, None] * B), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(B @ rotation, np.asarray(members), atol=1e-12)
    assert independent(np.zeros((5, 0)), None)[0].shape == (0, 0)
