"""Linear or not: two paths of features, compared on samples that neither of them has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.special import kl_div
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from ..selectors.trees.boosting import Boosting, CodedColumns, Squares, code_columns
from ..solvers.losses.separable import Poisson
from ..validation.containers import with_usual_columns
from ..validation.training_data import group_codes
from .folds import Fold, make_folds
from .likelihood_models import LikelihoodRidge
from .softmax import SoftmaxRegression

PATHS = ("linear", "trees")
SIZES = (5, 10, 20)
MIN_SAMPLES = 100
MAX_SAMPLES = 2000
MAX_FEATURES = 2000
SMALL = 600  # samples below which there are more folds
FOLDS, FOLDS_OF_SMALL = 3, 5
LEAST_Z = 2.0
LEAST_GAIN = 0.015  # of the error of a guess
RIDGES = np.geomspace(1e-3, 10.0, 7)  # per sample
CLIP = 5.0  # standard deviations of a column
LEAST_COUNT = 1e-9  # that a model predicts
MODEL = Boosting(n_trees=20, n_leaves=8, price=0.0)


@dataclass(frozen=True)
class RelationFound:
    """Which of two paths of features predicts better, and by how much.

    Attributes
    ----------
    choice : {"linear", "trees"}
    why : str
        What decided, as a sentence.
    z : float
        Difference of the errors of the paths, in standard errors; above 0 for trees.
    gain : float
        That difference as a share of the error of a guess.
    sizes : ndarray of int
        Numbers of features that were compared.
    explained : ndarray of shape (2, n_sizes)
        Share of the error of a guess that is explained on samples held out: by a linear model
        with the features of the linear path, and by boosted trees with those of trees.
    n_samples, n_folds : int
        Samples that were used, and folds; no folds where nothing was compared.
    """

    choice: str
    why: str
    z: float
    gain: float
    sizes: np.ndarray
    explained: np.ndarray
    n_samples: int
    n_folds: int

    def explained_curve(self, path: str) -> np.ndarray:
        """Shares that are explained with the features of a path, at every number of them."""
        return np.asarray(self.explained[PATHS.index(path)])


def compare_relations(
    X: np.ndarray,
    y: Any,
    task: str,
    linear: Any,
    trees: Any,
    *,
    sample_weight: np.ndarray | None = None,
    groups: Any = None,
    n_kept: int = 0,
    n_folds: int | None = None,
    random_state: int = 0,
) -> RelationFound:
    """Compare a linear path of features with one of trees, held out on the same folds.

    Both are fitted on the training part of every fold. With 5, 10 and 20 features of the linear
    path softmax regression (ridge regression for numbers, Poisson regression for counts) predicts
    the samples held out, and boosted trees with as many of theirs, as the models do that are kept
    in the end; the linear path is never judged as worse than a guess. Errors are squared, of
    probabilities or of numbers; those of counts are deviances. Trees are taken where their error is
    smaller by two standard errors and by 1.5 % of the error of a guess.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN marks missing values; for the linear path and ridge regression they are filled by
        medians.
    y : array
        Labels, numbers or counts, as a selector takes them.
    task : {"classification", "regression", "counts"}
    linear, trees : selector
        Not fitted.
    sample_weight : ndarray of shape (n_samples,), default=None
    groups : array of shape (n_samples,), default=None
        Samples of a group stay in one fold, and count as one where the standard error is made.
    n_kept : int, default=0
        How many columns both selectors always keep: they count in addition to the 5, 10 and 20.
    n_folds : int or None, default=None
        None means three, and five below 600 samples.
    random_state : int, default=0
        Seed of the samples and folds.

    Returns
    -------
    found : RelationFound

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import BoostedTreesSelector, RidgeForwardSelector
    >>> from sparsieve.scoring.relation import compare_relations
    >>> X = np.random.default_rng(0).standard_normal((300, 20))
    >>> paths = RidgeForwardSelector(), BoostedTreesSelector()
    >>> compare_relations(X, np.abs(X[:, 3]), "regression", *paths).choice
    'trees'
    >>> compare_relations(X, X[:, 3] - X[:, 5], "regression", *paths).choice
    'linear'
    """
    n, d = X.shape
    if n < MIN_SAMPLES or d > MAX_FEATURES:
        few = f"fewer than {MIN_SAMPLES} samples" if n < MIN_SAMPLES else ""
        return _linear_at_once(few or f"more than {MAX_FEATURES:,} features", n)
    rows = np.arange(n)
    if n > MAX_SAMPLES:
        rows = np.sort(np.random.default_rng(random_state).permutation(n)[:MAX_SAMPLES])
    X, y, n = X[rows], y[rows], len(rows)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)[rows]
    codes = None if groups is None else group_codes(groups, len(groups))[rows]
    n_folds = n_folds or (FOLDS_OF_SMALL if n < SMALL else FOLDS)
    if codes is not None:
        codes = np.unique(codes, return_inverse=True)[1]
        if codes.max() + 1 < n_folds:
            return _linear_at_once(f"fewer than {n_folds} groups", n)
    is_classes = task == "classification"
    if is_classes and np.unique(y, return_counts=True)[1].max() < n_folds:
        return _linear_at_once(f"fewer than {n_folds} samples of every class", n)
    folds = make_folds(y, n_folds, seed=random_state, stratified=is_classes, groups=codes)
    if is_classes and min(len(np.unique(y[train])) for train, _ in folds) < 2:
        return _linear_at_once("folds whose training samples are all of one class", n)
    sizes = np.array([k for k in SIZES if k < d - n_kept] or [d - n_kept])
    X, _ = with_usual_columns(X, scale_free=True, owner="compare_relations")
    Y = _numbers(y, task)
    unit = np.where(((spread := Y.std(axis=0)) > 0) & (task != "counts"), spread, 1.0)
    problem = _Compared(X, y, Y / unit, unit, weights, sizes + n_kept, n_kept, task)
    errors, guess = problem.errors(folds, linear, trees)
    return _judge_errors(errors, guess, weights, codes, sizes, len(folds))


def _linear_at_once(why: str, n_samples: int) -> RelationFound:
    nothing = np.empty((len(PATHS), 0))
    why = f"Nothing was compared: there are {why}."
    sizes = np.empty(0, dtype=np.int64)
    return RelationFound("linear", why, 0.0, 0.0, sizes, nothing, n_samples, 0)


def _numbers(y: Any, task: str) -> np.ndarray:
    """What errors are of: codes of classes, counts or numbers."""
    if task == "classification":
        classes, codes = np.unique(y, return_inverse=True)
        Y = np.eye(len(classes))[codes]
        return Y[:, 1:] if len(classes) == 2 else Y
    return np.asarray(y, dtype=np.float64).reshape(len(y), -1)


@dataclass(frozen=True)
class _Compared:
    """Some samples, on which paths are compared."""

    X: np.ndarray
    y: Any
    Y: np.ndarray  # in these units
    unit: np.ndarray
    weights: np.ndarray | None
    sizes: np.ndarray  # with the columns that are always kept
    n_kept: int
    task: str

    def errors(self, folds: list[Fold], linear: Any, trees: Any) -> tuple[np.ndarray, np.ndarray]:
        """Errors by path, size and sample; and those of a guess."""
        X, Y, n = self.X, self.Y, len(self.X)
        errors = np.zeros((len(PATHS), len(self.sizes), n))
        guess = np.zeros(n)
        table = code_columns(X)
        has_gaps = bool(table.has_gaps.any())
        for train, test in folds:
            mean = np.average(Y[train], axis=0, weights=self._weights(train))
            guess[test] = self._error(test, mean)
            filled = _fill_gaps(X, train) if has_gaps else X
            by_lines = self._fit_selector(linear, filled, train)
            for s, support in enumerate(self._supports(by_lines)):
                errors[0, s, test] = self._error(test, self._line(filled[:, support], train, test))
            by_trees = self._fit_selector(trees, X, train)
            for s, support in enumerate(self._supports(by_trees)):
                found = self._boost(table.columns(support), train, test)
                errors[1, s, test] = self._error(test, found)
        return errors, guess

    def _error(self, test: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Deviances of counts, halved, or squares."""
        if self.task == "counts":
            return np.asarray(kl_div(self.Y[test], np.maximum(found, LEAST_COUNT)).sum(axis=1))
        return np.asarray(((self.Y[test] - found) ** 2).sum(axis=1))

    def _weights(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.weights is None else self.weights[rows]

    def _fit_selector(self, selector: Any, values: np.ndarray, train: np.ndarray) -> Any:
        how: dict[str, Any] = {}
        if self.weights is not None and has_fit_parameter(selector, "sample_weight"):
            how["sample_weight"] = self.weights[train]
        selector = selector.reaching(int(self.sizes[-1]))
        if hasattr(selector, "_n_least"):
            selector._n_least = int(self.sizes[0]) - self.n_kept
        return selector.fit(values[train], self.y[train], **how)

    def _supports(self, fitted: Any) -> list[np.ndarray]:
        most = fitted.n_ranked_
        return [fitted.at(min(int(k), most)).get_support(indices=True) for k in self.sizes]

    def _line(self, X: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Predictions of the linear model, in the columns of Y."""
        weights = self._weights(train)
        if self.task not in ("classification", "counts"):
            return _ridge(X, self.Y, train, test, weights)
        scaler = StandardScaler().fit(X[train])
        model = SoftmaxRegression() if self.task == "classification" else LikelihoodRidge("counts")
        model.fit(scaler.transform(X[train]), self.y[train], weights)
        if self.task == "counts":
            return np.asarray(model.predict(scaler.transform(X[test])))[:, None]
        classes = np.unique(self.y)
        found = np.zeros((len(test), len(classes)))  # 0 of classes that it has not seen
        places = np.searchsorted(classes, model.classes_)
        found[:, places] = model.predict_proba(scaler.transform(X[test]))
        return found[:, -self.Y.shape[1] :] / self.unit

    def _boost(self, table: CodedColumns, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Samples held out take part without weight: what leaves they end up in is all."""
        weights = np.zeros(len(self.Y))
        weights[train] = 1.0 if self.weights is None else self.weights[train]
        counts = self.task == "counts"
        loss: Any = Poisson(self.Y[:, 0], weights) if counts else Squares(self.Y, weights)
        _, F = MODEL.fit(table, loss, np.random.default_rng(0))
        return np.exp(F[test]) if counts else loss.in_units(F[test])


def _fill_gaps(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Missing values by the medians of the training part; 0 where nothing is known."""
    gaps = np.isnan(X)
    known = ~gaps[train].all(axis=0)
    medians = np.zeros(X.shape[1])
    medians[known] = np.nanmedian(X[np.ix_(train, known)], axis=0)
    return np.where(gaps, medians, X)


def _ridge(
    X: np.ndarray,
    Y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    weights: np.ndarray | None,
) -> np.ndarray:
    """Ridge regression on standardised, clipped columns; the ridge by generalised CV."""
    w = np.ones(len(train)) if weights is None else weights
    w = w / w.mean()
    n = len(train)
    centre = w @ X[train] / n
    scale = np.sqrt(w @ (X[train] - centre) ** 2 / n)
    X = np.clip((X - centre) / np.where(scale > 1e-12, scale, 1.0), -CLIP, CLIP)
    mean = w @ Y[train] / n
    root = np.sqrt(w)[:, None]
    A, B = root * X[train], root * (Y[train] - mean)
    squares, V = eigh(A.T @ A)
    squares, T = np.maximum(squares, 0.0), V.T @ (A.T @ B)
    best, found = np.inf, np.zeros_like(T)
    for ridge in RIDGES * n:
        W = T / (squares + ridge)[:, None]
        left = float(((B - A @ (V @ W)) ** 2).sum())
        score = left / (1.0 - float((squares / (squares + ridge)).sum() + 1.0) / n) ** 2
        if score < best:
            best, found = score, W
    return X[test] @ (V @ found) + mean


def _and(numbers: np.ndarray) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def _judge_errors(
    errors: np.ndarray,
    guess: np.ndarray,
    weights: np.ndarray | None,
    codes: np.ndarray | None,
    sizes: np.ndarray,
    n_folds: int,
) -> RelationFound:
    w = np.ones(len(guess)) if weights is None else weights / weights.mean()
    n, worst = len(guess), float((w * guess).mean())
    means = (w * errors).mean(axis=-1)
    explained = 1.0 - means / max(worst, 1e-300)
    linear, trees = errors.mean(axis=1)
    if float((w * linear).mean()) > worst:
        linear = guess
    difference = w * (linear - trees)
    gain = float(difference.mean()) / max(worst, 1e-300)
    parts = difference if codes is None else np.bincount(codes, difference)
    m = len(parts)
    spread = float(parts.std(ddof=1)) * np.sqrt(m) / n
    z = float(difference.mean()) / max(spread, 1e-300) if difference.any() else 0.0
    is_trees = z > LEAST_Z and gain > LEAST_GAIN
    choice = PATHS[int(is_trees)]
    shown = [f"{100 * max(share, 0.0):.0f} %" for share in 1.0 - np.array([
        float((w * linear).mean()), float((w * trees).mean())]) / max(worst, 1e-300)]  # fmt: skip
    why = (
        f"On samples held out, features by trees explain {shown[1]} of the target and features by "
        f"a linear path {shown[0]}, on average over {_and(sizes)} features."
    )
    return RelationFound(choice, why, z, gain, sizes, explained, n, n_folds)
