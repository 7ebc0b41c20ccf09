import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest

from sparsieve import FisherSelector, RankingDisplay, ReliefFSelector, RidgeForwardSelector
from sparsieve.app.report.encodings import MEANT


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_the_best_features_in_order_and_selected_ones_in_another_colour(wine, drawn):
    X, y = wine
    selector = FisherSelector(n_features_to_select=3).fit(X, y)
    display = RankingDisplay.from_estimator(selector, n_features=5)
    best = np.argsort(-selector.scores_)[:5]
    assert [bar.get_width() for bar in display.bars_] == list(selector.scores_[best])
    assert drawn(display)[-7:] == [*X.columns[best], "selected", "left out"]
    colours = [bar.get_facecolor() for bar in display.bars_]
    assert colours == 3 * [to_rgba(MEANT["selected"])] + 2 * [to_rgba(MEANT["left out"])]
    assert display.selected.tolist() == 3 * [True] + 2 * [False]
    first, last = (bar.get_y() for bar in (display.bars_[0], display.bars_[-1]))
    up = display.ax_.transData.transform([[0, first], [0, last]])[:, 1]
    assert up[0] > up[1]  # the best one on top


def test_fewer_features_than_asked_for_and_names_of_ones_own(wine):
    X, y = wine
    selector = FisherSelector().fit(X.to_numpy(), y)
    display = RankingDisplay.from_estimator(selector)
    assert len(display.bars_) == 13
    assert display.names[0] == f"x{np.argmax(selector.scores_)}"
    names = [f"gene {j}" for j in range(13)]
    named = RankingDisplay.from_estimator(selector, feature_names=names)
    assert named.names[0] == f"gene {np.argmax(selector.scores_)}"
    with pytest.raises(ValueError, match=r"feature_names has 2 names, but .* 13 features"):
        RankingDisplay.from_estimator(selector, feature_names=["a", "b"])


def test_features_that_are_always_kept_and_negative_scores(wine):
    X, y = wine
    selector = RidgeForwardSelector(3, always_keep=["ash"]).fit(X, y)
    display = RankingDisplay.from_estimator(selector, n_features=6)
    display.figure_.canvas.draw()
    assert display.names[0] == "ash"
    assert np.isfinite([bar.get_width() for bar in display.bars_]).all()
    assert [text.get_text() for text in display.ax_.texts] == ["kept by request"]
    noise = np.random.default_rng(0).standard_normal((40, 30))
    relief = ReliefFSelector(2).fit(noise, np.arange(40) % 2)
    widths = [bar.get_width() for bar in RankingDisplay.from_estimator(relief, n_features=30).bars_]
    assert min(widths) < 0


def test_given_axes_and_style(wine):
    figure, ax = plt.subplots()
    size = figure.get_size_inches().tolist()
    display = RankingDisplay.from_estimator(FisherSelector().fit(*wine), ax=ax, color="green")
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert figure.get_size_inches().tolist() == size
    assert display.bars_[0].get_facecolor() == to_rgba("green")


def test_awkward_names_are_shown_as_they_are(awkward, drawn):
    X, y = awkward
    display = RankingDisplay.from_estimator(FisherSelector(2).fit(X, y))
    assert display.names == list(X.columns[np.argsort(FisherSelector().fit(X, y).ranking_)])
    shown = drawn(display)
    assert {"<b>$x_1", "$x$", "a_$b", "_hidden", "two lines", "\\frac{$1"} <= set(shown)
    assert "x" * 20 + "..." + "x" * 17 in shown


def test_refusals(wine):
    with pytest.raises(NotFittedError, match="FisherSelector is not fitted yet; call fit before R"):
        RankingDisplay.from_estimator(FisherSelector())
    with pytest.raises(ValueError, match="SelectKBest has no ranking_ to draw"):
        RankingDisplay.from_estimator(SelectKBest(k=2).fit(*wine))
    with pytest.raises(ValueError, match="n_features must be at least 1, got 0"):
        RankingDisplay.from_estimator(FisherSelector().fit(*wine), n_features=0)
