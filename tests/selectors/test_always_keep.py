"""Columns that are always or never kept, in every linear selector that offers it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sparsieve import L21Selector, RidgeForwardSelector, all_selectors

OFFERING = [cls() for cls in all_selectors().values() if "always_keep" in cls._get_param_names()]
each = pytest.mark.parametrize("selector", OFFERING, ids=lambda s: type(s).__name__)


@pytest.fixture
def confounded():
    """Column 0 is a strong covariate; 1 is its near copy; 2 adds something of its own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(80)
    y = 3.0 * X[:, 0] + 0.7 * X[:, 2] + 0.3 * rng.standard_normal(80)
    return X, y


@each
def test_kept_columns_come_first_and_others_add_to_them(selector, confounded):
    X, y = confounded
    chosen = clone(selector).set_params(n_features_to_select=2, always_keep=[0]).fit(X, y)
    assert chosen.get_support(indices=True).tolist() == [0, 2]
    assert chosen.ranking_[0] == 1
    assert np.isinf(chosen.scores_[0])


@each
def test_never_kept_columns_come_last(selector, confounded):
    X, y = confounded
    chosen = clone(selector).set_params(n_features_to_select=3, never_keep=[0, 2]).fit(X, y)
    assert chosen.support_[1]
    assert not chosen.support_[[0, 2]].any()
    assert set(chosen.ranking_[[0, 2]]) == {11, 12}


@each
def test_names_and_contradictions(selector, confounded):
    X, y = confounded
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(12)])
    chosen = clone(selector).set_params(n_features_to_select=2, always_keep=["gene5"])
    assert chosen.fit(frame, y).support_[5]
    for parameters, message in [
        ({"always_keep": ["gene55"]}, "did you mean 'gene5'"),
        ({"always_keep": [12]}, "column 12 does not exist"),
        ({"always_keep": [1], "never_keep": [1]}, "both name column 1"),
        ({"always_keep": [1, 2, 3]}, "more than the 2 to select"),
        ({"never_keep": list(range(12))}, "every feature"),
        ({"never_keep": "gene5"}, "must be a list"),
        ({"never_keep": [1.5]}, "indices or names"),
    ]:
        bad = clone(selector).set_params(n_features_to_select=2, **parameters)
        with pytest.raises(ValueError, match=message):
            bad.fit(frame, y)


def test_covariates_are_not_penalised(confounded):
    """The solution is optimal with the covariate's coefficient free: residuals ignore it."""
    X, y = confounded
    selector = L21Selector(alpha=30.0, always_keep=[0, 3]).fit(X, y)
    residual = y - (X @ selector.coef_.T + selector.intercept_)[:, 0]
    assert np.abs((X[:, [0, 3]] - X[:, [0, 3]].mean(0)).T @ residual).max() < 1e-6
    assert residual.sum() == pytest.approx(0, abs=1e-8)
    pull = 2 * np.abs(((X - X.mean(0)) / X.std(0)).T @ residual)
    free = np.isin(np.arange(12), [0, 3])
    active = (selector.coef_[0] != 0) & ~free
    np.testing.assert_allclose(pull[active], 30.0, rtol=1e-3)
    assert (pull[~active & ~free] <= 30.0 * (1 + 1e-3)).all()


def test_forward_selection_equals_residualising_by_hand(confounded):
    X, y = confounded
    kept = RidgeForwardSelector(4, always_keep=[0], ridge=0.0, clip=None).fit(X, y)
    plain = RidgeForwardSelector(12, ridge=0.0, clip=None).fit(X, y)
    assert plain.path_.features[0] == 0
    assert kept.path_.features[:3].tolist() == plain.path_.features[1:4].tolist()
    np.testing.assert_allclose(kept.coef_, plain.at(4).coef_, atol=1e-8)
