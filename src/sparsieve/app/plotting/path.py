"""What a selector keeps along its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from ..._checks import check_integer
from .base import (
    LEFT_OUT,
    Display,
    draw_legend,
    fitted_attribute,
    grey_lines,
    in_legend,
    line_style,
    log_axis,
    name_features,
    plain,
)

KINDS = ("norms", "entry", "objective", "supports")


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """What is kept along the path of a selector.

    The picture depends on what the path knows:

    - "norms": norms of the rows of the coefficients over a falling strength of the penalty, one
      line per feature (``path()`` of L21Selector and RFSSelector);
    - "entry": the features in order of entry, each at the strength or score at which it entered
      (L21Selector with a number of features, the homotopies of L20Selector, MRMRSelector);
    - "objective": the objective over the number of features, with the name of the feature that
      each step adds (RidgeForwardSelector);
    - "supports": which features are selected at which number, for paths that may take back
      earlier choices (L20Selector, RobustL20Selector) or know nothing but an order
      (SVMRFESelector).

    Parameters
    ----------
    kind : {"norms", "entry", "objective", "supports"}
        Which picture.
    x : ndarray
        Strengths ("norms"; "entry": one per feature) or numbers of features.
    x_name : str
        What x is.
    names : list of str
        Features in order of entry; only as many as are to be named.
    values : ndarray
        "norms": norms of shape (n_features, n_strengths), first those of ``names``.
        "entry": whether each is selected. "objective": the objectives. "supports": mask of
        shape (len(names), len(x)).
    n_kept : int or None, default=None
        Where on the path the selector stands.
    n_features : int or None, default=None
        How many features the path has seen, where ``names`` are not all.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_ : list of matplotlib artists
        The lines, points or cells.

    See Also
    --------
    sparsieve.RankingDisplay : The best features as bars.
    sparsieve.ConvergenceDisplay : The objective over the iterations.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L21Selector, PathDisplay, RidgeForwardSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = RidgeForwardSelector(n_features_to_select=4).fit(X, y)
    >>> PathDisplay.from_estimator(selector).kind
    'objective'
    >>> PathDisplay.from_estimator(L21Selector(), X, y).kind
    'norms'
    """

    kind: str
    x: np.ndarray
    x_name: str
    names: list[str]
    values: np.ndarray
    n_kept: int | None = None
    n_features: int | None = None
    lines_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any = None,
        y: Any = None,
        *,
        n_features: int | None = None,
        feature_names: Sequence[str] | np.ndarray | None = None,
        ax: Any = None,
        **line_kw: Any,
    ) -> PathDisplay:
        """Draw ``path_`` of a fitted selector, or compute a path of strengths and draw that.

        Parameters
        ----------
        selector : selector
            Fitted, with ``path_``; or, where X and y are given, one with the method ``path``.
        X, y : arrays or None, default=None
            Training data for ``selector.path(X, y)``, which gives the norms of all rows at many
            strengths. The selector itself is not changed.
        n_features : int or None, default=None
            How many features to name, those that enter first; None is 10 lines or 30 rows.
        feature_names : sequence of str or None, default=None
            Names of all features; None takes those of the training data, or x0, x1, ...
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the lines, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : PathDisplay
        """
        if n_features is not None:
            check_integer("n_features", n_features)
        if X is not None:
            return cls._strengths(selector, X, y, n_features, feature_names).plot(ax=ax, **line_kw)
        hint = "RankingDisplay draws its scores"
        if hasattr(selector, "path"):
            call = f"{cls.__name__}.from_estimator(selector, X, y)"
            hint = f"pass X and y as well to compute one: {call}"
        path = fitted_attribute(selector, "path_", cls, hint)
        display = cls._selections(selector, path, n_features or 30, feature_names)
        return display.plot(ax=ax, **line_kw)

    # -- from paths ----------------------------------------------------------------------

    @classmethod
    def _strengths(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        n_named: int | None,
        feature_names: Sequence[str] | np.ndarray | None,
    ) -> PathDisplay:
        if not hasattr(selector, "path"):
            raise ValueError(
                f"{type(selector).__name__} has no method path to compute a path of strengths; "
                "fit it and leave out X and y to draw its path_"
            )
        selector = clone(selector)
        path = selector.path(X, y)
        # Without the empty selection, which is the first.
        norms = np.column_stack([np.sqrt((coef**2).sum(axis=0)) for coef in path.coefs[1:]])
        if getattr(selector, "standardize", False):
            # Coefficients in the units of X cannot be compared; those of the model can.
            norms = norms * StandardScaler(with_mean=False).fit(X).scale_[:, None]
        seen = np.flatnonzero(norms.any(axis=1))
        entered = (norms[seen] > 0).argmax(axis=1)
        order = seen[np.lexsort((-norms[seen].max(axis=1), entered))]
        named = order[: n_named or 10]
        return cls(
            "norms",
            np.asarray(path.strength[1:]),
            "alpha",
            name_features(selector, feature_names, named),
            norms[order],
            n_features=len(order),
        )

    @classmethod
    def _selections(
        cls,
        selector: Any,
        path: Any,
        n_shown: int,
        feature_names: Sequence[str] | np.ndarray | None,
    ) -> PathDisplay:
        n_kept = int(selector.get_support().sum()) - selector._fixed.n_always
        supports = _supports(path)
        entered = getattr(path, "strength", None)
        if entered is not None and len(entered) > len(supports):
            entered = entered[1:]  # the first belongs to the empty selection
        what = "strength at entry"
        if entered is None and getattr(selector, "path_scores_", None) is not None:
            entered, what = selector.path_scores_, "score when picked"
        objective = getattr(path, "objective", None)
        order = _order_of_entry(supports)
        if entered is not None:
            if what != "score when picked":  # a homotopy lists its features by norm
                by_strength = np.argsort(-entered, kind="stable")
                order, entered = order[by_strength], entered[by_strength]
            x, shown = np.asarray(entered)[:n_shown], order[:n_shown]
            names = name_features(selector, feature_names, shown)
            kept = selector.get_support()[shown]
            return cls("entry", x, what, names, kept, n_kept, len(order))
        names = name_features(selector, feature_names, order[:n_shown])
        sizes = np.arange(1, len(supports) + 1)
        what = "number of features"
        if objective is not None and len(order) == len(supports):  # nested
            sizes = np.arange(len(sizes) + 1 - len(objective), len(sizes) + 1)
            return cls("objective", sizes, what, names, np.asarray(objective), n_kept, len(order))
        if objective is None:  # nothing but an order: its continuation tells nothing
            sizes = sizes[:n_shown]
        mask = np.array([np.isin(order[:n_shown], supports[k - 1]) for k in sizes]).T
        return cls("supports", sizes, what, names, mask, n_kept, len(order))

    # -- drawing -------------------------------------------------------------------------

    def plot(self, ax: Any = None, **line_kw: Any) -> PathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the lines, as in ``matplotlib.axes.Axes.plot``; for "supports" as in
            ``matplotlib.axes.Axes.pcolormesh``.

        Returns
        -------
        display : PathDisplay
            This object.
        """
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        ax = self._begin(ax, len(self.names) if self.kind in ("entry", "supports") else 0)
        ax.set_xlabel(self.x_name)
        getattr(self, f"_plot_{self.kind}")(ax, line_kw)
        return self

    def _plot_norms(self, ax: Any, line_kw: dict[str, Any]) -> None:
        grey_lines(ax, self.x, self.values[len(self.names) :])
        self.lines_ = []
        for i, name in enumerate(self.names):
            style = {"label": in_legend(name), "linestyle": line_style(i)}
            self.lines_ += ax.plot(self.x, self.values[i], **{**style, **line_kw})
        log_axis(ax)
        if len(self.x) > 1:  # from strong to weak, as the path was followed
            ax.set_xlim(self.x.max(), self.x.min())
        ax.set_ylim(0, 1.05 * self.values.max(initial=0) or 1)
        ax.set_ylabel("norm of the coefficients")
        if self.lines_:
            unnamed = (self.n_features or 0) - len(self.names)
            draw_legend(ax, title=f"first of {self.n_features}" if unnamed > 0 else None)

    def _plot_entry(self, ax: Any, line_kw: dict[str, Any]) -> None:
        logarithmic = (self.x > 0).all() and self.x.max() > 5 * self.x.min()
        start = self.x.min() / 1.3 if logarithmic else 0.0
        rows = np.arange(1, len(self.x) + 1)
        kept = np.asarray(self.values, dtype=bool)
        self.lines_ = []
        for some, colour, label in ((kept, "C0", "kept"), (~kept, LEFT_OUT, "left out")):
            if some.any():
                ax.hlines(rows[some], start, self.x[some], color=colour, lw=1)
                style = {"marker": "o", "linestyle": "", "color": colour, "label": label}
                self.lines_ += ax.plot(self.x[some], rows[some], **{**style, **line_kw})
        if logarithmic:
            log_axis(ax)
            ax.set_xlim(left=start)
        self._rows(ax)
        if not kept.all():
            ax.legend(loc="lower right")

    def _plot_objective(self, ax: Any, line_kw: dict[str, Any]) -> None:
        style = {"marker": ".", "label": "objective"}
        self.lines_ = ax.plot(self.x, self.values, **{**style, **line_kw})
        ax.set_ylabel("objective")
        if len(self.names) == self.x[-1]:
            ax.set_xlabel("feature added at each step")
            names = [plain(name) for name in self.names]
            start = [] if self.x[0] > 0 else ["nothing"]
            ax.set_xticks(self.x, [*start, *names], rotation=90 if len(names) > 6 else 30)
            if len(names) <= 6:
                for label in ax.get_xticklabels():
                    label.set_ha("right")
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        self._mark_selection(ax, loc="best")

    def _plot_supports(self, ax: Any, line_kw: dict[str, Any]) -> None:
        from matplotlib.colors import ListedColormap

        rows, columns = self.values.shape
        cells = ax.pcolormesh(
            np.append(self.x, self.x[-1] + 1) - 0.5,
            np.arange(rows + 1) + 0.5,
            self.values,
            **{
                "cmap": ListedColormap(["whitesmoke", "C0"]),
                "vmin": 0,
                "vmax": 1,
                "edgecolors": "white",
                "linewidth": 0.5 if columns <= 60 else 0.0,
                **line_kw,
            },
        )
        self.lines_ = [cells]
        ax.xaxis.get_major_locator().set_params(integer=True)
        self._rows(ax)
        self._mark_selection(ax, loc="lower left")  # what has not entered yet

    def _rows(self, ax: Any) -> None:
        rows = np.arange(1, len(self.names) + 1)
        ax.set_yticks(rows, [plain(name) for name in self.names])
        ax.set_ylim(len(rows) + 0.6, 0.4)
        if self.n_features is not None and self.n_features > len(rows):
            ax.set_ylabel(f"the first {len(rows)} of {self.n_features:,} features")
        else:
            ax.set_ylabel("features in order of entry")

    def _mark_selection(self, ax: Any, loc: Any) -> None:
        if self.n_kept is not None and self.x[0] <= self.n_kept <= self.x[-1]:
            label = f"kept: {self.n_kept}"
            ax.axvline(self.n_kept, linestyle="--", color="black", lw=1, label=label)
            ax.legend(loc=loc)


def _supports(path: Any) -> list[np.ndarray]:
    """The features selected at 1, 2, ... of them."""
    supports = getattr(path, "supports", None)
    if supports is None:
        return [path.features[:k] for k in range(1, len(path.features) + 1)]
    return [np.asarray(support) for support in supports if len(support)]


def _order_of_entry(supports: list[np.ndarray]) -> np.ndarray:
    seen = dict.fromkeys(int(j) for support in supports for j in support)
    return np.array(list(seen), dtype=np.int64)
