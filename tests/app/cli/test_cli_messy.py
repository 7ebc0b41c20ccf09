"""Messy tables on the command line, and what -q leaves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer

from sparsieve import RidgeForwardSelector

pytestmark = pytest.mark.usefixtures("lines_only")

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
        (("--no-encode-text",), 1, "; if 'sample' names the samples, add --id sample\n"),
        (("--id", "sample", "--no-encode-text"), 1, "zeros and ones with --encode-text\n"),
        ((), 1, "leave out such rows with --drop-unlabelled\n"),
        (("--drop-unlabelled",), 0, "note: left out 'sample': all 38 values are"),
        (CLEAN, 0, "filled the missing values of 'g2' with its median (--imputer"),
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
    said = (
        "age_at_death alone predicts the target perfectly."
        " Possible leak: was it known before the outcome?"
    )
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
    assert line.startswith("warning: No linear model of the selected features predicts better")
    compared = sparsieve("compare", flowers, "-t", "kind", "-m", "fisher,mrmr", "-k", 2, "-q")
    (line,) = compared.err.splitlines()
    assert line.startswith("Using 2 features")
    assert compared.out.startswith("method\t")


@pytest.fixture
def raw(tmp_path):
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame({"customer": [f"c{i}" for i in range(n)]})
    frame["plan"] = rng.choice(["basic", "plus", "größer"], n)
    frame["since"] = [f"20{20 + i % 4}-0{1 + i % 9}-11" for i in rng.permutation(n)]
    paid = rng.normal(5000, 1500, n)
    frame["paid"] = [f"{value:,.1f}" for value in paid]
    frame["age"] = rng.normal(40, 10, n).round()
    frame["rare"] = np.where(np.arange(n) % 4, np.nan, 1.0)
    frame["churn"] = np.where((frame["plan"] == "plus") * 3000 + paid > 6200, "yes", "no")
    frame.loc[::9, "age"] = frame.loc[::11, "plan"] = None
    path = tmp_path / "churn.csv"
    path.write_bytes(("# exported\n" + frame.to_csv(index=False)).encode("cp1252"))
    return path


def test_a_raw_table_in_one_line(sparsieve, raw):
    common = ("select", raw, "-t", "churn", "-k", 2, "--encoding", "cp1252")
    result = sparsieve(*common, "--json")
    found = result.json()
    assert set(found["feature_groups"]) == {"paid", "plan"}
    assert set(found["selected"]) == {"paid"} | {
        f"plan={one}" for one in ("basic", "plus", "größer", "(missing)")
    }
    for said in (
        "note: left out 'customer': all 120 values are different",
        "note: left out 'rare': more than 50 % of the values are missing (--max-missing 0.5)",
        "note: read 'since' as days since 1970",
        "note: read the text of 'paid' as numbers",
        "note: encoded 'plan' as columns of zeros and ones",
        "note: filled the missing values of 'age' with its median",
    ):
        assert said in result.err
    kept = sparsieve(*common, "--max-missing", "0.9", "--max-categories", "2", "--json")
    assert kept.json()["n_features"] == 4
    assert "more than --max-categories 2 different values: 'plan' (3)" in kept.err
    single = sparsieve(*common, "-m", "relieff", "--no-check", "--json")
    assert len(single.json()["selected"]) == 2
    wrong = sparsieve("select", raw, "-t", "churn")
    assert (wrong.code, "--encoding cp1252" in wrong.err) == (1, True)


def test_groups_of_text_columns_from_a_file(sparsieve, raw, tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_text("feature,group\nplan,contract\nsince,contract\n", encoding="utf-8")
    common = ("select", raw, "-t", "churn", "-k", 1, "--encoding", "cp1252", "--no-check")
    found = sparsieve(*common, "--feature-groups", groups, "--json").json()
    assert found["feature_groups"] in (["contract"], ["paid"])
    names = {
        row["group"]
        for row in sparsieve(*common, "--feature-groups", groups, "--json", "--all").json()[
            "ranking"
        ]
    }
    assert names == {"contract", "paid", "age"}


def test_covariates_of_the_table_or_another_file(sparsieve, tmp_path):
    rng = np.random.default_rng(0)
    n = 90
    genes = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"g{j}" for j in range(8)])
    genes.insert(0, "sample", [f"s{i}" for i in range(n)])
    clinic = pd.DataFrame({"sample": genes["sample"], "age": rng.normal(50, 9, n).round(1)})
    clinic["batch"] = rng.choice(["a", "b", "c"], n)
    score = 0.3 * clinic["age"] + 4.0 * (clinic["batch"] == "a") + 3 * genes["g5"]
    clinic["ill"] = np.where(score > 16, "yes", "no")
    clinic.loc[4, "age"] = None
    genes.to_csv(tmp_path / "genes.csv", index=False)
    clinic.to_csv(tmp_path / "clinic.csv", index=False)
    genes.merge(clinic, on="sample").to_csv(tmp_path / "all.csv", index=False)
    two = ("select", tmp_path / "genes.csv", "--target-file", tmp_path / "clinic.csv", "-t", "ill")
    one = ("select", tmp_path / "all.csv", "--id", "sample", "-t", "ill")
    results = []
    for common in (two, one):
        found = sparsieve(*common, "-k", 1, "--covariates", "age,batch", "--json", "--all")
        assert found.code == 0, found.err
        results.append(found.json())
        assert "kept 1 of 8 features in addition to age and batch with ridge-forward" in found.err
        assert "With age and batch alone: accuracy " in found.err
        assert results[-1]["selected"] == ["g5"]
        assert len(results[-1]["ranking"]) == 8
        assert results[-1]["covariates"] == ["age", "batch"]
        assert results[-1]["covariates_alone"]["score"] < results[-1]["held_out"]["score"]
    assert results[0]["ranking"] == results[1]["ranking"]
    assert "note: filled the missing values of 'age' with the median" in found.err
    counted = sparsieve(*one, "--covariates", "age,batch", "--json", "--no-check")
    found = counted.json()
    assert found["choice"].startswith(f"Kept: {found['n_selected']} feature")
    assert [point["k"] for point in found["curve"]] == list(
        range(9)
    )  # from the covariates alone on
    refused = sparsieve("compare", *one[1:], "--covariates", "age,batch")
    assert refused.code == 2
    assert "--covariates is for sparsieve select; a comparison has none" in refused.err
    out = tmp_path / "out.csv"
    written = sparsieve(*one, "-k", 2, "--covariates", "age", "--covariates", "batch", "-o", out)
    assert written.code == 0, written.err
    assert len(pd.read_csv(out).columns) == 4  # the id, two genes and the target
    for options, said in (
        (("--covariates", "agee"), "no column 'agee'; did you mean 'age'"),
        (("--covariates", "age", "-m", "relieff"), "ReliefFSelector judges every feature alone"),
        (("--covariates", "age", "--drop", "age"), "cannot be dropped: it is the covariate"),
    ):
        refused = sparsieve(*one, "-k", 2, *options)
        assert (refused.code, said in refused.err) == (1, True)


def test_diagnose_takes_raw_tables_and_survival_times(sparsieve, raw, tmp_path):
    result = sparsieve("diagnose", raw, "-t", "churn", "--encoding", "cp1252", "--impute")
    assert result.code == 0, result.err
    assert "rare is missing in 75 % of the samples: drop it, or ask why" in result.out
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "months": rng.exponential(9, 60)})
    frame["died"], frame["days"] = np.arange(60) % 2, 30.4 * frame["months"]
    frame["empty"] = np.nan
    frame.to_csv(tmp_path / "s.csv", index=False)
    looked = sparsieve("diagnose", tmp_path / "s.csv", "--time", "months", "--event", "died")
    assert looked.code == 0, looked.err
    assert "days" in looked.out
    assert "empty has no values: drop it" in looked.out
    note = np.where(frame["died"] == 1, None, rng.choice(["called", "written"], 60))
    frame[["a", "died"]].assign(note=note).to_csv(tmp_path / "n.csv", index=False)
    text = sparsieve("diagnose", tmp_path / "n.csv", "-t", "died")
    assert text.out.startswith("note=(missing) alone predicts the target perfectly.")
    assert "note=called" not in text.out
    alone = sparsieve("diagnose", tmp_path / "s.csv", "--time", "months")
    assert (alone.code, "needs --event too" in alone.err) == (2, True)
