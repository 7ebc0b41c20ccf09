"""``select`` on tables as people have them: text, dates, gaps, names of samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sparsieve
from sparsieve import RidgeForwardSelector, SelectorAdapter

pytestmark = pytest.mark.usefixtures("lines_only")


@pytest.fixture
def frame():
    """The target depends on the plan, the amount paid and the day of the contract."""
    rng = np.random.default_rng(0)
    n = 160
    plan = rng.choice(["basic", "plus", "gold"], n)
    paid, day = rng.normal(5000, 1500, n), rng.integers(0, 900, n)
    score = 2.0 * (plan == "gold") + (paid - 5000) / 1500 + (day - 450) / 450
    made = pd.DataFrame(
        {
            "customer": [f"c{i:03d}" for i in range(n)],
            "plan": plan,
            "city": rng.choice(list("abcdefgh"), n),
            "paid": [f"{value:,.1f}" for value in paid],
            "since": (pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D")).strftime("%Y-%m-%d"),
            "age": rng.normal(40, 10, n).round(),
            "rare": np.where(np.arange(n) % 4, np.nan, rng.normal(size=n)),
            "remark": [f"word {i // 2}" for i in rng.permutation(n)],
            "churn": np.where(score + rng.normal(0, 0.3, n) > 0.6, "yes", "no"),
        }
    )
    made.loc[::9, "age"] = np.nan
    made.loc[3, "paid"] = "-"
    made.loc[5, "city"] = None
    return made


def test_a_raw_table_in_one_line(frame):
    selected = sparsieve.select(frame, "churn", k=3)
    assert set(selected.features) == {"plan", "paid", "since"}
    assert selected.notes == (
        "left out 'customer': all 160 values are different, so it was taken for the sample ID",
        "left out text with more than max_categories=20 different values: 'remark' (80)",
        "left out 'rare': more than 50 % of the values are missing (max_missing=0.5)",
        "read the text of 'paid' as numbers",
        "read 'since' as days since 1970",
        "encoded 'plan', 'city' as columns of zeros and ones",
        "filled the missing values of 'paid', 'age' with the median of each column",
    )
    assert all(f"note: {note}" in str(selected) for note in selected.notes)
    assert selected.accuracy > 0.8
    assert selected.transform(frame.iloc[:7]).shape == (7, 5)  # three columns of the plan


def test_limits_can_be_set(frame):
    selected = sparsieve.select(frame, "churn", k=2, max_categories=90, max_missing=0.9)
    names = {name.partition("=")[0] for name in selected.selector.feature_names_in_}
    assert {"remark", "rare"} <= names
    strict = sparsieve.select(frame, "churn", k=2, max_categories=3, max_missing=0.05)
    assert "'city' (8)" in strict.notes[1]
    assert "'age'" in strict.notes[2]
    with pytest.raises(ValueError, match="max_missing must be"):
        sparsieve.select(frame, "churn", max_missing=2.0)


def test_plain_numbers_are_untouched(frame):
    X = np.random.default_rng(1).normal(size=(160, 6)).astype(np.float32)
    table = pd.DataFrame(X, columns=list("abcdef"))
    selected = sparsieve.select(table, frame["churn"], k=2)
    assert selected.X is table
    assert selected.inputs.encode is None
    assert selected.notes == ()


def test_gaps_alone_are_filled_in_the_folds(frame):
    table = pd.DataFrame(np.random.default_rng(1).normal(size=(160, 4)), columns=list("abcd"))
    table.loc[2, "b"] = np.nan
    selected = sparsieve.select(table, frame["churn"], k=2)
    by_hand = sparsieve.select(table, frame["churn"], k=2, prepare="impute")
    assert selected.features == by_hand.features
    assert selected.check == by_hand.check
    assert selected.notes == ("filled the missing values of 'b' with its median",)
    assert by_hand.notes == ()
    logged = sparsieve.select(table.abs(), frame["churn"], k=2, prepare="log")
    assert [type(step).__name__ for _, step in logged.prepare.steps] == ["Imputer", "Log1p"]


@pytest.mark.parametrize(
    "guest",
    [
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(3, random_state=0),
        make_pipeline(StandardScaler(), SimpleImputer(), LogisticRegression()),
    ],
)
def test_guests_that_take_gaps_get_them(frame, guest):
    table = pd.DataFrame(np.random.default_rng(1).normal(size=(160, 4)), columns=list("abcd"))
    table.loc[2, "b"] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=5)
    for X in (table, table.to_numpy()):
        selected = sparsieve.select(X, frame["churn"], k=2, method=guest, estimator=trees)
        assert selected.prepare is None
        assert selected.predict(X).shape == (160,)
    selected = sparsieve.select(table, frame["churn"], k=2, method=guest, estimator=trees)
    assert selected.notes[0].startswith("left the missing values of 'b' to ")
    # The usual model takes none.
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    for method in (guest, scaled):
        filled = sparsieve.select(table, frame["churn"], k=2, method=method)
        assert "filled" in filled.notes[0]
        assert filled.predict(table).shape == (160,)


def test_models_that_take_gaps_get_those_that_the_method_does_not_see():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] > 0).astype(int)
    X[::9, 2] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=5)
    filling = SelectorAdapter(make_pipeline(SimpleImputer(), RidgeForwardSelector()))
    for given in (X, pd.DataFrame(X, columns=list("abcd"))):
        filling.set_params(never_keep=[1, 3])
        selected = sparsieve.select(given, y, k=2, method=filling, estimator=trees)
        kept = X[:, selected.selector.get_support()]
        assert np.isnan(kept).any()
        assert_array_equal(selected.predict(given), clone(trees).fit(kept, y).predict(kept))
    piped = make_pipeline(clone(filling).set_params(n_features_to_select=2), trees).fit(X, y)
    assert np.isnan(piped[0].transform(X)).any()
    # A model that does not take them: a frame is filled, an array is refused in our words.
    frame, linear = pd.DataFrame(X, columns=list("abcd")), LogisticRegression()
    filled = sparsieve.select(frame, y, k=2, method="boosted-trees", estimator=linear)
    assert filled.predict(frame).shape == y.shape
    for k in (2, "auto"):
        with pytest.raises(ValueError, match=r"contains NaN .* prepare=.impute"):
            sparsieve.select(X, y, k=k, method="boosted-trees", estimator=linear)


def test_methods_of_single_columns_say_so(frame):
    selected = sparsieve.select(frame, "churn", k=3, method="relieff")
    assert any("selects single columns, so each counts alone" in one for one in selected.notes)
    assert len(selected.features) == 3


def test_names_that_are_no_text_stay(frame):
    X = np.random.default_rng(1).normal(size=(160, 5))
    y = X[:, 3] + 0.1 * X[:, 1]
    numbered = pd.DataFrame(X)
    selected = sparsieve.select(numbered, y, k=2)
    assert selected.features == [3, 1]
    assert selected.transform(numbered).shape == (160, 2)
    mixed = numbered.rename(columns={3: "c", 1: ("a", "b")})
    mixed["plan"] = frame["plan"]
    found = sparsieve.select(mixed, y, k=2)
    assert found.features == ["c", ("a", "b")]
    assert found.transform(mixed).shape == (160, 2)


def test_arrow_tables_and_lists(frame):
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    wanted = sparsieve.select(frame, "churn", k=3)
    table = arrow.Table.from_pandas(frame)
    found = sparsieve.select(table, "churn", k=3)
    assert found.features == wanted.features
    assert found.transform(table).shape == (160, 5)
    X = np.random.default_rng(1).normal(size=(160, 5))
    assert sparsieve.select(X.tolist(), X[:, 3].tolist(), k=1).features == ["x3"]


def test_groups_of_the_given_columns(frame):
    groups = {"contract": ["plan", "since"], "money": ["paid"]}
    selected = sparsieve.select(frame, "churn", k=1, feature_groups=groups)
    assert selected.feature_groups == ["contract"]
    assert set(selected.features) == {"plan", "since"}


def test_columns_of_the_table_are_kept_and_left_out_by_name(frame):
    selected = sparsieve.select(frame, "churn", k=2, always_keep=["city"], never_keep=["plan"])
    assert "city" in selected.features
    assert "plan" not in selected.features


def test_nothing_left_is_said():
    frame = pd.DataFrame({"id": ["a", "b", "c", "d"], "empty": [None] * 4})
    with pytest.raises(ValueError, match=r"no column of X is left to select from: left out 'id'"):
        sparsieve.select(frame, [0, 1, 0, 1])


def test_totals_of_counts_need_counts_alone(frame):
    with pytest.raises(ValueError, match="pass the columns of counts alone"):
        sparsieve.select(frame, "churn", k=2, prepare="log-cpm")


@pytest.mark.parametrize("kind", ["numpy", "nullable"])
def test_truth_values_beside_numbers_with_gaps(frame, kind):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"a": rng.normal(size=160), "b": rng.normal(size=160)})
    table["flag"] = rng.random(160) < 0.5
    y = table["a"] + 2 * table["flag"]
    if kind == "nullable":
        table = table.convert_dtypes()
    table.loc[3, "b"] = None
    for given in (table, table.assign(plan=frame["plan"])):
        selected = sparsieve.select(given, y, k=2, check=False)
        assert set(selected.features) == {"a", "flag"}
        assert selected.notes[-1].startswith("filled the missing values of 'b'")


def test_single_precision_stays(frame):
    table = pd.DataFrame(np.random.default_rng(2).normal(size=(160, 2)), columns=["a", "b"])
    table = table.astype(np.float32).assign(rare=np.float32(np.nan))
    selected = sparsieve.select(table, frame["churn"], k=1, check=False)
    assert set(selected.X.dtypes) == {np.dtype(np.float32)}


def test_columns_named_by_numbers_are_shown():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)))
    selected = sparsieve.select(X, X[1] > 0, k=1, check=False)
    assert selected.features == [1]
    assert str(selected).endswith("1 of 3 features by RidgeForwardSelector: 1")


def test_too_large_a_k_is_refused_in_the_words_of_select(frame):
    for k, options, said in (
        (9, {}, "k=9 is larger than the 5 feature groups of X; ask for at most 5"),
        (5, {"covariates": ["plan"]}, "k=5 is larger than the 4 feature groups of X"),
        (0, {}, "k must be at least 1, got 0"),
        (1.5, {}, r"k as a fraction must lie in \(0, 1\], got 1.5"),
    ):
        with pytest.raises(ValueError, match=f"^{said}"):
            sparsieve.select(frame, "churn", k=k, check=False, **options)


def test_values_that_pandas_calls_na_are_gaps(tmp_path):
    rng = np.random.default_rng(0)
    plain = pd.DataFrame({"x": rng.normal(size=80), "n": rng.integers(0, 9, 80).astype(float)})
    plain["city"] = rng.choice(["a", "b"], 80)
    plain.loc[::7, "n"], plain.loc[::9, "city"] = np.nan, None
    y = np.where(plain["x"] + (plain["city"] == "a") > 0, "yes", "no")
    nullable = plain.astype({"n": "Int64", "city": "string"})
    assert nullable["city"].isna().any()
    for columns in (["x", "n", "city"], ["x", "n"]):
        found = [
            sparsieve.select(table[columns], y, k=2, check=True) for table in (plain, nullable)
        ]
        assert found[0].notes == found[1].notes
        assert found[0].features == found[1].features
        assert found[0].check.score == found[1].check.score
        expected = found[0].predict(plain[columns])
        np.testing.assert_array_equal(found[1].predict(nullable[columns]), expected)
        sparsieve.save(found[1], tmp_path / "model.sparsieve")
        again = sparsieve.load(tmp_path / "model.sparsieve")
        np.testing.assert_array_equal(again.predict(nullable[columns]), expected)


def test_a_name_of_two_columns_is_refused_in_a_sentence():
    frame = pd.DataFrame(np.ones((9, 2)), columns=["a", "a"])
    for function in (sparsieve.select, sparsieve.compare):
        with pytest.raises(ValueError, match="X has duplicate column names: 'a'; rename or drop"):
            function(frame, [0, 1, 1] * 3)
