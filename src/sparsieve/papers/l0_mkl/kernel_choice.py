"""Which kernel? Cross-validation on the training data over a short list."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ...selectors.margins import class_signs
from ...validation.training_data import TrainingData
from .kernels import FeatureKernel, feature_kernel

if TYPE_CHECKING:
    from .base import MKLSelector

# (kernel, gamma, coef0, degree), simplest first: ties go to the earlier one.
CANDIDATES = (
    ("sigmoid", 0.1, -0.01, 2),
    ("rbf", 0.1, None, 2),
    ("rbf", 1.0, None, 2),
    ("poly", 1.0, 1.0, 2),
    ("sigmoid", 1.0, -0.01, 2),
)
FOLDS = 3


def choose_kernel(
    selector: MKLSelector, data: TrainingData
) -> tuple[FeatureKernel, dict[str, float]]:
    """The candidate with the best cross-validated accuracy, equal ones by their squared hinge.

    Folds are stratified and not shuffled, so the choice is the same every time. Returns the kernel
    and the accuracies by name.
    """
    codes, signs = data.target.codes, np.column_stack([*class_signs(data.target)])
    assert codes is not None
    n_folds = min(FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2:
        raise ValueError(
            'kernel="auto" needs at least 2 samples of every class for cross-validation; choose '
            "a kernel instead"
        )
    X = data.design.dense_columns(np.arange(data.design.shape[1]))
    counts = np.ones(len(codes)) if data.sample_weight is None else data.sample_weight
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
            always_keep=None,  # which changes no machine
            never_keep=None,  # X has none of them
        )
        margins = _margins_out_of_fold(trial, X, codes, counts, n_folds)
        hinge = np.maximum(0.0, 1.0 - signs * margins)
        loss = float(counts @ (hinge**2).sum(axis=1))
        accuracy = float(counts @ (_decide_classes(margins) == codes)) / float(counts.sum())
        accuracies[str(kernel)] = accuracy
        if (accuracy, -loss) > best_key:
            best, best_key = kernel, (accuracy, -loss)
    assert best is not None
    return best, accuracies


def _margins_out_of_fold(trial, X, codes, counts, n_folds) -> np.ndarray:
    """Margins of every sample by the fit that did not see it, one column per model."""
    with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
        warnings.simplefilter("ignore", ConvergenceWarning)
        margins = cross_val_predict(
            trial,
            X,
            codes,
            cv=StratifiedKFold(n_folds),
            method="decision_function",
            params={"sample_weight": counts},
        )
    return margins.reshape(len(codes), -1)


def _decide_classes(margins: np.ndarray) -> np.ndarray:
    """The class of every sample; of margins that only rounding tells apart the first."""
    if margins.shape[1] == 1:
        return (margins[:, 0] > 0).astype(int)
    return np.round(margins, 8).argmax(axis=1)
