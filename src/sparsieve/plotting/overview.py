"""A selection at a glance: how many features, which ones, and the samples seen through them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._optional import require
from .base import ROW_HEIGHT, Display
from .drawing import n_rows


@dataclass(eq=False, repr=False)
class OverviewDisplay(Display):
    """Several displays of one selection in one figure.

    Parameters
    ----------
    displays : dict of str to display
        Not drawn yet. The first two stand beside each other, a third below them.

    Attributes
    ----------
    figure_ : matplotlib figure
        Where it was drawn.
    axes_ : dict of str to matplotlib axes
        By the names of the displays.
    ax_ : matplotlib axes
        Those of the first display.

    See Also
    --------
    sparsieve.select : Its result has ``plot()``.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> list(sparsieve.select(X, y, k=3).plot().axes_)
    ['curve', 'ranking', 'heatmap']
    """

    displays: Mapping[str, Any]
    axes_: dict[str, Any] = field(init=False)

    def plot(self) -> OverviewDisplay:
        """Draw.

        Returns
        -------
        display : OverviewDisplay
            This object.
        """
        pyplot = require("matplotlib.pyplot", extra="report", purpose="draw")
        names = list(self.displays)
        rows = {name: ROW_HEIGHT * n_rows(self.displays[name].chart) + 1.2 for name in names}
        top = max([3.6, *(rows[name] for name in names[:2])])
        heights = [top, *(max(3.2, rows[name]) for name in names[2:3])]
        mosaic = [names[:2], [names[2]] * 2] if len(names) > 2 else [names]
        figure, self.axes_ = pyplot.subplot_mosaic(
            mosaic,
            figsize=(12.0, sum(heights)),
            height_ratios=heights,
            layout="constrained",
        )
        for name, display in self.displays.items():
            display.plot(ax=self.axes_[name])
        self.ax_: Any = self.axes_[names[0]]
        self.figure_: Any = figure
        return self
