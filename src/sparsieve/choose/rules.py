"""Rules that choose a number of features from the scores of a cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._cross_validation import error_over_splits

# Numbers of features count as neighbours when their logarithms differ by about this much.
BANDWIDTH = 0.8
# A number is as good as the best when it gives away no more than this share of the score, and
# no more than a standard error of the difference.
AS_GOOD = 0.04
DECIMALS = 9  # scores that differ by rounding are equal


@dataclass(frozen=True)
class CountCurve:
    """Scores over the number of features, and what chance has to do with them.

    Attributes
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features in increasing order.
    scores : ndarray of shape (n_ks, n_splits)
        Score on every split.
    test_share : float
        Samples to test on per sample to train on, 1/4 for five folds.
    """

    ks: np.ndarray
    scores: np.ndarray
    test_share: float = 0.25

    @cached_property
    def means(self) -> np.ndarray:
        """Mean score at every number."""
        return np.round(self.scores.mean(axis=1), 12)

    @cached_property
    def smooth(self) -> np.ndarray:
        """The curve with chance smoothed out: local lines over log k.

        Every point is the value of a line through its neighbours, each with the weight that its
        variance over the splits deserves.
        """
        variances = self.scores.var(axis=1)
        # A tenth of the mean: scores that happen to agree on all splits are not certain.
        variances = variances + 0.1 * variances.mean()
        if not variances.all():
            variances = np.ones(len(self.ks))
        x = np.log(self.ks)
        weights = np.exp(-0.5 * ((x[:, None] - x) / BANDWIDTH) ** 2) / variances
        weights /= weights.sum(axis=1, keepdims=True)
        centre, level = weights @ x, weights @ self.means
        spread = weights * (x - centre[:, None])
        square = (spread * x).sum(axis=1)
        slope = np.divide(
            spread @ self.means, square, out=np.zeros_like(square), where=square > 1e-12
        )
        return np.round(level + slope * (x - centre), DECIMALS)

    @cached_property
    def top(self) -> int:
        """Index of the highest point of the smooth curve, the largest number among equals."""
        return int(np.flatnonzero(self.smooth == self.smooth.max())[-1])

    @cached_property
    def errors(self) -> np.ndarray:
        """Standard error of the difference to the top, from the same splits."""
        return error_over_splits(self.scores - self.scores[self.top], self.test_share)

    @cached_property
    def standard_errors(self) -> np.ndarray:
        """Standard error of every mean score."""
        return error_over_splits(self.scores, self.test_share)

    @cached_property
    def plateau(self) -> tuple[int, int]:
        """First and last index of the numbers that are as good as the top.

        They give away no more than 4 % of the score and no more than one standard error of the
        difference, and so do all between them and the top.
        """
        return self.around(np.minimum(AS_GOOD * abs(self.smooth[self.top]), self.errors))

    @cached_property
    def as_good(self) -> tuple[int, int]:
        """The plateau and what scores the same as the top on every split, beside it.

        For the reader: a rule that took it for the plateau kept fewer features and lost 0.2
        points of accuracy on data held out.
        """
        first, last = self.plateau
        equal = (self.scores == self.scores[self.top]).all(axis=1)
        while first > 0 and equal[first - 1]:
            first -= 1
        while last < len(self.ks) - 1 and equal[last + 1]:
            last += 1
        return first, last

    def around(self, tolerance: np.ndarray | float) -> tuple[int, int]:
        """First and last index of the numbers around the top that give away no more than this."""
        missing = self.smooth[self.top] - self.smooth > tolerance + 10.0**-DECIMALS
        below, above = np.flatnonzero(missing[: self.top]), np.flatnonzero(missing[self.top :])
        first = below[-1] + 1 if len(below) else 0
        last = self.top + above[0] - 1 if len(above) else len(self.ks) - 1
        return int(first), int(last)


def best(curve: CountCurve) -> int:
    """Index of the middle of the plateau around the highest score.

    Where the top of a flat curve lies is a matter of chance; its middle (in logarithm) is not.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.choose.rules import CountCurve, best
    >>> ks = np.array([1, 5, 25, 125, 625])
    >>> means = np.array([0.5, 0.9, 0.91, 0.9, 0.5])
    >>> scores = means[:, None] + np.random.default_rng(0).normal(0.0, 0.05, (5, 20))
    >>> int(ks[best(CountCurve(ks, scores))])
    25
    """
    first, last = curve.plateau
    middle = (np.log(curve.ks[first]) + np.log(curve.ks[last])) / 2
    inside = np.abs(np.log(curve.ks[first : last + 1]) - middle)
    nearest = np.flatnonzero(np.round(inside, DECIMALS) == np.round(inside.min(), DECIMALS))
    return int(first + nearest[-1])


def one_se(curve: CountCurve) -> int:
    """Index of the smallest number from which on scores are within a standard error of the top.

    The standard error is that of the highest score.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.choose.rules import CountCurve, one_se
    >>> scores = np.array([[0.5, 0.5], [0.7, 0.8], [0.7, 0.9]])
    >>> one_se(CountCurve(np.array([1, 8, 64]), scores))
    1
    """
    return curve.around(float(curve.standard_errors[curve.top]))[0]


def elbow(curve: CountCurve) -> int:
    """Index where the curve rises most above the straight line from its start to its top.

    The curve is the running maximum of the mean scores, so that a dip is not taken for a bend.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.choose.rules import CountCurve, elbow
    >>> elbow(CountCurve(np.array([1, 2, 3, 10]), np.array([[0.5], [0.8], [0.9], [0.95]])))
    2
    """
    ks, means = curve.ks, curve.means
    top = int(np.argmax(means))
    if top == 0:
        return 0
    running = np.maximum.accumulate(means[: top + 1])
    share = (ks[: top + 1] - ks[0]) / (ks[top] - ks[0])
    above = running - (running[0] + share * (running[-1] - running[0]))
    return int(np.argmax(np.round(above, 12)))


RULES: dict[str, Callable[[CountCurve], int]] = {"best": best, "one_se": one_se, "elbow": elbow}


def describe(curve: CountCurve, chosen: dict[str, int], guess: float | None = None) -> str:
    """The curve in a few sentences; ``chosen`` holds the indices of "best" and "one_se".

    ``guess`` is the score without any feature, where it is known.
    """
    ks, smooth = curve.ks, curve.smooth
    first, last = (int(ks[i]) for i in curve.as_good)
    top, error = smooth[curve.top], curve.standard_errors[curve.top]
    flat = (
        f"anything from {first} to {last} features is as good"
        if first < last
        else "no other number tried is as good"
    )
    best_k, small_k = int(ks[chosen["best"]]), int(ks[chosen["one_se"]])
    middle = "" if best_k == ks[curve.top] else ", about the middle of these"
    warning = f"{nothing_found(guess)} " if guess is not None and no_better(curve, guess) else ""
    return warning + (
        f"The mean score is highest, {top:.3f} (standard error {error:.3f}), at {ks[curve.top]} "
        f"features; {flat}. Best: {best_k} features with {smooth[chosen['best']]:.3f}{middle}. "
        f"Smallest adequate: {small_k} with {smooth[chosen['one_se']]:.3f}, within one standard "
        f"error of the highest."
    )


def no_better(curve: CountCurve, guess: float) -> bool:
    """Whether no number of features scores clearly (two standard errors) above a guess."""
    return bool(curve.smooth[curve.top] - guess < 2 * curve.standard_errors[curve.top])


def nothing_found(guess: float) -> str:
    """What to tell the user then."""
    return (
        f"No number of features predicts clearly better than a guess without features "
        f"({guess:.3f}): there may be nothing to find."
    )
