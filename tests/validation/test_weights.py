"""Weights that cannot be used are refused in a sentence that names the row."""

import numpy as np
import pandas as pd
import pytest

import sparsieve

ROWS = pd.DataFrame(
    {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [2.0, 1.0, 2.0, 3.0, 1.0, 2.0]},
    index=[f"p{i}" for i in range(6)],
)
Y = [0, 1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, 1, np.nan, 1, 1, 1], "is missing in row {}; weights are numbers from 0 on"),
        ([1, 1, -2, 1, -1, 1], r"is negative in row {} \(-2\) and 1 more; weights"),
        ([1, 1, np.inf, 1, 1, 1], "is infinite in row {}; weights"),
        ([1, 1], "has 2 values, but X has 6 rows; give one weight for each row"),
        (["much"] * 6, "holds text or objects; weights are numbers"),
    ],
)
def test_the_row_is_named(weights, said):
    for X, row in ((ROWS, "'p2'"), (ROWS.to_numpy(), "3")):
        with pytest.raises(ValueError, match=f"^sample_weight {said.format(row)}"):
            sparsieve.select(X, Y, k=1, sample_weight=weights, check=False)
    with pytest.raises(ValueError, match=f"^sample_weight {said.format('3')}"):
        sparsieve.RidgeForwardSelector(1).fit(ROWS, Y, sample_weight=weights)
    with pytest.raises(ValueError, match=said.format("'p2'")):
        sparsieve.compare(ROWS, Y, ["fisher", "mrmr"], sample_weight=weights)
