"""Which columns belong together, in every form that a user may say it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from sparsieve import make_preprocessor
from sparsieve.validation.feature_groups import feature_groups, output_columns

FRAME = pd.DataFrame(
    {
        "a_b": ["x", "y", "x", "z"] * 5,
        "a": ["b_x", "c", "c", "b_x"] * 5,
        "age": np.arange(20.0),
        "rare": ["p"] * 17 + ["q", "r", "s"],
    }
)
WORDS = ["a_b", "a", "rare"]


def as_lists(groups):
    return dict(zip(groups.names, (c.tolist() for c in groups.columns), strict=True))


@pytest.mark.parametrize(
    "given",
    [
        ["g", "h", "g", "i"],
        np.array([7, 8, 7, 9]),
        {"g": [0, 2]},
        {"g": ["p", "r"]},
        {"g": ["r", "p"], "one": "q"},
        [[0, 2]],
        [np.array([2, 0]), [1]],
        {"g": [True, False, True, False]},
    ],
)
def test_every_form_says_the_same(given):
    groups = feature_groups(given, 4, ["p", "q", "r", "s"])
    assert [columns.tolist() for columns in groups.columns] == [[0, 2], [1], [3]]


def test_overlap_and_columns_of_their_own():
    groups = feature_groups({"u": [1, 2], "v": [2, 3]}, 5, None)
    assert as_lists(groups) == {"x0": [0], "u": [1, 2], "v": [2, 3], "x4": [4]}
    ranking = np.array([4, 2, 1, 3])
    assert groups.ranks_of_columns(ranking).tolist() == [4, 2, 1, 1, 3]
    assert groups.scores_of_columns(-ranking.astype(float)).tolist() == [-4, -2, -1, -1, -3]


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(),
        OneHotEncoder(drop="first"),
        OneHotEncoder(drop="if_binary"),
        OneHotEncoder(min_frequency=3),
        OneHotEncoder(max_categories=2, drop="first"),
    ],
)
def test_encoders_by_what_changes_when_a_column_does(encoder):
    """The second computation: columns that change with an input belong to it."""
    encoder = encoder.set_params(handle_unknown="ignore").fit(FRAME[WORDS])
    made = encoder.transform(FRAME[WORDS]).toarray()
    groups, n_columns = output_columns(encoder)
    assert n_columns == made.shape[1]
    for name in WORDS:
        others = [word for word in WORDS if word != name]
        constant = FRAME[WORDS].copy()
        constant[others] = constant[others].iloc[0].to_numpy()
        changed = np.ptp(encoder.transform(constant).toarray(), axis=0) > 0
        assert set(np.flatnonzero(changed)) <= set(groups[name].tolist())
    assert sorted(np.concatenate(list(groups.values()))) == list(range(n_columns))


def test_column_transformers():
    gaps = FRAME.assign(height=[np.nan, *range(19)], weight=np.arange(20.0))
    made = ColumnTransformer(
        [
            (
                "words",
                make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
                WORDS,
            ),
            ("numbers", SimpleImputer(add_indicator=True), ["age", "height"]),
            ("mixed", PolynomialFeatures(2, include_bias=False), ["age", "weight"]),
            ("alone", PolynomialFeatures(3, include_bias=False), ["weight"]),
        ],
        remainder=StandardScaler(),
    ).fit(gaps)
    groups, n_columns = output_columns(made)
    assert n_columns == made.transform(gaps).shape[1]
    assert {name: len(columns) for name, columns in groups.items()} == {
        "a_b": 3, "a": 2, "rare": 4, "age": 1, "height": 2, "mixed": 5, "weight": 3,
    }  # fmt: skip
    names = list(made.get_feature_names_out())
    assert [names[j] for j in groups["a"]] == ["words__a_b_x", "words__a_c"]
    assert [names[j] for j in groups["a_b"]] == ["words__a_b_x", "words__a_b_y", "words__a_b_z"]


def test_our_own_preprocessor():
    gaps = FRAME.assign(height=[None, *range(19)])
    numbers = make_preprocessor(gaps).fit_transform(gaps)
    groups = as_lists(feature_groups("categories", numbers.shape[1], list(numbers.columns)))
    assert set(groups) == set(gaps.columns)
    assert [numbers.columns[j] for j in groups["height"]] == ["height", "height=(missing)"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["a", "b"], "has 2 labels for 4 columns"),
        (["a", None, "b", "c"], "missing labels"),
        ([1, "1", 2, 3], "differ in type only"),
        ({"g": ["nope"]}, "'nope' is not a column of X"),
        ({"g": [9]}, "column 9 does not exist"),
        ({"g": []}, "has no columns"),
        ({}, "is empty"),
        ({"s": [0, 1]}, "names a group and a column outside of it"),
        ("names", 'must be "categories"'),
        (3, "one label per column"),
    ],
)
def test_one_sentence_for_what_is_wrong(given, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        feature_groups(given, 4, ["p", "q", "r", "s"])


def test_categories_need_names_and_transformers_must_fit():
    with pytest.raises(ValueError, match="no column names"):
        feature_groups("categories", 4, None)
    encoder = OneHotEncoder().fit(FRAME[WORDS])
    with pytest.raises(ValueError, match="makes 9 columns, but X has 4"):
        feature_groups(encoder, 4, None)
