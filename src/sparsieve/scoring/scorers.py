"""What ``scoring=`` stands for, anywhere: scikit-learn's names, callables, several at once.

A :class:`Score` has values as a reader wants them (log loss 0.31, accuracy 93 %) and gains, where
larger is better (-0.31, 0.93); ``turned`` makes one of the other. Tables and pages hold values,
whatever compares or chooses takes gains.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import isfunction, signature
from numbers import Real
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    check_scoring,
    get_scorer,
    get_scorer_names,
    make_scorer,
    roc_auc_score,
)

from .._checks import did_you_mean, warn_user
from ..selectors.around import last_step
from .metrics import (
    LOWER_IS_BETTER,
    METRICS,
    REGRESSION_METRICS,
    SURVIVAL_METRICS,
    column_name,
    metric_name,
    regression_scores,
    target_kind,
)
from .models import DEFAULT_METRICS, KINDS, MODELS, TASKS
from .survival import survival_scores

# Scores that we compute from predictions ourselves, and what scikit-learn calls them.
_OWN = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "mcc": "matthews_corrcoef",
    "f1": "f1_macro",
    "r2": "r2",
    "mae": "neg_mean_absolute_error",
}
# Scores of numbers, for which a guess is their mean.
_OF_MEAN = (
    *("r2", "mae", "explained_variance", "deviance_explained", "mean_squared_error"),
    *("mean_absolute_error", "root_mean_squared_error", "neg_mean_squared_error"),
    *("neg_mean_absolute_error", "neg_root_mean_squared_error"),
)
_PERCENT = ("accuracy", "balanced_accuracy", "top_k_accuracy")
# Scores of labels in which a rare class counts as much as a frequent one.
_BALANCED = (
    *("balanced_accuracy", "mcc", "matthews_corrcoef"),
    *("f1", "f1_macro", "jaccard", "jaccard_macro", "recall", "recall_macro"),
)
_GIVES = {
    "predict": "predictions",
    "predict_proba": "class probabilities",
    "decision_function": "decision values",
}
UNDEFINED = "it is not defined for the test samples there"
_HOW = "a name of sklearn.metrics.get_scorer_names() or a callable scorer(estimator, X, y)"


@dataclass(frozen=True)
class Score:
    """One score: how it is measured, what it is called and how it is shown.

    Attributes
    ----------
    name : str
        Its column in tables: "log_loss" for scikit-learn's "neg_log_loss".
    asked : str
        What the user called it.
    scorer : callable
        ``scorer(estimator, X, y)``, larger is better.
    own : str
        The metric of :mod:`sparsieve.scoring.metrics` that gives the same from predictions; empty
        where there is none.
    lower_is_better : bool
        Whether its values are errors.

    See Also
    --------
    sparsieve.compare : Several methods on the same folds, by one score or several.
    sparsieve.SelectorCV : Chooses the number of features by one score.

    Examples
    --------
    >>> from sparsieve.scoring.scorers import resolve_scores
    >>> score = resolve_scores("neg_log_loss", "classification")["log_loss"]
    >>> score.label, score.shown(0.3141), score.turned(0.3141)
    ('log loss (lower is better)', '0.314', -0.3141)
    """

    name: str
    asked: str
    scorer: Callable[..., Any] = field(compare=False)  # get_scorer makes another every time
    own: str = ""
    lower_is_better: bool = False

    @property
    def title(self) -> str:
        """As a reader knows it."""
        return metric_name(self.name)

    @property
    def label(self) -> str:
        """The title, with the direction where a reader may not expect it."""
        return f"{self.title} (lower is better)" if self.lower_is_better else self.title

    @property
    def best(self) -> str:
        """Which end is the best one."""
        return "lowest" if self.lower_is_better else "highest"

    @property
    def worse(self) -> str:
        """Where a worse value lies."""
        return "higher" if self.lower_is_better else "lower"

    @property
    def better(self) -> str:
        """Where a better value lies."""
        return "lower" if self.lower_is_better else "higher"

    @property
    def most(self) -> float:
        """The largest gain that there can be."""
        if not self.own and self.asked not in get_scorer_names():
            return math.inf
        endless = self.name in ("positive_likelihood_ratio", "mutual_info_score")
        return 0.0 if self.lower_is_better else math.inf if endless else 1.0

    @property
    def is_percent(self) -> bool:
        """Whether it is shown in percent."""
        return self.name in _PERCENT

    @property
    def needs(self) -> tuple[str, ...]:
        """Methods of which a model must have one; nothing where that is not known."""
        found = getattr(self.scorer, "_response_method", ())
        return (found,) if isinstance(found, str) else tuple(found)

    @property
    def sees_labels_only(self) -> bool:
        """Whether it is computed from predicted labels, and not from numbers behind them."""
        return bool(self.own) or self.needs == ("predict",)

    @property
    def is_area(self) -> bool:
        """Whether it is the area under the ROC curve of two classes, every sample counting once."""
        return (
            getattr(self.scorer, "_score_func", None) is roc_auc_score
            and not getattr(self.scorer, "_kwargs", True)
            and set(self.needs) == {"decision_function", "predict_proba"}
        )

    @property
    def is_balanced(self) -> bool:
        """Whether a model that never predicts a rare class has a bad value."""
        return self.name in _BALANCED

    @property
    def of_guessing(self) -> str:
        """What a guess without features is, in words."""
        if self.name == "accuracy":
            return "always predicting the largest class"
        return "always predicting the mean" if self.name in _OF_MEAN else "a guess without features"

    def takes_weights(self, model: Any = None) -> bool:
        """Whether samples can be weighted in it; a model's own score says so itself."""
        asked = getattr(self.scorer, "_score_func", self.scorer)
        if model is not None and hasattr(self.scorer, "_estimator"):
            asked = getattr(last_step(model), "score", None)
        try:
            return asked is not None and "sample_weight" in signature(asked).parameters
        except (TypeError, ValueError):
            return False

    def turned(self, value: Any) -> Any:
        """The gain that belongs to a value, or the value that belongs to a gain."""
        return -value if self.lower_is_better else value

    def shown(self, value: float) -> str:
        """A value as a reader wants it: percent, three decimals or three digits."""
        if self.is_percent:
            return self.number(value).replace("100.0", "100") + " %"
        return self.number(value)

    def number(self, value: float) -> str:
        """The same without its unit, for a column of a table."""
        if self.is_percent:
            return f"{100 * value:z.1f}"
        if self.most == 1.0:
            return f"{value:z.3f}"
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:z#.3g}".removesuffix(".")

    def shown_gain(self, gain: float) -> str:
        """The value that belongs to a gain, as a reader wants it."""
        return self.shown(self.turned(gain))

    def suits(self, model: Any) -> bool:
        """Whether a model has what the score is computed from."""
        return not self.needs or any(hasattr(model, method) for method in self.needs)

    def check_model(self, model: Any, called: str, instead: str) -> None:
        """Refuse a model that lacks what the score is computed from."""
        if not self.suits(model):
            wanted = " or ".join(_GIVES.get(method, method) for method in self.needs)
            raise ValueError(
                f"{self.asked} needs {wanted}, which {called} does not give; {instead}"
            )

    def check_target(self, y: np.ndarray, task: str) -> None:
        """Refuse a target that a score of scikit-learn is not defined for."""
        known = bool(self.own) or self.asked in get_scorer_names()
        if task not in TASKS or not known:
            return
        if target_kind(self.name) != KINDS[task]:
            raise ValueError(
                f"{self.asked} is a score for {target_kind(self.name)}, but the target holds "
                f"{KINDS[task]}; use {DEFAULT_METRICS[task][0]}, for example"
            )
        if self.own:
            return
        is_classes = task == "classification"
        guess = DummyClassifier(strategy="prior") if is_classes else DummyRegressor()
        nothing = np.zeros((len(y), 1))
        if reason := self.measured(guess.fit(nothing, y), nothing, y)[1]:
            raise ValueError(self._hint(y) or f"{self.asked} cannot be computed: {reason}")

    def _hint(self, y: np.ndarray) -> str:
        classes = np.unique(y).tolist() if np.ndim(y) == 1 else []
        if self.asked == "roc_auc" and len(classes) > 2:
            return f"roc_auc compares two classes, but y has {len(classes)}; use roc_auc_ovr"
        macro = f"{self.asked}_macro"
        if macro in get_scorer_names() and len(classes) > 2:
            return f"{self.asked} compares two classes, but y has {len(classes)}; use {macro}"
        if len(classes) == 2 and 1 not in classes:
            other = f"use {macro}, or give " if macro in get_scorer_names() else "give "
            function = getattr(self.scorer, "_score_func", len).__name__
            return (
                f"{self.asked} takes the class 1 as the positive one, but the classes are "
                f"{classes[0]!r} and {classes[1]!r}; {other}make_scorer({function}, "
                f"pos_label={classes[1]!r})"
            )
        return ""

    def measured(self, model: Any, X: Any, y: Any, **params: Any) -> tuple[float, str]:
        """The value of a fitted model on these samples; NaN where there is none, and why."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                if "sample_weight" in params and not self.takes_weights(model):
                    params.pop("sample_weight")
                found = self.scorer(model, X, y, **params)
        except Exception as error:
            first = " ".join(str(error).split()).partition(". ")[0].rstrip(".")
            return math.nan, first or type(error).__name__
        if isinstance(found, bool) or not isinstance(found, Real):
            return math.nan, f"it returned a {type(found).__name__} instead of a number"
        value = float(self.turned(found))
        return value, "" if math.isfinite(value) else UNDEFINED


def resolve_scores(
    scoring: Any,
    task: str,
    *,
    default: Mapping[str, Sequence[str]] = DEFAULT_METRICS,
    short_names: bool = False,
) -> dict[str, Score]:
    """The scores that ``scoring`` stands for, by their names in tables.

    Parameters
    ----------
    scoring : str, callable, list, dict or None
        A name of scikit-learn, ``scorer(estimator, X, y)``, a list of these, or a dict of your own
        names. None is the ``default`` of the task.
    task : {"classification", "regression", "counts", "survival"}
        How the target is read.
    default : dict of str to list of str
        Names by task.
    short_names : bool, default=False
        Whether "f1" is the mean over the classes, as in :func:`classification_scores`, and not
        scikit-learn's, which is that of the positive class.

    Examples
    --------
    >>> from sparsieve.scoring.scorers import resolve_scores
    >>> found = resolve_scores(["roc_auc", "neg_log_loss"], "classification")
    >>> [(score.asked, score.label) for score in found.values()]
    [('roc_auc', 'AUC'), ('neg_log_loss', 'log loss (lower is better)')]
    """
    if scoring is None:
        scoring = list(default[task])
    if isinstance(scoring, Mapping):
        named = [(str(name), one) for name, one in scoring.items()]
    else:
        several = isinstance(scoring, list | tuple | set | frozenset)
        named = [("", one) for one in (scoring if several else [scoring])]
    if not named:
        raise ValueError(f"scoring is empty; give {_HOW}")
    found: dict[str, Score] = {}
    for name, one in named:
        score = _score(one, name, short_names)
        if score.name in found:
            raise ValueError(
                f"scoring names {score.asked!r} twice; give scores of the same name as a dict"
            )
        found[score.name] = score
    return found


def one_score(scoring: Any, estimator: Any) -> Score:
    """The one score by which something is chosen; None is the estimator's own."""
    if scoring is None:
        return Score("score", "score", check_scoring(estimator))
    if isinstance(scoring, list | tuple | set | frozenset | Mapping):
        raise ValueError(
            f"scoring must be one score here, because it chooses the number of features; give "
            f"{_HOW}, and several at once to compare()"
        )
    return _score(scoring, "", short_names=False)


