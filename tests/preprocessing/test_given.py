"""What is given by name or as values, and gaps in it."""

import numpy as np
import pandas as pd
import pytest

from sparsieve import compare, select

X = np.random.default_rng(0).standard_normal((24, 3))
Y = np.arange(24) % 2
GROUPS = [f"p{i % 6}" for i in range(24)]


@pytest.mark.parametrize(
    "groups",
    [
        [None, *GROUPS[1:]],
        np.array([None, *GROUPS[1:]], dtype=object),
        pd.Series([None, *GROUPS[1:]]),
        pd.Series([None, *range(23)], dtype="Int64"),
        np.array([np.nan, *range(23)]),
    ],
)
def test_groups_with_gaps_are_refused(groups):
    """They were a group of their own to select, whoever they belong to."""
    said = "groups has no value in 1 of 24 rows; leave these samples out of X, y and groups"
    for call in (select, compare):
        with pytest.raises(ValueError, match=said):
            call(X, Y, groups=groups)


def test_groups_of_days_are_groups():
    days = np.array(["2024-01-01"], dtype="M8[D]") + np.arange(24) % 6
    assert select(X, Y, k=1, groups=days, check=False).groups is not None
