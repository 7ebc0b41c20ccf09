"""EnsembleSelector and the ways to aggregate ranks."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_wine, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from sparsieve import (
    EnsembleSelector,
    FisherSelector,
    L21Selector,
    RidgeForwardSelector,
    load,
    save,
)
from sparsieve.meta.ensemble import AGGREGATIONS, borda, mean_rank, median_rank, robust_rank


@pytest.fixture
def wine():
    return load_wine(return_X_y=True)


def random_rankings(rng, m, d):
    return np.array([rng.permutation(d) + 1 for _ in range(m)])


def test_robust_rank_against_its_definition(rng):
    rankings = random_rankings(rng, 4, 9)
    wanted = []
    for column in rankings.T:
        ordered = np.sort(column / 9)
        wanted.append(min(stats.beta.cdf(ordered[j - 1], j, 4 - j + 1) for j in range(1, 5)))
    np.testing.assert_allclose(10 ** -robust_rank(rankings, 9), wanted)


def test_order_statistics_of_ranks_follow_the_beta_law():
    """The chance behind rho, by brute force: P(j-th smallest of m ranks <= r) over all lists."""
    d, m = 6, 3
    lists = np.sort(np.array(list(itertools.product(range(1, d + 1), repeat=m))), axis=1)
    for j in range(1, m + 1):
        for r in range(1, d + 1):
            share = (lists[:, j - 1] <= r).mean()
            assert share == pytest.approx(stats.beta.cdf(r / d, j, m - j + 1))


@settings(max_examples=50, deadline=None)
@given(m=st.integers(1, 6), d=st.integers(2, 20), seed=st.integers(0, 1000))
@pytest.mark.parametrize("name", AGGREGATIONS)
def test_unanimity_and_symmetry(name, m, d, seed):
    """All selectors agree: so does the ensemble. The order of selectors does not matter."""
    rng = np.random.default_rng(seed)
    aggregate = AGGREGATIONS[name]
    one = rng.permutation(d) + 1
    scores = aggregate(np.tile(one, (m, 1)), d)
    assert (np.diff(scores[np.argsort(one)]) < 0).all()
    rankings = random_rankings(rng, m, d)
    np.testing.assert_allclose(aggregate(rankings, d), aggregate(rankings[::-1], d))


def test_aggregations_differ_where_they_should():
    # Feature 0: best for two, worst for one; feature 1: always second.
    rankings = np.array([[1, 2, 3, 4, 5, 6], [1, 2, 6, 5, 4, 3], [6, 2, 1, 3, 4, 5]])
    assert mean_rank(rankings, 6)[1] > mean_rank(rankings, 6)[0]
    assert median_rank(rankings, 6)[0] > median_rank(rankings, 6)[1]
    assert borda(rankings, 1).tolist() == [2, 0, 1, 0, 0, 0]
    assert robust_rank(rankings, 6).argmax() == 1


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_rankings_are_those_of_the_members(aggregation, wine):
    X, y = wine
    members = [RidgeForwardSelector(), FisherSelector(), LinearDiscriminantAnalysis()]
    fitted = EnsembleSelector(members, n_features_to_select=4, aggregation=aggregation).fit(X, y)
    np.testing.assert_array_equal(
        fitted.rankings_[0], RidgeForwardSelector(n_features_to_select=8).fit(X, y).ranking_
    )
    np.testing.assert_array_equal(fitted.rankings_[1], FisherSelector().fit(X, y).ranking_)
    np.testing.assert_array_equal(fitted.scores_, AGGREGATIONS[aggregation](fitted.rankings_, 8))
    assert fitted.support_.sum() == 4
    assert len(fitted.selectors_) == 3
    assert hasattr(fitted, "p_values_") == (aggregation == "rra")
    assert not hasattr(members[0], "ranking_")


def test_n_ranked_is_what_members_are_asked_for(wine):
    X, y = wine
    fitted = EnsembleSelector(aggregation="borda", n_ranked=5).fit(X, y)
    assert all(m.n_features_to_select == 5 for m in fitted.selectors_)
    assert fitted.scores_.sum() == 3 * (5 + 4 + 3 + 2 + 1)


def test_defaults(wine):
    fitted = EnsembleSelector().fit(*wine)
    kinds = [RidgeForwardSelector, RidgeForwardSelector, L21Selector]
    assert [type(s) for s in fitted.selectors_] == kinds
    first, second = fitted.selectors_[:2]
    assert (first.ridge, second.ridge) == ("auto", 3.0 * first.ridge_)
    assert fitted.score_meaning.startswith("Borda points")
    X, y, truth = make_regression(60, 40, n_informative=3, coef=True, random_state=0)
    numbers = EnsembleSelector(n_features_to_select=3).fit(X, y)
    assert [type(s) for s in numbers.selectors_] == kinds
    assert numbers.support_[np.argsort(-truth)[:2]].all()


def test_parallel_gives_the_same(wine):
    alone = EnsembleSelector().fit(*wine)
    with parallel_config("threading"):
        together = EnsembleSelector(n_jobs=2).fit(*wine)
    np.testing.assert_array_equal(alone.ranking_, together.ranking_)


def test_sample_weight_reaches_everybody(wine, rng):
    X, y = wine
    weights = rng.uniform(0.1, 2.0, len(y))
    fitted = EnsembleSelector([FisherSelector(), RidgeForwardSelector()]).fit(X, y, weights)
    wanted = FisherSelector().fit(X, y, sample_weight=weights).ranking_
    np.testing.assert_array_equal(fitted.rankings_[0], wanted)
    members = [FisherSelector(), KNeighborsClassifier()]
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit does not take it"):
        EnsembleSelector(members).fit(X, y, weights)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"selectors": []}, "at least one selector"),
        ({"selectors": "fisher"}, "must be a list"),
        ({"aggregation": "max"}, "one of 'mean', 'median', 'borda', 'rra'"),
        ({"n_ranked": 0}, "at least 1"),
        ({"n_ranked": 14}, "larger than the 13 features"),
        ({"selectors": [KNeighborsClassifier()]}, "does not say how important"),
    ],
)
def test_bad_parameters(wine, parameters, message):
    with pytest.raises(ValueError, match=message):
        EnsembleSelector(**parameters).fit(*wine)


def test_names_reach_the_members(wine, tmp_path):
    X, y = wine
    pairs = [("l21", L21Selector()), ("fisher", FisherSelector())]
    ensemble = EnsembleSelector(pairs, n_features_to_select=3)
    ensemble.set_params(l21__alpha=0.7, fisher=RidgeForwardSelector(ridge=2.0))
    assert ensemble.get_params()["l21__alpha"] == 0.7
    assert [name for name, _ in ensemble.selectors] == ["l21", "fisher"]
    assert ensemble.selectors[1][1].ridge == 2.0
    assert pairs[1][1].__class__ is FisherSelector  # the given list stays as it is
    copied = clone(ensemble).fit(X, y)
    plain = EnsembleSelector([m for _, m in ensemble.selectors], n_features_to_select=3).fit(X, y)
    np.testing.assert_array_equal(copied.scores_, plain.scores_)
    assert copied.named_selectors_.l21 is copied.selectors_[0]
    save(copied, tmp_path / "ensemble.sparsieve")
    loaded = load(tmp_path / "ensemble.sparsieve")
    np.testing.assert_array_equal(loaded.transform(X), copied.transform(X))
    assert loaded.get_params()["l21__alpha"] == 0.7


def test_a_search_over_a_named_member(wine):
    X, y = wine
    steps = [("l21", L21Selector()), ("fisher", FisherSelector())]
    chain = make_pipeline(EnsembleSelector(steps, n_features_to_select=2), GaussianNB())
    search = GridSearchCV(chain, {"ensembleselector__l21__alpha": [0.1, 10.0]}, cv=2).fit(X, y)
    assert search.best_params_["ensembleselector__l21__alpha"] in (0.1, 10.0)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "a"), "two selectors are called 'a'"),
        (("a__b", "c"), "two underscores"),
        (("n_jobs", "c"), "is a parameter of the ensemble"),
    ],
)
def test_names_that_cannot_be(wine, names, message):
    pairs = [(name, FisherSelector()) for name in names]
    with pytest.raises(ValueError, match=message):
        EnsembleSelector(pairs).fit(*wine)
