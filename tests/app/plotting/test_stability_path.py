import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sparsieve import FisherSelector, StabilityPathDisplay, StabilitySelection


def test_stable_features_in_colour_and_the_rest_in_grey(awkward, drawn):
    X, y = awkward
    stable = StabilitySelection(n_features_per_run=3, n_subsamples=20).fit(X, y)
    path = stable.stability_path_
    display = StabilityPathDisplay.from_estimator(stable)
    n_stable = int(stable.get_support().sum())
    assert 0 < n_stable == len(display.lines_)
    assert len(display.rest_.get_segments()) == len(path.features) - n_stable
    rows = {X.columns[j]: row for j, row in zip(path.features, path.probabilities, strict=True)}
    best = max(stable.get_feature_names_out(), key=lambda name: rows[name][-1])
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), rows[best])
    shown = drawn(display)
    assert {" ".join(name.split()) for name in stable.get_feature_names_out()} <= set(shown)
    assert "threshold 0.75" in shown


def test_many_stable_features_are_not_all_named():
    ks = np.array([1, 2])
    display = StabilityPathDisplay(ks, np.ones((20, 2)), [f"x{j}" for j in range(20)], 0.75)
    _, ax = plt.subplots()
    display.plot(ax, linewidth=3)
    assert display.ax_ is ax
    assert len(display.lines_) == 20
    assert {line.get_linewidth() for line in display.lines_} == {3}
    legend = ax.get_legend()
    assert len(legend.get_texts()) == 15 + 1
    assert legend.get_title().get_text() == "stable (5 more not named)"


def test_nothing_stable_and_refusals():
    display = StabilityPathDisplay(np.array([1]), np.array([[0.2]]), ["a"], 0.75).plot()
    display.figure_.canvas.draw()
    assert display.lines_ == []
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ValueError, match="FisherSelector has no stability_path_ to draw; fit a S"):
        StabilityPathDisplay.from_estimator(FisherSelector().fit(X, np.arange(20) % 2))


@pytest.mark.slow
def test_without_matplotlib_displays_import_and_say_what_to_install():
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import numpy as np, sparsieve
X, y = np.random.default_rng(0).standard_normal((30, 8)), np.arange(30) % 2
selector = sparsieve.RidgeForwardSelector(n_features_to_select=3).fit(X, y)
for display in (sparsieve.RankingDisplay, sparsieve.PathDisplay):
    try:
        display.from_estimator(selector)
    except ImportError as error:
        print(error)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    wanted = "matplotlib is needed to draw; install it with pip install 'sparsieve[report]'\n"
    assert shown.stdout == 2 * wanted
