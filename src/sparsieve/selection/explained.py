"""What every kept feature contributes to the decision of a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from ..preprocessing.kept_columns import KeptColumns
from ..scoring.contributions import (
    MOST_PLAYERS,
    boosted_contributions,
    exact_contributions,
    linear_contributions,
)
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
