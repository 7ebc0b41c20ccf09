"""The models that score a selection, and decision values of any of them.

The one table of models that score selections, and what a task brings along by default.

What a classifier says of every class, beyond the label: the same kind of numbers from any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from .._checks import check_choice
from .._sklearn import num_samples
from .likelihood_models import LikelihoodRidge
from .metrics import column_name, target_kind
from .softmax import SoftmaxRegression


def class_votes(model: Any, X_train: Any, y_train: np.ndarray, X_test: Any) -> np.ndarray:
    """Numbers for every class of the training part, whose mean there are the shares of the classes.

    They are probabilities where the model has them, otherwise its decision values less their mean
    over the training part, otherwise its labels as 0 and 1. Labels say nothing of a rare class that
    is never the most likely one; the other two do.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sparsieve.scoring.models import class_votes
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 0, 1])
    >>> class_votes(RidgeClassifier(alpha=100.0).fit(X, y), X, y, X).round(3)
    array([[0.771, 0.229],
           [0.757, 0.243],
           [0.743, 0.257],
           [0.729, 0.271]])
    """
    classes, counts = np.unique(y_train, return_counts=True)
    if hasattr(model, "predict_proba"):
        found = np.asarray(model.predict_proba(X_test))
        if found.shape == (X_test.shape[0], len(classes)):
            return found
    if hasattr(model, "decision_function"):
        values, known = model.decision_function(X_test), model.decision_function(X_train)
        if values.ndim == 1 and len(classes) == 2:
            values, known = (np.column_stack([-part, part]) / 2 for part in (values, known))
        if values.ndim == 2 and values.shape[1] == len(classes):
            return values - known.mean(axis=0) + counts / counts.sum()
    return (np.asarray(model.predict(X_test))[:, None] == classes).astype(np.float64)


def area(is_positive: np.ndarray, values: np.ndarray) -> float:
    """Area under the ROC curve: how often a positive sample has the larger value, ties half.

    NaN where all samples are of one kind. Values that differ by rounding alone are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.models import area
    >>> area(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.4, 0.9]))
    0.875
    """
    n_positive, n_samples = int(is_positive.sum()), len(is_positive)
    if n_positive in (0, n_samples):
        return float("nan")
    size = float(np.abs(values).max())
    # beyond these they differ by rounding
    ranks = rankdata(np.round(values / size, 12) if size > 0 else values)
    above = float(ranks[is_positive].sum()) - n_positive * (n_positive + 1) / 2
    return above / (n_positive * (n_samples - n_positive))


# What the target of a task holds.
KINDS = {
    "classification": "classes",
    "regression": "numbers",
    "counts": "numbers",
    "survival": "survival times",
}
TASKS = tuple(KINDS)


class EveryOutput(MultiOutputRegressor):
    """One model per output, also where there is a single one."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a model to every column of y."""
        self.is_single_: bool = np.ndim(y) == 1
        return super().fit(X, np.reshape(y, (len(y), -1)), sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Predict in the shape of y."""
        found = super().predict(X)
        return found[:, 0] if self.is_single_ else found


# LIBSVM's own limit, which scikit-learn lifts: without it some problems cycle for ever.
LIBSVM_STEPS = 10_000_000


def linear_svm(C: float = 1.0) -> SVC:
    """A linear support vector machine whose fit ends on every data set."""
    return SVC(kernel="linear", C=C, max_iter=LIBSVM_STEPS)


def _support_vector_regression() -> Any:
    # On the standardised target: C and epsilon would mean something else in every unit of y.
    return TransformedTargetRegressor(
        EveryOutput(SVR(kernel="linear", C=1.0, max_iter=LIBSVM_STEPS)),
        transformer=StandardScaler(),
    )


@dataclass(frozen=True)
class Model:
    """A model of the table: how it is made, and what pages call it."""

    make: Callable[[], Any]  # anew for every use, so that nothing learnt is carried along
    words: str

    def __call__(self, n_samples: int | None = None) -> Any:
        """A new model for so many training samples, where that is known."""
        made = self.make()
        if n_samples is not None and n_samples < getattr(made, "n_neighbors", 0):
            made.set_params(n_neighbors=n_samples)
        return made


CLASSIFIERS: dict[str, Model] = {
    "1nn": Model(lambda: KNeighborsClassifier(1), "nearest neighbour"),
    "5nn": Model(lambda: KNeighborsClassifier(5), "5 nearest neighbours"),
    "svm": Model(linear_svm, "linear SVM"),
    "softmax": Model(SoftmaxRegression, "softmax regression"),
}
REGRESSORS: dict[str, Model] = {
    "ridge": Model(lambda: Ridge(alpha=1.0), "ridge regression"),
    "5nn": Model(lambda: KNeighborsRegressor(5), "5 nearest neighbours"),
    "svr": Model(_support_vector_regression, "linear support vector regression"),
}
MODELS: Mapping[str, Mapping[str, Model]] = {
    "classification": CLASSIFIERS,
    "regression": REGRESSORS,
    "counts": {"poisson": Model(lambda: LikelihoodRidge("counts"), "Poisson ridge regression")},
    "survival": {"cox": Model(lambda: LikelihoodRidge("survival"), "Cox ridge regression")},
}
NEIGHBOURS = ("1nn", "5nn")  # all others are linear
MODEL_WORDS = {
    name: model.words for task in reversed(TASKS) for name, model in MODELS[task].items()
}
# The first of them is the one that headlines speak of.
DEFAULT_METRICS = {
    "classification": ("accuracy", "mcc", "f1"),
    "regression": ("r2", "mae", "spearman"),
    "counts": ("deviance_explained", "mae", "spearman"),
    "survival": ("concordance", "uno_concordance"),
}


def main_model(names: Sequence[str]) -> str:
    """The model that headlines speak of: the linear SVM where there is one, else the first."""
    return "svm" if "svm" in names else names[0]


def choose_metrics(task: str, scoring: Sequence[str]) -> list[str]:
    """Those of the scores that suit a task; its usual ones where none does.

    Examples
    --------
    >>> from sparsieve.scoring.models import choose_metrics
    >>> choose_metrics("regression", ["accuracy", "mae", "neg_log_loss"])
    ['mae']
    >>> choose_metrics("regression", ["accuracy"])
    ['r2', 'mae', 'spearman']
    """
    check_choice("task", task, TASKS)
    suit = [n for n in scoring if target_kind(column_name(n)) == KINDS[task]]
    return suit or list(DEFAULT_METRICS[task])


VOTES = ("margin", "majority")


def predict_per_class(
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    supports: ArrayLike,
    *,
    vote: str = "margin",
    C: float = 1.0,
) -> np.ndarray:
    """Predict with one linear SVM per class, each on the features selected for its class.

    Parameters
    ----------
    X_train, X_test : array-like or sparse matrix of shape (n_samples, n_features)
    y_train : array of shape (n_samples,)
    supports : array of bool of shape (n_classes, n_features)
        Row k marks the features of the k-th class in sorted order. A class without features has
        no say.
    vote : {"margin", "majority"}, default="margin"
        "margin": the SVM of a class tells it from the rest, and the largest margin wins.
        "majority": every SVM tells all classes apart (one against one, as LIBSVM does), and the
        label that most of them say wins; of labels with as many votes the first in sorted order.
        An SVM that sees the features of one class only can say little about the others.
    C : float, default=1.0
        Of the SVMs.

    Returns
    -------
    labels : ndarray of shape (n_test_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ExclusiveL21Selector
    >>> from sparsieve.scoring.models import predict_per_class
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> own = ExclusiveL21Selector().fit(X[::2], y[::2]).at(3, per_class=True).support_per_class_
    >>> labels = predict_per_class(X[::2], y[::2], X[1::2], own)
    >>> bool(np.mean(labels == y[1::2]) > 0.9)
    True
    """
    check_choice("vote", vote, VOTES)
    classes, codes = np.unique(y_train, return_inverse=True)
    supports = np.asarray(supports, dtype=bool)
    if supports.shape != (len(classes), X_train.shape[1]):
        raise ValueError(
            f"supports must have one row per class and one column per feature, "
            f"{(len(classes), X_train.shape[1])}, got {supports.shape}"
        )
    tally = _count_votes if vote == "majority" else _margins
    scores = tally(X_train, codes, X_test, supports, C)
    if not supports.any():  # nothing to go by: the largest class is the best guess
        scores = np.tile(np.bincount(codes), (num_samples(X_test), 1))
    return classes[scores.argmax(axis=1)]


def _count_votes(
    X_train: Any, codes: np.ndarray, X_test: Any, supports: np.ndarray, C: float
) -> np.ndarray:
    votes = np.zeros((num_samples(X_test), len(supports)))
    samples = np.arange(len(votes))
    # Classes with the same features have the same SVM: fit it once, count it as often.
    distinct, weights = np.unique(supports[supports.any(axis=1)], axis=0, return_counts=True)
    for support, weight in zip(distinct, weights, strict=True):
        machine = linear_svm(C).fit(X_train[:, support], codes)
        votes[samples, machine.predict(X_test[:, support])] += weight
    return votes


def _margins(
    X_train: Any, codes: np.ndarray, X_test: Any, supports: np.ndarray, C: float
) -> np.ndarray:
    margins = np.full((num_samples(X_test), len(supports)), -np.inf)
    for k in np.flatnonzero(supports.any(axis=1)):
        machine = linear_svm(C).fit(X_train[:, supports[k]], codes == k)
        margins[:, k] = machine.decision_function(X_test[:, supports[k]])
    return margins
