"""What the slider and the panel of a feature show, against the selectors themselves."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import scale

from sparsieve import (
    FStatisticSelector,
    InfoGainSelector,
    L20Selector,
    ReliefFSelector,
    RidgeForwardSelector,
)
from sparsieve.app.report import selector_report
from sparsieve.app.report.elements import Explorer
from sparsieve.app.report.exploration import target_correlation_chart
from sparsieve.app.report.wording import percent
from sparsieve.datasets.synthetic.targets import make_survival
from sparsieve.scoring.ridge_path import default_estimator
from sparsieve.selection.selected_data import SelectedData

pytestmark = pytest.mark.usefixtures("lines_only")

pytest.importorskip("vl_convert")


def explorer_of(report):
    return next(b for s in report.sections for b in s.blocks if isinstance(b, Explorer))


def at_step(explorer, title, k):
    """The columns of a chart at one place of the slider."""
    chart = next(chart for chart in explorer.charts if chart.title == title)
    place = [i for i, found in enumerate(chart.columns["k"].values) if found == k]
    return {name: [c.values[i] for i in place] for name, c in chart.columns.items()}


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def report(wine):
    return selector_report(RidgeForwardSelector(5).fit(*wine), *wine, null=None)


def test_every_step_is_the_selection_at_that_number(wine):
    X, y = wine
    for selector in (RidgeForwardSelector(5).fit(X, y), L20Selector(5, ridge=0.0).fit(X, y)):
        report = selector_report(selector, X, y, cv=0, null=None)
        for step in explorer_of(report).steps:
            assert set(step.names) == set(selector.at(step.k).get_feature_names_out())
            assert [X.columns[j] for j in step.features] == list(step.names)
        assert [step.k for step in explorer_of(report).steps] == [1, 2, 3, 4, 5]


def test_confusions_at_every_step_come_from_the_honest_folds(report, wine):
    X, y = wine
    # The folds of the check; every sample counts as it was first predicted.
    repeated = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    folds = list(repeated.split(X, y))
    for k in (1, 4):
        model = default_estimator("classification", len(y))
        guessed, scores = np.empty(len(y), dtype=int), []
        for i, (train, test) in enumerate(folds):
            selector = RidgeForwardSelector(k).fit(X.to_numpy()[train], y[train])
            fitted = clone(model).fit(selector.transform(X.to_numpy()[train]), y[train])
            found = fitted.predict(selector.transform(X.to_numpy()[test]))
            scores.append(np.mean(found == y[test]))
            if i < 5:
                guessed[test] = found
        found = at_step(explorer_of(report), "Held-out samples by true and predicted class", k)
        assert found["count"] == confusion_matrix(y, guessed).ravel().tolist()
        said = explorer_of(report).steps[k - 1].text[0]
        error = np.std(scores, ddof=1) * np.sqrt(1 / 10 + 1 / 4)  # Nadeau and Bengio
        assert f"softmax regression model {percent(np.mean(scores))} ± {100 * error:.1f}" in said


def test_the_projection_is_that_of_principal_components(report, wine):
    X, y = wine
    names = explorer_of(report).steps[3].names
    found = at_step(explorer_of(report), "The samples in two dimensions", 4)
    model = PCA(2).fit(scale(X[names]))
    expected = model.transform(scale(X[names]))
    for axis, values in enumerate((found["x"], found["y"])):
        assert np.allclose(np.abs(values), np.abs(expected[:, axis]), atol=1e-8)
    share = 100 * model.explained_variance_ratio_.sum()
    assert (
        explorer_of(report).steps[3].text[-1]
        == f"The first two components capture {share:.1f} % of the variance."
    )
    assert found["series"] == [str(label) for label in y]


def test_the_clustered_map_holds_every_sample_and_feature_once(report, wine):
    X, y = wine
    found = at_step(explorer_of(report), "Samples and selected features, clustered", 3)
    names = explorer_of(report).steps[2].names
    assert set(found["y"]) == {"class ▸", *names}
    assert len(found["y"]) == 4 * len(X)
    scaled = dict(zip(names, scale(X[names]).T, strict=True))
    for name, sample, value in zip(found["y"], found["x"], found["value"], strict=True):
        row = int(sample.split(":")[0].removeprefix("row "))
        if name == "class ▸":
            assert sample == f"row {row}: {y[row]}"
        else:
            assert value == pytest.approx(scaled[name][row], abs=0.006)


def test_many_samples_are_drawn_in_part_and_it_is_said(rng):
    X, y = rng.standard_normal((900, 4)), np.repeat(["a", "b"], [300, 600])
    X[:, 0] += 3 * (y == "a")
    report = selector_report(FStatisticSelector(1).fit(X, y), X, y, cv=0, null=None)
    found = at_step(explorer_of(report), "The samples in two dimensions", 1)
    assert [found["series"].count(label) for label in "ab"] == [67, 133]
    assert "200 of 900 samples, drawn at random" in explorer_of(report).charts[0].note
    assert len(explorer_of(report).steps) == 1  # a selection of one needs no slider
    assert "slider" not in " ".join(report.sections[0].text)


def test_numbers_are_predicted_and_correlated():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = RidgeForwardSelector(4, task="regression").fit(X, y)
    explorer = explorer_of(selector_report(selector, X, y, cv=3, null=None))
    assert [chart.title for chart in explorer.charts] == [
        "Held-out samples: predicted and true target",
        "The samples in two dimensions",
        "Correlation with the target",
        "Samples and selected features, clustered",
    ]
    found = at_step(explorer, "Correlation with the target", 2)
    assert found["x"] == pytest.approx([np.corrcoef(X[name], y)[0, 1] for name in found["y"]])
    assert "R² = " in explorer.steps[0].text[0]


def test_profiles_hold_values_ranks_and_substitutes(rng):
    X = rng.standard_normal((60, 8))
    X[:, 5] = X[:, 2] + 0.01 * rng.standard_normal(60)
    X[7, 1] = 40.0
    y = np.where(X[:, 2] + 0.3 * rng.standard_normal(60) > 0, "yes", "no")
    selector = RidgeForwardSelector(1).fit(X, y)
    profiles = selector_report(selector, X, y, cv=0, null=None).profiles
    filters = [FStatisticSelector().fit(X, y), InfoGainSelector(discretize="frequency").fit(X, y)]
    methods = list(profiles.ranks)
    assert methods == ["RidgeForwardSelector", "F-statistic", "information gain, 5 levels"]
    for place, j in enumerate(profiles.features):
        low, high = profiles.ranges[place]
        levels = np.frombuffer(profiles.levels[place], dtype=np.uint8)
        assert np.allclose(
            low + levels / 254 * (high - low), X[:, j], atol=0.51 * (high - low) / 254
        )
        own = selector.ranking_[j] if selector.ranking_[j] == 1 else None
        assert [profiles.ranks[m][place] for m in methods] == [
            own,
            *(f.ranking_[j] for f in filters),
        ]
    (one,) = np.flatnonzero(selector.support_)
    (other,) = {2, 5} - {one}
    assert [found[0][0] for found in map(profiles.substitutes.get, (one, other))] == [other, one]
    assert profiles.substitutes[other][0][1] > 0.99


def test_ranks_by_numbers():
    X, y = load_diabetes(return_X_y=True)
    profiles = selector_report(
        SelectKBest(f_regression, k=3).fit(X, y), X, y + 0.5, null=None
    ).profiles
    assert list(profiles.ranks) == ["F-statistic", "Spearman's correlation"]
    assert profiles.substitutes is None


def test_missing_values_leave_gaps_and_are_not_fatal(rng):
    X, y = rng.standard_normal((40, 4)), np.arange(40) % 2
    X[:, 1] += 3 * y
    X[:5, 1] = np.nan
    report = selector_report(ReliefFSelector(2).fit(X, y), X, y, cv=0, null=None, oddities=())
    place = report.profiles.features.index(1)
    assert report.profiles.levels[place][:5] == b"\xff" * 5
    found = at_step(explorer_of(report), "Samples and selected features, clustered", 1)
    assert found["value"].count(None) == 40 + 5  # the strip of classes has no values
    assert report.to_html()


def test_features_with_the_same_name_stay_apart(rng):
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    X[:, 1:] += y[:, None]
    selector = FStatisticSelector(2).fit(X, y)
    report = selector_report(selector, X, y, feature_names=["a", "b", "b"], cv=0, null=None)
    assert set(explorer_of(report).steps[-1].names) == {"b", "b (column 2)"}


@pytest.mark.slow
def test_size_of_a_page_with_20_000_features(rng):
    X, y = rng.standard_normal((200, 20_000)), np.arange(200) % 5
    X[:, :40] += (y == 1)[:, None]
    selector = FStatisticSelector(60).fit(X, y)  # with p-values
    names = [f"ENSG{j:011d}" for j in range(20_000)]
    report = selector_report(selector, X, y, feature_names=names, cv=0, null=None, oddities=())
    assert len(report.to_html().encode()) < 3_000_000


def test_the_target_of_survival_times_is_named():
    data = make_survival(60, 5, n_relevant=2, random_state=0)
    kept = SelectedData.from_selector(
        FStatisticSelector(2).fit(data.X, data.y["time"]), data.X, data.y
    )
    chart = target_correlation_chart(kept, [(2, kept.order)])
    assert chart.note == "The target is the martingale residual (high: early event)."
