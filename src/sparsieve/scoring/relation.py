"""Linear or not: two paths of features, compared on samples that neither of them has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import kl_div
from sklearn.utils.validation import has_fit_parameter

from ..selectors.around import weight_arguments
from ..validation.containers import with_usual_columns
from ..validation.training_data import group_codes
from .folds import make_folds
from .ridge_path import default_estimator, tree_path

PATHS = ("linear", "trees")
SIZES = (5, 10, 20)
MIN_SAMPLES = 100
MAX_SAMPLES = 2000
MAX_FEATURES = 2000
SMALL = 1000  # samples below which there are more folds
FOLDS, FOLDS_OF_SMALL = 3, 5
LEAST_Z = 2.0
LEAST_GAIN = 0.015  # of the error of a guess
CLEAR = 2.0  # times both: then no further fold is asked
MIN_CLEAR = 300  # samples held out until then
LEAST_COUNT = 1e-9  # that a model predicts


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
        Samples that were held out, and folds; no folds where nothing was compared.
    """

    choice: str
    why: str
    z: float
    gain: float
    sizes: np.ndarray
    explained: np.ndarray
    n_samples: int
    n_folds: int

    @property
    def is_clear(self) -> bool:
        """Whether further samples would hardly change the choice."""
        if self.n_samples < MIN_CLEAR or abs(self.z) <= CLEAR * LEAST_Z:
            return False
        return self.z < 0 or self.gain > CLEAR * LEAST_GAIN

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
    smaller by two standard errors and by 1.5 % of the error of a guess. Where one path is better by
    twice as much after some folds, the others are not asked.

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
        None means three, and five below 1,000 samples.
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
    n_folds = n_folds or count_folds(n)
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
    errors, guess, held = np.zeros((len(PATHS), len(sizes), n)), np.zeros(n), np.zeros(n, bool)
    gaps = bool(np.isnan(X).any())
    for done, (train, test) in enumerate(folds, 1):
        filled = _fill_gaps(X, train) if gaps else X
        guess[test] = problem.guess_error(train, test)
        errors[0][:, test] = problem.linear_errors(linear, filled, train, test)
        errors[1][:, test] = problem.tree_errors(trees, train, test)
        held[test] = True
        w, own = (None if part is None else part[held] for part in (weights, codes))
        found = _judge_errors(errors[..., held], guess[held], w, own, sizes, done)
        if found.is_clear:
            break
    return found


def count_folds(n_samples: int) -> int:
    """Folds that a path of trees is judged on: each is a costly fit."""
    return FOLDS_OF_SMALL if n_samples < SMALL else FOLDS


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

    def guess_error(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Of every sample held out: the error of the mean of the others."""
        mean = np.average(self.Y[train], axis=0, weights=self._weights(train))
        return self._error(test, mean)

    def linear_errors(
        self, selector: Any, X: np.ndarray, train: np.ndarray, test: np.ndarray
    ) -> np.ndarray:
        """Those of the linear model that is shipped, for every number of features."""
        order, counts = self._ranked(selector, X, train)
        rows = []
        for k in counts:
            model, own = default_estimator(self.task, len(train)), X[:, order[:k]]
            model.fit(own[train], self.y[train], **weight_arguments(model, self._weights(train)))
            if self.task == "classification":
                rows.append(self._shares(test, model.predict_proba(own[test]), model.classes_))
            else:
                rows.append(self._error(test, self._in_units(model.predict(own[test]))))
        return np.array(rows)

    def tree_errors(self, selector: Any, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Those of quick boosted trees."""
        order, counts = self._ranked(selector, self.X, train)
        own, weights = self.X[:, order[: counts[-1]]], self._weights(train)
        how = {} if weights is None else {"sample_weight": weights}
        found = tree_path(own[train], self.y[train], own[test], counts, task=self.task, **how)
        if self.task == "classification":
            classes = np.unique(self.y[train])
            return np.array([self._shares(test, votes, classes) for _, votes in found])
        return np.array([self._error(test, self._in_units(guess)) for guess, _ in found])

    def _in_units(self, guess: np.ndarray) -> np.ndarray:
        return np.reshape(guess, (len(guess), -1)) / self.unit

    def _shares(self, test: np.ndarray, votes: Any, seen: np.ndarray) -> np.ndarray:
        """Errors of probabilities, which are 0 of classes that were not seen."""
        classes = np.unique(self.y)
        found = np.zeros((len(test), len(classes)))
        found[:, np.searchsorted(classes, seen)] = votes
        return self._error(test, found[:, -self.Y.shape[1] :] / self.unit)

    def _error(self, test: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Deviances of counts, halved, or squares."""
        if self.task == "counts":
            return np.asarray(kl_div(self.Y[test], np.maximum(found, LEAST_COUNT)).sum(axis=1))
        return np.asarray(((self.Y[test] - found) ** 2).sum(axis=1))

    def _weights(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.weights is None else self.weights[rows]

    def _ranked(
        self, selector: Any, values: np.ndarray, train: np.ndarray
    ) -> tuple[np.ndarray, list[int]]:
        """Features in their order, and the numbers of them that are compared."""
        how: dict[str, Any] = {}
        if self.weights is not None and has_fit_parameter(selector, "sample_weight"):
            how["sample_weight"] = self.weights[train]
        selector = selector.reaching(int(self.sizes[-1]))
        if hasattr(selector, "_n_least"):
            selector._n_least = int(self.sizes[0]) - self.n_kept
        fitted = selector.fit(values[train], self.y[train], **how)
        counts = [min(int(k), fitted.n_ranked_) for k in self.sizes]
        return np.argsort(fitted.ranking_, kind="stable"), counts


def _fill_gaps(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Missing values by the medians of the training part; 0 where nothing is known."""
    gaps = np.isnan(X)
    known = ~gaps[train].all(axis=0)
    medians = np.zeros(X.shape[1])
    medians[known] = np.nanmedian(X[np.ix_(train, known)], axis=0)
    return np.where(gaps, medians, X)


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
    w = np.ones(len(guess)) if weights is None else weights / max(weights.mean(), 1e-300)
    n, worst = len(guess), float((w * guess).mean())
    means = (w * errors).mean(axis=-1)
    explained = 1.0 - means / max(worst, 1e-300)
    linear, trees = errors.mean(axis=1)
    if float((w * linear).mean()) > worst:
        linear = guess
    difference = w * (linear - trees)
    gain = float(difference.mean()) / max(worst, 1e-300)
    parts = difference
    if codes is not None:
        parts = np.bincount(np.unique(codes, return_inverse=True)[1], difference)
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
