"""What every kept feature contributes to the decision of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from ..preprocessing.kept_columns import KeptColumns
from ..validation.dataframes import make_frame
from .calibrated import CalibratedModel, class_scores

_BOOSTED = HistGradientBoostingClassifier | HistGradientBoostingRegressor


@dataclass(frozen=True)
class Explanation:
    """Decisions of rows as sums: a base, and what every feature adds to it.

    Attributes
    ----------
    features : list of str
        The columns that the model was given: what was made of one of them counts together.
    contributions : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_outputs)
        Shapley values, in units of the decision.
    base : float or ndarray of shape (n_outputs,)
        The decision without knowing anything of a row: of the mean of the training samples, or
        the mean over these for boosted trees.
    decision : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The base plus all contributions.
    meaning : str
        What the decision is.
    """

    features: list[str]
    contributions: np.ndarray
    base: Any
    decision: np.ndarray
    meaning: str

    def __repr__(self) -> str:
        return (
            f"<Explanation of the {self.meaning} of {len(self.decision)} rows by "
            f"{len(self.features)} features>"
        )


def compute_contributions(model: Pipeline, task: str, X: Any) -> Explanation:
    """The contributions of the kept columns to the decisions of a fitted model."""
    step, *middle, last = (one for _, one in model.steps)
    Z = _rows(step.transform(X))
    names, players = _players(step)
    slope, offset, inner = np.ones(1), np.zeros(1), last
    if isinstance(last, CalibratedModel):
        slope, offset, inner = np.array([last.slope]), np.asarray(last.offsets), last.model

    def before_last(rows: np.ndarray) -> Any:
        """What the last step sees of rows, in the kind of frame that the model was fitted to."""
        made: Any = rows
        if step.library is not None:
            made = make_frame(rows, list(step.features), step.library)
        for one in middle:
            made = one.transform(made)
        return made

    def decision(rows: np.ndarray) -> np.ndarray:
        return np.asarray(_decision(inner, task, before_last(rows))).reshape(len(rows), -1)

    usual = None if step.usual is None else np.asarray(step.usual)
    W = _rows(before_last(Z))
    coef = _coefficients(inner, W, decision(Z), middle) if usual is not None else None
    if isinstance(inner, _BOOSTED) and not middle:
        base, by_column = boosted_contributions(inner, Z)
    elif coef is not None and usual is not None:
        base, by_column = linear_contributions(*coef, W, _rows(before_last(usual[None]))[0])
    elif usual is None:
        raise ValueError(
            "this model does not know the mean of its training samples, which contributions start "
            "from; select again and save it again"
        )
    elif len(players) > MOST_PLAYERS:
        raise ValueError(
            f"contributions to {type(inner).__name__} are computed for at most {MOST_PLAYERS} "
            f"features, and it has {len(players)}; linear models and boosted trees may have more"
        )
    else:
        base, shares = exact_contributions(decision, Z, usual, players)
        by_column = None
    if by_column is not None:
        shares = np.stack([by_column[:, some].sum(axis=1) for some in players], axis=1)
    base, shares = base * slope + offset, shares * slope
    whole = base + shares.sum(axis=1)
    if whole.shape[1] == 1:
        base, shares, whole = base[0], shares[:, :, 0], whole[:, 0]
    return Explanation(names, shares, base, whole, _meaning(last, task))


def _rows(Z: Any) -> np.ndarray:
    Z = Z.toarray() if hasattr(Z, "toarray") else Z
    return np.asarray(check_array(Z, ensure_all_finite="allow-nan", ensure_min_samples=0), float)


def _players(step: KeptColumns) -> tuple[list[str], list[np.ndarray]]:
    """(names, columns of the model) of what the user knows as features."""
    source = {name: name for name in step.features}
    for one in step.encode or ():
        source |= {name: one.name for name in one.outputs if name in source}
    names = list(dict.fromkeys(source[name] for name in step.features))
    owners = np.array([names.index(source[name]) for name in step.features])
    return names, [np.flatnonzero(owners == j) for j in range(len(names))]


def _decision(model: Any, task: str, Z: Any) -> np.ndarray:
    """What contributions add up to, of a fitted model without its first steps."""
    if task == "classification":
        return class_scores(model, Z)
    found = np.asarray(model.predict(Z))
    return np.log(found) if task == "counts" else found


def _coefficients(
    model: Any, W: np.ndarray, decisions: np.ndarray, middle: list[Any]
) -> tuple[np.ndarray, np.ndarray] | None:
    """(coefficients, intercepts) where these make the decisions; None for other models."""
    one_by_one = all(isinstance(step, OneToOneFeatureMixin) for step in middle)
    coef, intercept = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if not one_by_one or coef is None or intercept is None:
        return None
    coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef, dtype=np.float64)
    coef = coef.reshape(-1, coef.shape[-1])
    if coef.shape != (decisions.shape[1], W.shape[1]):
        return None
    intercept = np.broadcast_to(np.asarray(intercept, dtype=np.float64), (len(coef),))
    is_sum = np.allclose(W @ coef.T + intercept, decisions, rtol=1e-5, atol=1e-6)
    return (coef, intercept) if is_sum else None


def _meaning(model: Any, task: str) -> str:
    if task == "classification":
        labels = model.classes_
        is_logit = hasattr(model, "predict_proba")
        what = "log odds" if is_logit and len(labels) == 2 else "score"
        return f"{what} of {labels[1]}" if len(labels) == 2 else "score of every class"
    meanings = {"counts": "logarithm of the expected count", "survival": "risk"}
    return meanings.get(task, "prediction")


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
    >>> from sparsieve.selection.explained import linear_contributions
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
