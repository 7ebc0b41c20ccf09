"""What a comparison finds: which methods differ, which features they agree on, what to do."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from ..._text import format_p_value, listed_names, plural
from ...meta.guess import LINEAR, GuessTest, TestedModel, is_no_better
from ...scoring.scorers import Score
from ...scoring.stability import MethodComparison, SplitDifference
from ...scoring.statistics import LEVEL, holm
from ..report.wording import duration

if TYPE_CHECKING:
    from .result import Comparison


def consensus_columns(
    chosen: Mapping[str, np.ndarray],
    in_splits: Mapping[str, Sequence[np.ndarray]],
    rankings: Mapping[str, np.ndarray],
    names: np.ndarray,
) -> dict[str, np.ndarray]:
    """Every feature that any fit chose: by how many methods, in which share of the fits.

    Parameters
    ----------
    chosen : dict of str to array of int
        Features that each method chose on all samples.
    in_splits : dict of str to list of arrays of int
        What it chose on the training part of every split.
    rankings : dict of str to array
        Its ranking on all samples, 1 for the best.
    names : array of str
        Of all features.

    Returns
    -------
    columns : dict of arrays
        rank, feature, methods (how many chose it on all samples), share (of the fits on training
        parts, of all methods together, that chose it), median_rank, chosen_by, and the share of
        every method's fits as ``share_<method>``; by methods, then share, then median rank.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.app.comparison.verdict import consensus_columns
    >>> found = consensus_columns(
    ...     {"a": np.array([0, 1]), "b": np.array([1, 2])},
    ...     {"a": [np.array([0, 1])] * 2, "b": [np.array([1, 2]), np.array([1, 0])]},
    ...     {"a": np.array([1, 2, 3]), "b": np.array([3, 1, 2])},
    ...     np.array(["x", "y", "z"], dtype=object),
    ... )
    >>> found["feature"].tolist(), found["methods"].tolist(), found["share"].tolist()
    (['y', 'x', 'z'], [2, 1, 1], [1.0, 0.75, 0.25])
    """
    n_features = len(names)
    votes = np.zeros(n_features, dtype=np.int64)
    shares = {}
    for method, features in chosen.items():
        votes[features] += 1
        counts = np.bincount(np.concatenate(list(in_splits[method])), minlength=n_features)
        shares[method] = counts / len(in_splits[method])
    share = np.mean(list(shares.values()), axis=0)
    median_rank = np.median(list(rankings.values()), axis=0)
    order = np.lexsort((np.arange(n_features), median_rank, -np.round(share, 12), -votes))
    order = order[(votes[order] > 0) | (share[order] > 0)]
    who = [[m for m, features in chosen.items() if j in set(features.tolist())] for j in order]
    return {
        "rank": np.arange(1, len(order) + 1),
        "feature": names[order],
        "methods": votes[order],
        "share": share[order],
        "median_rank": median_rank[order],
        "chosen_by": np.array([", ".join(methods) for methods in who], dtype=object),
        **{f"share_{method}": values[order] for method, values in shares.items()},
    }


def count_combinations(chosen: Mapping[str, np.ndarray]) -> list[tuple[tuple[str, ...], list[int]]]:
    """Features by exactly who chose them: most features first, then most methods.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.app.comparison.verdict import count_combinations
    >>> count_combinations({"a": np.array([0, 1]), "b": np.array([1, 2]), "c": np.array([0, 1, 2])})
    [(('a', 'b', 'c'), [1]), (('a', 'c'), [0]), (('b', 'c'), [2])]
    """
    who: dict[int, list[str]] = defaultdict(list)
    for method, features in chosen.items():
        for feature in features.tolist():
            who[feature].append(method)
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for feature in sorted(who):
        found[tuple(who[feature])].append(feature)
    return sorted(found.items(), key=lambda item: (-len(item[1]), -len(item[0]), item[1]))


def rank_correlations(rankings: Mapping[str, np.ndarray]) -> np.ndarray:
    """Spearman's correlation of every two rankings over all features; NaN for one feature."""
    table = np.array(list(rankings.values()), dtype=np.float64)
    if table.shape[1] < 2:
        return np.full((len(table), len(table)), np.nan)
    return np.atleast_2d(np.corrcoef(rankdata(table, axis=1)))


