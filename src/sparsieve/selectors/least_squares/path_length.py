"""When a path of growing supports should end."""

from __future__ import annotations

import numpy as np

from ...solvers.least_squares.forward import EndRule

# Features that do not pay for themselves may still pay together: look this far ahead.
PATIENCE = 5


def noise_rule(n_features: int, n_outputs: int, weight: float) -> EndRule:
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


def price_rule(lam: float, start: float) -> EndRule:
    """End the path once no longer support can pay for itself.

    A support of k features costs at least lam * k, so beyond the best value so far nothing can
    be gained; and the path also ends when several features in a row cost more than they gain.
    """
    state = {"objective": 0.5 * start, "best": 0.5 * start, "unpaid": 0}

    def stop(n_selected: int, gain: float, residual: float) -> bool:
        state["best"] = min(state["best"], state["objective"] + lam * n_selected)
        state["unpaid"] = 0 if 0.5 * gain > lam else state["unpaid"] + 1
        state["objective"] -= 0.5 * gain
        return lam * (n_selected + 1) >= state["best"] or state["unpaid"] > PATIENCE

    return stop
