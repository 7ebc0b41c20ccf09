"""The section on lines and trees: which path of features predicts better, and what meets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...scoring.relation import RelationFound
from ...selection.selected_data import SelectedData
from ...selectors.trees import BoostedTreesSelector
from .dependence import dependence_charts
from .elements import Column, Section, Table


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
