"""What a model of trees says at every value: against predictions that are set one by one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingClassifier

from sparsieve import BoostedTreesSelector, RidgeForwardSelector
from sparsieve.app.report.relation import dependence_charts, mean_predictions, relation_section
from sparsieve.selection.selected_data import SelectedData

NAMES = ["dose", "age", "smoker", "noise"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    X[:, 2] = rng.integers(2, size=300)
    return X, np.abs(X[:, 1]) + np.where(X[:, 2] > 0, X[:, 0], -X[:, 0])


def kept(X, y, k=3, kind=BoostedTreesSelector, **how):
    selector = kind(k, **how).fit(X, y)
    return SelectedData.from_selector(selector, X, y, NAMES), getattr(selector, "interactions_", ())


def test_means_are_those_of_samples_with_the_value(data):
    X, y = data
    labels = np.digitize(y, [0.0, 1.0])
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, labels)
    found = mean_predictions(model, X[:40], (1, 2), np.array([[0.5, 1.0], [-1.0, 0.0]]))
    assert found.shape == (2, 3)
    for row, (age, smoker) in zip(found, [(0.5, 1.0), (-1.0, 0.0)], strict=True):
        other = X[:40].copy()
        other[:, 1], other[:, 2] = age, smoker
        assert_allclose(row, model.predict_proba(other).mean(axis=0))
    two = HistGradientBoostingClassifier(max_iter=5).fit(X, y > 0)
    assert mean_predictions(two, X, (0,), np.zeros((1, 1))).shape == (1, 1)


def test_curves_and_maps(data):
    X, y = data
    curves, *maps = dependence_charts(*kept(X, y, task="regression"))
    columns = curves.columns
    assert set(columns["feature"].values) == {"dose", "age", "smoker"}
    of_age = np.array(columns["feature"].values) == "age"
    x, f = (np.array(columns[name].values)[of_age] for name in "xy")
    assert f[np.abs(x) > 1].min() > f[np.abs(x) < 0.3].max()  # a curve, and no line
    of_smoker = np.array(columns["feature"].values) == "smoker"
    assert np.array(columns["x"].values)[of_smoker].tolist() == [0.0, 1.0]
    assert [chart.kind for chart in maps] == ["heatmap"]
    assert {maps[0].columns["x"].title, maps[0].columns["y"].title} == {"dose", "smoker"}


def test_classes_have_probabilities(data):
    X, y = data
    (chart, *_) = dependence_charts(*kept(X, np.where(y > 0.5, "ill", "well")))
    assert chart.columns["y"].title == "mean probability of well"
    assert set(chart.columns["series"].values) == {"well"}
    values = np.array(chart.columns["y"].values)
    assert ((values >= 0) & (values <= 1)).all()
    several = dependence_charts(*kept(X, np.digitize(y, [0.0, 1.0])))[0]
    assert set(several.columns["series"].values) == {"0", "1", "2"}
    many = np.arange(300) % 8
    assert dependence_charts(*kept(X, many)) == []


def test_only_trees_have_them(data):
    X, y = data
    linear, _ = kept(X, y, kind=RidgeForwardSelector, task="regression")
    assert relation_section(None, linear) is None
    trees, _ = kept(X, y, task="regression")
    section = relation_section(None, trees)
    assert [type(block).__name__ for block in section.blocks] == ["Chart", "Chart"]
