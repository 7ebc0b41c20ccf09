"""Who is ahead, whether that can be told from chance, and the same in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..choose.guess import LEVEL, GuessTest
from ..evaluation import SplitDifference, split_difference

TITLES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "r2": "R²"}


@dataclass(frozen=True)
class Verdict:
    """What the scores on the same splits allow to say at one number of features.

    Attributes
    ----------
    metric : str
    k : int
    means : dict of str to float
        Mean score by method, the highest first.
    guess : float
        Mean score without any feature.
    over_guess : dict of str to SplitDifference
        How much higher every method scores than that.
    guess_tests : dict of str to GuessTest
        Whether that is more than chance; no choice of k enters them.
    behind : dict of str to SplitDifference
        How much lower every method but the first scores than the first.
    """

    metric: str
    k: int
    means: dict[str, float]
    guess: float
    over_guess: dict[str, SplitDifference]
    guess_tests: dict[str, GuessTest]
    behind: dict[str, SplitDifference]

    @classmethod
    def of(
        cls,
        scores: Mapping[str, np.ndarray],
        guess: np.ndarray,
        guess_tests: dict[str, GuessTest],
        *,
        metric: str,
        k: int,
        test_share: float,
    ) -> Verdict:
        """From the scores of every method, and of guessing, on every split."""
        means = {name: float(np.mean(values)) for name, values in scores.items()}
        order = sorted(means, key=lambda name: -means[name])
        best = scores[order[0]]
        return cls(
            metric,
            k,
            {name: means[name] for name in order},
            float(np.mean(guess)),
            {name: split_difference(scores[name], guess, test_share) for name in order},
            guess_tests,
            {name: split_difference(best, scores[name], test_share) for name in order[1:]},
        )

    @property
    def best(self) -> str:
        """The method with the highest mean, which may be chance."""
        return next(iter(self.means))

    @property
    def predictive(self) -> list[str]:
        """Methods that predict better than guessing, beyond what chance explains."""
        return [
            name
            for name, mean in self.means.items()
            if self.guess_tests[name].passed(mean, self.guess, n_tests=len(self.means))
        ]

    @property
    def separable(self) -> list[str]:
        """Methods that score lower than the best, beyond what chance explains."""
        level = LEVEL / max(len(self.behind), 1)
        return [name for name, gap in self.behind.items() if gap.p_value < level]

    @property
    def level_with_best(self) -> list[str]:
        """The best and all methods that cannot be told from it."""
        return [name for name in self.means if name not in self.separable]

    def shown(self, value: float) -> str:
        """A score as a reader wants it."""
        return f"{value:.3f}" if self.metric == "r2" else f"{100 * value:.1f} %"

    def difference(self, found: SplitDifference) -> str:
        """A difference with its standard error."""
        if self.metric == "r2":
            return f"{found.mean:.3f} (standard error {found.error:.3f})"
        unit = "point" if f"{100 * found.mean:.1f}" == "1.0" else "points"
        return f"{100 * found.mean:.1f} {unit} (standard error {100 * found.error:.1f})"

    def sentences(self) -> list[str]:
        """What can be said, without naming a winner where chance may have made it."""
        from ..report.wording import listed_names

        title = TITLES[self.metric]
        features = f"{self.k} feature{'s' * (self.k != 1)}"
        n_methods = len(self.means)
        if not self.predictive:
            who = "The one method" if n_methods == 1 else f"None of the {n_methods} methods"
            verb = "predicts no better" if n_methods == 1 else "predicts better"
            over = self.over_guess[self.best]
            side = "above" if over.mean >= 0 else "below"
            size = over._replace(mean=abs(over.mean))
            return [
                f"{who} {verb} than a guess without any feature ({title} "
                f"{self.shown(self.guess)}): at {features} the highest, {self.best}, is "
                f"{self.difference(size)} {side} it, which chance explains.",
                "There may be nothing to find."
                if (test := self.guess_tests[self.best]).enough
                else f"{test.n_samples} samples are too few to tell.",
            ]
        level, lower = self.level_with_best, self.separable
        said = []
        if len(level) == 1:
            said.append(
                f"At {features} {self.best} has the highest {title}, "
                f"{self.shown(self.means[self.best])}"
                + (", and the others are lower beyond chance." if lower else ".")
            )
        else:
            named = [f"{name} ({self.shown(self.means[name])})" for name in level]
            said.append(f"At {features} {listed_names(named)} are not separable in {title}.")
        if lower:
            gaps = [f"{name} is {self.difference(self.behind[name])}" for name in lower]
            gaps[0] += f" below {self.best}"
            said.append(f"{listed_names(gaps)}{' below it' * (len(gaps) > 1)}.")
        blind = [name for name in self.means if name not in self.predictive]
        if blind:
            said.append(f"{listed_names(blind)} cannot be told from a guess without features.")
        return said
