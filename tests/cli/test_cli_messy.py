"""Messy tables on the command line, and what -q leaves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer

from sparsieve import RidgeForwardSelector

FISHER = ("-m", "fisher")


@pytest.fixture
def messy(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.array(["ill", "well"])[np.arange(40) % 2]
    X = rng.gamma(2.0, 50.0, (40, 5))
    X[:, 2] += 120 * (kind == "ill")
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(5)])
    frame.insert(0, "sample", [f"s{i}" for i in range(40)])
    frame["sex"] = rng.choice(["f", "m"], 40)
    frame["donor"], frame["kind"] = np.arange(40) // 4, kind
    frame.loc[[1, 2, 30], "g2"] = np.nan
    frame.loc[3, "sex"] = frame.loc[[5, 6], "kind"] = None
    frame.to_csv(tmp_path / "messy.csv", index=False)
    return frame, tmp_path / "messy.csv"


CLEAN = ("--id", "sample", "--drop", "sex", "--drop-unlabelled", "--groups", "donor")


def test_each_message_leads_to_the_next_step(sparsieve, messy):
    _, path = messy
    for options, code, said in (
        ((), 1, "; if 'sample' names the samples, add --id sample\n"),
        (("--id", "sample"), 1, "turn text into columns of zeros and ones with --encode-text\n"),
        (("--id", "sample", "--encode-text"), 1, "leave out such rows with --drop-unlabelled\n"),
        (CLEAN, 1, "missing values: 3 values in 1 column ('g2'); fill them with --impute, or"),
        ((*CLEAN, "--impute", "--log", "--log-cpm"), 2, "--log and --log-cpm exclude each other"),
        ((*CLEAN, "--impute", "--encode-text", "--log-cpm"), 2, "--encode-text exclude each other"),
        (
            (*CLEAN, "--impute"),
            0,
            "left out 2 of 40 rows of messy.csv: target 'kind' is missing in 2\n",
        ),
    ):
        result = sparsieve("select", path, "-t", "kind", "-k", 1, *options)
        assert result.code == code, result.err
        assert said in result.err
    assert "from Python" not in result.err


def test_imputed_selection_is_that_of_imputed_numbers(sparsieve, messy):
    frame, path = messy
    labelled = frame.dropna(subset=["kind"])
    X = labelled[[f"g{j}" for j in range(5)]]
    for options, strategy, name in (
        (("--impute",), "median", "impute"),
        (("--imputer", "mean"), "mean", "impute-mean"),
    ):
        common = ("select", path, "-t", "kind", "-k", 2, *CLEAN, *options, "--no-check", "--json")
        found = sparsieve(*common).json()
        filled = np.log1p(SimpleImputer(strategy=strategy).fit_transform(X))
        logs = sparsieve(*common, "--log").json()
        by_hand = RidgeForwardSelector(2).fit(filled, labelled["kind"])
        best = [f"g{j}" for j in np.argsort(by_hand.ranking_)[:2]]
        assert logs["selected"] == best
        assert logs["ranking"][0]["score"] == pytest.approx(by_hand.scores_.max())
        assert (found["prepare"], logs["prepare"]) == (name, [name, "log"])
        assert found["n_samples"] == 38


def test_text_becomes_columns_and_ids_are_written(sparsieve, messy, tmp_path):
    frame, path = messy
    out = tmp_path / "out.csv"
    options = (
        "--id",
        "sample",
        "--encode-text",
        "--impute",
        "--drop",
        "g0,g1",
        "--drop-unlabelled",
    )
    result = sparsieve("select", path, "-t", "kind", "-k", 3, *options, "-o", out)
    assert result.code == 0, result.err
    assert "kept 3 of 5 features" in result.err  # g2, g3, g4, donor, sex=m
    written = pd.read_csv(out)
    assert written["sample"].tolist() == frame.dropna(subset=["kind"])["sample"].tolist()
    assert written.columns[-1] == "kind"


def test_groups_stay_together_in_the_folds(sparsieve, tmp_path):
    """Copies of samples predict each other; with their groups nothing is left to predict."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((24, 40)), np.arange(24) % 2
    frame = pd.DataFrame(np.tile(X, (4, 1)), columns=[f"g{j}" for j in range(40)])
    frame["donor"], frame["ill"] = np.tile(np.arange(24), 4), np.tile(y, 4)
    frame.to_csv(tmp_path / "d.csv", index=False)
    common = (
        "select",
        tmp_path / "d.csv",
        "-t",
        "ill",
        "-k",
        12,
        "--check",
        "--json",
        "-q",
        *FISHER,
    )
    alone = sparsieve(*common, "--drop", "donor").json()["held_out"]
    together = sparsieve(*common, "--groups", "donor").json()["held_out"]
    assert alone["score"] > 0.85 > 0.75 > together["score"]
    many = ("compare", tmp_path / "d.csv", "-t", "ill", "-k", 12, *FISHER, "--json", "-q")
    scores = [
        sparsieve(*many, *option).json()["methods"][0]["accuracy"]
        for option in (("--drop", "donor"), ("--groups", "donor"))
    ]
    assert scores[0] > 0.85 > 0.75 > scores[1]


def test_compare_and_diagnose_read_the_same(sparsieve, messy):
    _, path = messy
    compared = sparsieve("compare", path, "-t", "kind", *CLEAN, "--impute", *FISHER, "-k", "1,2")
    assert compared.code == 0, compared.err
    looked = sparsieve("diagnose", path, "-t", "kind", *CLEAN)
    assert (looked.code, looked.out) == (0, "Nothing unusual was found.\n")
    assert "note: left out 2 of 40 rows" in looked.err
    wrong = sparsieve("diagnose", path, "-t", "knd", *CLEAN)
    assert (wrong.code, "did you mean 'kind'?" in wrong.err) == (1, True)


def test_diagnose_says_what_is_wrong(sparsieve, tmp_path):
    path, rng = tmp_path / "leak.csv", np.random.default_rng(0)
    lines = [f"{i},{rng.random()},{i % 2 + 0.1 * rng.random()},{'ab'[i % 2]}" for i in range(40)]
    path.write_text("\n".join(["id,age,age_at_death,label", *lines]))
    result = sparsieve("diagnose", path, "-t", "label")
    assert result.code == 0
    said = "age_at_death alone predicts the target perfectly: was it known beforehand?"
    assert said in result.out.splitlines()
    found = sparsieve("diagnose", path, "-t", "label", "--json").json()
    assert {"kind": "leak", "sentence": said, "features": ["age_at_death"], "samples": []} in found[
        "findings"
    ]
    assert (found["n_samples"], found["n_features"]) == (40, 3)


def test_quiet_keeps_results_and_warnings(sparsieve, tmp_path, flowers):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "noise.npz", X=rng.standard_normal((80, 20)), y=np.arange(80) % 2)
    quiet = sparsieve("select", tmp_path / "noise.npz", "-k", 2, "-q", *FISHER)
    assert quiet.out.startswith("rank\tfeature\tscore\n1\t")
    (line,) = quiet.err.splitlines()
    assert line.startswith("warning: Nothing predicts better")
    compared = sparsieve("compare", flowers, "-t", "kind", "-m", "fisher,mrmr", "-k", 2, "-q")
    (line,) = compared.err.splitlines()
    assert line.startswith("Using 2 features")
    assert compared.out.startswith("method\t")
