"""How often the target is shuffled for a report does not depend on the clock."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sparsieve import (
    FisherSelector,
    HSICLassoSelector,
    RidgeForwardSelector,
    SelectorAdapter,
    StabilitySelection,
    _clock,
)
from sparsieve.report import selector_report
from sparsieve.report.noise_level import n_shuffles


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
