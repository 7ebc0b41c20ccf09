"""The model card: data, folds, score, ranges, and what the model is not for."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import sparsieve
from sparsieve.app.report.answer import HeldOut, model_card
from sparsieve.meta.held_out import HeldOutCheck
from sparsieve.selection.selected_data import SelectedData


def card_of(selected, **how):
    kept = SelectedData.from_selector(
        selected.method, selected.prepared_X, selected.y, selected.names, selected.covariates.places
    )
    check = selected.check
    answer = None if check is None else HeldOut.from_assessment(None, check)
    return model_card(kept, answer, check, **how)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y, sparsieve.select(X, y, k=2, check=True)


def test_data_score_units_and_ranges(iris):
    X, _, selected = iris
    card = card_of(selected, groups=np.arange(150) // 2)
    facts, table = card.blocks
    assert facts.values["training data"] == "150 samples, 4 features, 75 groups of samples"
    assert facts.values["target"] == "0 (50), 1 (50), 2 (50)"
    assert facts.values["model"] == "softmax regression model of 2 features"
    check = selected.check
    assert isinstance(check, HeldOutCheck)
    low, high = check.shown(check.low), check.shown(check.high)
    score = f"accuracy {check.shown(check.score)} (95 % interval {low} to {high}); 10 folds"
    assert facts.values["held-out samples"] == score
    columns = {column.title: list(column.values) for column in table.columns}
    assert columns["column"] == selected.features
    assert columns["unit"] == ["cm", "cm"]
    assert columns["smallest"] == [X[name].min() for name in selected.features]
    assert columns["largest"] == [X[name].max() for name in selected.features]
    assert "missing" not in columns
    said = " ".join(card.text)
    assert "Not for values outside the ranges below" in said
    assert "another population" in said
    assert "Not for predictions" not in said


def test_gaps_and_codes_are_those_before_preparation():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 2, 60), rng.normal(size=60)])
    y = np.where(X[:, 0] + 2 * X[:, 1] > 1, "yes", "no")
    X[:6, 0] = np.nan
    names = ["dose [mg]", "smoker", "noise"]
    selected = sparsieve.select(
        X, y, k=2, feature_names=names, prepare="impute", check=False, linear_only=True
    )
    table = card_of(selected, X=X).blocks[1]
    rows = {row[0]: row for row in zip(*(c.values for c in table.columns), strict=True)}
    low, high = np.nanmin(X[:, 0]), np.nanmax(X[:, 0])
    assert rows["dose [mg]"][1:] == ("mg", low, high, "numbers", "10 %")
    assert rows["smoker"][1:] == (None, 0.0, 1.0, "0 or 1", None)
    assert "Not checked on held-out samples" in card_of(selected, X=X).text[0]


def test_a_model_of_noise_is_not_for_predictions():
    rng = np.random.default_rng(0)
    selected = sparsieve.select(
        rng.normal(size=(60, 8)), np.repeat([0, 1], 30), k=2, check=True, linear_only=True
    )
    assert card_of(selected).text[0].startswith("Not for predictions: ")


def test_the_card_is_in_the_report(iris, tmp_path):
    iris[2].report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Model card" in page
    assert "before anything was done to them" in page
