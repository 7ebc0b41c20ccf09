"""Selectors around selectors and preprocessors in study files, which may come from anywhere."""

import json

import numpy as np
import pytest

from sparsieve import EnsembleSelector, SelectorCV, StabilitySelection
from sparsieve.scoring import Folds, TimeOrdered
from sparsieve_experiments.studies import (
    DatasetSpec,
    SelectorSpec,
    StoreReader,
    Study,
    StudyError,
    kept_rows,
    result_rows,
    run_study,
)
from sparsieve_experiments.studies.wrapped import Preparation, built, in_time

WRAPPED = """
ks = "own"
classifiers = ["1nn"]
regressors = ["ridge"]
protocol = { kind = "folds", n_folds = 2 }
datasets = ["wine"]

[[selectors]]
name = "SelectorCV"
[selectors.parameters]
ks = [1, 3]
n_repeats = 1
estimator = "5nn"
selector = { name = "l21", parameters = { max_iter = 500 } }

[[selectors]]
name = "stability-selection"
parameters = { selector = "fisher", n_subsamples = 6 }

[[selectors]]
name = "EnsembleSelector"
label = "both"
parameters = { selectors = ["fisher", { name = "ridge-forward", parameters = { ridge = 0.5 } }] }

[[selectors]]
name = "ridge-forward"
parameters = { n_features_to_select = 2 }
before = ["StandardScaler", { name = "SimpleImputer", parameters = { strategy = "median" } }]
"""


@pytest.mark.long("runs a study")
def test_wrapped_selectors_in_a_file(tmp_path):
    file, path = tmp_path / "w.toml", tmp_path / "w.sqlite"
    file.write_text(WRAPPED)
    study = Study.from_toml(file)
    assert [spec.label for spec in study.selectors] == [
        "SelectorCV(ks=[1, 3], n_repeats=1, estimator='5nn', selector=l21(max_iter=500))",
        "StabilitySelection(selector='fisher', n_subsamples=6)",
        "both",
        "RidgeForwardSelector(n_features_to_select=2) after StandardScaler, SimpleImputer",
    ]
    summary = run_study(study, path)
    assert (summary.done, summary.failed) == (8, 0)
    with StoreReader(path) as store:
        rows, kept = result_rows(store), kept_rows(store)
    assert {row["n_selected"] for row in rows if row["class"] == "SelectorCV"} <= {1, 3}
    assert all(row["accuracy"] > 0.4 for row in rows)
    assert "proline" in {row["feature"] for row in kept if row["selector"].startswith("Ridge")}
    assert run_study(study, path).computed == 0


def test_what_is_built():
    nested = {
        "selectors": ["fisher", {"name": "StabilitySelection", "parameters": {"selector": "l21"}}]
    }
    made = built("EnsembleSelector", nested, seed=7)
    assert isinstance(made, EnsembleSelector)
    assert isinstance(made.selectors[1], StabilitySelection)
    assert made.selectors[1].random_state == 7
    search = built("SelectorCV", {"estimator": "5nn", "random_state": 3}, task="regression", seed=7)
    assert isinstance(search, SelectorCV)
    assert type(search.estimator).__name__ == "KNeighborsRegressor"
    assert search.random_state == 3


def deep(levels):
    table = {"name": "fisher"}
    for _ in range(levels):
        table = {"name": "StabilitySelection", "parameters": {"selector": table}}
    return table


def stable(inner):
    return {"name": "StabilitySelection", "parameters": {"selector": inner}}


def members(inner):
    return {"name": "EnsembleSelector", "parameters": {"selectors": inner}}


def search(**settings):
    return {"name": "SelectorCV", **settings}


def behind(before):
    return {"name": "fisher", "before": before}


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (stable("os.system"), "unknown selector"),
        (stable(3), "must be a name or a table"),
        (stable({"nam": "x"}), "no setting 'nam'"),
        (stable({}), "must be text, got None"),
        (stable({"name": "l21", "parameters": 3}), "Selection must be a table, got 3"),
        (stable({"name": "l21", "parameters": {"a": 1}}), "L21Selector has no parameter 'a'"),
        (
            stable({"name": "l21", "parameters": {"n_features_to_select": 3}}),
            "is said by what is around it",
        ),
        (stable("SelectorCV"), "SelectorCV chooses how many .* can only stand outside"),
        (members("fisher"), "a list of 1 to 50"),
        (members([]), "a list of 1 to 50"),
        (members(["l21"] * 51), "a list of 1 to 50"),
        (deep(3), "nested too deeply"),
        (deep(300), "nested too deeply"),
        (search(parameters={"estimator": "forest"}), "estimator of SelectorCV must"),
        (search(parameters={"estimator": {"name": "svm"}}), "estimator of SelectorCV must"),
        (search(grid={"selector": ["l21"]}), "cannot be chosen from a grid"),
        (behind("SimpleImputer"), "before of selector 'fisher' must be a list"),
        (behind([3]), "must be a name or a table"),
        (behind(["eval"]), "unknown preprocessor 'eval'"),
        (behind(["FunctionTransformer"]), "unknown preprocessor"),
        (behind([{"name": ["a"]}]), "must be text, got"),
        (behind([{"name": "SimpleImputer", "with": 1}]), "no setting 'with'"),
        (
            behind([{"name": "SimpleImputer", "parameters": {"x": 1}}]),
            "SimpleImputer has no parameter 'x'",
        ),
        (behind([{"name": "KNNImputer", "columns": 3}]), "columns of KNNImputer must be"),
        (behind(["OneHotEncoder"]), "OneHotEncoder needs columns"),
        (behind(["SimpleImputer"] * 51), "before may name 50 steps, got 51"),
    ],
)
def test_hostile_descriptions_get_one_sentence(selector, message):
    content = {"name": "s", "datasets": ["wine"], "selectors": [selector], "ks": "own"}
    with pytest.raises(StudyError, match=message) as caught:
        Study.from_dict(content)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_numbers_of_features_are_said_in_one_place():
    with pytest.raises(StudyError, match="SelectorCV chooses how many features to keep"):
        Study("s", ["wine"], ["SelectorCV"], ks=[1])
    fixed = SelectorSpec("fisher", {"n_features_to_select": 2})
    with pytest.raises(StudyError, match="ks of the study says how many"):
        Study("s", ["wine"], [fixed], ks=[1])
    assert Study("s", ["wine"], [fixed], ks="own")


