"""The model that is scored and shipped, and the one that searches for the number of features.

The latter is a ridge model at every number in one go: it ranks the numbers, and its votes see more
than hits. For numbers both are the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import nnls
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from .._saved import Savable
from ..design import Coded, DenseDesign, code_sizes, one_pass
from ..design.blocks.lazy_gram import DenseBlocks
from ..design.standardise import real_dtype
from ..selectors.trees.boosting import Boosting, Squares, code_columns
from ..solvers.losses.separable import Poisson
from ..validation.target import Target
from .folds import Fold
from .likelihood_models import LikelihoodRidge
from .models import DEFAULT_METRICS, TASKS
from .scorers import Score
from .softmax import SoftmaxRegression


class SizedRidge(Savable, Ridge):
    """scikit-learn's ridge regression; its strength is the number of columns.

    If every one of k standardised columns mattered alike, the best strength would be k times the
    noise over the signal, whatever the number of samples. ``alpha`` is set by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.ridge_path import SizedRidge
    >>> X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> SizedRidge().fit(X, [3.0, 1.0, 2.0, 0.0]).coef_.round(3)
    array([0.667, 0.333])
    """

    coef_: np.ndarray
    intercept_: Any

    def __init__(self, nonnegative: bool = False) -> None:
        super().__init__()
        self.nonnegative = nonnegative

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the columns of X; ``nonnegative`` is for one column of numbers."""
        self.alpha: float = float(np.shape(X)[1])
        if not self.nonnegative:
            return super().fit(X, y, sample_weight)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        means, mean = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
        rows, bottom = np.sqrt(weights), np.sqrt(self.alpha) * np.eye(X.shape[1])
        extended = np.vstack([rows[:, None] * (X - means), bottom])
        self.coef_ = nnls(extended, np.append(rows * (y - mean), np.zeros(len(bottom))))[0]
        self.intercept_ = float(mean - means @ self.coef_)
        return self


def sized_coefficients(gram: np.ndarray, products: np.ndarray) -> np.ndarray:
    """The coefficients, from products of the centred columns with each other and with the target.

    Columns that say the same are no obstacle: the strength is at least 1.
    """
    strengthened = gram.astype(np.float64)
    strengthened[np.diag_indices_from(strengthened)] += float(len(gram))
    return np.asarray(cho_solve(cho_factor(strengthened), products))


# Ridge parameter per sample of the model that searches: standardised columns then shrink by about a
# tenth.
RIDGE = 0.1


def default_estimator(
    task: str, n_samples: int, *, balanced: bool = False, nonnegative: bool = False
) -> Pipeline:
    """The model that is scored and shipped, on standardised columns.

    Softmax regression for classes, ridge regression for numbers, a Poisson or a Cox model with a
    ridge for counts and survival times, and a ridge classifier for sets of labels. ``balanced``
    gives every class the same weight, for scores in which each counts the same. ``nonnegative``
    lets no coefficient be negative; with two classes they speak for the second one.
    """
    model: Any = SoftmaxRegression(
        class_weight="balanced" if balanced else None, nonnegative=nonnegative
    )
    if task in ("counts", "survival"):
        model = LikelihoodRidge(task, nonnegative=nonnegative)
    elif task == "multilabel":
        model = RidgeClassifier(alpha=RIDGE * n_samples)
    elif task == "regression":
        model = SizedRidge(nonnegative)
    return make_pipeline(StandardScaler(), model)


