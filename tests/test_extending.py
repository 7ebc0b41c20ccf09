"""A loss, penalty, filter or reader is one file and one line: all are added here, and used."""

import json
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import xlogy

from sparsieve import (
    L21Selector,
    LikelihoodForwardSelector,
    LikelihoodL21Selector,
    filters,
    select,
)
from sparsieve.app.io import read, read_table
from sparsieve.app.io.roles import column_places, make_column
from sparsieve.app.io.rows import Contents
from sparsieve.penalties import GROUP_PENALTIES, GroupPenalty
from sparsieve.selectors.base import BaseSelector, FeatureScores
from sparsieve.solvers.losses import LOSS_KINDS
from sparsieve.solvers.losses.base import SeparableLoss, sample_weights


class LogCosh(SeparableLoss):
    """l(y, f) = ln cosh(f - y)."""

    def __init__(self, y, weights=None):
        self.y, self.weights = y, sample_weights(weights, len(y))

    def value(self, F):
        r = np.abs(F[:, 0] - self.y)
        return float(self.weights @ (r + np.log1p(np.exp(-2.0 * r)) - np.log(2.0)))

    def gradient(self, F):
        return self.weights[:, None] * np.tanh(F - self.y[:, None])

    def curvature(self, F):
        return self.weights[:, None] * (1.0 - np.tanh(F - self.y[:, None]) ** 2)

    def dual_value(self, F, t):
        u = t * np.tanh(F[:, 0] - self.y)
        entropy = 0.5 * (xlogy(1.0 + u, 1.0 + u) + xlogy(1.0 - u, 1.0 - u))
        return -float(self.weights @ (u * self.y + entropy))

    def null(self):
        def slope(b):
            return float(self.gradient(np.full((len(self.y), 1), b)).sum())

        b = brentq(slope, self.y.min() - 1.0, self.y.max() + 1.0, xtol=1e-14)
        return np.array([b]), self.value(np.full((len(self.y), 1), b))


@dataclass(frozen=True)
class Exponential(GroupPenalty):
    """sum_g alpha c_g (1 - exp(-t_g)) of t_g = ||W_g||."""

    is_convex: ClassVar[bool] = False

    def norm_values(self, norms, weights):
        return self.alpha * weights * (1.0 - np.exp(-norms))

    def norm_slopes(self, norms, weights):
        return self.alpha * weights * np.exp(-norms)


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setitem(LOSS_KINDS, "log-cosh", LogCosh)
    monkeypatch.setitem(GROUP_PENALTIES, "exponential", Exponential)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 8))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = 1.5 * X[:, 2] - X[:, 5] + 0.3 * rng.standard_t(2, 70)
    return X, y


@pytest.mark.usefixtures("added")
def test_a_loss_is_penalised_along_a_path(data):
    X, y = data
    path = LikelihoodL21Selector(loss="log-cosh", tol=1e-9).path(X, y, n_alphas=3, ratio=0.1)
    assert (path.optimality <= 1e-9).all()
    for alpha, objective in zip(path.strength[1:], path.objective[1:], strict=True):
        w, b = cp.Variable(8), cp.Variable()
        r = X @ w + b - y
        value = cp.sum(cp.logistic(2.0 * r) - r - np.log(2.0)) + alpha * cp.norm(w, 1)
        found = cp.Problem(cp.Minimize(value)).solve(solver=cp.CLARABEL)
        assert objective == pytest.approx(found, rel=1e-6)


@pytest.mark.usefixtures("added")
def test_a_loss_is_searched_and_its_selections_are_certified(data):
    X, y = data
    selector = LikelihoodForwardSelector(2, loss="log-cosh", ridge=1.0).fit(X, y)
    loss = LogCosh(y)
    rho = float(loss.curvature(np.full((70, 1), loss.null()[0][0])).sum())

    def best(pair):
        def objective(w):
            return loss.value((X[:, pair] @ w[:2] + w[2])[:, None]) + 0.5 * rho * w[:2] @ w[:2]

        return minimize(objective, np.zeros(3), options={"gtol": 1e-8}).fun

    values = {pair: best(list(pair)) for pair in combinations(range(8), 2)}
    least = min(values, key=values.get)
    assert selector.get_support(indices=True).tolist() == list(least)
    assert selector.objective_ == pytest.approx(values[least], rel=1e-8)
    certificate = selector.certify(X, y, n_features=2)
    assert certificate.lower_bound[-1] <= values[least]
    assert certificate.share[-1] > 0.9
    certified = LikelihoodL21Selector(2, loss="log-cosh").fit(X, y).certify(X, y)
    assert certified.lower_bound[-1] <= values[least]


