"""The ranking of a fitted selector as its readers see it: order, scores, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._beside import to_numpy
from .._checks import warn_user
from .._imports import available
from ..design import DesignMatrix, best_first, ranks
from ..validation.columns import FixedColumns
from .preparation import find_groups

KEPT_BY_REQUEST = "kept by request"
LEFT_OUT_BY_REQUEST = "left out by request"
UNRANKED = "not ranked"


@dataclass(frozen=True)
class RankedFeatures:
    """Every feature, the best first.

    Attributes
    ----------
    features : ndarray of shape (n_features,)
        Columns.
    scores : ndarray of shape (n_features,)
        Their scores.
    selected : ndarray of bool of shape (n_features,)
        Whether they are selected.
    notes : list of str
        "kept by request" and "left out by request" for columns of ``always_keep`` and
        ``never_keep``; "not ranked" beyond the end of a path, where the score is what the feature
        would have added next; else empty.
    pvalues, adjusted : ndarray of shape (n_features,) or None
        Of filters that test; adjusted by the test itself, or after Benjamini and Hochberg.
    meaning : str
        What a score says, in one sentence.
    """

    features: np.ndarray
    scores: np.ndarray
    selected: np.ndarray
    notes: list[str]
    pvalues: np.ndarray | None
    adjusted: np.ndarray | None
    meaning: str

    @property
    def falls(self) -> bool:
        """Whether no score among the ranked ones is above the one before it."""
        own = self.scores[[note == "" for note in self.notes]]
        return bool((np.diff(own) <= 0).all())

    def columns(self, names: Any) -> dict[str, np.ndarray]:
        """As columns of a table; ``names`` holds the names of all features."""
        made = {
            "rank": np.arange(1, len(self.features) + 1),
            "feature": np.array([names[j] for j in self.features]),
            "score": self.scores,
            "selected": self.selected,
        }
        if self.pvalues is not None and self.adjusted is not None:
            made |= {"p_value": self.pvalues, "p_value_fdr": self.adjusted}
        return {**made, "note": np.array(self.notes)}

    def drop_columns(self, columns: Any) -> RankedFeatures:
        """The same without some columns."""
        if not len(columns):
            return self
        rows = np.flatnonzero(~np.isin(self.features, list(columns)))
        return replace(
            self,
            features=self.features[rows],
            scores=self.scores[rows],
            selected=self.selected[rows],
            notes=[self.notes[row] for row in rows],
            pvalues=None if self.pvalues is None else self.pvalues[rows],
            adjusted=None if self.adjusted is None else self.adjusted[rows],
        )


def ranked_features(selector: Any) -> RankedFeatures:
    """Read the ranking of a fitted selector.

    Parameters
    ----------
    selector : selector
        Fitted; any that has ``ranking_`` and ``scores_``.

    Returns
    -------
    ranked : RankedFeatures

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FStatisticSelector
    >>> from sparsieve.selectors.ranked import ranked_features
    >>> X, y = load_wine(return_X_y=True)
    >>> ranked = ranked_features(FStatisticSelector(2).fit(X, y))
    >>> ranked.features[:2], bool(ranked.adjusted[0] < 1e-40)
    (array([ 6, 12]), True)
    """
    # One that chose the number of features says so of the selector inside.
    model = getattr(selector, "selector_", selector)
    pvalues = getattr(model, "pvalues_", None)
    adjusted = getattr(model, "adjusted_pvalues_", None)
    if pvalues is not None and adjusted is None:
        adjusted = adjusted_pvalues(pvalues)
        groups = find_groups(selector)
        if groups is not None and hasattr(model, "group_pvalues_"):  # as many tests as groups
            best = groups.of_columns(model.group_ranking_)
            adjusted = adjusted_pvalues(model.group_pvalues_)[best]
    n_ranked = getattr(selector, "_n_ranked", len(selector.ranking_))
    found = selector.scores_, selector.get_support(), pvalues, adjusted
    fixed = getattr(selector, "_fixed", None)
    return _in_order(selector, selector.ranking_, n_ranked, fixed, *found)


def ranked_units(selector: Any) -> RankedFeatures:
    """The same for what a selector chose among: groups, where it keeps groups of features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FStatisticSelector
    >>> from sparsieve.selectors.ranked import ranked_units
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = FStatisticSelector(1, feature_groups={"phenols": [5, 6, 7]}).fit(X, y)
    >>> ranked = ranked_units(selector)
    >>> selector.group_names_[ranked.features[:2]].tolist()
    ['phenols', 'x12']
    """
    if find_groups(selector) is None:
        return ranked_features(selector)
    model = getattr(selector, "selector_", selector)
    pvalues = getattr(model, "group_pvalues_", None)
    adjusted = None if pvalues is None else adjusted_pvalues(pvalues)
    found = model.group_scores_, model.group_support_, pvalues, adjusted
    return _in_order(selector, model.group_ranking_, model._n_ranked, model._choices, *found)


def _in_order(
    selector: Any,
    ranking: np.ndarray,
    n_ranked: int,
    fixed: FixedColumns | None,
    scores: np.ndarray,
    support: np.ndarray,
    pvalues: np.ndarray | None,
    adjusted: np.ndarray | None,
) -> RankedFeatures:
    order = np.argsort(ranking, kind="stable")
    notes = np.full(len(order), "", dtype=object)
    notes[np.asarray(ranking) > n_ranked] = UNRANKED
    if fixed is not None:
        notes[fixed.always], notes[fixed.never] = KEPT_BY_REQUEST, LEFT_OUT_BY_REQUEST
    return RankedFeatures(
        order,
        np.asarray(scores, dtype=np.float64)[order],
        np.asarray(support)[order],
        notes[order].tolist(),
        None if pvalues is None else np.asarray(pvalues)[order],
        None if adjusted is None else np.asarray(adjusted)[order],
        getattr(selector, "score_meaning", "Larger is better."),
    )


def adjusted_pvalues(pvalues: Any, method: str = "bh") -> np.ndarray:
    """P-values adjusted for the false discovery rate; NaN stays NaN.

    "bh" is the procedure of Benjamini and Hochberg; "by", of Benjamini and Yekutieli, holds under
    any dependence of the tests.

    Examples
    --------
    >>> from sparsieve.selectors.ranked import adjusted_pvalues
    >>> adjusted_pvalues([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    from scipy.stats import false_discovery_control  # which takes long to import

    pvalues = np.asarray(pvalues, dtype=np.float64)
    known = ~np.isnan(pvalues)
    adjusted = np.full(len(pvalues), np.nan)
    adjusted[known] = false_discovery_control(pvalues[known], method=method)
    return adjusted


SHOWN_SUBSTITUTES = 5


def as_frame(columns: dict[str, np.ndarray], library: str | None) -> Any:
    """A data frame of that library; without one pandas where it is there, else the columns."""
    library = library or "pandas"
    if available(library) is None:
        return columns
    import narwhals as nw

    # Text as lists: data frames have their own ways to hold it.
    ready = {n: c.tolist() if c.dtype.kind in "UO" else c for n, c in columns.items()}
    made: Any = library  # narwhals wants a literal
    return nw.from_dict(ready, backend=made).to_native()


def selection_columns(
    selector: Any, *, all_features: bool = False, names: Any = None
) -> dict[str, np.ndarray]:
    """Everything a fitted selector says of its features, the best first.

    Parameters
    ----------
    selector : selector
        Fitted.
    all_features : bool, default=False
        Include the features that were not selected; the column "selected" tells them apart.
    names : sequence of str or None, default=None
        Names of all features; None takes those of the training data, or x0, x1, ...

    Returns
    -------
    columns : dict of ndarrays
        "rank", "feature", "score"; where they exist "note" (why a feature has no score of the
        model's own), "coefficient" (of several outputs one column each), "p_value", "p_value_fdr"
        and "substitutes". What a score means is ``selector.score_meaning``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FStatisticSelector
    >>> from sparsieve.selectors.ranked import selection_columns
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> columns = selection_columns(FStatisticSelector(2).fit(X, y))
    >>> list(columns), columns["feature"].tolist()
    (['rank', 'feature', 'score', 'p_value', 'p_value_fdr'], ['flavanoids', 'proline'])
    """
    ranked = ranked_features(selector)
    if names is None:
        names = getattr(selector, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(len(ranked.features))]
    rows = np.arange(len(ranked.features)) if all_features else np.flatnonzero(ranked.selected)
    features = ranked.features[rows]
    columns = {
        "rank": rows + 1,
        "feature": np.array([str(names[j]) for j in features], dtype=object),
        "score": ranked.scores[rows],
    }
    model = getattr(selector, "selector_", selector)  # of one that chose the number of features
    if (groups := find_groups(selector)) is not None:
        # Columns of a group share its rank.
        columns["rank"] = np.asarray(model.ranking_)[features]
        columns["group"] = model.group_names_[groups.of_columns(model.group_ranking_)][features]
    if all_features:
        columns["selected"] = ranked.selected[rows]
    notes = [ranked.notes[row] for row in rows]
    if any(notes):
        columns["note"] = np.array(notes, dtype=object)
    columns |= {name: values[features] for name, values in _coefficients(selector).items()}
    if ranked.pvalues is not None and ranked.adjusted is not None:
        columns |= {"p_value": ranked.pvalues[rows], "p_value_fdr": ranked.adjusted[rows]}
    if hasattr(selector, "substitutes_"):
        columns["substitutes"] = _substitutes(selector, features, names)
    return columns


def _coefficients(selector: Any) -> dict[str, np.ndarray]:
    """The model's weights by the name of their column."""
    model = getattr(selector, "selector_", selector)  # of one that chose the number of features
    coef = getattr(model, "coef_", None)
    if coef is None:
        return {}
    coef = np.atleast_2d(np.asarray(coef))
    if coef.shape[1] != len(selector.ranking_):
        return {}
    if len(coef) == 1:
        return {"coefficient": coef[0]}
    classes = getattr(selector, "classes_", ())
    outputs = classes if len(classes) == len(coef) else range(len(coef))
    return {f"coefficient_{output}": row for output, row in zip(outputs, coef, strict=True)}


def _substitutes(selector: Any, features: np.ndarray, names: Any) -> np.ndarray:
    """What could stand in for each feature, as text.

    Found for another number of features, some of it may be selected itself by now.
    """
    own, kept = getattr(selector, "feature_names_in_", None), set()
    if (groups := find_groups(selector)) is not None:
        ranking = getattr(selector, "selector_", selector).group_ranking_
        keys = [groups.names[g] for g in groups.of_columns(ranking)[features]]
        own = keys
    else:
        keys = features.tolist() if own is None else own[features].tolist()
        selected = selector.get_support(indices=True)
        kept = set(selected.tolist() if own is None else own[selected].tolist())
    texts = [
        _join_names(
            [
                f"{names[other] if own is None else other} ({r:.2f})"
                for other, r in selector.substitutes_.get(key, [])
                if other not in kept
            ]
        )
        for key in keys
    ]
    return np.array(texts, dtype=object)


def _join_names(others: list[str]) -> str:
    shown, more = others[:SHOWN_SUBSTITUTES], len(others) - SHOWN_SUBSTITUTES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class FeatureScores:
    """What ``_fit`` found out about the features.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        Larger is better, and noise scores like noise: what ``score_meaning`` says.
    n_kept : int
        How many features the model itself keeps (not counting those of ``always_keep``), used
        when no number is asked for.
    order : ndarray or None
        Features in the order in which a path took them up: ranked first, whatever their scores.
    ties : ndarray, tuple of them or None
        Decides between equal scores before column order does, the first one first; differences
        below a hundred-millionth of the largest do not count. For features that the model left at
        zero: what it would say next.
    constant : ndarray of bool or None
        Columns that carry no information: always ranked last.
    complete : bool
        Whether the ranking means something for every number of features. Otherwise ``at`` goes
        no further than ``order``: what is left out is ranked by what it would add next only.
    passed_over : dict or None
        Near copies that the model left out because of ``max_correlation``, with their correlations,
        by the feature that stays: ranked after all others. None where the model has not looked, so
        that it is done on the ranking.
    beyond, remedy : str
        What ranks features without weight, and what would give weight to more of them, both as
        parts of a sentence. Where ``beyond`` is empty no feature is without weight, or it means
        nothing.

    See Also
    --------
    sparsieve.BaseSelector : Base of a selector of your own.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import FeatureScores
    >>> FeatureScores(np.array([0.1, 0.7, 0.4]), n_kept=2).ranking()
    array([3, 1, 2])
    """

    scores: np.ndarray
    n_kept: int
    order: np.ndarray | None = None
    ties: np.ndarray | tuple[np.ndarray, ...] | None = None
    constant: np.ndarray | None = None
    complete: bool = True
    passed_over: dict[int, dict[int, float]] | None = None
    beyond: str = ""
    remedy: str = ""

    @classmethod
    def by_norms(
        cls, norms: np.ndarray, ties: Any, constant: np.ndarray, remedy: str, least: float = 0.0
    ) -> FeatureScores:
        """Of a penalised model, which keeps those above the least; ``ties`` are correlations."""
        return cls(
            norms,
            n_kept=int((norms > least).sum()),
            ties=to_numpy(ties),
            constant=constant,
            beyond="the gradient of the loss",
            remedy=remedy,
        )

    def ranking(self, design: DesignMatrix | None = None) -> np.ndarray:
        """Rank of every feature, 1 for the best; equal features in column order.

        With the ``design`` that the scores are of they are sorted where X is.
        """
        ties = self.ties if isinstance(self.ties, tuple) else (self.ties,)
        ties = tuple(one for one in ties if one is not None)
        if design is not None and not self.passed_over:
            return design.rank_scores(self.scores, self.order, self.constant, ties)
        best = best_first(self.scores, ties)
        if self.passed_over:
            behind = np.isin(best, [j for others in self.passed_over.values() for j in others])
            best = np.concatenate([best[~behind], best[behind]])
        return ranks(best, self.order, self.constant)

    def beside(self, always: np.ndarray) -> FeatureScores:
        """The same of a model that knew nothing of features that are always kept.

        Of those that it keeps, the others are its own choice.
        """
        kept = self.ranking() <= self.n_kept
        return replace(self, n_kept=int(np.count_nonzero(kept & ~always)))

    def warn_of_few(self, asked: int, n_always: int = 0, unit: str = "feature") -> None:
        """Tell who asked for more features than carry weight what ranks the others.

        ``n_always`` features have weight beside those of the model; ``unit`` is what is counted.
        """
        n_weighted = max(self.n_kept, 0 if self.order is None else len(self.order)) + n_always
        rest = asked - n_weighted
        if not self.beyond or rest <= 0:
            return
        few = f"No {unit} has" if n_weighted == 0 else f"Only {n_weighted} {unit}s have"
        if n_weighted == 1:
            few = f"Only 1 {unit} has"
        others = "the" if n_weighted == 0 else f"the other {rest} of the"
        verb = "is" if rest == 1 else "are"
        remedy = f"{self.remedy}, or " if self.remedy else ""
        warn_user(
            f"{few} a nonzero weight in this model; {others} {asked} requested {verb} ranked by "
            f"{self.beyond}; {remedy}request fewer {unit}s"
        )
