"""How often the target is shuffled for a report does not depend on the clock."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sparsieve import (
    FisherSelector,
    HSICLassoSelector,
    LikelihoodForwardSelector,
    RidgeForwardSelector,
    SelectorAdapter,
    StabilitySelection,
    _clock,
    permutation_null,
)
from sparsieve.app.report import selector_report
from sparsieve.app.report.claims_section import n_shuffles
from sparsieve.app.report.selection_charts import ranking_chart
from sparsieve.app.report.survival import default_n_shuffles, held_out_survival
from sparsieve.selection.selected_data import SelectedData
from sparsieve.selectors.ranked import ranked_features
from sparsieve.validation.survival import as_survival


@pytest.mark.parametrize("each", [0.0, 1.5])
def test_a_slow_computer_gets_the_same_level_of_noise(monkeypatch, each):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = X[:, 1] > 0
    ticks = itertools.count(0.0, each)
    monkeypatch.setattr(_clock, "clock", lambda: next(ticks))
    page = selector_report(RidgeForwardSelector(2).fit(X, y), X, y, cv=0, oddities=()).to_html()
    assert "of 20 fits on shuffled targets" in page


def test_the_size_of_the_work_decides():
    wide = np.zeros((100, 20_000))
    assert n_shuffles(FisherSelector(), wide) == 20
    assert 10 <= n_shuffles(FisherSelector(), np.zeros((100, 200_000))) < 20
    assert n_shuffles(HSICLassoSelector(), wide) == 0
    assert n_shuffles(StabilitySelection(FisherSelector()), wide) == 0
    assert n_shuffles(SelectorAdapter(LogisticRegression()), wide[:, :100]) == 20


@pytest.mark.long("shuffles all of a selection twice 19 times")
def test_a_slow_computer_gets_the_same_log_rank_test(monkeypatch):
    """Nothing asks the clock, by which p-values were given up after 120 s."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = as_survival((rng.exponential(np.exp(-X[:, 0])), rng.random(60) < 0.7))
    kept = SelectedData.from_selector(LikelihoodForwardSelector(1, task="survival").fit(X, y), X, y)
    monkeypatch.setattr("sparsieve.app.report.survival._SHUFFLES", 19)
    found = held_out_survival(kept, X, n_folds=2)
    ticks = itertools.count(0.0, 1000.0)
    monkeypatch.setattr(_clock, "clock", lambda: next(ticks))
    slow = held_out_survival(kept, X, n_folds=2)
    assert (slow.n_shuffles, slow.p_value) == (19, found.p_value)
    assert found.p_value is not None


def test_the_size_of_the_work_decides_the_log_rank_test():
    default, wide = LikelihoodForwardSelector(), np.zeros((100, 20_000))
    assert default_n_shuffles(default, wide[:, :200], 5, 10) == 39
    assert default_n_shuffles(default, wide, 5, 5, n_searched=625) == 25
    assert default_n_shuffles(default, wide, 5, 5) == 0
    assert default_n_shuffles(HSICLassoSelector(), wide, 5, 5) == 0


@pytest.mark.parametrize(
    ("method", "drawn"), [(RidgeForwardSelector, False), (FisherSelector, True)]
)
def test_only_scores_that_stand_for_themselves_are_compared_with_noise(method, drawn):
    """Of features that enter one by one the first, also where all entered and scores fall."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 1] + 0.5 * X[:, 2] > 0
    fitted = method(3).fit(X, y)
    ranked, null = ranked_features(fitted), permutation_null(fitted, X, y, n_repeats=10)
    assert ranked.falls
    chart = ranking_chart(fitted, ["a", "b", "c"], null, 3)
    assert (chart.options.get("line") is not None) == drawn
    assert ("cannot be compared" in chart.note) != drawn
