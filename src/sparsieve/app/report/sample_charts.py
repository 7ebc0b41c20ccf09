"""Charts of samples, and what is known about single features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.sparse.linalg import svds
from scipy.stats import rankdata

from ..._text import plural
from ...filters import FStatisticSelector, InfoGainSelector
from ...registry import selector_name
from ...selection.selected_data import SelectedData
from .elements import Chart, Column, Profiles, make_chart
from .wording import percent

_BLOCK_COLUMNS = 32  # columns that are dense at a time


def profiles(
    kept: SelectedData,
    substitutes: dict[int, list[tuple[int, float]]] | None,
    most: int,
    threshold: float,
) -> Profiles:
    """Everything about the first ``most`` features of the ranking."""
    order = _reading_order(kept)[:most]
    samples = shown_samples(kept)
    stored = order[: max(300_000 // max(len(samples), 1), 1)]  # values, a byte each in the page
    levels, ranges = _levels(kept, stored, samples)
    own = selector_name(kept.selector)
    ranks = {own: _own_ranks(kept), **_filters(kept)}
    if own == FStatisticSelector.__name__:
        del ranks["F-statistic"]
    known = set(order.tolist())
    return Profiles(
        features=order.tolist(),
        names=[kept.names[j] for j in order],
        ranks={name: [found[j] for j in order] for name, found in ranks.items() if found},
        chart=values_chart(kept, samples),
        levels=levels,
        ranges=ranges,
        substitutes=None
        if substitutes is None
        else {
            feature: [pair for pair in others if pair[0] in known][:20]
            for feature, others in _both_ways(substitutes).items()
        },
        note=_note(kept, samples, len(stored), len(order)),
        threshold=threshold,
    )


def _reading_order(kept: SelectedData) -> np.ndarray:
    """Columns as tables list them: the selected ones first, then by rank."""
    n_features = kept.X.shape[1]
    ranking = getattr(kept.selector, "ranking_", None)
    if ranking is None:
        return np.concatenate([kept.order, np.setdiff1d(np.arange(n_features), kept.order)])
    return np.argsort(np.asarray(ranking), kind="stable")


def _own_ranks(kept: SelectedData) -> list[int | None] | None:
    ranking = getattr(kept.selector, "ranking_", None)
    if ranking is None:
        return None
    last = getattr(kept.selector, "_n_ranked", len(ranking))
    return [int(rank) if rank <= last else None for rank in ranking]


def _filters(kept: SelectedData) -> dict[str, list[int | None] | None]:
    """Ranks by filters that take a moment, whatever the selector is."""
    y: Any = kept.y if kept.classes is not None else kept.targets
    if kept.classes is not None:
        by_statistic, by_gain = FStatisticSelector(task="classification"), InfoGainSelector
        gains = _ranks(by_gain(discretize="frequency"), kept.X, y)
        return {"F-statistic": _ranks(by_statistic, kept.X, y), "information gain, 5 levels": gains}
    y = y[:, 0] if y.shape[1] == 1 else y
    by_statistic = FStatisticSelector(task="regression")
    found = {"F-statistic": _ranks(by_statistic, kept.X, y)}
    if isinstance(kept.X, np.ndarray) and np.isfinite(kept.X).all():
        name = "Spearman's correlation" if y.ndim == 1 else "F-statistic of ranks"
        found[name] = _ranks(by_statistic, rankdata(kept.X, axis=0), rankdata(y, axis=0))
    return found


def _ranks(selector: Any, X: Any, y: Any) -> list[int | None] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return selector.fit(X, y).ranking_.tolist()
        except (ValueError, TypeError):  # missing values, for instance: then without it
            return None


def _levels(
    kept: SelectedData, features: np.ndarray, samples: np.ndarray
) -> tuple[list[bytes], list[tuple[float, float]]]:
    """Values as one byte each between the smallest and the largest that is shown."""
    levels, ranges = [], []
    for start in range(0, len(features), _BLOCK_COLUMNS):
        values = kept.columns(features[start : start + _BLOCK_COLUMNS])[samples]
        missing = np.isnan(values)
        known = np.ma.masked_array(values, missing)
        low, high = known.min(axis=0).filled(0.0), known.max(axis=0).filled(0.0)
        span = np.where(high > low, high - low, 1.0)
        codes = np.where(missing, 255, np.round(254 * (values - low) / span))
        levels += [column.tobytes() for column in np.ascontiguousarray(codes.T, dtype=np.uint8)]
        ranges += list(zip(low.tolist(), high.tolist(), strict=True))
    return levels, ranges


def _both_ways(
    substitutes: dict[int, list[tuple[int, float]]],
) -> dict[int, list[tuple[int, float]]]:
    """Those who can stand in for a selected feature name it in turn."""
    found = {feature: list(others) for feature, others in substitutes.items() if others}
    for feature, others in substitutes.items():
        for other, correlation in others:
            found.setdefault(other, []).append((feature, correlation))
    return found


def _note(kept: SelectedData, samples: np.ndarray, n_stored: int, n_features: int) -> str:
    note = which_samples(kept, samples).strip()
    if n_stored < n_features:
        note += f" The file holds values of the first {n_stored:,} features of the ranking."
    return note.strip()


MAX_SAMPLES = 200  # a pixel or two for each in a heat map; a browser stays quick
_MAX_DEVIATIONS = 3.0  # standard deviations; what lies beyond has the colour of the end
_BOX = (
    "The box holds the middle half of the values, its line is the median, whiskers reach the "
    "extremes."
)

Steps = list[tuple[int, np.ndarray]]  # numbers of features and the columns, best first


def shown_samples(kept: SelectedData, most: int = MAX_SAMPLES) -> np.ndarray:
    """Rows to show: all, or so many that classes (or targets) keep their shares."""
    n_samples = len(kept.y)
    if n_samples <= most:
        return np.arange(n_samples)
    shuffled = np.random.default_rng(0).permutation(n_samples)
    key = kept.class_codes if kept.classes is not None else kept.targets[:, 0]
    ordered = shuffled[np.argsort(key[shuffled], kind="stable")]
    return np.sort(ordered[np.linspace(0, n_samples - 1, most).round().astype(int)])


def which_samples(kept: SelectedData, samples: np.ndarray) -> str:
    """A sentence where not all samples are shown."""
    if len(samples) == len(kept.y):
        return ""
    what = "classes" if kept.classes is not None else "low and high targets"
    drawn = f"{len(samples)} of {plural(len(kept.y), 'sample')}"
    return f" {drawn}, drawn at random so that {what} keep their shares."


def full_names(kept: SelectedData, features: np.ndarray) -> list[str]:
    """Whole names; axes shorten them, tooltips do not."""
    return [str(kept.names[j]) for j in features]


def samples_chart(
    kept: SelectedData, steps: Steps, most_features: int, *, by_class: bool = False
) -> Chart:
    """Samples x selected features: those that are alike stand next to each other.

    ``by_class`` sorts samples by class (or target) first.
    """
    n_rows = sum(1 + min(k, most_features) for k, _ in steps)
    # cells of all maps, some 250 kB
    samples = shown_samples(kept, min(MAX_SAMPLES, max(30_000 // n_rows, 2)))
    labels = _sample_labels(kept, samples)
    is_classes = kept.classes is not None
    strip = "class ▸" if is_classes else "target ▸"
    marks = kept.marks(samples)
    rows: list[tuple] = []
    for k, features in steps:
        drawn = features[:most_features]
        scaled = kept.standardise(drawn)[samples]
        filled = np.nan_to_num(scaled)  # for the order alone, a missing value is the mean
        across, down = _order(filled), _order(filled.T)
        if by_class:
            key = kept.class_codes if is_classes else kept.targets[:, 0]
            across = across[np.argsort(key[samples][across], kind="stable")]
        names = full_names(kept, drawn)
        rows += [(k, strip, labels[i], None, marks[i]) for i in across]
        rows += [
            (k, names[j], labels[i], _number(scaled[i, j]), None) for j in down for i in across
        ]
    last = steps[-1][0]
    first = f" The first {most_features} of {last} features are drawn." * (last > most_features)
    strip_title = "class" if is_classes else kept.target_names[0]
    titles = {"k": "features", "y": "", "x": "sample", "value": "standard deviations"}
    how = f"sorted by {strip_title}" if by_class else "clustered"
    n_shown, n_all = len(samples), plural(len(kept.y), "sample")
    return make_chart(
        f"Samples and selected features, {how}",
        "heatmap",
        rows,
        {**titles, "strip": strip_title},
        f"Every column is a sample; the strip on top shows its {strip_title}. "
        + f"Samples are sorted by {strip_title} and, within it, clustered. " * by_class
        + "Similar samples are next to each other, as are similar features (average linkage). "
        * (not by_class)
        + "Colour: standard deviations from the mean of the feature, "
        f"full at {_MAX_DEVIATIONS:g}." + which_samples(kept, samples) + first,
        diverging=True,
        span=_MAX_DEVIATIONS,
        strip=strip,
        strip_names=kept.class_names,
        shape="wide",
        x_label=n_all if n_shown == len(kept.y) else f"{n_shown:,} of {n_all}",
    )


def projection_chart(kept: SelectedData, steps: Steps) -> tuple[Chart, dict[int, str]]:
    """The samples on the first two principal components, and how much these show, by number."""
    samples = shown_samples(kept)
    labels, marks = _sample_labels(kept, samples), kept.marks(samples)
    places, sentences = {}, {}
    after: np.ndarray | None = None
    for k, features in reversed(steps):  # the selection itself looks the same with any slider
        found, shares = _components(np.nan_to_num(kept.standardise(features)), samples)
        if after is None:  # the sample farthest out is on the positive side
            sides = found[np.abs(found).argmax(axis=0), [0, 1]]
        else:  # no mirror images from one number to the next
            sides = (found * after).sum(axis=0)
        found = found * np.where(sides < 0, -1.0, 1.0)
        after = places[k] = found
        sentences[k] = _variance_note(shares)
    rows = [
        (k, *point)
        for k, _ in steps
        for point in zip(*places[k].T.tolist(), labels, marks, strict=True)
    ]
    titles = {"k": "features", "x": "first component", "y": "second component", "sample": "sample"}
    if kept.classes is not None:
        titles["series"] = "class"
    else:
        titles["value"] = kept.target_names[0]
    chart = make_chart(
        "The samples in two dimensions",
        "points",
        rows,
        titles,
        "First two principal components of the standardised selected features; every dot is a "
        "sample. The features were selected by their relation to the "
        + ("classes" if kept.classes is not None else "target")
        + ", so some separation is expected even by chance."
        + which_samples(kept, samples),
        digits={"x": 3, "y": 3, "value": 4},
        size=40,
        series_names=kept.class_names,
    )
    return chart, sentences


def values_chart(kept: SelectedData, samples: np.ndarray, feature: int | None = None) -> Chart:
    """The values of a feature by class, or against the numbers to predict.

    Without a feature the column of values is empty: a page fills it when a reader asks.
    """
    values: list[float | None] = []
    name, note = "value", ""
    if feature is not None:
        found = kept.columns([feature])[samples, 0]
        values = [None if np.isnan(value) else float(value) for value in found]
        name = str(kept.names[feature])
        note = (_BOX * (kept.classes is not None) + which_samples(kept, samples)).strip()
    if kept.classes is not None:
        columns = {"x": Column(name, values), "y": Column("", kept.marks(samples))}
        names = {"series_names": kept.class_names}
        return Chart("Values by class", "distribution", columns, note=note, options=names)
    shown = kept.target_names[:4]
    numbers = kept.targets[samples, : len(shown)].T.ravel().tolist()
    title = shown[0] if len(shown) == 1 else "target"
    columns = {"x": Column(name, values * len(shown)), "y": Column(title, numbers)}
    if len(shown) > 1:
        columns["series"] = Column("", np.repeat(shown, len(samples)).tolist())
    return Chart("Values and target", "points", columns, note=note, options={"size": 35})


def several_values_chart(kept: SelectedData, features: np.ndarray) -> Chart:
    """The standardised values of several features, by class where there are classes."""
    samples = shown_samples(kept)
    scaled, marks = kept.standardise(features)[samples], kept.marks(samples)
    rows = [
        (float(value), name, mark)
        for name, column in zip(full_names(kept, features), scaled.T, strict=True)
        for value, mark in zip(column, marks, strict=True)
        if not np.isnan(value)
    ]
    return make_chart(
        "Values of the best features by class",
        "distribution",
        rows,
        {"x": "standard deviations from the mean", "y": "", "series": "class"},
        _BOX + which_samples(kept, samples),
        series_names=kept.class_names,
    )


def _variance_note(shares: np.ndarray) -> str:
    both = percent(float(shares.sum()))
    if shares[1] <= 0:
        return "The first component captures all of the variance."
    return f"The first two components capture {both} of the variance."


def _components(scaled: np.ndarray, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two coordinates of the samples shown, and the shares of the variance of all samples."""
    total = float(np.vdot(scaled, scaled)) or 1.0
    if min(scaled.shape) > 500:  # all components would take too long
        start = np.ones(min(scaled.shape))
        left, lengths, _ = svds(scaled, k=2, v0=start)
        left, lengths = left[:, ::-1], lengths[::-1]
    else:
        left, lengths, _ = np.linalg.svd(scaled, full_matrices=False)
    lengths = np.where(lengths > 1e-9 * max(lengths[0], 1e-300), lengths, 0.0)[:2]
    found = left[samples, : len(lengths)] * lengths
    shares = np.zeros(2)
    shares[: len(lengths)] = lengths**2 / total
    if found.shape[1] < 2:
        found = np.column_stack([found, np.zeros(len(found))])
    return found, shares


def _order(rows: np.ndarray) -> np.ndarray:
    """Rows with those that are alike next to each other."""
    if len(rows) < 3:
        return np.arange(len(rows))
    return leaves_list(linkage(rows, "average", optimal_ordering=True))


def _sample_labels(kept: SelectedData, samples: np.ndarray) -> list[str]:
    if kept.classes is None:
        return [f"row {i}" for i in samples]
    return [f"row {i}: {name}" for i, name in zip(samples, kept.marks(samples), strict=True)]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 2)
