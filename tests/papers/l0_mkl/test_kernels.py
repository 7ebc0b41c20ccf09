"""Per-feature kernels: expansions and shifts against plain matrices."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparsieve.papers.l0_mkl.bank import KernelBank
from sparsieve.papers.l0_mkl.kernels import (
    CallableKernel,
    PolynomialKernel,
    RBFKernel,
    SigmoidKernel,
    expand,
    feature_kernel,
)

KERNELS = [
    SigmoidKernel(0.1, -0.01),
    SigmoidKernel(2.0, 1.0),
    RBFKernel(0.7),
    PolynomialKernel(0.5, -1.0, 3),
    CallableKernel(lambda u, v: np.exp(-np.abs(u - v))),  # no short expansion
]


def standard_values(n_features, n_samples, seed=0):
    values = np.random.default_rng(seed).standard_t(6, size=(n_features, n_samples))
    return (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)


def plain_matrices(values, kernel, weights, centred):
    """S H K H' S written down as it is defined."""
    n = values.shape[1]
    H = np.eye(n) - np.outer(np.ones(n), weights) / weights.sum() if centred else np.eye(n)
    S = np.diag(np.sqrt(weights))
    return np.array([S @ H @ kernel(x[:, None], x[None, :]) @ H.T @ S for x in values])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("max_memory", [0, 1 << 28], ids=["blocks", "held"])
@pytest.mark.parametrize("centred", [True, False])
def test_products_combinations_and_shifts(kernel, max_memory, centred):
    values = standard_values(12, 60)
    rng = np.random.default_rng(1)
    weights, u, d = rng.uniform(0.5, 3.0, size=60), rng.normal(size=60), rng.uniform(size=12)
    A = plain_matrices(values, kernel, weights, centred)
    bank = KernelBank(values, kernel, weights, centred=centred, max_memory=max_memory)
    size = np.abs(A).max()
    np.testing.assert_allclose(bank.apply(u), A @ u, atol=1e-9 * size)
    np.testing.assert_allclose(bank.apply(u), A @ u, atol=1e-9 * size)  # from memory
    some = np.array([1, 4, 5, 11])
    np.testing.assert_allclose(bank.apply(u, some), A[some] @ u, atol=1e-9 * size)
    for keep in (True, False):
        combined = bank.combine(np.arange(12), d, keep=keep)
        np.testing.assert_allclose(combined, np.tensordot(d, A, axes=1), atol=1e-9 * size)
    shifts = np.maximum(0.0, -np.linalg.eigvalsh(A)[:, 0])
    assert (bank.least_shifts(np.arange(12)) <= shifts + 1e-9 * size).all()
    np.testing.assert_allclose(bank.shifts(np.arange(12)), shifts, atol=1e-8 * size)


def test_lower_bounds_of_shifts_are_close_and_stay_bounds_for_odd_columns():
    values = standard_values(40, 120)
    values[0] = np.arange(120) % 2  # two values: all polynomials span one direction
    values[1] = 0.0
    values[2] = 0.0
    values[2, 7] = 10.0
    bank = KernelBank(values, SigmoidKernel(0.1, -0.01))
    every = np.arange(40)
    least = bank.least_shifts(every).copy()
    shifts = bank.shifts(every)
    assert (least <= shifts + 1e-12).all()
    expanded = np.setdiff1d(every[3:], bank._rest)
    assert len(expanded) > 30
    assert (least[expanded] > 0.9 * shifts[expanded]).all()
    np.testing.assert_array_equal(bank.least_shifts(every), shifts)  # exact once known


def test_shifts_of_long_expansions_that_consist_of_few_functions():
    values = standard_values(6, 80)
    values[:, 0] = 8.0
    kernel = SigmoidKernel(0.1, -0.01)
    bank = KernelBank(values, kernel, max_memory=0)
    ((expansion, _),) = bank._groups
    assert expansion.size > 80
    assert 2 * len(expansion.spectrum[0]) < 80
    A = plain_matrices(values, kernel, np.ones(80), centred=True)
    smallest = np.linalg.eigvalsh(A)[:, 0]
    assert smallest.max() < -0.01
    np.testing.assert_allclose(bank.shifts(np.arange(6)), -smallest, atol=1e-11)


def test_expansions_are_short_where_the_kernel_is_smooth():
    bank = KernelBank(standard_values(50, 200), RBFKernel(1.0))
    assert len(bank._rest) == 0
    assert max(expansion.size for expansion, _ in bank._groups) < 100


@given(st.floats(0.01, 3.0), st.floats(-2.0, 2.0), st.floats(0.1, 4.0))
@settings(max_examples=30, deadline=None)
def test_expansion_error(gamma, coef0, radius):
    assume(gamma * radius**2 < 20.0)  # steeper ones take more than 1,000 terms
    kernel = SigmoidKernel(gamma, coef0)
    found = expand(kernel, radius, 1000)
    assert found is not None
    points = np.random.default_rng(0).uniform(-radius, radius, size=50)
    basis = found.polynomials(points)
    exact = kernel(points[:, None], points[None, :])
    np.testing.assert_allclose(basis @ found.coefficients @ basis.T, exact, atol=1e-10)


