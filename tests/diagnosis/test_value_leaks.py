"""Columns whose few values say the class without being larger or smaller in it."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve import diagnose, select
from sparsieve.diagnosis.data import MAX_VALUES, value_leaks


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 13))
    y = (X[:, 4] + X[:, 1] + 0.3 * rng.standard_normal(300) > 0).astype(int)
    return X, y, rng


def test_both_signs_of_one_class_and_zero_of_the_other(data):
    X, y, rng = data
    X[:, 12] = y * rng.choice([-1, 1], len(y))
    found = diagnose(X, y)
    assert "column 12 alone predicts the target perfectly" in str(found)
    assert select(X, y).features == ["x12"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_codes_in_any_order(data, n_classes):
    X, _, rng = data
    values = rng.integers(9, size=len(X))
    codes = rng.permutation(np.arange(9) % n_classes)[values]
    X[:, 3] = values
    found = value_leaks(X, np.arange(13), codes)
    assert [(leak.column, leak.n_exceptions) for leak in found] == [(3, 0)]
    sparse_found = value_leaks(sparse.csc_array(X), np.arange(13), codes)
    assert [leak.column for leak in sparse_found] == [3]


def test_what_is_no_copy(data):
    X, y, rng = data
    columns = np.arange(13)
    X[:, 12] = y * rng.choice([-1, 1], len(y))
    wrong = X.copy()
    wrong[0, 12] = 0 if y[0] else 1  # one exception
    rare = X.copy()
    rare[np.flatnonzero(y)[0], 12] = 7  # a value of one sample
    many = X.copy()
    many[:, 12] = np.where(y, 1, -1) * rng.permutation(len(y))
    in_order = X.copy()
    in_order[:, 12] = y * (1 + rng.integers(2, size=len(y)))  # left to the other judge
    for values in (wrong, rare, many, in_order):
        assert not value_leaks(values, columns, y)
    few = np.arange(20)  # noise of 20 samples does so by chance
    many_columns = rng.integers(4, size=(20, 4000)).astype(float)
    assert not value_leaks(many_columns, np.arange(4000), few % 2)
    assert MAX_VALUES < 20
