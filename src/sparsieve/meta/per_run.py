"""Features per run, threshold and expected false positives: two of them determine the third."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

DEFAULT_THRESHOLD = 0.75


@dataclass(frozen=True)
class Halving:
    """What the settings of stability selection depend on.

    Attributes
    ----------
    bound : callable
        ``bound(q, p, threshold, n_pairs)``, one of :data:`~sparsieve.meta.error_bounds.BOUNDS`.
    n_open : int
        Features, or groups of them, that may be selected: p.
    n_pairs : int
        Pairs of halves.
    unit : str
        What is selected, for messages: "feature" or "feature group".
    """

    bound: Callable[..., float]
    n_open: int
    n_pairs: int
    unit: str

    def settings(
        self, q: int | None, threshold: float | None, allowed: float | None
    ) -> tuple[int, float]:
        """(features per run, threshold) from what was given; ``allowed`` are false positives.

        Examples
        --------
        >>> from sparsieve.meta.error_bounds import BOUNDS
        >>> from sparsieve.meta.per_run import Halving
        >>> Halving(BOUNDS["worst_case"], 1000, 50, "feature").settings(None, None, 0.2)
        (10, 0.75)
        """
        p, unit = self.n_open, self.unit
        if q is not None:
            if q > p:
                raise ValueError(
                    f"n_features_per_run={q} is larger than the {p} {unit}s of X; pass at most {p}"
                )
            if threshold is not None or allowed is None:
                return int(q), threshold or DEFAULT_THRESHOLD
            return int(q), self._smallest_threshold(q, allowed)
        threshold = threshold or DEFAULT_THRESHOLD
        limit = 1.0 if allowed is None else allowed
        # A single feature per run is the least there is.
        q = _largest(lambda q: self._bound(q, threshold) <= limit, p)
        if q == 0 and allowed is not None:
            raise ValueError(
                f"expected_false_positives={allowed} cannot be guaranteed at threshold "
                f"{threshold:.3g} with {p} {unit}s: even one {unit} per run gives a bound of "
                f"{self._bound(1, threshold):.3g}; increase one of them"
            )
        return max(q, 1), threshold

    def _bound(self, q: int, threshold: float) -> float:
        return self.bound(q, self.n_open, threshold, self.n_pairs)

    def _smallest_threshold(self, q: int, allowed: float) -> float:
        # Shares of runs are multiples of 1 / (2 n_pairs); count from 1 downwards.
        def threshold(steps):
            return 1 - steps / (2 * self.n_pairs)

        if self._bound(q, 1.0) > allowed:
            raise ValueError(
                f"expected_false_positives={allowed} cannot be guaranteed with {q} {self.unit}s "
                f"per run out of {self.n_open}: even a threshold of 1 gives a bound of "
                f"{self._bound(q, 1.0):.3g}; lower n_features_per_run"
            )
        last = self.n_pairs - 1
        return threshold(_largest(lambda s: self._bound(q, threshold(s)) <= allowed, last))


def _largest(holds: Callable[[int], bool], upper: int) -> int:
    """Largest of 0, ..., upper for which ``holds``, given that it holds up to some point."""
    return bisect_left(range(1, upper + 1), True, key=lambda number: not holds(number))
