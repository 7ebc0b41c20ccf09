"""Every public selector and meta-selector keeps and leaves out the columns it is told to."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve import (
    BaseSelector,
    ChiSquareSelector,
    EnsembleSelector,
    FisherSelector,
    FStatisticSelector,
    HSICLassoSelector,
    InfFSSelector,
    L0MKLSelector,
    LaplacianScoreSelector,
    MIKFSSelector,
    MRMRSelector,
    PermutationSelector,
    ReliefFSelector,
    RidgeForwardSelector,
    SelectorAdapter,
    SelectorCV,
    ShadowSelector,
    StabilitySelection,
    UDFSSelector,
)

CHEAP = {
    "SelectorCV": {"ks": [4], "cv": 2, "n_repeats": 1},
    "ShadowSelector": {"max_rounds": 10},
    "StabilitySelection": {"n_subsamples": 4},
    "RPMFSSelector": {"tol": 1e-2},
    "PermutationSelector": {"n_repeats": 1, "cv": 2},
}
NAMES = [f"g{j}" for j in range(10)]
KEPT, LEFT_OUT = [7, 3], [0]
PUBLIC = sorted(
    name
    for name, cls in ((n, getattr(sparsieve, n)) for n in sparsieve.__all__)
    if isinstance(cls, type) and issubclass(cls, BaseSelector) and cls is not BaseSelector
)
VARIANTS = {
    "generalised Fisher": FisherSelector(generalized=True),
    "guest": SelectorAdapter(SelectKBest(f_classif)),
    "model": SelectorAdapter(LogisticRegression()),
    "function": SelectorAdapter(f_classif),
    "pipeline": SelectorAdapter(make_pipeline(StandardScaler(with_mean=False), FisherSelector())),
    "inside": SelectorAdapter(RidgeForwardSelector()),
    "mrmr mid": MRMRSelector(criterion="mid"),
    "mrmr cmim": MRMRSelector(criterion="cmim"),
    "mrmr cfs": MRMRSelector(criterion="cfs"),
    "published kernels": MIKFSSelector(solver="published", kernel="rbf", max_iter=20),
    "supervised graph": InfFSSelector(supervised=True),
    "search around a filter": SelectorCV("fisher", ks=[4], cv=2, n_repeats=1),
    "ensemble of filters": EnsembleSelector(["fisher", "relieff", LogisticRegression()]),
}


def made(name):
    found = VARIANTS.get(name)
    return getattr(sparsieve, name)(**CHEAP.get(name, {})) if found is None else clone(found)


def asked(selector, number=4, **params):
    if "n_features_to_select" in selector.get_params(deep=False):
        params["n_features_to_select"] = number
    return selector.set_params(**params)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((60, 10)))
    return X, (X[:, 0] + X[:, 1] > 1.6).astype(int)


# Convergence and few nonzero weights are not what is looked at here.
quiet = pytest.mark.filterwarnings("ignore")
each = pytest.mark.parametrize("name", [*PUBLIC, *VARIANTS])


def test_every_public_selector_takes_both():
    assert len(PUBLIC) > 35
    for name in PUBLIC:
        assert {"always_keep", "never_keep"} <= set(getattr(sparsieve, name)().get_params()), name


@quiet
@pytest.mark.long("every selector of the package is fitted, some with folds")
@pytest.mark.parametrize("kind", ["frame", "dense", "sparse"])
@each
def test_kept_ones_are_kept_and_the_others_left_out(name, kind, data):
    X, y = data
    selector, kept, never = made(name), KEPT, LEFT_OUT
    if kind == "sparse":
        if not selector._accepts_sparse:
            pytest.skip("takes no sparse X")
        X = sparse.csr_array(X)
    if kind == "frame":
        X = pd.DataFrame(X, columns=NAMES)
        kept, never = ([NAMES[j] for j in columns] for columns in (kept, never))
    fitted = asked(selector, always_keep=kept, never_keep=never).fit(X, y)
    assert fitted.support_.sum() == 4
    assert fitted.support_[KEPT].all()
    assert not fitted.support_[LEFT_OUT].any()
    assert sorted(fitted.ranking_[KEPT]) == [1, 2]
    assert fitted.ranking_[0] == 10
    if "n_features_to_select" in fitted.get_params(deep=False):
        assert np.flatnonzero(fitted.at(2).support_).tolist() == sorted(KEPT)


@quiet
@each
def test_wrong_columns_are_told_in_a_sentence(name, data):
    X, y = data
    frame = pd.DataFrame(X, columns=NAMES)
    for params, said in (
        ({"always_keep": ["g77"]}, "'g77' is not a column of X; did you mean 'g7'"),
        ({"never_keep": [10]}, "column 10 does not exist"),
        ({"always_keep": [1], "never_keep": ["g1"]}, "both contain column 1"),
        ({"never_keep": NAMES}, "never_keep contains every feature"),
    ):
        with pytest.raises(ValueError, match=said):
            made(name).set_params(**params).fit(frame, y)


@quiet
@each
def test_nothing_given_changes_nothing(name, data):
    X, y = data
    plain = asked(made(name)).fit(X, y)
    empty = asked(made(name), always_keep=[], never_keep=[]).fit(X, y)
    np.testing.assert_array_equal(plain.scores_, empty.scores_)
    np.testing.assert_array_equal(plain.ranking_, empty.ranking_)


WITHOUT = [
    ChiSquareSelector(),
    FStatisticSelector(),
    FisherSelector(generalized=True),
    HSICLassoSelector(),
    InfFSSelector(),
    L0MKLSelector(max_iter=20),
    LaplacianScoreSelector(),
    MIKFSSelector(kernel="rbf"),
    MRMRSelector(),
    PermutationSelector(n_repeats=2, cv=2),
    ReliefFSelector(),
    UDFSSelector(),
    SelectorAdapter(LogisticRegression()),
    EnsembleSelector(n_features_to_select=3),
    StabilitySelection(n_subsamples=6),
    ShadowSelector(max_rounds=10),
]


@quiet
@pytest.mark.parametrize("selector", WITHOUT, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("always", [None, [7, 4]], ids=["alone", "with kept"])
def test_never_keep_is_the_fit_without_the_columns(selector, always, data):
    X, y = data
    left = np.array([1, 2, 3, 4, 6, 7, 8, 9])
    inside = None if always is None else np.searchsorted(left, always).tolist()
    full = clone(selector).set_params(never_keep=[0, 5], always_keep=always).fit(X, y)
    cut = clone(selector).set_params(always_keep=inside).fit(X[:, left], y)
    assert full.support_[left].tolist() == cut.support_.tolist()
    assert np.argsort(full.ranking_)[:8].tolist() == left[np.argsort(cut.ranking_)].tolist()
    np.testing.assert_allclose(full.scores_[left], cut.scores_, atol=1e-12)
    if hasattr(full, "decision_function"):
        np.testing.assert_allclose(
            full.decision_function(X), cut.decision_function(X[:, left]), atol=1e-9
        )


def test_filters_keep_what_is_best_beside_the_kept_ones(data):
    """Scores and p-values are those of the plain test, also of columns that are kept."""
    X, y = data
    plain = FStatisticSelector(2).fit(X, y)
    kept = FStatisticSelector(3, always_keep=[5]).fit(X, y)
    np.testing.assert_array_equal(kept.scores_, plain.scores_)
    np.testing.assert_array_equal(kept.pvalues_, plain.pvalues_)
    assert set(np.flatnonzero(kept.support_)) == {5, *np.flatnonzero(plain.support_)}
    # Without a number: what the filter keeps by itself, and the kept ones.
    wide = np.hstack([X, X**2])
    own = FStatisticSelector().fit(wide, y).support_
    both = FStatisticSelector(always_keep=[0, 5]).fit(wide, y).support_
    assert set(np.flatnonzero(both)) == {0, 5, *np.flatnonzero(own)}


def test_mrmr_counts_redundancy_with_the_kept_ones():
    """By hand: F divided by the mean absolute correlation with the kept and the picked ones."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 8)) @ rng.standard_normal((8, 8))
    y = (X[:, 0] - X[:, 2] + rng.standard_normal(80) > 0).astype(int)
    F = FStatisticSelector().fit(X, y).scores_
    R = np.abs(np.corrcoef(X.T))
    inside, picked = [6, 1], []
    for _ in range(3):
        worth = F / R[:, inside].mean(axis=1)
        worth[inside] = -np.inf
        picked.append(int(worth.argmax()))
        inside.append(picked[-1])
    found = MRMRSelector(5, always_keep=[6, 1]).fit(X, y)
    assert found.path_.features.tolist() == picked


