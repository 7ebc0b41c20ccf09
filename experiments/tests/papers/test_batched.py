"""Batches find, problem by problem, what the solvers find alone."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler

torch = pytest.importorskip("torch")

from sparsieve.design import as_design  # noqa: E402
from sparsieve.papers.baselines.solvers.top_k_alm import TopKLagrangian  # noqa: E402
from sparsieve.papers.robust_l20.published import NonmonotoneAPG  # noqa: E402
from sparsieve.penalties import row_norms  # noqa: E402
from sparsieve.penalties.concave import largest  # noqa: E402
from sparsieve.solvers.robust.problem import RobustRegression  # noqa: E402
from sparsieve_experiments.papers.robust_l20 import batched_data, batched_nmapg  # noqa: E402
from sparsieve_experiments.papers.robust_l20.batched_data import longest, pieces, stacked  # noqa: E402
from sparsieve_experiments.papers.robust_l20.batched_nmapg import Chain  # noqa: E402
from sparsieve_experiments.papers.robust_l20.batched_top_k import batched_top_k  # noqa: E402

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ALPHA = 0.1


def problem(X, y):
    """Class indicators on standardised columns, with an intercept."""
    Y = np.eye(int(y.max()) + 1)[y][:, np.unique(y)]
    X = StandardScaler().fit_transform(X)
    return RobustRegression(as_design(X), Y - Y.mean(axis=0), np.ones(len(X)), True, alpha=ALPHA)


def folds(X, y, n_folds):
    return [
        problem(X[np.arange(len(y)) % n_folds != f], y[np.arange(len(y)) % n_folds != f])
        for f in range(n_folds)
    ]


def wide(seed=0, n=40, d=60):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), np.arange(n) % 3
    X[:, :4] += 1.5 * np.eye(3)[y] @ rng.standard_normal((3, 4))
    return X, y


def check_nmapg(solver, parts, chains):
    """The batch against the solver alone; returns the numbers of iterations."""
    found = batched_nmapg.batched_nmapg(solver, parts, chains, DEVICE)
    for f, part in enumerate(parts):
        for fits, chain in zip(found[f], chains, strict=True):
            alone = None
            for fit, k in zip(fits, chain.ks, strict=True):
                alone = solver.solve(replace(part, k=k, rho=chain.rho[f]), alone)
                norms = row_norms(alone.solution.W)
                assert fit.k == k
                assert fit.features.tolist() == largest(norms, k).tolist()
                assert fit.objective == pytest.approx(alone.objective, rel=1e-9)
                assert (fit.n_iter, fit.converged) == (alone.n_iter, alone.converged)
    return [[[fit.n_iter for fit in fits] for fits in part] for part in found]


def check_top_k(parts, ks, max_iter=150):
    solver = TopKLagrangian.published(max_iter=max_iter)
    found = batched_top_k(solver, parts, ks, DEVICE)
    for part, fits in zip(parts, found, strict=True):
        for fit, k in zip(fits, ks, strict=True):
            varies = part.design.column_sq_norms() > 0
            alone = solver.solve(replace(part, k=k, eligible=varies))
            assert fit.features.tolist() == alone.solution.features.tolist()
            assert fit.objective == pytest.approx(alone.objective, rel=1e-9)
            assert (fit.k, fit.n_iter, fit.converged) == (k, alone.n_iter, alone.converged)
    return [[fit.n_iter for fit in fits] for fits in found]


# -- nmAPG ----------------------------------------------------------------------------------


def test_stages_and_warm_starts_are_those_of_algorithm_2(monkeypatch):
    careful = []
    step = batched_nmapg._Run.careful_step
    monkeypatch.setattr(
        batched_nmapg._Run,
        "careful_step",
        lambda run, state: careful.append(1) or step(run, state),
    )
    solver = NonmonotoneAPG(
        stage_iter=60, tol=0.0, step_tol=1e-7, step_constant="spectral", eta=0.5
    )
    chains = [Chain([0.1, 0.2], [3, 5]), Chain([2.0, 1.0], [3, 5])]
    check_nmapg(solver, folds(*load_wine(return_X_y=True), 2), chains)
    assert 0 < len(careful) < 360  # the second proximal step was needed, but not always


def test_problems_end_when_they_like():
    parts = folds(*wide(), 3)
    solver = NonmonotoneAPG(mu=0.5, max_iter=60, tol=0.0, step_tol=1e-2, step_constant="spectral")
    chains = [Chain([rho] * 3, [k]) for rho in (0.05, 1.0) for k in (3, 10, 60)]
    counts = check_nmapg(solver, parts, chains)
    assert len({count for part in counts for fits in part for count in fits}) > 5


def test_parts_of_different_sizes_are_filled_up():
    X, y = wide(1)
    parts = [problem(X, y), problem(X[:30], y[:30]), problem(X[y < 2], y[y < 2])]
    solver = NonmonotoneAPG(stage_iter=20, max_iter=50, tol=0.0)
    check_nmapg(solver, parts, [Chain([0.5] * 3, [4, 8]), Chain([0.1] * 3, [1])])


def test_copies_of_a_feature_are_taken_in_order():
    X, y = wide(2)
    X[:, 30:] = X[:, :30]
    solver = NonmonotoneAPG(mu=0.05, max_iter=50, tol=0.0)
    check_nmapg(solver, [problem(X, y)], [Chain([1.0], [k]) for k in (1, 3, 5)])


# -- TopK -----------------------------------------------------------------------------------


def test_top_k_on_more_samples_than_features():
    check_top_k(folds(*load_breast_cancer(return_X_y=True), 3), [2, 8], max_iter=80)


def test_top_k_goes_on_until_the_last_problem_ends():
    counts = check_top_k(folds(*load_wine(return_X_y=True), 3), [2, 5, 13])
    assert max(max(counts)) == 150 > 20 > min(min(counts))


def test_top_k_on_more_features_than_samples():
    X, y = wide(3)
    X[:, 7] = 1.0  # constant: never chosen
    check_top_k([problem(X, y), problem(X[:29], y[:29])], [1, 4, 20])


def test_top_k_refuses_what_is_not_the_published_method():
    with pytest.raises(ValueError, match="published"):
        batched_top_k(TopKLagrangian(), [problem(*wide())], [2], DEVICE)


# -- the ground -----------------------------------------------------------------------------


def test_longest_rows_are_those_of_numpy():
    rng = np.random.default_rng(0)
    norms = rng.integers(0, 6, (2, 3, 20)).astype(float)  # many ties
    k = np.array([[1, 5, 20], [2, 19, 30]])
    mask, _ = longest(torch.from_numpy(norms), torch.from_numpy(k), 30)
    for f in range(2):
        for s in range(3):
            expected = largest(norms[f, s], k[f, s]).tolist()
            assert np.flatnonzero(mask[f, s].numpy()).tolist() == expected


def test_what_does_not_fit_at_once_is_done_in_pieces(monkeypatch):
    covered = np.zeros((5, 7), dtype=int)
    monkeypatch.setattr(batched_data, "HOST_BYTES", 100)
    for parts, problems in pieces(5, 7, 20.0, 15.0, torch.device("cpu")):
        covered[parts, problems] += 1
        assert covered[parts, problems].size <= 5
    assert (covered == 1).all()
    if DEVICE.type == "cpu":
        check_top_k(folds(*wide(), 3), [2, 5], max_iter=30)


def test_parts_must_be_alike():
    X, y = wide()
    with pytest.raises(ValueError, match="same features, got 60 and 59"):
        stacked([problem(X, y), problem(X[:, 1:], y)], DEVICE)
    data = problem(X, y)
    with pytest.raises(ValueError, match="with an intercept"):
        stacked([replace(data, fit_intercept=False)], DEVICE)
