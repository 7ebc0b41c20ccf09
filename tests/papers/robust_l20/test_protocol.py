"""The published method as the paper runs it, against plain loops over the limits."""

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsieve import RobustL20Selector
from sparsieve.design import as_design
from sparsieve.papers.robust_l20.published import (
    NonmonotoneAPG,
    exact_rho,
    is_first_step,
    limit_path,
)
from sparsieve.penalties import row_norms
from sparsieve.solvers import NmAPG
from sparsieve.solvers.robust.problem import RobustRegression

DATA = Path(os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[4] / "shared" / "data"))


def centred(seed=0, n=40, d=30):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, :4] += y[:, None] * rng.uniform(0.5, 1.5, 4)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def published(k, **settings):
    return RobustL20Selector(k, solver=NmAPG(**settings) if settings else "published")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_limit_of_the_paper_starts_from_the_one_before():
    X, y = centred()
    selector = published(3, rho_share=0.001).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0) / np.sqrt(2.0)  # the indicators in their row space
    rho = 0.001 * (len(X) * np.abs(X).max() - 0.1)
    problem = RobustRegression(
        as_design(X), signs[:, None], np.ones(len(X)), True, alpha=0.1, rho=rho
    )
    # mu from 1 by tenths to 2 epsilon / (m + gamma n), 200 steps each or until (6.1) holds
    solver = NonmonotoneAPG(stage_iter=200, max_iter=100_000, tol=0.0, step_tol=1e-7)
    last = None
    for k in (1, 2, 3):
        last = solver.solve(replace(problem, k=k), last)
        largest = np.argsort(-row_norms(last.solution.W), kind="stable")[:k]
        assert selector.at(k).get_support(indices=True).tolist() == sorted(largest)
    assert selector.rho_ == pytest.approx(rho)
    assert selector.alpha_ == 0.1
    assert selector.penalised_objective_ == pytest.approx(last.objective, rel=1e-6)


def test_limits():
    assert limit_path(NmAPG(), 4) == [1, 2, 3, 4]
    assert limit_path(NmAPG(), 80) == [*range(1, 51), 80]
    assert limit_path(NmAPG(limits=[20, 5, 50]), 20) == [5, 20]
    assert limit_path(NmAPG(limits=[]), 7) == [7]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_between_the_limits_the_next_solution_serves():
    X, y = centred(1)
    selector = published(4, limits=[3]).fit(X, y)
    nested = selector.at(2).get_support(indices=True)
    assert set(nested) <= set(selector.at(3).get_support(indices=True))
    alone = published(3, limits=[]).fit(X, y)
    assert (selector.at(3).support_ == alone.support_).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_says_where_it_is_a_filter():
    X, y = centred(2)
    with pytest.warns(UserWarning, match="are those of the first step") as said:
        selector = published(5, rho="auto", limits=[]).fit(X, y)
    correlations = np.abs(X.T @ (y - y.mean()))
    assert selector.get_support(indices=True).tolist() == sorted(np.argsort(-correlations)[:5])
    assert sum("first step" in str(one.message) for one in said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        published(5, limits=[]).fit(X, y)


def test_a_step_like_the_first_is_no_filter_where_rows_can_still_enter():
    X, y = centred(2)
    signs = np.where(y == 1, 1.0, -1.0) / np.sqrt(2.0)
    problem = RobustRegression(as_design(X), signs[:, None], np.ones(len(X)), True, alpha=0.1)
    first = np.argsort(-np.abs(X.T @ signs))[:5]
    strong = replace(problem, rho=exact_rho(problem))
    assert is_first_step(strong, 1.0, first)
    assert not is_first_step(strong, 1.0, np.arange(5))
    assert not is_first_step(replace(problem, rho=0.1), 1.0, first)


@pytest.mark.skipif(not (DATA / "srbct.npz").exists(), reason="srbct is not at hand")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_on_srbct_it_is_no_filter():
    data = np.load(DATA / "srbct.npz")
    X, y = data["X"].astype(float), data["y"]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = np.eye(y.max() + 1)[y] - np.bincount(y) / len(y)
    correlated = set(np.argsort(-np.linalg.norm(Z.T @ Y, axis=1))[:10])
    kept = published(10, limits=[5]).fit(X, y).get_support(indices=True)
    assert len(correlated & set(kept)) == 6  # 3 by way of every limit, 10 by none
