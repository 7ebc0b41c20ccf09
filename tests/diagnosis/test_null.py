import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from sparsieve import (
    FisherSelector,
    FStatisticSelector,
    InfoGainSelector,
    MRMRSelector,
    RankingDisplay,
    ReliefFSelector,
    RidgeForwardSelector,
    TTestSelector,
    permutation_null,
)
from sparsieve.diagnosis.null import PermutationNull


def test_the_level_is_that_of_fits_on_shuffled_targets():
    X, y = load_wine(return_X_y=True)
    null = permutation_null(FisherSelector(3), X, y, n_repeats=5, random_state=7)
    rng = np.random.RandomState(7)
    best = [FisherSelector().fit(X, y[rng.permutation(178)]).scores_.max() for _ in range(5)]
    np.testing.assert_array_equal(null.best, best)
    assert null.level == np.quantile(best, 0.95)
    assert str(null) == f"noise reaches a score of {null.level:.4g} (5 shuffled targets)"


def test_noise_stays_below_and_signal_above(rng):
    X = rng.standard_normal((80, 40))
    y = X[:, 3] + 0.5 * rng.standard_normal(80)
    real = FStatisticSelector(task="regression")
    null = permutation_null(real, X, y)
    scores = real.fit(X, y).scores_
    assert scores[3] > null.level
    assert (np.delete(scores, 3) < null.level).all()


def test_relative_scores_have_no_level_of_noise():
    assert "cannot distinguish signal from noise" in str(PermutationNull(np.ones(5)))
    never = PermutationNull(np.full(3, np.inf))
    assert never.level == np.inf
    assert "reaches the same score, inf" in str(never)
    assert "a score of 0.5 (3" in str(PermutationNull(np.array([0.25, 0.5, 0.5])))


def test_time_is_limited_and_the_selector_unchanged(clock):
    X, y = load_wine(return_X_y=True)
    selector = FisherSelector(2).fit(X, y)
    before = selector.scores_.copy()
    # The limit looks at the clock once, and so does who tells how far it is.
    assert permutation_null(selector, X, pd.Series(y), max_seconds=6.5).n_repeats == 3
    np.testing.assert_array_equal(selector.scores_, before)


def test_display_draws_the_level():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = load_wine(return_X_y=True)
    selector = FisherSelector(2).fit(X, y)
    null = permutation_null(selector, X, y, n_repeats=3)
    display = RankingDisplay.from_estimator(selector, null=null)
    assert display.null_line_.get_xdata() == [null.level] * 2
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["selected", "left out", "level of noise"]
    assert display.ax_.get_xlabel().startswith("score\n")
    pyplot.close("all")


def test_bad_arguments():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="n_repeats must be at least 1"):
        permutation_null(RidgeForwardSelector(2), X, y, n_repeats=0)
    with pytest.raises(ValueError, match="max_seconds"):
        permutation_null(RidgeForwardSelector(2), X, y, max_seconds=-1)


def test_pvalues_are_those_of_counting_by_hand(rng):
    X, y = rng.standard_normal((30, 6)), np.arange(30) % 2
    X[:, 0] += y
    X[:, 5] = 1.0
    null = permutation_null(TTestSelector(), X, y, n_repeats=40, random_state=1)
    draws = np.random.RandomState(1)
    observed = TTestSelector().fit(X, y).scores_
    shuffled = [TTestSelector().fit(X, y[draws.permutation(30)]).scores_ for _ in range(40)]
    for j in range(6):
        times = sum(scores[j] >= observed[j] for scores in shuffled)
        assert null.pvalues[j] == (1 + times) / 41
        any_feature = sum(max(scores) >= observed[j] for scores in shuffled)
        assert null.familywise[j] == (1 + any_feature) / 41
    assert null.pvalues[5] == 1.0
    order = np.sort(null.pvalues)
    expected = np.minimum.accumulate((order * 6 / np.arange(1, 7))[::-1])[::-1]
    np.testing.assert_allclose(np.sort(null.adjusted()), expected)
    harmonic = sum(1 / i for i in range(1, 7))
    np.testing.assert_allclose(null.adjusted("by"), np.minimum(null.adjusted() * harmonic, 1.0))
    with pytest.raises(ValueError, match="call permutation_null"):
        PermutationNull(np.ones(3)).adjusted()


