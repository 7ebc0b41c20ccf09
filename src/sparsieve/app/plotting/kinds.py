"""The charts of a selection by kind, and all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..._checks import check_choice, check_integer, check_real, did_you_mean
from ..._imports import require
from ...diagnosis.null import PermutationNull, permutation_null
from ...preprocessing.covariates import preparation
from ...scoring.folds import seed_number
from ...selection.selected_data import SelectedData, raw_values
from ...selectors.near_copies import SUBSTITUTE
from ..report.assessment import Assessment, assess
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
    Steps,
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
from ..report.wording import alt_text
from .base import ROW_HEIGHT, Display, is_square, require_selector
from .drawing import draw, n_rows, wished_width


class NothingToDraw(ValueError):
    """A selection has nothing that a chart could show; the message says why."""


@dataclass(eq=False, repr=False)
class ChartDisplay(Display):
    """A chart of a report on axes of Matplotlib.

    Parameters
    ----------
    chart : Chart
        What to draw: numbers, title, labels and caption, as a report has them.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        What was drawn.
    """

    chart: Chart
    artists_: dict[str, Any] = field(init=False)

    @property
    def caption(self) -> str:
        """What to know when looking at it, in a sentence or two."""
        meaning = self.chart.options.get("meaning")
        said = [f"Score: {meaning}" if meaning else "", self.chart.note]
        return " ".join(filter(None, said))

    @property
    def alt_text(self) -> str:
        """The chart in words, for readers who cannot see it."""
        return alt_text(self.chart)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **style : dict
            For the marks, as in the function of Matplotlib that draws them.

        Returns
        -------
        display : Display
            This object.
        """
        ax = self._begin(ax, n_rows(self.chart), wished_width(self.chart))
        self.artists_ = draw(self.chart, ax, **style)
        return self

    @property
    def is_square(self) -> bool:
        """Whether its figure should be as high as wide."""
        return is_square(self.chart)


@dataclass(frozen=True, eq=False)
class Source:
    """What charts of one selection are made of; costly parts are found when first needed."""

    selector: Any
    kept: SelectedData
    n_folds: int | None = None
    seed: int = 0
    groups: Any = None
    null: PermutationNull | None = None
    prepare: Any = None  # what made X of ``kept`` from ``given``; fitted again in every fold
    given: Any = None
    search: Any = None  # what chose the number of features, whose folds are then repeated
    scoring: Any = None

    @classmethod
    def from_selector(
        cls, selector: Any, X: Any, y: Any, names: Any, display: Any, **how: Any
    ) -> Source:
        """From a fitted selector and the data it was fitted on."""
        require_selector(selector, display)
        # A search for the number of features draws the selection of the selector it fitted.
        fitted = getattr(selector, "selector_", selector)
        return cls(fitted, SelectedData.from_selector(fitted, X, y, names), **how)

    @cached_property
    def assessment(self) -> Assessment:
        """What folds say that repeat the selection."""
        if not len(self.kept.order):
            raise NothingToDraw("no feature was selected")
        found = assess(
            self.kept,
            self.kept.X if self.prepare is None else raw_values(self.given),
            n_folds=self.n_folds,
            seed=self.seed,
            groups=self.groups,
            prepare=preparation(self.prepare),
            scoring=self.scoring,
            search=self.search,
        )
        if found.reason:
            raise NothingToDraw(f"cross-validation is not possible: {found.reason}")
        return found

    def with_null(self) -> Source:
        """The same with what fits on shuffled targets reach."""
        kept = self.kept
        null = permutation_null(kept.clone_selector(), kept.X, kept.y, groups=self.groups)
        return replace(self, null=null)

    @property
    def steps(self) -> Steps:
        """The selection itself, as the only place of a slider."""
        if not len(self.kept.order):
            raise NothingToDraw("no feature was selected")
        return [(self.kept.own[0], self.kept.order)]


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


def _predictions(source: Source) -> Chart | None:
    made = confusion_chart if source.kept.classes is not None else held_out_chart
    return made(source.kept, source.assessment, source.steps)


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
    "projection": (
        lambda source: projection_chart(source.kept, source.steps)[0],
        (),
        "there is nothing to project",
    ),
    "predictions": (_predictions, (), "nothing was predicted"),
    "stability": (
        lambda source: frequency_chart(source.assessment, source.kept),
        (),
        "folds selected nothing",
    ),
    "correlations": (
        lambda source: correlation_chart(source.kept),
        (),
        "fewer than two features are selected",
    ),
    "substitutes": (_substitutes, ("threshold",), "no feature left out is nearly a copy"),
    "weights": (
        lambda source: weights_chart(source.kept),
        (),
        "{selector} has no coef_, so there are no weights to draw",
    ),
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
        The figure, its axes and what was drawn.

    See Also
    --------
    sparsieve.SelectedFeatures.plot : The same for what ``select`` returns.

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
