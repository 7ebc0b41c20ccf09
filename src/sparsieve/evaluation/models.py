"""The models that score selections, and what a task brings along by default."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import _num_samples

from .._checks import check_choice
from .metrics import METRICS, REGRESSION_METRICS

TASKS = ("classification", "regression")


class EveryOutput(MultiOutputRegressor):
    """One model per output, also where there is a single one."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> EveryOutput:
        """Fit a model to every column of y."""
        self.is_single_ = np.ndim(y) == 1
        return super().fit(X, np.reshape(y, (len(y), -1)), sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Predict in the shape of y."""
        found = super().predict(X)
        return found[:, 0] if self.is_single_ else found


def _support_vector_regression() -> Any:
    # On the standardised target: C and epsilon would mean something else in every unit of y.
    return TransformedTargetRegressor(
        EveryOutput(SVR(kernel="linear", C=1.0)), transformer=StandardScaler()
    )


# Built anew for every use, so that nothing learnt is carried from one fit to another.
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "1nn": lambda: KNeighborsClassifier(1),
    "5nn": lambda: KNeighborsClassifier(5),
    "svm": lambda: SVC(kernel="linear", C=1.0),
    "softmax": lambda: LogisticRegression(C=1.0, max_iter=1000),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "ridge": lambda: Ridge(alpha=1.0),
    "5nn": lambda: KNeighborsRegressor(5),
    "svr": _support_vector_regression,
}
MODELS: Mapping[str, Mapping[str, Callable[[], Any]]] = {
    "classification": CLASSIFIERS,
    "regression": REGRESSORS,
}
DEFAULT_METRICS = {
    "classification": ("accuracy", "mcc", "f1"),
    "regression": ("r2", "mae", "spearman"),
}


def main_model(names: Sequence[str]) -> str:
    """The model that headlines speak of: the linear SVM where there is one, else the first."""
    return "svm" if "svm" in names else names[0]


def metrics_of(task: str, metrics: Sequence[str]) -> list[str]:
    """Those of the metrics that suit a task; its usual ones where none does.

    Examples
    --------
    >>> from sparsieve.evaluation.models import metrics_of
    >>> metrics_of("regression", ["accuracy", "mae"])
    ['mae']
    >>> metrics_of("regression", ["accuracy"])
    ['r2', 'mae', 'spearman']
    """
    check_choice("task", task, TASKS)
    known = METRICS if task == "classification" else REGRESSION_METRICS
    return [name for name in metrics if name in known] or list(DEFAULT_METRICS[task])


def predicted(task: str, name: str, X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
    """What a model learnt from X and y says of other samples."""
    if X.shape[1] == 0:  # a model may keep nothing: then the best guess is the same for all
        if task == "regression":
            return np.repeat(y.mean(axis=0)[None], _num_samples(X_test), axis=0)
        values, sizes = np.unique(y, return_counts=True)
        return np.full(_num_samples(X_test), values[np.argmax(sizes)])
    model = MODELS[task][name]()
    if name == "5nn" and _num_samples(X) < 5:
        model.set_params(n_neighbors=_num_samples(X))
    return model.fit(X, y).predict(X_test)
