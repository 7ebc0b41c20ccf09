"""Models by likelihood for counts and survival times, and the hazard ratios of features.

The models that score selections for survival times and counts, with a ridge.

Hazard ratios of a few features with confidence intervals, by Cox's model.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy.special import gammaln, xlogy
from scipy.stats import norm
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._saved import Floats, Labels, Maybe, Savable
from ..selectors.likelihood.base import Baselines, listed_times, stratum_places
from ..solvers.losses.base import Loss
from ..solvers.losses.cox import Cox
from ..solvers.losses.separable import Poisson
from ..solvers.searches.likelihood_forward import null_curvature
from ..solvers.searches.ridge_fit import ridge_fit
from ..validation.survival import as_survival, survival_parts
from .metrics import regression_scores
from .softmax import SoftmaxRegression, nonnegative_fit
from .survival import concordance_index

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
    >>> from sparsieve.scoring.likelihood_models import hazard_ratios
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
    loss = Cox(survival_parts(y))
    found = _fit_newton(loss, Z, float(y["event"].sum()))
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


def _fit_newton(loss: Cox, Z: np.ndarray, n_events: float) -> tuple[np.ndarray, np.ndarray] | None:
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


LARGEST = 150.0  # logarithm of a count whose powers are still numbers
RIDGE = 0.1  # of what the model without features knows about a coefficient


class LikelihoodRidge(Savable, BaseEstimator):
    """A Cox or Poisson model with a ridge penalty, fitted by Newton's method.

    It minimises -log likelihood + rho / 2 ||w||^2, rho being ``ridge`` times the curvature of the
    model without features: the number of events, or the sum of the counts. Columns are to be
    standardised. Without any column it predicts the same for all samples.

    Parameters
    ----------
    task : {"survival", "counts"}, default="survival"
    ridge : float, default=0.1
    nonnegative : bool, default=False
        Whether no coefficient may be negative.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
        0 for survival times.
    strata_ : ndarray of shape (n_strata,)
        Labels of the strata, where survival times have some.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.likelihood_models import LikelihoodRidge
    >>> X = np.array([[1.0], [0.5], [-0.5], [-1.0]])
    >>> model = LikelihoodRidge().fit(X, ([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1]))
    >>> model.predict(X).argmax()  # the one with the event first has the highest risk
    np.int64(0)
    """

    coef_: Annotated[Floats, "features"]
    intercept_: float
    n_features_in_: int
    strata_: Maybe[Labels]
    _baselines: Maybe[Baselines]

    def __init__(
        self, task: str = "survival", ridge: float = RIDGE, nonnegative: bool = False
    ) -> None:
        self.task = task
        self.ridge = ridge
        self.nonnegative = nonnegative

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the columns of X."""
        X = np.asarray(X, dtype=np.float64)
        loss: Loss
        if self.task == "survival":
            loss = Cox(survival_parts(as_survival(y)), sample_weight)
        else:
            loss = Poisson(np.asarray(y, dtype=np.float64), sample_weight)
        curvature = null_curvature(loss)
        rho, scale = self.ridge * curvature, max(curvature, 1.0)
        fit = nonnegative_fit if self.nonnegative else _ridge_fit
        intercept, coef = fit(loss, X, rho, scale=scale)
        self.intercept_, self.coef_ = float(intercept), coef
        for name in ("strata_", "_baselines"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(loss, Cox):
            self._baselines = Baselines.from_predictors(loss, [(X @ coef)[:, None]])
            if loss.survival.strata is not None:
                self.strata_ = np.unique(loss.survival.strata)
        self.n_features_in_ = len(self.coef_)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The risk of every sample (the logarithm of its hazard ratio), or its expected count."""
        check_is_fitted(self)
        f = np.asarray(X, dtype=np.float64) @ self.coef_ + self.intercept_
        return f if self.task == "survival" else np.exp(np.clip(f, -LARGEST, LARGEST))

    @available_if(lambda self: "_baselines" in vars(self))
    def predict_survival(self, X: Any, times: Any, *, strata: Any = None) -> np.ndarray:
        """Probabilities that the event has not happened by some times, one row per sample."""
        risk, times = self.predict(X), listed_times(times)
        places = stratum_places(vars(self).get("strata_"), strata, len(risk), "model")
        return self._baselines.survival(0, places, times, risk)

    def score(self, X: Any, y: Any) -> float:
        """Concordance, or the share of the deviance that is explained."""
        if self.task == "survival":
            return concordance_index(y, self.predict(X))
        return regression_scores(y, self.predict(X), ["deviance_explained"])["deviance_explained"]


def _ridge_fit(
    loss: Loss, X: np.ndarray, ridge: float, *, scale: float
) -> tuple[float, np.ndarray]:
    """The intercept and the coefficients at the minimum of L(X w + b) + ridge / 2 ||w||^2."""
    rotation = None
    if X.shape[1] > len(X):  # the solution lies in the span of the samples
        left, lengths, rotation = np.linalg.svd(X, full_matrices=False)
        X = left * lengths
    free = np.ones((len(X), int(loss.has_intercept)))
    rho = np.repeat([0.0, ridge], [free.shape[1], X.shape[1]])
    start = np.vstack([loss.null_coefficients(free), np.zeros((X.shape[1], 1))])
    w = ridge_fit(loss, np.hstack([free, X]), rho, start, scale=scale).W[:, 0]
    coef = w[free.shape[1] :]
    return float(w[: free.shape[1]].sum()), coef if rotation is None else coef @ rotation


# Features whose hazard ratios are estimated together.
MAX_RATIOS = 100


def hazard_columns(X: np.ndarray, y: Any) -> dict[str, np.ndarray]:
    """Hazard ratios of the columns with 95 % intervals, by name; nothing without an estimate."""
    found = hazard_ratios(X, y)
    if np.isnan(found.ratio).all():
        return {}
    return {
        "hazard_ratio": found.ratio,
        "hazard_ratio_low": found.low,
        "hazard_ratio_high": found.high,
    }


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
    >>> from sparsieve.scoring.likelihood_models import likelihood_fit
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
    >>> from sparsieve.scoring.likelihood_models import criterion_value
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
