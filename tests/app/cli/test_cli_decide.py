"""``sparsieve predict``: thresholds, rates, costs, contributions, and a second file."""

import numpy as np
import pandas as pd
import pytest

import sparsieve as library


@pytest.fixture
def clinic(tmp_path):
    """Genes of 60 patients, and a second table with their age and stage."""
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(rng.normal(size=(60, 8)).round(3), columns=[f"g{j}" for j in range(8)])
    genes.insert(0, "patient", [f"p{i}" for i in range(60)])
    age, stage = rng.normal(60, 8, 60).round(0), rng.choice(["I", "II", "III"], 60)
    signal = genes["g3"] + (age - 60) / 10 + (stage == "III") + 0.5 * rng.normal(size=60)
    beside = pd.DataFrame({"patient": genes["patient"], "age": age, "stage": stage})
    beside["ill"] = np.where(signal > 0.3, "yes", "no")
    genes.to_csv(tmp_path / "genes.csv", index=False)
    genes.set_index("patient").T.to_csv(tmp_path / "rows.csv")
    beside.to_csv(tmp_path / "clinic.csv", index=False)
    beside.drop(columns="ill").iloc[::-1].to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


@pytest.fixture
def model(sparsieve, clinic):
    """A model of one gene beside age and stage."""
    file = clinic / "model.sparsieve"
    how = ("--target-file", clinic / "clinic.csv", "-t", "ill", "--covariates", "age,stage")
    found = sparsieve("select", clinic / "genes.csv", *how, "-k", 1, "--no-check", "--model", file)
    assert found.code == 0, found.err
    return file


def table_of(sparsieve, *arguments):
    out = arguments[0].with_name("out.csv")
    found = sparsieve("predict", *arguments, "-o", out)
    assert found.code == 0, found.err
    return pd.read_csv(out), found.err


def test_covariates_come_from_a_second_file_by_sample_id(sparsieve, model, clinic):
    found, said = table_of(
        sparsieve, model, clinic / "genes.csv", "--covariates-file", clinic / "new.csv"
    )
    assert "note: matched 60 of 60 samples with new.csv" in said
    whole = pd.read_csv(clinic / "genes.csv").merge(pd.read_csv(clinic / "new.csv"))
    saved = library.load(model)
    assert found["patient"].tolist() == whole["patient"].tolist()
    np.testing.assert_allclose(found["probability of yes"], saved.predict_proba(whole)[:, 1])
    assert np.mean(found["prediction"] == pd.read_csv(clinic / "clinic.csv")["ill"]) > 0.8
    # One file with all columns does as well.
    whole.to_csv(clinic / "whole.csv", index=False)
    again, _ = table_of(sparsieve, model, clinic / "whole.csv")
    np.testing.assert_allclose(again["probability of yes"], found["probability of yes"])


def test_reading_options_are_remembered_by_the_model(sparsieve, clinic):
    file = clinic / "model.sparsieve"
    how = ("--transpose", "--target-file", clinic / "clinic.csv", "-t", "ill", "-k", 1)
    how += ("--covariates", "age", "--no-check", "--model", file)
    assert sparsieve("select", clinic / "rows.csv", *how).code == 0
    second = ("--covariates-file", clinic / "new.csv")
    turned, _ = table_of(sparsieve, file, clinic / "rows.csv", *second)
    plain, _ = table_of(sparsieve, file, clinic / "genes.csv", "--no-transpose", *second)
    np.testing.assert_allclose(turned["probability of yes"], plain["probability of yes"])


def test_features_in_rows_are_recognised(sparsieve, model, clinic, flowers):
    second = ("--covariates-file", clinic / "new.csv")
    found = sparsieve("predict", model, clinic / "rows.csv", *second)
    assert found.code == 1
    assert "its features are in rows: add --transpose" in found.err
    bare = clinic / "bare.sparsieve"
    how = ("-t", "kind", "-k", 2, "--no-check", "--model", bare)
    assert sparsieve("select", flowers, *how).code == 0
    frame = pd.read_csv(flowers).drop(columns="kind")
    frame.T.to_csv(clinic / "turned.csv")
    found = sparsieve("predict", bare, clinic / "turned.csv")
    assert (found.code, "add --transpose" in found.err) == (1, True)
    assert sparsieve("predict", bare, clinic / "turned.csv", "--transpose").code == 0
    found = sparsieve("predict", bare, flowers, *second)
    assert "--covariates-file is for models with covariates" in found.err


def test_a_threshold_a_rate_and_a_cost_decide(sparsieve, model, clinic):
    how = (model, clinic / "genes.csv", "--covariates-file", clinic / "new.csv")
    found, _ = table_of(sparsieve, *how, "--threshold", 0.2)
    assert ((found["prediction"] == "yes") == (found["probability of yes"] >= 0.2)).all()
    found, _ = table_of(sparsieve, *how, "--cost-of-missing", 3)
    assert ((found["prediction"] == "yes") == (found["probability of yes"] >= 0.25)).all()
    found, _ = table_of(sparsieve, *how, "--positive-rate", 0.1, "--positive", "no")
    assert (found["prediction"] == "no").sum() == 6
    assert found.nlargest(6, "probability of no")["prediction"].eq("no").all()
    both = sparsieve("predict", *how, "--threshold", 0.2, "--positive-rate", 0.1)
    assert "exclude each other" in both.err
    assert "add one of them" in sparsieve("predict", *how, "--positive", "no").err
    wrong = sparsieve("predict", *how, "--positive-rate", 20).err
    assert "--positive-rate must be between 0 and 1, got 20" in wrong


def test_contributions_add_up_to_the_decision(sparsieve, model, clinic, flowers):
    how = (model, clinic / "genes.csv", "--covariates-file", clinic / "new.csv")
    found, _ = table_of(sparsieve, *how, "--explain")
    parts = [name for name in found if name.startswith("contribution of ")]
    assert parts == ["contribution of g3", "contribution of age", "contribution of stage"]
    total = found["base"] + found[parts].sum(axis=1)
    np.testing.assert_allclose(total, found["log odds of yes"], atol=1e-9)
    odds = found["probability of yes"] / found["probability of no"]
    np.testing.assert_allclose(total, np.log(odds), atol=1e-6)
    bare = clinic / "bare.sparsieve"
    options = ("-t", "kind", "-k", 2, "--no-check", "--model", bare)
    assert sparsieve("select", flowers, *options).code == 0
    found, _ = table_of(sparsieve, bare, flowers, "--explain")
    parts = [name for name in found if name.startswith("contribution of ")]
    total = found["base"] + found[parts].sum(axis=1)
    np.testing.assert_allclose(total, found["score of the prediction"], atol=1e-9)


def test_calibrated_models_are_written(sparsieve, clinic, flowers):
    file = clinic / "model.sparsieve"
    how = ("-t", "kind", "-k", 2, "--no-check", "--calibrate")
    assert sparsieve("select", flowers, *how, "--model", file).code == 0
    last = library.load(file).model[-1]
    assert type(last).__name__ == "CalibratedModel"
    found, _ = table_of(sparsieve, file, flowers)
    np.testing.assert_allclose(found.filter(like="probability").sum(axis=1), 1.0)
    assert (
        "--calibrate is for the probabilities of --model" in sparsieve("select", flowers, *how).err
    )
