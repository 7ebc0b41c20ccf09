"""How a selection does on samples held out: accuracy, the level of a guess, and stability."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, t

from ..scoring.stability import nogueira_stability
from ..validation.containers import plain_vector
from ..validation.target import with_task
from .selector_cv import SelectorCV

N_FOLDS = 5
N_REPEATS = 2
MAX_SECONDS = 20.0  # what nobody asked for must not take longer
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class HeldOutCheck:
    """What samples that neither selection nor model has seen say of a selection.

    Attributes
    ----------
    metric : {"accuracy", "R squared"}
    score : float
        Mean over the folds.
    low, high : float
        Ends of its 95 % interval.
    guess : float or None
        Score without any feature; None where it is not known.
    p_value : float or None
        Of the test whether predictions are better than that.
    beats_guess : bool or None
        Whether they are, at the level of 5 %.
    stability : float
        Nogueira's index of the features that the folds select: 1 for the same in every fold, about
        0 for a draw at random; NaN where all features are kept.
    n_folds : int
    warning : str
        One sentence where nothing predicts better than a guess, or samples are too few to tell.
    chosen_here : bool
        Whether the same folds chose the number of features, which makes the score a little too
        good.

    See Also
    --------
    sparsieve.select : Selection in one line, the number of features found.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.meta.held_out import held_out_check
    >>> X, y = load_wine(return_X_y=True)
    >>> check = held_out_check(RidgeForwardSelector(3), X, y, n_kept=3, task="classification")
    >>> check.beats_guess
    True
    """

    metric: str
    score: float
    low: float
    high: float
    guess: float | None
    p_value: float | None
    beats_guess: bool | None
    stability: float
    n_folds: int
    warning: str = ""
    chosen_here: bool = False

    @classmethod
    def of(cls, search: SelectorCV) -> HeldOutCheck:
        """From a fitted search over one number of features or many."""
        is_classes = getattr(search, "classes_", None) is not None
        found = search.cv_results_
        row = int(np.flatnonzero(search.ks_ == search.best_k_)[0])
        scores = np.array([found[f"split{i}_test_score"][row] for i in range(search.n_splits_)])
        error = float(found["error_test_score"][row])
        low, high = score_interval(scores, error, search.n_samples_, is_classes)
        supports = np.zeros((search.n_splits_, search.n_features_in_), dtype=bool)
        np.put_along_axis(supports, search.selected_in_folds_, True, axis=1)
        return cls(
            metric="accuracy" if is_classes else "R squared",
            score=float(scores.mean()),
            low=low,
            high=high,
            guess=search.guess_,
            p_value=search.p_value_,
            beats_guess=search.beats_guess_,
            stability=float(nogueira_stability(supports).value),
            n_folds=search.n_splits_,
            warning=search.nothing_found,
            chosen_here=len(search.ks_) > 1,
        )

    def shown(self, value: float) -> str:
        """A score as a reader wants it."""
        return f"{value:.1%}".replace("%", " %") if self.metric == "accuracy" else f"{value:z.3f}"

    def sentence(self) -> str:
        """Score, interval, level of a guess and stability on one line."""
        name = "accuracy" if self.metric == "accuracy" else "R²"
        guess = "" if self.guess is None else f", a guess {self.shown(self.guess)}"
        stable = "the list holds all features"
        if math.isfinite(self.stability):
            stable = f"stability of the list {self.stability:z.2f} (1: the same in every fold)"
        chosen = " that also chose the number of features" * self.chosen_here
        return (
            f"On held-out samples: {name} {self.shown(self.score)} (95 % interval "
            f"{self.shown(self.low)} to {self.shown(self.high)}){guess}; {stable}; "
            f"{self.n_folds} folds{chosen}."
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": "r2" if self.metric == "R squared" else self.metric,
            "score": self.score,
            "interval": [self.low, self.high],
            "guess": self.guess,
            "p_value": self.p_value,
            "better_than_guess": self.beats_guess,
            "stability": self.stability,
            "n_folds": self.n_folds,
            "warning": self.warning or None,
        }


def held_out_check(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_kept: int,
    task: str,
    prepare: Any = None,
    groups: Any = None,
) -> HeldOutCheck:
    """Repeat a selection of ``n_kept`` features in every fold, with a ridge model on top.

    Folds are five, drawn twice; fewer where there are too few samples of a class or groups.
    """
    y = np.asarray(plain_vector("y", y))
    n_folds = _possible(y, groups, y.ndim == 1 and task == "classification")
    search = SelectorCV(
        with_task(selector, task if y.ndim == 1 else "auto"),
        ks=[n_kept],
        cv=n_folds,
        n_repeats=N_REPEATS,
        prepare=prepare,
    )
    search.fit(X, y, groups=groups)
    return HeldOutCheck.of(search)


def _possible(y: Any, groups: Any, is_classes: bool) -> int:
    """As many folds as samples, or groups, leave something to hold out in each."""
    if groups is not None:
        return min(N_FOLDS, len(np.unique(np.asarray(groups))))  # SelectorCV refuses one
    if not is_classes:
        most = len(y) // 2
    else:
        sizes = np.sort(np.unique(y, return_counts=True)[1])
        # Or a training part holds one class alone, or single samples.
        most = sizes[-1] if sizes[-2] > 1 and sizes[-1] > 2 else 1
    if most < 2:
        if is_classes and len(y) > 4:
            raise ValueError(
                f"classes of {sizes[-2]:,} and {sizes[-1]:,} samples (the two largest) are too "
                "small to hold some of them out"
            )
        raise ValueError(f"{len(y)} samples are too few to hold some of them out")
    return int(min(N_FOLDS, most))


def checked(
    selector: Any,
    X: Any,
    y: Any,
    *,
    fit_seconds: float | None,
    how: str,
    **options: Any,
) -> tuple[HeldOutCheck | None, str]:
    """The check of a fitted selector, or why there is none.

    Parameters
    ----------
    selector : fitted selector
    X, y : array-like
    fit_seconds : float or None
        How long its fit took: where as many fits as folds would take more than 20 s there is no
        check. None makes it anyway.
    how : str
        How to ask for it, for the sentence.
    **options : dict
        ``task``, ``prepare`` and ``groups`` of :func:`held_out_check`.

    Returns
    -------
    check : HeldOutCheck or None
    reason : str
        Empty where there is a check.
    """
    expected = N_FOLDS * N_REPEATS * (fit_seconds or 0.0)
    if expected > MAX_SECONDS:
        return None, f"Not checked on held-out samples, which takes about {expected:.0f} s: {how}."
    n_kept = int(selector.get_support().sum())
    if n_kept == 0:
        return None, "Not checked on held-out samples: nothing was kept to predict with."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all samples said them
        try:
            return held_out_check(selector, X, y, n_kept=n_kept, **options), ""
        except (TypeError, ValueError) as error:
            reason = str(error).strip().split("\n")[0].rstrip(".")
            return None, f"Not checked on held-out samples: {reason}."


def score_interval(
    scores: np.ndarray, error: float, n_samples: int, is_classes: bool
) -> tuple[float, float]:
    """95 % interval of a mean over splits.

    Student's by the corrected standard error; of accuracies no narrower than Wilson's.
    """
    mean = float(scores.mean())
    width = float(t.ppf(0.5 + _CONFIDENCE / 2, max(len(scores) - 1, 1))) * error
    low, high = mean - width, mean + width
    if not is_classes:
        return low, min(high, 1.0)
    z = float(norm.ppf(0.5 + _CONFIDENCE / 2)) ** 2 / n_samples
    middle = (mean + z / 2) / (1 + z)
    half = math.sqrt(z * mean * (1 - mean) + z * z / 4) / (1 + z)
    return max(min(low, middle - half), 0.0), min(max(high, middle + half), 1.0)