@pytest.mark.parametrize("selector", [InfoGainSelector(), ReliefFSelector(), MRMRSelector()])
def test_pvalues_of_filters_without_a_null_distribution_hold_their_level(rng, selector):
    """Under the null a p-value is at most 0.2 in a fifth of the cases, or less with ties."""
    small = 0
    for seed in range(20):
        X, y = rng.standard_normal((24, 20)), rng.permutation(np.arange(24) % 2)
        null = permutation_null(selector, X, y, n_repeats=9, random_state=seed)
        small += (null.pvalues <= 0.2).mean() / 20
    assert small < 0.27


def test_groups_are_exchanged_as_a_whole_by_hand(rng):
    patients = np.repeat(np.arange(12), 3)
    own = rng.permutation(12) % 2
    X, y = rng.standard_normal((36, 4)), own[patients]
    null = permutation_null(TTestSelector(), X, y, n_repeats=30, random_state=1, groups=patients)
    draws = np.random.RandomState(1)
    shuffled = [TTestSelector().fit(X, own[draws.permutation(12)][patients]) for _ in range(30)]
    np.testing.assert_array_equal(null.best, [fit.scores_.max() for fit in shuffled])


def test_shuffles_stay_within_strata_and_weights_go_along(rng):
    seen = []

    class Kept(FisherSelector):
        def fit(self, X, y, sample_weight=None):
            seen.append((np.array(y), np.array(sample_weight)))
            return super().fit(X, y, sample_weight)

    X, y, strata = rng.standard_normal((40, 3)), np.arange(40) % 2, np.arange(40) // 20
    weights = np.where(y, 2.0, 1.0) + 0.001 * np.arange(40)
    permutation_null(Kept(), X, y, n_repeats=5, strata=strata, sample_weight=weights)
    assert len(seen) == 6
    places = [np.argmin(np.abs(w[:, None] - weights), axis=1) for _, w in seen]
    for (labels, _), place in zip(seen, places, strict=True):
        np.testing.assert_array_equal(labels, y[place])
        np.testing.assert_array_equal(strata[place], strata)
    assert (places[1] != places[2]).any()


def test_where_nothing_can_be_exchanged_there_is_no_p_value(rng):
    X, y = rng.standard_normal((12, 3)), np.repeat([0, 1], 6)
    with pytest.raises(ValueError, match="no two groups of the same stratum"):
        permutation_null(TTestSelector(), X, y, groups=y, strata=y)
    with pytest.warns(UserWarning, match=r"in only 6 ways, exchanging 4 groups, .* below 0.17"):
        permutation_null(TTestSelector(), X, y, groups=np.arange(12) // 3, n_repeats=2)


@pytest.mark.parametrize("kind", ["array", "sparse", "pandas", "polars"])
def test_covariates_are_found_in_any_table(rng, kind):
    """Samples exchange y within a batch that is always kept."""
    seen, batch = [], np.arange(60) % 3
    X, y = np.column_stack((rng.standard_normal((60, 4)), batch)), rng.standard_normal(60)

    class Seen(RidgeForwardSelector):
        def fit(self, X, y, sample_weight=None):
            seen.append(np.array(y))
            return super().fit(X, y, sample_weight)

    names, always = list("abcde"), ["e"]
    if kind == "polars":
        X = pytest.importorskip("polars").DataFrame(X, schema=names)
    elif kind == "pandas":
        X = pd.DataFrame(X, columns=names)
    else:
        X, always = sparse.csr_array(X) if kind == "sparse" else X, [4]
    permutation_null(Seen(2, always_keep=always), X, y, n_repeats=3)
    for shuffled in seen[1:]:
        assert (shuffled != y).any()
        for label in range(3):
            mine = np.sort(y[batch == label])
            np.testing.assert_array_equal(np.sort(shuffled[batch == label]), mine)
