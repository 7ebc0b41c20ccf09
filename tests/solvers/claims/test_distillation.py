"""Forward distillation against the same tests by plain least squares."""

import numpy as np
import pytest
from scipy.stats import beta, kstest

from sparsieve.design import DenseDesign, SparseDesign
from sparsieve.solvers.claims import distilled_state
from sparsieve.solvers.claims.distillation import ForwardDistillation
from sparsieve.solvers.claims.distilled_state import (
    DistillationProblem,
    representatives,
    share_pvalue,
)
from sparsieve.solvers.claims.group_distillation import GroupDistillation, wilks_pvalues


def problem_of(X, Y, Z=None):
    """Standardised columns, what covariates leave of the target as orthonormal columns."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    covariates = np.zeros((len(X), 0))
    if Z is not None:
        covariates = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[0]
    Y = Y - Y.mean(axis=0)
    Y = Y - covariates @ (covariates.T @ Y)
    left, singular, _ = np.linalg.svd(Y, full_matrices=False)
    target = left[:, singular > 1e-10]
    return DistillationProblem(DenseDesign(X), target, covariates, np.ones(X.shape[1], bool))


def off(columns, basis):
    q = np.linalg.qr(basis)[0]
    return columns - q @ (q.T @ columns)


def plain_path(problem, n_steps, ridge, allowed):
    """Forward selection by projections of all columns, one step at a time."""
    X, taken = problem.design.array, []
    while len(taken) < n_steps:
        basis = np.hstack((np.ones((len(X), 1)), problem.covariates, X[:, taken]))
        left, target = off(X, basis), off(problem.target, basis)
        gains = ((left.T @ target) ** 2).sum(axis=1) / ((left**2).sum(axis=0) + ridge)
        gains[~allowed] = 0.0
        gains[taken] = 0.0
        taken.append(int(np.argmax(gains)))
    return taken


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("with_covariates", [False, True])
def test_every_p_value_is_that_of_plain_projections(n_outputs, with_covariates):
    rng = np.random.default_rng(n_outputs)
    common = rng.standard_normal((64, 3))
    X = rng.standard_normal((64, 30)) + common @ rng.standard_normal((3, 30))
    Z = common[:, :1] + 0.1 * rng.standard_normal((64, 1)) if with_covariates else None
    Y = X[:, :4] @ rng.standard_normal((4, n_outputs)) + rng.standard_normal((64, n_outputs))
    problem = problem_of(X, Y, Z)
    found = ForwardDistillation(substitutes=0.6).solve(problem).solution
    n_steps, ridge = len(found.order), 0.05 * 64
    assert 1 < n_steps <= 8
    everything = np.ones(30, dtype=bool)
    assert found.order.tolist() == plain_path(problem, n_steps, ridge, everything)
    X = problem.design.array
    ones = np.ones((64, 1))
    given = off(X, np.hstack((ones, problem.covariates)))
    correlations = np.corrcoef(given.T)
    for t, j in enumerate(found.order):
        np.testing.assert_allclose(found.correlations[t], correlations[j], atol=1e-10)
        allowed = np.abs(correlations[j]) < 0.6
        path = plain_path(problem, n_steps, ridge, allowed)
        basis = np.hstack((ones, problem.covariates, X[:, path]))
        x, target = off(X[:, j], basis), off(problem.target, basis)
        explained = target @ np.linalg.lstsq(target, x, rcond=None)[0]
        share = (explained**2).sum() / (x**2).sum()
        freedom = 64 - basis.shape[1]
        wanted = beta.sf(share, n_outputs / 2, (freedom - n_outputs) / 2)
        assert found.shares[t] == pytest.approx(share, rel=1e-8)
        assert found.pvalues[t] == pytest.approx(wanted, rel=1e-6)


def test_the_work_to_come_is_told_once_the_path_is_known():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((80, 10))
    told: list[float] = []
    solver = ForwardDistillation(expecting=told.append)
    found = solver.solve(problem_of(X, X[:, :3].sum(axis=1, keepdims=True))).solution
    k = len(found.order)
    assert told == [pytest.approx(k * 800 + k**3 / 3 * 10)]


def test_sparse_designs_and_files_of_single_columns_agree():
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 20)) * (rng.random((50, 20)) < 0.4)
    Y = X[:, :2] @ np.ones((2, 1)) + 0.5 * rng.standard_normal((50, 1))
    problem = problem_of(X, Y)
    same = DistillationProblem(
        SparseDesign(sparse.csc_array(problem.design.array)),
        problem.target,
        problem.covariates,
        problem.eligible,
    )
    one, two = (ForwardDistillation().solve(p).solution for p in (problem, same))
    np.testing.assert_array_equal(one.order, two.order)
    np.testing.assert_allclose(one.pvalues, two.pvalues, rtol=1e-8)


def test_products_that_were_forgotten_are_taken_again(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 20))
    problem = problem_of(X, X[:, :4].sum(axis=1, keepdims=True) + rng.standard_normal((80, 1)))
    kept = ForwardDistillation().solve(problem).solution
    monkeypatch.setattr(distilled_state, "CANDIDATES", 1)
    monkeypatch.setattr(distilled_state, "MAX_PRODUCTS", 0)
    found = ForwardDistillation().solve(problem).solution
    assert len(found.order) > 3
    np.testing.assert_array_equal(found.order, kept.order)
    np.testing.assert_array_equal(found.pvalues, kept.pvalues)


@pytest.mark.long("repeats")
def test_steps_without_any_signal_have_uniform_p_values():
    """Of the first step, over many targets without relation to X."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 12)) @ (np.eye(12) + 0.3)
    solver = ForwardDistillation(n_rotations=99)
    pvalues = [
        solver.steps(problem_of(X, rng.standard_normal((30, 1)))).step_pvalues[0]
        for _ in range(200)
    ]
    assert kstest(pvalues, "uniform").pvalue > 0.01
    signal = solver.steps(problem_of(X, X[:, :1])).step_pvalues[0]
    assert signal == pytest.approx(0.01)


