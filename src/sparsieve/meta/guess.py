"""Whether held-out predictions are better than a guess without features, and of which model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm, t

from .._sklearn import check_method_params
from .._text import format_p_value
from ..scoring.engine import ALL_FEATURES, FoldScores, score_columns
from ..scoring.scorers import Score
from ..scoring.statistics import LEVEL
from ..scoring.survival import martingale_residuals
from ..validation.exchange import Exchange, survival_strata
from ..validation.target import Target

_CURVED = {
    "classification": "HistGradientBoostingClassifier()",
    "regression": "HistGradientBoostingRegressor()",
    "counts": 'HistGradientBoostingRegressor(loss="poisson")',
}


@dataclass(frozen=True)
class TestedModel:
    """The model whose held-out predictions were tested.

    Attributes
    ----------
    task : str
        How the target is read.
    name : str
        What a model is called that was given; empty for the usual ones, which are linear.

    Examples
    --------
    >>> from sparsieve.meta.guess import TestedModel
    >>> TestedModel("regression").fails
    'No linear model of the selected features predicts'
    >>> TestedModel("regression", "SVR").beyond
    'Other models were not tested: try estimator=HistGradientBoostingRegressor(), for example'
    """

    task: str = ""
    name: str = ""

    @property
    def fails(self) -> str:
        """The subject and the verb of what is said where it is no better than a guess."""
        if self.name:
            article = "The " if " " in self.name else ""
            return f"{article}{self.name} on the selected features does not predict"
        return "No linear model of the selected features predicts"

    @property
    def words(self) -> str:
        """The model itself."""
        return self.name or "a linear model"

    @property
    def beyond(self) -> str:
        """What was not tested, and what to try."""
        said, curved = "Other models were not tested", _CURVED.get(self.task, "")
        if self.task == "survival" and not self.name:
            return f"{said}: that of survival times is Cox's, which is linear whatever the features"
        if not curved or curved.startswith(f"{self.name}("):
            return said
        if self.name:
            return f"{said}: try estimator={curved}, for example"
        also = ", also with the method info-gain" if self.task == "classification" else ""
        return f"{said}: for curves and interactions try estimator={curved} in Python{also}"


LINEAR = TestedModel()  # the usual one, of a task that is not known


_N_SHUFFLES = 1999
_MAX_SHUFFLED = 2000  # samples or groups, beyond which the distribution over shuffles is normal


def is_no_better(score: float, guess: float) -> bool:
    """Whether a score, of which more is better, is not above that of a guess but for rounding.

    The mean of the same shares over folds is not the same number to the last digit.

    Examples
    --------
    >>> from sparsieve.meta.guess import is_no_better
    >>> is_no_better(0.1 + 0.2, 0.3), is_no_better(0.301, 0.3)
    (True, False)
    """
    return bool(score - guess <= 1e-9 * max(abs(score), abs(guess)))


@dataclass(frozen=True)
class GuessTest:
    """Answer of :func:`against_guess`.

    Attributes
    ----------
    p_value : float
        Of predictions that agree with the target as well, if features said nothing about it.
    n_samples : int
        Samples that were held out, or their groups.
    enough : bool
        Whether predictions that get right half of what a guess gets wrong would pass the test. If
        not, the samples are too few to tell that there is nothing.
    unit : {"sample", "group"}
        What was counted.
    by : str
        What was tested, where that is more than the score looks at: the decision values of a
        model, where the score counts labels, which may all be those of the largest class.
    """

    p_value: float
    n_samples: int
    enough: bool
    unit: str = "sample"
    by: str = ""

    @property
    def units_phrase(self) -> str:
        """How many samples, or groups of them, were held out, in words."""
        return f"{self.n_samples} {self.unit}s"

    def beats_guess(self, score: float, guess: float) -> bool:
        """Whether predictions are better than a guess.

        Their score must be higher than that of a guess, unless it is one of labels and decision
        values were tested: a rare class may never be the most likely one, and well predicted.
        """
        return bool(self.p_value <= LEVEL and (not is_no_better(score, guess) or self.by))

    def sentence(
        self,
        score: float,
        guess: float,
        metric: str = "score",
        shown: Callable[[float], str] = "{:.3f}".format,
        better: str = "higher",
        model: TestedModel = LINEAR,
    ) -> str:
        """What a reader must know where the test is not passed, else nothing.

        Larger scores are better; ``shown`` writes them, and ``better`` is for what it writes.
        Nothing is said of other models than the one that was tested.
        """
        if self.p_value <= LEVEL and not is_no_better(score, guess):
            return ""
        level = f"{metric} {shown(guess)}"
        if self.p_value <= LEVEL and self.by:
            return (
                f"The {metric} on held-out samples, {shown(score)}, is no {better} than that of a "
                f"guess without features ({shown(guess)}), but the {self.by} tell the classes "
                f"apart ({format_p_value(self.p_value)}): roc_auc or balanced_accuracy as the "
                "score shows how well."
            )
        if self.p_value <= LEVEL:
            is_classes = model.task in ("", "classification")
            why = "look at every class separately" if is_classes else "some predictions are far off"
            return (
                f"The {metric} on held-out samples, {shown(score)}, is no {better} than that of a "
                f"guess without features ({shown(guess)}), although predictions are related to the "
                f"target: {why}."
            )
        if not self.enough:
            return (
                f"{self.units_phrase} are too few to tell whether anything predicts "
                f"better than a guess without features ({level})."
            )
        by = f", tested by the {self.by}" if self.by else ""
        return (
            f"{model.fails} better than a guess without features ({level}) at the 5 % "
            f"significance level{by}. {model.beyond}."
        )


def against_guess(
    predictions: Sequence[np.ndarray],
    Y: np.ndarray,
    folds: Sequence[Any],
    groups: np.ndarray | None = None,
    strata: np.ndarray | None = None,
) -> GuessTest:
    """Test held-out predictions against the hypothesis that features say nothing of the target.

    Every sample gets the mean of its held-out predictions, each less the mean target of its
    training part, which is the guess. D, the sum over samples of their products with the target,
    is compared with its distribution over shuffled targets (whole groups are exchanged, within
    strata, see :mod:`~sparsieve.validation.exchange`), after division of its distance from the
    mean of these by sqrt(2 + r), where r is the number of test samples per training sample. For
    shuffles do not know that folds train on each other's samples: a pair of samples predicts one
    another, which doubles the variance of D; 2 + r is the correction of Nadeau and Bengio (2003)
    for this.

    Predictions at several numbers of features are to be averaged beforehand, and not the best of
    them taken: then there is no choice to pay for.

    Parameters
    ----------
    predictions : list of arrays of shape (n_test, n_outputs)
        Of every fold: votes for every class, whose mean over the training part are the shares of
        the classes (see :func:`~sparsieve.scoring.models.class_votes`), or numbers.
    Y : array of shape (n_samples, n_outputs)
        0/1 columns of the classes, or numbers; several of these count the same in any units.
    folds : list of (train, test)
    groups, strata : array of shape (n_samples,), default=None

    Returns
    -------
    test : GuessTest

    References
    ----------
    Nadeau, Bengio, "Inference for the generalization error", Machine Learning 52 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.folds import make_folds
    >>> from sparsieve.meta.guess import against_guess
    >>> y = np.arange(40) % 2
    >>> Y, folds = np.eye(2)[y], make_folds(y, 5, seed=0)
    >>> found = against_guess([Y[test] for _, test in folds], Y, folds)
    >>> found.p_value <= 0.05, found.enough
    (True, True)
    """
    Y = np.asarray(Y, dtype=np.float64)
    total, times = np.zeros(Y.shape), np.zeros(len(Y))
    for (train, test), part in zip(folds, predictions, strict=True):
        total[test] += part - Y[train].mean(axis=0)
        times[test] += 1
    share = float(np.mean([len(Y[test]) / len(Y[train]) for train, test in folds]))
    seen = times > 0
    A, B = total[seen] / times[seen, None], Y[seen]
    groups, strata = (
        None if given is None else np.asarray(given)[seen] for given in (groups, strata)
    )
    exchange = Exchange.from_target(B, groups=groups, strata=strata)
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    if not np.isin(Y, (0.0, 1.0)).all():
        spread = np.where((B != 0).any(axis=0), B.std(axis=0), 1.0)
        A, B = A / spread, B / spread
    inflation, n_units = 2.0 + share, exchange.n_units
    enough = not exchange.too_few and _is_enough(B, n_units, inflation)
    p_value = _shuffle_p_value(A, B, exchange, inflation)
    return GuessTest(p_value, exchange.n_exchangeable, enough, exchange.unit)


def better_than_a_guess(
    results: Sequence[FoldScores],
    y: np.ndarray,
    task: str,
    folds: Sequence[Any],
    *,
    groups: Any = None,
    score: Score | None = None,
    model: str | None = None,
) -> GuessTest:
    """The test of what models said on every fold, at all numbers of features: the one way there.

    Classes are tested by what the model says of each of them (probabilities or decision values),
    whatever the score: labels cannot show that the samples of a rare class are told apart.

    Parameters
    ----------
    results : list of FoldScores
        Of every fold, with predictions.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    task : {"classification", "regression", "counts", "survival"}
        How y is read.
    folds : list of (train, test)
    groups : array of shape (n_samples,), default=None
    score : Score or None, default=None
        What the predictions are scored by, for the sentence.
    model : str or None, default=None
        Which of several models; None is the first.
    """
    model = next(iter(results[0].predictions))[0] if model is None else model
    groups, by = None if groups is None else np.asarray(groups), ""
    if task == "classification":
        classes = np.unique(y)
        votes = [_for_all(result.votes[model], result.classes, classes) for result in results]
        Y = mean_votes([y], classes)
        if score is None or score.sees_labels_only:
            by = "decision values of the model"
    else:
        votes = [mean_votes(_numbers(result, model)) for result in results]
        Y = martingale_residuals(y)[:, None] if y.dtype.names else np.reshape(y, (len(y), -1))
    return replace(against_guess(votes, Y, folds, groups, survival_strata(y)), by=by)


def _numbers(result: FoldScores, model: str) -> list[np.ndarray]:
    """What a model predicted from every number of features."""
    found = result.predictions.items()
    return [one for (name, k), one in found if name == model and k != ALL_FEATURES]


def _for_all(votes: np.ndarray, known: Any, classes: np.ndarray) -> np.ndarray:
    """Votes with a column for every class, 0 for those that a training part did not have."""
    every = np.zeros((len(votes), len(classes)))
    every[:, np.searchsorted(classes, known)] = votes
    return every


def score_without_features(target: Target, sample_weight: Any = None) -> float:
    """Score of guessing: the share of the largest class, or the R squared of the mean.

    The concordance of equal risks is one half.
    """
    if target.codes is None:
        return 0.5 if target.task == "survival" else 0.0
    sizes = np.bincount(target.codes, sample_weight)
    return float(sizes.max() / sizes.sum())


def gain_without_features(
    score: Score,
    y: np.ndarray,
    folds: Sequence[Any],
    task: str,
    score_params: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
) -> float | None:
    """Mean gain over the folds of a model that knows no feature; None where it has no score.

    It predicts the most frequent class, with the shares of the classes as probabilities, or the
    mean, by ``sample_weight`` where that is given.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.guess import gain_without_features
    >>> from sparsieve.scoring.folds import make_folds
    >>> from sparsieve.scoring.scorers import resolve_scores
    >>> y = np.arange(40) % 2
    >>> score = resolve_scores("roc_auc", "classification")["roc_auc"]
    >>> gain_without_features(score, y, make_folds(y, 5, seed=0), "classification")
    0.5
    """
    how: dict[str, Any] = {"models": {"": None}, "metrics": [score]}
    how["predict"] = bool(score.own)
    X, found = np.empty((len(y), 0)), []
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    for train, test in folds:
        params = check_method_params(y, score_params or {}, indices=test)
        parts = X[train], y[train], X[test], y[test], {0: np.arange(0)}
        fitted = check_method_params(y, weights, indices=train)
        scored = score_columns(*parts, task=task, score_params=params, model_params=fitted, **how)
        found.append(scored.scores["", 0][score.name])
    known = np.array(found)[np.isfinite(found)]
    return float(score.turned(known.mean())) if len(known) else None


def mean_votes(predicted: Sequence[np.ndarray], classes: np.ndarray | None = None) -> np.ndarray:
    """Predictions by several models: the share of votes for every class, or the mean number.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.guess import mean_votes
    >>> mean_votes([np.array(["a", "b"]), np.array(["b", "b"])], np.array(["a", "b"]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    if classes is not None:
        return np.mean([one[:, None] == classes for one in predicted], axis=0)
    return np.mean([np.reshape(one, (len(one), -1)) for one in predicted], axis=0)


def _shuffle_p_value(A: np.ndarray, B: np.ndarray, exchange: Exchange, inflation: float) -> float:
    """Share of shuffles in which the products are as large as these, shrunk."""
    if exchange.n_units < 2 or not A.any() or not B.any():
        return 1.0
    A, B = _unit(A), _unit(B)
    mean, variance = exchange.moments(A, B)
    found = mean + (float((A * B).sum()) - mean) / np.sqrt(inflation)
    if exchange.n_units > _MAX_SHUFFLED:
        return float(norm.sf((found - mean) / np.sqrt(variance))) if variance > 0 else 1.0
    sums = exchange.sums(A, B, _N_SHUFFLES, np.random.default_rng(0))
    return float(1 + (sums >= found - 1e-9).sum()) / (1 + _N_SHUFFLES)  # but for rounding


def _unit(values: np.ndarray) -> np.ndarray:
    """The same of length one, also where squares would be no numbers."""
    values = values / np.abs(values).max()
    return values / np.sqrt((values**2).sum())


def _is_enough(B: np.ndarray, n_units: int, inflation: float) -> bool:
    """Whether half of the agreement of perfect predictions would be beyond chance."""
    if n_units < 2:
        return False
    gram = B.T @ B
    power = float((gram**2).sum())
    if power == 0:
        return False
    perfect = np.sqrt((n_units - 1) / inflation * float(np.trace(gram)) ** 2 / power)
    return bool(0.5 * perfect >= t.ppf(1.0 - LEVEL, n_units - 1))