def shared_counts(chosen: Mapping[str, np.ndarray]) -> np.ndarray:
    """How many features every two methods have in common."""
    sets = [set(features.tolist()) for features in chosen.values()]
    return np.array([[len(a & b) for b in sets] for a in sets], dtype=np.int64)


@dataclass(frozen=True)
class Peak:
    """The highest mean score of a method over all numbers of features.

    Attributes
    ----------
    method : str
    k : int
        The fewest features that have it.
    mean : float
        In the units of the score.
    """

    method: str
    k: int
    mean: float


@dataclass(frozen=True)
class Verdict(MethodComparison):
    """What the scores on the same splits allow to say at one number of features.

    Attributes
    ----------
    means, behind, margins, separable
        See :class:`~sparsieve.scoring.stability.MethodComparison`.
    score : Score
        What was measured; ``means`` and ``guess`` are its values, where errors are positive.
    k : int
    guess : float
        Mean score without any feature.
    over_guess : dict of str to SplitDifference
        How much higher every method scores than that.
    guess_tests : dict of str to GuessTest
        Whether that is more than chance; no choice of k enters them.
    unit : str
        What k counts.
    peak : Peak or None
        The highest mean of all, where another number of features than k does visibly better.
    tested : TestedModel
        What predicted.
    """

    score: Score
    k: int
    guess: float
    over_guess: dict[str, SplitDifference]
    guess_tests: dict[str, GuessTest]
    unit: str = "feature"
    peak: Peak | None = None
    tested: TestedModel = LINEAR

    @cached_property
    def guess_p_values(self) -> dict[str, float]:
        """P-values of ``guess_tests``, by Holm's correction for all methods."""
        corrected = holm([self.guess_tests[name].p_value for name in self.means])
        return dict(zip(self.means, corrected, strict=True))

    @property
    def predictive(self) -> list[str]:
        """Methods that predict significantly better than guessing."""
        return [
            name
            for name, mean in self.means.items()
            if self.guess_p_values[name] <= LEVEL
            and (self.guess_tests[name].by or not self._is_worse(mean))
        ]

    def _is_worse(self, mean: float) -> bool:
        """Whether a mean is no better than a guess, as far as that is known."""
        return is_no_better(float(self.score.turned(mean)), float(self.score.turned(self.guess)))

    def _not_in_labels(self) -> list[str]:
        """That the best is better than a guess, although the score cannot show it."""
        if not self._is_worse(self.means[self.best]):
            return []
        p_value = format_p_value(self.guess_p_values[self.best])
        return [
            f"A guess without features has the same {self.score.title} or a better one "
            f"({self.score.shown(self.guess)}); that features tell the classes apart was tested by "
            f"the {self.guess_tests[self.best].by} ({p_value}, corrected). Compare by roc_auc or "
            "balanced_accuracy."
        ]

    @property
    def level_with_best(self) -> list[str]:
        """The best and all methods that are not significantly worse."""
        return [name for name in self.means if name not in self.separable]

    @property
    def leaders(self) -> list[str]:
        """The best and all methods with exactly its score."""
        top = self.means[self.best]
        return [name for name, mean in self.means.items() if abs(mean - top) < 1e-12]

    def interval(self, name: str) -> str:
        """Of the difference to the best; empty where there is a single split."""
        mean, margin = self.behind[name].mean, self.margins[name]
        if not math.isfinite(margin):
            return ""
        return f"{self.score.number(mean - margin)} to {self.score.number(mean + margin)}"

    def describe_method(self, name: str) -> str:
        """One method in a few words."""
        is_lower, worse = name in self.separable, self.score.worse
        if name not in self.predictive:
            return f"significantly {worse}; " * is_lower + "no better than a guess"
        if name == self.best:
            return "best" if len(self.means) > 1 else "better than a guess"
        return (
            f"{'' if is_lower else 'not '}significantly {worse} "
            f"({format_p_value(self.p_values[name])})"
        )

    def sentences(self) -> list[str]:
        """What can be said; the first one is the answer."""
        if not self.predictive:
            return self._describe_failure()
        title, shown = self.score.title, self.score.shown
        peak, using = self.peak, f"Using {plural(self.k, self.unit)}"
        if peak is not None and peak.method not in self.predictive:
            peak = None
        if peak is not None:
            using = (
                f"{peak.method} had the {self.score.best} {title} ({shown(peak.mean)} with "
                f"{plural(peak.k, self.unit)}); using {plural(self.k, self.unit)}"
            )
        top, leaders = shown(self.means[self.best]), self.leaders
        others = [name for name in self.level_with_best if name not in leaders]
        lower = self.separable
        if len(self.means) == 1:
            answer = f"{using}, {self.best} reached {_a(title)} {title} of {top}"
        elif len(leaders) == len(self.means):
            every = "both methods" if len(leaders) == 2 else f"all {len(leaders)} methods"
            answer = f"{using}, {every} had the same {title} ({top})"
        else:
            verb = "shared" if len(leaders) > 1 else "had"
            who = listed_names(leaders)
            if peak is not None and leaders == [peak.method]:
                who = "it again"
            answer = f"{using}, {who} {verb} the {self.score.best} {title} ({top})"
        if lower and not others:
            worst = max(self.p_values[name] for name in lower)
            which = "every other method" if len(lower) > 1 else lower[0]
            answer += (
                f", significantly {self.score.better} than {which} "
                f"({format_p_value(worst)}, corrected)"
            )
        elif others and not lower:
            answer += f", but no other method scored significantly {self.score.worse}"
        elif others:
            named = [f"{name} ({shown(self.means[name])})" for name in others]
            answer += f", not significantly {self.score.better} than {listed_names(named)}"
        said = [f"{answer}.", *self._not_in_labels()]
        if lower:
            said.append(f"{listed_names([self._lower(name) for name in lower])}.")
        blind = [name for name in self.means if name not in self.predictive]
        if blind:
            verb = "is" if len(blind) == 1 else "are"
            said.append(
                f"{listed_names(blind)} {verb} not significantly better than a guess without "
                "features."
            )
        return said

    def _lower(self, name: str) -> str:
        size, p_value = (
            self.score.number(self.behind[name].mean),
            format_p_value(self.p_values[name]),
        )
        unit = (" point" if size == "1.0" else " points") * self.score.is_percent
        return (
            f"{name} scored {size}{unit} {self.score.worse} (95 % interval {self.interval(name)}; "
            f"{p_value}, corrected)"
        )

    def _describe_failure(self) -> list[str]:
        title, shown, best = self.score.title, self.score.shown, self.best
        n_methods, test = len(self.means), self.guess_tests[best]
        who = f"{best} did not predict" if n_methods == 1 else f"None of the {n_methods} methods"
        verb = "" if n_methods == 1 else " predicted"
        highest = "it" if n_methods == 1 else f"the best, {best},"
        return [
            f"{who}{verb} significantly better than a guess without features ({title} "
            f"{shown(self.guess)}): using {plural(self.k, self.unit)}, {highest} scored "
            f"{shown(self.means[best])} ({format_p_value(self.guess_p_values[best])}, corrected).",
            f"Predictions are those of {self.tested.words}. {self.tested.beyond}."
            if test.enough
            else f"{test.units_phrase} are too few to tell.",
        ]


