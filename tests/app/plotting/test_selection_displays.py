"""Charts of a selection: against the data themselves, and against what a report shows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from sparsieve import (
    AccuracyCurveDisplay,
    FisherSelector,
    RankingDisplay,
    RidgeForwardSelector,
    permutation_null,
    plot,
)
from sparsieve.app.plotting.kinds import KINDS
from sparsieve.app.report import selector_report
from sparsieve.app.report.packing import collect_charts

pytestmark = pytest.mark.usefixtures("lines_only")

DRAWN = [kind for kind in KINDS if kind != "substitutes"]  # of which there are none in wine


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def selector(wine):
    return RidgeForwardSelector(4).fit(*wine)


@pytest.mark.long("repeats the selection in folds")
def test_charts_of_a_report_and_displays_have_one_description(selector, wine):
    X, y = wine
    report = selector_report(selector, X, y, cv=3, null=None, oddities=())
    charts = {chart.title: chart for chart in collect_charts(report)}
    made = [
        *(
            plot(selector, X, y, kind)
            for kind in ("profiles", "projection", "correlations", "weights")
        ),
        plot(selector, X, y, "heatmap", order="clusters"),
        plot(selector, X, y, "predictions", cv=3),
        plot(selector, X, y, "stability", cv=3),
        RankingDisplay.from_estimator(selector, n_features=len(report.picture.columns["y"].values)),
    ]
    for display in made:
        chart = charts.pop(display.chart.title)
        assert {n: list(c.values) for n, c in chart.columns.items()} == {
            n: list(c.values) for n, c in display.chart.columns.items()
        }
        assert (chart.note, chart.options) == (display.chart.note, display.chart.options)
    curve = AccuracyCurveDisplay.from_estimator(selector, X, y, cv=3)
    chart = charts.pop(curve.chart.title)
    assert curve.chart.columns["y"].values == chart.columns["y"].values
    assert curve.chart.columns["error"].values == chart.columns["error"].values
    assert set(charts) == {"Objective by number of features"}  # ConvergenceDisplay draws that


@pytest.mark.parametrize("kind", DRAWN)
def test_axes_captions_and_words(kind, selector, wine):
    found = plot(selector, *wine, kind)
    found.figure_.canvas.draw()
    assert found.ax_ in found.figure_.axes
    assert found.ax_.get_title().replace("\n", " ") == found.chart.title
    assert found.alt_text.startswith(f"{found.chart.title}: ")
    with pytest.raises(NotFittedError, match="call fit before plot"):
        plot(RidgeForwardSelector(), *wine, kind)
    with pytest.raises(TypeError, match="got a Pipeline; pass the selector in it"):
        plot(make_pipeline(selector), *wine, kind)


def test_a_misspelt_kind_is_corrected(selector, wine):
    with pytest.raises(ValueError, match=r"there is no figure 'heatmpa'.*heatmap"):
        plot(selector, *wine, "heatmpa")


def test_cells_are_standardised_values_by_class(selector, wine):
    X, y = wine
    found = plot(selector, X, y, "heatmap")
    names = [text.get_text() for text in found.ax_.get_yticklabels()]
    cells = np.asarray(found.artists_["cells"].get_array())
    samples = list(dict.fromkeys(found.chart.columns["x"].values))
    rows = [int(label.split(":")[0].removeprefix("row ")) for label in samples]
    np.testing.assert_allclose(cells, scale(X[names])[rows].T, atol=0.0051)
    assert (np.diff(y.to_numpy()[rows]) >= 0).all()
    with pytest.raises(ValueError, match="order must be"):
        plot(selector, X, y, "heatmap", order="name")


def test_many_samples_and_features_are_drawn_in_part_and_it_is_said(rng):
    X, y = rng.standard_normal((3000, 220)), np.arange(3000) % 3
    X[:, :200] += (y == 1)[:, None]
    found = plot(FisherSelector(200).fit(X, y), X, y, "heatmap")
    assert found.artists_["cells"].get_array().shape == (40, 200)
    assert found.ax_.get_xlabel() == "200 of 3,000 samples"
    assert "200 of 3,000 samples, drawn at random" in found.caption
    assert "The first 40 of 200 features are drawn." in found.caption


def test_means_by_class(selector, wine):
    X, y = wine
    found = plot(selector, X, y, "profiles")
    names = [text.get_text() for text in found.ax_.get_yticklabels()]
    means = [[column[y == c].mean() for c in range(3)] for column in scale(X[names]).T]
    np.testing.assert_allclose(found.artists_["cells"].get_array(), means)


def test_values_of_one_feature_are_in_its_own_units(selector, wine):
    X, y = wine
    for feature in ("proline", 12):
        found = plot(selector, X, y, "values", feature=feature)
        assert found.ax_.get_xlabel() == "proline"
        boxes = found.artists_["boxes"]
        first = [np.quantile(X["proline"][y == c], 0.25) for c in range(3)]
        np.testing.assert_allclose([box.get_x() for box in boxes], first)
    with pytest.raises(ValueError, match="there is no feature 'prolin'; give a name or a column"):
        plot(selector, X, y, "values", feature="prolin")
    with pytest.raises(ValueError, match="feature must be below 13"):
        plot(selector, X, y, "values", feature=13)


def test_many_classes_leave_room_for_one_feature(rng):
    X, y = rng.standard_normal((200, 5)), np.arange(200) % 20
    found = plot(FisherSelector(3).fit(X, y), X, y, "values")
    assert len(found.artists_["boxes"]) == 20


def test_predictions_are_those_of_honest_folds(wine):
    X, y = wine
    selector = FisherSelector(2).fit(X, y)
    model = LogisticRegression(tol=1e-9, max_iter=10_000)
    pipeline = make_pipeline(FisherSelector(2), StandardScaler(), model)
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    guessed = cross_val_predict(pipeline, X.to_numpy(), y, cv=folds)
    found = plot(selector, X, y, "predictions", cv=4, random_state=3)
    assert found.chart.columns["count"].values == confusion_matrix(y, guessed).ravel().tolist()


def test_samples_of_a_group_are_held_out_together(rng):
    """Ten copies of every sample: who finds copies in the training part is always right."""
    X, y = np.repeat(rng.standard_normal((20, 30)), 10, axis=0), np.repeat(np.arange(20) % 2, 10)
    selector, groups = FisherSelector(20).fit(X, y), np.repeat(np.arange(20), 10)

    def share(**how):
        display = plot(selector, X, y, "predictions", **how)
        counts = np.reshape(display.chart.columns["count"].values, (2, 2))
        return np.trace(counts) / counts.sum()

    assert share() == 1.0
    assert share(groups=groups) < 0.9
    assert GroupKFold(5).get_n_splits(X, y, groups) == 5
    with pytest.raises(ValueError, match="all samples are in one group"):
        plot(selector, X, y, "predictions", groups=np.zeros(200))


def test_numbers_to_predict():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = RidgeForwardSelector(3, task="regression").fit(X, y)
    profile = plot(selector, X, y, "profiles")
    names = [text.get_text() for text in profile.ax_.get_yticklabels()]
    due = [np.corrcoef(X[name], y)[0, 1] for name in names]
    np.testing.assert_allclose([bar.get_width() for bar in profile.artists_["bars"]], due)
    assert "diagonal" in plot(selector, X, y, "predictions").artists_
    values = plot(selector, X, y, "values")
    assert [values.ax_.get_xlabel(), values.ax_.get_ylabel()] == [names[0], "target"]
    heat = plot(selector, X, y, "heatmap")
    assert (np.diff(heat.artists_["strip"].get_array().ravel()) >= 0).all()


def test_substitutes_and_their_threshold(rng):
    X = rng.standard_normal((80, 5))
    X[:, 4] = -X[:, 0] + 0.1 * rng.standard_normal(80)
    y = (X[:, 0] > 0).astype(int)
    selector = FisherSelector(1).fit(X, y)
    found = plot(selector, X, y, "substitutes", feature_names=list("abcde"))
    (bar,) = found.artists_["bars"]
    assert bar.get_width() == pytest.approx(np.corrcoef(X[:, 0], X[:, 4])[0, 1])
    assert found.chart.columns["y"].values[0] in ("e for a", "a for e")
    with pytest.raises(ValueError, match=r"absolute correlation of at least 0\.9999"):
        plot(selector, X, y, "substitutes", threshold=0.9999)


def test_noise_beside_the_selected_features(wine):
    X, y = wine
    selector = FisherSelector(3).fit(X, y)
    null = permutation_null(selector, X, y, n_repeats=7)
    found = plot(selector, X, y, "null", null=null)
    own, noise = (np.sort(dots.get_offsets()[:, 0]) for dots in found.artists_["dots"])
    np.testing.assert_allclose(noise, np.sort(null.best))
    np.testing.assert_allclose(own, np.sort(selector.scores_)[-3:])
    assert found.artists_["line"].get_xdata()[0] == null.level


def test_what_a_selector_does_not_have_is_said(wine):
    X, y = wine
    with pytest.raises(ValueError, match="FisherSelector has no coef_, so there are no weights"):
        plot(FisherSelector(2).fit(X, y), X, y, "weights")
    with pytest.raises(ValueError, match="fewer than two features are selected"):
        plot(FisherSelector(1).fit(X, y), X, y, "correlations")
    with pytest.raises(ValueError, match="X has shape"):
        plot(FisherSelector(2).fit(X, y), X.iloc[:, :5], y, "projection")


def test_sparse_data_and_missing_values(rng):
    X, y = rng.standard_normal((60, 6)), np.arange(60) % 2
    X[:, 2] += 2 * y
    some = sparse.csr_array(np.where(X > 0, X, 0.0))
    selector = FisherSelector(2).fit(some, y)
    plot(selector, some, y, "heatmap").figure_.canvas.draw()
    from sparsieve import ReliefFSelector

    X[:5, 2] = np.nan
    found = plot(ReliefFSelector(2).fit(X, y), X, y, "heatmap")
    assert np.ma.getmaskarray(found.artists_["cells"].get_array()).sum() in (0, 5)
    found.figure_.canvas.draw()
