import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import AccuracyCurveDisplay, FisherSelector, SelectorCV
from sparsieve.app.plotting.accuracy_curve import ScoreCurve
from sparsieve.scoring import Folds
from sparsieve_experiments.studies import (
    SelectorSpec,
    Store,
    Study,
    result_rows,
    run_study,
    study_curves,
)


@pytest.fixture(scope="module")
def search():
    return SelectorCV(rule="one_se", ks=[1, 2, 3, 5, 8, 13]).fit(*load_wine(return_X_y=True))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    study = Study(
        "small",
        ["wine", "breast_cancer"],
        [
            "fisher",
            SelectorSpec("AllFeatures"),
            SelectorSpec("L21Selector", grid={"alpha": [5.0, 50.0]}, tuning="best-on-test"),
        ],
        Folds(3),
        ks=[1, 2, 4],
        classifiers=["1nn", "svm"],
        scoring=["accuracy", "mcc"],
    )
    path = tmp_path_factory.mktemp("study") / "small.sqlite"
    run_study(study, path)
    return path


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


# -- SelectorCV --------------------------------------------------------------------------------


def test_mean_and_standard_error_of_a_search(search):
    display = AccuracyCurveDisplay.from_estimator(search)
    (line, point), (band, bar) = display.lines_, display.bands_
    results = search.cv_results_
    np.testing.assert_array_equal(line.get_xdata(), search.ks_)
    np.testing.assert_array_equal(line.get_ydata(), results["mean_test_score"])
    scores = np.array([results[f"split{i}_test_score"] for i in range(20)])
    # Nadeau and Bengio: folds share training samples, a plain standard error would be too small.
    share = np.mean([size / (178 - size) for size in (36, 36, 36, 35, 35)])
    error = scores.std(axis=0, ddof=1) * np.sqrt(1 / 20 + share)
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((scores.mean(axis=0) + error).max())
    assert heights.min() == pytest.approx((scores.mean(axis=0) - error).min())
    # The model that is kept stands there with its own score.
    kept = search.kept_scores_
    assert (point.get_xdata().tolist(), point.get_ydata().tolist()) == (
        [search.best_k_],
        [kept.mean()],
    )
    ((low, high),) = [segment[:, 1] for segment in bar.get_segments()]
    wide = kept.std(ddof=1) * np.sqrt(1 / 20 + share)
    assert (low, high) == pytest.approx((kept.mean() - wide, kept.mean() + wide))
    assert legend(display)[:2] == [
        "ridge model, which searches",
        "softmax regression model, which is kept",
    ]
    assert display.ax_.get_ylabel() == "accuracy (mean ± standard error)"
    assert display.ax_.get_xscale() == "log"
    shown = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert shown == ["1", "2", "5", "10"]


def test_the_number_that_is_kept_is_solid_and_that_with_the_best_mean_dashed(search):
    display = AccuracyCurveDisplay.from_estimator(search)
    marked = {mark.get_xdata()[0]: mark for mark in display.marks_}
    best = search.ks_[search.cv_results_["mean_test_score"].argmax()]
    assert search.best_k_ < best  # or one line would do for both
    assert {k: mark.get_linestyle() for k, mark in marked.items()} == {
        search.best_k_: "-",
        best: "--",
    }
    assert {f"one_se: {search.best_k_}", f"best: {best}"} <= set(legend(display))
    assert "The solid vertical line is the number of features that is kept (rule 'one_se')" in (
        display.caption
    )


def test_one_line_marks_a_number_that_is_kept_and_best():
    both = SelectorCV(rule="best", ks=[1, 2, 5]).fit(*load_wine(return_X_y=True))
    display = AccuracyCurveDisplay.from_estimator(both)
    (mark,) = display.marks_
    assert (mark.get_xdata()[0], mark.get_linestyle()) == (both.best_k_, "-")
    assert f"best: {both.best_k_}" in legend(display)


def test_axes_that_are_given_are_used_and_styled(search):
    figure, axes = plt.subplots(1, 2)
    display = AccuracyCurveDisplay.from_estimator(search, ax=axes[1], color="red", label="mine")
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert display.lines_[0].get_color() == "red"
    assert "mine" in legend(display)
    assert len(plt.get_fignums()) == 1
    assert not axes[0].lines
    again = display.plot()
    assert again is display
    assert len(plt.get_fignums()) == 2


def test_names_of_scores():
    X, y = load_diabetes(return_X_y=True)
    y = y + 0.5  # whole numbers would be classes
    regression = SelectorCV(ks=[1, 2]).fit(X, y)
    display = AccuracyCurveDisplay.from_estimator(regression)
    assert display.score_name == "R²"
    assert len(display.lines_) == 1  # the same model searches and is kept
    assert legend(display)[0] == "mean score"
    named = SelectorCV(ks=[3, 4], scoring="neg_mean_squared_error").fit(X, y)
    display = AccuracyCurveDisplay.from_estimator(named)
    assert display.score_name == "mean squared error (lower is better)"
    drawn = display.lines_[0].get_ydata()
    np.testing.assert_array_equal(drawn, -named.cv_results_["mean_test_score"])
    assert (drawn > 0).all()
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["3", "4"]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    own = SelectorCV(estimator=model, ks=[2]).fit(*load_wine(return_X_y=True))
    assert AccuracyCurveDisplay.from_estimator(own).score_name == "score"


def test_a_single_split_has_no_band():
    X, y = load_wine(return_X_y=True)
    parts = [(np.arange(0, 178, 2), np.arange(1, 178, 2))]
    display = AccuracyCurveDisplay.from_estimator(SelectorCV(ks=[1, 2, 5], cv=parts).fit(X, y))
    assert display.bands_ == []
    assert display.ax_.get_ylabel() == "accuracy"


