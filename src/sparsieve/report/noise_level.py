"""Which scores noise reaches, found without being asked: only as often as it takes seconds."""

from __future__ import annotations

import warnings
from typing import Any

from ..diagnosis import permutation_null
from ..diagnosis.null import PermutationNull, looks_at_target
from ..registry import measured, method_name
from .selected_data import SelectedData
from .wording import ended

_SHUFFLES, _MIN_SHUFFLES = 20, 10
_MEASURED_ON = 100, 20_000  # samples and features that the times of the methods are known for
MEASURED_KEPT = 20  # and how many features were selected


def n_shuffles(selector: Any, X: Any) -> int:
    """How many shuffles take seconds, judged by the method and the size of X, not by the clock.

    Zero where so few are possible that they say nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import FisherSelector, HSICLassoSelector
    >>> from sparsieve.report.noise_level import n_shuffles
    >>> X = np.zeros((100, 20_000))
    >>> n_shuffles(FisherSelector(), X), n_shuffles(HSICLassoSelector(), X)
    (20, 0)
    """
    possible = 5.0 / expected_seconds(selector, X)
    return 0 if possible < _MIN_SHUFFLES else min(_SHUFFLES, int(possible))


def expected_seconds(selector: Any, X: Any) -> float:
    """Seconds of a fit by the method and the size of X, the same on every computer."""
    n_samples, n_features = X.shape
    samples, features = _MEASURED_ON
    share = getattr(X, "nnz", n_samples * n_features) / (samples * features)
    # Fits on small data have costs of their own. Some methods compare every two samples; the root
    # is between them and the others.
    by_samples = max(1.0, n_samples / samples) ** 0.5
    return _seconds(selector) * max(share, 0.02) * by_samples


def _seconds(selector: Any) -> float:
    """Seconds of a fit on data of the measured size."""
    known = measured().get(method_name(type(selector).__name__))
    if known is not None:
        return float(known["seconds"])
    members = selector._members() if hasattr(selector, "_members") else []
    if hasattr(selector, "guest_name") or not members:
        return 5.0  # a method that was not measured
    # It fits another selector many times.
    return 100 * max(_seconds(member) for member in members)


def noise_level(
    null: PermutationNull | str | None, kept: SelectedData, groups: Any
) -> tuple[PermutationNull | None, str]:
    """What noise reaches, or a sentence why that cannot be found."""
    if null is None or isinstance(null, PermutationNull):
        return null, ""
    if null != "auto":
        raise ValueError(f'null must be a PermutationNull, "auto" or None, got {null!r}')
    has_scores = hasattr(kept.selector, "scores_") and len(kept.order)
    if not has_scores or not looks_at_target(kept.selector):  # shuffling would change nothing
        return None, ""
    unfitted = kept.unfitted()
    if not (asked := n_shuffles(unfitted, kept.X)):
        return None, ""
    how = {"n_repeats": asked, "max_seconds": 60.0, "groups": groups}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no p-value can be small: none is shown
        try:
            found = permutation_null(unfitted, kept.X, kept.y, **how)
        except ValueError as error:
            return None, f"The level of noise is not known: {ended(str(error))}"
    return (found if found.n_repeats == asked else None), ""
