"""What a set of features is worth by itself: redundancy, recovery of known features, sparsity."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._checks import check_integer, check_real

_BLOCK = 256  # features at a time in the redundancy rate


class Redundancy(NamedTuple):
    """Redundancy rate of a set of features, see :func:`redundancy_rate`.

    Attributes
    ----------
    signed : float
        Half the mean correlation of a pair; opposite signs cancel.
    absolute : float
        Half the mean absolute correlation.

    See Also
    --------
    sparsieve.scoring.redundancy_rate : How much features repeat each other.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import redundancy_rate
    >>> a = np.arange(5.0)
    >>> found = redundancy_rate(np.column_stack([a, -a]))
    >>> round(found.signed, 6), round(found.absolute, 6)
    (-0.5, 0.5)
    """

    signed: float
    absolute: float


class Recovery(NamedTuple):
    """How well a selection recovers known features, see :func:`recovery_at`.

    Attributes
    ----------
    precision : float
        Share of the selected features that are relevant.
    recall : float
        Share of the relevant features that are selected.

    See Also
    --------
    sparsieve.scoring.recovery_at : Precision and recall where the truth is known.

    Examples
    --------
    >>> from sparsieve.scoring import recovery_at
    >>> recovery_at([3, 1, 2, 4], relevant=[1, 3], k=2).precision  # ranks, not columns
    0.5
    """

    precision: float
    recall: float


def redundancy_rate(X: Any) -> Redundancy:
    """Redundancy rate of the columns of X, with and without the sign of the correlations.

    RED = 1 / (m (m - 1)) * sum over pairs i > j of corr_ij for m features: half the mean
    correlation of a pair, so that m copies of one feature have a rate of 1/2. The signed rate
    lets negative correlations cancel positive ones, although both mean redundancy; the absolute
    rate does not.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_selected)
        The selected features only.

    Returns
    -------
    redundancy : Redundancy
        ``signed`` and ``absolute``. A constant feature is correlated with nothing; fewer than two
        features have a rate of 0.

    See Also
    --------
    sparsieve.scoring.recovery_at : Precision and recall where the truth is known.
    sparsieve.MRMRSelector : Relevant features that differ from each other.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import redundancy_rate
    >>> x = np.array([1.0, 2.0, 4.0])
    >>> rate = redundancy_rate(np.column_stack([x, -x]))
    >>> round(rate.signed, 6), round(rate.absolute, 6)
    (-0.5, 0.5)
    """
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    n_selected = X.shape[1]
    if n_selected < 2:
        return Redundancy(0.0, 0.0)
    # A common shift changes no correlation but keeps large offsets from costing digits.
    centred = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    norms = np.linalg.norm(centred, axis=0)
    # Centring a constant column leaves rounding errors, not a signal.
    noise = 8 * np.finfo(np.float64).eps * np.abs(X).max(axis=0) * np.sqrt(len(X))
    varies = norms > noise
    centred[:, varies] /= norms[varies]
    centred[:, ~varies] = 0.0
    # Every ordered pair but a feature with itself; by blocks, for all of 20,000 features have
    # 400 million correlations.
    signed = absolute = -float(varies.sum())
    for start in range(0, n_selected, _BLOCK):
        correlation = centred[:, start : start + _BLOCK].T @ centred
        signed += correlation.sum()
        absolute += np.abs(correlation, out=correlation).sum()
    n_pairs = n_selected * (n_selected - 1)
    return Redundancy(float(signed / (2 * n_pairs)), float(absolute / (2 * n_pairs)))


def recovery_at(ranking: ArrayLike, relevant: ArrayLike, k: int) -> Recovery:
    """Precision and recall of the k best features when the relevant ones are known.

    Parameters
    ----------
    ranking : array of shape (n_features,)
        ``ranking_`` of a fitted selector: 1 for the best feature.
    relevant : array of int
        Columns of the relevant features.
    k : int
        How many features are selected.

    Returns
    -------
    recovery : Recovery
        ``precision``, the share of relevant ones among the k, and ``recall``, the share of the
        relevant ones that are among the k.

    See Also
    --------
    sparsieve.scoring.redundancy_rate : How much features repeat each other.
    sparsieve.datasets.make_shared_features : All classes differ on the same few features.

    Examples
    --------
    >>> from sparsieve.scoring import recovery_at
    >>> recovery_at([3, 1, 2, 4], relevant=[1, 3], k=1)
    Recovery(precision=1.0, recall=0.5)
    """
    ranking = np.asarray(ranking)
    check_integer("k", k)
    if k > len(ranking):
        raise ValueError(f"k={k} is larger than the number of features, {len(ranking)}")
    return mask_recovery(ranking <= k, relevant)


def mask_recovery(support: ArrayLike, relevant: ArrayLike) -> Recovery:
    """Precision and recall of a selection given as a mask.

    Examples
    --------
    >>> from sparsieve.scoring.feature_sets import mask_recovery
    >>> mask_recovery([True, True, False], relevant=[0])
    Recovery(precision=0.5, recall=1.0)
    """
    support = np.asarray(support, dtype=bool)
    relevant = np.unique(np.asarray(relevant, dtype=np.int64))
    if not len(relevant):
        raise ValueError("relevant is empty; recovery needs at least one relevant feature")
    if relevant[0] < 0 or relevant[-1] >= len(support):
        beyond = int(relevant[-1] if relevant[-1] >= len(support) else relevant[0])
        raise ValueError(f"relevant holds column {beyond}, but there are {len(support)} features")
    hits = float(support[relevant].sum())
    n_selected = int(support.sum())
    return Recovery(hits / n_selected if n_selected else 0.0, hits / len(relevant))


def sparsity_level(coef: ArrayLike, tolerance: float = 0.0) -> int:
    """Number of features whose coefficients are larger than a tolerance.

    Parameters
    ----------
    coef : array of shape (n_outputs, n_features) or (n_features,)
        ``coef_`` of a fitted selector.
    tolerance : float, default=0.0
        A feature counts when the Euclidean norm of its coefficients exceeds it. The level may
        depend a lot on the tolerance, so report several.

    Returns
    -------
    level : int
        Number of features.

    See Also
    --------
    sparsieve.scoring.recovery_at : Precision and recall where the truth is known.

    Examples
    --------
    >>> from sparsieve.scoring import sparsity_level
    >>> sparsity_level([[3.0, 0.0, 1e-5], [4.0, 0.0, 0.0]], tolerance=1e-3)
    1
    """
    check_real("tolerance", tolerance, minimum=0)
    coef = np.atleast_2d(np.asarray(coef))
    return int((np.linalg.norm(coef, axis=0) > tolerance).sum())
