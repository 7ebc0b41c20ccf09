"""Score over the number of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import listed
from .base import Display, beside, count_axis, fitted_attribute, in_legend, line_style, plain

_FEW = 4  # lines that a legend inside the axes can name


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
    >>> from sparsieve import ScoreCurve
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
    """Score over the number of features, with bands of one standard error.

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

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    lines_, bands_ : list of matplotlib artists
        The curves, and a band for each that has an error.
    marks_ : list of matplotlib artists
        The vertical lines at ``chosen``.

    See Also
    --------
    sparsieve.SelectorCV : Chooses the number of features.
    sparsieve.studies.run_study : Compares selectors.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import AccuracyCurveDisplay, SelectorCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = SelectorCV(rule="one_se", ks=[1, 2, 5, 10]).fit(X, y)
    >>> display = AccuracyCurveDisplay.from_estimator(search)
    >>> display.ax_.get_ylabel()
    'accuracy (mean ± standard error)'
    """

    curves: list[ScoreCurve]
    score_name: str = "score"
    chosen: dict[str, int] = field(default_factory=dict)
    rule: str | None = None
    title: str = ""
    lines_: Any = field(init=False)
    bands_: Any = field(init=False)
    marks_: Any = field(init=False)

    @classmethod
    def from_estimator(cls, search: Any, *, ax: Any = None, **line_kw: Any) -> AccuracyCurveDisplay:
        """Draw the curve of a fitted :class:`~sparsieve.SelectorCV`.

        Parameters
        ----------
        search : SelectorCV
            Fitted.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the line, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : AccuracyCurveDisplay
        """
        results = fitted_attribute(
            search, "cv_results_", cls, "fit a SelectorCV around it to score numbers of features"
        )
        if "param_k" not in results:
            raise ValueError(
                f"{type(search).__name__} was not searched over numbers of features; use SelectorCV"
            )
        error = results["error_test_score"] if search.n_splits_ > 1 else None
        curve = ScoreCurve("mean score", results["param_k"], results["mean_test_score"], error)
        display = cls([curve], _score_name(search), dict(search.k_by_rule_), search.rule)
        return display.plot(ax=ax, **line_kw)

    @classmethod
    def from_study(
        cls,
        source: Any,
        *,
        dataset: str,
        classifier: str,
        metric: str | None = None,
        selectors: Sequence[str] | None = None,
        ax: Any = None,
        **line_kw: Any,
    ) -> AccuracyCurveDisplay:
        """Draw one line for every selector of a study.

        Parameters
        ----------
        source : path, Store or list of dict
            The SQLite file of a study, or the rows of
            :func:`sparsieve.studies.result_rows`.
        dataset, classifier : str
            Which scores to draw; ``classifier`` is the model, also for regression.
        metric : str or None, default=None
            What to draw of them; None is the accuracy or R squared where they were computed,
            else the first metric.
        selectors : list of str or None, default=None
            Labels of the selectors to draw; None draws all.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For all lines, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : AccuracyCurveDisplay
            Selectors whose parameters were chosen on the test samples say so in their labels.
            A selector that was asked for its own number of features is a point at the mean
            number that it kept.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from sparsieve import AccuracyCurveDisplay
        >>> from sparsieve.evaluation import Folds
        >>> from sparsieve.studies import Study, run_study
        >>> study = Study("demo", ["wine"], ["fisher"], Folds(2), ks=[1, 5], classifiers=["1nn"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = pathlib.Path(folder) / "study.sqlite"
        ...     summary = run_study(study, store)
        ...     display = AccuracyCurveDisplay.from_study(store, dataset="wine", classifier="1nn")
        >>> [curve.label for curve in display.curves]
        ['FisherSelector']
        """
        # The evaluation brings classifiers along that the other displays have no use for.
        from ..studies import summarise

        rows = _rows(source)
        for name, value in (("dataset", dataset), ("classifier", classifier)):
            rows = _having(rows, name, [value])
        if selectors is not None:
            rows = _having(rows, "selector", selectors)
        known = [name for name in rows[0] if name in _metrics()]
        metric = known[0] if metric is None else metric
        if metric not in known:
            raise ValueError(f"metric {metric!r} is not in the study; it has {listed(known)}")
        display = cls(
            _curves(summarise(rows), metric),
            _metric_label(metric),
            title=f"{dataset}, {classifier}",
        )
        return display.plot(ax=ax, **line_kw)

    def plot(self, ax: Any = None, **line_kw: Any) -> AccuracyCurveDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For all lines, as in ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        display : AccuracyCurveDisplay
            This object.
        """
        ax = self._begin(ax)
        self.lines_, self.bands_, self.marks_ = [], [], []
        for i, curve in enumerate(self.curves):
            style = {
                "marker": ".",
                "linestyle": line_style(i),
                "label": in_legend(curve.label),
                **line_kw,
            }
            (line,) = ax.plot(curve.ks, curve.mean, **style)
            self.lines_.append(line)
            if curve.error is not None:
                span = curve.ks, curve.mean - curve.error, curve.mean + curve.error
                colour = {"color": line.get_color()}
                if len(curve.ks) > 1:
                    band = ax.fill_between(*span, alpha=0.2, lw=0, **colour)
                else:  # a band of one point would have no width
                    band = ax.vlines(*span, alpha=0.5, **colour)
                self.bands_.append(band)
        self._mark(ax)
        count_axis(ax, "number of features")
        spread = " (mean ± standard error)" if self.bands_ else ""
        ax.set(ylabel=f"{plain(self.score_name)}{spread}", title=plain(self.title))
        if len(self.curves) > _FEW:
            beside(ax)
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


def _score_name(search: Any) -> str:
    if isinstance(search.scoring, str):
        return search.scoring.replace("_", " ")
    if search.scoring is None and search.estimator is None:  # our own ridge models
        return "accuracy" if hasattr(search, "classes_") else "R²"
    return "score"


# -- studies -----------------------------------------------------------------------------------


def _metrics() -> tuple[str, ...]:
    from ..evaluation.metrics import ALL_METRICS

    return ALL_METRICS


def _metric_label(metric: str) -> str:
    from ..evaluation.metrics import LOWER_IS_BETTER, metric_name

    name = metric_name(metric).replace("_", " ")
    return f"{name}, lower is better" if metric in LOWER_IS_BETTER else name


def _rows(source: Any) -> list[dict]:
    from ..studies import StoreReader, result_rows

    if isinstance(source, StoreReader):
        rows = result_rows(source)
    elif isinstance(source, str | Path):
        if not Path(source).is_file():  # opening it would make an empty one
            raise ValueError(f"there is no study at {source}; give the .sqlite file of a study")
        with StoreReader(source) as store:
            rows = result_rows(store)
    else:
        rows = list(source)
    if not rows:
        raise ValueError("the study has no finished cells to draw; run it first")
    return rows


def _having(rows: list[dict], name: str, wanted: Sequence[str]) -> list[dict]:
    known = list(dict.fromkeys(row[name] for row in rows))
    if isinstance(wanted, str):
        wanted = [wanted]
    for value in wanted:
        if value not in known:
            raise ValueError(f"{name} {value!r} is not in the study; it has {listed(known)}")
    return [row for row in rows if row[name] in wanted]


def _curves(means: list[dict], metric: str) -> list[ScoreCurve]:
    lines: dict[tuple, list[dict]] = {}
    for mean in means:
        # Every k of an optimistic choice may have other parameters.
        parameters = "" if mean["tuning"] == "best-on-test" else mean["parameters"]
        place = (mean["selector"], mean["study"], parameters, mean["protocol"])
        lines.setdefault(place, []).append(mean)
    curves = []
    for place, label in zip(lines, _labels(list(lines)), strict=True):
        points = [(_place_on_axis(mean), mean) for mean in lines[place]]
        points.sort(key=lambda point: point[0])
        ordered = [mean for _, mean in points]
        spread = [mean[f"{metric}_sd"] for mean in ordered]
        error = None
        if None not in spread:
            error = np.array(spread) / np.sqrt([mean["n_splits"] for mean in ordered])
        curves.append(
            ScoreCurve(
                label,
                np.array([x for x, _ in points]),
                np.array([mean[metric] for mean in ordered]),
                error,
            )
        )
    return curves


def _place_on_axis(mean: dict) -> float:
    return mean["n_selected"] if mean["k"] is None else mean["k"]


def _labels(places: list[tuple]) -> list[str]:
    """Labels of the selectors, with what tells two of the same label apart."""
    labels = []
    for place in places:
        same = [other for other in places if other[0] == place[0]]
        differs = [value for i, value in enumerate(place) if len({o[i] for o in same}) > 1]
        labels.append(", ".join([place[0], *differs]))
    return labels
