"""Pictures of the samples themselves: a clustered heat map and a projection."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.sparse.linalg import svds

from .data import Chart, Column
from .selected_data import SelectedData
from .wording import counted, percent

MOST_SAMPLES = 200  # a pixel or two for each in a heat map; a browser stays quick
_MOST_CELLS = 30_000  # of heat maps at all numbers of features together, some 250 kB
_WIDEST = 3.0  # standard deviations; what lies beyond has the colour of the end
_SMALL = 500  # samples or features from which on all components take too long

Steps = list[tuple[int, np.ndarray]]


def shown_samples(kept: SelectedData, most: int = MOST_SAMPLES) -> np.ndarray:
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
    drawn = f"{len(samples)} of {counted(len(kept.y), 'sample')}"
    return f" {drawn}, drawn at random so that {what} keep their shares."


def clustered_chart(kept: SelectedData, steps: Steps, most_features: int) -> Chart:
    """Samples x selected features, both in the order of a hierarchical clustering."""
    n_rows = sum(1 + min(k, most_features) for k, _ in steps)
    samples = shown_samples(kept, min(MOST_SAMPLES, max(_MOST_CELLS // n_rows, 2)))
    labels = _sample_labels(kept, samples)
    is_classes = kept.classes is not None
    strip = "class ▸" if is_classes else "target ▸"
    ks: list[int] = []
    names: list[str] = []
    places: list[str] = []
    values: list[float | None] = []
    marks: list[str | float | None] = []
    for k, features in steps:
        drawn = features[:most_features]
        scaled = kept.standardised(drawn)[samples]
        filled = np.nan_to_num(scaled)  # for the order alone, a missing value is the mean
        across, down = _order(filled), _order(filled.T)
        rows = [strip, *(kept.labels(drawn)[i] for i in down)]
        ks += [k] * (len(rows) * len(samples))
        names += [row for row in rows for _ in samples]
        places += [labels[i] for _ in rows for i in across]
        marks += [_mark(kept, samples[i]) for i in across]
        marks += [None] * (len(down) * len(samples))
        values += [None] * len(samples)
        values += [_number(scaled[i, j]) for j in down for i in across]
    last = steps[-1][0]
    first = f" The first {most_features} of {last} features." * (last > most_features)
    strip_title = "class" if is_classes else kept.target_names[0]
    return Chart(
        "Samples and selected features, clustered",
        "heatmap",
        {
            "k": Column("features", ks),
            "y": Column("", names),
            "x": Column("sample", places),
            "value": Column("standard deviations", values, digits=3),
            "strip": Column(strip_title, marks, digits=4),
        },
        note="Every column is a sample. Average linkage puts samples, and features, that are alike "
        f"next to each other; the strip on top shows the {strip_title}. Colours: distance from the "
        f"mean of a feature, full at {_WIDEST:g} standard deviations."
        + which_samples(kept, samples)
        + first,
        options={
            "diverging": True,
            "span": _WIDEST,
            "strip": strip,
            "strip_names": kept.class_names,
            "shape": "wide",
        },
    )


def projection_chart(kept: SelectedData, steps: Steps) -> tuple[Chart, dict[int, str]]:
    """The samples on the first two principal components, and how much these show, by number."""
    samples = shown_samples(kept)
    labels = _sample_labels(kept, samples)
    ks, points, told = [], [], {}
    before: np.ndarray | None = None
    for k, features in steps:
        found, shares = _components(np.nan_to_num(kept.standardised(features)), samples)
        if before is not None:  # no mirror images from one number to the next
            found = found * np.where((found * before).sum(axis=0) < 0, -1.0, 1.0)
        before = found
        ks += [k] * len(samples)
        points += found.tolist()
        told[k] = _share_told(shares)
    columns = {
        "k": Column("features", ks),
        "x": Column("first component", [p[0] for p in points], digits=3),
        "y": Column("second component", [p[1] for p in points], digits=3),
        "sample": Column("sample", labels * len(steps)),
    }
    if kept.classes is not None:
        named = [kept.class_names[c] for c in kept.class_codes[samples]]
        columns["series"] = Column("class", named * len(steps))
    else:
        numbers = kept.targets[samples, 0].tolist()
        columns["value"] = Column(kept.target_names[0], numbers * len(steps))
    chart = Chart(
        "The samples in two dimensions",
        "points",
        columns,
        note="Principal components of the standardised selected features; every dot is a sample. "
        "The features were chosen with the help of the "
        + ("classes" if kept.classes is not None else "targets")
        + ", so some order is to be expected even by chance."
        + which_samples(kept, samples),
        options={"size": 40},
    )
    return chart, told


def _share_told(shares: np.ndarray) -> str:
    both = percent(float(shares.sum()))
    if shares[1] <= 0:
        return "In two dimensions: a single direction holds all of their variance."
    return f"In two dimensions: {both} of their variance."


def _components(scaled: np.ndarray, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two coordinates of the samples shown, and the shares of the variance of all samples."""
    total = float(np.vdot(scaled, scaled)) or 1.0
    if min(scaled.shape) > _SMALL:
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
    return [f"row {i}: {kept.class_names[kept.class_codes[i]]}" for i in samples]


def _mark(kept: SelectedData, sample: int) -> str | float:
    if kept.classes is not None:
        return kept.class_names[kept.class_codes[sample]]
    return float(kept.targets[sample, 0])


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 2)
