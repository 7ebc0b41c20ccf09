"""``selected.plot(kind)`` and ``selected.save_figures(folder)``."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine

import sparsieve
from sparsieve.app.plotting.selection import FIGURES

pytestmark = pytest.mark.usefixtures("lines_only")

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_figures_left():
    plt.close("all")  # those of other tests
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def selected():
    return sparsieve.select(*load_wine(return_X_y=True, as_frame=True), k=3)


@pytest.mark.parametrize("kind", [k for k in FIGURES if k not in ("substitutes", "survival")])
def test_every_kind_draws_itself(kind, selected):
    figure, axes = plt.subplots(1, 2)
    display = selected.plot(kind, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert axes[1].has_data()
    assert display.alt_text


def test_the_overview_has_curve_ranking_and_heat_map(selected):
    display = selected.plot()
    assert list(display.axes_) == ["curve", "ranking", "heatmap"]
    assert display.displays["ranking"].names[:3] == selected.features
    assert display.ax_ is display.axes_["curve"]
    assert len(plt.get_fignums()) == 1


def test_without_a_quick_check_values_take_the_place_of_the_curve():
    X, y = load_wine(return_X_y=True, as_frame=True)
    display = sparsieve.select(X, y, k=2, check=False).plot()
    assert list(display.axes_) == ["ranking", "heatmap", "values"]


def test_given_axes_or_options_draw_the_ranking(selected):
    _, ax = plt.subplots()
    assert selected.plot(ax=ax).names[:3] == selected.features
    assert selected.plot(color="green").bars_[0].get_facecolor()[1] > 0.4
    assert len(selected.plot("ranking", n_features=5).names) == 5
    with pytest.raises(ValueError, match="the overview draws several charts"):
        selected.plot("overview", ax=ax)


def test_a_search_has_its_curve_already():
    X, y = load_wine(return_X_y=True, as_frame=True)
    found = sparsieve.select(X, y, method="fisher")
    display = found.plot("curve")
    scores = found.selector.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), scores)
    assert display.ax_.get_title() == "Accuracy over the number of features"
    assert "20 folds" in display.caption


def test_misspelt_and_impossible_figures_are_answered_in_a_sentence(selected):
    with pytest.raises(ValueError, match="there is no figure 'heatmp'; did you mean 'heatmap'"):
        selected.plot("heatmp")
    with pytest.raises(ValueError, match=r"no feature left out has an absolute correlation"):
        selected.plot("substitutes")
    fisher = sparsieve.select(selected.X, selected.y, k=3, method="fisher", check=False)
    with pytest.raises(ValueError, match="FisherSelector has no iterations to draw"):
        fisher.plot("convergence")
    unlabelled = sparsieve.select(selected.X, None, k=3, method="laplacian_score", check=False)
    with pytest.raises(ValueError, match="this figure needs y"):
        unlabelled.plot("heatmap")
    assert list(unlabelled.plot().axes_) == ["ranking"]


@pytest.mark.long("writes every figure")
def test_figures_are_saved_and_listed(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    selected = sparsieve.select(X, y, k=2, method="fisher")
    paths = selected.save_figures(tmp_path / "figures", formats=("svg",))
    names = [path.stem for path in paths]
    # Fisher has no weights and no iterations, noise was not asked for, and nothing is a copy.
    missing = {"weights", "convergence", "null", "substitutes", "survival", "claims"}
    assert names == [*(kind for kind in FIGURES if kind not in missing), "captions"]
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == sorted(
        path.name for path in paths
    )
    assert not plt.get_fignums()


def test_matplotlib_is_asked_for_in_a_sentence(selected, monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    said = r"matplotlib is needed to draw.*; install it with pip install 'sparsieve\[report\]'"
    for ask in (selected.plot, lambda: selected.plot("heatmap")):
        with pytest.raises(ImportError, match=said):
            ask()
    with pytest.raises(ImportError, match=said):
        selected.save_figures(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_groups_are_held_out_together(rng):
    X, y = np.repeat(rng.standard_normal((20, 30)), 10, axis=0), np.repeat(np.arange(20) % 2, 10)
    groups = np.repeat(np.arange(20), 10)
    found = sparsieve.select(X, y, k=20, method="fisher", groups=groups)
    counts = np.reshape(found.plot("predictions").chart.columns["count"].values, (2, 2))
    assert np.trace(counts) < 0.9 * counts.sum()  # copies of samples would make it perfect
