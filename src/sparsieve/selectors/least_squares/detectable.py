"""How strong a feature must be to be found."""

from __future__ import annotations

import numpy as np
from scipy.special import betainccinv

POWER_Z = 0.84  # a normal variable is below it 4 times in 5


def detectable_correlation(level: float, n_tested: int, rank: float, rest: float) -> float:
    """The correlation with y at which the only feature that matters is found 4 times in 5.

    Parameters
    ----------
    level : float
        False discovery rate.
    n_tested : int
        Number of features.
    rank, rest : float
        Degrees of freedom of the explained and the unexplained variance.

    Returns
    -------
    correlation : float
        1 where nothing can be found.

    Examples
    --------
    >>> from sparsieve.selectors.least_squares.detectable import detectable_correlation
    >>> round(detectable_correlation(0.1, 7129, 1, 62), 2)
    0.59
    """
    if n_tested == 0 or rank <= 0 or rest <= 0:
        return 1.0
    least = float(np.sqrt(betainccinv(rank / 2, rest / 2, level / n_tested)))
    if least >= 1.0:
        return 1.0
    return float(np.tanh(np.arctanh(least) + POWER_Z / np.sqrt(max(rank + rest - 2, 1.0))))