def _a(noun: str) -> str:
    return "an" if noun[0] in "aeiouR" else "a"


def recommendation(found: Comparison) -> str:
    """Which methods to prefer and how sure that is; names no winner within the error."""
    verdict = found.verdict
    said = verdict.sentences()
    said += [one for one in [optimism(found)] if one]
    level = [name for name in verdict.level_with_best if name in verdict.predictive]
    if len(level) > 1:
        parts = [part for part in (_fastest(found, level), _steadiest(found, level)) if part]
        among = "Among the methods that are not significantly lower, " * bool(verdict.separable)
        said += [f"{among}{', and '.join(parts)}."] * bool(parts)
    if verdict.predictive and found.all_features is not None:
        every = float(found.all_features[found.metric].mean())
        n_features = len(found.data.names)
        which = "both features" if n_features == 2 else f"all {n_features:,} features"
        said.append(f"Using {which}, the same model scores {found.score.shown(every)}.")
    for name, reason in found.left_out.items():
        said.append(f"{name} was left out: {reason.rstrip('.')}.")
    return " ".join(said)


def optimism(found: Comparison) -> str:
    """By how much the score of the best method is too good; empty where it is not, or not known."""
    verdict, score, alone = found.verdict, found.score, found.score_of_choosing
    if alone is None or not verdict.predictive:
        return ""
    top = verdict.means[verdict.best]
    is_lower = float(score.turned(alone)) < float(score.turned(top))
    if not is_lower or score.shown(alone) == score.shown(top):
        return ""
    return (
        f"That is a little too good, because the best of {len(verdict.means)} methods was chosen "
        f"by it: the method that is best on the other folds scores {score.shown(alone)}."
    )


