"""Which features a claim is about: the one in its name, and those that may replace it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...solvers.claims.distilled_state import COPY_CORR
from .claim_data import Tests
from .claim_settings import ClaimSettings

Members = dict[Any, list[tuple[Any, float]]]


def substitutes_of(
    claimed: list[int],
    tests: Tests,
    names: list[Any],
    plain: dict[int, np.ndarray],
    settings: ClaimSettings,
) -> Members:
    """Name what a claim stands for: substitutes by the tests' measure, and by the plain one.

    A claim about a few features holds for more of them too. ``plain`` has the correlations of every
    claimed column, as given, with all others.
    """
    least, found = min(settings.least if settings.claim == "conditional" else 1.0, COPY_CORR), {}
    for j in claimed:
        tested = np.clip(tests.correlations.get(j, np.zeros(len(names))), -1.0, 1.0)
        given = np.clip(plain.get(j, tested), -1.0, 1.0)
        close = np.flatnonzero(np.maximum(np.abs(given), np.abs(tested)) >= least)
        close = close[np.argsort(-np.abs(given[close]), kind="stable")].tolist()
        found[names[j]] = [(names[i], float(given[i])) for i in close if i != j]
    return found


def sets_of(
    claimed: list[int],
    tests: Tests,
    names: list[Any],
    plain: dict[int, np.ndarray],
    first: np.ndarray,
) -> tuple[Members, Members]:
    """The features of every set with their weights, and the other ones with their correlations.

    ``first`` is the first of the copies of every column; copies of a feature share its weight.
    """
    sets: Members = {}
    others: Members = {}
    for j in claimed:
        some, members = tests.sets[j], []
        for i, weight in zip(some.columns.tolist(), some.weights.tolist(), strict=True):
            copies = np.flatnonzero(first == i).tolist()
            members += [(copy, weight / len(copies)) for copy in copies]
        sets[names[j]] = [(names[i], weight) for i, weight in members]
        others[names[j]] = [(names[i], float(plain[j][i])) for i, _ in members if i != j]
    return sets, others
