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
from ..scoring.statistics import LEVEL
from .guess import is_no_better

# p-value of the test against a guess above which a curve may well be that of noise. Measured with
# 60 samples: at 0.05 one_se loses 1.5 to 2.6 points against the highest mean where signals
# are weak, at 0.2 1.0 to 1.3, and keeps 2.1 and 4.8 features on average of 30 and 200 that are
# noise; at 1 these are 3.8 and 6.0.
NOISE_LEVEL = 0.2


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
    guess : float or None
        Score of a guess without features; None if that is not known.
    p_value : float or None
        Of the test against a guess; None if that is not known.
    repeats : ndarray of shape (n_splits,) or None
        Which repeat of the folds every split belongs to; None if there is one.
    """

    ks: np.ndarray
    scores: np.ndarray
    test_share: float = 0.25
    score: Score | None = None
    unit: str = "feature"
    guess: float | None = None
    p_value: float | None = None
    repeats: np.ndarray | None = None

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
        # Scores that differ by this share of their size are equal.
        return 1e-10 * float(np.abs(self.scores).max())

    @cached_property
    def top(self) -> int:
        """Index of the highest mean, the fewest features among equals."""
        return self._highest(self.means)

    def _highest(self, means: np.ndarray) -> int:
        return int(np.argmax(means >= means.max() - self._rounding))

    @cached_property
    def tops(self) -> list[int]:
        """That of every repeat of the folds, in rising order."""
        if self.repeats is None:
            return [self.top]
        parts = [self.scores[:, self.repeats == repeat] for repeat in np.unique(self.repeats)]
        return sorted(self._highest(part.mean(axis=1)) for part in parts)

    @cached_property
    def behind(self) -> np.ndarray:
        """How far every mean is behind the highest: the mean of the paired differences."""
        return (self.scores[self.top] - self.scores).mean(axis=1)

    @cached_property
    def errors(self) -> np.ndarray:
        """Standard error of these differences over the splits; 0 for a single split.

        Of noise the highest mean is the luckiest of many equals: then the error is the wider one
        that allows for training parts that overlap.
        """
        share = self.test_share if self.is_noise else 0.0
        return error_over_splits(self.scores - self.scores[self.top], share)

    @cached_property
    def is_no_better(self) -> bool:
        """Whether even the highest mean is no higher than that of a guess, and may well be noise.

        A rare class may be well predicted, as the test then says, and never be guessed; and models
        of few samples may follow a number too far, so that R squared is below 0.
        """
        if self.guess is None or (self.p_value is not None and self.p_value <= LEVEL):
            return False
        return is_no_better(float(self.means[self.top]), self.guess)

    @property
    def can_vote(self) -> bool:
        """Whether the repeats can say which number is best: there are some, and it is no luck."""
        return len(self.tops) > 1 and not self.is_noise and not self.is_no_better

    @property
    def is_noise(self) -> bool:
        """Whether hardly anything speaks for predictions that are better than a guess."""
        return self.p_value is not None and self.p_value > NOISE_LEVEL

    def results(self, scores: np.ndarray | None = None) -> dict[str, Any]:
        """Scores as ``cv_results_`` of scikit-learn holds them.

        ``scores`` are those of all splits, where some that are NaN do not count.
        """
        means, shown = self.means, self.scores if scores is None else scores
        return {
            "param_k": self.ks.copy(),
            "n_features": self.ks.copy(),
            "params": [{"k": int(k)} for k in self.ks],
            **{f"split{i}_test_score": column for i, column in enumerate(shown.T)},
            "mean_test_score": means,
            "std_test_score": self.scores.std(axis=1),
            "rank_test_score": 1 + (means[None, :] > means[:, None] + 1e-12).sum(axis=1),
            "error_test_score": self.standard_errors,
        }

    @cached_property
    def as_good(self) -> np.ndarray:
        """Which numbers are as good as the one with the highest mean; some between may not be.

        They are behind it by no more than one standard error of the paired differences. Where even
        the highest mean is no higher than that of a guess, and the test is not passed, no feature
        at all does as well: then every number is as good.
        """
        if self.is_no_better:
            return np.ones(len(self.ks), dtype=bool)
        return np.asarray(self.behind <= self.errors + self._rounding)

    @cached_property
    def plateau(self) -> tuple[int, int]:
        """Index of the fewest and of the most features that are as good as the highest mean."""
        as_good = np.flatnonzero(self.as_good)
        return int(as_good[0]), int(as_good[-1])


def median(curve: CountCurve) -> int:
    """Index of the median of the numbers that the repeats of the folds find best.

    It is the lower one of two in the middle: in half of the repeats no more features score higher.
    It is never above the number with the highest mean: more features with a lower score have
    nothing to say for them. One repeat cannot say how far to trust its number, and of noise every
    number is a matter of luck: there it is that of :func:`one_se`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.rules import CountCurve, median
    >>> scores = np.array([[0.5, 0.5, 0.5], [0.8, 0.9, 0.8], [0.9, 0.8, 0.9], [0.8, 0.8, 0.95]])
    >>> median(CountCurve(np.array([1, 2, 4, 8]), scores, repeats=np.array([0, 1, 2])))
    2
    """
    if not curve.can_vote:
        return one_se(curve)
    return min(curve.tops[(len(curve.tops) - 1) // 2], curve.top)


def best(curve: CountCurve) -> int:
    """Index of the highest mean score, the fewest features among equals.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.rules import CountCurve, best
    >>> scores = np.array([[0.5, 0.5], [0.88, 0.89], [0.87, 0.92], [0.9, 0.89]])
    >>> best(CountCurve(np.array([1, 8, 64, 100]), scores))
    2
    """
    return curve.top


def one_se(curve: CountCurve) -> int:
    """Index of the fewest features that do as well as the highest mean, within one standard error.

    Where even that is no higher than the score of a guess, and may well be noise, these are the
    fewest that were tried.

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


