"""How a selection does on samples held out: accuracy, the level of a guess, and stability."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import norm, t

from .._text import plural
from ..scoring.models import TASKS
from ..scoring.scorers import Score, resolve_scores
from ..scoring.stability import nogueira_stability
from ..selectors.preparation import count_selection, find_groups, unit_masks, unit_phrase
from ..validation.containers import plain_vector
from ..validation.survival import as_survival
from ..validation.target import with_task
from .selector_cv import SelectorCV
from .trials import is_number_of_folds

N_FOLDS = 5
N_REPEATS = 2
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class HeldOutCheck:
    """How well a selection predicts samples that were held out from selection and fitting.

    Attributes
    ----------
    measure : Score
        What was measured; ``measure.label`` is its name.
    score : float
        Mean over the folds, in the units of the score: an error is positive.
    low, high : float
        95 % confidence interval of the score; NaN where one fold cannot say it, which it can of
        accuracy alone.
    guess : float or None
        Score of guessing without features; None if not known.
    p_value : float or None
        P-value of the test whether predictions are better than guessing.
    beats_guess : bool or None
        Whether they are, at the 5 % level.
    stability : float
        Nogueira's stability index of the features selected in the folds: 1 if every fold selects
        the same ones, about 0 for random selections; NaN if all features are kept, or with one
        fold.
    n_folds : int
    warning : str
        One sentence if predictions are no better than guessing, or there are too few samples to
        tell; otherwise empty.
    model : str
        What predicted: "ridge model" if nothing else was asked for.
    untested : str
        Why it is not known whether predictions are better than a guess; empty where they were
        tested.
    chosen_here : bool
        Whether the same folds were used to choose the number of features, which makes the score
        slightly optimistic.
    unit : str
        What was counted: "feature" or "feature group".
    folds : tuple of float
        The score of every fold.
    test_share : float
        How many samples are held out for one that is trained on.
    why : str
        Why this score was measured, where nobody asked for it and it is not the usual one.

    See Also
    --------
    sparsieve.select : Select features in one line.

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

    measure: Score
    score: float
    low: float
    high: float
    guess: float | None
    p_value: float | None
    beats_guess: bool | None
    stability: float
    n_folds: int
    warning: str = ""
    model: str = "ridge model"
    chosen_here: bool = False
    unit: str = "feature"
    folds: tuple[float, ...] = ()
    test_share: float = 0.25
    why: str = ""
    untested: str = ""

    @classmethod
    def of(cls, search: SelectorCV) -> HeldOutCheck:
        """From a fitted search over one number of features or many."""
        measure = search.measure
        if search._scoring is None:  # scikit-learn's models score themselves by these
            measure = next(iter(resolve_scores(None, search._training_task).values()))
        gains = search.kept_scores_
        scores = measure.turned(gains[np.isfinite(gains)])
        low, high = score_interval(scores, search._kept_error, search._n_held_out, measure)
        groups = find_groups(search)
        supports = np.zeros((search.n_splits_, search.n_features_in_), dtype=bool)
        for support, features in zip(supports, search.selected_in_folds_, strict=True):
            support[features[features >= 0]] = True
        return cls(
            measure=measure,
            score=float(scores.mean()),
            low=low,
            high=high,
            guess=None if search.guess_ is None else float(measure.turned(search.guess_)),
            p_value=search.p_value_,
            beats_guess=search.beats_guess_,
            stability=float(nogueira_stability(unit_masks(groups, supports)).value)
            if search.n_splits_ > 1
            else math.nan,
            n_folds=search.n_splits_,
            warning=search.nothing_found,
            model=search.model_words,
            chosen_here=len(search.ks_) > 1,
            unit=unit_phrase(search),
            folds=tuple(measure.turned(gains).tolist()),
            test_share=1.0 / (search.cv - 1) if is_number_of_folds(search.cv) else 0.25,
            why=getattr(search, "_why", ""),
            untested=getattr(search, "_untested", ""),
        )

    @property
    def scoring(self) -> Score | None:
        """What to pass as ``scoring`` for the same score; None where it is the usual one."""
        usual = [next(iter(resolve_scores(None, task).values())) for task in TASKS]
        return None if self.measure in usual else self.measure

    def shown(self, value: float) -> str:
        """Format a score."""
        return self.measure.shown(value)

    def sentence(self) -> str:
        """Score, confidence interval, score of guessing, stability, and what was not tested."""
        name = self.measure.title
        lower = "lower is better, " if self.measure.lower_is_better else ""
        guess = ""
        if self.guess is not None:
            guess = f"; {self.measure.of_guessing}: {self.shown(self.guess)}"
        stable = f"all {self.unit}s were selected"
        if self.n_folds == 1:
            stable = "one fold says nothing of stability"
        elif math.isfinite(self.stability):
            stable = (
                f"stability {self.stability:z.2f} (1 means the same {self.unit}s in every fold)"
            )
        interval = f"95 % interval {self.shown(self.low)} to {self.shown(self.high)}"
        if not math.isfinite(self.low):
            interval = "no interval from one fold"
        chosen = f" (also used to choose the number of {self.unit}s)" if self.chosen_here else ""
        untested = f" Not tested against a guess: {self.untested}." if self.untested else ""
        why = f" {self.why}." if self.why else ""
        return (
            f"On held-out samples: {name} {self.shown(self.score)} ({lower}{interval}){guess}; "
            f"{stable}; {plural(self.n_folds, 'fold')}{chosen}.{why}{untested}"
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.measure.name,
            "score": self.score,
            "interval": [self.low, self.high] if math.isfinite(self.low) else None,
            "guess": self.guess,
            "p_value": self.p_value,
            "better_than_guess": self.beats_guess,
            "not_tested": self.untested or None,
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
    scoring: Any = None,
    cv: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> HeldOutCheck:
    """Repeat a selection of ``n_kept`` features in every fold, with a ridge model on top.

    Folds are five, drawn twice; fewer where there are too few samples of a class or groups, and
    those that ``cv`` says where it is given. ``options`` are those of
    :class:`~sparsieve.SelectorCV`.
    """
    y = as_survival(y) if task == "survival" else np.asarray(plain_vector("y", y))
    selector = with_task(selector, task if y.ndim == 1 else "auto")
    search = held_out_search(selector, y, groups, task, ks=[n_kept], scoring=scoring)
    search.set_params(prepare=prepare, **({} if cv is None else {"cv": cv}), **options)
    search.fit(X, y, groups=groups, sample_weight=sample_weight)
    return HeldOutCheck.of(search)


class WatchedSearch(SelectorCV):
    """A search that keeps what every fold gave, for pages; not to be saved.

    The model that ships is fitted at every number, so that a page speaks of one model.

    Attributes
    ----------
    folds_ : list of (train, test)
    results_ : list of FoldScores
    how_ : dict
        How the folds were scored, see :func:`~sparsieve.scoring.engine.score_fold`.
    """

    _one_model: ClassVar[bool] = True

    folds_: list[Any]
    results_: list[Any]
    how_: dict[str, Any]

    def _watch(self, folds: list[Any], results: list[Any], how: dict[str, Any]) -> None:
        self.folds_, self.results_, self.how_ = folds, results, how


def held_out_search(
    selector: Any,
    y: np.ndarray,
    groups: Any,
    task: str,
    *,
    ks: list[int],
    n_folds: int | None = None,
    seed: int = 0,
    scoring: Any = None,
) -> WatchedSearch:
    """What checks a selection, not fitted yet: the folds and the model of every check."""
    most = possible_folds(y, groups, y.ndim == 1 and task == "classification", n_folds or N_FOLDS)
    return WatchedSearch(
        selector, ks=ks, cv=most, n_repeats=N_REPEATS, random_state=seed, scoring=scoring
    )


def possible_folds(y: Any, groups: Any, is_classes: bool, n_folds: int) -> int:
    """As many folds as samples, or groups, leave something to hold out in each."""
    if groups is not None:
        n_groups = len(np.unique(np.asarray(groups)))
        if n_groups < 2:
            raise ValueError("all samples are in one group, so none can be held out")
        most = min(n_folds, n_groups)
        if is_classes:  # which folds have equal shares of
            most = min(most, int(np.unique(y, return_counts=True)[1].max()))
        return max(most, 2)
    if not is_classes:
        most = len(y) // 2
    else:
        sizes = np.sort(np.unique(y, return_counts=True)[1])
        # Or a training part holds one class alone, or single samples.
        most = sizes[-1] if sizes[-2] > 1 and sizes[-1] > 2 else 1
    if most < 2:
        if is_classes and len(y) > 4:
            raise ValueError(
                f"the two largest classes have only {sizes[-2]:,} and {sizes[-1]:,} samples, too "
                "few to hold some out"
            )
        raise ValueError(f"{len(y)} samples are too few to hold some out")
    return int(min(n_folds, most))


def check_selector(
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
        Of :func:`held_out_check`.

    Returns
    -------
    check : HeldOutCheck or None
    reason : str
        Empty where there is a check.
    """
    expected = N_FOLDS * N_REPEATS * (fit_seconds or 0.0)
    if expected > 20.0:  # what nobody asked for must not take longer
        return None, (f"Not checked on held-out samples (about {expected:.0f} s). Run {how}.")
    n_kept = count_selection(selector)
    if n_kept == 0:
        return (
            None,
            f"Not checked on held-out samples, because no {unit_phrase(selector)} was selected.",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all samples said them
        try:
            return held_out_check(selector, X, y, n_kept=n_kept, **options), ""
        except (TypeError, ValueError) as error:
            reason = str(error).strip().split("\n")[0].rstrip(".")
            return None, f"Not checked on held-out samples: {reason}."


def score_interval(
    scores: np.ndarray, error: float, n_samples: int, measure: Score
) -> tuple[float, float]:
    """95 % interval of a mean over splits.

    Student's by the corrected standard error; of accuracies no narrower than Wilson's. One split
    has no standard error, so its interval is Wilson's, and NaN where the score is no accuracy.
    """
    if len(scores) == 1 and measure.own != "accuracy":
        return math.nan, math.nan
    mean = float(scores.mean())
    width = float(t.ppf(0.5 + _CONFIDENCE / 2, max(len(scores) - 1, 1))) * error
    low, high = mean - width, mean + width
    if measure.own != "accuracy":
        if measure.lower_is_better:
            return max(low, -measure.most), high
        return low, min(high, measure.most)
    z = float(norm.ppf(0.5 + _CONFIDENCE / 2)) ** 2 / n_samples
    middle = (mean + z / 2) / (1 + z)
    half = math.sqrt(z * mean * (1 - mean) + z * z / 4) / (1 + z)
    return max(min(low, middle - half), 0.0), min(max(high, middle + half), 1.0)
