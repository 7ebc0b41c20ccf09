"""Does the target depend on the features in a way that linear selection cannot see?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from ..filters import InfoGainSelector, ReliefFSelector
from ..scoring.engine import score_columns
from ..scoring.folds import Fold, make_folds
from ..scoring.selections import fit_selection
from ..selectors.least_squares import RidgeForwardSelector
from ..validation.target import Target, with_task
from .columns import spread
from .samples import copied_samples

_FOLDS = 3
_MAX_SAMPLES, _MIN_SAMPLES = 1000, 60


def beyond_linear(X: Any, target: Target) -> str:
    """A sentence that names a better selector, or nothing."""
    n_samples, n_features = X.shape
    if n_samples < _MIN_SAMPLES or n_features < 2:
        return ""
    rng = np.random.RandomState(0)
    # ReliefF costs samples squared times features.
    most = int(min(_MAX_SAMPLES, max(np.sqrt(4e8 / n_features), 200)))
    rows = np.sort(rng.permutation(n_samples)[:most])
    Y = target.Y[rows]
    Y = (Y - Y.mean(axis=0)) / np.sqrt(Y.var(axis=0).sum() or 1.0)
    codes = None if target.codes is None else target.codes[rows]
    y = Y if codes is None else codes
    if codes is not None and np.bincount(codes).min() < _FOLDS:
        return ""
    part = X[rows]
    if sparse.issparse(X) and len(rows) * n_features > 50_000_000:
        return ""
    groups = _copies_together(part, y, classes=codes is not None)
    folds = _folds(y, groups, stratified=codes is not None)
    if not folds:
        return ""
    linear = _errors(RidgeForwardSelector, part, y, Y, Ridge(alpha=0.1 * len(rows)), folds)
    chance = _errors(None, part, y, Y, None, folds)
    if 1.0 - linear.mean() / chance.mean() > 0.6:  # linear selection does its work
        return ""
    values = part.toarray() if sparse.issparse(part) else part
    kinds = [ReliefFSelector] if codes is None else [ReliefFSelector, InfoGainSelector]
    model = KNeighborsRegressor(n_neighbors=7)
    tried = {kind.__name__: _errors(kind, values, y, Y, model, folds) for kind in kinds}
    name, best = min(tried.items(), key=lambda item: item[1].mean())
    if not np.isfinite(best).all():
        return ""
    if not (_surely_less(best, linear, groups) and _surely_less(best, chance, groups)):
        return ""
    if codes is None:
        amounts = [f"R² = {1.0 - e.mean() / chance.mean():.2f}" for e in (linear, best)]
        what = "of the target"
    else:
        amounts = [f"{100.0 * (1.0 - errors.mean()):.0f} %" for errors in (linear, best)]
        what = "of held-out samples"
    better = _surely_less(linear, chance, groups, gain=0.0)
    weak = "poorly" if better else "no better than chance"
    return (
        f"linear selection predicts {weak} ({amounts[0]} {what}), but nearest neighbours on the "
        f"features selected by {name} do better ({amounts[1]}): the relation is not linear, so "
        f"use {name}"
    )


def _copies_together(X: Any, y: np.ndarray, *, classes: bool) -> np.ndarray:
    """A label for every sample, the same for copies, whatever their targets."""
    _, _, mean, std = spread(X)
    found = copied_samples(X, mean, std, y, classes=classes)
    if found is None or found.groups is None:
        return np.arange(len(y))
    return found.groups


def _folds(y: np.ndarray, groups: np.ndarray, *, stratified: bool) -> list[Fold]:
    """Folds that keep copies together; none where these leave a class out of a training part."""
    are_copies = len(np.unique(groups)) < len(groups)
    if are_copies and len(np.unique(groups)) < _MIN_SAMPLES:
        return []
    folds = make_folds(
        y, _FOLDS, seed=0, stratified=stratified, groups=groups if are_copies else None
    )
    whole = len(np.unique(y)) if stratified else 0
    return folds if all(len(np.unique(y[train])) >= whole for train, _ in folds) else []


def _errors(
    kind: Any, X: Any, y: np.ndarray, Y: np.ndarray, model: Any, folds: list[Fold]
) -> np.ndarray:
    """Errors on held-out samples: wrong or not for classes, squared for numbers."""
    is_regression = y.ndim == 2
    errors = np.empty(len(Y))
    for train, test in folds:
        guess = np.tile(Y[train].mean(axis=0), (len(test), 1))
        if kind is not None:
            # Of few features a non-linear score must not keep nearly all, or it says nothing.
            most = X.shape[1] if kind is RidgeForwardSelector else max(2, X.shape[1] // 3)
            selector = with_task(
                kind(n_features_to_select=min(10, most)),
                "regression" if is_regression else "classification",
            )
            found = fit_selection(selector, X[train], y[train], [None], record_warnings=True)
            kept = found.columns[None]
            if kind is not RidgeForwardSelector:
                # The others are kept by the order of columns.
                kept = kept[found.fitted.scores_[kept] > 0]
            if not len(kept):
                return np.full(len(Y), np.inf)
            scored = score_columns(
                *(X[train], Y[train], X[test], Y[test]),
                {None: kept},
                task="regression",
                models={"model": model},
                standardize=True,
                dense=True,
            )
            guess = np.reshape(scored.predictions["model", None], guess.shape)
        if is_regression:
            errors[test] = ((Y[test] - guess) ** 2).sum(axis=1)
        elif kind is None:
            errors[test] = y[test] != np.bincount(y[train]).argmax()
        else:
            errors[test] = y[test] != np.argmax(guess + _prior(y[train], Y), axis=1)
    return errors


def _prior(codes: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """What centring took from the columns, so that the largest is the most likely class."""
    share = np.bincount(codes, minlength=Y.shape[1]) / len(codes)
    return share / np.ptp(Y, axis=0).max()


def _surely_less(one: np.ndarray, other: np.ndarray, groups: np.ndarray, gain: float = 0.1) -> bool:
    """Whether errors are smaller by more than chance; copies count as one sample."""
    difference = other - one
    scale = max(float(other.mean()), 1e-12) if gain else 1.0
    apart = np.bincount(groups, weights=difference - difference.mean())
    error = np.sqrt((apart**2).sum()) / len(difference)
    return bool(difference.mean() > 3.5 * error and difference.mean() > gain * scale)
