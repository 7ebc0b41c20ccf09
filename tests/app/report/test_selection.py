import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from sparsieve import (
    EnsembleSelector,
    FisherSelector,
    FStatisticSelector,
    L20Selector,
    L21Selector,
    RFSSelector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
    permutation_null,
)
from sparsieve.app.report import selector_report
from sparsieve.app.report.elements import Chart, Explorer, Table
from sparsieve.registry import all_methods
from sparsieve.scoring import redundancy_rate
from sparsieve.solvers import ExactSearch

pytestmark = pytest.mark.usefixtures("lines_only")

pytest.importorskip("vl_convert")


def blocks(report, kind):
    found = [b for s in report.sections for b in s.blocks]
    found += [report.picture] if report.picture else []
    found += [chart for b in found if isinstance(b, Explorer) for chart in b.charts]
    return {b.title: b for b in found if isinstance(b, kind)}


@pytest.fixture(scope="module")
def report(nasty_selector, nasty_wine):
    return selector_report(nasty_selector, *nasty_wine)


def test_sections_of_a_classification(report):
    assert [section.title for section in report.sections] == [
        "How well it predicts",
        "Explore the selection",
        "Ranking",
        "Weights",
        "Correlation and substitutes",
        "Stability",
        "Convergence",
        "Model card",
        "How it was made",
    ]


def test_size(report):
    assert len(report.to_html().encode()) < 3_000_000


def test_accuracy_is_that_of_a_pipeline_that_selects_inside_the_folds(report, nasty_wine):
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    X, y = nasty_wine
    pipeline = make_pipeline(
        StandardScaler(), RidgeForwardSelector(n_features_to_select=6), SVC(kernel="linear", C=1)
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = cross_val_score(pipeline, X.to_numpy(), y, cv=folds)
    columns = blocks(report, Chart)["Cross-validated accuracy over the number of features"].columns
    place = [
        i
        for i, (k, model) in enumerate(
            zip(columns["x"].values, columns["series"].values, strict=True)
        )
        if k == 6 and model == "linear SVM"
    ]
    assert columns["y"].values[place[0]] == pytest.approx(expected.mean())
    error = expected.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)  # Nadeau and Bengio
    assert columns["error"].values[place[0]] == pytest.approx(error, rel=1e-3)


def test_ranking_and_redundancy(report, nasty_selector, nasty_wine):
    X, _ = nasty_wine
    ranking = blocks(report, Table)["Ranking"].columns
    order = np.argsort(nasty_selector.ranking_)
    assert ranking[1].values == [X.columns[j] for j in order]
    assert sum(ranking[3].values) == 6
    assert ranking[3].title == "selected"
    assert blocks(report, Table)["Ranking"].note == "All 13 features."
    rate = redundancy_rate(X.to_numpy()[:, nasty_selector.get_support()])
    text = next(s.text for s in report.sections if s.title == "Correlation and substitutes")
    assert text[0] == (
        "The average correlation of two selected features is "
        f"{2 * rate.signed:.2f} (absolute: {2 * rate.absolute:.2f})."
    )


def test_means_by_class(report, nasty_selector, nasty_wine):
    X, y = nasty_wine
    columns = blocks(report, Chart)["Selected features by class"].columns
    feature, label = columns["y"].values[0], columns["x"].values[0]
    values = X[feature].to_numpy()
    expected = (values[y == label].mean() - values.mean()) / values.std()
    assert columns["value"].values[0] == pytest.approx(expected)


@pytest.mark.slow
def test_exclusive_selection_says_which_feature_belongs_to_which_class(
    exclusive_selector, nasty_wine
):
    report = selector_report(exclusive_selector, *nasty_wine)
    table = blocks(report, Table)["Which feature belongs to which class"]
    names, counts, classes = (column.values for column in table.columns)
    own = exclusive_selector.support_per_class_
    X, _ = nasty_wine
    for name, count, text in zip(names, counts, classes, strict=True):
        j = list(X.columns).index(name)
        mine = exclusive_selector.classes_[own[:, j]]
        assert count == len(mine)
        assert text == ", ".join(mine)
    has_steps = len(exclusive_selector.history_) > 1  # a chart needs two
    assert any(s.title == "Convergence" for s in report.sections) == has_steps


