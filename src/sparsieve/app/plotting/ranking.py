"""The best features, how often other samples would keep them, and how the solver got there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._checks import check_flag, check_integer
from ...diagnosis.null import PermutationNull
from ...selectors.fitted import objective_history
from ...selectors.preparation import find_groups
from ...selectors.ranked import KEPT_BY_REQUEST, ranked_units
from ..report.encodings import SELECTED
from ..report.selection_charts import ranking_chart
from .base import (
    Display,
    draw_legend,
    fitted_attribute,
    grey_lines,
    in_legend,
    line_colour,
    line_style,
    name_features,
)
from .kinds import ChartDisplay


class RankingDisplay(ChartDisplay):
    """The best features as bars: the selected ones, and the next ones that were left out.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    names : list of str
        Features, the best first.
    selected : ndarray of bool of shape (len(names),)
        Whether they are selected.
    bars_ : matplotlib container
        The bars, the best first. Scores need not fall along a path: a feature may add more once
        others are in.
    null_line_ : matplotlib line or None
        The level that noise reaches.

    See Also
    --------
    sparsieve.PathDisplay : What is kept along the path.
    sparsieve.permutation_null : The level that noise reaches.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, RankingDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = FisherSelector(n_features_to_select=3).fit(X, y)
    >>> display = RankingDisplay.from_estimator(selector, n_features=5)
    >>> display.names[:3], int(display.selected.sum())
    (['flavanoids', 'proline', 'od280/od315_of_diluted_wines'], 3)
    """

    @property
    def names(self) -> list[str]:
        """Features, the best first."""
        return list(self.chart.columns["y"].values)

    @property
    def selected(self) -> np.ndarray:
        """Whether they are selected."""
        kinds = self.chart.columns["series"].values
        return np.array([kind in (SELECTED, KEPT_BY_REQUEST) for kind in kinds])

    @property
    def bars_(self) -> Any:
        """The bars, the best first."""
        return self.artists_["bars"]

    @property
    def null_line_(self) -> Any:
        """The level that noise reaches, or None."""
        return self.artists_["line"]

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        *,
        n_features: int = 20,
        feature_names: Sequence[str] | np.ndarray | None = None,
        null: PermutationNull | None = None,
        ax: Any = None,
        **bar_kw: Any,
    ) -> RankingDisplay:
        """Draw the ranking of a fitted selector.

        Parameters
        ----------
        selector : selector
            Fitted; any that has ``ranking_`` and ``scores_``.
        n_features : int, default=20
            How many features to show at most.
        feature_names : sequence of str or None, default=None
            Names of all features; None takes those of the training data, or x0, x1, ...
        null : PermutationNull or None, default=None
            What :func:`~sparsieve.permutation_null` found for this selector, to be drawn as the
            level that noise reaches.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **bar_kw : dict
            For the bars, as in ``matplotlib.axes.Axes.barh``.

        Returns
        -------
        display : RankingDisplay
        """
        display = cls._of_selector(
            selector, n_features=n_features, feature_names=feature_names, null=null
        )
        return display.plot(ax=ax, **bar_kw)

    @classmethod
    def _of_selector(
        cls,
        selector: Any,
        *,
        n_features: int = 20,
        feature_names: Sequence[str] | np.ndarray | None = None,
        null: PermutationNull | None = None,
        beside: Sequence[int] = (),
    ) -> RankingDisplay:
        """The ranking of a selector without columns that are no features; not drawn yet."""
        check_integer("n_features", n_features)
        hint = "give a selector of sparsieve"
        for attribute in ("ranking_", "scores_"):
            fitted_attribute(selector, attribute, cls, hint)
        names = name_features(selector, feature_names, range(selector.n_features_in_))
        ranked = ranked_units(selector).drop_columns(beside)
        chart = ranking_chart(selector, names, null, n_features, ranked=ranked)
        return cls(chart)


_NAMED = 15  # lines that the legend names, the most probable first


@dataclass(eq=False, repr=False)
class StabilityPathDisplay(Display):
    """Share of runs that keep a feature: stable features in colour, the others in grey.

    Parameters
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features per run.
    probabilities : ndarray of shape (n_seen, n_ks)
        Selection probabilities of the features that any run kept.
    names : list of str
        Their names.
    threshold : float
        What a stable feature reaches at the last k.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib artists
        The stable features, the most probable first.
    rest_ : matplotlib artist
        The lines of all others.

    See Also
    --------
    sparsieve.StabilitySelection : Keeps what is chosen on most halves of the samples.
    sparsieve.meta.stability.StabilityPath : The numbers behind it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import StabilityPathDisplay, StabilitySelection
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> stable = StabilitySelection(n_features_per_run=4, n_subsamples=20).fit(X, y)
    >>> display = StabilityPathDisplay.from_estimator(stable)
    >>> len(display.lines_) == len(stable.get_feature_names_out())
    True
    """

    ks: np.ndarray
    probabilities: np.ndarray
    names: list[str]
    threshold: float
    lines_: Any = field(init=False)
    rest_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        *,
        feature_names: Sequence[str] | np.ndarray | None = None,
        ax: Any = None,
        **line_kw: Any,
    ) -> StabilityPathDisplay:
        """Draw the path of a fitted :class:`~sparsieve.StabilitySelection`.

        Parameters
        ----------
        selector : StabilitySelection
            Fitted.
        feature_names : sequence of str or None, default=None
            Names of all features; None takes those of the training data, or x0, x1, ...
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the lines of the stable features, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : StabilityPathDisplay
        """
        hint = "fit a StabilitySelection around it"
        path = fitted_attribute(selector, "stability_path_", cls, hint)
        if find_groups(selector) is None:
            names = name_features(selector, feature_names, path.features)
        else:
            names = [str(name) for name in selector.group_names_[path.features]]
        display = cls(path.ks, path.probabilities, names, path.threshold)
        return display.plot(ax=ax, **line_kw)

    def plot(self, ax: Any = None, **line_kw: Any) -> StabilityPathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the lines of the stable features, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : StabilityPathDisplay
            This object.
        """
        ax = self._begin(ax)
        last = self.probabilities[:, -1]
        stable = last >= self.threshold - 1e-9  # shares of runs are rounded
        self.rest_ = grey_lines(ax, self.ks, self.probabilities[~stable])
        self.lines_ = []
        order = np.argsort(-last, kind="stable")[: int(stable.sum())]
        for place, i in enumerate(order):
            label = in_legend(self.names[i]) if place < _NAMED else None
            look = {"linestyle": line_style(place), "color": line_colour(place)}
            style = {"label": label, **look}
            self.lines_ += ax.plot(self.ks, self.probabilities[i], **{**style, **line_kw})
        label = f"threshold {self.threshold:.3g}"
        ax.axhline(self.threshold, linestyle="--", color="grey", lw=1, label=label)
        ax.set(xlabel="features per run", ylabel="selection probability", ylim=(0, 1.02))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.autoscale_view(scaley=False)
        unnamed = max(0, len(self.lines_) - _NAMED)
        draw_legend(ax, title=f"stable ({unnamed} more not named)" if unnamed else None)
        return self


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