def patients(n=48):
    rng = np.random.default_rng(0)
    grade = rng.choice([1.0, 2.0, 3.0], n)
    age = rng.normal(50, 10, n)
    noise = rng.standard_normal((n, 3))
    y = 3.0 * (grade == 2) + age / 5 + 0.1 * rng.standard_normal(n)
    age[::7] = np.nan
    grade[0] = 9.0  # a category that only one part of the samples has
    return {
        "X": np.column_stack([noise, grade, age]),
        "y": y,
        "feature_names": ["n0", "n1", "n2", "grade", "age"],
    }


def test_features_are_named_behind_an_encoder(tmp_path):
    path = tmp_path / "s.sqlite"
    before = [{"name": "OneHotEncoder", "columns": ["grade"]}, "SimpleImputer"]
    data = DatasetSpec("patients", data=patients())
    study = Study(
        "s", [data], [SelectorSpec("ridge-forward", before=before), "AllFeatures"], Folds(3), ks=[2]
    )
    summary = run_study(study, path)
    assert summary.done == 3  # without an imputer the missing values are refused
    with StoreReader(path) as store:
        failed = store.cells("s", states=["failed"])
        rows = result_rows(store)
    assert all("missing values" in cell["error"] or "NaN" in cell["error"] for cell in failed)
    for row in rows:
        assert sorted(json.loads(row["features"])) == ["age", "grade_2.0"]
        assert row["n_columns"] in (7, 8)
        assert row["n_features"] == 5
    # Columns have other places where a category is missing; by name the selections agree.
    pytest.importorskip("vl_convert")
    from sparsieve_experiments.report.study_results import StudyResults

    masks = StudyResults(rows).supports(2)["patients", rows[0]["selector"]]
    assert {mask.shape for mask in masks} == {(8,)}
    assert len({mask.tobytes() for mask in masks}) == 1


def test_a_column_that_is_not_there_is_a_failed_cell(tmp_path):
    spec = SelectorSpec("l21", before=[{"name": "MinMaxScaler", "columns": ["prolin"]}])
    summary = run_study(Study("s", ["wine"], [spec], Folds(2), ks=[1]), tmp_path / "s.sqlite")
    assert summary.failed == 2
    with StoreReader(tmp_path / "s.sqlite") as store:
        error = store.cells("s")[0]["error"]
    assert error.endswith("MinMaxScaler finds no column 'prolin'; did you mean 'proline'?")


def test_a_preparation_learns_from_the_training_part_alone():
    X = np.array([[1.0, 5.0], [3.0, np.nan], [np.nan, 1.0]])
    prepare = Preparation([{"name": "SimpleImputer"}, {"name": "StandardScaler"}], None).fit(X[:2])
    assert prepare.transform(X[2:])[0, 0] == 0.0  # the mean of the first two
    assert prepare.get_feature_names_out().tolist() == ["x0", "x1"]


def test_what_chooses_by_folds_learns_from_the_past(tmp_path):
    outer = in_time(built("SelectorCV", {"ks": [1], "cv": 3, "selector": "fisher"}))
    folds = list(outer.cv.split(np.zeros((40, 1)), groups=np.arange(40) // 4))
    assert len(folds) == 3
    for train, test in folds:
        assert train.max() < test.min()
        assert not set(train // 4) & set(test // 4)
    rng = np.random.default_rng(1)
    data = {"X": rng.standard_normal((60, 4)), "who": np.arange(60) // 3}
    data["y"] = 2 * data["X"][:, 1] + rng.standard_normal(60)
    spec = SelectorSpec("SelectorCV", {"ks": [1, 2], "cv": 2})
    study = Study("s", [DatasetSpec("d", data=data, groups="who")], [spec], TimeOrdered(2), "own")
    assert run_study(study, tmp_path / "s.sqlite").failed == 0


def test_groups_reach_what_splits_again(tmp_path, monkeypatch):
    seen = []
    fit = SelectorCV.fit

    def watched(self, X, y, *, groups=None, **params):
        seen.append(len(groups))
        return fit(self, X, y, groups=groups, **params)

    monkeypatch.setattr(SelectorCV, "fit", watched)
    rng = np.random.default_rng(1)
    data = {"X": rng.standard_normal((40, 5)), "y": np.arange(40) % 2, "who": np.arange(40) // 4}
    spec = SelectorSpec("SelectorCV", {"ks": [1, 2], "n_repeats": 1, "cv": 3})
    study = Study("s", [DatasetSpec("d", data=data, groups="who")], [spec], Folds(2), ks="own")
    assert run_study(study, tmp_path / "s.sqlite").failed == 0
    assert seen == [20, 20]