def test_bands_around_many_lines_are_drawn_on_demand():
    ks, mean, error = np.array([1, 2, 5]), np.array([0.5, 0.6, 0.7]), np.full(3, 0.1)
    curves = [ScoreCurve(f"m{i}", ks, mean + 0.01 * i, error) for i in range(8)]
    assert len(AccuracyCurveDisplay(curves[:2]).plot().bands_) == 2
    many = AccuracyCurveDisplay(curves, "accuracy").plot()
    assert (many.bands_, many.ax_.get_ylabel()) == ([], "accuracy, mean")
    assert len(many.plot(bands=True).bands_) == 8
    assert AccuracyCurveDisplay(curves[:1]).plot(bands=False).bands_ == []


def test_what_is_not_a_fitted_search_is_refused(search):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(NotFittedError, match="SelectorCV is not fitted yet; call fit"):
        AccuracyCurveDisplay.from_estimator(SelectorCV())
    with pytest.raises(ValueError, match="FisherSelector has no cv_results_ to draw; give X and y"):
        AccuracyCurveDisplay.from_estimator(FisherSelector().fit(X, y))
    with pytest.raises(TypeError, match=r"got a Pipeline; pass the selector in it.*'fisherselec"):
        AccuracyCurveDisplay.from_estimator(make_pipeline(FisherSelector(), search))
    grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}).fit(X, y)
    with pytest.raises(ValueError, match="not searched over numbers of features; use SelectorCV"):
        AccuracyCurveDisplay.from_estimator(grid)


# -- studies -----------------------------------------------------------------------------------


def test_one_line_for_every_selector_of_a_study(store):
    display = study_curves(store, dataset="wine", classifier="svm")
    with Store(store) as opened:
        rows = result_rows(opened)
        same = study_curves(opened, dataset="wine", classifier="svm")
    labels = [curve.label for curve in display.curves]
    assert labels == ["FisherSelector", "AllFeatures", "L21Selector (best on test)"]
    assert legend(display) == labels == [curve.label for curve in same.curves]
    values = [
        [r["accuracy"] for r in rows if r["selector"] == "FisherSelector" and r["k"] == k
         and (r["dataset"], r["classifier"]) == ("wine", "svm")]
        for k in (1, 2, 4)
    ]  # fmt: skip
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), [1, 2, 4])
    np.testing.assert_allclose(display.lines_[0].get_ydata(), np.mean(values, axis=1))
    error = np.std(values, axis=1, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(display.curves[0].error, error)
    assert len(np.unique(display.lines_[1].get_ydata())) == 1  # the baseline
    assert display.ax_.get_title() == "wine, svm"


def test_rows_metrics_and_some_selectors(store):
    with Store(store) as opened:
        rows = result_rows(opened)
    display = study_curves(
        rows, dataset="breast_cancer", classifier="1nn", metric="mcc", selectors=["FisherSelector"]
    )
    (line,) = display.lines_
    assert display.ax_.get_ylabel() == "mcc (mean ± standard error)"
    place = ("breast_cancer", "1nn", "FisherSelector", 4)
    names = ("dataset", "classifier", "selector", "k")
    wanted = [row["mcc"] for row in rows if tuple(row[name] for name in names) == place]
    assert line.get_ydata()[-1] == pytest.approx(np.mean(wanted))


def test_an_own_number_of_features_is_a_point(tmp_path):
    study = Study(
        "own", ["wine"], [SelectorSpec("L21Selector", {"alpha": 20.0})], Folds(3), ks="own",
        classifiers=["1nn"],
    )  # fmt: skip
    run_study(study, tmp_path / "own.sqlite")
    display = study_curves(str(tmp_path / "own.sqlite"), dataset="wine", classifier="1nn")
    (k,) = display.lines_[0].get_xdata()
    assert 1 < k < 13
    display.figure_.canvas.draw()


def test_labels_that_are_the_same_are_told_apart(store):
    with Store(store) as opened:
        rows = result_rows(opened)
    both = rows + [{**row, "study": "second"} for row in rows]
    display = study_curves(both, dataset="wine", classifier="1nn", selectors=["FisherSelector"])
    labels = [curve.label for curve in display.curves]
    assert labels == ["FisherSelector, small", "FisherSelector, second"]


def test_unknown_names_are_refused_with_those_that_exist(store, tmp_path):
    def draw(source=store, **changes):
        settings = {"dataset": "wine", "classifier": "1nn", **changes}
        return study_curves(source, **settings)

    with pytest.raises(ValueError, match="dataset 'wines' is not in the study; it has 'wine', 'b"):
        draw(dataset="wines")
    with pytest.raises(ValueError, match="classifier 'tree' is not in the study; it has '1nn', 's"):
        draw(classifier="tree")
    with pytest.raises(ValueError, match="selector 'Fisher' is not in the study; it has 'FisherS"):
        draw(selectors=["Fisher"])
    with pytest.raises(ValueError, match="metric 'f1' is not in the study; it has 'accuracy', 'm"):
        draw(metric="f1")
    with pytest.raises(ValueError, match=r"there is no study at .*none\.sqlite"):
        draw(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()
    with pytest.raises(ValueError, match="no finished cells"):
        draw([])


def test_many_lines_differ_in_style_and_awkward_labels_are_shown(drawn):
    ks = np.array([1, 10])
    curves = [ScoreCurve(f"_${i}$", ks, ks / 10 + i, 0.1 * ks) for i in range(12)]
    display = AccuracyCurveDisplay(curves, title="$a$").plot()
    looks = {(line.get_color(), line.get_linestyle()) for line in display.lines_}
    assert len(looks) == 12
    assert set(drawn(display)) >= {f"_${i}$" for i in range(12)}
