"""Raw tables are compared on as they are selected from."""

import numpy as np
import pandas as pd
import pytest

import sparsieve
from sparsieve import L21Selector, RidgeForwardSelector

METHODS = ["ridge-forward", "fisher"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, 80).round()
    city = rng.choice(["Rome", "Oslo", "Bern"], 80)
    churned = age + 12 * (city == "Oslo") + rng.normal(0, 5, 80) > 54
    age[::9] = np.nan
    return pd.DataFrame(
        {
            "customer": [f"c{j:03d}" for j in range(80)],
            "age": age,
            "city": city,
            "since": pd.date_range("2020-01-01", periods=80).strftime("%Y-%m-%d"),
            "paid": [f"{1000 + j:,}" for j in rng.integers(0, 9000, 80)],
            "fax": [None] * 70 + ["1"] * 10,
            "weight": rng.integers(1, 4, 80),
            "churned": np.where(churned, "yes", "no"),
        }
    )


def test_a_raw_frame_is_made_ready_as_in_select(frame):
    found = sparsieve.compare(frame, "churned", METHODS, ks=[1, 2], n_repeats=1, cv=3)
    chosen = sparsieve.select(frame, "churned", k=2, method="fisher", check=False)
    assert list(found.data.names) == list(chosen.X.columns)
    assert set(chosen.notes) <= set(found.notes)
    assert "customer" not in found.data.names
    assert not found.left_out


def test_methods_that_keep_groups_count_groups(frame):
    both = [RidgeForwardSelector(never_keep=["paid"]), L21Selector(always_keep=["city"])]
    found = sparsieve.compare(frame, "churned", both, ks=[2], n_repeats=1, cv=3)
    assert found.data.unit == "feature group"
    assert list(found.data.unit_names) == ["age", "city", "since", "paid", "weight"]
    names, results = found.data.unit_names, found.methods
    assert "city" in names[results["l21"].chosen[2]]
    assert "paid" not in names[results["ridge-forward"].chosen[2]]


def test_weights_may_be_a_column(frame):
    named = sparsieve.compare(
        frame, "churned", METHODS, ks=[2], n_repeats=1, cv=3, sample_weight="weight"
    )
    values = sparsieve.compare(
        frame.drop(columns="weight"),
        "churned",
        METHODS,
        ks=[2],
        n_repeats=1,
        cv=3,
        sample_weight=frame["weight"].to_numpy(),
    )
    assert "weight" not in named.data.names
    assert named.table["accuracy"].tolist() == values.table["accuracy"].tolist()
    with pytest.raises(ValueError, match="y and sample_weight both name the column 'churned'"):
        sparsieve.compare(frame, "churned", METHODS, sample_weight="churned")


def test_limits_can_be_set(frame):
    found = sparsieve.compare(
        frame, "churned", METHODS, ks=[1], n_repeats=1, cv=3, max_categories=2, max_missing=0.95
    )
    assert not any(name.startswith("city") for name in found.data.names)
    assert "fax" in found.data.names
