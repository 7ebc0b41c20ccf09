"""Drawings of what the meta-selectors found; Matplotlib is imported only when one is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._optional import require

_TICKS = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]


def new_axes():
    """Axes of a new figure."""
    pyplot = require("matplotlib.pyplot", extra="report", purpose="draw")
    return pyplot.subplots()[1]


@dataclass
class CurveDisplay:
    """Score over the number of features, with one standard error and what each rule chose.

    Parameters
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features.
    mean, error : ndarray of shape (n_ks,)
        Mean score and its standard error.
    chosen : dict
        Number of features by rule.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn.
    line_, band_ : matplotlib artists
        The curve and its band.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.choose import CurveDisplay
    >>> display = CurveDisplay(np.array([1, 2]), np.array([0.5, 0.9]), np.array([0.1, 0.0]))
    >>> display.ks
    array([1, 2])
    """

    ks: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    chosen: dict[str, int] = field(default_factory=dict)
    ax_: Any = None
    line_: Any = None
    band_: Any = None

    @classmethod
    def from_estimator(cls, estimator, *, ax=None) -> CurveDisplay:
        """Draw the curve of a fitted :class:`SelectorCV`."""
        results, n_splits = estimator.cv_results_, estimator.n_splits_
        scores = np.array([results[f"split{i}_test_score"] for i in range(n_splits)])
        error = scores.std(axis=0, ddof=1) / np.sqrt(n_splits) if n_splits > 1 else 0 * scores[0]
        display = cls(
            results["param_k"], results["mean_test_score"], error, dict(estimator.k_by_rule_)
        )
        return display.plot(ax=ax)

    def plot(self, ax=None) -> CurveDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = new_axes() if ax is None else ax
        (self.line_,) = self.ax_.plot(self.ks, self.mean, marker=".", label="mean score")
        self.band_ = self.ax_.fill_between(
            self.ks, self.mean - self.error, self.mean + self.error, alpha=0.2
        )
        for (rule, k), style in zip(self.chosen.items(), ("-", "--", ":"), strict=False):
            self.ax_.axvline(k, linestyle=style, color="grey", label=f"{rule}: {k}")
        self.ax_.set(xscale="log", xlabel="number of features", ylabel="score")
        shown = [k for k in _TICKS if self.ks[0] <= k <= self.ks[-1]]
        self.ax_.set_xticks(shown, [str(k) for k in shown], minor=False)
        self.ax_.set_xticks([], minor=True)
        self.ax_.legend()
        return self