@pytest.mark.slow
def test_many_samples_are_assessed_on_some(rng, monkeypatch):
    monkeypatch.setattr("sparsieve.app.report.selection.MAX_SAMPLES", 60)
    X, y = load_wine(return_X_y=True)
    report = selector_report(FisherSelector(n_features_to_select=3).fit(X, y), X, y)
    assert report.sections[0].text[1] == "Computed on 60 samples drawn at random from all 178."


def test_substitutes(rng):
    X = rng.standard_normal((60, 5))
    X[:, 4] = -X[:, 0] + 0.01 * rng.standard_normal(60)
    y = X[:, 0] > 0
    selector = FisherSelector(n_features_to_select=1).fit(X, y)
    table = blocks(selector_report(selector, X, y, cv=0), Table)["Substitutes"]
    names = {table.columns[0].values[0], table.columns[1].values[0]}
    assert names == {"column 0", "column 4"}
    assert table.columns[2].values[0] < -0.99


def test_regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = RidgeForwardSelector(n_features_to_select=3, task="regression").fit(X, y)
    report = selector_report(selector, X, y)
    assert "R² = " in report.headline
    assert "Correlation with the target" in blocks(report, Chart)
    assert set(blocks(report, Chart)["Weights"].columns) == {"x", "y"}
    assert "class" not in " ".join([report.headline, *report.figures, *blocks(report, Chart)])
    assert "R², all 10 features" in report.figures
    assert report.to_html()


def test_several_targets_of_numbers(rng):
    X = rng.standard_normal((60, 6))
    Y = X[:, :3] + 0.1 * rng.standard_normal((60, 3))
    selector = RidgeForwardSelector(n_features_to_select=3).fit(X, Y)
    report = selector_report(selector, X, Y, null=None)
    weights = blocks(report, Chart)["Weights by target"].columns
    assert list(dict.fromkeys(weights["x"].values)) == ["target 0", "target 1", "target 2"]
    assert report.figures["targets"] == "3"


def test_two_classes_have_one_signed_weight(rng):
    X = rng.standard_normal((80, 5))
    y = np.where(X[:, 1] - X[:, 3] > 0, "yes", "no")
    selector = RidgeForwardSelector(n_features_to_select=2).fit(X, y)
    report = selector_report(selector, X, y, null=None)
    chart = blocks(report, Chart)["Weights"]
    sign = dict(zip(chart.columns["y"].values, np.sign(chart.columns["x"].values), strict=True))
    assert sign == {"column 1": 1, "column 3": -1}
    assert chart.note.endswith("Positive weights point to yes, negative weights to no.")


def test_classes_of_different_size(rng):
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    from sparsieve.scoring.ridge_path import default_estimator

    X = rng.standard_normal((120, 6))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(120) > 1.0, "ill", "well")
    selector = FisherSelector(n_features_to_select=2).fit(X, y)
    report = selector_report(selector, X, y, null=None)
    chart = blocks(report, Chart)["Held-out samples by true and predicted class"].columns
    model = default_estimator("classification", 120)
    pipeline = make_pipeline(FisherSelector(n_features_to_select=2), model)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = confusion_matrix(y, cross_val_predict(pipeline, X, y, cv=folds))
    counts = [n for n, k in zip(chart["count"].values, chart["k"].values, strict=True) if k == 2]
    assert counts == expected.ravel().tolist()
    recall = (np.diag(expected) / expected.sum(axis=1)).mean()
    assert report.figures["balanced accuracy"] == f"{100 * recall:.1f} %".replace(".0 %", " %")
    assert re.search(
        r"ROC curve of the linear SVM: (1\.00|0\.[89]\d)\.$", report.sections[0].text[-1]
    )


def test_columns_kept_by_request_are_called_by_name(nasty_wine):
    X, y = nasty_wine
    selector = RidgeForwardSelector(3, always_keep=["a & b"], never_keep=["x.y[0]"]).fit(X, y)
    report = selector_report(selector, X, y, cv=3)
    assert not any("cannot be fitted" in line for line in report.warnings)
    chart = blocks(report, Chart)["Features by score"].columns
    assert chart["series"].values[0] == "kept by request"
    notes = blocks(report, Table)["Ranking"].columns[-1]
    assert notes.title == "note"
    assert {"kept by request", "left out by request"} <= set(notes.values)


