"""Stability selection, ensembles and searches whose units are groups of features."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import (
    EnsembleSelector,
    FisherSelector,
    FStatisticSelector,
    L21Selector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
)
from sparsieve.meta.halves import BOUNDS
from sparsieve.meta.held_out import check_selector
from sparsieve.persistence import load, save

LABELS = np.repeat(np.arange(12), [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4])


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, len(LABELS)))
    y = X[:, LABELS == 3].sum(axis=1) + 2 * X[:, LABELS == 4][:, 0] + rng.normal(size=120)
    return X, y


def test_stability_counts_groups(problem):
    X, y = problem
    how = {"n_features_per_run": 3, "n_subsamples": 20}
    stable = StabilitySelection(feature_groups=LABELS, **how).fit(X, y)
    assert stable.group_names_[stable.group_support_].tolist() == ["3", "4"]
    assert_array_equal(stable.support_, np.isin(LABELS, [3, 4]))
    expected = {name: bound(3, 12, stable.threshold_, 10) for name, bound in BOUNDS.items()}
    assert stable.error_bounds_ == expected
    assert stable.group_scores_.sum() == pytest.approx(3.0)  # every run selects three
    assert_allclose(stable.selection_probabilities_, stable.group_scores_[LABELS])
    assert stable.summary().startswith("2 of 12 feature groups were selected")
    assert stable.at(1).support_.sum() in (1, 4)
    inside = StabilitySelection(RidgeForwardSelector(feature_groups=LABELS), **how).fit(X, y)
    assert_array_equal(inside.group_scores_, stable.group_scores_)


def test_groups_of_one_column_change_nothing(problem):
    X, y = problem
    for plain in (
        StabilitySelection(n_features_per_run=3, n_subsamples=10),
        EnsembleSelector(n_features_to_select=3),
    ):
        grouped = type(plain)(**plain.get_params(deep=False) | {"feature_groups": range(30)})
        assert_array_equal(plain.fit(X, y).scores_, grouped.fit(X, y).scores_)
        assert_array_equal(plain.support_, grouped.support_)


def test_ensembles_rank_groups(problem):
    X, y = problem
    members = [RidgeForwardSelector(), L21Selector(), FStatisticSelector()]
    ensemble = EnsembleSelector(members, n_features_to_select=2, feature_groups=LABELS).fit(X, y)
    assert ensemble.group_names_[ensemble.group_support_].tolist() == ["3", "4"]
    assert ensemble.rankings_.shape == (3, 12)
    own = FStatisticSelector(4, feature_groups=LABELS).fit(X, y).group_ranking_
    assert_array_equal(ensemble.rankings_[2], own)
    points = np.maximum(4 + 1 - ensemble.rankings_, 0).sum(axis=0)
    assert_array_equal(ensemble.group_scores_, points)


def test_a_search_counts_groups(problem):
    X, y = problem
    search = SelectorCV(feature_groups=LABELS, n_repeats=1).fit(X, y)
    assert search.ks_[-1] == 12
    assert "feature groups" in search.summary()
    assert_array_equal(search.group_support_, search.selector_.group_support_)
    assert search.group_support_.sum() == search.best_k_
    assert search.at(1).group_support_.sum() == 1
    with pytest.warns(UserWarning, match="larger than the 12 feature groups"):
        assert search.at(13).n_features_to_select_ == 12
    inside = SelectorCV(RidgeForwardSelector(feature_groups=LABELS), n_repeats=1).fit(X, y)
    assert_array_equal(inside.support_, search.support_)
    assert "group_names_" not in vars(search.set_params(feature_groups=None).fit(X, y))


def test_the_check_on_held_out_samples_repeats_as_many_groups(problem):
    X, y = problem
    fitted = RidgeForwardSelector(2, feature_groups=LABELS).fit(X, y)
    check, reason = check_selector(fitted, X, y, fit_seconds=None, how="", task="regression")
    assert not reason
    assert check.stability == pytest.approx(1.0)
    assert "the same feature groups in every fold" in check.sentence()


def test_groups_are_given_once_and_to_selectors_that_take_them(problem):
    X, y = problem
    inner = RidgeForwardSelector(feature_groups=LABELS)
    with pytest.raises(ValueError, match="StabilitySelection and to a selector inside"):
        StabilitySelection(inner, feature_groups=LABELS).fit(X, y)
    with pytest.raises(ValueError, match="FisherSelector selects single columns"):
        StabilitySelection(FisherSelector(), feature_groups=LABELS).fit(X, y > 0)
    with pytest.raises(ValueError, match="some selectors of EnsembleSelector"):
        EnsembleSelector([inner, L21Selector()]).fit(X, y)
    other = L21Selector(feature_groups=np.arange(30) // 2)
    with pytest.raises(ValueError, match="different feature_groups"):
        EnsembleSelector([inner, other]).fit(X, y)
    with pytest.raises(ValueError, match="inside a pipeline"):
        StabilitySelection(make_pipeline(StandardScaler(), inner)).fit(X, y)


def test_files_keep_groups(problem, tmp_path):
    X, y = problem
    for made in (
        StabilitySelection(feature_groups=LABELS, n_features_per_run=3, n_subsamples=10),
        EnsembleSelector(n_features_to_select=3, feature_groups=LABELS),
        SelectorCV(feature_groups=LABELS, n_repeats=1, ks=[1, 2, 3]),
        FStatisticSelector(3, feature_groups=LABELS),
    ):
        save(made.fit(X, y), tmp_path / "one.sparsieve")
        loaded = load(tmp_path / "one.sparsieve")
        assert_array_equal(loaded.group_support_, made.group_support_)
        assert_array_equal(loaded.group_names_, made.group_names_)
        assert_array_equal(loaded.transform(X), made.transform(X))
