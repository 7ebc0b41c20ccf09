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

from .._text import plural
from ..scoring.folds import error_over_splits
from ..scoring.scorers import Score
from ..scoring.statistics import LEVEL
from .guess import is_no_better

# p-value of the test against a guess above which a curve may well be that of noise. Measured with
# 60 samples: at 0.05 one_se loses 1.5 to 2.6 points against the highest mean where signals
# are weak, at 0.2 1.0 to 1.3, and keeps 2.1 and 4.8 features on average of 30 and 200 that are
# noise; at 1 these are 3.8 and 6.0.
NOISE_LEVEL = 0.2
# What "fewest" gives away at most: of a score up to 1; of what is not explained, an error or a log
# loss; and of the log loss of a guess, since 5 % of next to nothing are nothing. Measured on 50
# real sets and 13 planted kinds of tall tables: without the point of the score it loses 0.6 points
# more against the best number in hindsight, with twice the share 0.2; the last one costs 0.15
# points for seven features fewer.
POINT, SHARE, GUESS_SHARE = 0.01, 0.05, 0.03
NOTHING = 0.02  # of the log loss, however sure the folds are
NOTHING_OF_POINT = 0.2  # of what may be given away of the score
# Scores up to 1 that are shares of something explained, and may be far below it.
_EXPLAINED = ("r2", "deviance_explained", "explained_variance", "d2_absolute_error_score")


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
    losses : ndarray of shape (n_ks, n_splits) or None
        Log loss of what is said of the classes on every split, which sees more than hits; None
        where nothing is known but the score.
    guess_loss : float
        Log loss of a guess by the shares of the classes.
    """

    ks: np.ndarray
    scores: np.ndarray
    test_share: float = 0.25
    score: Score | None = None
    unit: str = "feature"
    guess: float | None = None
    p_value: float | None = None
    repeats: np.ndarray | None = None
    losses: np.ndarray | None = None
    guess_loss: float = 0.0

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
            **({} if self.losses is None else {"mean_test_loss": self.losses.mean(axis=1)}),
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

    @property
    def tolerance(self) -> float:
        """How much of the highest mean may be given away for fewer features.

        A point of accuracy, of an area or of the concordance; 5 % of what is not explained, or of
        an error. A score of a user's own, of which nothing is known, gives away nothing.
        """
        if self.score is None or not np.isfinite(self.score.most):
            return 0.0
        if self.score.most == 1.0 and self.score.name not in _EXPLAINED:
            return POINT
        return SHARE * abs(self.score.most - float(self.means[self.top]))

    @cached_property
    def enough(self) -> np.ndarray:
        """Which numbers are as good as the best: neither folds nor a reader can tell them apart.

        The score is behind the highest mean by no more than the corrected standard error of the
        paired differences and than the tolerance, a fifth of which is nothing; so is the log loss,
        where it is known, by no more than its error and 5 % of the least one, or 3 % of that of a
        guess where this is more; 2 % of the least one are nothing. Where predictions are not
        significantly better than a guess, the log loss alone is asked, or the score, and the error
        alone is the limit.
        """
        if self.is_no_better:
            return np.ones(len(self.ks), dtype=bool)
        error = error_over_splits(self.scores - self.scores[self.top], self.test_share)
        is_sure = self.p_value is None or self.p_value <= LEVEL
        limit = error
        if is_sure:
            limit = np.clip(error, NOTHING_OF_POINT * self.tolerance, self.tolerance)
        by_score = self.behind <= limit + self._rounding
        if self.losses is None:
            return np.asarray(by_score)
        means = self.losses.mean(axis=1)
        least = int(means.argmin())
        error = error_over_splits(self.losses - self.losses[least], self.test_share)
        if is_sure:
            tolerance = max(SHARE * means[least], GUESS_SHARE * self.guess_loss)
            error = np.maximum(np.minimum(error, tolerance), NOTHING * means[least])
        by_loss = means - means[least] <= error + 1e-10 * means[least]
        both = by_loss & by_score if is_sure else by_loss
        if not both.any():  # as many as either asks for
            both = np.arange(len(self.ks)) >= max(by_loss.argmax(), by_score.argmax())
        return np.asarray(both)


def fewest(curve: CountCurve) -> int:
    """Index of the fewest features that are as good as the best number, see ``enough``.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.rules import CountCurve, fewest
    >>> from sparsieve.scoring.scorers import one_score
    >>> scores = np.array([[0.5, 0.5], [0.88, 0.88], [0.87, 0.9]])
    >>> fewest(CountCurve(np.array([1, 8, 64]), scores, score=one_score("accuracy", None)))
    1
    """
    return int(curve.enough.argmax())


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
    """Index of the highest mean score, the fewest features among equals."""
    return curve.top


def one_se(curve: CountCurve) -> int:
    """Index of the fewest features that do as well as the highest mean, within one standard error.

    Where even that is no higher than the score of a guess, and may well be noise, these are the
    fewest that were tried.
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
    "fewest": fewest,
    "median": median,
    "one_se": one_se,
    "best": best,
    "elbow": elbow,
}