# The first is the default.
RULES: dict[str, Callable[[CountCurve], int]] = {
    "median": median,
    "one_se": one_se,
    "best": best,
    "elbow": elbow,
}


def in_force(curve: CountCurve, rule: str) -> str:
    """The rule itself; "one_se" where it stands in for the median, "fewest" if all are as good."""
    if rule == "median" and not curve.can_vote:
        rule = "one_se"
    return "fewest" if rule == "one_se" and curve.is_no_better else rule


def not_the_median(curve: CountCurve) -> str:
    """Why the median has the number of another rule, where it has, as a sentence to append.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.rules import CountCurve, not_the_median
    >>> not_the_median(CountCurve(np.array([1, 8]), np.array([[0.5, 0.6], [0.8, 0.7]])))
    " The folds were drawn once, so 'median' is 'one_se'."
    """
    if curve.can_vote:
        return ""
    why = "The folds were drawn once"
    if curve.is_noise or curve.is_no_better:
        why = "Little or nothing speaks for better predictions than a guess"
    return f" {why}, so 'median' is 'one_se'."


def choices(curve: CountCurve) -> dict[str, int]:
    """The index that every rule takes."""
    return {name: rule(curve) for name, rule in RULES.items()}


def describe(
    curve: CountCurve, chosen: dict[str, int], warning: str = "", rule: str = "median"
) -> str:
    """The curve in a few sentences; ``chosen`` holds the index that every rule takes.

    A ``warning`` comes first, and then the number of the ``rule`` that was asked for. Every score
    in the text is a mean over the splits.
    """
    n_splits = curve.scores.shape[1]
    score = curve.score
    title, end = ("score", "highest") if score is None else (score.title, score.best)
    error = f" (standard error {shown(curve, curve.standard_errors[curve.top])})"
    rules = ", ".join(f"{rule} {_at(curve, index)}" for rule, index in chosen.items())
    said = [
        warning,
        as_well(curve, chosen[rule]),
        f"The mean {title.removeprefix('mean ')} over {counted(n_splits, 'fold')} is {end} with "
        f"{counted(curve.ks[curve.top], curve.unit)}: "
        f"{shown(curve, curve.values[curve.top])}{error * (n_splits > 1)}; {_as_good(curve)}.",
        f"Number of {curve.unit}s by rule: {rules}.",
    ]
    return " ".join(filter(None, said))


def as_well(curve: CountCurve, kept: int) -> str:
    """That fewer features do as well as the highest mean, where they do.

    These are those of the index that is kept, and those of the default where it is the highest mean
    that is kept. Nothing where that mean may be noise: then nothing does well.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.rules import CountCurve, as_well
    >>> scores = np.array([[0.5, 0.5], [0.88, 0.89], [0.87, 0.92]])
    >>> as_well(CountCurve(np.array([1, 8, 64]), scores), 1)
    '8 features do as well as 64 (0.885 and 0.895).'
    """
    few = median(curve) if kept == curve.top else kept
    if few >= curve.top or not curve.as_good[few] or curve.is_noise or curve.is_no_better:
        return ""
    means = dict.fromkeys(shown(curve, curve.values[index]) for index in (few, curve.top))
    verb = "does" if curve.ks[few] == 1 else "do"
    return (
        f"{counted(curve.ks[few], curve.unit)} {verb} as well as {curve.ks[curve.top]:,} "
        f"({' and '.join(means)})."
    )


def _at(curve: CountCurve, index: int) -> str:
    """A number of features and the mean score there."""
    return f"{curve.ks[index]:,} ({shown(curve, curve.values[index])})"


def _as_good(curve: CountCurve) -> str:
    first, last = curve.plateau
    if curve.is_no_better:
        return f"a guess without {curve.unit}s is as good, and so are all numbers that were tried"
    if first == last and curve.scores.shape[1] == 1:
        return "one fold cannot say which other numbers are as good"
    if first == last:
        return "no other number that was tried is as good"
    why = "within one standard error of the paired differences"
    if not curve.errors[first : last + 1].any():
        why = "with the same score on every fold"
    fewest, most = _at(curve, first), _at(curve, last)
    return f"the fewest {curve.unit}s that are as good are {fewest}, the most {most}, {why}"


def shown(curve: CountCurve, value: float) -> str:
    """A score of this curve as it is printed: percent, three decimals, or digits if too few."""
    if curve.score is not None and curve.score.is_percent:
        return curve.score.shown(value)
    largest = float(np.abs(curve.means).max())
    return f"{value:z.3f}" if largest == 0 or 0.1 <= largest < 1000 else f"{value:.4g}"
