"""Curves of a study: score over the number of features, one line for every selector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparsieve._checks import format_names
from sparsieve.app.plotting import AccuracyCurveDisplay
from sparsieve.app.plotting.accuracy_curve import ScoreCurve
from sparsieve.scoring.metrics import find_metrics, metric_title

from .results import result_rows, summarise
from .store_reader import StoreReader


def study_curves(
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
        :func:`sparsieve_experiments.studies.result_rows`.
    dataset, classifier : str
        Which scores to draw; ``classifier`` is the model, also for regression.
    metric : str or None, default=None
        The column of the score to draw, such as "log_loss"; None is the first score.
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

    See Also
    --------
    sparsieve.AccuracyCurveDisplay : What it returns.

    Examples
    --------
    >>> import pathlib, tempfile
        >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import Study, run_study, study_curves
    >>> study = Study("demo", ["wine"], ["fisher"], Folds(2), ks=[1, 5], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "study.sqlite"
    ...     summary = run_study(study, store)
    ...     display = study_curves(store, dataset="wine", classifier="1nn")
    >>> [curve.label for curve in display.curves]
    ['FisherSelector']
    """
    rows = _rows(source)
    for name, value in (("dataset", dataset), ("classifier", classifier)):
        rows = _having(rows, name, [value])
    if selectors is not None:
        rows = _having(rows, "selector", selectors)
    known = find_metrics(rows[0])
    metric = known[0] if metric is None else metric
    if metric not in known:
        raise ValueError(f"metric {metric!r} is not in the study; it has {format_names(known)}")
    display = AccuracyCurveDisplay(
        _curves(summarise(rows), metric),
        metric_title(metric),
        title=f"{dataset}, {classifier}",
    )
    return display.plot(ax=ax, **line_kw)


def _rows(source: Any) -> list[dict]:
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
    wanted = [wanted] if isinstance(wanted, str) else wanted
    for value in wanted:
        if value not in known:
            raise ValueError(f"{name} {value!r} is not in the study; it has {format_names(known)}")
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
        ordered = sorted(lines[place], key=_place_on_axis)
        spread = [mean[f"{metric}_sd"] for mean in ordered]
        error = None
        if None not in spread:
            error = np.array(spread) / np.sqrt([mean["n_splits"] for mean in ordered])
        curves.append(
            ScoreCurve(
                label,
                np.array([_place_on_axis(mean) for mean in ordered]),
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
