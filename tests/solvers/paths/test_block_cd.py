import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import as_design
from sparsieve.penalties import critical_strength, row_norms
from sparsieve.penalties.convex import L21
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.paths.block_cd import BlockCD
from sparsieve.solvers.paths.norm_newton import ActiveGroups, newton_norms
from sparsieve.solvers.paths.rows_model import independent_rows


def random_problem(seed, n, d, c, correlated=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if correlated:
        X = 0.2 * X + rng.standard_normal((n, 2)) @ rng.standard_normal((2, d))
    W = np.zeros((d, c))
    W[:4] = rng.standard_normal((4, c))
    return X, X @ W + 0.5 * rng.standard_normal((n, c))


def certified_optimum(X, Y, alpha):
    W = cp.Variable((X.shape[1], Y.shape[1]))
    objective = cp.sum_squares(X @ W - Y) + alpha * cp.sum(cp.norm(W, 2, axis=1))
    problem = cp.Problem(cp.Minimize(objective))
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


def strongest(X, Y):
    return critical_strength(2 * X.T @ Y)


@pytest.mark.parametrize("share", [0.6, 0.1, 0.01])
@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize(("n", "d", "c"), [(15, 40, 3), (50, 12, 2), (20, 20, 1)])
def test_reaches_the_certified_optimum(n, d, c, correlated, share):
    X, Y = random_problem(n + d, n, d, c, correlated)
    alpha = share * strongest(X, Y)
    problem = LeastSquares(as_design(X), Y, L21(alpha))
    result = BlockCD(tol=1e-9).solve(problem)
    optimum = certified_optimum(X, Y, alpha)
    assert result.converged
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.objective == pytest.approx(problem.objective(result.solution.W), rel=1e-9)
    # The gap is an upper bound of the true error, up to rounding of the reference.
    assert result.objective - optimum <= result.optimality * result.objective + 1e-7 * optimum


def test_float32_and_sparse_designs_reach_the_same_optimum():
    X, Y = random_problem(0, 30, 60, 2)
    X[np.abs(X) < 0.8] = 0
    alpha = 0.1 * strongest(X, Y)
    optimum = certified_optimum(X, Y, alpha)
    for design, rel in [
        (as_design(X.astype(np.float32)), 1e-4),
        (as_design(sparse.csr_array(X)), 1e-6),
    ]:
        Y_kept = Y.astype(design.dtype)
        result = BlockCD(tol=1e-7).solve(LeastSquares(design, Y_kept, L21(alpha)))
        assert result.objective == pytest.approx(optimum, rel=rel)
        assert result.solution.W.dtype == design.dtype


def test_path_equals_separate_solves():
    X, Y = random_problem(3, 40, 80, 3, correlated=True)
    alphas = np.geomspace(strongest(X, Y), 0.01 * strongest(X, Y), 12)
    problem = LeastSquares(as_design(X), Y, L21(1.0))
    results = list(BlockCD(tol=1e-8).path(problem, alphas))
    assert not results[0].solution.W.any()
    for alpha, result in zip(alphas, results, strict=True):
        alone = BlockCD(tol=1e-8).solve(LeastSquares(problem.design, Y, L21(alpha)))
        assert result.objective == pytest.approx(alone.objective, rel=1e-7)
        assert result.optimality <= 1e-8


def test_strong_penalty_gives_zero_and_no_nan():
    X, Y = random_problem(1, 20, 30, 2)
    result = BlockCD().solve(LeastSquares(as_design(X), Y, L21(2 * strongest(X, Y))))
    assert not result.solution.W.any()
    assert result.optimality == pytest.approx(0, abs=1e-9)


def test_warm_start_at_the_solution_needs_no_sweeps():
    X, Y = random_problem(2, 30, 50, 2)
    problem = LeastSquares(as_design(X), Y, L21(0.1 * strongest(X, Y)))
    first = BlockCD(tol=1e-10).solve(problem)
    assert BlockCD(tol=1e-6).solve(problem, first).n_iter == 0


def test_callback_sees_progress_and_can_stop():
    X, Y = random_problem(2, 30, 200, 2, correlated=True)
    seen = []
    result = BlockCD(tol=1e-14).solve(
        LeastSquares(as_design(X), Y, L21(0.01 * strongest(X, Y))),
        callback=lambda event: seen.append(event) or True,
    )
    assert len(seen) == 1
    assert seen[0].objective == result.objective


def test_sweep_limit_is_reported_not_hidden():
    X, Y = random_problem(5, 30, 60, 2, correlated=True)
    problem = LeastSquares(as_design(X), Y, L21(0.001 * strongest(X, Y)))
    result = BlockCD(tol=1e-14, max_iter=5).solve(problem)
    assert not result.converged
    assert result.optimality > 1e-14


def test_copies_of_columns_and_zero_columns():
    X, Y = random_problem(4, 25, 10, 2)
    doubled = np.hstack([X, X, np.zeros((25, 3))])
    alpha = 0.1 * strongest(X, Y)
    single = BlockCD(tol=1e-10).solve(LeastSquares(as_design(X), Y, L21(alpha)))
    double = BlockCD(tol=1e-10).solve(LeastSquares(as_design(doubled), Y, L21(alpha)))
    assert double.objective == pytest.approx(single.objective, rel=1e-8)
    assert not double.solution.W[20:].any()


def test_newton_lowers_the_objective_to_the_optimum_of_its_rows():
    X, Y = random_problem(7, 40, 8, 3, correlated=True)
    alpha = 0.05 * strongest(X, Y)
    W = np.linalg.lstsq(X, Y, rcond=None)[0] + 0.1

    def objective(W):
        return ((X @ W - Y) ** 2).sum() + alpha * row_norms(W).sum()

    rows = ActiveGroups.of_rows(X.T @ X, X.T @ Y, alpha)
    improved = newton_norms(rows, W, (Y**2).sum(), 1e-12, max_steps=50)
    assert objective(improved) <= objective(W)
    assert objective(improved) == pytest.approx(certified_optimum(X, Y, alpha), rel=1e-6)


def test_no_exclusive_part_is_compiled_as_a_part_of_zero(rng):
    from sparsieve.solvers.paths._block_cd_kernels import PENDING, gram_epochs

    X, Y = rng.standard_normal((30, 12)), rng.standard_normal((30, 3))
    results = []
    for beta in (None, 0.0):
        W, Q = np.zeros((12, 3)), np.ascontiguousarray((X.T @ Y).T)
        scratch = np.empty(3), np.zeros(PENDING, dtype=np.int64)
        gram_epochs(X.T @ X, W, Q, 8.0, beta, 5, *scratch, np.zeros((PENDING, 3)))
        results.append(W)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-13)
    assert 0 < (results[0] != 0).any(axis=1).sum() < 12


@pytest.mark.parametrize("n_samples", [2, 3, 5, 12])
@pytest.mark.parametrize("seed", range(3))
def test_far_more_features_than_samples_can_tell_apart(seed, n_samples):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 3000))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    Y = (np.arange(n_samples) % 2 - 0.5)[:, None]
    for share in (0.3, 1e-3):
        alpha = share * 2.0 * float(np.abs(X.T @ Y).max())
        found = BlockCD(max_iter=2000).solve(LeastSquares(as_design(X), Y, L21(alpha)))
        assert found.converged


def test_independent_rows_fit_the_same_by_less(rng):
    X, w = rng.standard_normal((6, 40)), rng.standard_normal(40)
    found = independent_rows(X, w)
    np.testing.assert_allclose(X @ found, X @ w, atol=1e-10)
    assert np.abs(found).sum() <= np.abs(w).sum()
    kept = np.flatnonzero(found)
    assert len(kept) == 6 == np.linalg.matrix_rank(X[:, kept])
    assert (np.sign(found) == np.sign(w))[kept].all()