@pytest.mark.usefixtures("added")
def test_a_penalty_on_rows_and_groups(data):
    X, y = data
    for groups in (None, np.arange(8) // 2):
        selector = L21Selector(penalty="exponential", feature_groups=groups, tol=1e-8)
        path = selector.path(X, y, n_alphas=6, ratio=0.05)
        assert (path.optimality <= 1e-8).all()
        for alpha, coef in zip(path.strength[1:], path.coefs[1:], strict=True):
            w = coef.toarray()[0]
            G = 2.0 * X.T @ (y - y.mean() - X @ w)
            for some in np.split(np.arange(8), 8 if groups is None else 4):
                length, c = np.linalg.norm(w[some]), np.sqrt(len(some))
                if length == 0.0:
                    assert np.linalg.norm(G[some]) <= alpha * c * (1 + 1e-7)
                else:
                    pull = alpha * c * np.exp(-length) * w[some] / length
                    np.testing.assert_allclose(G[some], pull, atol=1e-6 * alpha)


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    "method",
    [
        lambda: L21Selector(penalty="exponential"),
        lambda: LikelihoodL21Selector(loss="log-cosh"),
        lambda: LikelihoodForwardSelector(loss="log-cosh"),
    ],
)
@pytest.mark.long("select scores the selection on held-out folds")
def test_select_takes_them(method, data):
    X, y = data
    found = select(X, y, 2, method(), check=False)
    assert sorted(found.features) == ["x2", "x5"]


@dataclass(eq=False, repr=False, kw_only=True)
class MedianGapSelector(BaseSelector):
    """Keep the features whose medians of two classes are farthest apart.

    In short: Scores each feature separately: the gap between the medians of the classes.
    """

    feature_groups: Any = field(default=None)
    _accepts_regression: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = "Largest gap between medians of classes, in units of X."

    def _fit(self, data):
        X, codes = (
            np.asarray(data.design.dense_columns(np.arange(data.design.shape[1]))),
            data.target.codes,
        )
        medians = [np.median(X[codes == c], axis=0) for c in np.unique(codes)]
        return FeatureScores(np.ptp(medians, axis=0), n_kept=10)


def test_a_filter_is_found_by_its_name(monkeypatch, data):
    monkeypatch.setattr(filters, "MedianGapSelector", MedianGapSelector, raising=False)
    monkeypatch.setattr(filters, "__all__", [*filters.__all__, "MedianGapSelector"])
    X, y = data
    found = select(X, y > 0, 1, "median-gap", check=False)
    assert found.features == ["x2"]


def read_json_columns(path, roles):
    """A file of named columns of numbers and text."""
    columns = json.loads(path.read_text())
    names = list(columns)
    places = column_places(roles, names, path.name)
    made = {
        role: make_column(role, names[j], np.array(columns[names[j]]))
        for role, j in places.columns.items()
    }
    X = np.column_stack([columns[names[j]] for j in places.features]).astype(float)
    return Contents(path.name, X, tuple(names[j] for j in places.features), made)


def test_a_reader_is_found_by_its_suffix(monkeypatch, data, tmp_path):
    monkeypatch.setitem(read._READERS, ".columns", read_json_columns)
    X, y = data
    path = tmp_path / "data.columns"
    kinds = np.where(y > 0, "high", "low").tolist()
    path.write_text(json.dumps({f"x{j}": X[:, j].tolist() for j in range(8)} | {"kind": kinds}))
    table = read_table(path, "kind")
    assert table.feature_names[2] == "x2"
    assert select(table, k=1, check=False).features == ["x2"]
