"""Objective over the iterations of a solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._checks import check_flag
from ..selectors.trace import descent_of
from .base import Display, fitted_attribute, in_legend


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """Objective over the iterations, or how far it still was from the best value.

    Parameters
    ----------
    histories : list of ndarray
        Objective values, one array per model.
    labels : list of str
        Names of the models; shown where there are several.
    first : int, default=1
        Number of the first value.
    step_name : str, default="iteration"
        What is counted. A greedy search has one objective for every number of features.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib artists
        One per model.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ConvergenceDisplay, RFSSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> display = ConvergenceDisplay.from_estimator(RFSSelector().fit(X, y), relative=True)
    >>> display.ax_.get_yscale()
    'log'
    """

    histories: list[np.ndarray]
    labels: list[str]
    first: int = 1
    step_name: str = "iteration"
    lines_: Any = field(init=False)

    @classmethod
    def from_estimator(cls, selector, *, relative=False, ax=None, **line_kw) -> ConvergenceDisplay:
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
            For all lines, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : ConvergenceDisplay
        """
        hint = "its answer is not found by iterating on an objective"
        fitted_attribute(selector, "history_", cls, hint)
        found = descent_of(selector)
        display = cls(found.histories, found.labels, found.first, found.step_name)
        return display.plot(ax=ax, relative=relative, **line_kw)

    def plot(self, ax=None, *, relative=False, **line_kw) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        relative : bool, default=False
            Draw the distance to the best value as a share of it, on a logarithmic axis.
        **line_kw : dict
            For all lines, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : ConvergenceDisplay
            This object.
        """
        check_flag("relative", relative)
        ax = self._begin(ax)
        self.lines_ = []
        values = [_distance(one) if relative else one for one in self.histories]
        for one, label in zip(values, self.labels, strict=True):
            steps = self.first + np.arange(len(one))
            self.lines_ += ax.plot(
                steps, one, **{"marker": ".", "label": in_legend(label), **line_kw}
            )
        if relative:
            drawn = any(np.isfinite(one).any() for one in values)
            ax.set(ylabel="distance to the best objective, relative")
            if drawn:
                ax.set_yscale("log")
            else:
                ax.text(0.5, 0.5, "every value is the best", transform=ax.transAxes, ha="center")
                ax.set(xlim=(0, self.first + max(map(len, values))), yticks=[])
        else:
            ax.set(ylabel="objective")
        ax.set(xlabel=self.step_name)
        ax.xaxis.get_major_locator().set_params(integer=True)
        if len(self.labels) > 1:
            ax.legend()
        return self


def _distance(values: np.ndarray) -> np.ndarray:
    """Distance to the best value relative to it; NaN at the best one.

    Most objectives fall; those that rise (a probability, say) are best at their largest.
    """
    best = values.min() if values[-1] <= values[0] else values.max()
    distance = np.abs(values - best) / (abs(best) or 1.0)
    return np.where(distance > 0, distance, np.nan)
