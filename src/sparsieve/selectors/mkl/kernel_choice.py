"""Which kernel? Cross-validation on the training data over a short list."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from ...kernels import FeatureKernel, feature_kernel

# (kernel, gamma, coef0, degree), simplest first: ties go to the earlier one.
CANDIDATES = (
    ("sigmoid", 0.1, -0.01, 2),
    ("rbf", 0.1, None, 2),
    ("rbf", 1.0, None, 2),
    ("poly", 1.0, 1.0, 2),
    ("sigmoid", 1.0, -0.01, 2),
)
FOLDS = 3


def choose_kernel(selector, data) -> tuple[FeatureKernel, dict[str, float]]:
    """The candidate with the best cross-validated accuracy, equal ones by their squared hinge.

    Folds are stratified and not shuffled, so the choice is the same every time. Returns the kernel
    and the accuracies by name.
    """
    codes, classes = data.target.codes, data.target.classes
    n_folds = min(FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2:
        raise ValueError(
            'kernel="auto" needs at least 2 samples of every class to cross-validate; name a '
            "kernel instead"
        )
    X = data.design.dense_columns(np.arange(data.design.shape[1]))
    y = classes[codes]
    counts = np.ones(len(y)) if data.sample_weight is None else data.sample_weight
    accuracies: dict[str, float] = {}
    best, best_key = None, (-np.inf, -np.inf)
    for name, gamma, coef0, degree in CANDIDATES:
        kernel = feature_kernel(name, gamma=gamma, coef0=coef0, degree=degree)
        trial = clone(selector).set_params(
            kernel=name,
            gamma=gamma,
            coef0=coef0,
            degree=degree,
            class_weight=None,  # already part of the sample weights
            n_init=1,
            verbose=0,
        )
        hits = loss = 0.0
        for train, test in StratifiedKFold(n_folds).split(X, codes):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                trial.fit(X[train], y[train], sample_weight=counts[train])
            hits += float(counts[test] @ (trial.predict(X[test]) == y[test]))
            margins = trial.decision_function(X[test]).reshape(len(test), -1)
            signs = np.where(codes[test][:, None] == _positive(classes), 1.0, -1.0)
            hinge = np.maximum(0.0, 1.0 - signs * margins)
            loss += float(counts[test] @ (hinge**2).sum(axis=1))
        accuracy = hits / float(counts.sum())
        accuracies[str(kernel)] = accuracy
        if (accuracy, -loss) > best_key:
            best, best_key = kernel, (accuracy, -loss)
    assert best is not None
    return best, accuracies


def _positive(classes) -> np.ndarray:
    return np.array([1]) if len(classes) == 2 else np.arange(len(classes))