def _fastest(found: Comparison, level: list[str]) -> str:
    """Which method is the fastest, where the next one takes visibly longer."""
    first, second, *_ = sorted(level, key=lambda name: found.methods[name].seconds)
    took, next_took = (found.methods[name].seconds for name in (first, second))
    if next_took - took < 1.0 or next_took < 1.5 * took:
        return ""
    return (
        f"{first} is the fastest ({duration(took)} per fit; {second} takes {duration(next_took)})"
    )


def _steadiest(found: Comparison, level: list[str]) -> str:
    """Whose choices repeat most from split to split, where that can be told."""
    known = {name: found.stabilities[name] for name in level}
    known = {name: one for name, one in known.items() if np.isfinite(one.value)}
    top = max(known.values(), default=None)
    steady = [name for name, one in known.items() if top and one.value >= top.low]
    if top is None or len(steady) == len(level):
        return ""
    return (
        f"{listed_names(steady)} chose the most stable {found.data.unit}s (stability "
        f"{top.value:.2f}, 95 % interval {top.low:.2f} to {min(top.high, 1.0):.2f})"
    )


# How a rule chooses the number at which methods are compared.
CHOSEN = {
    "fewest": "the fewest that are as good as the best number",
    "median": "the median of the numbers with the best mean in each repeat of the folds",
    "one_se": "the fewest that do as well as the best mean within one standard error",
    "none": "the fewest that were tried, because a guess does as well",
    "best": "the number with the best mean",
    "elbow": "the number where the curve of the mean bends most",
}


def describe_measurement(found: Comparison) -> str:
    """The model, the folds and how the number of features was chosen, in one sentence."""
    splits = plural(found.n_folds * found.n_repeats, "split")
    said = f"Scores are those of {found.model_words} on the held-out samples of {splits}"
    if len(found.ks) == 1:
        return said
    count = plural(found.k, found.data.unit)
    return f"{said}; {count}: {found.how_chosen} over all methods"


def notes(found: Comparison) -> list[str]:
    """What a reader must know of how it was measured."""
    said = [*found.data.notes, *found.measured]
    n_used, n_given = len(found.data.y), found.data.n_given
    if n_used < n_given:
        said.append(
            f"methods were compared on {n_used:,} of the {n_given:,} samples, drawn at random; "
            "set max_samples to use more"
        )
    short = [r for r in found.methods.values() if r.n_reached < len(found.ks)]
    if short:
        least = min(short, key=lambda result: result.n_reached)
        said.append(
            f"{least.name} ranks fewer than {found.ks[least.n_reached]} {found.data.unit}s with "
            f"its parameters, so the methods are compared with fewer {found.data.unit}s"
        )
    return said