def default_scoring(
    estimator: Pipeline, target: Target, folds: Sequence[Fold], scores: Sequence[Score] = ()
) -> dict[str, Any]:
    """How the engine scores :func:`default_estimator`: by its predictions.

    Where these are counted, by accuracy or R squared, ``path`` has those of the ridge model at all
    numbers at once, which can say which number is best. ``scores`` are those that were asked for;
    without any it is the usual one of the task. Nothing where the scorer of the estimator is to be
    asked: it counts exact matches of label sets, and warns that one number has no R squared.
    """
    metrics: list[Any] = list(scores)
    if isinstance(estimator[-1], HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        metrics = metrics or [DEFAULT_METRICS[target.task][0]]
        found: dict[str, Any] = {"metrics": metrics, "predict": target.task in TASKS}
        if all(score if isinstance(score, str) else score.own for score in metrics):
            found["path"] = partial(tree_path, task=target.task)
        return found
    if target.task in ("counts", "survival"):
        return {"metrics": metrics or [DEFAULT_METRICS[target.task][0]], "predict": True}
    is_classes, model = target.task == "classification", estimator[-1]
    is_own = target.task == "multilabel" or min(len(test) for _, test in folds) == 1
    if is_own and not metrics and not is_classes:
        return {}
    metrics = metrics or ["accuracy" if is_classes else "r2"]
    how: dict[str, Any] = {"metrics": metrics, "predict": target.task in TASKS}
    if getattr(model, "nonnegative", False):  # a path has coefficients of any sign
        return how
    if isinstance(model, SizedRidge):
        how["path"] = partial(ridge_path, alpha=None, is_classes=False)
    elif is_classes and _counts_hits(metrics):
        how["path"] = partial(ridge_path, alpha=RIDGE * len(folds[0][0]), is_classes=True)
    return how


def _counts_hits(metrics: Sequence[Any]) -> bool:
    """Whether accuracy decides, and all other scores come from predictions too."""
    owns = [score if isinstance(score, str) else score.own for score in metrics]
    return owns[0] == "accuracy" and all(owns)


def ridge_path(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    counts: Sequence[int],
    *,
    alpha: float | None,
    is_classes: bool,
    **weights: Any,
) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Predictions of a ridge model from the first k columns, for every k of ``counts``.

    With G + alpha I = L L' over all columns, the factor over the first k columns is the leading
    block of L. So with U = L^-1 X'Y and V = L^-1 X_test', both computed once, the prediction
    from k columns is the sum of the first k products V_j' U_j: every further column adds one.
    Without ``alpha`` the strength is k, as that of :class:`SizedRidge` is, and every k has a factor
    of its own. ``weights`` holds the sample weights as the steps of the pipeline take them. With
    the label goes what the model says of every class, see
    :func:`~sparsieve.scoring.models.class_votes`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.scoring.ridge_path import ridge_path
    >>> X, y = load_wine(return_X_y=True)
    >>> found = ridge_path(X[::2], y[::2], X[1::2], [1, 13], alpha=9.0, is_classes=True)
    >>> [round(float(np.mean(labels == y[1::2])), 3) for labels, _ in found]
    [0.674, 0.989]
    """
    sample_weight = next(iter(weights.values()), None)
    X_train, X_test = (np.asarray(X, dtype=real_dtype(X.dtype)) for X in (X_train, X_test))
    means, variances = one_pass.moments(X_train, sample_weight)
    scale = np.sqrt(variances)
    rounding = len(X_train) * np.finfo(np.float64).eps * np.abs(means)
    scale[scale <= rounding] = 1.0  # constant columns, as StandardScaler has them
    labels, shares = None, np.empty(0)
    target: Any
    if is_classes:
        labels, codes = np.unique(y_train, return_inverse=True)
        shares = np.bincount(codes) / len(codes)
        mean = code_sizes(codes, len(labels), sample_weight)
        mean /= mean.sum()
        target = Coded(codes, np.eye(len(labels)) - mean)
    else:
        Y = np.reshape(y_train, (len(y_train), -1))
        mean = np.average(Y, axis=0, weights=sample_weight)
        target = Y - mean
    # Below the test samples stands the mean of the training part, which votes are compared with.
    middle = means if sample_weight is None else X_train.mean(axis=0)
    Z_test = (np.vstack([X_test, middle]) - means) / scale
    gram, products, _ = DenseBlocks(DenseDesign(X_train)).joint_gram(
        target, np.eye(len(mean)), centre=means, scale=scale, weights=sample_weight
    )
    predictions: list[tuple[np.ndarray, np.ndarray | None]] = []
    if alpha is None:
        for k in counts:
            found = mean + Z_test[:-1, :k] @ sized_coefficients(gram[:k, :k], products[:k])
            predictions.append((np.reshape(found, (-1, *np.shape(y_train)[1:])), None))
        return predictions
    gram[np.diag_indices_from(gram)] += alpha
    factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    both = solve_triangular(factor, np.hstack([products, Z_test.T]), lower=True, check_finite=False)
    U, V = np.hsplit(both, [len(mean)])
    numbers, done = np.tile(mean, (len(Z_test), 1)), 0
    for k in counts:
        numbers = numbers + V[done:k].T @ U[done:k]
        done, found = k, numbers[:-1]
        guess = np.reshape(found, (-1, *np.shape(y_train)[1:]))
        votes = None
        if labels is not None:
            guess, votes = labels[found.argmax(axis=1)], found - numbers[-1] + shares
        predictions.append((guess, votes))
    return predictions


# Samples below which leaves may be smaller than scikit-learn's 20.
SMALL = 1000
# Samples that quick trees are grown on: more would not order numbers of features otherwise.
MAX_GROWN_ON = 4000
QUICK = Boosting(n_trees=16, n_leaves=12, price=0.0, columns=1.0)


def trees_estimator(task: str, n_samples: int, *, balanced: bool = False) -> Pipeline:
    """Boosted trees of scikit-learn for classes, numbers or counts.

    ``balanced`` gives every class the same weight.
    """
    how: dict[str, Any] = {
        "max_leaf_nodes": 15,
        "min_samples_leaf": 20 if n_samples >= SMALL else max(3, n_samples // 50),
        "l2_regularization": 1.0,
        "early_stopping": False,
        "random_state": 0,
    }
    if task == "classification":
        weights = "balanced" if balanced else None
        return make_pipeline(HistGradientBoostingClassifier(class_weight=weights, **how))
    loss = "poisson" if task == "counts" else "squared_error"
    return make_pipeline(HistGradientBoostingRegressor(loss=loss, **how))


def tree_path(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    counts: Sequence[int],
    *,
    task: str,
    **weights: Any,
) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Predictions of quick boosted trees from the first k columns, for every k of ``counts``.

    The columns are coded once, and trees grown on at most 4,000 samples. The test samples take part
    without weight, so that every tree says which leaves they are in. Classes are numbers, 0 or 1,
    whose predictions are the votes.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.ridge_path import tree_path
    >>> X = np.random.default_rng(0).standard_normal((400, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> found = tree_path(X[::2], y[::2], X[1::2], [1, 2], task="classification")
    >>> [bool(np.mean(labels == y[1::2]) > 0.8) for labels, _ in found]
    [False, True]
    """
    classes, firsts, codes = np.unique(y_train, return_index=True, return_inverse=True)
    rows = np.arange(len(X_train))
    if len(rows) > MAX_GROWN_ON:
        rows = np.random.default_rng(0).permutation(rows)[:MAX_GROWN_ON]
        rows = np.union1d(rows, firsts) if task == "classification" else np.sort(rows)
    n_train, n_test = len(rows), len(X_test)
    w = np.zeros(n_train + n_test)
    given = next(iter(weights.values()), None)
    w[:n_train] = 1.0 if given is None else np.asarray(given, dtype=np.float64)[rows]
    table = code_columns(np.vstack([X_train[rows], X_test]).astype(np.float64, copy=False))
    numbers = np.reshape(y_train, (len(y_train), -1))
    if task == "classification":
        numbers = np.eye(len(classes))[codes]
        numbers = numbers[:, 1:] if len(classes) == 2 else numbers
    numbers = np.asarray(numbers, dtype=np.float64)[np.append(rows, np.full(n_test, rows[0]))]
    loss: Any = Poisson(numbers[:, 0], w) if task == "counts" else Squares(numbers, w)
    predictions: list[tuple[np.ndarray, np.ndarray | None]] = []
    for k in counts:
        F = QUICK.fit(table.columns(np.arange(k)), loss, np.random.default_rng(0))[1][n_train:]
        found = np.exp(F) if task == "counts" else loss.in_units(F)
        if task == "classification":
            votes = np.hstack([1.0 - found, found]) if len(classes) == 2 else found
            predictions.append((classes[votes.argmax(axis=1)], votes))
        else:
            predictions.append((np.reshape(found, (-1, *np.shape(y_train)[1:])), None))
    return predictions
