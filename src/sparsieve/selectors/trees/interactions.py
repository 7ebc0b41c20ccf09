"""Interactions in words: which features say something only together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Interaction:
    """A product of signs of two or three kept features.

    Attributes
    ----------
    features : tuple of int
        Columns.
    names : tuple of str
        Their names.
    adds : float
        Share of the target that the product explains beyond curves of single features.
    only_together : bool
        Whether none of the features says anything alone.
    """

    features: tuple[int, ...]
    names: tuple[str, ...]
    adds: float
    only_together: bool

    def __str__(self) -> str:
        how = "only together" if self.only_together else "beyond each alone"
        return f"{' x '.join(self.names)}: {how} (adds {100 * self.adds:.2g} %)"


def interactions_among(
    owners: np.ndarray, adds: np.ndarray, alone: np.ndarray, support: np.ndarray, names: Any
) -> list[Interaction]:
    """Those whose features are all kept; ``owners`` are rows of columns, filled up with -1."""
    found = []
    for row, share, together in zip(owners, adds, alone, strict=True):
        features = tuple(int(j) for j in row if j >= 0)
        if support[list(features)].all():
            called = tuple(f"x{j}" if names is None else str(names[j]) for j in features)
            found.append(Interaction(features, called, float(share), bool(together)))
    return sorted(found, key=lambda one: (-one.adds, one.features))
