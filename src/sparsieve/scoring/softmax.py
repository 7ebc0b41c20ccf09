"""Softmax regression with a ridge, solved to its optimum where samples are few."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from .._saved import Savable
from ..design.parallel_passes import limit_blas
from ..solvers.losses.base import Loss
from ..solvers.losses.multinomial import Multinomial
from ..solvers.losses.separable import Logistic
from ..solvers.searches.ridge_fit import ridge_fit

# Of up to so many samples Newton's method solves for the coefficients, where these are few, also
# for every sample; otherwise for what the samples contribute.
MAX_COEFFICIENTS, MAX_COEFFICIENTS_PER_SAMPLE, MAX_SAMPLES = 250, 1.5, 150
# Of more samples, up to so many features are made uncorrelated first, and few steps are enough.
MAX_FEATURES = 1000
# They end when no derivative of the mean loss by these features is larger than this.
LEVEL = 1e-7
# Products of fewer numbers than this are over before a second thread has begun.
MAX_ALONE = 20_000_000
MAX_STEPS, MAX_HALVINGS = 50, 40
MAX_CHANGES = 5  # of the columns that a fit with signs uses, for each of them
# Newton's method ends when no probability is off by more than this, and is trusted up to that.
EXACT, OPTIMAL = 1e-13, 1e-9
# Log-probabilities that differ by less are equal: the first of these classes is predicted.
TIED = 1e-9


class SoftmaxRegression(Savable, LogisticRegression):
    """scikit-learn's model at its optimum, where ``tol`` would stop before it.

    Newton's method solves for the coefficients where these are few. Where samples are few, their
    products are all that it needs, however many features there are: with a ridge the coefficients
    lie in the span of the samples. Of many samples the features are made uncorrelated, so that a
    method of first derivatives ends after few steps. Sparse X, and more features than that is good
    for, are left to scikit-learn.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the ridge, as scikit-learn has it.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as scikit-learn has them.
    nonnegative : bool, default=False
        Whether no coefficient of the second of two classes may be negative.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.softmax import SoftmaxRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]])
    >>> SoftmaxRegression().fit(X, [0, 1, 2]).predict(X)
    array([0, 1, 2])
    """

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, C: float = 1.0, class_weight: Any = None, nonnegative: bool = False) -> None:
        super().__init__(C=C, class_weight=class_weight, tol=1e-6, max_iter=1000)
        self.nonnegative = nonnegative

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the columns of X."""
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        if self.class_weight is not None:
            weights = weights * _weights_of_classes(self.class_weight, y, weights)
        counted = weights > 0
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        weights, codes = weights[counted], codes[counted]
        if hasattr(X, "tocsr") or len(np.unique(codes)) < max(len(classes), 2):
            return super().fit(X, y, sample_weight)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        if self.nonnegative:
            loss = Logistic((codes == 1).astype(np.float64), weights)
            columns = np.asarray(X[counted], dtype=np.float64)
            level, coef = nonnegative_fit(loss, columns, 1.0 / self.C, scale=float(weights.sum()))
            self.classes_, self.intercept_, self.coef_ = classes, np.array([level]), coef[None]
            return self
        # Two classes have one column of coefficients, whose halves are those of the classes.
        strength = (2.0 if len(classes) == 2 else 1.0) / self.C
        found = _optimum(np.asarray(X[counted], dtype=np.float64), codes, weights, strength)
        if found is None:
            return super().fit(X, y, sample_weight)
        coef, intercept = found
        if len(classes) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.classes_ = classes
        self.coef_, self.intercept_ = coef.astype(X.dtype), intercept.astype(X.dtype)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class; of equally likely ones the first."""
        F = np.asarray(self.decision_function(X))
        if F.ndim == 1:
            return np.asarray(self.classes_[(F > TIED).astype(int)])
        return np.asarray(self.classes_[(F.max(axis=1, keepdims=True) - TIED <= F).argmax(axis=1)])


def nonnegative_fit(
    loss: Loss, X: np.ndarray, ridge: float, *, scale: float
) -> tuple[float, np.ndarray]:
    """Minimise L(X w + b) + ridge / 2 ||w||^2 with w >= 0; b and w are returned.

    An active set as that of Lawson and Hanson for least squares: the fit without bounds on the
    columns that are used is approached until some are zero, which leave; then the column enters
    along which the objective falls most.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.softmax import nonnegative_fit
    >>> from sparsieve.solvers.losses.separable import Logistic
    >>> X, y = np.array([[1.0, 1.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 2.0]]), [1.0, 1.0, 0.0, 0.0]
    >>> nonnegative_fit(Logistic(np.array(y), None), X, 1.0, scale=4.0)[1].round(3)
    array([1.043, 0.   ])
    """
    free = np.ones((len(X), int(loss.has_intercept)))
    A, bounded = np.hstack([free, X]), np.arange(free.shape[1] + X.shape[1]) >= free.shape[1]
    penalty, used = ridge * bounded, np.ones(len(bounded), dtype=bool)
    w = np.concatenate([loss.null_coefficients(free)[:, 0], np.zeros(X.shape[1])])
    for _ in range(MAX_CHANGES * len(w)):
        there = np.zeros(len(w))
        there[used] = ridge_fit(loss, A[:, used], penalty[used], w[used, None], scale=scale).W[:, 0]
        across = np.flatnonzero(bounded & used & (there < 0.0))
        if len(across):
            shares = w[across] / (w[across] - there[across])
            w += shares.min() * (there - w)
            leave = across[shares == shares.min()]
            used[leave], w[leave] = False, 0.0
            continue
        w = there
        slopes = (A.T @ loss.gradient(A @ w[:, None]))[:, 0] * ~used
        if slopes.min() >= -LEVEL * scale:
            break
        used[slopes.argmin()] = True
    return float(w[~bounded].sum()), w[bounded]


def _weights_of_classes(class_weight: Any, y: Any, weights: np.ndarray) -> np.ndarray:
    """The weight of its class for every sample: "balanced" ones by the weights of the samples."""
    if not isinstance(class_weight, str):
        return np.asarray(compute_sample_weight(class_weight, y))
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    sizes = np.bincount(codes, weights)
    sizes = np.where(sizes > 0, sizes, 1.0)
    return np.asarray((weights.sum() / (len(sizes) * sizes))[codes])


def _optimum(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray, strength: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Coefficients and intercepts of all classes; None where that is not for Newton's method."""
    n_samples, n_classes = len(X), int(codes.max()) + 1
    if n_samples > MAX_SAMPLES:
        can = X.shape[1] <= min(n_samples, MAX_FEATURES)
        return uncorrelated_softmax(X, codes, weights, strength) if can else None
    few = min(MAX_COEFFICIENTS, MAX_COEFFICIENTS_PER_SAMPLE * n_samples)
    if (X.shape[1] + 1) * n_classes <= few:
        loss = Multinomial(codes, n_classes, weights)
        ridge = np.repeat([0.0, strength], [1, X.shape[1]])
        columns = np.hstack([np.ones((n_samples, 1)), X])
        W = ridge_fit(loss, columns, ridge, scale=float(weights.sum())).W
        return W[1:].T, W[0]
    found = softmax_on_kernel(X @ X.T / strength, codes, weights)
    return None if found is None else (found[0] @ X / strength, found[1])