def able_models(scores: Mapping[str, Score], task: str) -> list[str]:
    """The models of the table that all scores can be computed for."""
    every = scores.values()
    return [n for n, model in MODELS[task].items() if all(s.suits(model()) for s in every)]


def check_models(scores: Mapping[str, Score], task: str, models: Sequence[str]) -> None:
    """Refuse models of the table that lack what a score is computed from."""
    for score in scores.values():
        able = map(repr, able_models({score.name: score}, task))
        for name in models:
            score.check_model(MODELS[task][name](), f"{name!r}", f"use {', '.join(able)}")


def warn_ignored_weights(scores: Iterable[Score]) -> None:
    """Say which scores cannot weigh the samples, where weights were given."""
    for score in scores:
        if not score.takes_weights() and score.name not in SURVIVAL_METRICS:
            warn_user(f"{score.asked} takes no weights, so that it counts every sample once")


def finite_folds(score: Score, values: np.ndarray, reasons: Sequence[str]) -> tuple[Any, str]:
    """Which folds have the score, and a sentence about the others; refused where none has.

    Parameters
    ----------
    score : Score
    values : array of shape (..., n_folds)
    reasons : list of str
        Why a fold has none.
    """
    known = np.isfinite(values).reshape(-1, values.shape[-1]).all(axis=0)
    if known.all():
        return known, ""
    n_folds, missing = len(known), np.flatnonzero(~known).tolist()
    why = next((reasons[fold] for fold in missing if reasons[fold]), "it is not a finite number")
    if not known.any():
        of_all = "the one fold" if n_folds == 1 else f"any of the {n_folds} folds"
        raise ValueError(
            f"{score.asked} could not be computed on {of_all}: {why}; use fewer folds, or "
            "give more samples"
        )
    which = ", ".join(str(fold + 1) for fold in missing[:5])
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    return known, (
        f"{score.asked} could not be computed on fold{'s' * (len(missing) > 1)} {which}{more} of "
        f"{n_folds} ({why}); its mean is over the other {int(known.sum())}"
    )


