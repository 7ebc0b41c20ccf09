"""Score over the number of features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._checks import check_integer
from ...scoring.folds import seed_number
from ...selectors.preparation import unit_phrase
from ..report.elements import Chart, make_chart
from ..report.encodings import MAX_BANDS
from ..report.packing import still
from ..report.selection_charts import curve_chart
from ..report.wording import alt_text, capitalise
from .base import (
    MAX_INSIDE_LEGEND,
    Display,
    by_series,
    count_axis,
    draw_legend,
    fitted_attribute,
    in_legend,
    is_narrow,
    line_colour,
    line_style,
    plain,
    wrap_text,
)
from .kinds import Source


@dataclass(frozen=True)
class ScoreCurve:
    """One line of the picture.

    Attributes
    ----------
    label : str
        What was scored.
    ks : ndarray of shape (n_ks,)
        Numbers of features.
    mean : ndarray of shape (n_ks,)
        Mean scores over the splits.
    error : ndarray of shape (n_ks,) or None
        Their standard errors; None where there was a single split.

    See Also
    --------
    sparsieve.AccuracyCurveDisplay : Scores over the number of features.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.app.plotting.accuracy_curve import ScoreCurve
    >>> curve = ScoreCurve("fisher", np.array([1, 2]), np.array([0.7, 0.9]), None)
    >>> int(curve.ks[curve.mean.argmax()])
    2
    """

    label: str
    ks: np.ndarray
    mean: np.ndarray
    error: np.ndarray | None


@dataclass(eq=False, repr=False)
class AccuracyCurveDisplay(Display):
    """Score over the number of features, with bands of one standard error around few lines.

    Standard errors of a ``SelectorCV`` allow for the training samples that its folds share (Nadeau
    and Bengio); those of a study are the standard deviation over the splits divided by the square
    root of their number, a guide for the eye and not a test.

    Parameters
    ----------
    curves : list of ScoreCurve
        What to draw.
    score_name : str, default="score"
        Name of the vertical axis.
    chosen : dict, default={}
        Numbers of features to mark, by the name of the rule that chose them.
    rule : str or None, default=None
        The rule that was followed; it is marked by a solid line.
    title : str, default=""
        Shown above the axes.
    note : str, default=""
        A caption.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_, bands_ : list of matplotlib artists
        The curves, and the bands that were drawn.
    marks_ : list of matplotlib artists
        The vertical lines at ``chosen``.

    See Also
    --------
    sparsieve.SelectorCV : Chooses the number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import AccuracyCurveDisplay, SelectorCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = SelectorCV(ks=[1, 2, 5, 10]).fit(X, y)
    >>> display = AccuracyCurveDisplay.from_estimator(search)
    >>> display.ax_.get_ylabel()
    'accuracy (mean ± standard error)'
    """

    curves: list[ScoreCurve]
    score_name: str = "score"
    chosen: dict[str, int] = field(default_factory=dict)
    rule: str | None = None
    title: str = ""
    note: str = ""
    lines_: Any = field(init=False)
    bands_: Any = field(init=False)
    marks_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        search: Any,
        X: Any = None,
        y: Any = None,
        *,
        cv: int = 5,
        groups: Any = None,
        random_state: Any = 0,
        ax: Any = None,
        **line_kw: Any,
    ) -> AccuracyCurveDisplay:
        """Draw the curve of a fitted search, or score a fitted selector in every fold.

        Parameters
        ----------
        search : SelectorCV or selector
            Fitted. A search has its scores already; with any other selector give X and y.
        X : array, sparse matrix or data frame of shape (n_samples, n_features), default=None
            The data that a selector was fitted on; the selection is repeated in every fold.
        y : array of shape (n_samples,), default=None
            The target it was fitted on.
        cv : int, default=5
            Number of folds, with X and y.
        groups : array-like of shape (n_samples,) or None, default=None
            Samples of a group are held out together, with X and y.
        random_state : int, RandomState instance or None, default=0
            Seed of the folds, with X and y.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the line, as in ``matplotlib.axes.Axes.plot``; ``bands`` as in :meth:`plot`.

        Returns
        -------
        display : AccuracyCurveDisplay
        """
        if X is not None:
            check_integer("cv", cv, minimum=2)
            how = {"n_folds": cv, "groups": groups, "seed": seed_number(random_state)}
            source = Source.from_selector(search, X, y, None, cls, **how)
            return cls._of_source(source).plot(ax=ax, **line_kw)
        return cls._of_search(search).plot(ax=ax, **line_kw)

    @classmethod
    def _of_search(cls, search: Any) -> AccuracyCurveDisplay:
        """The curve of a search; not drawn yet."""
        hint = "give X and y too, or fit a SelectorCV around it"
        results = fitted_attribute(search, "cv_results_", cls, hint)
        if "param_k" not in results:
            raise ValueError(
                f"{type(search).__name__} was not searched over numbers of features; use SelectorCV"
            )
        error = results["error_test_score"] if search.n_splits_ > 1 else None
        mean = search.measure.turned(results["mean_test_score"])
        words, shipped = getattr(search, "_search_words", ""), search.model_words
        is_other = words not in ("", shipped)
        label = f"{words}, which searches" if is_other else "mean score"
        beside = search._n_beside  # covariates are not counted
        curves = [ScoreCurve(label, results["param_k"] - beside, mean, error)]
        if is_other:
            score = np.array([search.measure.turned(search.best_score_)])
            at = np.array([search.best_k_ - beside]), score
            wide = None if error is None else np.array([search._kept_error])
            curves.append(ScoreCurve(f"{shipped}, which is kept", *at, wide))
        note = _caption(search, error is not None)
        named = search.measure.label
        chosen = {search.rule: search.best_k_ - beside}
        chosen |= {"best": search.k_by_rule_["best"] - beside}
        title = f"{capitalise(named)} over the number of {unit_phrase(search)}s"
        return cls(curves, named, chosen, search.rule, title, note)

    @classmethod
    def _of_source(cls, source: Source) -> AccuracyCurveDisplay:
        """Curves of the models of a report; not drawn yet."""
        n_kept = source.kept.own[0]
        chart = curve_chart(source.assessment, n_kept)
        assert chart is not None  # or there would have been a reason
        lines = by_series(chart).items()
        curves = [
            ScoreCurve(name, row["x"].astype(int), row["y"], row["error"]) for name, row in lines
        ]
        named, note = chart.columns["y"].title, still(chart).note
        return cls(curves, named, {"selected": n_kept}, "selected", chart.title, note)

    @property
    def chart(self) -> Chart:
        """The curves as a chart of a report."""
        rows = [
            (
                curve.label,
                int(k),
                float(mean),
                None if curve.error is None else float(curve.error[i]),
            )
            for curve in self.curves
            for i, (k, mean) in enumerate(zip(curve.ks, curve.mean, strict=True))
        ]
        titles = {"series": "", "x": "number of features", "y": self.score_name, "error": "error"}
        title = self.title or f"{capitalise(self.score_name)} over the number of features"
        return make_chart(title, "lines", rows, titles, self.note)

    @property
    def caption(self) -> str:
        """What to know when looking at it, in a sentence or two."""
        return self.note

    @property
    def alt_text(self) -> str:
        """The chart in words, for readers who cannot see it."""
        return alt_text(self.chart)

    def plot(
        self, ax: Any = None, *, bands: bool | None = None, **line_kw: Any
    ) -> AccuracyCurveDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        bands : bool or None, default=None
            Whether to draw a band of one standard error around every line. None draws them around
            one or two lines; more would hide each other.
        **line_kw : dict
            For all lines, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : AccuracyCurveDisplay
            This object.
        """
        ax = self._begin(ax)
        self.lines_, self.bands_, self.marks_ = [], [], []
        has_bands = len(self.curves) <= MAX_BANDS if bands is None else bands
        for i, curve in enumerate(self.curves):
            style = {
                "marker": ".",
                "linestyle": line_style(i),
                "color": line_colour(i),
                "label": in_legend(curve.label),
                **line_kw,
            }
            (line,) = ax.plot(curve.ks, curve.mean, **style)
            self.lines_.append(line)
            if curve.error is not None and has_bands:
                span = curve.ks, curve.mean - curve.error, curve.mean + curve.error
                colour = {"color": line.get_color()}
                if len(curve.ks) > 1:
                    band = ax.fill_between(*span, alpha=0.2, lw=0, **colour)
                else:  # a band of one point would have no width
                    band = ax.vlines(*span, alpha=0.5, **colour)
                self.bands_.append(band)
        self._mark(ax)
        count_axis(ax, "number of features")
        several = sum(len(curve.ks) > 1 for curve in self.curves) > 1
        spread = " (mean ± standard error)" if self.bands_ else ", mean" * several
        ax.set(
            ylabel=f"{plain(self.score_name)}{spread}",
            title="" if is_narrow(ax) else wrap_text(self.title, 46),
        )
        if len(self.curves) > MAX_INSIDE_LEGEND:
            draw_legend(ax)
        else:
            ax.legend()
        return self

    def _mark(self, ax: Any) -> None:
        rules: dict[int, list[str]] = {}  # several rules may have chosen the same number
        for rule, k in self.chosen.items():
            rules.setdefault(k, []).append(rule)
        other_styles = iter(("--", ":", "-."))
        for k, names in rules.items():
            style = "-" if self.rule in names else next(other_styles, ":")
            label = f"{', '.join(names)}: {k}"
            self.marks_.append(ax.axvline(k, linestyle=style, color="grey", lw=1.2, label=label))


def _caption(search: Any, has_error: bool) -> str:
    band = "the band is one standard error to either side, corrected for overlapping training sets"
    return (
        f"Mean over {search.n_splits_} folds{f'; {band}' * has_error}. The solid vertical line is "
        f"the number of {unit_phrase(search)}s that is kept (rule {search.rule!r}), a dashed "
        "one that "
        "with the best mean."
    )
