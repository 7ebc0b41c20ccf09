"""Scores of predictions: how they are computed, what they are called and which way is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy
from scipy.stats import rankdata
from sklearn.metrics import get_scorer_names

_Value = TypeVar("_Value", float, np.ndarray)


def _accuracy(confusion: np.ndarray) -> float:
    return np.trace(confusion) / confusion.sum()


def _balanced_accuracy(confusion: np.ndarray) -> float:
    sizes = confusion.sum(axis=1)
    present = sizes > 0
    return np.mean(np.diag(confusion)[present] / sizes[present])


def _mcc(confusion: np.ndarray) -> float:
    n, true, predicted = confusion.sum(), confusion.sum(axis=1), confusion.sum(axis=0)
    covariance = np.trace(confusion) * n - true @ predicted
    spread = (n * n - true @ true) * (n * n - predicted @ predicted)
    return covariance / np.sqrt(spread) if spread > 0 else 0.0


def _f1(confusion: np.ndarray) -> float:
    # Every class is in the truth or the prediction, so no denominator is zero.
    return np.mean(2 * np.diag(confusion) / (confusion.sum(axis=0) + confusion.sum(axis=1)))


# Functions of the confusion matrix (truth x prediction): scikit-learn's answers without its
# checks, which would take longer than most fits when every k and classifier is scored.
# Accuracy on the test samples is what some papers call TSA; F1 is the mean over the classes.
METRICS = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "mcc": _mcc,
    "f1": _f1,
}


def _r2(true: np.ndarray, predicted: np.ndarray, weights: Any = None) -> np.ndarray:
    left = _sum((true - predicted) ** 2, weights)
    power = _sum((true - np.average(true, axis=0, weights=weights)) ** 2, weights)
    flat = power == 0  # as in scikit-learn: 1 or 0 where the target does not vary
    return np.where(flat, left == 0, 1.0 - left / np.where(flat, 1.0, power))


def _mae(true: np.ndarray, predicted: np.ndarray, weights: Any = None) -> np.ndarray:
    return np.average(np.abs(true - predicted), axis=0, weights=weights)


def _sum(values: np.ndarray, weights: Any) -> np.ndarray:
    return values.sum(axis=0) if weights is None else weights @ values


def _spearman(true: np.ndarray, predicted: np.ndarray, weights: Any = None) -> np.ndarray:
    first, second = (_ranks(part, weights) for part in (true, predicted))
    first, second = (part - np.average(part, axis=0, weights=weights) for part in (first, second))
    power = np.sqrt(_sum(first**2, weights) * _sum(second**2, weights))
    return _sum(first * second, weights) / np.where(power > 0, power, 1.0)


def _ranks(values: np.ndarray, weights: Any) -> np.ndarray:
    """Ranks in every column, equal ones shared; those of copies where samples have weights."""
    if weights is None:
        return rankdata(values, axis=0)
    ranks = np.empty_like(values)
    for j, column in enumerate(values.T):
        places = np.unique(column, return_inverse=True)[1]
        totals = np.bincount(places, weights)
        ranks[:, j] = (np.cumsum(totals) - totals / 2 + 0.5)[places]
    return ranks


def _explained_deviance(true: np.ndarray, predicted: np.ndarray, weights: Any = None) -> np.ndarray:
    left = _sum(predicted - true + xlogy(true, true) - xlogy(true, predicted), weights)
    mean = np.average(true, axis=0, weights=weights)
    power = _sum(xlogy(true, true) - xlogy(true, mean), weights)
    sound = (predicted > 0).all(axis=0) & (true >= 0).all(axis=0)
    varies = power > 0
    return np.where(sound, np.where(varies, 1.0 - left / np.where(varies, power, 1.0), 0.0), np.nan)


# Functions of the true and the predicted numbers, one score for every output.
REGRESSION_METRICS: dict[str, Any] = {
    "r2": _r2,
    "mae": _mae,
    "spearman": _spearman,
    "deviance_explained": _explained_deviance,
}
SURVIVAL_METRICS = ("concordance", "uno_concordance")  # of predicted risks, see ``survival``
ERRORS = "neg_"  # how scikit-learn's names of negated errors begin
# "log_loss" and others: shown as what they are, where scikit-learn negates them.
_NEGATED = tuple(n.removeprefix(ERRORS) for n in get_scorer_names() if n.startswith(ERRORS))
LOWER_IS_BETTER = frozenset(["mae", *_NEGATED])
# In a study these two columns say how many of the relevant features were found.
RESERVED = ("precision", "recall")
# Everything that may be the name of a score in a table, our own metrics first.
ALL_METRICS = tuple(
    dict.fromkeys(
        name.removeprefix(ERRORS)
        for name in (*METRICS, *REGRESSION_METRICS, *SURVIVAL_METRICS, *get_scorer_names())
        if name not in RESERVED
    )
)
_OF_CLASSES = ("log_loss", "brier_score", "negative_likelihood_ratio")
OF_NUMBERS = frozenset(
    [*REGRESSION_METRICS, "explained_variance", "d2_absolute_error_score", *_NEGATED]
) - {*_OF_CLASSES}
# In the unit of the target: such scores of two data sets cannot be averaged.
IN_UNITS = frozenset(
    ["mae", "max_error"] + [n for n in _NEGATED if n.endswith(("absolute_error", "squared_error"))]
)
_NAMES = {
    "balanced_accuracy": "balanced accuracy",
    "r2": "R²",
    "mae": "mean absolute error",
    "spearman": "Spearman correlation",
    "f1": "F1",
    "f1_macro": "macro F1",
    "matthews_corrcoef": "Matthews correlation",
    "roc_auc": "AUC",
    "roc_auc_ovr": "AUC (one class against the rest)",
    "roc_auc_ovo": "AUC (pairs of classes)",
    "brier_score": "Brier score",
    "uno_concordance": "Uno's concordance",
}


def metric_name(metric: str) -> str:
    """A score as a reader knows it.

    Examples
    --------
    >>> from sparsieve.scoring.metrics import metric_name
    >>> metric_name("mae"), metric_name("accuracy"), metric_name("log_loss")
    ('mean absolute error', 'accuracy', 'log loss')
    """
    return _NAMES.get(metric, metric.replace("_", " "))


def metric_title(metric: str) -> str:
    """A score as a reader knows it, with its direction where that is not the usual one."""
    return f"{metric_name(metric)}{', lower is better' * (metric in LOWER_IS_BETTER)}"


def target_kind(metric: str) -> str:
    """What the target of a score holds: "classes", "numbers" or "survival times".

    Examples
    --------
    >>> from sparsieve.scoring.metrics import target_kind
    >>> target_kind("accuracy"), target_kind("mae"), target_kind("concordance")
    ('classes', 'numbers', 'survival times')
    """
    if metric in SURVIVAL_METRICS:
        return "survival times"
    return "numbers" if metric in OF_NUMBERS else "classes"


def column_name(name: str) -> str:
    """The column of tables that holds a score of scikit-learn: errors are not negated there.

    Examples
    --------
    >>> from sparsieve.scoring.metrics import column_name
    >>> column_name("neg_log_loss"), column_name("roc_auc")
    ('log_loss', 'roc_auc')
    """
    return name.removeprefix(ERRORS)


def find_metrics(row: Mapping[str, Any]) -> list[str]:
    """The scores among the columns of a row, in their order.

    Examples
    --------
    >>> from sparsieve.scoring.metrics import find_metrics
    >>> find_metrics({"k": 5, "roc_auc": 0.9, "accuracy": 0.8, "precision": 1.0})
    ['roc_auc', 'accuracy']
    """
    return [name for name in row if name in ALL_METRICS]


def gain(metric: str, value: _Value) -> _Value:
    """A score turned so that larger is better.

    Examples
    --------
    >>> from sparsieve.scoring.metrics import gain
    >>> gain("accuracy", 0.9), gain("mae", 2.5)
    (0.9, -2.5)
    """
    return -value if metric in LOWER_IS_BETTER else value


def classification_scores(
    y_true: ArrayLike,
    y_predicted: ArrayLike,
    metrics: Sequence[str] = ("accuracy", "mcc", "f1"),
    sample_weight: Any = None,
) -> dict[str, float]:
    """Score predicted labels, by name of the metric.

    Parameters
    ----------
    y_true, y_predicted : array of shape (n_samples,)
        Class labels.
    metrics : sequence of {"accuracy", "balanced_accuracy", "mcc", "f1"}
        F1 is the mean over the classes.
    sample_weight : array of shape (n_samples,), default=None
        A weight of 2 counts like two copies of the sample.

    Returns
    -------
    scores : dict of str to float
        Value by name of the metric.

    See Also
    --------
    sparsieve.scoring.regression_scores : Scores of predicted numbers.

    Examples
    --------
    >>> from sparsieve.scoring import classification_scores
    >>> classification_scores([0, 0, 1, 1], [0, 1, 1, 1], ["accuracy"])
    {'accuracy': 0.75}
    """
    y_true, y_predicted = np.asarray(y_true), np.asarray(y_predicted)
    if y_true.shape != y_predicted.shape or y_true.ndim != 1 or not len(y_true):
        raise ValueError(
            "y_true and y_predicted must be labels of the same samples, got shapes "
            f"{y_true.shape} and {y_predicted.shape}"
        )
    labels, codes = np.unique(np.concatenate([y_true, y_predicted]), return_inverse=True)
    n_classes, n_samples = len(labels), len(y_true)
    pairs = codes[:n_samples] * n_classes + codes[n_samples:]
    confusion = np.bincount(pairs, sample_weight, minlength=n_classes**2)
    confusion = confusion.reshape(n_classes, n_classes)
    confusion = confusion.astype(np.float64)  # products of counts may exceed integers
    return {name: float(METRICS[name](confusion)) for name in metrics}


def regression_scores(
    y_true: ArrayLike,
    y_predicted: ArrayLike,
    metrics: Sequence[str] = ("r2", "mae", "spearman"),
    sample_weight: Any = None,
) -> dict[str, float]:
    """Score predicted numbers, by name of the metric; those of several outputs are averaged.

    Parameters
    ----------
    y_true, y_predicted : array of shape (n_samples,) or (n_samples, n_outputs)
        At least two samples.
    metrics : sequence of {"r2", "mae", "spearman", "deviance_explained"}
        R squared, at most 1 and 0 for guessing the mean of ``y_true``; mean absolute error, in
        the unit of y, where smaller is better; Spearman's rank correlation, 0 where either
        does not vary; for counts, the share of the Poisson deviance that is explained, at most 1
        and 0 for guessing the mean.
    sample_weight : array of shape (n_samples,), default=None
        A weight of 2 counts like two copies of the sample.

    Returns
    -------
    scores : dict of str to float
        Value by name of the metric.

    See Also
    --------
    sparsieve.scoring.classification_scores : Scores of predicted labels.

    Examples
    --------
    >>> from sparsieve.scoring import regression_scores
    >>> regression_scores([1.0, 2.0, 3.0], [1.0, 2.0, 6.0])
    {'r2': -3.5, 'mae': 1.0, 'spearman': 1.0}
    """
    true, predicted = (np.asarray(part, dtype=np.float64) for part in (y_true, y_predicted))
    if true.shape != predicted.shape or true.ndim not in (1, 2):
        raise ValueError(
            "y_true and y_predicted must be numbers of the same samples, got shapes "
            f"{true.shape} and {predicted.shape}"
        )
    if len(true) < 2:
        raise ValueError(
            f"R squared and rank correlations need at least two test samples, got {len(true)}; "
            "use fewer folds or a smaller training part"
        )
    true, predicted = true.reshape(len(true), -1), predicted.reshape(len(true), -1)
    given = () if sample_weight is None else (np.asarray(sample_weight, dtype=np.float64),)
    return {
        name: float(REGRESSION_METRICS[name](true, predicted, *given).mean()) for name in metrics
    }


# How much votes may count; 0 is a guess by the shares of the classes.
STRENGTHS = np.append(0.0, np.geomspace(0.5, 80.0, 9))
# More test samples of a fold than this do not make a mean much more exact.
MAX_SAMPLES = 4000


def losses_by_strength(
    votes: np.ndarray,
    y: np.ndarray,
    classes: np.ndarray,
    shares: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Mean log loss of the test samples at every one of the strengths.

    The logarithm of the odds of a class is that of its share plus the strength times what the vote
    for it exceeds the share by.

    Parameters
    ----------
    votes : ndarray of shape (n_test, n_classes)
        See :func:`~sparsieve.scoring.models.class_votes`.
    y : ndarray of shape (n_test,)
        Labels. Those of classes that the training part does not have count for nothing.
    classes, shares : ndarray of shape (n_classes,)
        Those of the training part.
    sample_weight : ndarray of shape (n_test,) or None

    Returns
    -------
    losses : ndarray of shape (n_strengths,)
        0 where no sample counts.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.metrics import losses_by_strength
    >>> votes, y = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1])
    >>> found = losses_by_strength(votes, y, np.array([0, 1]), np.array([0.5, 0.5]))
    >>> found[[0, -1]].round(3)
    array([0.693, 0.   ])
    """
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    counted = np.flatnonzero((classes[places] == y) & (weights > 0))
    if len(counted) > MAX_SAMPLES:
        counted = counted[np.linspace(0, len(counted) - 1, MAX_SAMPLES).astype(int)]
    if not len(counted):
        return np.zeros(len(STRENGTHS))
    weights, places = weights[counted], places[counted]
    # What speaks for every class against the own one, a row per class.
    above, levels = (votes[counted] - shares).T, np.log(shares)
    above = np.ascontiguousarray(above - above[places, np.arange(len(counted))], dtype=np.float64)
    against = levels[:, None] - levels[places]
    with np.errstate(over="ignore"):  # an infinite loss is worse than any other
        found = [weights @ np.log(np.exp(against + s * above).sum(axis=0)) for s in STRENGTHS]
    return np.array(found) / weights.sum()


def calibrated_losses(
    by_strength: np.ndarray, sizes: Sequence[float], repeats: np.ndarray
) -> np.ndarray:
    """The loss of every fold at the strength that is best for all folds of its repeat.

    Parameters
    ----------
    by_strength : ndarray of shape (n_ks, n_folds, n_strengths)
    sizes : list of float
        How much every fold counts.
    repeats : ndarray of int of shape (n_folds,)
        Which repeat of the folds every fold belongs to.

    Returns
    -------
    losses : ndarray of shape (n_ks, n_folds)
    """
    found = np.empty(by_strength.shape[:2])
    for repeat in np.unique(repeats):
        places = np.flatnonzero(repeats == repeat)
        part = by_strength[:, places]
        total = np.einsum("kfs,f->ks", part, np.asarray(sizes, dtype=np.float64)[places])
        best = total.argmin(axis=1)
        found[:, places] = np.take_along_axis(part, best[:, None, None], axis=2)[:, :, 0]
    return found