def in_force(curve: CountCurve, rule: str) -> str:
    """The rule itself; "one_se" where it stands in for the median, "none" if all are as good."""
    if rule == "median" and not curve.can_vote:
        rule = "one_se"
    return "none" if rule in ("one_se", "fewest") and curve.is_no_better else rule


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


@dataclass(frozen=True)
class Kept:
    """The number that is kept, and how good the model that ships is with it.

    Attributes
    ----------
    index : int
        Its place among the numbers that were tried.
    rule : str
    mean, error : float
        Mean gain over the folds, and its standard error.
    model : str
        In words.
    """

    index: int
    rule: str
    mean: float
    error: float
    model: str


def describe(curve: CountCurve, kept: Kept, warning: str = "", searching: str = "") -> str:
    """How many are kept, what the best number is, and how good the model is, in two sentences.

    A ``warning`` comes first. ``searching`` is the model that the curve is of, in words, where that
    is another one than the model that ships. Every score in the text is a mean over the splits.
    """
    n_splits, score = curve.scores.shape[1], curve.score
    title = "score" if score is None else score.title.removeprefix("mean ")
    k, top = curve.ks[kept.index], curve.ks[curve.top]
    scores = dict.fromkeys(format_score(curve, curve.values[i]) for i in (kept.index, curve.top))
    of_search = f"{title} {' and '.join(scores)} over {plural(n_splits, 'fold')}"
    is_other = searching not in ("", kept.model)
    if is_other:
        verb = "search" if searching.endswith("s") else "searches"
        of_search += f", by the {searching} that {verb}"
    value = kept.mean if score is None else score.turned(kept.mean)
    error = f"standard error {format_score(curve, kept.error)}" if n_splits > 1 else ""
    said = [warning, f"Kept: {plural(k, curve.unit)}, {_why(curve, kept, top)} ({of_search})."]
    if is_other:
        shipped = f"The {kept.model} on them: {title} {format_score(curve, value)}"
        said.append(f"{shipped} ({error})." if error else f"{shipped}.")
    elif error:
        said[1] = f"{said[1][:-2]}; {error})."
    return " ".join(filter(None, said))


def _why(curve: CountCurve, kept: Kept, top: int) -> str:
    """Why this number, in words that go on."""
    if len(curve.ks) == 1:
        return "the only number that was tried"
    if curve.is_no_better:
        return f"where a guess without {curve.unit}s is as good"
    if kept.index == curve.top:
        return "the best number that was tried"
    if kept.rule == "fewest" and kept.index > curve.top:
        return f"the fewest that tell the classes apart as well as any; {top:,} score best"
    if kept.rule == "fewest":
        return f"the fewest that are as good as {top:,}, the best number"
    return f"by the rule {kept.rule!r}; the best number is {top:,}"


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
    few = fewest(curve) if kept == curve.top else kept
    if (
        few >= curve.top
        or not (curve.enough[few] or curve.as_good[few])
        or curve.is_noise
        or curve.is_no_better
    ):
        return ""
    means = dict.fromkeys(format_score(curve, curve.values[index]) for index in (few, curve.top))
    verb = "does" if curve.ks[few] == 1 else "do"
    return (
        f"{plural(curve.ks[few], curve.unit)} {verb} as well as {curve.ks[curve.top]:,} "
        f"({' and '.join(means)})."
    )


def format_score(curve: CountCurve, value: float) -> str:
    """A score of this curve as it is printed: percent, three decimals, or digits if too few."""
    if curve.score is not None and curve.score.is_percent:
        return curve.score.shown(value)
    largest = float(np.abs(curve.means).max())
    return f"{value:z.3f}" if largest == 0 or 0.1 <= largest < 1000 else f"{value:.4g}"
