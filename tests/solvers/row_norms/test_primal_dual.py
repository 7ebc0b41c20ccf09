"""Very many features of sparse data: primal-dual steps against the interior-point method."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve import RFSSelector
from sparsieve.design import Scaled, SparseDesign, as_design
from sparsieve.solvers.row_norms import crowd
from sparsieve.solvers.row_norms.interior_point import constant_column, minimise_row_norms
from sparsieve.solvers.row_norms.primal_dual import PrimalDual, SaddlePoint
from sparsieve.solvers.row_norms.row_norm_problem import RowNormProblem


def rare_features(rng, n=150, d=220, c=3):
    """Most features are noise that few samples have."""
    X = sparse.random(n, d, density=0.08, format="csr", random_state=0)
    X.data[:] = rng.uniform(1.0, 2.0, X.nnz)
    y = np.arange(n) % (c + (c == 1))
    own = np.zeros((n, 6))
    for j in range(6):
        own[:, j] = (y == j % max(c, 2)) * (rng.random(n) < 0.6)
    return sparse.csr_array(sparse.hstack([sparse.csr_array(own), X[:, 6:]])), y


def solved(rng, tol, *, c=3, weighted=False, intercept=True, share=0.3, start=None):
    X, y = rare_features(rng, c=c)
    Y = np.eye(y.max() + 1)[y][:, :c] - 1.0 / (c + 1)
    n, d = X.shape
    weights = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    design = Scaled(as_design(X), scale=np.asarray(np.sqrt(X.multiply(X).mean(axis=0))))
    free = constant_column(n, intercept)
    M = weights[:, None] * Y / np.linalg.norm(Y, axis=1)[:, None]
    alpha = share * np.linalg.norm(design.rmatmul(M), axis=1).max()
    solver = PrimalDual(design, Y, weights, free, alpha)
    first = SaddlePoint(np.zeros((d, c)), np.zeros((free.shape[1], c)), M)
    problem = RowNormProblem(
        design.dense_columns(np.arange(d)), Y, np.full(d, alpha), weights, free
    )
    return problem, solver.run(tol, 1000, start or first)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "kind",
    [{}, {"weighted": True}, {"intercept": False}, {"c": 1}, {"c": 1, "weighted": True}],
    ids=["plain", "weighted", "no intercept", "one output", "one output, weighted"],
)
def test_agrees_with_the_interior_point_method(rng, kind):
    problem, result = solved(rng, 1e-7, **kind)
    expected = minimise_row_norms(problem, tol=1e-10)
    point = result.solution
    assert result.converged
    assert result.objective == pytest.approx(expected.objective, rel=2e-7)
    assert result.objective == pytest.approx(problem.objective(point.W, point.B), rel=1e-12)
    kept = point.W.any(axis=1)
    assert 0 < kept.sum() < len(kept)
    assert not (kept & expected.solution.vanishing).any() or kind.get("c") == 1


@pytest.mark.parametrize("c", [1, 3])
def test_the_bound_is_below_the_optimum_at_every_accuracy(rng, c):
    for tol in (0.3, 1e-2, 1e-4):
        problem, result = solved(rng, tol, c=c, weighted=True)
        best = minimise_row_norms(problem, tol=1e-9).objective
        point = result.solution
        assert point.bound <= best * (1 + 1e-8)
        assert (np.linalg.norm(point.dual, axis=1) <= problem.weights * (1 + 1e-9)).all()
        pulls = np.linalg.norm(problem.X.T @ point.dual, axis=1)
        assert (pulls <= problem.strengths * (1 + 1e-9)).all()
        np.testing.assert_allclose(problem.free.T @ point.dual, 0, atol=1e-9)


def test_says_when_it_was_stopped_early(rng):
    X, y = rare_features(rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowd, "MANY_SAMPLES", 0)
        patch.setattr(crowd, "WORTH", 0.0)
        with pytest.warns(UserWarning, match="stopped after 1 iteration with a relative"):
            stopped = RFSSelector(max_iter=1, tol=1e-12).fit(X, y)
    assert not stopped.converged_
    assert stopped.optimality_ > 1e-12


@pytest.fixture
def with_crowds(monkeypatch):
    """Few samples and features are many already; asked for and taken are noted."""
    seen = []
    plain = PrimalDual.run

    def noted(self, *args):
        seen.append(self.design.shape[1])
        return plain(self, *args)

    monkeypatch.setattr(crowd, "MANY_SAMPLES", 0)
    monkeypatch.setattr(PrimalDual, "run", noted)
    return seen


def models(X, y, **options):
    return RFSSelector(tol=1e-7, **options).fit(X, y)


@pytest.mark.parametrize(
    "options",
    [{}, {"always_keep": [0, 9]}, {"class_weight": "balanced"}, {"standardize": False}],
    ids=["plain", "covariates", "weights", "as given"],
)
def test_a_selector_finds_the_same_model(rng, monkeypatch, with_crowds, options):
    X, y = rare_features(rng)
    y[:20] = 0
    expected = models(X, y, **options)
    assert not with_crowds
    monkeypatch.setattr(crowd, "WORTH", 0.0)
    found = models(X, y, **options)
    assert with_crowds[0] < X.shape[1]  # those that pull
    assert found.converged_
    assert found.objective_ == pytest.approx(expected.objective_, rel=2e-7)
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=2e-3 * np.abs(found.coef_).max())


def test_float32_is_solved_in_double_precision(rng, monkeypatch, with_crowds):
    X, y = rare_features(rng)
    expected = models(X, y)
    monkeypatch.setattr(crowd, "WORTH", 0.0)
    found = RFSSelector(tol=1e-5).fit(X.astype(np.float32), y)
    assert found.coef_.dtype == np.float32
    assert found.converged_
    assert found.objective_ == pytest.approx(expected.objective_, rel=2e-5)


def test_a_path_goes_through_crowds_and_back(rng, monkeypatch, with_crowds):
    X, y = rare_features(rng)
    top = models(X, y).alpha_ / 0.3
    alphas = top * np.array([0.9, 0.5, 0.2, 0.1, 0.4, 0.8])
    expected = RFSSelector().path(X, y, alphas)
    assert not with_crowds
    stored = SparseDesign(X).stored / X.shape[0]
    # From thirty features on.
    monkeypatch.setattr(crowd, "WORTH", 30**2 / (stored * crowd.FEW_OUTPUTS))
    found = RFSSelector().path(X, y, alphas)
    assert with_crowds
    assert len(with_crowds) < 3 * len(alphas)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=2e-6)
    assert (found.optimality <= 1e-6).all()


def test_dense_and_small_data_are_no_crowds(rng):
    X, y = rare_features(rng)
    made = RFSSelector()._robust_problem(RFSSelector()._training_data(X, y, None)).data
    assert not crowd.crowded(made, X.shape[1])  # few samples
    assert made.design.stored == X.nnz
