from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsieve.app.report.comparison_sections import diagram_rows
from sparsieve.scoring.statistics import groups_alike

ranks_lists = st.lists(st.floats(1, 12), min_size=2, max_size=12).map(sorted)


@given(ranks_lists, st.floats(0, 5))
def test_two_methods_share_a_group_exactly_when_they_are_alike(ranks, difference):
    groups = groups_alike(ranks, difference)
    for i, j in combinations(range(len(ranks)), 2):
        together = any(first <= i and j <= last for first, last in groups)
        assert together == (ranks[j] <= ranks[i] + difference)


def test_no_group_lies_within_another():
    groups = groups_alike([1, 2, 3, 4, 5], 1.5)
    assert groups == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize("n_methods", [3, 4, 12])
def test_every_method_has_a_name_at_its_rank(n_methods):
    rng = np.random.default_rng(n_methods)
    ranks = rng.permutation(n_methods) + 1.0
    names = [f"m{i}" for i in range(n_methods)]
    rows = diagram_rows(names, ranks, 1.0)
    labels = [row["text"] for row in rows if row["part"] in ("left", "right")]
    assert sorted(labels) == sorted(f"m{i} {r:.2f}" for i, r in enumerate(ranks))
    stems = [row for row in rows if row["part"] == "stem"]
    arms = [row for row in rows if row["part"] == "arm"]
    # An arm never crosses the stem of a name on its own side.
    for arm in arms:
        low, high = sorted((arm["x"], arm["x2"]))
        crossed = [s for s in stems if low < s["x"] < high and s["y2"] < arm["y"]]
        assert not crossed
