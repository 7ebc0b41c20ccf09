"""The table of compared methods: one row per method, the best score first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.folds import error_over_splits
from ..scoring.scorers import Score

if TYPE_CHECKING:
    from .result import Comparison

# Columns of ``table`` that are no scores.
_COLUMNS = (
    "method", "behind_best", "behind_best_se", "separable", "over_guess", "over_guess_se",
    "better_than_guess", "stability", "stability_low", "stability_high", "seconds",
)  # fmt: skip


def check_names(scores: Mapping[str, Score]) -> None:
    """Refuse scores that are called as another column of the table."""
    for name in scores:
        if name in _COLUMNS or name.removesuffix("_se") in scores.keys() - {name}:
            raise ValueError(f"{name!r} is another column of the table; call the score otherwise")


def table_columns(found: Comparison) -> dict[str, np.ndarray]:
    """The columns of ``table``."""
    verdict, row = found.verdict, found.ks.index(found.k)
    results = [found.methods[name] for name in verdict.means]
    columns: dict[str, Any] = {"method": [result.name for result in results]}
    for metric in found.guess:
        scores = np.array([result.scores[metric][row] for result in results])
        columns[metric] = scores.mean(axis=1)
        columns[f"{metric}_se"] = error_over_splits(scores, found.test_share)
    gaps = [verdict.behind.get(result.name) for result in results]
    over = [verdict.over_guess[result.name] for result in results]
    stable = [found.stabilities[result.name] for result in results]
    return {
        name: np.asarray(values, dtype=object if name == "method" else None)
        for name, values in {
            **columns,
            "behind_best": [0.0 if gap is None else gap.mean for gap in gaps],
            "behind_best_se": [0.0 if gap is None else gap.error for gap in gaps],
            "separable": [result.name in verdict.separable for result in results],
            "over_guess": [difference.mean for difference in over],
            "over_guess_se": [difference.error for difference in over],
            "better_than_guess": [result.name in verdict.predictive for result in results],
            "stability": [one.value for one in stable],
            "stability_low": [one.low for one in stable],
            "stability_high": [min(one.high, 1.0) for one in stable],
            "seconds": [result.seconds for result in results],
        }.items()
    }
