"""Guests select what they select by themselves, at every number of features."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFdr,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    chi2,
    f_classif,
    f_regression,
)
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, lasso_path
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve import (
    EnsembleSelector,
    RidgeForwardSelector,
    SelectorAdapter,
    SelectorCV,
    StabilitySelection,
    compare,
    select,
)
from sparsieve.selectors.methods import as_selector

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X[:, :8])
RIDGE = Ridge()
FOREST = RandomForestClassifier(8, random_state=0)


def separation(X, y):
    """A user's function: how far the means of the classes are apart."""
    means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
    return means.max(axis=0) - means.min(axis=0)


def kept(selector):
    return selector.get_support(indices=True).tolist()


# -- the guest alone, told the number by its own parameter, is the other computation --------------

TOLD = {
    "SelectKBest": (SelectKBest(), lambda k: SelectKBest(k=k)),
    "RFE": (RFE(RIDGE), lambda k: RFE(RIDGE, n_features_to_select=k)),
    "RFE by threes": (RFE(RIDGE, step=3), lambda k: RFE(RIDGE, n_features_to_select=k, step=3)),
    "RFECV": (RFECV(RIDGE, cv=2), lambda k: RFE(RIDGE, n_features_to_select=k)),
    "one after the other": (
        SequentialFeatureSelector(GaussianNB(), cv=2),
        lambda k: SequentialFeatureSelector(GaussianNB(), cv=2, n_features_to_select=k),
    ),
    "SelectFromModel": (
        SelectFromModel(FOREST),
        lambda k: SelectFromModel(FOREST, max_features=k, threshold=-np.inf),
    ),
    "forest": (FOREST, lambda k: SelectFromModel(FOREST, max_features=k, threshold=-np.inf)),
    "ridge-forward in a pipeline": (
        make_pipeline(StandardScaler(), RidgeForwardSelector()),
        lambda k: RidgeForwardSelector(k),
    ),
}


@pytest.mark.long("a sequential search fits many models")
@pytest.mark.parametrize("case", TOLD)
def test_at_any_number_the_guest_keeps_what_it_keeps_when_told(case):
    guest, told = TOLD[case]
    y = Y.astype(float) + 0.1 * X[:, 0] if "RFE" in case else Y
    ks = (1, 3) if "other" in case else (1, 2, 4, 6)
    fitted = SelectorAdapter(guest).reaching(ks[-1]).fit(X, y)
    for k in ks:
        wanted = told(k).fit(X, y).get_support()
        found = fitted.at(k)
        np.testing.assert_array_equal(found.support_, wanted, err_msg=str(k))
        np.testing.assert_array_equal(found.support_, found.ranking_ <= k)
    if fitted.n_ranked_ == 8:
        assert kept(fitted.at(8)) == list(range(8))


@pytest.mark.parametrize(
    "guest",
    [
        SelectKBest(k=3),
        SelectPercentile(percentile=40),
        SelectFdr(alpha=1e-9),
        RFE(LogisticRegression()),
        RFE(LogisticRegression(), n_features_to_select=0.4, step=2),
        RFECV(LogisticRegression(), cv=2),
        SelectFromModel(FOREST),
        SequentialFeatureSelector(GaussianNB(), n_features_to_select=2, cv=2),
    ],
    ids=lambda guest: type(guest).__name__,
)
@pytest.mark.long("a sequential search fits many models")
def test_without_a_number_the_guest_keeps_its_own(guest):
    found = SelectorAdapter(guest).fit(X, Y)
    assert kept(found) == kept(clone(guest).fit(X, Y))
    assert kept(found.at(2).at(None)) == kept(found)


def test_models_keep_what_scikit_learn_would():
    for model in (FOREST, Lasso(0.05), LogisticRegression()):
        y = X[:, 1] - X[:, 2] + 0.3 if isinstance(model, Lasso) else Y
        wanted = SelectFromModel(clone(model)).fit(X, y)
        assert kept(SelectorAdapter(model).fit(X, y)) == kept(wanted)


class LassoPath(BaseEstimator):
    """Keeps the coefficients of every strength, as CoxnetSurvivalAnalysis does."""

    def __init__(self, n_alphas=8):
        self.n_alphas = n_alphas

    def fit(self, X, y):
        self.alphas_, self.coef_, _ = lasso_path(
            X, y, alphas=np.geomspace(0.9, 0.09, self.n_alphas)
        )
        return self


