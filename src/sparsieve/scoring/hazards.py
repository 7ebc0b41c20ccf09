"""Hazard ratios of a few features with confidence intervals, by Cox's model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from ..solvers.losses.cox import Cox
from ..validation.survival import as_survival, survival_of

_LARGEST = 25.0  # of a linear predictor per standard deviation: beyond it there is no estimate
_Z = float(norm.ppf(0.975))


class HazardRatios(NamedTuple):
    """Result of :func:`hazard_ratios`.

    Attributes
    ----------
    ratio, low, high : ndarray of shape (n_features,)
        By how much the hazard is multiplied where a feature is larger by one unit and the others
        are the same, and its 95 % confidence interval (Wald). NaN where it has no estimate: of a
        feature that the ones before it determine, and of all where there are too few events.
    p_value : ndarray of shape (n_features,)
        Of the test that the ratio is 1.
    """

    ratio: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray


def hazard_ratios(X: Any, y: Any) -> HazardRatios:
    """Fit Cox's model without a penalty, with Efron's correction for ties.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        A few features: fewer than there are events.
    y : structured array, data frame or tuple (time, event)
        Survival times; strata and entry times count where y has them.

    Returns
    -------
    ratios : HazardRatios

    Notes
    -----
    The intervals suppose that the features were chosen before the data were looked at. Features
    selected on the same samples have ratios that are too far from 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.hazards import hazard_ratios
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((300, 1))
    >>> time = rng.exponential(np.exp(-0.7 * x[:, 0]))
    >>> found = hazard_ratios(x, (time, np.ones(300)))
    >>> bool(found.low[0] < np.exp(0.7) < found.high[0])
    True
    """
    X = np.asarray(X, dtype=np.float64)
    y = as_survival(y)
    n_features = X.shape[1]
    unknown = HazardRatios(*(np.full(n_features, np.nan) for _ in range(4)))
    scale = X.std(axis=0)
    varies = np.flatnonzero(scale > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300))
    Z = (X[:, varies] - X[:, varies].mean(axis=0)) / scale[varies]
    own = _independent(Z)
    varies, Z = varies[own], np.asfortranarray(Z[:, own])
    if not len(varies) or int(y["event"].sum()) <= len(varies):
        return unknown
    loss = Cox(survival_of(y))
    found = _fitted(loss, Z, float(y["event"].sum()))
    if found is None:
        return unknown
    coef, information = found
    try:
        errors = np.sqrt(np.diag(np.linalg.inv(information)))
    except np.linalg.LinAlgError:
        return unknown
    sizes = scale[varies]
    with np.errstate(over="ignore"):
        parts = [
            np.exp(coef / sizes),
            np.exp((coef - _Z * errors) / sizes),
            np.exp((coef + _Z * errors) / sizes),
            2.0 * norm.sf(np.abs(coef) / errors),
        ]
    for whole, part in zip(unknown, parts, strict=True):
        whole[varies] = part
    return unknown


def _independent(Z: np.ndarray) -> np.ndarray:
    """The standardised columns that those before them do not determine."""
    basis = np.empty((len(Z), 0))
    own = []
    for j in range(Z.shape[1]):
        rest = Z[:, j] - basis @ (basis.T @ Z[:, j])
        rest -= basis @ (basis.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > 1e-8 * np.sqrt(len(Z)):
            basis = np.column_stack([basis, rest / length])
            own.append(j)
    return np.array(own, dtype=np.intp)


def _fitted(loss: Cox, Z: np.ndarray, n_events: float) -> tuple[np.ndarray, np.ndarray] | None:
    """(coefficients, information) by Newton's method; None where the likelihood has no maximum."""
    coef = np.zeros(Z.shape[1])
    value = loss.value((Z @ coef)[:, None])
    for _ in range(50):
        F = (Z @ coef)[:, None]
        gradient, information = Z.T @ loss.gradient(F)[:, 0], loss.hessian(F, Z)
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            return None
        if gradient @ step <= 1e-9 * n_events:
            return (coef, information) if np.abs(coef).max() < _LARGEST else None
        size = 1.0
        while (new := loss.value((Z @ (coef - size * step))[:, None])) > value and size > 1e-8:
            size /= 2.0
        coef, value = coef - size * step, new
        if np.abs(coef).max() > _LARGEST:
            return None
    return None