def test_generalised_fisher_adds_to_the_kept_ones():
    """By hand: what a feature adds to tr[(S_t + ridge I)^-1 S_b], the kept ones without ridge."""
    rng = np.random.default_rng(4)
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 7))
    X[:, :3] += 1.2 * np.eye(3)[y]
    X[:, 3] = X[:, 0] + 0.1 * rng.standard_normal(90)
    Z = (X - X.mean(0)) / X.std(0)
    means = np.array([Z[y == c].mean(0) for c in range(3)])
    between, total = means.T @ means / 3, Z.T @ Z / 90

    def value(columns, kept):
        ridge = np.diag([0.0 if j in kept else 0.1 for j in columns])
        part = np.ix_(columns, columns)
        return np.trace(np.linalg.solve(total[part] + ridge, between[part]))

    inside, picked = [3], []
    for _ in range(2):
        worth = {j: value([*inside, j], [3]) for j in range(7) if j not in inside}
        picked.append(max(worth, key=worth.get))
        inside.append(picked[-1])
    found = FisherSelector(3, generalized=True, always_keep=[3]).fit(X, y)
    assert found.path_.features.tolist() == picked


def test_groups_and_near_copies_go_with_kept_columns(data):
    X, y = data
    X = np.column_stack([X, X[:, 3] + 1e-6 * X[:, 9]])  # a near copy of a kept column
    grouped = FStatisticSelector(
        3, feature_groups={"pair": [3, 4]}, always_keep=[3], never_keep=[0], max_correlation=0.99
    ).fit(X, y)
    assert grouped.support_[[3, 4]].all()
    assert not grouped.support_[0]
    assert grouped.group_support_.sum() == 3
    alone = FisherSelector(4, always_keep=[3], never_keep=[1], max_correlation=0.99).fit(X, y)
    assert alone.support_[3]
    assert not alone.support_[[1, 10]].any()
    assert 10 in {j for j, _ in alone.passed_over_.get(3, [])} or alone.ranking_[10] > 4


