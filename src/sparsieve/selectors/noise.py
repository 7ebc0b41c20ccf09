"""When to stop adding features: as soon as the next one does no better than noise would."""

from __future__ import annotations

import numpy as np


def noise_rule(n_features: int, n_outputs: int, weight: float):
    """Stop when the best feature gains no more than the best of n_features noise columns.

    For a standardised column of noise ||x'R||^2 / ||R||^2 behaves like a chi-square variable
    divided by its c degrees of freedom, one per output. Its maximum over d columns is at most
    about 1 + 2 sqrt(log d / c) + 2 log d / c (Laurent and Massart's tail bound), and the column
    gains ||x'R||^2 / (ridge + n).
    """
    share = np.log(max(n_features, 2)) / n_outputs
    threshold = (1.0 + 2.0 * np.sqrt(share) + 2.0 * share) / weight

    def stop(n_selected: int, gain: float, residual: float) -> bool:
        return n_selected > 0 and gain <= threshold * residual

    return stop
