"""The level that scores reach on noise, and p-values: the same fit on shuffled targets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._checks import MAX_REPEATS, check_choice, check_integer, check_real, warn_user
from .._clock import Deadline
from ..design import external_design
from ..meta.progress import Pace
from ..selectors.around import group_arguments, last_step, weight_arguments
from ..selectors.ranked import adjusted_pvalues
from ..validation.columns import columns_mask
from ..validation.dataframes import frame_library
from ..validation.exchange import Exchange
from ..validation.survival import as_survival, is_survival
from ..validation.target import requested_task, training_task, with_task

LEVEL = 0.95
ROUNDING = 1e-10  # scores that differ by a smaller share are equal


def looks_at_target(selector: Any) -> bool:
    """Whether a selector uses y; of selectors from elsewhere it is supposed."""
    return bool(getattr(selector, "_needs_target", True))


@dataclass(frozen=True)
class PermutationNull:
    """Largest scores reached by chance, when the target is shuffled.

    Attributes
    ----------
    best : ndarray of shape (n_repeats,)
        The largest score of every repeat.
    pvalues : ndarray of shape (n_features,)
        P-value of every feature: how often it scored on a shuffled target at least as high as on
        the real one, (1 + times) / (1 + n_repeats). The p-values cannot be smaller than
        1 / (1 + n_repeats), and are not corrected for the number of features.
    familywise : ndarray of shape (n_features,)
        The same with the best score of any feature on the shuffled target: corrected for the number
        of features, whatever their correlations (maxT).

    See Also
    --------
    sparsieve.permutation_null : Scores that noise reaches by chance.
    sparsieve.RankingDisplay : Bar chart of the best features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, permutation_null
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = FisherSelector(n_features_to_select=3).fit(X, y)
    >>> null = permutation_null(selector, X, y, n_repeats=5)
    >>> bool(selector.scores_.max() > null.best.max())
    True
    """

    best: np.ndarray
    pvalues: np.ndarray | None = None
    familywise: np.ndarray | None = None

    def adjusted(self, method: str = "bh") -> np.ndarray:
        """P-values adjusted for the false discovery rate.

        Parameters
        ----------
        method : {"bh", "by"}, default="bh"
            Benjamini and Hochberg; or Benjamini and Yekutieli, whose control holds under any
            dependence between features.

        Returns
        -------
        adjusted : ndarray of shape (n_features,)
        """
        check_choice("method", method, ("bh", "by"))
        if self.pvalues is None:
            raise ValueError("there are no p-values: call permutation_null to have them")
        return adjusted_pvalues(self.pvalues, method)

    @property
    def level(self) -> float:
        """Score that noise reaches: the 95 % quantile of the largest scores."""
        if not np.isfinite(self.best).all():  # nothing to interpolate between two infinite scores
            return float(np.quantile(self.best, LEVEL, method="higher"))
        return float(np.quantile(self.best, LEVEL))

    @property
    def n_repeats(self) -> int:
        """Number of shuffles."""
        return len(self.best)

    def __str__(self) -> str:
        times = f"{self.n_repeats} shuffled target{'s' * (self.n_repeats != 1)}"
        if self.n_repeats > 1 and np.allclose(self.best, self.best[0], rtol=1e-9, atol=0.0):
            return (
                f"every shuffled target reaches the same score, {self.level:.3g} ({times}), so "
                "the highest score cannot distinguish signal from noise"
            )
        return f"noise reaches a score of {self.level:.3g} ({times})"


def permutation_null(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_repeats: int = 20,
    random_state: int | np.random.RandomState | None = 0,
    max_seconds: float | None = None,
    groups: Any = None,
    strata: Any = None,
    sample_weight: Any = None,
) -> PermutationNull:
    """Fit a selector on shuffled targets to find how high scores get by chance.

    A feature whose score is not above this level cannot be distinguished from noise. For methods
    that add features one at a time, the level is that of the first step, so it is conservative for
    later ones.

    The p-values hold for any selector with scores. They test whether the target has anything to do
    with the features at all; of methods that score features jointly, they do not say that one
    feature adds something to the others.

    Only what is exchangeable is exchanged. Of samples in ``groups``, such as the rows of a patient,
    whole groups exchange their values of y: a group in which y has one value with any other such
    group, a group in which it varies with groups of as many rows. Few large groups in which y
    varies, such as hospitals, or pairs of a case and its control, exchange values within the group
    instead, which supposes that their rows have no order in time. Columns of ``always_keep`` keep
    their relation to y: samples with the same values exchange among each other where these repeat
    (sex, batch), and otherwise (age) samples of which these columns predict about the same y, which
    is an approximation.

    Parameters
    ----------
    selector : selector
        Selector with the parameters to use; it is not changed.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or real-valued targets.
    n_repeats : int, default=20
        Number of shuffles.
    random_state : int, RandomState instance or None, default=0
        Seed of the random number generator; an int makes results reproducible.
    max_seconds : float or None, default=None
        Start no further shuffle after this many seconds; at least one is done.
    groups : array-like of shape (n_samples,), default=None
        Which samples belong together. Refused with a sentence where no two groups can exchange
        anything.
    strata : array-like of shape (n_samples,), default=None
        Samples exchange values of y only within their stratum. Strata that survival times carry
        with them count anyway.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights for the fits; they go along with y.

    Returns
    -------
    null : PermutationNull
        ``level``, the largest score of every shuffle as ``best``, and ``pvalues`` with their
        corrections ``familywise`` and ``adjusted()``; :class:`~sparsieve.RankingDisplay` plots it.

    See Also
    --------
    sparsieve.diagnosis.null.PermutationNull : What is returned.
    sparsieve.diagnose : Checks data for leaks, ids, duplicates and non-linear signals.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, permutation_null
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = FisherSelector().fit(X, y)
    >>> null = permutation_null(selector, X, y, n_repeats=10)
    >>> bool(null.level < selector.scores_.min())
    True
    >>> null.pvalues[:2].round(3), null.adjusted("by")[:2].round(3)
    (array([0.091, 0.091]), array([0.289, 0.289]))
    """
    check_integer("n_repeats", n_repeats, maximum=MAX_REPEATS)
    if not looks_at_target(selector):
        raise ValueError(
            f"{type(selector).__name__} does not use the target, so shuffling it says nothing "
            "about noise; use a supervised selector"
        )
    check_real("max_seconds", max_seconds, minimum=0, optional=True)
    if is_survival(y) or requested_task(selector, y) == "survival":
        y = as_survival(y)
    y = y.to_numpy() if hasattr(y, "iloc") else np.asarray(y)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    rng = check_random_state(random_state)
    fitted = _fit_selector(selector, X, y, weights, groups)
    covariates = _covariates(fitted)
    known = _values(X, covariates) if len(covariates) else None
    exchange = Exchange.from_target(y, groups=groups, strata=strata, covariates=known)
    if exchange.why_not:
        raise ValueError(exchange.why_not)
    if exchange.too_few:
        warn_user(exchange.too_few)
    if y.ndim == 1:
        selector = with_task(selector, training_task(fitted, y))  # whatever a shuffle looks like

    def fit_shuffle(order: np.ndarray) -> np.ndarray:
        heavy = None if weights is None else weights[order]
        found = _fit_selector(selector, X, y[order], heavy, groups)
        return np.asarray(found.scores_, dtype=np.float64)

    best: list[float] = []
    observed = np.asarray(fitted.scores_, dtype=np.float64)
    bar = observed - ROUNDING * np.where(np.isfinite(observed), np.abs(observed), 0.0)
    own, any_feature = np.zeros(len(observed)), np.zeros(len(observed))
    deadline = Deadline() if max_seconds is None else Deadline.after(max_seconds)
    pace = Pace("permutation_null", n_repeats, "shuffle", "fewer repeats are faster")
    for scores in pace.follow(exchange.try_order(fit_shuffle, rng) for _ in range(n_repeats)):
        finite = scores[np.isfinite(scores)]
        best.append(float(finite.max()) if finite.size else 0.0)
        own += scores >= bar
        any_feature += np.max(scores, initial=-np.inf, where=~np.isnan(scores)) >= bar
        if deadline.is_over:
            break
    pvalues, familywise = (
        np.where(np.isnan(observed), np.nan, (1 + times) / (1 + len(best)))
        for times in (own, any_feature)
    )
    return PermutationNull(np.array(best), pvalues, familywise)


def _fit_selector(selector: Any, X: Any, y: np.ndarray, weights: Any, groups: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about noise there is nothing to warn of
        given = weight_arguments(selector, weights) | group_arguments(selector, groups)
        return clone(selector).fit(X, y, **given)


def _covariates(fitted: Any) -> np.ndarray:
    """Columns that the selector, or the one inside it, always keeps."""
    inner = fitted._members() if hasattr(fitted, "_members") else []
    names = getattr(fitted, "feature_names_in_", None)
    for one in (fitted, *inner):
        always = getattr(last_step(one), "always_keep", None)
        mask = columns_mask("always_keep", always, fitted.n_features_in_, names)
        if mask.any():
            return np.flatnonzero(mask)
    return np.zeros(0, dtype=np.int64)


def _values(X: Any, columns: np.ndarray) -> np.ndarray:
    """Some columns of X as an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns].to_numpy()
    if frame_library(X) is not None:
        return X[:, columns.tolist()].to_numpy()
    if sparse.issparse(X):
        return X.tocsc()[:, columns].toarray()
    if isinstance(X, np.ndarray):
        return X[:, columns]
    design = external_design(X)
    if design is None:
        return np.asarray(X)[:, columns]
    return np.asarray(design.ready().dense_columns(columns))