def test_filters_show_their_pvalues():
    X, y = load_wine(return_X_y=True)
    selector = FStatisticSelector(n_features_to_select=2).fit(X, y)
    report = selector_report(selector, X, y, cv=0, null=None)
    titles = [column.title for column in blocks(report, Table)["Ranking"].columns]
    assert titles[3:5] == ["p-value", "p-value, FDR-adjusted"]


def test_oddities_and_the_level_of_noise_are_said(rng):
    X = rng.standard_normal((60, 5))
    y = np.arange(60) % 2
    X[:, 2] = y + 0.1 * rng.random(60)
    selector = FisherSelector(n_features_to_select=1).fit(X, y)
    report = selector_report(selector, X, y, cv=0, feature_names=[*"ab", "leak", *"de"])
    assert report.warnings[0] == (
        "leak alone predicts the target perfectly. Possible leak: was it known before the outcome?"
    )
    chart = blocks(report, Chart)["Features by score"]
    assert chart.options["line"] == permutation_null(selector, X, y).level
    assert "noise level" in chart.note
    with pytest.raises(ValueError, match='null must be a PermutationNull, "auto" or None'):
        selector_report(selector, X, y, cv=0, null=3)


def test_the_level_of_noise_is_not_misread(rng):
    """It is that of a first step, and none where every fit has the same highest score."""
    X, y = rng.standard_normal((40, 6)), np.arange(40) % 2
    notes = {}
    for selector in (RidgeForwardSelector(3), L21Selector(3), FisherSelector(3)):
        found = selector_report(selector.fit(X, y), X, y, cv=0)
        [ranking] = [part for part in found.sections if part.title == "Ranking"]
        line = found.picture.options["line"]
        notes[type(selector).__name__] = " ".join(ranking.text), line
        if isinstance(selector, RidgeForwardSelector):
            first = found.picture.columns["y"].values[0], found.picture.columns["x"].values[0]
            said = found.picture.note
    note, line = notes["RidgeForwardSelector"]
    assert line is None  # of those that enter one by one, the first alone may be compared
    assert "the first feature alone is compared with it" in note
    assert f"The first feature, {first[0]} ({first[1]:.3g}), is " in said
    assert "above the noise level of" in said
    assert "later ones cannot be compared with it" in said
    note, line = notes["L21Selector"]
    assert line is None
    assert "no noise level is drawn" in note
    note, line = notes["FisherSelector"]
    assert line is not None
    assert "alone is compared" not in note


def test_two_folds_give_no_interval_of_stability(rng):
    X, y = rng.standard_normal((40, 6)), np.arange(40) % 2
    for folds, shown in ((2, False), (3, True)):
        search = SelectorCV(FisherSelector(), ks=[3], cv=folds, n_repeats=1).fit(X, y)
        found = selector_report(search, X, y, null=None)
        [section] = [part for part in found.sections if part.title == "Stability"]
        assert ("95 % interval" in section.text[0]) == shown


def test_what_is_exact_about_a_greedy_choice(rng):
    X, y = rng.standard_normal((40, 6)), np.arange(40) % 2
    said = {}
    for selector in (RidgeForwardSelector(3), RFSSelector(3)):
        found = selector_report(selector.fit(X, y), X, y, cv=0, null=None)
        [section] = [part for part in found.sections if part.title == "Convergence"]
        said[type(selector).__name__] = "not about their choice" in " ".join(section.text)
    assert said == {"RidgeForwardSelector": True, "RFSSelector": False}


@pytest.mark.slow
def test_sparse_data_are_not_densified(rng, monkeypatch):
    X = sparse.random_array((50, 3000), density=0.01, rng=rng, format="csr")
    y = np.arange(50) % 2
    largest = []
    dense = sparse.csr_array.toarray
    monkeypatch.setattr(
        sparse.csr_array, "toarray", lambda self: largest.append(self.shape[1]) or dense(self)
    )
    # All features are scored only where that is little work, which may be dense.
    monkeypatch.setattr("sparsieve.app.report.assessment._MAX_WORK", 0)
    selector = FisherSelector(n_features_to_select=5).fit(X, y)
    report = selector_report(selector, X, y, cv=2)
    assert "these 5 of 3,000 features" in report.headline
    assert max(largest, default=0) <= 40


