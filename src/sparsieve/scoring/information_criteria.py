"""Information criteria of models on selected columns: AIC, BIC and extended BIC."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from ..solvers.losses.cox import Cox
from ..validation.survival import as_survival, survival_parts
from .likelihood_models import LikelihoodRidge
from .softmax import SoftmaxRegression

CRITERIA = ("aic", "bic", "ebic")
_TINY = 1e-8  # a ridge that only keeps coefficients finite
_LARGE = 1e8


def likelihood_fit(X: np.ndarray, y: Any, task: str) -> tuple[float, int, float]:
    """(-2 log likelihood at its maximum, coefficients, samples that count).

    Normal errors for numbers, one variance for every output; multinomial for classes; Poisson for
    counts; Cox's partial likelihood for survival times, where events are what counts.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        May have no columns.
    y : array
        Labels, numbers, counts or survival times.
    task : {"classification", "regression", "counts", "survival"}

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.information_criteria import likelihood_fit
    >>> deviance, n_free, n = likelihood_fit(np.empty((4, 0)), np.array([0, 0, 1, 1]), "counts")
    >>> round(deviance, 3), n_free, n
    (6.773, 1, 4.0)
    """
    n_samples = len(X)
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rank = int(np.linalg.matrix_rank(Z)) if Z.shape[1] else 0
    if task == "survival":
        y = as_survival(y)
        f = LikelihoodRidge(task, _TINY).fit(Z, y).predict(Z) if rank else np.zeros(n_samples)
        loss = Cox(survival_parts(y))
        return 2.0 * float(loss.value(f[:, None])), rank, float(y["event"].sum())
    if task == "counts":
        y = np.asarray(y, dtype=np.float64)
        means = np.full(n_samples, y.mean())
        if rank:
            means = LikelihoodRidge(task, _TINY).fit(Z, y).predict(Z)
        log_likelihood = float(np.sum(xlogy(y, means) - means - gammaln(y + 1.0)))
        return -2.0 * log_likelihood, rank + 1, float(n_samples)
    if task == "classification":
        classes, codes = np.unique(y, return_inverse=True)
        shares = np.tile(np.bincount(codes) / n_samples, (n_samples, 1))
        if rank:
            shares = SoftmaxRegression(C=_LARGE).fit(Z, codes).predict_proba(Z)
        own = np.maximum(shares[np.arange(n_samples), codes], np.finfo(float).tiny)
        n_free = (len(classes) - 1) * (rank + 1)
        return -2.0 * float(np.log(own).sum()), n_free, float(n_samples)
    Y = np.asarray(y, dtype=np.float64).reshape(n_samples, -1)
    design = np.column_stack([np.ones(n_samples), Z])
    residuals = Y - design @ np.linalg.lstsq(design, Y, rcond=None)[0]
    variances = np.maximum(np.square(residuals).mean(axis=0), np.finfo(float).tiny)
    deviance = float(n_samples * np.sum(np.log(2.0 * np.pi * variances) + 1.0))
    return deviance, Y.shape[1] * (rank + 2), float(n_samples)


def criterion_value(
    name: str, deviance: float, n_free: int, n: float, n_kept: int, n_units: int
) -> float:
    """The criterion: smaller is better.

    Parameters
    ----------
    name : {"aic", "bic", "ebic"}
        The extended BIC of Chen and Chen (2008) with gamma = 1 also pays for the choice of
        ``n_kept`` among ``n_units``.

    Examples
    --------
    >>> from sparsieve.scoring.information_criteria import criterion_value
    >>> [round(criterion_value(name, 10.0, 2, 100, 2, 50), 2) for name in ("aic", "bic", "ebic")]
    [14.0, 19.21, 33.43]
    """
    if name == "aic":
        return deviance + 2.0 * n_free
    value = deviance + n_free * float(np.log(max(n, 1.0)))
    if name == "ebic":
        ways = gammaln(n_units + 1) - gammaln(n_kept + 1) - gammaln(n_units - n_kept + 1)
        value += 2.0 * float(ways)
    return value
