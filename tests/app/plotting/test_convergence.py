import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError

from sparsieve import (
    ConvergenceDisplay,
    FisherSelector,
    L0SVMSelector,
    L20Selector,
    RFSSelector,
    RobustL20Selector,
    all_selectors,
)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def fitted():
    return RFSSelector().fit(*load_breast_cancer(return_X_y=True))


def test_objective_over_iterations(fitted):
    display = ConvergenceDisplay.from_estimator(fitted)
    line = display.line_
    np.testing.assert_array_equal(line.get_ydata(), fitted.history_)
    np.testing.assert_array_equal(line.get_xdata(), 1 + np.arange(len(fitted.history_)))
    assert display.ax_.get_xlabel() == "iteration"
    assert display.ax_.get_ylabel() == "objective"


def test_distance_to_the_best_value(fitted):
    display = ConvergenceDisplay.from_estimator(fitted, relative=True)
    values = display.line_.get_ydata()
    best = min(fitted.history_)
    assert values[0] == pytest.approx((fitted.history_[0] - best) / best)
    assert np.isnan(values[np.argmin(fitted.history_)])
    assert display.ax_.get_yscale() == "log"
    rising = ConvergenceDisplay(np.array([-4.0, -2.0, -1.0])).plot(relative=True)
    np.testing.assert_allclose(rising.line_.get_ydata(), [3.0, 1.0, np.nan])
    single = ConvergenceDisplay(np.array([3.0])).plot(relative=True)
    single.figure_.canvas.draw()
    assert single.ax_.texts[0].get_text() == "every value is the best"


def test_one_against_the_rest_is_one_line(wine):
    selector = L0SVMSelector().fit(*wine)
    display = ConvergenceDisplay.from_estimator(selector)
    np.testing.assert_array_equal(display.line_.get_ydata(), selector.history_)
    assert display.ax_.get_xlabel() == "iteration"


@pytest.mark.parametrize("selector", [L20Selector(4), RobustL20Selector(4, alpha=5.0)])
def test_a_greedy_search_counts_features_not_iterations(wine, selector):
    display = ConvergenceDisplay.from_estimator(selector.fit(*wine))
    assert display.ax_.get_xlabel() == "number of features"
    np.testing.assert_array_equal(
        display.line_.get_xdata(), np.arange(5)[-len(selector.history_) :]
    )


@pytest.mark.parametrize(
    "together", [{"a": [0, 1, 2], "b": [3, 4]}, {"a": [0, 1], "b": [1, 2], "c": [0, 1, 2]}]
)
def test_a_search_over_groups_counts_groups(wine, together):
    selector = L20Selector(3, feature_groups=together).fit(*wine)
    display = ConvergenceDisplay.from_estimator(selector)
    assert display.ax_.get_xlabel() == "number of feature groups"
    np.testing.assert_array_equal(
        display.line_.get_xdata(), np.arange(4)[-len(selector.history_) :]
    )


def test_given_axes_and_refusals(fitted, wine):
    _, ax = plt.subplots()
    display = ConvergenceDisplay.from_estimator(fitted, ax=ax, linestyle=":")
    assert display.ax_ is ax
    assert display.line_.get_linestyle() == ":"
    with pytest.raises(NotFittedError, match="RFSSelector is not fitted yet"):
        ConvergenceDisplay.from_estimator(RFSSelector())
    with pytest.raises(ValueError, match="FisherSelector has no history_ to draw; its answer"):
        ConvergenceDisplay.from_estimator(FisherSelector().fit(*wine))
    with pytest.raises(ValueError, match="relative must be True or False"):
        ConvergenceDisplay.from_estimator(fitted, relative="yes")


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", list(all_selectors()))
def test_every_history_is_drawn(name, fitted_by_name):
    selector = fitted_by_name(name)
    if getattr(selector, "history_", None):
        for relative in (False, True):
            display = ConvergenceDisplay.from_estimator(selector, relative=relative)
            display.figure_.canvas.draw()
            assert len(display.line_.get_ydata()) == len(selector.history_)
    else:
        with pytest.raises(ValueError, match=f"{name} has no history_ to draw"):
            ConvergenceDisplay.from_estimator(selector)
