"""Rankings as their readers see them."""

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.datasets import load_wine

from sparsieve import FisherSelector, FStatisticSelector, RidgeForwardSelector
from sparsieve.selectors.ranked import adjusted_pvalues, ranked_features


def test_notes_say_what_a_score_is_not():
    X, y = load_wine(return_X_y=True)
    selector = RidgeForwardSelector(4, always_keep=[5], never_keep=[0]).fit(X, y)
    selector._n_ranked = 4  # a path that went no further
    ranked = ranked_features(selector)
    assert ranked.features[0] == 5
    assert ranked.features[-1] == 0
    assert ranked.notes == [
        "kept by request", "", "", "", *["not ranked"] * 8, "left out by request",
    ]  # fmt: skip
    assert ranked.selected.tolist() == [True] * 4 + [False] * 9
    assert ranked.meaning == selector.score_meaning


def test_complete_rankings_have_no_notes_and_fall():
    X, y = load_wine(return_X_y=True)
    ranked = ranked_features(FisherSelector(3, class_weight="balanced").fit(X, y))
    assert set(ranked.notes) == {""}
    assert ranked.falls
    assert ranked.pvalues is None


def test_pvalues_and_adjusted_ones():
    X, y = load_wine(return_X_y=True)
    selector = FStatisticSelector(3).fit(X, y)
    ranked = ranked_features(selector)
    expected = false_discovery_control(selector.pvalues_)[ranked.features]
    np.testing.assert_allclose(ranked.adjusted, expected)
    columns = ranked.columns([f"gene {j}" for j in range(13)])
    assert list(columns) == [
        "rank", "feature", "score", "selected", "p_value", "p_value_fdr", "note",
    ]  # fmt: skip
    some = np.array([0.04, np.nan, 0.001, 0.5])
    known = ~np.isnan(some)
    np.testing.assert_allclose(adjusted_pvalues(some)[known], false_discovery_control(some[known]))
    assert np.isnan(adjusted_pvalues(some)[1])
