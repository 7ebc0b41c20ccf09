"""ShadowSelector: hits by hand, decisions, noise, and what it takes."""

import re
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse, stats
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import FisherSelector, ShadowSelector
from sparsieve.selectors.around import estimator_tags


def correlations(X, y):
    """A quick judge of features: absolute correlations, 0 of constant columns."""
    X, y = X - X.mean(axis=0), y - y.mean()
    spread = np.sqrt((X**2).sum(axis=0) * (y @ y))
    return np.divide(np.abs(X.T @ y), spread, out=np.zeros(X.shape[1]), where=spread > 0)


def make(seed, n=80, d=30, n_relevant=3, signal=1.2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = rng.permutation(np.arange(n) % 2)
    X[:, :n_relevant] += signal * y[:, None]
    return X, y


def test_hits_and_decisions_by_hand():
    X, y = make(0, signal=0.8)
    found = ShadowSelector(correlations, max_rounds=40, hit_rate=0.6).fit(X, y)
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=40)
    hits, kinds = np.zeros(30, dtype=int), np.full(30, "undecided", dtype="<U9")
    taking_part, active = np.zeros(30, dtype=int), np.ones(30, dtype=bool)
    for r, seed in enumerate(seeds, start=1):
        if (kinds != "undecided").all():
            break
        copies = X[np.random.RandomState(seed).permutation(80)]
        hits[active] += (correlations(X, y) > correlations(copies, y).max())[active]
        taking_part += active
        if r % 10 == 0:
            for j in np.flatnonzero(kinds == "undecided"):
                if stats.binomtest(hits[j], r, 0.6, "greater").pvalue <= 0.05 / (30 * 4):
                    kinds[j] = "confirmed"
                elif stats.binomtest(hits[j], r, 0.6, "less").pvalue <= 0.05 / (30 * 4):
                    kinds[j] = "rejected"
            active = kinds != "rejected"
    np.testing.assert_array_equal(found.hits_, hits)
    np.testing.assert_array_equal(found.rounds_, taking_part)
    np.testing.assert_array_equal(found.decisions_, kinds)
    assert len(set(kinds)) > 1
    np.testing.assert_array_equal(found.scores_, hits / taking_part)


def test_relevant_features_are_confirmed_early_and_ranked_first():
    X, y = make(1, signal=2.0)
    found = ShadowSelector(correlations).fit(X, y)
    assert found.get_support(indices=True).tolist() == [0, 1, 2]
    assert found.n_rounds_ < 100
    assert set(np.argsort(found.ranking_)[:3]) == {0, 1, 2}
    assert found.at(5).support_.sum() == 5
    assert found.at(5).support_[:3].all()
    assert found.at(None).support_.sum() == 3
    assert "3 of 30 features are better than noise" in found.summary()
    assert "no false discovery rate" in found.summary()


@pytest.mark.slow
def test_noise_is_confirmed_no_more_often_than_said():
    """In about a fifth of noise data sets at hit_rate=0.8."""
    times = 0
    for seed in range(25):
        X, y = make(seed, n=40, d=8, n_relevant=0)
        found = ShadowSelector(correlations, n_features_to_select=1, random_state=seed).fit(X, y)
        times += (found.decisions_ == "confirmed").any()
    assert times <= 10


def test_the_number_of_jobs_changes_nothing():
    X, y = make(2, n=40, d=6)
    trees = ExtraTreesClassifier(5, max_depth=3)
    with parallel_config("threading"):
        one, two = (ShadowSelector(trees, max_rounds=20, n_jobs=k).fit(X, y) for k in (1, 2))
    np.testing.assert_array_equal(one.hits_, two.hits_)
    np.testing.assert_array_equal(one.importances_, two.importances_)


def test_sparse_equals_dense():
    X, y = make(3)
    X[np.abs(X) < 1] = 0.0
    dense = ShadowSelector(FisherSelector(), max_rounds=10).fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        thin = ShadowSelector(FisherSelector(), max_rounds=10).fit(kind(X), y)
        np.testing.assert_array_equal(thin.decisions_, dense.decisions_)


def test_weights_reach_the_estimator():
    X, y = make(4)
    weights = np.ones(80)
    weights[:40] = 0.0  # as if those samples were not there
    found = ShadowSelector(FisherSelector(), max_rounds=10).fit(X, y, weights)
    alone = ShadowSelector(FisherSelector(), max_rounds=10).fit(X[40:], y[40:])
    np.testing.assert_array_equal(found.hits_, alone.hits_)
    with pytest.raises(ValueError, match=r"sample_weight was given but .* does not take it"):
        ShadowSelector(correlations).fit(X, y, weights + 1)