def uncorrelated_softmax(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray, strength: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Coefficients and intercepts of all classes, by a quasi-Newton method on uncorrelated columns.

    With the triangular factor of the products of the centred columns and the ridge, W = T'V, the
    columns X T' are uncorrelated but for the ridge, and of the same size: V is found in few steps,
    however alike the columns of X are. The ridge stays that of W. Two classes have one column of
    coefficients, whose halves are those of the classes.

    Returns
    -------
    coef : ndarray of shape (n_classes, n_features)
    intercept : ndarray of shape (n_classes,)
    None where the columns have no factor.
    """
    total, n_classes = float(weights.sum()), int(codes.max()) + 1
    mean = weights @ X / total
    Z = X - mean
    products = Z.T @ (weights[:, None] * Z)
    products[np.diag_indices_from(products)] += strength
    try:
        factor = cholesky(products, lower=True)
    except (LinAlgError, ValueError):
        return None
    eye = np.sqrt(total) * np.eye(len(factor))
    T = solve_triangular(factor, eye, lower=True)
    # The intercept is the coefficient of a first row of ones, without a ridge.
    U = np.vstack([np.ones(len(X)), T @ Z.T])
    columns = U.T
    P = np.pad((strength / total) * (T @ T.T), (1, 0))
    share = weights / total
    levels = np.log(np.bincount(codes, share))
    seen = (share * (np.arange(n_classes)[:, None] == codes)) @ columns
    if n_classes == 2:  # half of the ridge: that of two columns w / 2 and -w / 2
        P, levels, seen = P / 2.0, levels[1:] - levels[:1], seen[1:]
    F = np.zeros((n_classes, len(X)))  # a row per class: long loops, in compiled code
    used = F[-len(levels) :]

    def evaluate(v: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean loss with its ridge, and its derivatives."""
        V = v.reshape(len(levels), -1)
        F[:1] = 0.0
        np.matmul(V, U, out=used)
        high = F.max(axis=0)
        np.exp(np.subtract(F, high, out=F), out=F)
        sums = F.sum(axis=0)
        np.multiply(used, share / sums, out=used)  # probabilities
        slopes = V @ P
        loss = share @ (high + np.log(sums)) - np.vdot(V, seen) + 0.5 * np.vdot(V, slopes)
        return float(loss), (used @ columns - seen + slopes).ravel()

    start = np.column_stack([levels, np.zeros((len(levels), X.shape[1]))]).ravel()
    limits = {"maxiter": 2000, "maxfun": 4000, "gtol": LEVEL, "ftol": 0.0, "maxcor": 10}
    is_small = len(X) * start.size < MAX_ALONE
    with limit_blas() if is_small else nullcontext():
        V = minimize(evaluate, start, jac=True, method="L-BFGS-B", options=limits).x
    V = V.reshape(len(levels), -1)
    coef = V[:, 1:] @ T
    intercept = V[:, 0] - coef @ mean
    if n_classes == 2:
        return np.vstack([-coef, coef]) / 2.0, np.append(-intercept, intercept) / 2.0
    return coef, intercept - intercept.mean()


def softmax_on_kernel(
    K: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Minimise L(A K + b 1') + 1/2 sum_c a_c'K a_c by Newton's method, L being the log loss.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Products of the samples, divided by the strength of the ridge.
    codes, weights : ndarray of shape (n_samples,)
        Class and weight of every sample; weights are positive.

    Returns
    -------
    A : ndarray of shape (n_classes, n_samples)
        At the optimum less the derivatives of L: what is missing of the probabilities.
    b : ndarray of shape (n_classes,)
        Intercepts, which add up to zero.
    None where rounding leaves a residual that is not small.
    """
    Y = np.zeros((codes.max() + 1, len(K)))
    Y[codes, np.arange(len(K))] = weights
    b = np.log(Y.sum(axis=1))
    A, AK = np.zeros_like(Y), np.zeros_like(Y)
    weighted, value = _evaluate(AK + b[:, None], Y, weights)
    size, residual = weights.max(), np.inf
    for _ in range(MAX_STEPS):
        there = _newton_point(K, AK + b[:, None], Y, weighted, weights)
        if there is None:
            return None
        step, step_b = there[0] - A, there[1] - b
        step_K = step @ K
        slope = np.vdot(weighted - Y, step_K + step_b[:, None]) + np.vdot(A, step_K)
        # The gain of the last steps is below what rounding leaves of the objective.
        length, small = 1.0, -slope <= 1e-9 * max(value, size)
        for _ in range(MAX_HALVINGS):
            tried, tried_K = A + length * step, AK + length * step_K
            tried_b = b + length * step_b
            weighted, loss = _evaluate(tried_K + tried_b[:, None], Y, weights)
            loss += 0.5 * np.vdot(tried, tried_K)
            if small or loss <= value + 1e-4 * length * slope:
                break
            length /= 2.0
        A, AK, b, value, before = tried, tried_K, tried_b, loss, residual
        residual = np.abs(A + weighted - Y).max() / size
        if residual <= EXACT or (small and residual >= 0.1 * before):
            break
    return (A, b - b.mean()) if residual <= OPTIMAL else None


def _evaluate(F: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weighted probabilities, and the log loss."""
    F = F - F.max(axis=0)
    P = np.exp(F)
    sums = P.sum(axis=0)
    return P * (weights / sums), weights @ np.log(sums) - np.vdot(Y, F)


def _newton_point(
    K: np.ndarray, F: np.ndarray, Y: np.ndarray, D: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """A and b at the minimum of the quadratic model at F, where weighted probabilities are D.

    The Hessian H of L is diag(D) less a matrix of rank one for every sample. So a step takes one
    factor for every class and one for all, of the size of K (Rasmussen and Williams, 2006,
    algorithm 3.3, here with weights and intercepts). None where rounding leaves no factor.
    """
    roots = np.sqrt(np.maximum(D, np.finfo(float).tiny))
    scales = roots[:, :, None] * roots[:, None, :]
    E = scales * K
    diagonal = np.arange(len(K))
    E[:, diagonal, diagonal] += 1.0
    for E_c in E:
        if not _invert(E_c):
            return None
    E *= scales  # (K + diag(1 / d_c))^-1
    shared = E.sum(axis=0)
    if not _invert(shared):
        return None

    def apply(V: np.ndarray) -> np.ndarray:
        """(K + H^-1)^-1 V."""
        own = np.matmul(E, V[:, :, None])[:, :, 0]
        return np.asarray(own - E @ (shared @ own.sum(axis=0)))

    bent = D * (F - (D * F).sum(axis=0) / weights) + Y - D
    without = bent - apply(bent @ K)
    # The intercepts see to it that the residuals of every class add up to zero.
    sums = E.sum(axis=2)
    N = np.diag(sums.sum(axis=1)) - sums @ shared @ sums.T
    N += np.trace(N) / len(N) ** 2  # the same intercept in all classes changes nothing
    b = np.linalg.solve(N, without.sum(axis=1))
    return without - apply(np.repeat(b[:, None], len(K), axis=1)), b


def _invert(M: np.ndarray) -> bool:
    """Invert a positive definite matrix in place; False if it is none."""
    factor, failed = dpotrf(M.T, lower=1)
    if not failed:
        lower, failed = dpotri(factor, lower=1, overwrite_c=1)
        np.add(lower, lower.T, out=M)
        M.ravel()[:: len(M) + 1] *= 0.5
    return not failed
