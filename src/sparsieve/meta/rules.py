"""Rules that choose a number of features from the scores of a cross-validation.

Everything that is printed of such a curve comes from here, and whatever is called a mean is the
mean over the folds: nothing is smoothed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._text import counted
from ..scoring.folds import error_over_splits
from ..scoring.scorers import Score

# A number of features is as good as the top when it is behind by no more than one standard error of
# the paired difference, and fewer features by no more than this share of what the curve rises.
SHARE_OF_RISE = 1 / 8
# More features count for "best" where a gain of this share of the rise is within one error.
MIN_POSSIBLE_GAIN = 0.01
# How far "best" goes from the fewest features that are as good towards the most, in logarithm: on
# average over data sets scores still rise there, which few samples cannot show.
TOWARDS_MORE = 0.9
_ROUNDING = 1e-10  # scores that differ by this share of their size are equal


@dataclass(frozen=True)
class CountCurve:
    """Scores over the number of features, and what chance has to do with them.

    Attributes
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features in increasing order.
    scores : ndarray of shape (n_ks, n_splits)
        Score on every split; larger is better.
    test_share : float
        Samples to test on per sample to train on, 1/4 for five folds.
    score : Score or None
        What was measured, for the text; errors are negative in ``scores`` and not in the text.
    unit : str
        What is counted, for the text: "feature" or "feature group".
    """

    ks: np.ndarray
    scores: np.ndarray
    test_share: float = 0.25
    score: Score | None = None
    unit: str = "feature"

    def __post_init__(self) -> None:
        if not np.isfinite(self.scores).all():
            raise ValueError(
                "some cross-validation scores are NaN or infinite; use fewer folds in cv or "
                "another scoring"
            )

    @cached_property
    def means(self) -> np.ndarray:
        """Mean score over the splits at every number."""
        return self.scores.mean(axis=1)

    @property
    def values(self) -> np.ndarray:
        """The means as a reader wants them."""
        return self.means if self.score is None else self.score.turned(self.means)

    @cached_property
    def standard_errors(self) -> np.ndarray:
        """Standard error of every mean score; 0 for a single split."""
        return error_over_splits(self.scores, self.test_share)

    @cached_property
    def _rounding(self) -> float:
        return _ROUNDING * float(np.abs(self.scores).max())

    @cached_property
    def top(self) -> int:
        """Index of the highest mean, the fewest features among equals."""
        return int(np.argmax(self.means >= self.means.max() - self._rounding))

    @cached_property
    def behind(self) -> np.ndarray:
        """How far every mean is behind the highest: the mean of the paired differences."""
        return (self.scores[self.top] - self.scores).mean(axis=1)

    @cached_property
    def errors(self) -> np.ndarray:
        """Standard error of these differences, from the same splits; 0 for a single split."""
        return error_over_splits(self.scores - self.scores[self.top], self.test_share)

    @cached_property
    def rise(self) -> float:
        """From the lowest mean to the highest."""
        return float(self.means[self.top] - self.means.min())

    def results(self, scores: np.ndarray | None = None) -> dict[str, Any]:
        """Scores as ``cv_results_`` of scikit-learn holds them.

        ``scores`` are those of all splits, where some that are NaN do not count.
        """
        means, shown = self.means, self.scores if scores is None else scores
        return {
            "param_k": self.ks.copy(),
            "params": [{"k": int(k)} for k in self.ks],
            **{f"split{i}_test_score": column for i, column in enumerate(shown.T)},
            "mean_test_score": means,
            "std_test_score": self.scores.std(axis=1),
            "rank_test_score": 1 + (means[None, :] > means[:, None] + 1e-12).sum(axis=1),
            "error_test_score": self.standard_errors,
        }

    @cached_property
    def plateau(self) -> tuple[int, int]:
        """First and last index of the numbers that are as good as the highest score.

        They are behind it by no more than one standard error of the paired differences, fewer
        features also by no more than an eighth of what the curve rises, and so are all between
        them and the top.
        """
        allowed = self.errors.copy()
        allowed[: self.top] = np.minimum(allowed[: self.top], SHARE_OF_RISE * self.rise)
        worse = np.flatnonzero(self.behind > allowed + self._rounding)
        first = int(worse[worse < self.top].max(initial=-1)) + 1
        last = int(worse[worse > self.top].min(initial=len(self.ks))) - 1
        return first, last

    @cached_property
    def candidates(self) -> list[int]:
        """Indices of the plateau that the folds leave something to say for.

        After the first each one may, within one standard error of their paired differences, gain
        1 % of the rise over the one before. Where the curve is saturated, its flat part is
        represented by its fewest features.
        """
        first, last = self.plateau
        found = [first]
        for index in range(first + 1, last + 1):
            gains = self.scores[index] - self.scores[found[-1]]
            possible = gains.mean() + error_over_splits(gains, self.test_share)
            if possible > MIN_POSSIBLE_GAIN * self.rise + self._rounding:
                found.append(index)
        return found


def best(curve: CountCurve) -> int:
    """Index of a number of features towards the most of those that are as good as the top.

    Where the top of a flat curve lies is a matter of chance; nine tenths of the way from the fewest
    to the most features that may gain something, in logarithm, is not, and lies on the side on
    which scores of other samples are higher on average.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.rules import CountCurve, best
    >>> ks = np.array([1, 5, 25, 125, 625])
    >>> means = np.array([0.5, 0.9, 0.91, 0.9, 0.5])
    >>> scores = means[:, None] + np.random.default_rng(0).normal(0.0, 0.05, (5, 20))
    >>> int(ks[best(CountCurve(ks, scores))])
    125
    """
    places = np.log(curve.ks[curve.candidates])
    aim = places[0] + TOWARDS_MORE * (places[-1] - places[0])
    return curve.candidates[int(np.argmin(np.round(np.abs(places - aim), 9)))]


def one_se(curve: CountCurve) -> int:
    """Index of the fewest features from which on all are as good as the highest score.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.rules import CountCurve, one_se
    >>> scores = np.array([[0.5, 0.5], [0.88, 0.89], [0.87, 0.92]])
    >>> one_se(CountCurve(np.array([1, 8, 64]), scores))
    1
    """
    return curve.plateau[0]


def elbow(curve: CountCurve) -> int:
    """Index where the curve rises most above the straight line from its start to its top.

    The curve is the running maximum of the mean scores, so that a dip is not taken for a bend.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.rules import CountCurve, elbow
    >>> elbow(CountCurve(np.array([1, 2, 3, 10]), np.array([[0.5], [0.8], [0.9], [0.95]])))
    2
    """
    ks, means, top = curve.ks, curve.means, curve.top
    if top == 0:
        return 0
    running = np.maximum.accumulate(means[: top + 1])
    share = (ks[: top + 1] - ks[0]) / (ks[top] - ks[0])
    above = running - (running[0] + share * (running[-1] - running[0]))
    return int(np.argmax(above >= above.max() - curve._rounding))


RULES: dict[str, Callable[[CountCurve], int]] = {"best": best, "one_se": one_se, "elbow": elbow}


def choices(curve: CountCurve, *, beats_guess: bool | None = None) -> dict[str, int]:
    """The index that every rule takes; ``beats_guess`` is None where that is not known."""
    chosen = {name: rule(curve) for name, rule in RULES.items()}
    if beats_guess is False:
        # A number well inside a range that chance drew is no number to keep features by.
        chosen["best"] = chosen["one_se"]
    return chosen


def describe(curve: CountCurve, chosen: dict[str, int], warning: str = "") -> str:
    """The curve in a few sentences; ``chosen`` holds the index that every rule takes.

    A ``warning`` comes first. Every score in the text is a mean over the splits.
    """
    n_splits = curve.scores.shape[1]
    title, end = ("score", "highest") if curve.score is None else curve.score.in_text
    error = f" (standard error {shown(curve, curve.standard_errors[curve.top])})"
    rules = ", ".join(f"{rule} {_at(curve, index)}" for rule, index in chosen.items())
    return f"{warning} " * bool(warning) + (
        f"The mean {title} over {counted(n_splits, 'fold')} is {end} with "
        f"{counted(curve.ks[curve.top], curve.unit)}: "
        f"{shown(curve, curve.values[curve.top])}{error * (n_splits > 1)}; {_as_good(curve)}. "
        f"Number of {curve.unit}s by rule: {rules}."
    )


def _at(curve: CountCurve, index: int) -> str:
    """A number of features and the mean score there."""
    return f"{curve.ks[index]:,} ({shown(curve, curve.values[index])})"


def _as_good(curve: CountCurve) -> str:
    first, last = curve.plateau
    if first == last:
        return "no other number that was tried is as good"
    ends = f"{_at(curve, first)} to {_at(curve, last)}"
    why = "within one standard error of the paired differences"
    if not curve.errors[first : last + 1].any():
        why = "with the same score on every fold"
    return f"any number from {ends} {curve.unit}s is as good, {why}"


def shown(curve: CountCurve, value: float) -> str:
    """A score of this curve as it is printed: three decimals, or digits where these are too few."""
    largest = float(np.abs(curve.means).max())
    return f"{value:z.3f}" if largest == 0 or 0.1 <= largest < 1000 else f"{value:.4g}"
