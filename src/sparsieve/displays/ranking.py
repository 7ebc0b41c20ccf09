"""The best features and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._checks import check_integer
from .base import LEFT_OUT, Display, fitted_attribute, names_of, plain

_ROW_HEIGHT = 0.24  # inches, so that names of a long list do not touch


@dataclass(eq=False, repr=False)
class RankingDisplay(Display):
    """The best features as bars: the selected ones, and the next ones that were left out.

    Parameters
    ----------
    names : list of str
        Features, the best first.
    scores : ndarray of shape (len(names),)
        Their scores; infinite for those that were to be kept always.
    selected : ndarray of bool of shape (len(names),)
        Whether they are selected.
    n_selected, n_features : int
        Out of all features.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    bars_ : matplotlib container
        The bars, the best first.

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

    names: list[str]
    scores: np.ndarray
    selected: np.ndarray
    n_selected: int
    n_features: int
    bars_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        *,
        n_features: int = 20,
        feature_names: Sequence[str] | np.ndarray | None = None,
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
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **bar_kw : dict
            For the bars, as in ``matplotlib.axes.Axes.barh``.

        Returns
        -------
        display : RankingDisplay
        """
        check_integer("n_features", n_features)
        hint = "give a selector of sparsieve"
        ranking = np.asarray(fitted_attribute(selector, "ranking_", cls, hint))
        scores = np.asarray(fitted_attribute(selector, "scores_", cls, hint))
        best = np.argsort(ranking)[:n_features]
        support = selector.get_support()
        display = cls(
            names_of(selector, feature_names, best),
            scores[best],
            support[best],
            int(support.sum()),
            len(support),
        )
        return display.plot(ax=ax, **bar_kw)

    def plot(self, ax: Any = None, **bar_kw: Any) -> RankingDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **bar_kw : dict
            For the bars, as in ``matplotlib.axes.Axes.barh``.

        Returns
        -------
        display : RankingDisplay
            This object.
        """
        new = ax is None
        ax = self._begin(ax)
        if new:
            width, height = self.figure_.get_size_inches()
            self.figure_.set_size_inches(width, max(height, _ROW_HEIGHT * len(self.names) + 1))
        finite = np.isfinite(self.scores)
        longest = max(np.abs(self.scores[finite]).max(initial=0.0), np.finfo(float).tiny)
        widths = np.where(finite, self.scores, 1.05 * longest if finite.any() else 1.0)
        places = np.arange(len(self.names))
        settings = {"color": ["C0" if kept else LEFT_OUT for kept in self.selected], **bar_kw}
        self.bars_ = ax.barh(places, widths, **settings)
        for i in np.flatnonzero(~finite):
            self.bars_[i].set(hatch="//", edgecolor="white")
            ax.annotate(
                "always kept", (0, i), (4, 0), textcoords="offset points", va="center",
                bbox={"boxstyle": "round", "facecolor": "white", "alpha": 0.8, "linewidth": 0},
            )  # fmt: skip
        ax.set_yticks(places, [plain(name) for name in self.names])
        ax.set_ylim(len(self.names) - 0.4, -0.6)
        ax.set(xlabel="score", title=f"{self.n_selected:,} of {self.n_features:,} features kept")
        if self.selected.any() and not self.selected.all():
            kept, out = np.flatnonzero(self.selected)[-1], np.flatnonzero(~self.selected)[0]
            handles = [self.bars_[int(kept)], self.bars_[int(out)]]
            ax.legend(handles, ["kept", "left out"], loc="lower right")
        return self