def test_models_pipelines_and_numbers():
    X, y = make(5, n=60, d=8, n_relevant=1, signal=3.0)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    assert ShadowSelector(model).fit(X, y).support_[0]
    target = X[:, 0] + 0.1 * X[:, 1]
    trees = ExtraTreesRegressor(10, max_depth=3)
    assert ShadowSelector(trees, max_rounds=50).fit(X, target).support_[0]


def test_odd_columns():
    """Copies of a column stand or fall together; constant, rare and one-hot ones are no trouble."""
    X, y = make(6, signal=2.0)
    X[:, 1] = X[:, 0]
    X[:, 5] = 1.0
    X[:, 6] = np.arange(80) == 3
    X[:, 7:10] = np.eye(3)[np.arange(80) % 3]
    found = ShadowSelector(correlations).fit(X, y)
    assert found.decisions_[[0, 1]].tolist() == ["confirmed"] * 2
    assert found.decisions_[[5, 6]].tolist() == ["rejected"] * 2
    rare = np.where(np.arange(80) < 3, 2, y)
    assert ShadowSelector(FisherSelector(), max_rounds=20).fit(X, rare).n_rounds_ > 0


def test_nothing_is_said_in_a_sentence():
    X, y = make(7, n_relevant=0)
    with pytest.warns(UserWarning, match="no feature was confirmed to be more important than"):
        empty = ShadowSelector(correlations, hit_rate=0.9).fit(X, y)
    assert not empty.support_.any()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"significance": 0.0}, "significance must be positive"),
        ({"significance": 1.0}, "significance must be below 1"),
        ({"hit_rate": 1}, "hit_rate must be below 1"),
        ({"max_rounds": 0}, "max_rounds must be at least 1"),
        ({"selector": FisherSelector}, None),
    ],
)
def test_bad_parameters(parameters, words):
    X, y = make(8, n=20, d=4)
    if words is None:
        assert ShadowSelector(max_rounds=10, **parameters).fit(X, y).n_rounds_ == 10
    else:
        with pytest.raises(ValueError, match=words):
            ShadowSelector(**parameters).fit(X, y)


@pytest.mark.filterwarnings("error::DeprecationWarning")
def test_a_function_has_no_tags_and_gets_sparse_data_on_every_scikit_learn():
    assert estimator_tags(lambda X, y: np.ones(X.shape[1])).input_tags.sparse


def test_copies_of_groups_get_the_rows_of_another_group():
    seen, groups = [], np.repeat(np.arange(10), [2, 3] * 5)
    y = (np.arange(10) % 2)[groups]
    X = groups[:, None] + np.array([0.0, 100.0])

    def judge(both, y):
        seen.append(both[:, 2])
        return np.zeros(both.shape[1])

    found = ShadowSelector(judge, n_features_to_select=1, max_rounds=10).fit(X, y, groups=groups)
    assert found.n_rounds_ == 10
    for copy in seen:
        assert all(len(set(copy[groups == group].tolist())) == 1 for group in range(10))
    assert any((copy != X[:, 0]).any() for copy in seen)


def test_groups_of_samples_without_weight_are_left_out():
    X, y = make(4)
    weights, groups = np.ones(80), np.arange(80) // 2
    weights[:40] = 0.0
    settings = {"n_features_to_select": 1, "max_rounds": 10}
    found = ShadowSelector(FisherSelector(), **settings).fit(X, y, weights, groups=groups)
    alone = ShadowSelector(FisherSelector(), **settings).fit(X[40:], y[40:], groups=groups[40:])
    np.testing.assert_array_equal(found.hits_, alone.hits_)


@pytest.mark.parametrize("settings", [{"max_rounds": 20}, {"hit_rate": 0.95}])
def test_rounds_that_can_confirm_nothing_are_said_before_them(settings):
    """Features that always win: as many rounds as the sentence says confirm them, not one less."""
    noise, y = np.random.default_rng(0).standard_normal((40, 5)), np.arange(40) % 2

    def judge(X, y):
        said.append(len(caught))
        return np.r_[3.0, 2.0, np.linspace(0.0, 1.0, X.shape[1] - 2)]

    said: list[int] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ShadowSelector(judge, **settings).fit(noise, y)
    assert said[0] == 1  # before the first round, and nothing more after the last one
    assert len(caught) == 1
    sentence = str(caught[0].message)
    assert "can confirm none of 5 features, not even one with a hit in every round" in sentence
    assert (found.decisions_ != "confirmed").all()
    needed = int(re.search(r"; max_rounds=(\d+) can", sentence).group(1))
    for n_rounds, n_confirmed in ((needed - 1, 0), (needed, 2)):
        selector = ShadowSelector(judge, **settings | {"max_rounds": n_rounds})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if n_confirmed == 0 else "error")
            decisions = selector.fit(noise, y).decisions_
        assert (decisions == "confirmed").sum() == n_confirmed
