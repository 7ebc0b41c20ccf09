"""Contributions of features to decisions, against the definition of Shapley values."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from sparsieve.selection.explained import (
    boosted_contributions,
    exact_contributions,
    linear_contributions,
)


def told_by(nodes, row, known, place=0):
    """What some values of a row say of the output of a tree, by walking down it."""
    node = nodes[place]
    if node["is_leaf"]:
        return node["value"]
    j = node["feature_idx"]
    left, right = (told_by(nodes, row, known, int(node[side])) for side in ("left", "right"))
    if j in known:
        missing = np.isnan(row[j])
        goes = node["missing_go_to_left"] if missing else row[j] <= node["num_threshold"]
        return left if goes else right
    share = nodes[node["left"]]["count"] / node["count"]
    return share * left + (1 - share) * right


def by_permutations(value, n):
    """Shapley values as the mean gain over all orders in which features become known."""
    found = np.zeros(n)
    orders = list(permutations(range(n)))
    for order in orders:
        for place, j in enumerate(order):
            found[j] += value({*order[: place + 1]}) - value({*order[:place]})
    return found / len(orders)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosted_trees_share_out_what_their_paths_say(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2], [0.0, 0.8][: n_classes - 1])
    X[::9, 2] = np.nan
    model = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=7).fit(X, y)
    base, found = boosted_contributions(model, X[:30])
    decision = model.decision_function(X[:30]).reshape(30, -1)
    np.testing.assert_allclose(base + found.sum(axis=1), decision, atol=1e-10)
    for row in (0, 9):
        for output in range(decision.shape[1]):

            def value(known, row=row, output=output):
                trees = [trees[output].nodes for trees in model._predictors]
                return sum(told_by(nodes, X[row], known) for nodes in trees)

            np.testing.assert_allclose(found[row, :, output], by_permutations(value, 4), atol=1e-10)


def test_the_base_of_boosted_trees_is_the_mean_over_the_training_samples():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, X[:, 0] ** 2)
    base, found = boosted_contributions(model, X)
    assert base[0] == pytest.approx(model.predict(X).mean(), abs=1e-8)
    assert np.abs(found[:, 0]).mean() > 5 * np.abs(found[:, 1:]).mean()


def test_sets_of_any_model_give_what_all_orders_give():
    rng = np.random.default_rng(2)
    Z, usual = rng.normal(size=(4, 5)), rng.normal(size=5)
    players = [np.array([0]), np.array([1, 3]), np.array([2]), np.array([4])]

    def decision(rows):
        return np.column_stack([rows[:, 0] * rows[:, 1] * rows[:, 4], np.sin(rows).sum(axis=1)])

    base, found = exact_contributions(decision, Z, usual, players)
    np.testing.assert_allclose(base, decision(usual[None])[0])
    for row in range(4):
        for output in range(2):

            def value(known, row=row, output=output):
                at = usual.copy()
                for player in known:
                    at[players[player]] = Z[row, players[player]]
                return decision(at[None])[0, output]

            expected = by_permutations(value, 4)
            np.testing.assert_allclose(found[row, :, output], expected, atol=1e-12)


def test_of_a_sum_every_term_is_a_contribution():
    rng = np.random.default_rng(3)
    coef, intercept = rng.normal(size=(2, 3)), rng.normal(size=2)
    Z, usual = rng.normal(size=(5, 3)), rng.normal(size=3)
    base, found = linear_contributions(coef, intercept, Z, usual)
    players = [np.array([j]) for j in range(3)]
    expected = exact_contributions(lambda rows: rows @ coef.T + intercept, Z, usual, players)
    np.testing.assert_allclose(base, expected[0])
    np.testing.assert_allclose(found, expected[1], atol=1e-12)
