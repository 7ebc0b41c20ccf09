"""How much a selection changes when the data do: agreement of several selections."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm


class Stability(NamedTuple):
    """Nogueira's stability index and its confidence interval.

    Attributes
    ----------
    value : float
        1 for equal selections, 0 on average for random ones.
    low, high : float
        Ends of the interval.

    See Also
    --------
    sparsieve.scoring.nogueira_stability : Stability with an interval, for any sizes.

    Examples
    --------
    >>> from sparsieve.scoring import nogueira_stability
    >>> nogueira_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]).value
    1.0
    """

    value: float
    low: float
    high: float


def nogueira_stability(supports: ArrayLike, confidence_level: float = 0.95) -> Stability:
    """Stability index of Nogueira, Sechidis and Brown (2018) with its confidence interval.

    One minus the ratio of the observed variance of every feature's selection to the variance
    under random selection of as many features. It is 1 when all selections are the same, 0 on
    average when they are random, and the selections may differ in size.

    Parameters
    ----------
    supports : array of bool of shape (n_selections, n_features)
        Masks such as ``support_``, one per resampling of the data.
    confidence_level : float, default=0.95
        Of the asymptotic interval.

    Returns
    -------
    stability : Stability
        ``value``, ``low``, ``high``; NaN when nothing or everything is selected everywhere,
        which says nothing about stability.

    See Also
    --------
    sparsieve.scoring.jaccard_stability : Common over united features.
    sparsieve.scoring.kuncheva_stability : Corrected for chance, for selections of one size.

    References
    ----------
    Nogueira, Sechidis, Brown, "On the stability of feature selection algorithms", JMLR 18
    (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import nogueira_stability
    >>> nogueira_stability(np.array([[1, 1, 0, 0]] * 3)).value
    1.0
    """
    Z = _masks(supports)
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie in (0, 1), got {confidence_level!r}")
    n_selections, n_features = Z.shape
    frequency = Z.mean(axis=0)
    share = frequency.mean()  # mean number of selected features / n_features
    random_variance = share * (1 - share)
    if random_variance == 0:
        return Stability(np.nan, np.nan, np.nan)
    variance = n_selections / (n_selections - 1) * (frequency * (1 - frequency)).mean()
    index = 1 - variance / random_variance

    # What every single selection contributes; their spread gives the variance of the index.
    shares = Z.mean(axis=1)
    contributions = (
        Z @ frequency / n_features
        - shares * share
        + index / 2 * (2 * share * shares - shares - share + 1)
    ) / random_variance
    deviation = 2 / n_selections * np.linalg.norm(contributions - contributions.mean())
    margin = norm.ppf((1 + confidence_level) / 2) * deviation
    return Stability(float(index), float(index - margin), float(index + margin))


def kuncheva_stability(supports: ArrayLike) -> float:
    """Consistency index of Kuncheva, averaged over all pairs of selections of one size.

    Parameters
    ----------
    supports : array of bool of shape (n_selections, n_features)
        Masks that all select the same number of features.

    Returns
    -------
    index : float
        1 for equal selections, 0 on average for random ones; NaN when nothing or everything is
        selected.

    See Also
    --------
    sparsieve.scoring.nogueira_stability : Stability with an interval, for any sizes.
    sparsieve.scoring.jaccard_stability : Common over united features.

    Examples
    --------
    >>> from sparsieve.scoring import kuncheva_stability
    >>> kuncheva_stability([[1, 1, 0, 0], [1, 0, 1, 0]])
    0.0
    """
    Z = _masks(supports)
    sizes = Z.sum(axis=1)
    if np.ptp(sizes) > 0:
        raise ValueError(
            "Kuncheva's index needs selections of one size, got sizes from "
            f"{int(sizes.min())} to {int(sizes.max())}; use nogueira_stability"
        )
    size, n_features = sizes[0], Z.shape[1]
    if size in (0, n_features):
        return float("nan")
    common = _pairs(Z @ Z.T)
    return float(np.mean((common * n_features - size**2) / (size * (n_features - size))))


def jaccard_stability(supports: ArrayLike) -> float:
    """Mean Jaccard index (common / united features) over all pairs of selections.

    Unlike the other two it is not corrected for chance: large selections agree more.

    Parameters
    ----------
    supports : array of bool of shape (n_selections, n_features)
        Masks of the selections.

    Returns
    -------
    index : float
        Between 0 and 1; two empty selections agree.

    See Also
    --------
    sparsieve.scoring.nogueira_stability : Stability with an interval, for any sizes.
    sparsieve.scoring.kuncheva_stability : Corrected for chance, for selections of one size.

    Examples
    --------
    >>> from sparsieve.scoring import jaccard_stability
    >>> jaccard_stability([[1, 1, 0, 0], [1, 0, 0, 0]])
    0.5
    """
    Z = _masks(supports)
    sizes = Z.sum(axis=1)
    common = _pairs(Z @ Z.T)
    united = _pairs(sizes[:, None] + sizes[None, :]) - common
    return float(np.mean(np.where(united > 0, common / np.maximum(united, 1), 1.0)))


def _masks(supports: ArrayLike) -> np.ndarray:
    Z = np.asarray(supports)
    if Z.ndim != 2 or len(Z) < 2:
        raise ValueError(
            "supports must hold at least two masks as rows (n_selections, n_features), got shape "
            f"{Z.shape}"
        )
    if Z.dtype.kind != "b" and not np.isin(Z, (0, 1)).all():
        raise ValueError("supports must hold masks of True/False or 1/0, not feature indices")
    return Z.astype(np.float64)


def _pairs(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.tril_indices(len(matrix), -1)]
