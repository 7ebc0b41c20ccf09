"""Tests of columns or of groups, and once more where structure that nobody recorded shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .claim_data import ClaimData, Tests
from .claim_settings import ClaimSettings
from .column_claims import column_tests
from .group_claims import group_tests


def tests_of(
    ready: ClaimData,
    groups: Sequence[np.ndarray] | None,
    settings: ClaimSettings,
    expecting: Callable[[float], None] | None,
) -> tuple[ClaimData, Tests, np.ndarray]:
    """What was tested in the end, what tests found, and which columns or groups were tested.

    ``groups`` has the columns of every group; None for single columns. Before anything is claimed,
    components are taken where they are ahead of columns. Where features matter and structure does
    too, it shows only once these are known: if what the claimed ones leave of the target goes with
    components, all is tested again given these, until no more of them show.
    """
    tests, tested = _tests(ready, groups, settings, expecting)
    if settings.adjustment != "auto" or not ready.hidden.is_small:
        return ready, tests, tested
    while len(claimed := np.flatnonzero(tests.adjusted <= settings.level)):
        if groups is not None:
            claimed = np.unique(np.concatenate([groups[g] for g in claimed.tolist()]))
        components = ready.hidden.beside(ready.problem, claimed)
        if not components.shape[1]:
            break
        ready = ready.beside(components)
        tests, tested = _tests(ready, groups, settings, expecting)
    return ready, tests, tested


def _tests(
    ready: ClaimData,
    groups: Sequence[np.ndarray] | None,
    settings: ClaimSettings,
    expecting: Callable[[float], None] | None,
) -> tuple[Tests, np.ndarray]:
    if groups is None:
        return column_tests(ready, settings, expecting), ready.problem.eligible
    return group_tests(ready, groups, settings)