@pytest.mark.parametrize("n_alphas", [6, 8])  # 8 is the number of features, too
def test_a_path_of_models_ranks_features_by_their_entry(n_alphas):
    y = X[:, 1] - 0.6 * X[:, 2] + 0.3 * X[:, 5]
    found = SelectorAdapter(LassoPath(n_alphas)).fit(X, y)
    last = Lasso(0.09, fit_intercept=False).fit(X, y - y.mean())
    assert kept(found) == np.flatnonzero(last.coef_).tolist()
    for k in range(1, len(kept(found)) + 1):
        for alpha in np.geomspace(0.9, 0.09, n_alphas):
            model = Lasso(alpha, fit_intercept=False).fit(X, y - y.mean())
            if (model.coef_ != 0).sum() == k:
                assert kept(found.at(k)) == np.flatnonzero(model.coef_).tolist()
    assert kept(found.at(1)) == [1]
    with pytest.warns(UserWarning, match="several features the same rank"):
        found.at(len(kept(found)) + 1)


# -- cost -------------------------------------------------------------------------------------


class Counting(SequentialFeatureSelector):
    fits = 0

    def fit(self, X, y=None, **params):
        Counting.fits += 1
        return super().fit(X, y, **params)


@pytest.mark.long("a sequential search fits many models")
def test_what_has_no_ranking_is_fitted_for_every_number_and_says_so():
    Counting.fits = 0
    folds = [(np.arange(0, 178, 2), np.arange(1, 178, 2))]
    said = r"Counting has no ranking; .* every number of features \(3 fits instead of 1\)"
    with pytest.warns(UserWarning, match=said):
        search = SelectorCV(Counting(GaussianNB(), cv=2), ks=[1, 2, 3], cv=folds).fit(X, Y)
    assert Counting.fits == 3 + 1 + (search.best_k_ != 3)  # in the fold, for all, at the chosen
    with pytest.raises(ValueError, match="Counting only selects features and does not rank"):
        EnsembleSelector([Counting(GaussianNB(), cv=2)], n_features_to_select=2).fit(X, Y)


def test_a_ranking_costs_one_fit(monkeypatch):
    fits, fit = [], RFE.fit
    monkeypatch.setattr(RFE, "fit", lambda self, *args, **kw: fits.append(1) or fit(self, *args))
    fitted = SelectorAdapter(RFE(LogisticRegression())).reaching(5).fit(X, Y)
    [fitted.at(k) for k in range(1, 9)]
    assert len(fits) == 1


@pytest.mark.long("a sequential search fits many models")
def test_a_pickled_guest_without_ranking_knows_the_numbers_it_was_fitted_for():
    fitted = SelectorAdapter(SequentialFeatureSelector(GaussianNB(), cv=2)).reaching(3).fit(X, Y)
    two = kept(fitted.at(2))
    loaded = pickle.loads(pickle.dumps(fitted))
    assert kept(loaded.at(2)) == two
    with pytest.raises(ValueError, match="fitted again for 4 features, but a selector that was"):
        loaded.at(4)
    assert len(pickle.dumps(fitted)) < X.nbytes


# -- what guests say --------------------------------------------------------------------------


class Duck:
    """No scikit-learn at all: keeps what has small scores, and may say how many."""

    def __init__(self, n_features_to_select=None):
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y):
        self.scores_ = -f_classif(X, y)[0]  # smaller is better
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[np.argsort(self.scores_)[: self.n_features_to_select or 3]] = True


def test_scores_that_contradict_the_selection_rank_nothing():
    found = SelectorAdapter(Duck()).fit(X, Y)
    assert kept(found) == kept(SelectKBest(k=3).fit(X, Y))
    assert found.scores_.tolist() == found.support_.astype(float).tolist()
    with pytest.raises(ValueError, match="Duck keeps 3 features and cannot be asked for 2"):
        found.at(2)


class Tied(BaseEstimator):
    def fit(self, X, y):
        self.ranking_ = np.array([1, 2, 1, 2, 1, 3, 3, 3])
        return self


def test_ties_that_nothing_decides_are_said():
    fitted = SelectorAdapter(Tied()).reaching(3).fit(X, Y)
    assert kept(fitted) == [0, 2, 4]
    with pytest.warns(UserWarning, match="Tied gives several features the same rank; .* 2 best"):
        assert kept(fitted.at(2)) == [0, 2]