def test_no_expansion_when_it_would_be_long():
    assert expand(SigmoidKernel(50.0, 0.0), 3.0, 40) is None
    assert expand(CallableKernel(lambda u, v: np.abs(u - v)), 1.0, 200) is None


def test_weights_are_repetitions():
    values = standard_values(5, 20)
    counts = np.random.default_rng(2).integers(1, 4, size=20)
    weighted = KernelBank(values, SigmoidKernel(1.0, 0.5), counts.astype(float))
    repeated = KernelBank(np.repeat(values, counts, axis=1), SigmoidKernel(1.0, 0.5))
    every = np.arange(5)
    np.testing.assert_allclose(weighted.shifts(every), repeated.shifts(every), atol=1e-9)


def test_other_samples():
    values = standard_values(3, 15)
    kernel = SigmoidKernel(0.5, 0.1)
    bank = KernelBank(values, kernel)
    rng = np.random.default_rng(3)
    beta, d, new = rng.normal(size=15), rng.uniform(size=2), rng.normal(size=(2, 7))
    expected = sum(
        d[k] * kernel(new[k][:, None], values[m][None, :]) @ beta for k, m in enumerate([2, 0])
    )
    np.testing.assert_allclose(bank.cross([2, 0], d, new, beta), expected)


def test_bad_kernels():
    with pytest.raises(ValueError, match="kernel must be one of 'sigmoid', 'rbf', 'poly'"):
        feature_kernel("gauss")
    with pytest.raises(ValueError, match="elementwise"):
        CallableKernel(lambda u, v: (u * v).sum())(np.ones((3, 1)), np.ones((1, 3)))
    with pytest.raises(ValueError, match="symmetric"):
        CallableKernel(lambda u, v: u + 0 * v).check(np.arange(4.0))
    with pytest.raises(ValueError, match="NaN or infinite"):
        CallableKernel(lambda u, v: np.full(np.broadcast_shapes(u.shape, v.shape), np.nan)).check(
            np.arange(4.0)
        )


def test_sizes_that_would_overflow_are_refused():
    for bad in (1e101, np.inf, np.nan):
        values, weights = standard_values(3, 10), np.ones(10)
        values[1, 4] = weights[2] = bad
        with pytest.raises(ValueError, match="too large for kernels of single features"):
            KernelBank(values, SigmoidKernel())
        with pytest.raises(ValueError, match="divide the weights by their mean"):
            KernelBank(standard_values(3, 10), SigmoidKernel(), weights)


def test_a_kernel_without_numbers_is_refused_wherever_it_shows():
    hole = CallableKernel(lambda u, v: np.where(u * v > 2, np.nan, np.abs(u - v)))
    bank = KernelBank(standard_values(6, 30), hole)
    for work in (
        lambda: bank.apply(np.ones(30)),
        lambda: bank.combine(np.arange(6), np.ones(6)),
        lambda: bank.shifts(np.arange(6)),
    ):
        with pytest.raises(ValueError, match="kernel values are not finite"):
            work()


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kernel", [KERNELS[0], *KERNELS[2:4]], ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("centred", [True, False])
def test_a_sum_of_kernels_in_the_directions_that_it_reaches(kernel, centred):
    values = standard_values(5, 500)
    values[4] = values[3]  # a copy adds no direction
    rng = np.random.default_rng(1)
    weights, d = rng.uniform(0.5, 3.0, size=500), rng.uniform(size=5)
    bank = KernelBank(values, kernel, weights, centred=centred)
    for features in (np.arange(5), np.array([0, 2, 3]), np.array([4])):
        wanted = np.tensordot(
            d[features], plain_matrices(values[features], kernel, weights, centred), axes=1
        )
        found = bank.combine_directions(features, d[features])
        assert found.basis.shape[1] < 250
        size = np.abs(wanted).max()
        made = found.basis @ found.inner @ found.basis.T
        np.testing.assert_allclose(made, wanted, atol=1e-9 * size)
        lowest = np.linalg.eigvalsh(wanted)[0]
        assert found.shift() == pytest.approx(max(0.0, -lowest), abs=1e-8 * size)
    assert bank.combine_directions(np.arange(0), np.empty(0)).basis is None


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_products_with_kernels_of_other_samples(kernel):
    values, beta = standard_values(3, 200), np.random.default_rng(2).normal(size=200)
    bank = KernelBank(values, kernel)
    others = 3.0 * standard_values(2, 50, seed=3)  # some of them beyond all values seen
    assert np.abs(others).max() > 1.5 * np.abs(values).max()
    found = bank.cross(np.array([0, 2]), np.array([0.5, 2.0]), others, beta)
    wanted = sum(
        weight * kernel(row[:, None], values[m][None, :]) @ beta
        for m, weight, row in zip((0, 2), (0.5, 2.0), others, strict=True)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())
