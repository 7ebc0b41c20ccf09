"""L21Selector with other penalties: what is kept, refused and remembered."""

import numpy as np
import pytest
from sklearn.base import clone

from sparsieve import L21Selector, load, save
from sparsieve.penalties.concave import MCP
from sparsieve.penalties.convex import SparseGroup


@pytest.fixture
def strong(rng):
    X = rng.standard_normal((120, 30))
    y = 3.0 * X[:, 2] + 2.0 * X[:, 7] + 0.3 * rng.standard_normal(120)
    return X, y


def test_concave_penalties_do_not_shrink_strong_features(strong):
    X, y = strong
    convex, concave = L21Selector().fit(X, y), L21Selector(penalty="mcp").fit(X, y)
    assert concave.get_support(indices=True).tolist() == [2, 7]
    A = np.column_stack([X[:, [2, 7]], np.ones(len(X))])
    plain = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(concave.coef_[0, [2, 7]], plain[:2], rtol=1e-5)
    assert (np.abs(convex.coef_[0, [2, 7]]) < np.abs(plain[:2]) - 0.1).all()
    assert concave.converged_
    assert concave.optimality_ <= 1e-6


def test_a_fit_is_the_end_of_a_path(strong):
    X, y = strong
    selector = L21Selector(penalty=MCP(gamma=1.5), feature_groups=np.arange(30) // 3)
    selector.set_params(alpha=60.0, tol=1e-9).fit(X, y)
    top = selector.path(X, y, n_alphas=1).strength[0]
    n = int(np.ceil(np.log(60.0 / top) / np.log(0.9)))
    path = selector.path(X, y, alphas=np.geomspace(top, 60.0, n + 1)[1:])
    assert path.objective[-1] == pytest.approx(selector.objective_, rel=1e-9)


def test_sparse_groups_leave_columns_of_kept_groups_out(strong):
    X, y = strong
    groups = np.arange(30) // 5
    whole = L21Selector(feature_groups=groups).fit(X, y)
    parts = L21Selector(feature_groups=groups, penalty=SparseGroup(l1_ratio=0.8)).fit(X, y)
    assert (whole.coef_ != 0).sum() == 10
    assert set(parts.coef_.nonzero()[1]) == {2, 7}
    assert parts.support_.sum() == 10  # whole groups
    assert parts.optimality_ <= 1e-6


@pytest.mark.parametrize("penalty", ["mcp", MCP(gamma=2.5), SparseGroup(l1_ratio=0.3)])
def test_selectors_clone_save_and_stay_in_single_precision(penalty, strong, tmp_path):
    X, y = strong
    selector = clone(L21Selector(3, penalty=penalty)).fit(X.astype(np.float32), y)
    assert selector.coef_.dtype == np.float32
    save(selector, tmp_path / "selector")
    again = load(tmp_path / "selector")
    assert repr(again) == repr(selector)
    np.testing.assert_array_equal(again.support_, selector.support_)


@pytest.mark.parametrize(
    ("penalty", "words"),
    [
        ("mpc", "penalty must be one of 'l21', 'mcp', 'sparse-group' or an object"),
        (3.0, "penalty must be one of"),
        (MCP(gamma=0.5), "gamma must be above 1"),
    ],
)
def test_unknown_penalties_are_refused_in_words(penalty, words, strong):
    with pytest.raises(ValueError, match=words):
        L21Selector(penalty=penalty).fit(*strong)


def test_weights_of_groups_without_groups_are_refused(strong):
    with pytest.raises(ValueError, match="group_weights are for feature_groups"):
        L21Selector(penalty="mcp", group_weights=[1.0]).fit(*strong)


def test_what_did_not_converge_says_what_it_missed(strong):
    with pytest.warns(UserWarning, match="a residual of the stationarity conditions of"):
        L21Selector(penalty="mcp", max_iter=1, tol=1e-12).fit(*strong)
