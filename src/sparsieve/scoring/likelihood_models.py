"""The models that score selections for survival times and counts, with a ridge."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._saved import Floats, Labels, Maybe, Savable
from ..selectors.likelihood.baselines import Baselines, listed_times, stratum_places
from ..solvers.losses.base import Loss
from ..solvers.losses.counts import Poisson
from ..solvers.losses.cox import Cox
from ..solvers.searches.likelihood_forward import null_curvature
from ..solvers.searches.ridge_fit import ridge_fit
from ..validation.survival import as_survival, survival_of
from .metrics import regression_scores
from .survival import concordance_index

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

    def __init__(self, task: str = "survival", ridge: float = RIDGE) -> None:
        self.task = task
        self.ridge = ridge

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the columns of X."""
        X = np.asarray(X, dtype=np.float64)
        loss: Loss
        if self.task == "survival":
            loss = Cox(survival_of(as_survival(y)), sample_weight)
        else:
            loss = Poisson(np.asarray(y, dtype=np.float64), sample_weight)
        rotation = None
        if X.shape[1] > len(X):  # the solution lies in the span of the samples
            left, lengths, rotation = np.linalg.svd(X, full_matrices=False)
            X = left * lengths
        free = np.ones((len(X), int(loss.has_intercept)))
        Z = np.hstack([free, X])
        curvature = null_curvature(loss)
        rho = np.repeat([0.0, self.ridge * curvature], [free.shape[1], X.shape[1]])
        start = np.vstack([loss.null_coefficients(free), np.zeros((X.shape[1], 1))])
        w = ridge_fit(loss, Z, rho, start, scale=max(curvature, 1.0)).W[:, 0]
        self.intercept_, coef = float(w[: free.shape[1]].sum()), w[free.shape[1] :]
        for name in ("strata_", "_baselines"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(loss, Cox):
            self._baselines = Baselines.of(loss, [(Z @ w)[:, None]])
            if loss.survival.strata is not None:
                self.strata_ = np.unique(loss.survival.strata)
        self.coef_ = coef if rotation is None else coef @ rotation
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
