"""The level that scores reach on noise, and p-values: the same fit on shuffled targets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._checks import MAX_REPEATS, check_choice, check_integer, check_real
from .._clock import Deadline
from ..selectors.ranked import adjusted_pvalues
from ..validation.survival import as_survival, is_survival

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
) -> PermutationNull:
    """Fit a selector on shuffled targets to find how high scores get by chance.

    A feature whose score is not above this level cannot be distinguished from noise. For methods
    that add features one at a time, the level is that of the first step, so it is conservative for
    later ones.

    The p-values hold for any selector with scores. They test whether the target has anything to do
    with the features at all; of methods that score features jointly, they do not say that one
    feature adds something to the others.

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
    if is_survival(y):
        y = as_survival(y)
    y = y.to_numpy() if hasattr(y, "iloc") else np.asarray(y)
    rng = check_random_state(random_state)
    best: list[float] = []
    observed = _scores(selector, X, y)
    bar = observed - ROUNDING * np.where(np.isfinite(observed), np.abs(observed), 0.0)
    own, any_feature = np.zeros(len(observed)), np.zeros(len(observed))
    deadline = Deadline() if max_seconds is None else Deadline.after(max_seconds)
    while len(best) < n_repeats:
        if best and deadline.passed:
            break
        scores = _scores(selector, X, y[rng.permutation(len(y))])
        finite = scores[np.isfinite(scores)]
        best.append(float(finite.max()) if finite.size else 0.0)
        own += scores >= bar
        any_feature += np.max(scores, initial=-np.inf, where=~np.isnan(scores)) >= bar
    pvalues, familywise = (
        np.where(np.isnan(observed), np.nan, (1 + times) / (1 + len(best)))
        for times in (own, any_feature)
    )
    return PermutationNull(np.array(best), pvalues, familywise)


def _scores(selector: Any, X: Any, y: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about noise there is nothing to warn of
        return np.asarray(clone(selector).fit(X, y).scores_, dtype=np.float64)
