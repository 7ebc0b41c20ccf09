"""The group lasso for several outputs, against a convex reference."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from sparsieve import L21Selector
from sparsieve.design import SparseDesign, as_design
from sparsieve.design.views import Scaled
from sparsieve.penalties.convex import L21
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.engines.group_products import group_ranks
from sparsieve.solvers.paths._group_cd_kernels import block_norm
from sparsieve.solvers.paths.block_cd import GroupL21


def problem(seed, n, sizes, n_outputs, overlap=False):
    rng = np.random.default_rng(seed)
    ends = np.cumsum(sizes)
    d = ends[-1]
    X = rng.normal(size=(n, d))
    groups = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    if overlap:
        groups = [np.unique(np.append(some, (some[-1] + 1) % d)) for some in groups]
    Y = X[:, :4] @ rng.normal(size=(4, n_outputs)) + rng.normal(size=(n, n_outputs))
    return X - X.mean(axis=0), Y - Y.mean(axis=0), groups


def reference(X, Y, groups, weights, alpha):
    blocks = [cp.Variable((len(some), Y.shape[1])) for some in groups]
    fit = sum(X[:, some] @ W for some, W in zip(groups, blocks, strict=True))
    norms = sum(c * cp.norm(W, "fro") for c, W in zip(weights, blocks, strict=True))
    found = cp.Problem(cp.Minimize(cp.sum_squares(fit - Y) + alpha * norms))
    return found.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize(
    ("n", "sizes", "n_outputs", "overlap"),
    [
        (40, [2, 3, 1, 5, 4, 2, 7], 1, False),
        (30, [3] * 20, 3, False),
        (50, [4] * 10, 2, True),
        (12, [20, 15, 1, 1], 1, False),
    ],
)
def test_against_a_cone_solver(n, sizes, n_outputs, overlap):
    X, Y, groups = problem(0, n, sizes, n_outputs, overlap)
    weights = np.sqrt([len(some) for some in groups])
    solver = GroupL21(groups, weights, tol=1e-9)
    largest = solver.strengths(2.0 * X.T @ Y).max()
    alphas = largest * np.array([1.001, 0.5, 0.1, 0.01])
    for alpha, found in zip(
        alphas, solver.path(LeastSquares(as_design(X), Y), alphas), strict=True
    ):
        assert found.converged
        value = reference(X, Y, groups, weights, alpha)
        assert found.objective == pytest.approx(value, rel=1e-7)
        if not overlap:  # the objective from the coefficients alone
            W = found.solution.W
            norms = [np.linalg.norm(W[some]) for some in groups]
            again = ((Y - X @ W) ** 2).sum() + alpha * weights @ norms
            assert found.objective == pytest.approx(again, rel=1e-12)
    assert found.solution.norms.any()


def test_nothing_enters_above_the_largest_strength():
    X, Y, groups = problem(1, 40, [3] * 6, 2)
    solver = GroupL21(groups, np.ones(6))
    largest = solver.strengths(2.0 * X.T @ Y).max()
    above, below = solver.path(LeastSquares(as_design(X), Y), [1.001 * largest, 0.9 * largest])
    assert not above.solution.norms.any()
    assert below.solution.norms.any()


def test_a_block_is_minimised():
    rng = np.random.default_rng(2)
    X, R, half = rng.normal(size=(10, 4)), rng.normal(size=(10, 2)), 1.0
    values, vectors = np.linalg.eigh(X.T @ X)
    along = vectors.T @ (X.T @ R)
    t = block_norm(values, (along**2).sum(axis=1), half, 0.0)
    for guess in (0.3 * t, 5.0 * t, 1e6 * t):
        again = block_norm(values, (along**2).sum(axis=1), half, guess)
        assert again == pytest.approx(t, rel=1e-12)
    W = vectors @ (along * (t / (values * t + half))[:, None])
    assert np.linalg.norm(W) == pytest.approx(t, rel=1e-12)
    np.testing.assert_allclose(X.T @ (R - X @ W), half * W / t, atol=1e-12)


def test_ranks_of_one_hot_columns():
    codes = np.random.default_rng(3).integers(0, 4, size=50)
    X = np.eye(4)[codes]
    X = np.column_stack((X - X.mean(axis=0), np.arange(50) - 24.5))
    ranks = group_ranks(as_design(X), [np.arange(4), np.array([4]), np.arange(0)])
    assert ranks.tolist() == [3, 1, 0]


def test_groups_of_one_are_rows():
    X, Y, _ = problem(4, 50, [1] * 12, 3)
    plain = L21Selector(4).fit(X, Y)
    single = L21Selector(4, feature_groups=np.arange(12)).fit(X, Y)
    np.testing.assert_array_equal(plain.coef_, single.coef_)
    np.testing.assert_array_equal(plain.ranking_, single.ranking_)
    weighted = L21Selector(4, feature_groups=np.arange(12), group_weights=np.ones(12)).fit(X, Y)
    np.testing.assert_allclose(plain.scores_, weighted.scores_, atol=1e-4)
    np.testing.assert_array_equal(plain.support_, weighted.support_)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_selector_minimises_what_it_says(container):
    X, Y, groups = problem(5, 60, [1, 2, 5, 4, 3], 2)
    weights = {"group 0": 1.0, "group 1": 2.0, "group 2": 0.5, "group 3": 3.0, "group 4": 1.0}
    fitted = L21Selector(
        alpha=30.0, feature_groups=groups, group_weights=weights, standardize=False, tol=1e-9
    ).fit(container(X), Y)
    c = np.array([weights[name] for name in fitted.group_names_])
    assert fitted.objective_ == pytest.approx(reference(X, Y, groups, c, 30.0), rel=1e-7)
    assert fitted.optimality_ <= 1e-9
    np.testing.assert_array_equal(fitted.support_, fitted.coef_.any(axis=0))


def test_the_path_of_entries():
    X, Y, groups = problem(6, 80, [4, 1, 6, 2, 3, 4], 1)
    fitted = L21Selector(3, feature_groups=groups).fit(X, Y[:, 0])
    assert fitted.group_support_.sum() == 3
    assert fitted.group_scores_.max() <= 1.0
    for k in (1, 2, 3):
        smaller = fitted.at(k)
        assert smaller.group_support_.sum() == k
        np.testing.assert_array_equal(
            np.sort(fitted.path_.supports[k]), np.flatnonzero(smaller.support_)
        )
    path = L21Selector(feature_groups=groups).path(X, Y[:, 0], n_alphas=6)
    assert (path.optimality <= 1e-6).all()


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1.0, 2.0], "one number for each of the 3 feature groups"),
        ([1.0, 0.0, 2.0], "positive and finite"),
        ({"a": 1.0}, "no value for"),
        ({"a": 1.0, "b": 1.0, "c": 1.0, "d": 2.0}, "there is no feature group"),
    ],
)
def test_weights_that_are_wrong(weights, sentence):
    X, Y, _ = problem(7, 20, [1] * 4, 1)
    with pytest.raises(ValueError, match=sentence):
        L21Selector(feature_groups=list("aabc"), group_weights=weights).fit(X, Y)
    with pytest.raises(ValueError, match="feature_groups"):
        L21Selector(group_weights=[1.0]).fit(X, Y)


@pytest.mark.parametrize("overlap", [False, True])
def test_a_start_is_used(overlap):
    X, Y, groups = problem(5, 60, [3] * 8, 2)
    if overlap:
        groups[0] = np.append(groups[0], groups[1][0])
    solver = GroupL21(groups, np.ones(8), tol=1e-9)
    alpha = 0.2 * solver.strengths(2.0 * X.T @ Y).max()
    equations = LeastSquares(as_design(X), Y, L21(alpha))
    found = solver.solve(equations)
    again = solver.solve(equations, found)
    assert found.n_iter > again.n_iter == 0
    assert again.objective == pytest.approx(found.objective, rel=1e-9)
    np.testing.assert_allclose(again.solution.W, found.solution.W, atol=1e-9)


@pytest.mark.parametrize(("n", "n_groups"), [(300, 12), (40, 30)])
@pytest.mark.parametrize("overlap", [False, True])
def test_very_sparse_columns_are_not_unpacked_and_give_the_same(rng, n, n_groups, overlap):
    X = sparse.random_array((n, 5 * n_groups), density=0.04, rng=rng, format="csc")
    groups = [np.arange(5 * g, 5 * g + 5 + overlap) % X.shape[1] for g in range(n_groups)]
    Y = X[:, :10] @ rng.normal(size=(10, 2)) + 0.1 * rng.normal(size=(n, 2))
    Y, weights = Y - Y.mean(axis=0), np.sqrt([len(some) for some in groups])
    centred = Scaled(SparseDesign(X), X.mean(axis=0))
    dense = as_design(X.toarray() - X.mean(axis=0))
    assert centred.is_very_sparse
    solver = GroupL21(groups, weights, tol=1e-11)
    largest = solver.strengths(2.0 * dense.rmatmul(Y)).max()
    alphas = largest * np.array([0.5, 0.1, 0.01])
    both = (solver.path(LeastSquares(design, Y), alphas) for design in (centred, dense))
    for packed, unpacked in zip(*both, strict=True):
        assert packed.converged
        assert packed.objective == pytest.approx(unpacked.objective, rel=1e-9)
        np.testing.assert_allclose(
            packed.solution.norms,
            unpacked.solution.norms,
            atol=1e-4 * unpacked.solution.norms.max(),
        )
    ranks = group_ranks(centred, groups)
    np.testing.assert_array_equal(ranks, group_ranks(dense, groups))