def test_meta_selectors_add_to_what_the_inner_one_keeps(data):
    X, y = data
    inner = RidgeForwardSelector(always_keep=[2])
    found = SelectorCV(inner, ks=[3], cv=2, n_repeats=1, always_keep=[5], never_keep=[0]).fit(X, y)
    assert found.support_[[2, 5]].all()
    assert not found.support_[0]
    assert found.selector_.always_keep == [2, 5]


def test_bounds_of_stable_features_are_about_the_open_ones(data):
    X, y = data
    kept = StabilitySelection(n_subsamples=6, always_keep=[7], never_keep=[0]).fit(X, y)
    cut = StabilitySelection(n_subsamples=6).fit(np.delete(X, [0, 7], axis=1), y)
    assert kept.error_bounds_ == cut.error_bounds_
    assert kept.selection_probabilities_[7] == 1.0
    assert kept.selection_probabilities_[0] == 0.0
    assert "of 8 features" in kept.summary()
    with pytest.raises(ValueError, match="leave no feature for StabilitySelection to test"):
        StabilitySelection(always_keep=list(range(10))).fit(X, y)


def test_shadows_test_only_the_open_ones(data):
    X, y = data
    found = ShadowSelector(max_rounds=10, always_keep=[7], never_keep=[0]).fit(X, y)
    assert found.decisions_[[0, 7]].tolist() == ["not tested"] * 2
    assert found.rounds_[[0, 7]].tolist() == [0, 0]
    assert np.isfinite(found.importances_).all()
    assert "of 8 features" in found.summary()
    with pytest.raises(ValueError, match="give always_keep to ShadowSelector itself"):
        ShadowSelector(RidgeForwardSelector(always_keep=[1])).fit(X, y)


def test_what_ranks_nothing_cannot_make_room(data):
    X, y = data[0][:, :6], data[1]
    guest = SequentialFeatureSelector(RidgeClassifier(), n_features_to_select=2, cv=2)
    fitted = SelectorAdapter(guest, n_features_to_select=2, never_keep=[0, 1]).fit(X, y)
    assert not fitted.support_[[0, 1]].any()
    assert not fitted.at(3).support_[[0, 1]].any()
    with pytest.raises(ValueError, match="beside those of always_keep; leave always_keep out"):
        SelectorAdapter(guest, n_features_to_select=2, always_keep=[5]).fit(X, y)
