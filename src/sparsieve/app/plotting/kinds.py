"""The charts of a selection by kind, and all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._checks import check_choice, check_integer, check_real, did_you_mean
from ..._imports import require
from ...diagnosis.null import PermutationNull
from ...scoring.folds import seed_number
from ...selectors.near_copies import SUBSTITUTE
from ..report.elements import Chart
from ..report.exploration import (
    MAX_DRAWN,
    class_means_chart,
    confusion_chart,
    held_out_chart,
    target_correlation_chart,
)
from ..report.packing import still
from ..report.sample_charts import (
    projection_chart,
    samples_chart,
    several_values_chart,
    shown_samples,
    values_chart,
)
from ..report.selection_charts import (
    correlation_chart,
    frequency_chart,
    null_chart,
    substitutes_chart,
    weights_chart,
)
from .base import ROW_HEIGHT, Display
from .chart_display import ChartDisplay, NothingToDraw, Source
from .drawing import n_rows


def _heatmap(source: Source, order: str = "class") -> Chart:
    check_choice("order", order, ("class", "clusters"))
    return samples_chart(source.kept, source.steps, MAX_DRAWN, by_class=order == "class")


def _values(source: Source, feature: Any = None) -> Chart:
    kept = source.kept
    if feature is None:
        ((_, order),) = source.steps
        n_drawn = min(6, 30 // max(len(kept.class_names), 1))  # 30 boxes at most
        if kept.classes is not None and n_drawn > 1:
            return several_values_chart(kept, order[:n_drawn])
        feature = order[0]
    return values_chart(kept, shown_samples(kept), _column(source, feature))


def _column(source: Source, feature: Any) -> int:
    names = source.kept.names
    if isinstance(feature, str):
        (found,) = np.nonzero(names == feature)
        if not len(found):
            raise ValueError(f"there is no feature {feature!r}; give a name or a column number")
        return int(found[0])
    check_integer("feature", feature, minimum=0)
    if feature >= len(names):
        raise ValueError(f"feature must be below {len(names)}, the number of features")
    return int(feature)


def _profiles(source: Source) -> Chart | None:
    made = class_means_chart if source.kept.classes is not None else target_correlation_chart
    return made(source.kept, source.steps)


def _projection(source: Source) -> Chart:
    return projection_chart(source.kept, source.steps)[0]


def _predictions(source: Source) -> Chart | None:
    made = confusion_chart if source.kept.classes is not None else held_out_chart
    return made(source.kept, source.assessment, source.steps)


def _stability(source: Source) -> Chart | None:
    return frequency_chart(source.assessment, source.kept)


def _weights(source: Source) -> Chart | None:
    return weights_chart(source.kept)


def _correlations(source: Source) -> Chart | None:
    return correlation_chart(source.kept)


def _substitutes(source: Source, threshold: float = SUBSTITUTE) -> Chart | None:
    check_real("threshold", threshold, minimum=0, strict=True)
    found = source.kept.substitutes(threshold)
    chart = None if found is None else substitutes_chart(source.kept, found, threshold)
    if chart is None or not chart.columns["y"].values:
        raise NothingToDraw(
            f"no feature left out has an absolute correlation of at least {threshold:g} with a "
            "selected one"
        )
    return chart


def _null(source: Source) -> Chart:
    if source.null is None:
        raise NothingToDraw("no fits on shuffled targets were made")
    return null_chart(source.selector, source.null)


KINDS: dict[str, tuple[Callable[..., Chart | None], tuple[str, ...], str]] = {
    "heatmap": (_heatmap, ("order",), "there are no samples to draw"),
    "values": (_values, ("feature",), "there are no values to draw"),
    "profiles": (_profiles, (), "there are no means to draw"),
    "projection": (_projection, (), "there is nothing to project"),
    "predictions": (_predictions, (), "nothing was predicted"),
    "stability": (_stability, (), "folds selected nothing"),
    "correlations": (_correlations, (), "fewer than two features are selected"),
    "substitutes": (_substitutes, ("threshold",), "no feature left out is nearly a copy"),
    "weights": (_weights, (), "{selector} has no coef_, so there are no weights to draw"),
    "null": (_null, (), "no fits on shuffled targets were made"),
}


def make_display(source: Source, kind: str, options: dict[str, Any]) -> ChartDisplay:
    """The display of one kind, not drawn yet; its options are taken out of ``options``."""
    describe, own, nothing = KINDS[kind]
    chart = describe(source, **{name: options.pop(name) for name in own if name in options})
    if chart is None or not next(iter(chart.columns.values())).values:
        raise NothingToDraw(nothing.format(selector=type(source.selector).__name__))
    return ChartDisplay(still(chart, follows_slider=True))


def plot(
    selector: Any,
    X: Any,
    y: Any,
    kind: str = "heatmap",
    *,
    feature_names: Sequence[str] | np.ndarray | None = None,
    cv: int = 5,
    groups: Any = None,
    random_state: Any = 0,
    null: PermutationNull | None = None,
    ax: Any = None,
    **style: Any,
) -> ChartDisplay:
    """Draw one chart of the selection of a fitted selector.

    Parameters
    ----------
    selector : selector
        Fitted.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The data it was fitted on.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        The target it was fitted on.
    kind : str, default="heatmap"
        "heatmap" (option ``order``), "values" (``feature``), "profiles", "projection",
        "predictions", "stability", "correlations", "substitutes" (``threshold``), "weights" or
        "null".
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those of the data.
    cv : int, default=5
        Number of folds of "predictions" and "stability".
    groups : array-like of shape (n_samples,) or None, default=None
        Samples of a group are held out, and shuffled, together.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    null : PermutationNull or None, default=None
        For "null": what :func:`~sparsieve.permutation_null` found; None makes it.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.
    **style : dict
        For the marks, as in Matplotlib; and the options of the kind.

    Returns
    -------
    display : ChartDisplay

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, plot
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = plot(FisherSelector(4).fit(X, y), X, y, "profiles")
    >>> display.artists_["cells"].get_array().shape
    (4, 3)
    """
    if kind not in KINDS:
        raise ValueError(f"there is no figure {kind!r}{did_you_mean(kind, KINDS)}")
    check_integer("cv", cv, minimum=2)
    how = {"n_folds": cv, "groups": groups, "seed": seed_number(random_state), "null": null}
    source = Source.from_selector(selector, X, y, feature_names, plot, **how)
    if kind == "null" and null is None:
        source = source.with_null()
    return make_display(source, kind, style).plot(ax=ax, **style)


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