def test_a_function_of_the_user_ranks_by_what_it_returns():
    fitted = as_selector(separation).reaching(2).fit(X, Y)
    assert kept(fitted) == sorted(np.argsort(-separation(X, Y))[:2])
    np.testing.assert_array_equal(fitted.scores_, separation(X, Y))
    assert fitted.score_meaning.startswith("What separation returns")
    tested = as_selector(f_classif).fit(X, Y)
    np.testing.assert_array_equal(tested.pvalues_, f_classif(X, Y)[1])


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (np.ones(3), r"bad must return one number for each of the 8 features of X, got .*\(3,\)"),
        (np.ones((8, 2)), r"got an array of shape \(8, 2\)"),
        (["a"] * 8, "bad must return one number .* got list"),
        (None, "bad must return one number"),
        (np.arange(8) > 3, "bad returned True and False, which rank nothing"),
        (np.full(8, np.nan), "bad returned NaN for every feature"),
    ],
)
def test_what_a_function_may_not_return_is_said_in_a_sentence(returned, sentence):
    def bad(X, y):
        return returned

    with pytest.raises(ValueError, match=sentence):
        as_selector(bad).fit(X, Y)


@pytest.mark.parametrize(
    ("returned", "sentence", "best"),
    [
        (np.r_[np.nan, 1.0:8.0], "odd returned NaN for 1 of 8 features", 7),
        (np.ones(8), "odd returned the same score for every feature", 0),
        (np.arange(-4.0, 4.0), "odd returned a negative score for 4 of 8 features", 7),
    ],
)
def test_odd_scores_are_used_and_said(returned, sentence, best):
    def odd(X, y):
        return returned

    with pytest.warns(UserWarning, match=sentence):
        fitted = as_selector(odd).reaching(1).fit(X, Y)
    assert kept(fitted) == [best]
    assert np.isfinite(fitted.scores_).all()


def test_nan_for_constant_columns_is_expected(recwarn):
    wide = np.c_[np.ones(len(X)), X]
    assert not as_selector(f_classif).reaching(8).fit(wide, Y).support_[0]
    assert not [one for one in recwarn if "NaN" in str(one.message)]


# -- what passes through ------------------------------------------------------------------------


def test_weights_reach_guests_that_take_them():
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(Y))
    model = LogisticRegression()
    wanted = clone(model).fit(X, Y, sample_weight=weights).coef_
    found = SelectorAdapter(model).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(found.scores_, np.linalg.norm(wanted, axis=0))
    inner = SelectorAdapter(RFE(RIDGE)).fit(X, X[:, 0] + 0.1 * X[:, 1], sample_weight=weights)
    assert kept(inner.at(1)) == [0]
    for guest, name in ((SelectKBest(), r"SelectKBest\.fit"), (separation, "a function")):
        with pytest.raises(ValueError, match=f"sample_weight was given but {name} does not take"):
            SelectorAdapter(guest).fit(X, Y, sample_weight=weights)


def test_targets_that_a_guest_would_misread_are_refused():
    numbers = X[:, 0] + 0.1 * np.sin(np.arange(len(X)))
    for guest in (SelectKBest(), chi2, FOREST, SelectFromModel(FOREST)):
        with pytest.raises(ValueError, match="class labels"):
            select(X, numbers, k=2, method=guest, check=False)
    assert select(X, numbers, k=1, method=f_regression, check=False).features == ["x0"]
    ages = np.round(40 + 20 * X[:, 0] + 0.5 * np.arange(len(X)) % 7)
    assert select(X, ages, k=1, method=f_regression, check=False).features == ["x0"]


@pytest.mark.needs_sklearn("1.7", "SelectKBest of scikit-learn 1.6 takes no sparse arrays")
def test_sparse_and_missing_values_as_the_guest_says():
    from scipy import sparse

    assert SelectorAdapter(SelectKBest())._accepts_sparse
    assert not SelectorAdapter(GaussianNB())._accepts_sparse
    assert SelectorAdapter(FOREST)._accepts_nan
    assert not SelectorAdapter(separation)._accepts_nan
    counts = np.where(X > 0, np.round(3 * X), 0)
    dense, thin = (as_selector(chi2).fit(one, Y) for one in (counts, sparse.csr_array(counts)))
    np.testing.assert_allclose(dense.scores_, thin.scores_)


