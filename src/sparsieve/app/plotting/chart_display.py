"""Displays of the charts that reports draw: one description, drawn by Matplotlib here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from ...diagnosis.null import PermutationNull, permutation_null
from ...preprocessing.covariates import preparation
from ...selection.selected_data import SelectedData, raw_values
from ..report.assessment import Assessment, assess
from ..report.elements import Chart
from ..report.sample_charts import Steps
from ..report.wording import alt_text
from .base import Display, is_square, require_selector
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
