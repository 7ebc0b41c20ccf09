"""The best features and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._checks import check_integer
from ...diagnosis.null import PermutationNull
from ...selectors.ranked import KEPT_BY_REQUEST, ranked_units
from ..report.encodings import SELECTED
from ..report.selection_charts import ranking_chart
from .base import fitted_attribute, names_of
from .chart_display import ChartDisplay


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
        """The ranking of a selector without what is ``beside`` the features; not drawn yet."""
        check_integer("n_features", n_features)
        hint = "give a selector of sparsieve"
        for attribute in ("ranking_", "scores_"):
            fitted_attribute(selector, attribute, cls, hint)
        names = names_of(selector, feature_names, range(selector.n_features_in_))
        ranked = ranked_units(selector).without(beside)
        chart = ranking_chart(selector, names, null, n_features, ranked=ranked)
        return cls(chart)