@pytest.mark.thinned(5)
@pytest.mark.parametrize("method", all_methods().values(), ids=lambda method: method.name)
@pytest.mark.long("builds a whole page")
def test_every_selector_has_a_report(method, rng):
    X = np.abs(rng.standard_normal((40, 6)))  # chi-square wants no negative values
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(40) > 0.7, "yes", "no")
    selector = method.cls(n_features_to_select=2).fit(X, y)
    report = selector_report(selector, X, y, cv=2, null=None)
    assert "these 2 of 6 features" in report.headline
    assert [s.title for s in report.sections][-1] == "How it was made"


@pytest.mark.thinned(3)
@pytest.mark.parametrize("folds", [0, 2])
@pytest.mark.parametrize(
    "selector",
    [
        SelectorCV(FisherSelector()),
        StabilitySelection(FisherSelector(), n_subsamples=10),
        EnsembleSelector([FisherSelector(), RidgeForwardSelector()], n_features_to_select=4),
        SelectKBest(k=3),  # of scikit-learn
    ],
    ids=lambda selector: type(selector).__name__,
)
@pytest.mark.long("builds a whole page")
def test_other_selectors(selector, folds):
    X, y = load_wine(return_X_y=True)
    report = selector_report(selector.fit(X, y), X, y, cv=folds)
    is_unknown = folds == 0 and not hasattr(selector, "k_by_rule_")  # a search has folds of its own
    starts = f"{type(selector).__name__} kept " if is_unknown else "Using these "
    assert report.headline.startswith(starts) or "cannot be asked" in " ".join(report.warnings)
    assert report.to_html()


def test_nothing_kept(rng):
    X, y = rng.standard_normal((40, 6)), np.arange(40) % 2
    with pytest.warns(UserWarning, match="no feature was selected"):
        selector = StabilitySelection(
            FisherSelector(n_features_to_select=1), n_subsamples=10, threshold=1.0
        ).fit(X, y)
    report = selector_report(selector, X, y)
    assert report.headline == "StabilitySelection kept none of the 6 features."
    assert report.to_html()


def test_a_pipeline_is_refused():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(FisherSelector(n_features_to_select=2), GaussianNB()).fit(X, y)
    with pytest.raises(TypeError, match="got Pipeline; of a pipeline pass the step"):
        selector_report(pipeline, X, y)


def test_a_class_of_one_sample_is_not_fatal():
    X = np.random.default_rng(0).standard_normal((7, 4))
    y = np.array(["a", "a", "a", "b", "b", "b", "c"])
    selector = FisherSelector(n_features_to_select=2).fit(X, y)
    report = selector_report(selector, X, y)
    assert report.headline.startswith("Using these 2 of 4 features, a softmax regression model ")
    assert report.to_html()


@pytest.mark.slow
def test_an_unfinished_solver_is_said(nasty_wine):
    X, y = nasty_wine
    with pytest.warns(ConvergenceWarning):
        selector = L21Selector(alpha=1.0, tol=1e-300).fit(X, y)
    assert not selector.converged_
    report = selector_report(selector, X, y, cv=0)
    assert any("exceeds tol=1e-300; raise max_iter or tol" in line for line in report.warnings)


def test_an_exact_search_out_of_time_is_told_of_its_limit(rng, clock):
    X, y = rng.standard_normal((40, 30)), rng.standard_normal(40)
    search = L20Selector(8, solver=ExactSearch(time_limit=0.5), ridge=0.01)
    with pytest.warns(ConvergenceWarning):
        search.fit(X, y)
    report = selector_report(search, X, y, cv=0, null=None)
    ends = [line for line in report.warnings if "did not converge" in line]
    assert ends[0].endswith("raise the solver's time_limit, which was 0.5 s.")


