"""Survival times and counts in the search for the number of features and in its checks."""

from dataclasses import dataclass

import numpy as np
import pytest

from sparsieve import (
    BaseSelector,
    EnsembleSelector,
    FeatureScores,
    LikelihoodForwardSelector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
    load,
    save,
)
from sparsieve.meta.held_out import HeldOutCheck, held_out_check
from sparsieve.scoring import concordance_index, martingale_residuals
from sparsieve.validation.survival import as_survival


@dataclass(eq=False, repr=False, kw_only=True)
class ScoreTest(BaseSelector):
    """The correlation of every feature with the martingale residuals."""

    task: str = "auto"
    _accepts_survival = True

    def _fit(self, data):
        X, y = data.arrays()
        residuals = martingale_residuals(y)
        return FeatureScores(np.abs((X - X.mean(0)).T @ residuals) / X.std(0), n_kept=3)


@pytest.fixture(scope="module")
def timed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 20))
    time = rng.exponential(np.exp(-X[:, 3] - X[:, 7]))
    end = rng.exponential(2.0, 150)
    return X, as_survival((np.minimum(time, end), time <= end))


def test_the_number_of_features_is_found_by_concordance(timed):
    X, y = timed
    search = SelectorCV(ScoreTest(), ks=[1, 2, 5], n_repeats=1).fit(X, y)
    assert search.measure.name == "concordance"
    assert search.guess_ == 0.5
    assert search.beats_guess_
    assert search.best_k_ in (2, 5)
    assert set(np.flatnonzero(search.at(2).support_)) == {3, 7}
    assert search.model_words == "Cox ridge regression model"
    risk = search.predict(X)
    assert concordance_index(y, risk) > 0.7
    check = HeldOutCheck.of(search)
    assert 0.65 < check.low < check.score < check.high < 1.0
    assert "concordance 0." in check.sentence()
    assert "a guess without features: 0.500" in check.sentence()


def test_noise_is_no_better_than_a_guess(timed):
    _, y = timed
    X = np.random.default_rng(1).normal(size=(150, 10))
    check = held_out_check(ScoreTest(), X, y, n_kept=2, task="survival")
    assert not check.beats_guess
    assert "concordance 0.500" in check.warning


def test_other_scores_and_groups(timed):
    X, y = timed
    groups = np.repeat(np.arange(50), 3)
    search = SelectorCV(ScoreTest(), ks=[2], n_repeats=1, scoring="uno_concordance", cv=3)
    search.fit(X, y, groups=groups)
    assert search.guess_ == 0.5
    assert 0.65 < search.best_score_ < 0.9


def test_one_event_is_too_few_to_hold_out(timed):
    X, y = timed
    y = y.copy()
    y["event"] = np.arange(150) == 9
    with pytest.raises(ValueError, match="only one event happened, too few for cross-val"):
        SelectorCV(ScoreTest(), ks=[2], n_repeats=1).fit(X, y)


def test_counts_are_scored_by_their_deviance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 10))
    y = rng.poisson(np.exp(0.5 + 0.6 * X[:, 2]))
    check = held_out_check(RidgeForwardSelector(), X, y, n_kept=1, task="counts")
    assert check.measure.title == "deviance explained"
    assert check.guess == 0.0
    assert check.beats_guess
    assert 0.1 < check.score < 0.6


def test_a_search_for_survival_times_is_saved_whole(timed, tmp_path):
    X, y = timed
    search = SelectorCV(LikelihoodForwardSelector(), ks=[1, 2], cv=3, n_repeats=1).fit(
        X[:90], y[:90]
    )
    save(search, tmp_path / "search.sieve")
    loaded = load(tmp_path / "search.sieve")
    assert loaded.measure.name == "concordance"
    assert loaded.model_words == "Cox ridge regression model"
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))


def test_halves_and_ensembles_take_survival_times(timed):
    X, y = timed
    inner = LikelihoodForwardSelector(2, swaps=0)
    stable = StabilitySelection(inner, n_subsamples=6, n_features_to_select=2).fit(X, y)
    both = EnsembleSelector([inner, ScoreTest()], n_features_to_select=2).fit(X, y)
    assert set(np.flatnonzero(stable.support_)) == {3, 7}
    assert set(np.flatnonzero(both.support_)) == {3, 7}
