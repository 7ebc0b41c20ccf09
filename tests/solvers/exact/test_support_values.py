"""Objectives of supports with their errors, against exact arithmetic."""

import numpy as np
import pytest

from exact_oracle import Oracle
from sparsieve.design import as_design
from sparsieve.solvers.exact.best_subsets import ExactValues
from sparsieve.solvers.exact.support_values import Accuracy, SupportValues


def test_a_column_within_its_error_does_not_spoil_the_others():
    """Beside noise of which nothing is known a good column still explains what it does."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 2)), rng.standard_normal((20, 1))
    X[:, 1] *= 1e-15
    errors = np.array([1e-14, 1e-13])
    accuracy = Accuracy(errors, 1e-14, 1e-14, np.zeros((20, 0)))
    values = SupportValues(X, Y, 0.0, accuracy, np.arange(2))
    alone, both = (values.evaluate(np.array([some])) for some in ([0], [0, 1]))
    assert both.high[0] == pytest.approx(alone.high[0], rel=1e-12)
    assert both.low[0] <= both.value[0] <= both.high[0]


def problem(seed, closeness):
    """Six columns, two of them nearly dependent on others."""
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(4, 40)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, 6))
    X[:, 4] = X[:, 0] + closeness * rng.standard_normal(n)
    X[:, 5] = X[:, 1] - X[:, 2] + closeness * rng.standard_normal(n)
    return X * 10.0 ** rng.integers(-3, 4, 6), rng.standard_normal((n, c))


def exact(X, Y, ridge):
    return Oracle(X, Y, ridge / len(X), intercept=False, standardize=False).values


@pytest.mark.thinned(12)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("closeness", [1.0, 1e-6, 1e-10, 1e-13, 0.0])
def test_the_exact_value_lies_between(seed, closeness):
    X, Y = problem(seed, closeness)
    ridge = float(len(X) * [0.0, 0.0, 1e-12, 1.0][seed % 4])
    exactly = ExactValues(lambda j: X[:, j], Y, None, intercept=False)
    accuracy = Accuracy.from_data(as_design(X), Y)
    for known in (None, exactly):
        values = SupportValues(
            X, Y, ridge, Accuracy(*list(vars(accuracy).values())[:5], known), np.arange(6)
        )
        for support, expected in exact(X, Y, ridge).items():
            found = values.evaluate(np.array([support], dtype=np.int64))
            assert found.low[0] <= expected <= found.high[0]
            assert found.low[0] <= found.value[0] <= found.high[0]
            if closeness == 1.0 and len(support) < len(X) - 1:
                assert found.high[0] - found.low[0] <= 1e-7 * found.value[0]


def test_an_error_of_the_columns_is_an_error_of_the_values():
    rng = np.random.default_rng(0)
    X, Y = problem(1, 1e-3)
    for size in (1e-12, 1e-6, 1e-3):
        errors = size * np.linalg.norm(X, axis=0)
        accuracy = Accuracy(errors, size * np.linalg.norm(Y), 1e-13, np.zeros((len(X), 0)))
        values = SupportValues(X, Y, 0.0, accuracy, np.arange(6))
        for _ in range(3):
            shift = rng.standard_normal(X.shape)
            other = X + errors * shift / np.linalg.norm(shift, axis=0)
            for support, expected in exact(other, Y, 0.0).items():
                found = values.evaluate(np.array([support], dtype=np.int64))
                assert found.low[0] <= expected <= found.high[0]


def test_what_was_removed_makes_no_difference():
    X, Y = problem(2, 1.0)
    u = np.ones((len(X), 1)) / np.sqrt(len(X))
    accuracy = Accuracy(np.zeros(6), 0.0, 1e-13, u)
    one = SupportValues(X + 1e-3, Y - 5.0, 0.0, accuracy, np.arange(6))
    other = SupportValues(X, Y, 0.0, accuracy, np.arange(6))
    support = np.array([[0, 2, 3]])
    assert one.evaluate(support).value == pytest.approx(other.evaluate(support).value, rel=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_costs_and_additions(ridge):
    X, Y = problem(4, 1.0)
    values = SupportValues(X, Y, ridge, Accuracy.from_data(as_design(X), Y), np.arange(6))
    expected = {s: float(value) for s, value in exact(X, Y, ridge).items()}
    whole = values.whole(np.arange(6), 6)
    everything = expected[tuple(range(6))]
    assert whole.low == pytest.approx(everything)
    for j in range(6):
        rest = tuple(i for i in range(6) if i != j)
        assert whole.costs[j] == pytest.approx(expected[rest] - everything, rel=1e-6)
    for support in [(), (1,), (0, 3)]:
        others = [tuple(sorted((*support, j))) for j in range(6) if j not in support]
        best = min(others, key=expected.get)
        found = values.best_addition(np.array(support, dtype=np.int64))
        assert tuple(sorted((*support, found))) == best


def test_exact_values_with_weights_and_columns_that_are_always_used():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((9, 5)) * 10.0 ** rng.integers(-20, 20, 5), rng.random((9, 2))
    X[:, 3] = 2 * X[:, 0]
    weights = rng.random(9)
    oracle = Oracle(X, Y, 0.0, weights=weights, always=(1,), standardize=False)
    found = ExactValues(lambda j: X[:, j], Y, weights, free=[1])
    for support, value in oracle.values.items():
        assert found(np.array(support)) == value
    assert found.rank() == 2
    assert not found.depends(3)
    assert ExactValues(lambda j: X[:, j], Y, weights, free=[0]).depends(3)
    assert ExactValues(lambda j: X[:, j], Y, None, free=[0, 3], intercept=False).rank() == 1
