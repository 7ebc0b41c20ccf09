"""A data frame and the table that a reader makes of the same file give the same selection."""

import numpy as np
import pandas as pd
import pytest

from sparsieve import RidgeForwardSelector, SelectorCV, compare, select
from sparsieve.io import read_table

GROUPS = {"bought": ["plan", "price"], "person": ["age", "noise"]}


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame({"plan": rng.choice(list("abc"), n), "price": rng.normal(size=n)})
    frame["age"], frame["noise"] = rng.normal(size=n), rng.normal(size=n)
    frame["left"] = 2.0 * (frame["plan"] == "a") - (frame["plan"] == "b") + 0.2 * frame["age"]
    path = tmp_path_factory.mktemp("doors") / "data.csv"
    frame.to_csv(path, index=False)
    return (
        frame.drop(columns="left"),
        frame["left"],
        read_table(path, target="left", encode_text="auto"),
    )


@pytest.mark.parametrize("k", [2, "auto"])
@pytest.mark.parametrize("groups", [None, "categories", GROUPS])
def test_both_doors_keep_the_same_features(doors, groups, k):
    X, y, table = doors
    how = {"feature_groups": groups, "cv": 3, "check": False, "linear_only": True}
    by_frame, by_table = select(X, y, k, **how), select(table, k=k, **how)
    assert by_table.features == by_frame.features
    assert by_table.feature_groups == by_frame.feature_groups
    assert by_table.features[0].startswith("plan")


@pytest.mark.parametrize(
    "method",
    [
        RidgeForwardSelector(2, always_keep=["plan"], task="regression"),
        SelectorCV(RidgeForwardSelector(always_keep=["plan"]), ks=[1, 2], cv=3, n_repeats=1),
    ],
)
def test_a_column_of_text_is_named_in_both(doors, method):
    X, y, table = doors
    how = {"k": "auto" if isinstance(method, SelectorCV) else 2, "check": False}
    assert (
        select(table, method=method, **how).features == select(X, y, method=method, **how).features
    )


def test_compare_has_both_doors(doors):
    X, y, table = doors
    how = {"methods": ["ridge-forward"], "ks": [1, 2], "cv": 2, "n_repeats": 1}
    for groups in (None, GROUPS):
        found = [compare(*door, feature_groups=groups, **how) for door in ((X, y), (table,))]
        assert found[0].data.unit_names.tolist() == found[1].data.unit_names.tolist()
        assert [one.methods["ridge-forward"].scores["r2"].tolist() for one in found]
