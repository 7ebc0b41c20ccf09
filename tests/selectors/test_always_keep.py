"""Columns that are always or never kept, in every model that adjusts for those it keeps."""

import itertools

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from sparsieve import (
    ESFSSelector,
    ExactPenaltySVMSelector,
    ExclusiveL21Selector,
    ExclusiveLassoSelector,
    L0SVMSelector,
    L20Selector,
    L21Selector,
    LikelihoodForwardSelector,
    LikelihoodL21Selector,
    MRMRSelector,
    RFSSelector,
    RidgeForwardSelector,
    RLSRSelector,
    RobustL20Selector,
    RPMFSSelector,
    SVMRFESelector,
    all_selectors,
)
from sparsieve.selectors.around import AroundSelectors
from sparsieve.solvers import AHIHT, HIHT, Greedy, NmAPG, RobustGreedySearch

# mRMR weighs relevance against redundancy, which does not rule out a very relevant near copy.
ELSEWHERE = AroundSelectors, MRMRSelector
OFFERING = [
    one
    for one in (cls() for cls in all_selectors().values())
    if one._adjusts_for_kept and not isinstance(one, ELSEWHERE)
]
# Every solver has its own way to leave columns alone.
VARIANTS = [
    *OFFERING,
    L20Selector(solver=HIHT(L_0=500.0)),
    L20Selector(solver=AHIHT(init="gaussian"), random_state=0),
    RobustL20Selector(alpha=0.0),
    L20Selector(solver=Greedy(swaps=0), ridge=0.0),
    RobustL20Selector(solver="irls", max_iter=1000),
    RobustL20Selector(
        alpha=1.0,
        solver=NmAPG(rho="auto", step_constant="spectral", limits=[]),
        tol=1e-5,
        max_iter=3000,
    ),
    RobustL20Selector(solver=RobustGreedySearch(compare=NmAPG(limits=[])), alpha=0.5),
    ExclusiveL21Selector(solver="published", tol=1e-2),
]


def _id(selector):
    return repr(selector).replace("\n", "").replace(" ", "")


each = pytest.mark.parametrize("selector", OFFERING, ids=lambda s: type(s).__name__)
every = pytest.mark.parametrize("selector", VARIANTS, ids=_id)


def target(selector, y):
    return y if selector.__sklearn_tags__().target_tags.multi_output else (y > 0).astype(int)


