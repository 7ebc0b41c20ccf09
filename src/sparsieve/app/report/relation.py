"""The section on lines and trees: which path predicts better, what meets, what trees say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ...scoring.relation import RelationFound
from ...scoring.ridge_path import trees_estimator
from ...selection.selected_data import SelectedData
from ...selectors.trees import BoostedTreesSelector
from .elements import Chart, Column, Section, Table, grid, make_chart


def relation_section(relation: RelationFound | None, kept: SelectedData) -> Section | None:
    """Both paths at every number that was compared, what trees say, and what matters together.

    Nothing where neither is known.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import BoostedTreesSelector
    >>> from sparsieve.app.report.relation import relation_section
    >>> from sparsieve.selection.selected_data import SelectedData
    >>> X = np.random.default_rng(0).standard_normal((300, 5))
    >>> y = X[:, 0] * X[:, 1]
    >>> selector = BoostedTreesSelector(2, task="regression").fit(X, y)
    >>> kept = SelectedData.from_selector(selector, X, y, ["dose", "age", "b", "c", "d"])
    >>> section = relation_section(None, kept)
    >>> section.text[0].partition(" (")[0]
    'Features that matter together: dose x age: only together'
    """
    text: list[str] = []
    blocks: list[Any] = []
    model = getattr(kept.selector, "selector_", kept.selector)  # the one inside a search
    found = getattr(model, "interactions_", ())
    if relation is not None and relation.n_folds:
        text.append(relation.why)
        blocks.append(
            Table(
                "Share of the target that is explained on samples held out, %",
                [
                    Column("number of features", relation.sizes.tolist()),
                    *(
                        Column(title, (100.0 * relation.explained_curve(path)).tolist(), 3)
                        for title, path in (("by lines", "linear"), ("by trees", "trees"))
                    ),
                ],
                note=f"{relation.n_folds} folds of {relation.n_samples:,} samples; below 0 is "
                "worse than a guess.",
            )
        )
    pairs = [
        str(replace(one, names=tuple(str(kept.names[j]) for j in one.features))) for one in found
    ]
    if pairs:
        text.append(f"Features that matter together: {'; '.join(pairs)}.")
    if isinstance(model, BoostedTreesSelector):
        text = text or ["The model is one of boosted trees."]
        blocks += dependence_charts(kept, found)
    return Section("Lines or trees", text, blocks) if text else None


MAX_FEATURES, MAX_PAIRS = 20, 3
N_VALUES, N_CELLS = 24, 8  # of a curve, and of a side of a map
MAX_SAMPLES = 400  # over which predictions are averaged
MAX_CLASSES = 6


def dependence_charts(kept: SelectedData, interactions: Any = ()) -> list[Chart]:
    """Mean predictions over the values of kept features, one chosen by the reader, and of pairs.

    The model is the one that is kept, on all samples. Nothing for what it does not predict.
    """
    is_tree_task = kept.task in ("classification", "regression", "counts") and kept.y.ndim == 1
    order = kept.order[:MAX_FEATURES]
    if not is_tree_task or not len(order) or hasattr(kept.X, "tocsr"):
        return []
    if kept.classes is not None and len(kept.classes) > MAX_CLASSES:
        return []
    X = np.asarray(kept.X[:, order], dtype=np.float64)
    model = trees_estimator(kept.task, len(X)).fit(X, kept.y)
    some = X[np.random.default_rng(0).permutation(len(X))[:MAX_SAMPLES]]
    said = _what_it_says(kept)
    curves: list[tuple[Any, ...]] = []
    for j, column in enumerate(order):
        values = _levels(X[:, j], N_VALUES)
        found = mean_predictions(model, some, (j,), values[:, None])
        for value, means in zip(values, found, strict=True):
            for title, mean in zip(_series(kept), means, strict=True):
                curves.append((float(value), float(mean), title, str(kept.names[column])))
    titles = {"x": "value of the feature", "y": said, "series": "", "feature": "feature"}
    note = (
        "Mean prediction of the boosted trees on all samples if every sample had this value, other "
        "features as they are. A straight line is what a linear model could say as well."
    )
    charts = [
        make_chart(
            "What the model says at every value",
            "lines",
            curves,
            titles,
            note,
            controls=("feature",),
            marks=False,
            from_zero=kept.classes is not None,  # a small effect is to look small
        )
    ]
    places = {int(column): j for j, column in enumerate(order)}
    pairs = [one.features for one in interactions if len(one.features) == 2]
    pairs = [pair for pair in pairs if all(int(j) in places for j in pair)][:MAX_PAIRS]
    return charts + [
        _pair_chart(kept, model, X, some, [places[int(j)] for j in pair], said) for pair in pairs
    ]


def mean_predictions(
    model: Any, X: np.ndarray, places: tuple[int, ...], settings: np.ndarray
) -> np.ndarray:
    """The mean prediction over the samples with some columns set, for every setting.

    Probabilities of the classes (of the last one of two), or numbers: (n_settings, n_outputs).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sparsieve.app.report.relation import mean_predictions
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> model = LinearRegression().fit(X, 3 * X[:, 0])
    >>> mean_predictions(model, X, (0,), np.array([[1.0], [2.0]])).round(6).ravel().tolist()
    [3.0, 6.0]
    """
    tall = np.tile(X, (len(settings), 1))
    tall[:, list(places)] = np.repeat(settings, len(X), axis=0)
    if is_classifier(model):
        found = model.predict_proba(tall)
        found = found[:, 1:] if found.shape[1] == 2 else found
    else:
        found = np.asarray(model.predict(tall), dtype=np.float64)[:, None]
    return found.reshape(len(settings), len(X), -1).mean(axis=1)


def _levels(values: np.ndarray, most: int) -> np.ndarray:
    """All values, or quantiles of many."""
    known = values[np.isfinite(values)]
    distinct = np.unique(known)
    if len(distinct) <= most:
        return distinct
    return np.unique(np.quantile(known, np.linspace(0.01, 0.99, most)))


def _series(kept: SelectedData) -> list[str]:
    if kept.classes is None:
        return ["prediction"]
    labels = kept.classes[1:] if len(kept.classes) == 2 else kept.classes
    return [str(label) for label in labels]


def _what_it_says(kept: SelectedData) -> str:
    if kept.classes is None:
        return "mean prediction"
    if len(kept.classes) == 2:
        return f"mean probability of {kept.classes[1]}"
    return "mean probability"


def _pair_chart(
    kept: SelectedData, model: Any, X: np.ndarray, some: np.ndarray, pair: list[int], said: str
) -> Chart:
    """A map of mean predictions over the values of two features."""
    levels = [_levels(X[:, j], N_CELLS) for j in pair]
    first, second = np.meshgrid(*levels, indexing="ij")
    settings = np.column_stack([first.ravel(), second.ravel()])
    means = mean_predictions(model, some, (pair[0], pair[1]), settings)
    if means.shape[1] > 1:  # of several classes that which changes most
        best = int(means.std(axis=0).argmax())
        means, said = means[:, best], f"mean probability of {_series(kept)[best]}"
    one, two = (str(kept.names[kept.order[j]]) for j in pair)
    across, down = ([f"{value:.3g}" for value in some_levels] for some_levels in levels)
    cells = grid(means.reshape(len(across), len(down)), across, down)
    return make_chart(
        f"{one} and {two} together",
        "heatmap",
        cells,
        {"y": one, "x": two, "value": said},
        "Mean prediction if every sample had these two values. Where rows look alike, one of the "
        "two does without the other.",
    )
