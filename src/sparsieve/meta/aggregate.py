"""Ways to make one ranking out of several; every function returns scores, larger is better.

``rankings`` has one row per selector and one column per feature, with 1 for the best.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc


def mean_rank(rankings: np.ndarray, n_ranked: int) -> np.ndarray:
    """Mean rank, turned so that 1 is the best possible and 1/d the worst.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.aggregate import mean_rank
    >>> mean_rank(np.array([[1, 2, 3, 4], [1, 4, 3, 2]]), 4)
    array([1. , 0.5, 0.5, 0.5])
    """
    return _turned(rankings.mean(axis=0))


def median_rank(rankings: np.ndarray, n_ranked: int) -> np.ndarray:
    """Median rank, turned as in :func:`mean_rank`; a minority of odd selectors has no say.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.aggregate import median_rank
    >>> median_rank(np.array([[1, 2], [1, 2], [2, 1]]), 2)
    array([1. , 0.5])
    """
    return _turned(np.median(rankings, axis=0))


def borda(rankings: np.ndarray, n_ranked: int) -> np.ndarray:
    """Borda count over the heads of the lists.

    Every selector gives ``n_ranked`` points to its best feature, one less to the next, and none
    to those below its ``n_ranked`` best.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.aggregate import borda
    >>> borda(np.array([[1, 2, 3, 4], [4, 1, 2, 3]]), 2)
    array([2., 3., 1., 0.])
    """
    return np.maximum(n_ranked + 1.0 - rankings, 0.0).sum(axis=0)


def robust_rank(rankings: np.ndarray, n_ranked: int) -> np.ndarray:
    """Robust rank aggregation (Kolde, Laur, Adler and Vilo 2012): minus log10 of rho.

    Were all m rankings random, the j-th smallest of the m relative ranks of a feature would
    follow Beta(j, m - j + 1); rho is the smallest of the m probabilities of a rank as small as
    the one seen. So a few good ranks count, however bad the others are.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.aggregate import robust_rank
    >>> (10 ** -robust_rank(np.array([[1, 2, 3, 4], [1, 4, 3, 2]]), 4)).round(4)
    array([0.0625, 0.75  , 0.5625, 0.75  ])
    """
    m, n_features = rankings.shape
    relative = np.sort(rankings / n_features, axis=0)
    j = np.arange(1, m + 1)[:, None]
    rho = betainc(j, m - j + 1, relative).min(axis=0)
    return -np.log10(np.maximum(rho, np.finfo(np.float64).tiny))


def _turned(ranks: np.ndarray) -> np.ndarray:
    return 1.0 - (ranks - 1.0) / len(ranks)


AGGREGATIONS = {"mean": mean_rank, "median": median_rank, "borda": borda, "rra": robust_rank}
