"""Objective over the iterations of a solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._checks import check_flag
from ...selectors.fitted import objective_history
from .base import Display, fitted_attribute


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """Objective over the iterations, or how far it still was from the best value.

    Parameters
    ----------
    history : ndarray
        The objective after every step; of several models, such as one class against the rest
        each, their sum.
    first : int, default=1
        Number of the first value.
    step_name : str, default="iteration"
        What is counted. A greedy search has one objective for every number of features.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    line_ : matplotlib line
        The objective.

    See Also
    --------
    sparsieve.PathDisplay : What is kept along the path.
    sparsieve.RankingDisplay : The best features as bars.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ConvergenceDisplay, RFSSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> display = ConvergenceDisplay.from_estimator(RFSSelector().fit(X, y), relative=True)
    >>> display.ax_.get_yscale()
    'log'
    """

    history: np.ndarray
    first: int = 1
    step_name: str = "iteration"
    line_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls, selector: Any, *, relative: bool = False, ax: Any = None, **line_kw: Any
    ) -> ConvergenceDisplay:
        """Draw ``history_`` of a fitted selector.

        Parameters
        ----------
        selector : selector
            Fitted; one that has ``history_``.
        relative : bool, default=False
            Draw the distance to the best value as a share of it, on a logarithmic axis. Values
            that are the best have no place there and are left out.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the line, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : ConvergenceDisplay
        """
        hint = "its answer is not found by iterating on an objective"
        fitted_attribute(selector, "history_", cls, hint)
        found = objective_history(selector)
        display = cls(found.values, found.first, found.step_name)
        return display.plot(ax=ax, relative=relative, **line_kw)

    def plot(self, ax: Any = None, *, relative: bool = False, **line_kw: Any) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        relative : bool, default=False
            Draw the distance to the best value as a share of it, on a logarithmic axis.
        **line_kw : dict
            For the line, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : ConvergenceDisplay
            This object.
        """
        check_flag("relative", relative)
        ax = self._begin(ax)
        values = _distance(self.history) if relative else self.history
        steps = self.first + np.arange(len(values))
        (self.line_,) = ax.plot(steps, values, **{"marker": ".", **line_kw})
        if relative:
            ax.set(ylabel="distance to the best objective, relative")
            if np.isfinite(values).any():
                ax.set_yscale("log")
            else:
                ax.text(0.5, 0.5, "every value is the best", transform=ax.transAxes, ha="center")
                ax.set(xlim=(0, self.first + len(values)), yticks=[])
        else:
            ax.set(ylabel="objective")
        ax.set(xlabel=self.step_name)
        ax.xaxis.get_major_locator().set_params(integer=True)
        return self


def _distance(values: np.ndarray) -> np.ndarray:
    """Distance to the best value relative to it; NaN at the best one.

    Most objectives fall; those that rise (a probability, say) are best at their largest.
    """
    best = values.min() if values[-1] <= values[0] else values.max()
    distance = np.abs(values - best) / (abs(best) or 1.0)
    return np.where(distance > 0, distance, np.nan)