def _score(one: Any, name: str, short_names: bool) -> Score:
    """A score from its name or scorer; ``name`` is what a dict calls it."""
    if isinstance(one, Score):
        return one
    if isinstance(one, str):
        if one in _OWN and (short_names or one != "f1"):
            own, scorer = one, get_scorer(_OWN[one])
        elif one in SURVIVAL_METRICS:
            own, scorer = one, _SurvivalScorer(one)
        elif one in ("spearman", "deviance_explained"):
            own, scorer = one, make_scorer(partial(_of_numbers, metric=one))
        elif one in get_scorer_names():
            own = next((n for n, theirs in _OWN.items() if theirs == one), "")
            scorer = get_scorer(one)
        else:
            ours = {*METRICS, *REGRESSION_METRICS, *SURVIVAL_METRICS}
            known = sorted({*ours, *get_scorer_names()})
            hint = did_you_mean(one, known, 0.5, " (did you mean {!r}?)")
            raise ValueError(f"scoring {one!r} is unknown{hint}; give {_HOW}")
        return _make_score(name or column_name(one), one, scorer, own)
    if not callable(one) or isinstance(one, type):
        raise TypeError(f"scoring must be {_HOW}, got {one!r}")
    function = getattr(one, "_score_func", one)
    called = getattr(function, "__name__", type(function).__name__).replace(
        "<lambda>", "custom score"
    )
    if isfunction(one) and one.__module__.startswith("sklearn.metrics"):
        raise ValueError(
            f"{called} is a function of labels and predictions; give make_scorer({called}) instead"
        )
    return _make_score(name or called, name or called, one, "")


def _make_score(name: str, asked: str, scorer: Any, own: str) -> Score:
    lower = getattr(scorer, "_sign", 1) < 0 if not own else own in LOWER_IS_BETTER
    return Score(name, asked, scorer, own, lower)


def _of_numbers(y_true: Any, y_predicted: Any, metric: str, sample_weight: Any = None) -> float:
    return regression_scores(y_true, y_predicted, [metric], sample_weight)[metric]


@dataclass(frozen=True)
class _SurvivalScorer:
    """Scores the risks that a model predicts; scikit-learn's scorers refuse such a target."""

    metric: str
    _response_method: str = "predict"

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        return survival_scores(y, estimator.predict(X), [self.metric])[self.metric]
