"""Forward selection of whole groups of columns, such as the values of one category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .._checks import check_integer, check_real
from .._saved import Bools, Floats, Ints, Maybe, Savable
from ..design.dense import DenseDesign
from ..validation.capabilities import Capabilities
from ..validation.training_data import training_data
from .groups import group_labels


class GroupForwardSelector(Savable, Capabilities, SelectorMixin, BaseEstimator):
    r"""Forward selection of whole groups of columns.

    The columns that :func:`~sparsieve.make_preprocessor` makes from one category, or from a number
    and its missing values, belong together. Every step adds the group that lowers the error of a
    ridge regression most, beyond what the same number of noise columns would; a group is kept as a
    whole or not at all.

    Parameters
    ----------
    n_groups_to_select : int or None, default=None
        Number of groups to keep. None keeps adding groups while the next one explains more than
        expected from the best of the same number of noise groups; at least one is kept.
    groups : "names" or array-like of shape (n_features,), default="names"
        Group label of every column. "names" uses the part of the column name before ``=``; without
        names every column is a group.
    ridge : float, default=0.01
        Ridge relative to the number of samples.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; where whole numbers could be either, it raises an
        error that asks you to choose.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    selected_groups_ : list
        Labels of the selected groups, best first.
    groups_ : list
        Labels of all groups, in the order in which they appear in X.
    group_scores_ : ndarray of shape (n_groups,)
        Fraction of the target that the group explained when it was added, minus what noise would
        explain; for groups that were not selected, the fraction they would explain if added next.
        Noise scores around zero for any number of columns.
    group_ranking_ : ndarray of shape (n_groups,)
        Rank of every group, 1 for the best.
    scores_, ranking_ : ndarray of shape (n_features,)
        Score and rank of the group of every column.

    See Also
    --------
    sparsieve.make_preprocessor : Converts a data frame to numeric columns.

    Notes
    -----
    With the standardised columns :math:`X_S` of the groups chosen so far, :math:`\mu` the ridge
    times the number of samples and :math:`H_S = X_S (X_S'X_S + \mu I)^{-1} X_S'`, group g gains
    :math:`Y'(H_{S+g} - H_S)Y`. White noise would gain its variance times the trace of
    :math:`H_{S+g} - H_S`; the variance is estimated by :math:`Y'(I - H_S)Y` over its degrees of
    freedom. The difference is the score. The search is greedy: it does not look back.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from sparsieve import GroupForwardSelector, make_preprocessor
    >>> frame = pd.DataFrame(
    ...     {
    ...         "diet": ["fish", "meat", "none"] * 20,
    ...         "age": [30 + i % 7 for i in range(60)],
    ...         "site": ["a", "b", "b", "a"] * 15,
    ...     }
    ... )
    >>> ill = (frame["diet"] == "meat").astype(int)
    >>> model = make_pipeline(make_preprocessor(frame), GroupForwardSelector(1)).fit(frame, ill)
    >>> model[-1].selected_groups_, model.get_feature_names_out().tolist()
    (['diet'], ['diet=fish', 'diet=meat', 'diet=none'])
    """

    _accepts_sparse: ClassVar[bool] = False

    n_features_in_: int
    classes_: Maybe[Any]
    groups_: list[Any]
    group_scores_: Annotated[Floats, "groups"]
    group_ranking_: Annotated[Ints, "groups"]
    selected_groups_: list[Any]
    scores_: Annotated[Floats, "features"]
    ranking_: Annotated[Ints, "features"]
    support_: Annotated[Bools, "features"]

    def _state_checks(self) -> Iterator[bool]:
        yield len(self.support_) == self.n_features_in_

    def __init__(
        self,
        n_groups_to_select: int | None = None,
        *,
        groups: str | Sequence[Any] | np.ndarray = "names",
        ridge: float = 0.01,
        task: str = "auto",
    ) -> None:
        self.n_groups_to_select = n_groups_to_select
        self.groups = groups
        self.ridge = ridge
        self.task = task

    def fit(self, X: Any, y: Any) -> GroupForwardSelector:
        """Select groups of columns of X by how informative they are about y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers without missing values.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or real-valued targets.

        Returns
        -------
        self : object
            The fitted selector.
        """
        check_real("ridge", self.ridge, minimum=0, strict=True)
        if self.n_groups_to_select is not None:
            check_integer("n_groups_to_select", self.n_groups_to_select)
        data = training_data(self, X, y)
        if not isinstance(data.design, DenseDesign):
            raise TypeError("GroupForwardSelector needs X as a NumPy array or data frame")
        values = data.design.array
        numbers, self.groups_ = group_labels(
            self.groups, values.shape[1], getattr(self, "feature_names_in_", None)
        )
        n_groups, wanted = len(self.groups_), self.n_groups_to_select
        if wanted is not None and wanted > n_groups:
            raise ValueError(
                f"n_groups_to_select={wanted} is larger than the {n_groups} "
                f"group{'s' * (n_groups != 1)} of columns; ask for at most {n_groups}"
            )
        order, scores = forward_groups(values, data.target.Y, numbers, self.ridge, wanted)
        self.group_scores_ = scores
        self.group_ranking_ = np.empty(n_groups, dtype=np.int64)
        left = np.setdiff1d(np.arange(n_groups), order)
        rest = left[np.argsort(-scores[left], kind="stable")]
        self.group_ranking_[[*order, *rest]] = np.arange(1, n_groups + 1)
        self.selected_groups_ = [self.groups_[g] for g in order]
        self.scores_, self.ranking_ = self.group_scores_[numbers], self.group_ranking_[numbers]
        self.support_ = self.ranking_ <= len(order)
        return self

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``group_scores_``."""
        return (
            "Fraction of the target that the group explained when it was added, minus what the "
            "same number of noise columns would explain; for groups that were not selected, the "
            "fraction they would explain if added next."
        )

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def forward_groups(
    X: np.ndarray, Y: np.ndarray, numbers: np.ndarray, ridge: float, n_wanted: int | None
) -> tuple[list[int], np.ndarray]:
    r"""Greedy ridge regression on groups of columns.

    With :math:`K = (\mu I + X_S X_S')^{-1}`, which is never formed, M = K X and the residual
    R = mu K Y are updated when a group enters: all gains of a step cost one pass over X.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_outputs)
    numbers : ndarray of shape (n_features,)
        Number of the group of every column, from 0.
    ridge : float
        Relative to the number of samples.
    n_wanted : int or None
        How many groups; None as many as are better than noise, at least one.

    Returns
    -------
    order : list of int
        Groups in the order in which they were chosen.
    scores : ndarray of shape (n_groups,)
        Of all groups.
    """
    n_samples, n_groups = len(X), int(numbers.max()) + 1
    X, Y = _standardised(X), _centred(Y)
    mu = ridge * n_samples
    batches = _by_size(numbers)
    M, R = X / mu, Y.copy()
    scores, used = np.zeros(n_groups), 0.0
    order: list[int] = []
    while True:
        gains, freedom = _gains(X, M, R, batches, mu, n_groups)
        left = max(n_samples - 1.0 - used, 1.0)
        noise = max(float((Y * R).sum()), 0.0) / left
        open_ = np.setdiff1d(np.arange(n_groups), order)
        scores[open_] = (gains - noise * freedom)[open_]
        if not len(open_) or len(order) == n_wanted:
            return order, scores
        best = int(open_[np.argmax(scores[open_])])
        if n_wanted is None and order and gains[best] <= noise * _chance(freedom[best], len(open_)):
            return order, scores
        order.append(best)
        used += freedom[best]
        columns = np.flatnonzero(numbers == best)
        inside = np.eye(len(columns)) + X[:, columns].T @ M[:, columns]
        entering = M[:, columns]
        R -= mu * entering @ np.linalg.solve(inside, entering.T @ Y)
        M -= entering @ np.linalg.solve(inside, X[:, columns].T @ M)


