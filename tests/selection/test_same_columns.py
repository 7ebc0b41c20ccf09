"""The same table gives the same columns, names and selection, whichever way it comes in."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import sparsieve
from sparsieve.app.io import read_table
from sparsieve.preprocessing.encoding import encode_frame

pytestmark = pytest.mark.usefixtures("lines_only")

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
        found = encode_frame(library)
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
    from sparsieve.app.cli.app import run

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
    from sparsieve.app.cli import selection
    from sparsieve.app.cli.app import run

    made = encode_frame(frame.drop(columns="churn")).sources[name]
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
    from sparsieve.app.cli.app import run

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


@pytest.fixture(scope="module")
def messy():
    """Numbers with decimal commas and with a few cells that are none, one value, two spellings."""
    rng = np.random.default_rng(0)
    ldh = rng.normal(5, 1, N)
    made = pd.DataFrame(
        {
            "only": "x",
            "zero": 0.0,
            "ldh": [f"{value:.2f}".replace(".", ",") for value in ldh],
            "thick": [f"{value:.3f}".replace(".", ",") for value in rng.uniform(1, 9, N)],
            "size": [f"{10 * value:.0f}" for value in ldh],
            "seen": dates(rng.integers(0, 900, N)).strftime("%Y-%m-%d"),
            "where": rng.choice(["East", "east ", "West"], N),
        }
    )
    made.loc[[3, 7, 8], "size"] = ["unknown", ">5", "unknown"]
    made.loc[5, "seen"] = "in May"
    made["ill"] = np.where(ldh + 0.5 * rng.standard_normal(N) > 5, "yes", "no")
    return made


SAID = (
    "left out 'only', 'zero': the same value in every row",
    "read the text of 'ldh', 'thick', 'size' as numbers",
    "took the commas of 'ldh', 'thick' for decimal signs",
    "read 'seen' as days since 1970",
    "took 3 cells of 'size' that are no number for missing: 'unknown', '>5'",
    "took 1 cell of 'seen' that is no date for missing: 'in May'",
    "values of 'where' differ only by capital letters or blanks ('East', 'east'), and each counts "
    "for itself: write them in one way if they mean the same",
    "encoded 'where' as columns of zeros and ones",
)


def test_odd_cells_constants_and_commas_of_frames_and_of_files(messy, tmp_path):
    polars, _ = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    messy.to_csv(tmp_path / "d.csv", index=False, sep=";")
    messy.to_csv(tmp_path / "quoted.csv", index=False)
    messy.to_parquet(tmp_path / "d.parquet")
    tables = [
        read_table(tmp_path / name, "ill", **HOW) for name in ("d.csv", "quoted.csv", "d.parquet")
    ]
    given = messy.drop(columns="ill")
    names = ["ldh", "thick", "size", "seen", "where=East", "where=West", "where=east"]
    for library in (given, polars.from_pandas(given)):
        found = encode_frame(library)
        assert names_of(found) == names
        assert found.gaps == ["size", "seen"]
        assert tuple(found.notes) == SAID
        assert np.isnan(np.asarray(found.X, dtype=float)).sum() == 4
        for table in tables:
            assert table.feature_names == tuple(names)
            assert table.notes == SAID
            np.testing.assert_allclose(table.X, np.asarray(found.X, dtype=float))


def test_odd_cells_of_new_rows(messy, tmp_path):
    from sparsieve.app.cli.app import run

    few, model = messy[["ldh", "size", "ill"]], str(tmp_path / "m.sparsieve")
    selected = sparsieve.select(few, "ill", k=2, check=False)
    sparsieve.save(selected, model)
    wanted = selected.predict(messy)
    np.testing.assert_array_equal(sparsieve.load(model).predict(messy), wanted)
    few.to_csv(tmp_path / "d.csv", index=False, sep=";")
    options = ["-t", "ill", "-k", "2", "--no-check", "-q", "--model", model]
    assert run(["select", str(tmp_path / "d.csv"), *options]) == 0
    np.testing.assert_array_equal(sparsieve.load(model).predict(messy), wanted)
    out = str(tmp_path / "out.csv")
    assert run(["predict", model, str(tmp_path / "d.csv"), "-o", out]) == 0
    np.testing.assert_array_equal(pd.read_csv(out)["prediction"], wanted)
    with pytest.raises(ValueError, match="column 'size' holds 'no idea', but the model was"):
        selected.predict(messy.assign(size="no idea"))


def test_a_column_of_one_value_is_named_by_the_diagnosis(messy):
    found = [str(one) for one in sparsieve.diagnose(messy, "ill", try_models=False).findings]
    assert any("only is constant and carries no information" in one for one in found)


def test_few_numbers_beside_a_word_are_categories():
    codes = pd.DataFrame({"code": ["0", "1"] * 30 + ["unknown"], "a": np.arange(61.0)})
    assert names_of(encode_frame(codes)) == ["code=0", "code=1", "code=unknown", "a"]
    many = pd.DataFrame({"b": [*map(str, range(57)), *"vwxy"], "a": np.arange(61.0)})
    assert names_of(encode_frame(many)) == ["a"]  # 4 of 61 are more than one in twenty


def test_odd_cells_of_covariates_and_of_a_preprocessor_are_named(messy):
    with pytest.warns(
        UserWarning, match="took 3 cells of 'size of' that are no number for missing"
    ):
        sparsieve.select(messy, "ill", k=1, covariates={"size of": messy["size"]}, check=False)
    with pytest.warns(UserWarning, match="took 3 cells of 'size'"):
        step = sparsieve.make_preprocessor(messy[["size"]])
    made = step.fit_transform(messy[["size"]])
    assert made["size=(missing)"].sum() == 3


def test_a_column_of_one_value_cannot_always_be_kept(messy):
    with pytest.raises(ValueError, match=r"always_keep: 'zero' cannot be kept \(left out 'only', "):
        sparsieve.select(messy, "ill", k=2, always_keep=["zero", "ldh"], check=False)
    found = sparsieve.select(messy, "ill", k=1, never_keep=["zero", "ldh"], check=False)
    assert found.features == ["size"]
