"""The same table gives the same columns, names and selection, whichever way it comes in."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import sparsieve
from sparsieve.io import read_table
from sparsieve.preprocessing.raw import readied

N = 150


@pytest.fixture(scope="module")
def frame():
    """Every kind of column; the target depends on the plan, the amount paid and the day."""
    rng = np.random.default_rng(0)
    day, plan = rng.integers(0, 900, N), rng.choice(["basic", "plus", "gold"], N)
    other = rng.integers(0, 900, N)
    paid, told = rng.normal(5000, 1500, N), rng.choice(["yes", "no"], N)
    made = pd.DataFrame(
        {
            "customer": [f"c{i:03d}" for i in range(N)],
            "age": rng.normal(40, 10, N).round(1),
            "active": rng.random(N) < 0.5,
            "plan": plan,
            "sex": rng.choice(["m", "f"], N),
            "told": told,
            "only": np.where(rng.random(N) < 0.7, "x", None),
            "paid": [f"{value:,.1f}" for value in paid],
            "since": dates(other).strftime("%Y-%m-%d"),
            "day": dates(day).strftime("%m/%d/%Y"),
            "rare": np.where(np.arange(N) % 4, np.nan, 1.0),
            "remark": [f"word {i // 2}" for i in rng.permutation(N)],
        }
    )
    score = 2.0 * (plan == "gold") + (paid - 5000) / 1500 + (day - 450) / 450
    made["churn"] = np.where(score + rng.normal(0, 0.3, N) > 0.6, "left", "stayed")
    made.loc[::9, "age"] = np.nan
    made.loc[::11, "told"] = None
    made.loc[4, "plan"] = "NA"  # spells a missing value in a file and in a frame
    made.loc[5, "plan"] = " plus "
    made.loc[3, "paid"] = "-"
    return made


def dates(days):
    return pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D")


def names_of(found):
    return list(found.X.columns)


NAMES = [
    *("age", "active", "plan=basic", "plan=gold", "plan=plus", "plan=(missing)", "sex=m"),
    *("told=no", "told=yes", "told=(missing)", "only=(missing)", "paid", "since", "day"),
]
HOW = {"encode_text": "auto", "gaps": "value", "max_missing": 0.5}


def test_columns_of_frames_and_of_files(frame, tmp_path):
    polars, _ = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    tables = [
        read_table(tmp_path / f"d{suffix}", "churn", **HOW) for suffix in (".csv", ".parquet")
    ]
    given = frame.drop(columns="churn")
    for library in (given, polars.from_pandas(given)):
        found = readied(library)
        assert names_of(found) == NAMES
        assert found.gaps == ["age", "paid"]
        for table in tables:
            assert list(table.feature_names) == NAMES
            np.testing.assert_allclose(table.X, np.asarray(found.X, dtype=float))
            assert {name: list(some) for name, some in found.sources.items()} == {
                one.name: one.outputs for one in table.encode
            }
            assert table.id_name == found.id_name == "customer"


def test_selections_of_frames_and_of_files(frame, tmp_path, capsys):
    from sparsieve.cli.app import run

    polars = pytest.importorskip("polars")
    frame.to_csv(tmp_path / "d.csv", index=False)
    new = frame.drop(columns="churn")
    new.to_csv(tmp_path / "new.csv", index=False)
    by_frame = [
        sparsieve.select(library, "churn", k=3, check=False)
        for library in (frame, polars.from_pandas(frame))
    ]
    assert set(by_frame[0].feature_groups) == {"plan", "paid", "day"}
    options = ["-t", "churn", "-k", "3", "--no-check", "--json", "-q"]
    model = ["--model", str(tmp_path / "m.sparsieve")]
    assert run(["select", str(tmp_path / "d.csv"), *options, *model]) == 0
    by_file = json.loads(capsys.readouterr().out)
    assert by_file["feature_groups"] == by_frame[0].feature_groups
    assert by_frame[1].feature_groups == by_frame[0].feature_groups
    kept = list(by_frame[0].selector.get_feature_names_out())
    assert sorted(by_file["selected"]) == sorted(kept)
    loaded = sparsieve.load(tmp_path / "m.sparsieve")
    for selected in (*by_frame, loaded):
        np.testing.assert_array_equal(selected.predict(new), by_frame[0].predict(new))
    out = tmp_path / "out.csv"
    assert run(["predict", *model[1:], str(tmp_path / "new.csv"), "-o", str(out)]) == 0
    predicted = pd.read_csv(out)["prediction"]
    np.testing.assert_array_equal(predicted, by_frame[0].predict(new))


@pytest.mark.parametrize("name", ["sex", "told", "plan", "since", "paid", "active", "only"])
def test_covariates_are_encoded_as_features_are(frame, name, tmp_path, monkeypatch):
    from sparsieve.cli import selection
    from sparsieve.cli.app import run

    made = readied(frame.drop(columns="churn")).sources[name]
    apart = sparsieve.select(
        frame[["age", "churn"]], "churn", k=1, covariates={name: frame[name]}, check=False
    )
    inside = sparsieve.select(
        frame[["age", name, "churn"]], "churn", k=1, covariates=[name], check=False
    )
    found = []
    by_function = selection.select
    monkeypatch.setattr(
        selection, "select", lambda *a, **k: found.append(by_function(*a, **k)) or found[0]
    )
    frame.to_csv(tmp_path / "d.csv", index=False)
    options = ["-t", "churn", "-k", "1", "--covariates", name, "--no-check", "-q"]
    assert run(["select", str(tmp_path / "d.csv"), *options, "-m", "ridge-forward"]) == 0
    for names, selected in (
        (names_of(apart), apart),
        (names_of(inside), inside),
        (list(found[0].names), found[0]),
    ):
        assert [names[j] for j in selected.covariates.places] == made


def test_comparisons_of_frames_and_of_files(frame, tmp_path, capsys):
    from sparsieve.cli.app import run

    frame.to_csv(tmp_path / "d.csv", index=False)
    methods = ["fisher", "f-statistic"], ["ridge-forward", "l21"]  # of columns, of whole groups
    for some, unit in zip(methods, ["feature", "feature group"], strict=True):
        found = sparsieve.compare(frame, "churn", some, ks=[2], cv=3, n_repeats=1)
        assert found.data.unit == unit
        options = ["-t", "churn", "-m", ",".join(some), "-k", "2", "--folds", "3", "--repeats", "1"]
        assert run(["compare", str(tmp_path / "d.csv"), *options, "--json", "-q"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert [row["feature"] for row in told["consensus"]] == list(
            found.consensus_columns()["feature"]
        )
