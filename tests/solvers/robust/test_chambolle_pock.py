"""Very many features of sparse data: primal-dual steps against the interior-point method."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from sparsieve import RFSSelector
from sparsieve.design import SparseDesign, as_design
from sparsieve.design.views import Scaled
from sparsieve.penalties import row_norms
from sparsieve.solvers.robust import first_order
from sparsieve.solvers.robust.first_order import ChambollePock
from sparsieve.solvers.robust.interior_point import InteriorPoint
from sparsieve.solvers.robust.problem import RobustRegression, lower_bound
from sparsieve.solvers.robust.working_set import polish


def rare_features(rng, n=150, d=220, c=3):
    """Most features are noise that few samples have."""
    X = sparse.random(n, d, density=0.08, format="csr", random_state=0)
    X.data[:] = rng.uniform(1.0, 2.0, X.nnz)
    y = np.arange(n) % (c + (c == 1))
    own = np.zeros((n, 6))
    for j in range(6):
        own[:, j] = (y == j % max(c, 2)) * (rng.random(n) < 0.6)
    return sparse.csr_array(sparse.hstack([sparse.csr_array(own), X[:, 6:]])), y


def solved(rng, tol, *, c=3, weighted=False, intercept=True, share=0.3):
    X, y = rare_features(rng, c=c)
    Y = np.eye(y.max() + 1)[y][:, :c] - 1.0 / (c + 1)
    n = len(Y)
    weights = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    design = Scaled(as_design(X), scale=np.asarray(np.sqrt(X.multiply(X).mean(axis=0))))
    problem = RobustRegression(design, Y, weights, intercept)
    problem = replace(problem, alpha=share * problem.alpha_max())
    return problem, ChambollePock(tol).solve(problem)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "kind",
    [{}, {"weighted": True}, {"intercept": False}, {"c": 1}, {"c": 1, "weighted": True}],
    ids=["plain", "weighted", "no intercept", "one output", "one output, weighted"],
)
def test_agrees_with_the_interior_point_method(rng, kind):
    problem, result = solved(rng, 1e-7, **kind)
    expected = InteriorPoint(1e-10).solve(problem)
    expected = polish(problem, expected, bound=lower_bound(expected), tol=1e-8)
    point = result.solution
    assert result.converged
    assert result.objective == pytest.approx(expected.objective, rel=2e-7)
    value = problem.weights @ problem.residual_norms(point)
    value += problem.alpha * row_norms(point.W).sum()
    assert result.objective == pytest.approx(value, rel=1e-12)
    kept = point.W.any(axis=1)
    assert 0 < kept.sum() < len(kept)
    assert not (kept & ~expected.solution.W.any(axis=1)).any() or kind.get("c") == 1


@pytest.mark.parametrize("c", [1, 3])
def test_the_bound_is_below_the_optimum_at_every_accuracy(rng, c):
    for tol in (0.3, 1e-2, 1e-4):
        problem, result = solved(rng, tol, c=c, weighted=True)
        best = InteriorPoint(1e-9).solve(problem).objective
        point = result.solution
        assert lower_bound(result) <= best * (1 + 1e-8)
        assert (np.linalg.norm(point.dual, axis=1) <= problem.weights * (1 + 1e-9)).all()
        assert (problem.correlations(point.dual) <= problem.alpha * (1 + 1e-9)).all()
        np.testing.assert_allclose(problem.free.T @ point.dual, 0, atol=1e-9)


def test_says_when_it_was_stopped_early(rng):
    X, y = rare_features(rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_order, "DENSE_MAX_SAMPLES", 0)
        patch.setattr(first_order, "NEWTON_VS_FIRST_ORDER_COST", 0.0)
        with pytest.warns(UserWarning, match="stopped after 1 iteration with a relative"):
            stopped = RFSSelector(max_iter=1, tol=1e-12).fit(X, y)
    assert not stopped.converged_
    assert stopped.optimality_ > 1e-12


@pytest.fixture
def with_first_order(monkeypatch):
    """Few samples and features are many already; asked for and taken are noted."""
    seen = []
    plain = ChambollePock.solve

    def noted(self, problem, start):
        seen.append(problem.design.shape[1])
        return plain(self, problem, start)

    monkeypatch.setattr(first_order, "DENSE_MAX_SAMPLES", 0)
    monkeypatch.setattr(ChambollePock, "solve", noted)
    return seen


def models(X, y, **options):
    return RFSSelector(tol=1e-7, **options).fit(X, y)


@pytest.mark.parametrize(
    "options",
    [{}, {"always_keep": [0, 9]}, {"class_weight": "balanced"}, {"standardize": False}],
    ids=["plain", "covariates", "weights", "as given"],
)
def test_a_selector_finds_the_same_model(rng, monkeypatch, with_first_order, options):
    X, y = rare_features(rng)
    y[:20] = 0
    expected = models(X, y, **options)
    assert not with_first_order
    monkeypatch.setattr(first_order, "NEWTON_VS_FIRST_ORDER_COST", 0.0)
    found = models(X, y, **options)
    assert with_first_order[0] < X.shape[1]  # those of large correlations
    assert found.converged_
    assert found.objective_ == pytest.approx(expected.objective_, rel=2e-7)
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=2e-3 * np.abs(found.coef_).max())


def test_float32_is_solved_in_double_precision(rng, monkeypatch, with_first_order):
    X, y = rare_features(rng)
    expected = models(X, y)
    monkeypatch.setattr(first_order, "NEWTON_VS_FIRST_ORDER_COST", 0.0)
    found = RFSSelector(tol=1e-5).fit(X.astype(np.float32), y)
    assert found.coef_.dtype == np.float32
    assert found.converged_
    assert found.objective_ == pytest.approx(expected.objective_, rel=2e-5)


def test_a_path_goes_through_first_order_steps_and_back(rng, monkeypatch, with_first_order):
    X, y = rare_features(rng)
    top = models(X, y).alpha_ / 0.3
    alphas = top * np.array([0.9, 0.5, 0.2, 0.1, 0.4, 0.8])
    model = RFSSelector()._path_model(RFSSelector()._training_data(X, y, None))
    expected = list(model.solve(alphas))
    assert not with_first_order
    stored = SparseDesign(X).n_entries / X.shape[0]
    # From thirty features on.
    cost = 30**2 / (stored * first_order.MIN_OUTPUTS)
    monkeypatch.setattr(first_order, "NEWTON_VS_FIRST_ORDER_COST", cost)
    found = list(model.solve(alphas))
    assert with_first_order
    assert len(with_first_order) < 3 * len(alphas)
    for one, other in zip(found, expected, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=2e-6)
        assert one.optimality <= 1e-6


def test_dense_and_small_data_do_not_need_them(rng):
    X, y = rare_features(rng)
    made = RFSSelector()._robust_problem(RFSSelector()._training_data(X, y, None)).data
    assert not first_order.needs_first_order(made, X.shape[1])  # few samples
    assert made.design.n_entries == X.nnz
