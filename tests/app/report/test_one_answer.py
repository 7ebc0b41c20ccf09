"""A terminal, a page and Python say the same of one selection: one model, folds and score."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import FisherSelector, FStatisticSelector, SelectorCV, select
from sparsieve.app.report import selector_report
from sparsieve.app.report.elements import Chart
from sparsieve.scoring.ridge_path import default_estimator

pytestmark = pytest.mark.usefixtures("lines_only")

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:150, :12], Y[:150]


def page_of(selected, **how):
    search = selected.selector if isinstance(selected.selector, SelectorCV) else None
    return selector_report(
        *(selected.method, selected.X, selected.y),
        search=search,
        check=selected.check,
        null=None,
        **how,
    )


def curve(page, model):
    [chart] = [b for b in page.sections[0].blocks if isinstance(b, Chart)]
    parts = (chart.columns[name].values for name in ("x", "y", "series"))
    return {k: mean for k, mean, series in zip(*parts, strict=True) if series == model}


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("k", "scoring"), [(3, None), ("auto", None), (3, "neg_log_loss"), ("auto", "roc_auc")]
)
def test_the_page_says_what_the_check_says(k, scoring):
    selected = select(X, Y, k, FisherSelector(), scoring=scoring, check=True)
    check, page = selected.check, page_of(selected)
    assert selected.accuracy == check.score
    assert curve(page, check.model)[len(selected.features)] == pytest.approx(check.score, abs=1e-12)
    assert check.shown(check.score).replace(".0 %", " %") in page.headline
    stability = page.figures.get("stability of the selection", "nan")  # where all are kept
    assert stability == f"{check.stability:.2f}"
    assert check.sentence() in page.sections[0].text[1]
    named = {None: "classified", "roc_auc": "had an AUC of", "neg_log_loss": "had a log loss of"}
    assert f"a {check.model} {named[scoring]} " in page.headline


def test_a_page_alone_says_the_same():
    """Without a check the folds and the model are those that a check would have had."""
    selected = select(X, Y, 3, FisherSelector(), check=True)
    alone = selector_report(selected.method, X, Y, null=None)
    page = page_of(selected)
    assert (alone.headline, alone.figures) == (page.headline, page.figures)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    model = default_estimator("classification", len(Y))
    by_hand = cross_val_score(make_pipeline(FisherSelector(3), model), X, Y, cv=folds).mean()
    assert selected.check.score == pytest.approx(by_hand, abs=1e-12)
    every = cross_val_score(model, X, Y, cv=folds).mean()
    assert page.figures["accuracy, all 12 features"] == f"{100 * every:.1f} %"


@pytest.mark.slow
def test_no_other_number_is_called_the_best_where_the_number_was_given():
    text = " ".join(page_of(select(X, Y, 3, FisherSelector(), check=True)).sections[0].text)
    assert "best" not in text
    assert "highest" not in text
    search = SelectorCV(FisherSelector(), n_repeats=1).fit(X, Y)
    text = " ".join(selector_report(search, X, Y, null=None).sections[0].text)
    assert " ".join(search.summary().split()) in text
    assert "highest" not in text


def test_a_second_model_stands_there_by_its_name():
    page = page_of(select(X, Y, 3, FisherSelector(), check=True))
    assert set(curve(page, "linear SVM")) == set(curve(page, "softmax regression model"))
    assert "SVM" not in page.headline


def test_bands_and_folds_are_those_that_are_drawn():
    """Three lines have bands on demand, and other models are scored on each sample once."""
    note = page_of(select(X, Y, 3, FisherSelector(), check=True)).sections[0].blocks[0].note
    assert note.startswith(
        "Mean of 10 folds (linear SVM and nearest neighbour: 5). Point at a line"
    )
    target = Y + 0.5 * X[:, 0]
    alone = selector_report(FStatisticSelector(2).fit(X, target), X, target, null=None)
    assert alone.sections[0].blocks[0].note.startswith("Mean of 10 folds; the band is one standard")


def test_covariates_leave_the_curve_whole():
    """Numbers of features that covariates alone use up cannot be asked for; the others are."""
    rng = np.random.default_rng(0)
    Z = pd.DataFrame(rng.standard_normal((80, 8)), columns=[*"abcdef", "age", "dose"])
    target = Z["a"] - Z["b"] + Z["age"] + 0.5 * rng.standard_normal(80)
    for k in ("auto", 2):
        selected = select(Z, target, k, covariates=["age", "dose"], check=True, cv=3)
        page = page_of(selected, covariates=selected.covariates.places)
        assert list(curve(page, "ridge model"))[:3] == [1, 2, 3]
        n_kept = len(selected.features)
        [explorer] = page.sections[1].blocks
        assert explorer.steps[-1].k == n_kept
        assert [step.k for step in explorer.steps] == list(range(1, n_kept + 1))
        assert "Every selection also has the covariates: age, dose." in page.sections[1].text[0]
        if k == "auto":
            assert f"Kept: {n_kept} feature" in page.sections[0].text[-1]


def test_what_covariates_predict_alone_is_said_in_the_report(tmp_path):
    rng = np.random.default_rng(0)
    Z = pd.DataFrame(rng.standard_normal((80, 8)), columns=[*"abcdef", "age", "dose"])
    target = Z["a"] + Z["age"] + 0.5 * rng.standard_normal(80)
    selected = select(Z, target, 1, covariates=["age", "dose"], check=True, cv=3)
    selected.report(tmp_path / "page.html")
    sentence = selected.covariates_alone.sentence
    assert sentence.startswith("With age and dose alone: R² ")
    assert html.escape(sentence) in (tmp_path / "page.html").read_text()


def test_other_folds_are_asked_for_and_shown_alone():
    selected = select(X, Y, 3, FisherSelector(), check=True)
    page = page_of(selected, cv=3)
    assert "10 folds" not in " ".join(page.sections[0].text)
    assert re.search("Mean of 6 folds", page.sections[0].blocks[0].note)


def test_a_rare_class_has_no_warning_beside_a_good_score():
    rng = np.random.default_rng(0)
    y = (np.arange(500) < 20).astype(int)
    Z = rng.standard_normal((500, 6))
    Z[:, :2] += 1.5 * y[:, None]
    page = page_of(select(Z, y, 2, FisherSelector(), scoring="roc_auc", check=True))
    assert re.search(r"had an AUC of 0\.9\d\d on held-out samples; a guess", page.headline)
    assert not any("accuracy" in word for word in (*page.warnings, *page.figures))
    [explorer] = page.sections[1].blocks
    [confusion] = [c for c in explorer.charts if "true and predicted" in c.title]
    cells = zip(*(confusion.columns[name].values for name in ("k", "x", "count")), strict=True)
    assert sum(count for k, x, count in cells if (k, x) == (2, "1")) < 20
    assert "Area under" not in " ".join(page.sections[0].text)
    assert not any("not tested" in line for line in page.warnings)
    plain = selector_report(FisherSelector(2).fit(Z, y), Z, y, null=None)
    assert not any("not tested" in line for line in plain.warnings)


def test_no_better_than_a_guess_is_not_called_a_matter_of_significance():
    """All labels are those of the large class, and yet the classes are told apart."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(400) < 16, "ill", "well")
    Z = rng.standard_normal((400, 5)) + 1.25 * (y == "ill")[:, None] * (np.arange(5) < 2)
    ridge = make_pipeline(StandardScaler(), RidgeClassifier(alpha=40.0))
    selected = select(Z, y, k=2, scoring="accuracy", check=True, estimator=ridge)
    assert selected.check.p_value <= 0.01
    page = page_of(selected)
    assert page.headline.endswith(
        "of held-out samples correctly, no better than always predicting the largest class (96 %)."
    )
    assert "the decision values of the model tell the classes apart" in page.warnings[0]
