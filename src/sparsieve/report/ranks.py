"""Which methods cannot be told apart: the fields of a critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..scoring.statistics import groups_alike


def diagram_rows(methods: Sequence[str], ranks: Any, difference: float) -> list[dict[str, Any]]:
    """The parts of a diagram: stems from the axis, arms to the names, bars over groups alike.

    Parameters
    ----------
    methods : sequence of str
    ranks : sequence of float
        Average rank of every method.
    difference : float
        Average ranks that differ by no more cannot be told apart.

    Returns
    -------
    rows : list of dict
        part, x, x2, y, y2, text. The axis is at y = 0; below it are first the bars, then the
        names: the better half at the left, the others at the right.

    Examples
    --------
    >>> from sparsieve.report.ranks import diagram_rows
    >>> [row["part"] for row in diagram_rows(["a", "b", "c"], [1, 1.5, 3], 1.0)][:4]
    ['alike', 'stem', 'arm', 'left']
    """
    order = np.argsort(ranks, kind="stable")
    sorted_ranks = [float(ranks[i]) for i in order]
    groups = groups_alike(sorted_ranks, difference)
    n_methods = len(order)
    left, right = 1.0, float(n_methods)
    rows = [
        _row("alike", sorted_ranks[first] - 0.03, x2=sorted_ranks[last] + 0.03, y=-0.45 * (i + 1))
        for i, (first, last) in enumerate(groups)
    ]
    top = 0.45 * len(groups) + 0.6
    half = (n_methods + 1) // 2
    for position, (method, rank) in enumerate(zip(order, sorted_ranks, strict=True)):
        better = position < half
        # Outer names lie higher, so that no arm crosses another's stem.
        level = position if better else n_methods - 1 - position
        y = -(top + level)
        edge = left if better else right
        rows += [
            _row("stem", rank, y=0.0, y2=y),
            _row("arm", rank, x2=edge, y=y),
            _row("left" if better else "right", edge, y=y, text=f"{methods[method]} {rank:.2f}"),
        ]
    return rows


def _row(part: str, x: float, **others: Any) -> dict[str, Any]:
    return {"part": part, "x": x, "x2": None, "y": None, "y2": None, "text": "", **others}
