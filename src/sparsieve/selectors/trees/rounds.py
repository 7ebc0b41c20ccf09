"""What is fitted in every round of an elimination: our trees, or those of other packages."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from ...validation.target import Target
from ..guests import guest_name, judge_features
from .boosting import ALL_COLUMNS, Boosting, CodedColumns, choose_loss
from .elimination import MANY
from .products import Products, found_products

MAX_SAMPLES = 6000  # of one fit
COLUMNS_PER_TREE = 0.4  # share of many columns that a tree sees
# On the columns that are always kept, before any other is asked.
OFFSET = Boosting(n_trees=60, n_leaves=8, rate=0.2, price=0.0, columns=1.0)


class Trees:
    """The boosted trees of scikit-learn, on columns that are coded once."""

    def __init__(
        self,
        table: CodedColumns,
        target: Target,
        weights: np.ndarray | None,
        rng: np.random.Generator,
    ) -> None:
        self.table: CodedColumns = table
        self.target: Target = target
        self.weights: np.ndarray | None = weights
        self.rng: np.random.Generator = rng
        self.whole: CodedColumns = table
        self._last: tuple[np.ndarray, Any] | None = None
        self._start: np.ndarray | None = None

    def fit_offset(self, columns: np.ndarray) -> None:
        """Let trees on some columns explain what they can; others are judged by what is left."""
        if len(columns):
            loss = choose_loss(self.target, self.weights)
            self._start = OFFSET.fit(self.table.columns(columns), loss, self.rng)[1]

    def products(self, columns: np.ndarray) -> Products:
        """Products among some columns."""
        return found_products(self.table, columns, self.on_some, self.rng)

    def on_some(self, n_most: int) -> tuple[np.ndarray, Any]:
        """Places of at most so many samples, and their loss."""
        n_samples = len(self.table.codes)
        if n_samples <= n_most:
            if self._last is None:
                self._last = np.arange(n_samples), choose_loss(self.target, self.weights)
            return self._last
        rows = np.sort(self.rng.permutation(n_samples)[:n_most])
        weights = None if self.weights is None else self.weights[rows]
        return rows, choose_loss(self.target.rows(rows), weights)

    def null_gradient(self) -> np.ndarray:
        """Of all samples, at the model without features."""
        loss = choose_loss(self.target, self.weights)
        return loss.gradient(np.tile(loss.null()[0], (len(self.table.codes), 1)))

    def use(self, products: Products) -> None:
        """Let products take part in the fits that follow."""
        if products.owners:
            self.whole = self.table.append(products.table)

    def varies(self, n_columns: int) -> bool:
        """Whether another fit draws other columns."""
        return n_columns > ALL_COLUMNS

    def gains(self, columns: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What splits explain, of columns and of products."""
        rows, loss = self.on_some(MAX_SAMPLES)
        places = np.concatenate([columns, products + self.table.codes.shape[1]])
        table = self.whole.columns(places)
        if len(rows) < len(table.codes):
            table = table.rows(rows)
        share = COLUMNS_PER_TREE if len(columns) > MANY else Boosting.columns
        start = None if self._start is None else self._start[rows]
        found, _ = Boosting(columns=share).fit(table, loss, self.rng, start)
        return found[: len(columns)], found[len(columns) :]


class GuestTrees:
    """Trees of another package, fitted anew to every set of columns, by their own importances."""

    def __init__(
        self,
        estimator: Any,
        X: np.ndarray,
        target: Target,
        weights: np.ndarray | None,
        rng: np.random.Generator,
    ) -> None:
        self.estimator: Any = estimator
        self.X: np.ndarray = X
        self.weights: np.ndarray | None = weights
        self.rng: np.random.Generator = rng
        self.y: np.ndarray = _plain(estimator, target)
        self.others: np.ndarray = np.empty((len(X), 0))
        self._has_seed = "random_state" in estimator.get_params(deep=False)

    def use(self, products: Products) -> None:
        """Let products take part in the fits that follow."""
        self.others = products.table.codes.astype(self.X.dtype) - 1

    def varies(self, n_columns: int) -> bool:
        """Whether another fit has another seed."""
        return self._has_seed

    def gains(self, columns: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the importance, of columns and of products."""
        seed = int(self.rng.integers(2**31))
        model = clone(self.estimator)
        if self._has_seed:
            model.set_params(random_state=seed)
        X = np.hstack([self.X[:, columns], self.others[:, products]])
        how = {} if self.weights is None else {"sample_weight": self.weights}
        judged = judge_features(model.fit(X, self.y, **how), X.shape[1])
        if judged is None or judged.ranks is not None:
            raise ValueError(
                f"{guest_name(model)} has no feature_importances_, by which trees are asked; pass "
                "LightGBM, XGBoost, CatBoost or a forest, or use sparsieve.SelectorAdapter"
            )
        found = np.maximum(np.nan_to_num(judged.scores), 0.0)
        found /= found.sum() or 1.0
        return found[: len(columns)], found[len(columns) :]


def check_guest(estimator: Any) -> None:
    """Refuse in a sentence what cannot be fitted."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        given = estimator.__name__ if isinstance(estimator, type) else repr(estimator)
        raise ValueError(
            f"estimator must be an object with fit and feature_importances_, got {given}; None "
            "uses the boosted trees of scikit-learn"
        )


def _plain(estimator: Any, target: Target) -> np.ndarray:
    """The target as trees take it: codes of classes, or numbers."""
    name = guest_name(estimator)
    if target.codes is not None:
        if is_regressor(estimator):
            raise ValueError(
                f"y holds classes, but {name} predicts numbers; pass a classifier, or "
                'task="regression"'
            )
        return target.codes
    if is_classifier(estimator):
        raise ValueError(
            f"{name} predicts classes, but y is a {target.task} target; pass a model that "
            "predicts numbers"
        )
    if target.task == "survival":
        raise ValueError(
            f"{name} knows no survival times; leave estimator=None, which boosts a Cox model"
        )
    return target.Y[:, 0] if target.Y.shape[1] == 1 else target.Y