def test_p_values_of_shares():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((20_000, 12))
    shares = (x[:, :3] ** 2).sum(axis=1) / (x**2).sum(axis=1)
    pvalues = [share_pvalue(share, 3, 12) for share in shares[:2000]]
    assert kstest(pvalues, "uniform").pvalue > 0.01
    assert share_pvalue(0.9, 3, 3) == 1.0
    assert share_pvalue(0.9, 0, 10) == 1.0


def test_copies_are_found_up_to_sign_and_order():
    rng = np.random.default_rng(3)
    columns = rng.standard_normal((40, 3))
    columns[30], columns[7], columns[39] = columns[2], -columns[5], columns[5] * (1 + 1e-13)
    first = representatives(columns, 1e-9)
    expected = np.arange(40)
    expected[30], expected[7], expected[39] = 2, 5, 5
    np.testing.assert_array_equal(first, expected)


# -- groups ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(4)
    common = rng.standard_normal((90, 3))
    X = rng.standard_normal((90, 24)) + 0.5 * common @ rng.standard_normal((3, 24))
    return X, X[:, :6] @ rng.standard_normal((6, 2)) + rng.standard_normal((90, 2))


@pytest.mark.long("random targets")
def test_groups_of_one_are_columns(case):
    X, Y = case
    problem = problem_of(X, Y[:, :1])
    single = ForwardDistillation(0.6).solve(problem).solution
    single_groups = [np.array([j]) for j in range(24)]
    grouped = GroupDistillation(0.6, groups=single_groups).solve(problem).solution
    n = min(len(single.order), len(grouped.order))
    assert n > 1
    np.testing.assert_array_equal(single.order[:n], grouped.order[:n])
    if len(single.order) == len(grouped.order):
        np.testing.assert_allclose(grouped.pvalues[grouped.order], single.pvalues, rtol=1e-7)


@pytest.mark.long("random targets")
def test_every_p_value_of_a_group_is_that_of_plain_projections(case):
    X, Y = case
    groups = [np.arange(3 * g, 3 * g + 3) for g in range(8)]
    problem = problem_of(X, Y)
    found = GroupDistillation(0.9, groups=groups).solve(problem).solution
    n_steps, Z = len(found.order), problem.design.array
    assert n_steps > 1
    for g in found.order.tolist():
        taken: list[int] = []
        while len(taken) < n_steps:
            basis = np.hstack([np.ones((90, 1)), *(Z[:, groups[h]] for h in taken)])
            target, gains = off(problem.target, basis), np.full(8, -np.inf)
            noise = (target**2).sum() / (90 - basis.shape[1])
            for h in set(range(8)) - {g, *taken}:
                left = off(Z[:, groups[h]], basis)
                inverse = np.linalg.inv(left.T @ left + 0.05 * 90 * np.eye(3))
                gain = np.trace(target.T @ left @ inverse @ left.T @ target)
                gains[h] = gain - noise * np.trace(inverse @ left.T @ left)
            taken.append(int(np.argmax(gains)))
        basis = np.hstack([np.ones((90, 1)), *(Z[:, groups[h]] for h in taken)])
        left, target = off(Z[:, groups[g]], basis), off(problem.target, basis)
        q, r = np.linalg.qr(left)[0], np.linalg.qr(target)[0]
        wanted = wilks_pvalues((q.T @ r)[None], np.array([3]), 2, 90 - basis.shape[1])[0]
        assert found.pvalues[g] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("size", "rank"), [(1, 3), (2, 3), (3, 1), (4, 3)])
def test_p_values_of_noise_are_uniform(size, rank):
    rng = np.random.default_rng(size)
    x, y = rng.standard_normal((1500, 20, size)), rng.standard_normal((1500, 20, rank))
    along = np.linalg.qr(x)[0].transpose(0, 2, 1) @ np.linalg.qr(y)[0]
    pvalues = wilks_pvalues(along, np.full(1500, size), rank, 20)
    assert kstest(pvalues, "uniform").pvalue > 0.01
