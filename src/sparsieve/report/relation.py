"""The section on lines and trees: which path of features predicts better, and what meets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..scoring.relation import RelationFound
from .elements import Column, Section, Table


def relation_section(relation: RelationFound | None, selector: Any, names: Any) -> Section | None:
    """Both paths at every number that was compared, and features that matter together.

    Nothing where neither is known.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import BoostedTreesSelector
    >>> from sparsieve.report.relation import relation_section
    >>> X = np.random.default_rng(0).standard_normal((300, 5))
    >>> selector = BoostedTreesSelector(2).fit(X, X[:, 0] * X[:, 1])
    >>> section = relation_section(None, selector, ["dose", "age", "b", "c", "d"])
    >>> section.text[0].partition(" (")[0]
    'Features that matter together: dose x age: only together'
    """
    text, blocks = [], []
    if relation is not None and relation.n_folds:
        text.append(relation.why)
        blocks.append(
            Table(
                "Share of the target that is explained on samples held out, %",
                [
                    Column("number of features", relation.sizes.tolist()),
                    *(
                        Column(title, (100.0 * relation.curve_of(path)).tolist(), 3)
                        for title, path in (("by lines", "linear"), ("by trees", "trees"))
                    ),
                ],
                note=f"{relation.n_folds} folds of {relation.n_samples:,} samples; below 0 is "
                "worse than a guess.",
            )
        )
    pairs = [
        str(replace(one, names=tuple(str(names[j]) for j in one.features)))
        for one in getattr(selector, "interactions_", ())
    ]
    if pairs:
        text.append(f"Features that matter together: {'; '.join(pairs)}.")
    return Section("Lines or trees", text, blocks) if text else None
