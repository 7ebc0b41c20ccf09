"""When a path of growing supports should end."""

from __future__ import annotations

import numpy as np

from ...solvers.searches.forward import EndRule, Standing

# Features that do not pay for themselves may still pay together: look this far ahead.
MAX_TIED_NODES = 5
# A feature that explains less of the target than this is not worth looking at.
MIN_GAIN_SHARE = 0.002


def signal_rule(n_features: int, Y: np.ndarray, total_weight: float, ridge: float) -> EndRule:
    """Go on while the features left out, taken together, say more than noise would.

    Single features soon gain no more than the best of many columns of noise, and yet prediction
    goes on improving as more of them are added, each of which repeats a little of the signal. So
    this looks at all columns that are left: for noise the mean of ||x'R||^2 / nu is ||R||^2 over
    the n - 1 - df degrees of freedom that the ridge fit leaves, with a relative standard
    deviation of sqrt(2 / (d c)) for d columns and c outputs. The path also ends at a feature that
    adds less than ``MIN_GAIN_SHARE`` to the share of the target explained. ``ridge`` is relative to
    ``total_weight``.
    """
    power = float(np.vdot(Y, Y))
    level = 1.0 + np.sqrt(2.0 / (max(n_features, 1) * Y.shape[1]))

    def stop(now: Standing) -> bool:
        if now.n_selected == 0:
            return False
        freedom = total_weight - 1.0 - now.freedom
        is_noise = now.mean_gain * freedom <= level * now.residual
        return is_noise or (1.0 + ridge) * now.gain < MIN_GAIN_SHARE * power

    return stop


def price_rule(lam: float, start: float) -> EndRule:
    """End the path once no longer support can pay for itself.

    A support of k features costs at least lam * k, so beyond the best value so far nothing can
    be gained; and the path also ends when several features in a row cost more than they gain.
    """
    state = {"objective": 0.5 * start, "best": 0.5 * start, "unpaid": 0}

    def stop(now: Standing) -> bool:
        state["best"] = min(state["best"], state["objective"] + lam * now.n_selected)
        state["unpaid"] = 0 if 0.5 * now.gain > lam else state["unpaid"] + 1
        state["objective"] -= 0.5 * now.gain
        return lam * (now.n_selected + 1) >= state["best"] or state["unpaid"] > MAX_TIED_NODES

    return stop
