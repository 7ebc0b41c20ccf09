"""The best features and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

import numpy as np

from .._checks import check_integer
from ..diagnosis.null import PermutationNull
from ..selectors.ranked import KEPT_BY_REQUEST, UNRANKED, ranked_features
from .base import LEFT_OUT, Display, fitted_attribute, names_of, plain

_LINE = 75  # characters of the sentence below the axis


@dataclass(eq=False, repr=False)
class RankingDisplay(Display):
    """The best features as bars: the selected ones, and the next ones that were left out.

    Parameters
    ----------
    names : list of str
        Features, the best first.
    scores : ndarray of shape (len(names),)
        Their scores.
    selected : ndarray of bool of shape (len(names),)
        Whether they are selected.
    n_selected, n_features : int
        Out of all features.
    notes : list of str, default=()
        What to know of a bar: "kept by request", or "not ranked" beyond the end of a path;
        there the bars are what each feature would have added next.
    meaning : str, default=""
        What a score says, in one sentence.
    null : PermutationNull or None, default=None
        Draws the level that noise reaches.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    bars_ : matplotlib container
        The bars, the best first. Along a path they need not fall: a feature may add more once
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

    names: list[str]
    scores: np.ndarray
    selected: np.ndarray
    n_selected: int
    n_features: int
    notes: Sequence[str] = ()
    meaning: str = ""
    null: PermutationNull | None = None
    bars_: Any = field(init=False)
    null_line_: Any = field(init=False, default=None)

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
        check_integer("n_features", n_features)
        hint = "give a selector of sparsieve"
        for attribute in ("ranking_", "scores_"):
            fitted_attribute(selector, attribute, cls, hint)
        ranked = ranked_features(selector)
        display = cls(
            names_of(selector, feature_names, ranked.features[:n_features]),
            ranked.scores[:n_features],
            ranked.selected[:n_features],
            int(ranked.selected.sum()),
            len(ranked.selected),
            ranked.notes[:n_features],
            ranked.meaning,
            null,
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
        ax = self._begin(ax, len(self.names))
        finite = np.isfinite(self.scores)
        longest = max(np.abs(self.scores[finite]).max(initial=0.0), np.finfo(float).tiny)
        widths = np.where(finite, self.scores, 1.05 * longest if finite.any() else 1.0)
        places = np.arange(len(self.names))
        settings = {"color": ["C0" if kept else LEFT_OUT for kept in self.selected], **bar_kw}
        self.bars_ = ax.barh(places, widths, **settings)
        groups: dict[str, int] = {}  # a bar to show for each kind in the legend
        for i, note in enumerate(self.notes or [""] * len(self.names)):
            if note == KEPT_BY_REQUEST:
                ax.annotate(note, (0, i), (4, 0), textcoords="offset points", va="center")
                continue
            if note:
                self.bars_[i].set(hatch="///", edgecolor="white", linewidth=0)
            name = "kept" if self.selected[i] else "left out"
            groups.setdefault(f"{name}, {note}" if note == UNRANKED else name, i)
        ax.set_yticks(places, [plain(name) for name in self.names])
        ax.set_ylim(len(self.names) - 0.4, -0.6)
        ax.set(title=f"{self.n_selected:,} of {self.n_features:,} features kept")
        ax.set_xlabel("\n".join(["score", *wrap(self.meaning.replace("$", r"\$"), _LINE)]))
        handles = {name: self.bars_[i] for name, i in groups.items()}
        if self.null is not None:
            self.null_line_ = ax.axvline(self.null.level, color="C3", linestyle="--")
            handles["level of noise"] = self.null_line_
        if len(handles) > 1:
            ax.legend(list(handles.values()), list(handles), loc="lower right")
        return self