@pytest.fixture
def confounded():
    """Column 0 is a strong covariate; 1 is its near copy; 2 adds something of its own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 12))
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(120)
    y = 3.0 * X[:, 0] + 1.2 * X[:, 2] + 0.3 * rng.standard_normal(120)
    return X, y


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 9))
    X[:, :3] += 1.5 * np.eye(3)[y]
    X[:, 3] += X[:, 0]
    return X * rng.uniform(0.5, 2.0, 9) + rng.standard_normal(9), y


@every
def test_kept_columns_come_first_and_others_add_to_them(selector, confounded):
    X, y = confounded
    chosen = clone(selector).set_params(n_features_to_select=2, always_keep=[0])
    chosen.fit(X, target(selector, y))
    assert chosen.get_support(indices=True).tolist() == [0, 2]
    assert chosen.ranking_[0] == 1
    assert chosen.scores_[0] == 0.0  # kept by request, whatever it says itself
    if hasattr(chosen, "coef_"):
        assert chosen.coef_[:, 0].any()


@every
def test_never_kept_columns_come_last(selector, confounded):
    X, y = confounded
    chosen = clone(selector).set_params(n_features_to_select=3, never_keep=[0, 2])
    chosen.fit(X, target(selector, y))
    assert chosen.support_[1]
    assert not chosen.support_[[0, 2]].any()
    assert set(chosen.ranking_[[0, 2]]) == {11, 12}


@pytest.mark.thinned(3)
@pytest.mark.thinned(2)
@every
@pytest.mark.parametrize("always", [None, [7, 4]], ids=["alone", "with covariates"])
def test_never_keep_is_the_fit_without_the_columns(selector, always, three_classes):
    X, y = three_classes
    left = np.array([1, 2, 3, 4, 6, 7, 8])
    full = clone(selector).set_params(never_keep=[0, 5], always_keep=always).fit(X, y)
    inside = None if always is None else np.searchsorted(left, always)
    dropped = clone(selector).set_params(always_keep=inside).fit(X[:, left], y)
    assert full.support_[left].tolist() == dropped.support_.tolist()
    assert not full.support_[[0, 5]].any()
    assert np.argsort(full.ranking_)[:7].tolist() == left[np.argsort(dropped.ranking_)].tolist()
    if hasattr(full, "objective_"):
        assert full.objective_ == pytest.approx(dropped.objective_, rel=1e-5)
    if hasattr(full, "coef_"):
        assert not full.coef_[:, [0, 5]].any()
        np.testing.assert_allclose(full.coef_[:, left], dropped.coef_, atol=2e-4)


@pytest.mark.thinned(3)
@every
def test_one_fit_serves_every_number_with_the_kept_columns_in_front(selector, confounded):
    X, y = confounded
    fitted = clone(selector).set_params(n_features_to_select=4, always_keep=[5, 3], never_keep=[2])
    fitted.fit(X, target(selector, y))
    for count in (2, 3, 4, 0.25):
        at = fitted.at(count)
        assert at.support_.sum() == (3 if count == 0.25 else count)
        assert at.support_[[3, 5]].all()
        assert not at.support_[2]
        assert sorted(at.ranking_[[3, 5]]) == [1, 2]
    with pytest.raises(ValueError, match="always_keep contains 2 features, more than the 1"):
        fitted.at(1)
    if fitted._n_ranked == 11:
        with pytest.warns(UserWarning, match="larger than the 11 features that never_keep leaves"):
            assert fitted.at(12).support_.sum() == 11
        assert fitted.at(1.0).support_.sum() == 11
    else:  # a path that was followed no further than asked
        with pytest.raises(ValueError, match="fit with n_features_to_select >= 11"):
            fitted.at(1.0)


@every
def test_nothing_but_covariates(selector, confounded):
    X, y = confounded
    y = target(selector, y)
    only = clone(selector).set_params(n_features_to_select=2, always_keep=[0, 2])
    if isinstance(selector, LikelihoodForwardSelector | LikelihoodL21Selector):
        with pytest.raises(ValueError, match="always_keep predict the target perfectly"):
            only.fit(X, y)
        y[::10] = 1 - y[::10]
    only.fit(X, y)
    assert only.get_support(indices=True).tolist() == [0, 2]


@pytest.mark.thinned(2)
@each
@pytest.mark.long("RPMFS, the slowest method, is among the cases")
def test_names_masks_and_contradictions(selector, confounded):
    X, y = confounded
    y = target(selector, y)
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(12)])
    mask = np.arange(12) == 5
    rankings = [
        clone(selector).set_params(n_features_to_select=2, always_keep=keep).fit(frame, y).ranking_
        for keep in (["gene5"], [5], [-7], mask, mask.tolist())
    ]
    assert all((ranking == rankings[0]).all() for ranking in rankings)
    assert rankings[0][5] == 1
    for parameters, message in [
        ({"always_keep": ["gene55"]}, "did you mean 'gene5'"),
        ({"always_keep": [12]}, "column 12 does not exist"),
        ({"always_keep": [1], "never_keep": [1]}, "both contain column 1"),
        ({"always_keep": [1, 2, 3]}, "more than the 2 to select"),
        ({"never_keep": list(range(12))}, "every feature"),
        ({"never_keep": "gene5"}, "must be a list"),
        ({"never_keep": [1.5]}, "indices or names"),
        ({"never_keep": [True, 2]}, "indices or names"),
        ({"never_keep": mask[:5]}, "one entry for each of the 12 features, got 5"),
    ]:
        bad = clone(selector).set_params(n_features_to_select=2, **parameters)
        with pytest.raises(ValueError, match=message):
            bad.fit(frame, y)
    with pytest.raises(ValueError, match="X has no column names"):
        clone(selector).set_params(always_keep=["gene5"]).fit(X, y)
    few = clone(selector).set_params(n_features_to_select=2, never_keep=list(range(11)))
    with pytest.warns(UserWarning, match="larger than the 1 feature that never_keep leaves"):
        assert few.fit(frame, y).get_support(indices=True).tolist() == [11]


@pytest.mark.thinned(2)
@every
def test_sparse_data_and_weights_as_copies(selector, three_classes):
    X, y = three_classes
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 3, len(y))
    chosen = clone(selector).set_params(always_keep=[0, 7], never_keep=[2])
    repeated = clone(chosen).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for data in (X, sparse.csr_array(X)):
        weighted = clone(chosen).fit(data, y, sample_weight=weights)
        assert weighted.support_.tolist() == repeated.support_.tolist()
        if hasattr(chosen, "coef_"):
            np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-4)


def _norms(W):
    return cp.sum(cp.norm(W, 2, axis=1))


CONVEX = [
    (L21Selector(alpha=9.0), lambda R, W: cp.sum_squares(R) + 9.0 * _norms(W)),
    (RLSRSelector(alpha=3.0), lambda R, W: cp.sum_squares(R) + 3.0 * cp.square(_norms(W))),
    (RFSSelector(alpha=6.0), lambda R, W: _norms(R) + 6.0 * _norms(W)),
    (
        ExclusiveL21Selector(alpha=5.0, beta=3.0),
        lambda R, W: (
            cp.sum_squares(R) + 5.0 * _norms(W) + 3.0 * cp.sum_squares(cp.norm(W, 1, axis=1))
        ),
    ),
    (
        ExclusiveLassoSelector(beta=3.0),
        lambda R, W: cp.sum_squares(R) + 3.0 * cp.sum_squares(cp.norm(W, 1, axis=1)),
    ),
]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("selector", "model"), CONVEX, ids=lambda v: type(v).__name__)
def test_covariates_are_not_penalised(selector, model, intercept, three_classes):
    X, y = three_classes
    always = [3, 8]
    others = np.setdiff1d(np.arange(9), always)
    fitted = clone(selector).set_params(
        always_keep=always, fit_intercept=intercept, standardize=False, tol=1e-9
    )
    fitted.fit(X, y)
    W, B, b = cp.Variable((7, 3)), cp.Variable((2, 3)), cp.Variable((1, 3))
    image = X[:, others] @ W + X[:, always] @ B
    if intercept:
        image = image + np.ones((len(y), 1)) @ b
    problem = cp.Problem(cp.Minimize(model(np.eye(3)[y] - image, W)))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-10, tol_feas=1e-9)
    assert fitted.objective_ == pytest.approx(problem.value, rel=1e-6)
    # The value at the coefficients in the units of the user, intercept and covariates included.
    residual = np.eye(3)[y] - X @ fitted.coef_.T - fitted.intercept_
    value = model(residual, fitted.coef_[:, others].T).value
    assert value == pytest.approx(problem.value, rel=1e-6)
    np.testing.assert_allclose(fitted.coef_[:, always].T, B.value, atol=1e-3)


@pytest.mark.parametrize(
    ("selector", "gamma"),
    [
        (RobustL20Selector(5, alpha=2.0), 2.0),
        (RobustL20Selector(5, alpha=2.0, solver="irls"), 2.0),
        (RPMFSSelector(5), 0.0),
        (RobustL20Selector(5, alpha=0.0), 0.0),
    ],
    ids=_id,
)
def test_robust_fit_on_the_support_has_free_covariates(selector, gamma, three_classes):
    X, y = three_classes
    always = [3, 8]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    fitted = clone(selector).set_params(always_keep=always, standardize=False, tol=1e-8)
    fitted.fit(X, y, sample_weight=weights)
    chosen = np.setdiff1d(fitted.get_support(indices=True), always)
    assert len(chosen) == 3
    W, B, b = cp.Variable((3, 3)), cp.Variable((2, 3)), cp.Variable((1, 3))
    R = np.eye(3)[y] - X[:, chosen] @ W - X[:, always] @ B - np.ones((len(y), 1)) @ b
    problem = cp.Problem(cp.Minimize(weights @ cp.norm(R, 2, axis=1) + gamma * _norms(W)))
    problem.solve(solver="CLARABEL")
    assert fitted.objective_ == pytest.approx(problem.value, rel=1e-6)
    residual = np.eye(3)[y] - X @ fitted.coef_.T - fitted.intercept_
    value = weights @ np.linalg.norm(residual, axis=1)
    value += gamma * np.linalg.norm(fitted.coef_[:, chosen], axis=0).sum()
    assert value == pytest.approx(problem.value, rel=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_l1_svm_does_not_charge_for_covariates(intercept, confounded):
    X, y = confounded
    rng = np.random.default_rng(2)
    signs = np.sign(y + 2.0 * rng.standard_normal(len(y)))
    always, others = [0, 4], np.setdiff1d(np.arange(12), [0, 4])
    for selector, charge, bound in (
        (L0SVMSelector(surrogate="l1", C=0.3, theta=1.0), 1.0, np.inf),
        (ExactPenaltySVMSelector(C=0.02, penalty=1.0, max_weight=50.0), 0.04, 50.0),
    ):
        selector.set_params(always_keep=always, fit_intercept=intercept, standardize=False)
        selector.fit(X, signs)
        w, v, b = cp.Variable(10), cp.Variable(2), cp.Variable()
        margins = X[:, others] @ w + X[:, always] @ v + (b if intercept else 0.0)
        hinge = cp.sum(cp.pos(1 - cp.multiply(signs, margins)))
        problem = cp.Problem(
            cp.Minimize(charge * cp.norm1(w) + selector.C * hinge), [cp.norm_inf(w) <= bound]
        )
        if not np.isfinite(bound):
            problem = cp.Problem(problem.objective)
        problem.solve(solver="CLARABEL")
        assert selector.objective_ == pytest.approx(problem.value, rel=1e-6)
        ours = selector.coef_[0]
        hinge = np.maximum(0, 1 - signs * (X @ ours + selector.intercept_)).sum()
        value = charge * np.abs(ours[others]).sum() + selector.C * hinge
        assert value == pytest.approx(problem.value, rel=1e-6)


def test_bound_of_the_exact_penalty_svm_is_not_for_covariates(confounded):
    X, y = confounded
    selector = ExactPenaltySVMSelector(C=10.0, max_weight=0.1, always_keep=[0], standardize=False)
    selector.fit(X, y > 0)
    assert abs(selector.coef_[0, 0]) > 0.5
    assert np.abs(selector.coef_[0, 1:]).max() <= 0.1 * (1 + 1e-9)


def test_svm_rfe_never_drops_what_is_kept(confounded):
    X, y = confounded
    kept = SVMRFESelector(4, always_keep=[5, 3], never_keep=[2], step=1).fit(X, y > 0)
    assert set(kept.path_.features[:2]) == {3, 5}
    assert kept.path_.features[-1] == 2
    assert kept.n_steps_ == 9


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_l20_finds_the_best_support_around_the_covariates(ridge, three_classes):
    X, y = three_classes
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    Xc = X - X.mean(axis=0)

    def value(support):
        free = ~np.isin(support, always)
        matrix = Xc[:, support].T @ Xc[:, support] + ridge * len(y) * np.diag(free)
        W = np.linalg.solve(matrix, Xc[:, support].T @ Y)
        residual = Y - Xc[:, support] @ W
        return 0.5 * (residual**2).sum() + 0.5 * ridge * len(y) * (W[free] ** 2).sum()

    always = [3, 8]
    selector = L20Selector(
        n_features_to_select=4, ridge=ridge, always_keep=always, standardize=False
    ).fit(X, y)
    pairs = itertools.combinations(np.setdiff1d(np.arange(9), always), 2)
    best = min((value(np.sort([*always, *pair])), pair) for pair in pairs)
    assert selector.objective_ == pytest.approx(best[0])
    assert selector.get_support(indices=True).tolist() == sorted([*always, *best[1]])
    # A price is paid for the chosen ones only.
    priced = L20Selector(lam=0.3, ridge=ridge, always_keep=always, standardize=False).fit(X, y)
    chosen = int(priced.support_.sum()) - 2
    rest = value(priced.get_support(indices=True))
    assert priced.objective_ == pytest.approx(rest + 0.3 * chosen)


def test_copies_of_covariates_have_nothing_to_add(confounded):
    X, y = confounded
    X = np.hstack([X, 2.0 * X[:, :1] - X[:, 3:4]])
    for selector in (
        RidgeForwardSelector(4, ridge=0.0, clip=None),
        L20Selector(n_features_to_select=4, ridge=0.0),
        RobustL20Selector(4, alpha=0.0),
        ESFSSelector(4),
        RPMFSSelector(4),
    ):
        selector.set_params(always_keep=[0, 3]).fit(X, target(selector, y))
        assert not selector.support_[12]


def test_no_feature_is_kept_for_its_own_sake_beside_covariates(confounded):
    X, y = confounded
    for selector in (
        L21Selector(alpha=1e9),
        ExclusiveL21Selector(alpha=1e9),
        L20Selector(lam=1e9),
        RobustL20Selector(lam=1e9, alpha=0.0),
    ):
        assert selector.fit(X, y).support_.sum() == 1
        selector.set_params(always_keep=[0, 3]).fit(X, y)
        assert selector.get_support(indices=True).tolist() == [0, 3]


def test_exclusive_covariates_serve_every_class(three_classes):
    X, y = three_classes
    selector = ExclusiveL21Selector(always_keep=[8]).fit(X, y)
    assert selector.support_per_class_[:, 8].all()
    assert 8 in selector.heatmap_.features
    per_class = selector.at(2, per_class=True).support_per_class_
    assert per_class[:, 8].all()
    assert (per_class.sum(axis=1) <= 2).all()


def test_paths_hold_the_covariates(three_classes):
    X, y = three_classes
    for kind in (L21Selector, LikelihoodL21Selector, RFSSelector):
        path = kind(always_keep=[3, 8]).path(X, y, n_alphas=3)
        assert all({3, 8} <= set(coef.nonzero()[1]) for coef in path.coefs[1:])
        assert not any({3, 8} & set(features) for features in path.supports)


def test_forward_selection_equals_residualising_by_hand(confounded):
    X, y = confounded
    kept = RidgeForwardSelector(4, always_keep=[0], ridge=0.0, clip=None).fit(X, y)
    plain = RidgeForwardSelector(12, ridge=0.0, clip=None).fit(X, y)
    assert plain.path_.features[0] == 0
    assert kept.path_.features.tolist() == plain.path_.features[1:4].tolist()
    np.testing.assert_allclose(kept.coef_, plain.at(4).coef_, atol=1e-8)
