"""What every feature contributes to a decision: of linear models, of boosted trees, of any model.

Contributions are Shapley values, and add up to the decision less that of the base.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb, factorial
from typing import Any

import numpy as np

# Of a model that is neither linear nor of trees every set of features is tried.
MOST_PLAYERS = 10


def linear_contributions(
    coef: np.ndarray, intercept: np.ndarray, Z: np.ndarray, usual: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(decision of the usual row, coefficients times what values differ from it by).

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_columns)
    intercept : ndarray of shape (n_outputs,)
    Z : ndarray of shape (n_samples, n_columns)
    usual : ndarray of shape (n_columns,)

    Returns
    -------
    base : ndarray of shape (n_outputs,)
    contributions : ndarray of shape (n_samples, n_columns, n_outputs)

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.contributions import linear_contributions
    >>> linear_contributions(np.array([[2.0, 1.0]]), np.array([3.0]), np.eye(2), np.zeros(2))[1][0]
    array([[2.],
           [0.]])
    """
    return intercept + coef @ usual, (Z - usual)[:, :, None] * coef.T[None]


def boosted_contributions(model: Any, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of histogram gradient boosting of scikit-learn, along the paths of its trees.

    What a set of features says of a row is the mean of the leaves that it can end in, where
    splits of other features send it both ways, as often as training samples went there. The
    base is the mean over the training samples.
    """
    n_outputs = len(model._predictors[0])
    base = np.array(model._baseline_prediction, dtype=np.float64).reshape(-1)
    found = np.zeros((*Z.shape, n_outputs))
    for trees in model._predictors:
        for output, tree in enumerate(trees):
            mean, shares = _of_tree(tree.nodes, Z)
            base[output] += mean
            found[:, :, output] += shares
    return base, found


def _of_tree(nodes: Any, Z: np.ndarray) -> tuple[float, np.ndarray]:
    """(mean over training samples, contributions) of one tree.

    The value of a leaf times a product over the features on the way to it: whether the row
    passes all their splits, or which share of the training samples does. Shapley values of a
    product are sums over its polynomial (Lundberg et al., 2018).
    """
    found, mean = np.zeros(Z.shape), 0.0
    todo: list[tuple[int, dict[int, tuple[Any, float]]]] = [(0, {})]
    while todo:
        place, way = todo.pop()
        node = nodes[place]
        if node["is_leaf"]:
            value = float(node["value"])
            mean += value * float(np.prod([share for _, share in way.values()]))
            _add_leaf(found, value, way)
            continue
        j = int(node["feature_idx"])
        values = Z[:, j]
        left = np.where(
            np.isnan(values), bool(node["missing_go_to_left"]), values <= node["num_threshold"]
        )
        passed, share = way.get(j, (1.0, 1.0))
        for side, goes in (("left", left), ("right", ~left)):
            part = float(nodes[node[side]]["count"]) / float(node["count"])
            todo.append((int(node[side]), way | {j: (passed * goes, share * part)}))
    return mean, found


def _add_leaf(found: np.ndarray, value: float, way: dict[int, tuple[Any, float]]) -> None:
    n = len(way)
    weights = np.array([1.0 / (n * comb(n - 1, s)) for s in range(n)]) if n else np.empty(0)
    for j, (passed, share) in way.items():
        # Coefficient s: the sum over sets of s other features that are known.
        sums = np.zeros((n, len(found)))
        sums[0] = 1.0
        for other, (other_passed, other_share) in way.items():
            if other != j:
                sums[1:] = other_share * sums[1:] + other_passed * sums[:-1]
                sums[0] *= other_share
        found[:, j] += value * (passed - share) * (weights @ sums)


def exact_contributions(
    decision: Callable[[np.ndarray], np.ndarray],
    Z: np.ndarray,
    usual: np.ndarray,
    players: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values of any decision; features that are not in a set have their usual values.

    Parameters
    ----------
    decision : callable
        From rows to an array of shape (n_samples, n_outputs).
    Z : ndarray of shape (n_samples, n_columns)
    usual : ndarray of shape (n_columns,)
    players : list of arrays
        The columns of every feature.

    Returns
    -------
    base : ndarray of shape (n_outputs,)
    contributions : ndarray of shape (n_samples, n_players, n_outputs)
    """
    n = len(players)
    values: dict[frozenset[int], np.ndarray] = {}
    for size in range(n + 1):
        for known in combinations(range(n), size):
            rows = np.tile(usual, (len(Z), 1))
            for player in known:
                rows[:, players[player]] = Z[:, players[player]]
            values[frozenset(known)] = decision(rows)
    whole = values[frozenset(range(n))]
    found = np.zeros((len(Z), n, whole.shape[1]))
    for inside, value in values.items():
        for j in set(range(n)) - inside:
            weight = factorial(len(inside)) * factorial(n - len(inside) - 1) / factorial(n)
            found[:, j] += weight * (values[inside | {j}] - value)
    base = values[frozenset()]
    return (base[0] if len(base) else np.zeros(whole.shape[1])), found
