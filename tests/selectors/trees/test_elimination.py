"""The path of an elimination whose gains are known."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from sparsieve.selectors.trees.boosting import code_columns
from sparsieve.selectors.trees.elimination import Units, eliminate
from sparsieve.selectors.trees.products import Products, no_products


def run(worth, units=None, always=(), products=None, of_products=()):
    worth = np.asarray(worth, dtype=float)
    units = Units.single(len(worth)) if units is None else units
    fixed = np.isin(np.arange(units.n_units), always)
    sizes = []

    def gains(columns, own):
        sizes.append(len(columns))
        return worth[columns], np.asarray(of_products, dtype=float)[own]

    products = no_products(5) if products is None else products
    return eliminate(units, ~fixed, fixed, products, gains, lambda n: False), sizes


def test_what_is_used_least_leaves_first():
    worth = np.random.default_rng(0).permutation(60) + 1.0
    found, sizes = run(worth)
    assert_array_equal(found.order, np.argsort(-worth))
    assert_array_equal(found.scores, worth)
    assert sizes == [60, 34, 20, 14, *range(9, 0, -1)]
    assert found.n_rounds == len(sizes)


def test_unused_features_leave_at_once_but_not_the_last_twenty():
    worth = np.zeros(1000)
    worth[:40] = np.arange(40) + 1.0
    assert run(worth)[1][:4] == [1000, 40, 23, 20]
    worth[5:40] = 0.0
    assert run(worth)[1][:2] == [1000, 20]


def test_scores_follow_the_ranking_where_gains_do_not():
    """A feature whose copy has left gains more than what left before it."""
    worth = np.arange(12.0)
    units = Units.single(12)

    def gains(columns, own):
        return np.where(len(columns) > 6, worth[columns], 0.1 * worth[columns]), np.empty(0)

    every = np.ones(12, dtype=bool)
    found = eliminate(units, every, ~every, no_products(5), gains, lambda n: False)
    assert (np.diff(found.scores[found.order]) <= 0).all()


def test_products_count_for_their_owners_and_leave_with_the_first():
    table = code_columns(np.zeros((5, 2)))
    products = Products([(0, 1), (2, 3)], np.ones(2), table)
    found, _ = run(np.arange(12.0), products=products, of_products=[50.0, 0.5])
    assert set(found.order[:2].tolist()) == {0, 1}
    assert found.product_gains.tolist() == [50.0, 0.5]


def test_groups_stay_whole_and_fixed_ones_stay_to_the_end():
    units = Units(np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 1, 2]), 3, 4)
    found, sizes = run([1.0, 1.0, 3.0, 3.5], units)
    assert found.order.tolist() == [1, 2, 0]
    assert found.scores.tolist() == [2.0, 4.0, 3.5]
    assert sizes == [4, 3, 2]
    found, sizes = run([1.0, 1.0, 3.0, 3.5], units, always=[1])
    assert found.order.tolist() == [2, 0]
    assert sizes == [4, 3]