def test_the_same_seed_gives_the_same_answer():
    guest = SelectFromModel(RandomForestClassifier(5, random_state=3))
    one, two = (StabilitySelection(guest, n_subsamples=4).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(one.scores_, two.scores_)


def test_saving_a_guest_or_saying_why_not(tmp_path):
    fitted = SelectorAdapter(LogisticRegression(), n_features_to_select=3).fit(X, Y)
    sparsieve.save(fitted, tmp_path / "guest.sparsieve")
    loaded = sparsieve.load(tmp_path / "guest.sparsieve")
    np.testing.assert_array_equal(loaded.at(2).transform(X), fitted.at(2).transform(X))
    with pytest.raises(TypeError, match=r"cannot save .* it contains sklearn\..*f_classif"):
        sparsieve.save(SelectorAdapter(SelectKBest()).fit(X, Y), tmp_path / "other.sparsieve")


# -- where methods are taken ---------------------------------------------------------------------


def test_compare_names_guests_and_leaves_out_those_that_fail():
    found = compare(
        X,
        Y,
        [SelectKBest(k=3), separation, ("trees", FOREST), KNeighborsClassifier, "fisher"],
        ks=[1, 3],
        cv=2,
        n_repeats=1,
    )
    assert list(found.methods) == ["SelectKBest", "separation", "trees", "fisher"]
    assert "does not say how important features are" in found.left_out["KNeighborsClassifier"]
    assert found.methods["SelectKBest"].parameters["k"] == 3
    with pytest.raises(ValueError, match="two methods are called 'SelectKBest'"):
        compare(X, Y, [SelectKBest(), SelectKBest(chi2)])


def test_select_takes_classes_functions_and_their_parameters():
    selected = select(X, Y, k=2, method=SelectKBest, score_func=f_classif, check=False)
    assert "2 of 8 features by SelectKBest" in str(selected)
    assert kept(selected.selector) == kept(SelectKBest(k=2).fit(X, Y))

    def powered(X, y, power=1):
        return separation(X, y) ** power

    one = select(X, Y, k=2, method=powered, power=3, check=False)
    np.testing.assert_allclose(one.selector.scores_, separation(X, Y) ** 3)
    with pytest.raises(TypeError, match=r"RFE cannot be made .*estimator.*; pass an instance"):
        select(X, Y, k=2, method=RFE)
    with pytest.raises(ValueError, match="SelectKBest has no parameter 'kk'; did you mean k"):
        select(X, Y, k=2, method=SelectKBest(), kk=3)


@pytest.mark.long("writes a report")
def test_a_report_calls_a_guest_by_its_name(tmp_path):
    pytest.importorskip("jinja2")
    selected = select(X, Y, k=2, method=separation, check=False)
    selected.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<title>2 features selected by separation</title>" in page
    assert "selector=separation" in page
    assert "<function" not in page
    assert "&lt;function" not in page


def test_meta_selectors_take_names_classes_and_functions():
    for given in ("f-statistic", sparsieve.FStatisticSelector, separation):
        assert kept(StabilitySelection(given, n_subsamples=4, n_features_to_select=2).fit(X, Y))
    votes = EnsembleSelector([separation, ("f", "fisher")], n_features_to_select=2).fit(X, Y)
    assert votes.rankings_.shape == (2, 8)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize(
    "settings", [{}, {"max_features": 5}, {"threshold": "median"}, {"norm_order": 2}]
)
def test_a_model_ranks_by_the_importances_that_its_selector_goes_by(n_classes, settings):
    """SelectFromModel adds up the coefficients of classes in a way of its own."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(60, 300))
    labels = np.array(["a", "b", "c", "d"])[rng.integers(0, n_classes, 60)]
    guest = SelectFromModel(LogisticRegression(), **settings)
    found = SelectorAdapter(guest, n_features_to_select=5).fit(columns, labels)
    fitted = LogisticRegression().fit(columns, labels)
    sizes = np.linalg.norm(fitted.coef_, axis=0, ord=settings.get("norm_order", 1))
    assert kept(found) == sorted(np.argsort(-sizes)[:5].tolist())
    assert kept(found.at(40)) == sorted(np.argsort(-sizes)[:40].tolist())
