"""Numbers as exhibits show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def rounded(value: float | None, digits: int = 4) -> float | None:
    """A number with this many significant digits; None stays None.

    Examples
    --------
    >>> from sparsieve.papers.numbers import rounded
    >>> rounded(98.76543), rounded(0.00123456), rounded(None)
    (98.77, 0.001235, None)
    """
    return None if value is None else float(f"{value:.{digits}g}")


def mean(values: Iterable[float | None]) -> float | None:
    """Rounded mean of those that are not None; None of none."""
    known = [value for value in values if value is not None]
    return rounded(float(np.mean(known))) if known else None


def deviation(values: Sequence[float]) -> float | None:
    """Rounded standard deviation of a sample; None of fewer than two."""
    return rounded(float(np.std(values, ddof=1))) if len(values) > 1 else None


def difference(ours: float | None, printed: float | None) -> float | None:
    """Ours less printed, where both are there; what only rounding leaves is nothing."""
    return None if ours is None or printed is None else rounded(round(ours - printed, 9))


def share(wins: Sequence[bool]) -> str:
    """How often something holds, in words: "3 of 5"."""
    return f"{sum(wins)} of {len(wins)}"
