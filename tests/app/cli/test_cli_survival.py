"""Survival times and counts on the command line."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from sparsieve.datasets.synthetic.targets import make_survival


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    data = make_survival(90, 6, n_relevant=2, signal=1.2, random_state=0)
    table = pd.DataFrame(data.X, columns=[f"g{j}" for j in range(6)])
    table["months"], table["died"] = data.y["time"], data.y["event"].astype(int)
    table["site"] = np.where(np.arange(90) % 3, "north", "south")
    table["joined"] = table["months"] / 2
    table["visits"] = np.random.default_rng(0).poisson(np.exp(0.6 * data.X[:, 1]))
    path = tmp_path_factory.mktemp("survival") / "patients.csv"
    table.to_csv(path, index=False)
    return path, [f"g{j}" for j in data.relevant]


SITE = ("--drop", "site")
TIMES = ("--time", "months", "--event", "died", "--drop", "visits")


def test_select_by_time_and_event(sparsieve, file):
    path, relevant = file
    done = sparsieve(
        "select", path, *TIMES, "--drop", "site,joined", "-k", "2", "--json", "--check"
    )
    found = json.loads(done.out)
    assert set(found["selected"]) == set(relevant)
    assert (found["task"], found["target"]) == ("survival", "months and died")
    assert found["method"] == "likelihood-forward"
    assert found["held_out"]["metric"] == "concordance"
    assert found["held_out"]["guess"] == 0.5
    assert "events)" in done.err


def test_entry_strata_and_a_table_of_what_is_kept(sparsieve, file, tmp_path):
    path, relevant = file
    out = tmp_path / "kept.csv"
    how = ("--entry", "joined", "--strata", "site", "-k", "2", "--no-check", "-o", out)
    sparsieve("select", path, *TIMES, *how)
    kept = pd.read_csv(out)
    assert set(kept.columns) == {*relevant, "event", "time", "entry", "strata"}
    assert kept["strata"].tolist() == pd.read_csv(path)["site"].tolist()  # as they are in the file


def test_compare_by_concordance(sparsieve, file):
    path, _ = file
    how = ("-m", "likelihood-forward", "-k", "1,2", "--folds", "3", "--repeats", "1", "--json")
    done = sparsieve("compare", path, *TIMES, "--drop", "site,joined", *how)
    assert "uno_concordance" in done.out


def test_counts(sparsieve, file):
    path, _ = file
    how = ("--task", "counts", "-k", "1", "--json", "--drop", "site,joined,months,died")
    found = json.loads(sparsieve("select", path, "--target", "visits", *how).out)
    assert (found["task"], found["selected"]) == ("counts", ["g1"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--time", "months"), "--time needs --event too"),
        (("--strata", "site"), "--strata needs --time too"),
        ((*TIMES, "--target", "died"), "--target and --time exclude each other"),
        ((*TIMES, "--task", "regression"), "--task regression and --time exclude each other"),
        ((*TIMES, "-m", "fisher"), "fisher cannot select for survival times"),
        (("--time", "died", "--event", "died"), "must name different columns"),
        ((*SITE, "--time", "joined", "--event", "months"), "joined and months: the event holds"),
    ],
)
def test_mistakes(sparsieve, file, options, sentence):
    done = sparsieve("select", file[0], *options, "-k", "2")
    assert sentence in done.err
    assert done.code != 0


@pytest.fixture
def gaps(file, tmp_path):
    """The same patients; of the first the time is missing, of the last the event."""
    table = pd.read_csv(file[0])[["g0", "g1", "g2", "g3", "g4", "g5", "months", "died", "site"]]
    table["patient"] = [f"p{i}" for i in range(len(table))]
    table.iloc[1:-1].to_csv(tmp_path / "clean.csv", index=False)
    table["died"] = table["died"].astype(object)
    table.loc[0, "months"], table.loc[len(table) - 1, "died"] = np.nan, None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    return tmp_path


def test_patients_keep_their_own_times_and_events(sparsieve, gaps, monkeypatch):
    """Each column once dropped its own gaps: as many were left, of different patients."""
    how = ("--time", "months", "--event", "died", "--strata", "site", "--id", "patient")
    how += ("-k", "2", "--no-check", "-o")
    refused = sparsieve("select", gaps / "gaps.csv", *how, gaps / "no.csv")
    assert refused.code == 1
    assert refused.err == (
        "error: time 'months' of gaps.csv is missing in 1 row (first in data row 1), event 'died' "
        "in 1 row (first in data row 90), together in 2 of 90 rows; fill them in, or leave out "
        "such rows with --drop-unlabelled\n"
    )
    sparsieve("select", gaps / "clean.csv", *how, gaps / "expected.csv")
    done = sparsieve(
        "select", gaps / "gaps.csv", *how, gaps / "found.csv", "--drop-unlabelled", "--json"
    )
    found, said = json.loads(done.out), done.err
    assert (found["n_samples"], found["n_left_out"]) == (88, 2)
    why = "left out 2 of 90 rows of gaps.csv: time 'months' is missing in 1, event 'died' in 1\n"
    assert f"note: {why}" in said
    assert ", 88 samples (2 left out)" in said
    expected = (gaps / "expected.csv").read_text()
    assert (gaps / "found.csv").read_text() == expected
    with open(gaps / "gaps.csv", "rb") as piped:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(piped))
        options = (*how, gaps / "piped.csv", "--drop-unlabelled", "--format", "csv")
        assert sparsieve("select", "-", *options).code == 0
    assert (gaps / "piped.csv").read_text() == expected
