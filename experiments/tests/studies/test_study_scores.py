import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import FisherSelector
from sparsieve.scoring import Folds
from sparsieve_experiments.report.study_results import StudyResults
from sparsieve_experiments.studies import (
    DatasetSpec,
    SelectorSpec,
    StoreReader,
    Study,
    result_rows,
    run_study,
    score_table,
    standings,
    study_curves,
    summarise,
)
from sparsieve_experiments.studies.checked import trouble_with

SCORING = ["neg_log_loss", "roc_auc_ovr", "accuracy"]


def rows_of(study, path):
    done = run_study(study, path)
    assert done.failed == 0
    with StoreReader(path) as store:
        return result_rows(store)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    study = Study(
        "s", ["wine"], ["fisher", "mrmr"], Folds(3), ks=[2, 4], classifiers=["softmax"],
        scoring=SCORING,
    )  # fmt: skip
    return rows_of(study, tmp_path_factory.mktemp("scores") / "s.sqlite")


def test_a_study_scores_as_a_plain_loop_does(rows):
    data = DatasetSpec("wine").load()
    splits = list(Folds(3).splits(data.y, seed=0))
    for row in rows:
        if row["selector"] != "FisherSelector":
            continue
        split = splits[row["fold"]]
        scaler = StandardScaler().fit(data.X[split.train])
        train, test = scaler.transform(data.X[split.train]), scaler.transform(data.X[split.test])
        kept = FisherSelector(row["k"]).fit(train, data.y[split.train]).get_support()
        model = make_pipeline(LogisticRegression(tol=1e-12, max_iter=10_000))
        model.fit(train[:, kept], data.y[split.train])
        for asked in SCORING:
            wanted = abs(get_scorer(asked)(model, test[:, kept], data.y[split.test]))
            assert row[asked.removeprefix("neg_")] == pytest.approx(wanted, rel=1e-6)


def test_the_first_score_decides_and_errors_are_positive(rows):
    assert StudyResults(rows).metric_title == "log loss, lower is better"
    means = {m["selector"]: m["log_loss"] for m in summarise(rows) if m["k"] == 2}
    table = score_table(rows, classifier="softmax", k=2, metric="log_loss")
    np.testing.assert_allclose(table.scores[0], [-means[name] for name in table.selectors])
    (standing,) = standings(rows)
    assert standing.metric == "log_loss"
    assert list(standing.means.values()) == sorted(standing.means.values())
    (other,) = standings(rows, metric="roc_auc_ovr")
    assert list(other.means.values()) == sorted(other.means.values(), reverse=True)
    pytest.importorskip("matplotlib")
    drawn = study_curves(rows, dataset="wine", classifier="softmax")
    assert drawn.score_name == "log loss, lower is better"


def test_files_may_still_say_metrics():
    content = {"name": "s", "datasets": ["wine"], "selectors": ["fisher"], "ks": [1]}
    old = Study.from_dict({**content, "metrics": ["mcc", "f1"]})
    new = Study.from_dict({**content, "scoring": ["mcc", "f1"]})
    data = new.dataset_specs[0].load()
    assert [cell.key for cell in old.cells(data)] == [cell.key for cell in new.cells(data)]
    assert new.cells(data)[0].spec["metrics"] == ["mcc", "f1"]  # what finished cells are known by
    assert Study.from_dict({**content, "scoring": "mcc"}).scoring == ("mcc",)
    with pytest.raises(ValueError, match="a study has no setting 'metrics'"):
        Study.from_dict({**content, "metrics": ["mcc"], "scoring": ["mcc"]})


def test_models_that_nobody_asked_for_are_those_that_can_be_scored():
    assert Study("s", ["wine"], ["fisher"]).classifiers == ("1nn", "5nn", "svm", "softmax")
    study = Study("s", ["wine"], ["fisher"], scoring=["neg_log_loss", "r2"])
    assert study.classifiers == ("1nn", "5nn", "softmax")
    assert study.regressors == ("ridge", "5nn", "svr")


@pytest.mark.parametrize(
    ("scoring", "sentence"),
    [
        (["roc_aux"], r"scoring 'roc_aux' is unknown \(did you mean 'roc_auc'\?\)"),
        (["neg_log_loss"], "needs class probabilities, which 'svm' does not give; use '1nn'"),
        (["recall"], "recall is the share of relevant features .* use recall_macro"),
        ([print], "scoring"),
    ],
)
def test_one_sentence_for_scores_that_a_study_cannot_have(scoring, sentence):
    with pytest.raises(ValueError, match=sentence):
        Study("s", ["wine"], ["fisher"], classifiers=["svm"], scoring=scoring)


def test_a_score_that_is_not_defined_on_a_split_is_left_out_of_its_means(tmp_path):
    path = tmp_path / "few.csv"
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40, 3))
    # In order of time the last part holds one class alone.
    labels = ["a", "b"] * 15 + ["a"] * 10
    lines = [",".join([*map(str, row), label]) for row, label in zip(values, labels, strict=True)]
    path.write_text("u,v,w,label\n" + "\n".join(lines) + "\n")
    study = Study.from_dict(
        {
            "name": "s",
            "datasets": [{"name": "few", "file": str(path), "target": "label"}],
            "selectors": ["fisher"],
            "protocol": {"kind": "time", "n_folds": 3},
            "ks": [2],
            "classifiers": ["svm"],
            "scoring": ["roc_auc", "accuracy"],
        }
    )
    rows = rows_of(study, tmp_path / "s.sqlite")
    values = [row["roc_auc"] for row in rows]
    assert values[2] is None
    assert None not in values[:2]
    assert "roc_auc could not be computed on the test samples" in rows[2]["warnings"]
    (mean,) = summarise(rows)
    assert mean["roc_auc"] == pytest.approx(np.mean(values[:2]))
    assert mean["accuracy"] == pytest.approx(np.mean([row["accuracy"] for row in rows]))
    with StoreReader(tmp_path / "s.sqlite") as store:
        assert not any(trouble_with(cell) for cell in store.cells("s"))


def test_near_copies_are_passed_over_where_a_study_says_so(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    X[:, 3] = X[:, 0] + 1e-3 * rng.standard_normal(60)
    labels = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "ill", "well")
    lines = [[*row, label] for row, label in zip(X.tolist(), labels, strict=True)]
    text = "\n".join(",".join(map(str, line)) for line in [["a", "b", "c", "d", "state"], *lines])
    (tmp_path / "copies.csv").write_text(text)
    selectors = [
        SelectorSpec("fisher", {"max_correlation": 0.99}, label="distinct"),
        SelectorSpec("fisher", label="all"),
    ]
    data = DatasetSpec("copies", file=str(tmp_path / "copies.csv"), target="state")
    study = Study("s", [data], selectors, Folds(3), ks=[2], classifiers=["1nn"])
    kept = {"distinct": set(), "all": set()}
    for row in rows_of(study, tmp_path / "s.sqlite"):
        kept[row["selector"]].add(frozenset(json.loads(row["features"])))
    assert kept["all"] == {frozenset("ad")}
    assert [len(both & {"a", "d"}) for both in kept["distinct"]] == [1] * len(kept["distinct"])
    assert len(kept["distinct"]) > 0
