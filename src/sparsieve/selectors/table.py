"""A selection as a table, in the user's own kind of data frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._imports import available
from .preparation import find_groups
from .ranked import ranked_features

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
    >>> from sparsieve.selectors.table import selection_columns
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
    if (groups := find_groups(selector)) is not None:
        ranking = getattr(selector, "selector_", selector).group_ranking_
        texts = [
            _join_names(
                [f"{o} ({r:.2f})" for o, r in selector.substitutes_.get(groups.names[g], [])]
            )
            for g in groups.of_columns(ranking)[features]
        ]
        return np.array(texts, dtype=object)
    has_names = hasattr(selector, "feature_names_in_")
    kept = set(selector.get_support(indices=True).tolist())
    if has_names:
        kept = {selector.feature_names_in_[j] for j in kept}
    texts = []
    for j in features:
        key = selector.feature_names_in_[j] if has_names else int(j)
        others = [(o, r) for o, r in selector.substitutes_.get(key, []) if o not in kept]
        texts.append(_join_names([f"{o if has_names else names[o]} ({r:.2f})" for o, r in others]))
    return np.array(texts, dtype=object)


def _join_names(others: list[str]) -> str:
    shown, more = others[:SHOWN_SUBSTITUTES], len(others) - SHOWN_SUBSTITUTES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
