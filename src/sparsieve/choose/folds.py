"""One fold of a curve over k: rank its training part once, score all numbers of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import _check_method_params

from ..frames.prepare import fitted_on
from ..selectors.foreign import is_tensor
from ..selectors.target import Target
from .base import ranking_of
from .ridge_curve import ridge_curve


@dataclass(frozen=True)
class CurveWork:
    """What every fold needs; ``ours`` says that the estimator is the default one."""

    X: Any
    y: np.ndarray
    target: Target
    selector: Any
    estimator: Any
    scorer: Any
    ks: np.ndarray
    arguments: Bunch
    ours: bool
    fast: bool
    prepare: Any = None

    def prepared(self, train) -> CurveWork:
        """The same on an X that is prepared by what these samples teach."""
        return replace(self, X=fitted_on(self.prepare, self.X, train)[1], prepare=None)

    def params(self, member: str, method: str, index) -> dict:
        """Metadata of these samples for a method of a member."""
        return _check_method_params(self.X, self.arguments[member][method], indices=index)

    def columns(self, rows, index):
        """Samples with some features; the default model wants them dense."""
        if is_tensor(self.X):  # few columns, for a model on the host
            return self.X[:, index][rows].cpu().numpy()
        part = self.X[rows][:, index]
        return dense(part) if self.ours else part

    def rank(self, rows):
        """(fitted selector, ranking) of these samples."""
        rows = np.arange(self.X.shape[0])[rows]
        fitted = clone(self.selector).fit(
            self.X[rows], self.y[rows], **self.params("selector", "fit", rows)
        )
        return fitted, ranking_of(fitted, self.X.shape[1], int(self.ks[-1]))


class FoldScores(NamedTuple):
    """What one fold gives.

    ``scores`` are those at all ks, ``order`` the features, best first, and ``votes`` the
    predictions of the held-out samples on average over the ks, where the default model made them.
    """

    scores: np.ndarray
    order: np.ndarray
    votes: np.ndarray | None
    select_seconds: float
    model_seconds: float


def score_fold(work: CurveWork, train, test, verbose: int) -> FoldScores:
    """Rank the training part of a fold and score all numbers of features on the rest."""
    start = perf_counter()
    work = work.prepared(train)
    _, ranking = work.rank(train)
    ranked = perf_counter()
    order = np.argsort(ranking)[: work.ks[-1]]
    # The columns that any k needs, in order of rank.
    X_train, X_test = work.columns(train, order), work.columns(test, order)
    fit_params = work.params("estimator", "fit", train)
    votes = None
    # One held-out number has no R squared, of which the scorer warns.
    if work.fast and (len(test) > 1 or work.target.codes is not None):
        scores, votes = ridge_curve(
            *(X_train, work.target.rows(train)),
            *(X_test, work.target.rows(test)),
            work.ks,
            alpha=work.estimator[-1].alpha,
            sample_weight=next(iter(fit_params.values()), None),
        )
    else:
        score_params = work.params("scorer", "score", test)
        scores = np.empty(len(work.ks))
        for i, k in enumerate(work.ks):
            model = clone(work.estimator).fit(X_train[:, :k], work.y[train], **fit_params)
            scores[i] = work.scorer(model, X_test[:, :k], work.y[test], **score_params)
    done = perf_counter()
    if verbose:
        print(f"fold of {len(test)} samples: best score {scores.max():.4f}, {done - start:.2f} s")
    return FoldScores(scores, order, votes, ranked - start, done - ranked)


def dense(X) -> np.ndarray:
    """A sparse matrix as an array; arrays as they are."""
    return X.toarray() if hasattr(X, "toarray") else X