@pytest.mark.slow
def test_how_many_are_enough_is_said(report):
    text = " ".join(report.sections[0].text)
    assert 'was not chosen by this curve; k="auto" (-k auto) chooses it' in text
    assert "highest" not in text
    X, y = load_wine(return_X_y=True)
    search = SelectorCV(FisherSelector(), n_repeats=1).fit(X, y)
    found = selector_report(search, X, y, null=None)
    assert any(" ".join(search.summary().split()) in line for line in found.sections[0].text)
    assert found.headline.startswith("Using these ")
    without = selector_report(search, X, y, cv=0, null=None)
    assert without.sections[0].title == "How many features"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.ones((178, 2))}, "fitted on 13 features"),
        ({"y": np.ones(3)}, "X has 178 samples and y 3"),
        ({"feature_names": ["a"]}, "feature_names holds 1 names for 13 features"),
        ({"cv": -1}, "cv must be"),
    ],
)
def test_bad_input(nasty_selector, nasty_wine, change, message):
    X, y = nasty_wine
    arguments = {"X": X.to_numpy(), "y": y, **change}
    with pytest.raises(ValueError, match=message):
        selector_report(nasty_selector, **arguments)


def test_unfitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        selector_report(FisherSelector(), np.ones((3, 2)), [0, 1, 0])


@pytest.mark.slow
def test_the_headline_says_what_a_guess_gets():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 30)), np.arange(80) % 2
    noise = RidgeForwardSelector(n_features_to_select=3).fit(X, y)
    headline = selector_report(noise, X, y, null=None).headline
    assert headline.endswith(
        "classified 41.9 % of held-out samples correctly, no better than always predicting the "
        "largest class (50 %)."
    )
    assert "Other models were not tested" in selector_report(noise, X, y, null=None).warnings[0]
    X[:, 4] += 5 * y
    sure = RidgeForwardSelector(n_features_to_select=3).fit(X, y)
    assert selector_report(sure, X, y, null=None).headline == (
        "Using these 3 of 30 features, a ridge model classified 100 % of held-out samples "
        "correctly; always predicting the largest class scores 50 %."
    )
    some = (np.arange(80) % 2 == 0) | (np.arange(80) < 20)
    uneven = RidgeForwardSelector(n_features_to_select=3).fit(X[some], y[some])
    assert selector_report(uneven, X[some], y[some], null=None).headline.endswith(
        "always predicting the largest class scores 80 %."
    )
    numbers = rng.standard_normal(80)
    chance = RidgeForwardSelector(n_features_to_select=3).fit(X, numbers)
    headline = selector_report(chance, X, numbers, null=None).headline
    assert "no better than always predicting the mean (R² = -" in headline


@pytest.mark.long("builds a whole page")
def test_the_page_shows_what_held_out_samples_said():
    from sparsieve.meta.held_out import held_out_check

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 30)), np.arange(80) % 2
    selector = RidgeForwardSelector(n_features_to_select=3).fit(X, y)
    check = held_out_check(selector, X, y, n_kept=3, task="classification")
    page = selector_report(selector, X, y, null=None, check=check)
    assert page.warnings[0].startswith(
        "No linear model of the selected features predicts better than a guess without features"
    )
    [section] = [one for one in page.sections if one.title == "How well it predicts"]
    said = "Model: softmax regression model. On held-out samples: accuracy "
    assert section.text[1].startswith(said)


def test_classes_that_a_selector_had_to_read_are_shown_as_classes():
    y = np.repeat([20, 35, 41, 60, 77, 90, 13], 3)
    X = np.random.default_rng(0).standard_normal((21, 5))
    selector = FisherSelector(n_features_to_select=2).fit(X, np.append(y[:-1], 14))
    report = selector_report(selector, X, np.append(y[:-1], 14), cv=0, null=None)
    assert report.figures["classes"] == "8"


def test_covariates_are_called_as_before_they_were_encoded(rng):
    X = rng.standard_normal((40, 4))
    y = X[:, 0] + X[:, 3]
    selector = RidgeForwardSelector(3, always_keep=[2, 3], task="regression").fit(X, y)
    names = ["a", "b", "site=u", "site=v"]
    quick = {"cv": 0, "null": None, "oddities": ()}
    report = selector_report(selector, X, y, feature_names=names, covariates=[2, 3], **quick)
    assert report.headline == "RidgeForwardSelector kept 1 of 2 features beside site: a."
