"""Who is ahead, whether that can be told from chance, and the same in words."""

from __future__ import annotations

from dataclasses import dataclass

from ..meta.guess import GuessTest
from ..scoring.over_splits import MethodComparison, SplitDifference
from ..scoring.scorers import Score
from ..scoring.statistics import LEVEL, holm


@dataclass(frozen=True)
class Verdict(MethodComparison):
    """What the scores on the same splits allow to say at one number of features.

    Attributes
    ----------
    means, behind, margins, separable
        See :class:`~sparsieve.scoring.over_splits.MethodComparison`.
    score : Score
        What was measured; ``means`` and ``guess`` are its values, where errors are positive.
    k : int
    guess : float
        Mean score without any feature.
    over_guess : dict of str to SplitDifference
        How much higher every method scores than that.
    guess_tests : dict of str to GuessTest
        Whether that is more than chance; no choice of k enters them.
    """

    score: Score
    k: int
    guess: float
    over_guess: dict[str, SplitDifference]
    guess_tests: dict[str, GuessTest]

    @property
    def metric(self) -> str:
        """The name of the score in tables."""
        return self.score.name

    @property
    def predictive(self) -> list[str]:
        """Methods that predict better than guessing, beyond what chance explains."""
        corrected = holm([self.guess_tests[name].p_value for name in self.means])
        return [
            name
            for (name, mean), p_value in zip(self.means.items(), corrected, strict=True)
            if p_value <= LEVEL and not self._is_worse(mean)
        ]

    def _is_worse(self, mean: float) -> bool:
        """Whether a mean is no better than a guess, as far as that is known."""
        return self.score.turned(mean) <= self.score.turned(self.guess)

    @property
    def level_with_best(self) -> list[str]:
        """The best and all methods that cannot be told from it."""
        return [name for name in self.means if name not in self.separable]

    def shown(self, value: float) -> str:
        """A score as a reader wants it."""
        return self.score.shown(value)

    def difference(self, found: SplitDifference) -> str:
        """A difference with its standard error."""
        if not self.score.is_percent:
            shown = self.score.shown
            return f"{shown(found.mean)} (standard error {shown(found.error)})"
        unit = "point" if f"{100 * found.mean:.1f}" == "1.0" else "points"
        return f"{100 * found.mean:.1f} {unit} (standard error {100 * found.error:.1f})"

    def sentences(self) -> list[str]:
        """What can be said, without naming a winner where chance may have made it."""
        from ..report.wording import listed_names

        title, worse = self.score.title, "above" if self.score.lower_is_better else "below"
        features = f"{self.k} feature{'s' * (self.k != 1)}"
        n_methods = len(self.means)
        if not self.predictive:
            who = "The one method" if n_methods == 1 else f"None of the {n_methods} methods"
            verb = "predicts no better" if n_methods == 1 else "predicts better"
            over = self.over_guess[self.best]
            side = "better" if over.mean >= 0 else "worse"
            size = over._replace(mean=abs(over.mean))
            return [
                f"{who} {verb} than a guess without any feature ({title} "
                f"{self.shown(self.guess)}): at {features} the best, {self.best}, is "
                f"{self.difference(size)} {side}, which chance explains.",
                "There may be nothing to find."
                if (test := self.guess_tests[self.best]).enough
                else f"{test.n_samples} samples are too few to tell.",
            ]
        level, lower = self.level_with_best, self.separable
        said = []
        if len(level) == 1:
            said.append(
                f"At {features} {self.best} has the {self.score.best} {title}, "
                f"{self.shown(self.means[self.best])}"
                + (", and the others are significantly worse." if lower else ".")
            )
        else:
            named = [f"{name} ({self.shown(self.means[name])})" for name in level]
            said.append(f"At {features} {listed_names(named)} are not separable in {title}.")
        if lower:
            gaps = [f"{name} is {self.difference(self.behind[name])}" for name in lower]
            gaps[0] += f" {worse} {self.best}"
            said.append(f"{listed_names(gaps)}{f' {worse} it' * (len(gaps) > 1)}.")
        blind = [name for name in self.means if name not in self.predictive]
        if blind:
            said.append(f"{listed_names(blind)} cannot be told from a guess without features.")
        return said
