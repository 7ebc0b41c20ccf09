"""Selectors of other packages in studies: only where the user allows it, never by the file."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import RFE, SelectKBest, chi2
from sklearn.svm import LinearSVC

from sparsieve.scoring import Folds
from sparsieve_experiments.studies import (
    SelectorSpec,
    StoreReader,
    Study,
    StudyError,
    result_rows,
    run_study,
)
from sparsieve_experiments.studies.wrapped import built

FILE = """
name = "guests"
datasets = ["wine"]
ks = [1, 3]
classifiers = ["svm"]
zscore = false
protocol = { kind = "folds", n_folds = 2 }

[[selectors]]
name = "fisher"

[[selectors]]
name = "sklearn.feature_selection:SelectKBest"
parameters = { score_func = { name = "sklearn.feature_selection:chi2" } }

[[selectors]]
name = "sklearn.ensemble:RandomForestClassifier"
label = "trees"
grid = { n_estimators = [2, 4] }
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "guests.toml").write_text(FILE)
    return tmp_path / "guests.toml"


def test_a_file_imports_nothing_unless_the_user_says_so(file):
    with pytest.raises(StudyError, match=r"^guests\.toml: 'sklearn.* add --allow-import, or in"):
        Study.from_toml(file)
    study = Study.from_toml(file, allow_import=True)
    assert [spec.label.partition("(")[0].strip() for spec in study.selector_specs] == [
        "FisherSelector",
        "SelectKBest",
        "trees",
    ]


@pytest.mark.parametrize("place", ['name = "guests"', 'label = "trees"'])
def test_a_file_cannot_allow_itself(file, place):
    file.write_text(FILE.replace(place, f"{place}\nallow_import = true"))
    with pytest.raises(StudyError, match="has no setting 'allow_import'"):
        Study.from_toml(file, allow_import=True)
    with pytest.raises(StudyError):
        Study.from_toml(file)


def test_nothing_is_imported_without_leave(tmp_path, monkeypatch):
    (tmp_path / "hostile_guest.py").write_text("raise SystemError('ran')\nclass Guest: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    name = "hostile_guest:Guest"
    inside = {"selector": {"name": name}}
    for spec in (lambda: SelectorSpec(name), lambda: SelectorSpec("StabilitySelection", inside)):
        with pytest.raises(StudyError, match="code of another package"):
            spec()
    with pytest.raises(StudyError, match="code of another package"):
        Study("s", ["wine"], [name])
    assert "hostile_guest" not in sys.modules
    with pytest.raises(StudyError, match="hostile_guest cannot be imported: ran"):
        SelectorSpec(name, allow_import=True)


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("no_such_package:Guest", {}, "no_such_package cannot be imported"),
        ("sklearn.feature_selection:Nothing", {}, "has no Nothing"),
        ("sklearn.feature_selection:__all__", {}, "neither a class nor a function"),
        ("sklearn.feature_selection:", {}, "not of the form package.module:Class"),
        ("../evil:Guest", {}, "not of the form package.module:Class"),
        ("sklearn.feature_selection:SelectKBest", {"kk": 3}, "SelectKBest cannot be made"),
        ("sklearn.feature_selection:RFE", {}, "RFE cannot be made .*pass an instance|estimator"),
        ("builtins:dict", {}, "a method must be a name, a selector"),
    ],
)
def test_what_cannot_be_a_guest_is_said_in_a_sentence(name, parameters, sentence):
    with pytest.raises(StudyError, match=sentence):
        SelectorSpec(name, parameters, allow_import=True)


def test_parameters_may_be_estimators_and_functions():
    svm = {"name": "sklearn.svm:LinearSVC", "parameters": {"C": 0.1}}
    made = built("sklearn.feature_selection:RFE", {"estimator": svm}, seed=7, allow_import=True)
    assert isinstance(made.selector, RFE)
    assert made.selector.estimator.get_params() == LinearSVC(C=0.1, random_state=7).get_params()


@pytest.mark.long("runs a study")
def test_guests_in_a_study_select_what_they_select_alone(file):
    study = Study.from_toml(file, allow_import=True)
    summary = run_study(study, file.with_suffix(".sqlite"))
    assert (summary.done, summary.failed) == (6, 0)
    X, y = load_wine(return_X_y=True)
    with StoreReader(file.with_suffix(".sqlite")) as store:
        cells = [c for c in store.cells("guests") if c["spec"]["label"].startswith("SelectKBest")]
        rows = result_rows(store, "guests")
    assert {row["selector"] for row in rows} >= {"trees", "FisherSelector"}
    splits = {(s.repeat, s.fold): s.train for s in Folds(2).splits(y, None, seed=0)}
    for cell in cells:
        train = splits[cell["spec"]["repeat"], cell["spec"]["fold"]]
        wanted = SelectKBest(chi2, k=3).fit(X[train], y[train]).get_support(indices=True)
        assert sorted(cell["result"]["features"]) == np.sort(wanted).tolist()
