"""The default model of a curve over k, scored at every k from one factorisation."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ..selectors.target import Target

# Ridge strength per sample: standardised columns then shrink by about a tenth.
RIDGE = 0.1


def default_estimator(target: Target | None, n_samples: int) -> Pipeline:
    """Standardised ridge regression, or the classifier made from it."""
    classes = target is not None and target.task != "regression"
    model = RidgeClassifier if classes else Ridge
    return make_pipeline(StandardScaler(), model(alpha=RIDGE * n_samples))


def score_without_features(target: Target) -> float:
    """Score of guessing: the share of the largest class, or the R squared of the mean."""
    if target.codes is None:
        return 0.0
    return float(np.bincount(target.codes).max() / len(target.codes))


def ridge_curve(
    X_train, target: Target, X_test, test: Target, ks, *, alpha: float, sample_weight=None
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of :func:`default_estimator` on the first k columns, for every k in ``ks``.

    Also returned are the predictions, on average over these k: shares of votes for the classes,
    or numbers.

    With G + alpha I = L L' over all columns, the factor over the first k columns is the leading
    block of L. So with U = L^-1 X'Y and V = L^-1 X_test', both computed once, the prediction
    from k columns is the sum of the first k products V_j' U_j: every further column adds one.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.choose.ridge_curve import ridge_curve
    >>> from sparsieve.selectors.target import encode_target
    >>> X, y = load_wine(return_X_y=True)
    >>> target = encode_target(y, task="classification", dtype=X.dtype, owner="example")
    >>> even, odd = slice(0, None, 2), slice(1, None, 2)
    >>> scores, votes = ridge_curve(
    ...     X[even], target.rows(even), X[odd], target.rows(odd), [1, 13], alpha=9.0
    ... )
    >>> scores
    array([0.6741573 , 0.98876404])
    """
    scaler = StandardScaler().fit(X_train, sample_weight=sample_weight)
    Z, Z_test = scaler.transform(X_train), scaler.transform(X_test)
    mean = np.average(target.Y, axis=0, weights=sample_weight)
    Y = target.Y - mean
    if sample_weight is not None:
        root = np.sqrt(sample_weight)[:, None]
        Z, Y = root * Z, root * Y
    gram = Z.T @ Z
    gram[np.diag_indices_from(gram)] += alpha
    factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    both = solve_triangular(factor, np.hstack([Z.T @ Y, Z_test.T]), lower=True, check_finite=False)
    U, V = both[:, : Y.shape[1]], both[:, Y.shape[1] :]
    is_classes = target.task == "classification"
    score = _accuracy if is_classes else _r_squared
    votes = np.zeros((len(Z_test), len(mean)))
    prediction, done, scores = np.tile(mean, (len(Z_test), 1)), 0, []
    for k in ks:
        prediction += V[done:k].T @ U[done:k]
        done = k
        scores.append(score(test, prediction))
        if is_classes:
            votes[np.arange(len(votes)), prediction.argmax(axis=1)] += 1.0 / len(ks)
        else:
            votes += prediction / len(ks)
    return np.array(scores), votes


def _accuracy(test: Target, prediction) -> float:
    return float((prediction.argmax(axis=1) == test.codes).mean())


def _r_squared(test: Target, prediction) -> float:
    """As scikit-learn's: the mean over outputs, and 1 or 0 where a target does not vary."""
    left = ((test.Y - prediction) ** 2).sum(axis=0)
    power = ((test.Y - test.Y.mean(axis=0)) ** 2).sum(axis=0)
    flat = power == 0
    explained = 1.0 - left / np.where(flat, 1.0, power)
    return float(np.where(flat, (left == 0) * 1.0, explained).mean())
