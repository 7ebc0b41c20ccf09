"""The level that scores reach on noise: the same fit on shuffled targets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._checks import MAX_REPEATS, check_integer, check_real
from .._clock import Deadline

LEVEL = 0.95


def looks_at_target(selector: Any) -> bool:
    """Whether a selector uses y; of selectors from elsewhere it is supposed."""
    return bool(getattr(selector, "_needs_target", True))


@dataclass(frozen=True)
class PermutationNull:
    """Scores of the same fit where features know nothing of the target.

    Attributes
    ----------
    best : ndarray of shape (n_repeats,)
        The largest score of every repeat.

    See Also
    --------
    sparsieve.permutation_null : The level that noise reaches.
    sparsieve.RankingDisplay : The best features as bars.

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

    @property
    def level(self) -> float:
        """What noise reaches: the 95 % quantile of the largest scores."""
        if not np.isfinite(self.best).all():  # nothing to interpolate between two infinite scores
            return float(np.quantile(self.best, LEVEL, method="higher"))
        return float(np.quantile(self.best, LEVEL))

    @property
    def n_repeats(self) -> int:
        """How often the target was shuffled."""
        return len(self.best)

    def __str__(self) -> str:
        times = f"{self.n_repeats} shuffled target{'s' * (self.n_repeats != 1)}"
        if self.n_repeats > 1 and np.allclose(self.best, self.best[0], rtol=1e-9, atol=0.0):
            return (
                f"every shuffled target reaches the same score, {self.level:.4g} ({times}): a "
                "highest score of this size does not tell signal from noise"
            )
        return f"noise reaches a score of {self.level:.4g} ({times})"


def permutation_null(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_repeats: int = 20,
    random_state: int | np.random.RandomState | None = 0,
    max_seconds: float | None = None,
) -> PermutationNull:
    """Fit a selector on shuffled targets and see how high scores get by chance.

    A feature whose score does not stand out from this level cannot be told from noise. Along a
    path the level is that of the first step, where chance has the most to choose from, so it is
    cautious about the later ones.

    Parameters
    ----------
    selector : selector
        Its parameters are used; it is not changed.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numbers.
    n_repeats : int, default=20
        How often the target is shuffled.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffles.
    max_seconds : float or None, default=None
        Begin no further repeat after so many seconds; the first is always made.

    Returns
    -------
    null : PermutationNull
        With ``level`` and the largest score of every repeat as ``best``;
        :class:`~sparsieve.RankingDisplay` draws it.

    See Also
    --------
    sparsieve.diagnosis.null.PermutationNull : What is returned.
    sparsieve.diagnose : Looks for leaks, ids, copies and non-linear targets.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, permutation_null
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = FisherSelector().fit(X, y)
    >>> null = permutation_null(selector, X, y, n_repeats=10)
    >>> bool(null.level < selector.scores_.min())
    True
    """
    check_integer("n_repeats", n_repeats, maximum=MAX_REPEATS)
    if not looks_at_target(selector):
        raise ValueError(
            f"{type(selector).__name__} does not look at the target: to shuffle it tells nothing "
            "about noise"
        )
    check_real("max_seconds", max_seconds, minimum=0, optional=True)
    y = y.to_numpy() if hasattr(y, "iloc") else np.asarray(y)
    rng = check_random_state(random_state)
    best: list[float] = []
    deadline = Deadline() if max_seconds is None else Deadline.after(max_seconds)
    while len(best) < n_repeats:
        if best and deadline.passed:
            break
        shuffled = y[rng.permutation(len(y))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about noise there is nothing to warn of
            scores = np.asarray(clone(selector).fit(X, shuffled).scores_)
        finite = scores[np.isfinite(scores)]
        best.append(float(finite.max()) if finite.size else 0.0)
    return PermutationNull(np.array(best))
