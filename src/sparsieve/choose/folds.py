"""One fold of a curve over k: rank its training part once, score all numbers of features."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import _check_method_params

from ..selectors.foreign import is_tensor
from ..selectors.target import Target, already_told
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
        with already_told():
            fitted = clone(self.selector).fit(
                self.X[rows], self.y[rows], **self.params("selector", "fit", rows)
            )
        return fitted, ranking_of(fitted, self.X.shape[1], int(self.ks[-1]))


def score_fold(work: CurveWork, train, test, verbose: int):
    """(scores at all ks, seconds of the selection, seconds of the models) of one fold."""
    start = perf_counter()
    _, ranking = work.rank(train)
    ranked = perf_counter()
    order = np.argsort(ranking)[: work.ks[-1]]
    # The columns that any k needs, in order of rank.
    X_train, X_test = work.columns(train, order), work.columns(test, order)
    fit_params = work.params("estimator", "fit", train)
    if work.fast and len(test) > 1:
        scores = ridge_curve(
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
    return scores, ranked - start, done - ranked


def dense(X) -> np.ndarray:
    """A sparse matrix as an array; arrays as they are."""
    return X.toarray() if hasattr(X, "toarray") else X