def _gains(
    X: np.ndarray,
    M: np.ndarray,
    R: np.ndarray,
    batches: list[tuple[np.ndarray, np.ndarray]],
    mu: float,
    n_groups: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Y'(H_{S+g} - H_S)Y and the trace of H_{S+g} - H_S for every group, by size of the group."""
    gains, freedom = np.empty(n_groups), np.empty(n_groups)
    C = X.T @ R / mu
    for members, columns in batches:  # as many as there are different sizes
        X3, M3, c = X[:, columns], M[:, columns], C[columns]
        inside = np.einsum("nqp,nqr->qpr", X3, M3) + np.eye(columns.shape[1])
        outer = np.einsum("nqp,nqr->qpr", M3, M3)
        gains[members] = mu * (c * np.linalg.solve(inside, c)).sum(axis=(1, 2))
        freedom[members] = mu * np.trace(np.linalg.solve(inside, outer), axis1=1, axis2=2)
    return gains, freedom


def _by_size(numbers: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(groups, their columns as an array of shape (groups, size)) for every size of a group."""
    sizes = np.bincount(numbers)
    by_group = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])
    return [
        (members, np.array([by_group[g] for g in members]))
        for members in (np.flatnonzero(sizes == size) for size in np.unique(sizes))
    ]


def _chance(freedom: float, n_groups: int) -> float:
    """What the best of so many groups of noise gains, in variances, more than rarely.

    The tail bound of chi squared (Laurent and Massart 2000) at the level of one among all groups.
    """
    level = np.log(max(n_groups, 2)) + 3.0  # 3: one time in twenty
    return freedom + 2.0 * np.sqrt(freedom * level) + 2.0 * level


def _standardised(X: np.ndarray) -> np.ndarray:
    X = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    scale = np.sqrt((X**2).mean(axis=0))
    flat = scale <= 1e-12 * np.maximum(np.abs(X).max(axis=0, initial=0.0), 1.0)
    return np.where(flat, 0.0, X / np.where(flat, 1.0, scale))


def _centred(Y: np.ndarray) -> np.ndarray:
    Y = np.asarray(Y, dtype=np.float64) - Y.mean(axis=0, dtype=np.float64)
    total = np.sqrt((Y**2).sum())
    return Y / total if total > 0 else Y
