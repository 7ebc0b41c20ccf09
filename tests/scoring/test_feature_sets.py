import numpy as np
import pytest
from scipy import sparse

from sparsieve.scoring import recovery_at, redundancy_rate, sparsity_level


def test_redundancy_is_the_sum_over_pairs(rng):
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6))
    pairs = [np.corrcoef(X[:, i], X[:, j])[0, 1] for i in range(6) for j in range(i)]
    rate = redundancy_rate(X)
    assert rate.signed == pytest.approx(np.sum(pairs) / 30)
    assert rate.absolute == pytest.approx(np.sum(np.abs(pairs)) / 30)
    assert redundancy_rate(sparse.csr_array(X)) == pytest.approx(rate)


def test_redundancy_of_many_features(rng):
    X = rng.normal(size=(20, 600)) + rng.normal(size=(20, 1))
    correlation = np.corrcoef(X.T)[np.tril_indices(600, -1)]
    expected = (correlation.sum() / (600 * 599), np.abs(correlation).sum() / (600 * 599))
    assert redundancy_rate(X) == pytest.approx(expected)


def test_redundancy_of_copies_constants_and_single_features(rng):
    x = rng.normal(size=20)
    assert redundancy_rate(np.column_stack([x, x, x])).signed == pytest.approx(0.5)
    opposed = redundancy_rate(np.column_stack([x, -x]))
    assert opposed == pytest.approx((-0.5, 0.5))
    for constant in (np.zeros(20), np.full(20, 1e8 + 0.1)):
        assert redundancy_rate(np.column_stack([x, constant])) == pytest.approx((0, 0))
    assert redundancy_rate(x[:, None]) == (0, 0)


def test_redundancy_survives_a_large_offset(rng):
    X = rng.normal(size=(50, 3))
    assert redundancy_rate(X + 1e7) == pytest.approx(redundancy_rate(X), abs=1e-6)


def test_recovery():
    ranking = [2, 4, 1, 3, 5]
    assert recovery_at(ranking, [0, 1], 2) == (0.5, 0.5)
    assert recovery_at(ranking, [0, 2], 2) == (1, 1)
    assert recovery_at(ranking, [4], 4) == (0, 0)
    for beyond in (len(ranking), -1):
        with pytest.raises(ValueError, match=f"relevant holds column {beyond}, but there are"):
            recovery_at(ranking, [0, beyond], 2)
    with pytest.raises(ValueError, match="k=6 is larger"):
        recovery_at(ranking, [0], 6)


def test_sparsity_level_depends_on_the_tolerance():
    coef = np.array([[3.0, 1e-4, 0.0], [4.0, 0.0, 0.0]])
    assert [sparsity_level(coef, tolerance) for tolerance in (0, 1e-3, 5)] == [2, 1, 0]
    assert sparsity_level(coef[0]) == 2
