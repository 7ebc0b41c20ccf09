"""``sparsieve select --model`` and ``sparsieve predict``: from a file to predictions in a file."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve.app.cli.app import run

pytestmark = pytest.mark.usefixtures("lines_only")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "patient": [f"p{i}" for i in range(100)],
            "noise": rng.normal(size=100),
            "age": rng.normal(50, 10, 100).round(1),
            "city": rng.choice(["A", "B", "C"], 100),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "city"] = None
    truth = frame["age"].fillna(50) + 10 * (frame["city"] == "A") > 54
    return frame.assign(label=np.where(truth, "yes", "no"))


@pytest.fixture
def model(table, tmp_path):
    """A model of age and city."""
    table.to_csv(tmp_path / "all.csv", index=False)
    options = [
        "-t",
        "label",
        "--id",
        "patient",
        "--encode-text",
        "--impute",
        "-k",
        "4",
        "-q",
    ]
    file = tmp_path / "model.sparsieve"
    assert run(["select", str(tmp_path / "all.csv"), *options, "--model", str(file)]) == 0
    return file


def predicted(model, new, *options):
    new.to_csv(model.with_name("new.csv"), index=False)
    out = model.with_name("out.csv")
    code = run(["predict", str(model), str(model.with_name("new.csv")), "-o", str(out), *options])
    assert code == 0
    return pd.read_csv(out)


def test_rows_keep_their_ids_and_get_probabilities(model, table):
    new = table.drop(columns=["label", "noise"]).iloc[::-1]
    found = predicted(model, new, "--id", "patient")
    assert list(found) == ["patient", "prediction", "probability of no", "probability of yes"]
    assert found["patient"].tolist() == new["patient"].tolist()
    assert np.mean(found["prediction"] == table["label"].iloc[::-1].to_numpy()) > 0.8
    np.testing.assert_allclose(found.iloc[:, 2:].sum(axis=1), 1.0)


def test_the_same_rows_get_the_same_predictions_whatever_else_is_in_the_file(model, table):
    every = predicted(model, table.drop(columns="label"))
    assert every["patient"].tolist() == table["patient"].tolist()
    # No row of this file lives in A, and its only gap is gone.
    few = table[(table["city"] == "B") & table["age"].notna()].head(3)
    some = predicted(model, few)
    np.testing.assert_allclose(
        some["probability of yes"], every["probability of yes"][few.index], atol=1e-12
    )


def test_fewer_texts_than_in_training_change_no_prediction(model, table, tmp_path):
    frame = table.drop(columns="label")
    every = predicted(model, frame)["probability of yes"]
    saved = sparsieve.load(model)  # takes the table as it is, in Python too
    np.testing.assert_allclose(saved.predict_proba(frame)[:, 1], every, atol=1e-6)
    selected = sparsieve.select(frame, table["label"], k=2, check=False)
    in_python = tmp_path / "python.sparsieve"
    sparsieve.save(selected, in_python)
    two = frame[frame["city"].isin(["A", "C"])].head(4)  # of three, and one missing
    assert set(two["city"]) == {"A", "C"}
    for file, known in ((model, every), (in_python, selected.predict_proba(frame)[:, 1])):
        found = predicted(file, two)["probability of yes"]
        np.testing.assert_allclose(found, np.asarray(known)[two.index], atol=1e-6)


def test_new_values_of_text_are_warned_of(model, table, capsys):
    predicted(model, table.assign(city="Ulm"))
    said = capsys.readouterr().err
    assert "warning: new data look unlike the training data: 'city' has values unknown" in said
    assert "'Ulm'" in said


def test_missing_columns_and_text_for_numbers_are_errors(model, table, capsys, tmp_path):
    table[["patient", "noise", "age"]].to_csv(tmp_path / "new.csv", index=False)
    assert run(["predict", str(model), str(tmp_path / "new.csv")]) == 1
    assert "columns that the model uses: 'city'" in capsys.readouterr().err
    table.assign(age="old").to_csv(tmp_path / "new.csv", index=False)
    assert run(["predict", str(model), str(tmp_path / "new.csv")]) == 1
    said = "column 'age' holds 'old', but the model was trained on numbers"
    assert said in capsys.readouterr().err


def test_predictions_are_printed_without_a_file(model, table, capsys, tmp_path):
    table.head(2).to_csv(tmp_path / "new.csv", index=False)
    assert run(["predict", str(model), str(tmp_path / "new.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t")[:2] == ["patient", "prediction"]
    assert len(lines) == 3


def test_a_model_saved_in_python_reads_raw_text(table, tmp_path):
    frame = table.drop(columns=["label", "patient"])
    selected = sparsieve.select(
        frame, table["label"], k=2, feature_groups="categories", check=False
    )
    file = tmp_path / "model.sparsieve"
    sparsieve.save(selected, file)
    found = predicted(file, table)
    assert found["prediction"].tolist() == selected.predict(frame).tolist()


def test_groups_of_columns_and_marks_of_gaps(table, tmp_path):
    table.to_csv(tmp_path / "all.csv", index=False)
    options = [
        "-t",
        "label",
        "--id",
        "patient",
        "--feature-groups",
        "categories",
        "-k",
        "2",
        "-q",
        "--no-check",
    ]
    file = tmp_path / "model.sparsieve"
    assert run(["select", str(tmp_path / "all.csv"), *options, "--model", str(file)]) == 0
    every = predicted(file, table)
    alone = [predicted(file, table.iloc[[i]])["prediction"][0] for i in (0, 7, 12)]
    assert alone == every["prediction"][[0, 7, 12]].tolist()


def test_survival_by_given_times(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    frame["months"] = rng.exponential(np.exp(-frame["b"]))
    frame["died"] = (rng.random(80) < 0.7).astype(int)
    frame.to_csv(tmp_path / "all.csv", index=False)
    file = tmp_path / "model.sparsieve"
    options = ["--time", "months", "--event", "died", "-k", "1", "-q", "--no-check"]
    assert run(["select", str(tmp_path / "all.csv"), *options, "--model", str(file)]) == 0
    found = predicted(file, frame[["b"]].assign(other=1), "--times", "0.5,2")
    assert list(found) == ["row", "risk", "survival at 0.5", "survival at 2"]
    assert (found["survival at 0.5"] >= found["survival at 2"]).all()
    assert run(["predict", str(file), str(tmp_path / "all.csv"), "--times", "soon"]) == 2
    assert "--times takes numbers" in capsys.readouterr().err


@pytest.mark.parametrize("hospitals", [("north", "south"), (1, 2)])
def test_survival_within_strata(tmp_path, capsys, hospitals):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    frame["hospital"] = np.repeat(hospitals, 40)
    frame["months"] = rng.exponential(np.exp(-frame["b"])) * np.repeat([1.0, 5.0], 40)
    frame["died"] = (rng.random(80) < 0.7).astype(int)
    file = tmp_path / "model.sparsieve"
    selected = sparsieve.select(
        frame, ("months", "died"), k=1, strata="hospital", check=False, max_correlation=None
    )
    sparsieve.save(selected, file)
    found = predicted(file, frame, "--times", "1,3", "--strata", "hospital")
    expected = selected.predict_survival(frame, [1, 3], strata=frame["hospital"])
    np.testing.assert_allclose(found[["survival at 1", "survival at 3"]], expected)
    new = str(tmp_path / "new.csv")
    for options, code, said in (
        (("--times", "1"), 1, "name the column of the stratum with --strata, one of"),
        (("--strata", "hospital"), 2, "--strata is for the probabilities of --times"),
        (("--times", "1", "--strata", "a"), 1, "for which there is no baseline"),
        (("--times", "1", "--strata", "ward"), 1, "has no column 'ward'"),
    ):
        assert run(["predict", str(file), new, *options]) == code
        assert said in capsys.readouterr().err


def test_other_encodings_are_read(model, table):
    new, out = model.with_name("new.csv"), model.with_name("out.csv")
    text = "// exported\n" + table.assign(city="Köln").head(3).to_csv(index=False)
    new.write_bytes(text.encode("cp1252"))
    options = ["--encoding", "cp1252", "--comment", "//", "-o", str(out)]
    assert run(["predict", str(model), str(new), *options]) == 0
    assert len(pd.read_csv(out)) == 3


def test_what_is_no_model_is_said(tmp_path, capsys, table):
    table.to_csv(tmp_path / "all.csv", index=False)
    assert run(["predict", str(tmp_path / "all.csv"), str(tmp_path / "all.csv")]) == 1
    assert "it was not written by sparsieve.save" in capsys.readouterr().err
    assert run(["predict", str(tmp_path / "none.sparsieve"), str(tmp_path / "all.csv")]) == 1
    assert "cannot read" in capsys.readouterr().err
    sparsieve.save(sparsieve.FisherSelector(), tmp_path / "f.sparsieve")
    assert run(["predict", str(tmp_path / "f.sparsieve"), str(tmp_path / "all.csv")]) == 1
    assert "holds a FisherSelector, not a model" in capsys.readouterr().err


@pytest.mark.parametrize("given", [[], ["--id", "customer"]], ids=["found", "named"])
def test_the_ids_of_the_training_data_come_back(tmp_path, given):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame.insert(0, "customer", [f"c{j:03d}" for j in range(60)])
    frame["churned"] = np.where(frame["b"] > 0, "yes", "no")
    frame.to_csv(tmp_path / "all.csv", index=False)
    file = tmp_path / "model.sparsieve"
    options = ["-t", "churned", "-k", "1", "-q", "--no-check", *given]
    assert run(["select", str(tmp_path / "all.csv"), *options, "--model", str(file)]) == 0
    new = frame[["customer", "b"]].iloc[[7, 3]]
    found = predicted(file, new)
    assert next(iter(found)) == "customer"
    assert found["customer"].tolist() == ["c007", "c003"]
    without = predicted(file, new[["b"]])
    assert without["row"].tolist() == [1, 2]
    assert without["prediction"].tolist() == found["prediction"].tolist()


def test_a_selection_from_python_remembers_the_ids_too(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame.insert(0, "customer", [f"c{j:03d}" for j in range(60)])
    selected = sparsieve.select(frame, frame["b"] > 0, k=1, check=False)
    assert selected.inputs.id_name == "customer"
    sparsieve.save(selected, tmp_path / "model.sparsieve")
    assert sparsieve.load(tmp_path / "model.sparsieve").id_name == "customer"
    found = predicted(tmp_path / "model.sparsieve", frame)
    assert found["customer"].tolist() == frame["customer"].tolist()


@pytest.mark.parametrize("labels", [["no", "yes"], ["low", "middle", "high"]])
def test_a_rare_class_that_is_never_predicted_has_probabilities_or_scores(tmp_path, labels):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    codes = np.digitize(frame["a"] + rng.normal(size=300), [2.2, 2.8][: len(labels) - 1])
    frame["label"] = np.array(labels)[codes]
    frame.to_csv(tmp_path / "all.csv", index=False)
    file = tmp_path / "model.sparsieve"
    made = ["select", str(tmp_path / "all.csv"), "-t", "label", "-k", "1", "-q"]
    assert run([*made, "--scoring", "accuracy", "--model", str(file)]) == 0
    found = predicted(file, frame.drop(columns="label"))
    shares = found.filter(like="probability of ")
    exact = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-9, max_iter=10_000))
    exact.fit(frame[["a"]], frame["label"])
    assert list(shares) == [f"probability of {name}" for name in exact.classes_]
    np.testing.assert_allclose(shares, exact.predict_proba(frame[["a"]]), atol=1e-5)
    assert found["prediction"].tolist() == exact.predict(frame[["a"]]).tolist()
    # A model without probabilities says how far a row is on the side of a class.
    ridge = make_pipeline(StandardScaler(), RidgeClassifier(alpha=30.0))
    own = sparsieve.select(
        frame.drop(columns="label"), frame["label"], k=1, estimator=ridge, check=False
    )
    sparsieve.save(own, file)
    found = predicted(file, frame.drop(columns="label"))
    assert not any(name.startswith("probability") for name in found)
    model = sparsieve.load(file)
    scores = found.filter(like="score for ")
    expected = np.asarray(model.decision_function(frame[["a"]])).reshape(300, -1)
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    names = model.classes_[-1:] if len(labels) == 2 else model.classes_
    assert [name.removeprefix("score for ") for name in scores] == list(names)
    if len(labels) == 2:
        assert ((scores.iloc[:, 0] > 0) == (found["prediction"] == "yes")).all()
