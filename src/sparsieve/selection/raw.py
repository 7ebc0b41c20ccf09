"""A raw data frame made ready for a selector, and the selector for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.utils import get_tags

from .._checks import listed
from ..preprocessing.log_cpm import LogCPM
from ..preprocessing.prepare import preparation, takes_gaps
from ..preprocessing.raw import Readied, made_of, readied
from ..registry import name_of
from ..selectors.grouped import takes_groups, with_feature_groups
from ..validation.dataframes import opened
from ..validation.feature_groups import asks_for_marks


@dataclass(frozen=True)
class Ready:
    """What a selection starts from.

    Attributes
    ----------
    selector : selector
        With feature groups and columns as X has them now.
    X : array-like, sparse matrix or data frame
    prepare : transformer or None
        With a step in front that fills gaps, where nothing else takes them.
    encode : FramePreprocessor or None
        What made X of the data frame.
    notes : tuple of str
        What was done without being asked, one sentence each.
    given_names : dict of str to object
        The column of the data frame that columns of X were made of, where they are kept together
        or have names that are no text.
    sources : dict of str to list of str
        The columns of X made of each column of the data frame, where they were encoded.
    """

    selector: Any
    X: Any
    prepare: Any
    encode: Any
    notes: tuple[str, ...]
    given_names: dict[str, Any]
    sources: dict[str, list[str]] = field(default_factory=dict)


def ready(
    selector: Any,
    X: Any,
    feature_groups: Any,
    prepare: Any,
    *,
    max_categories: int,
    max_missing: float,
    **how: Any,
) -> Ready:
    """Encode text and dates of a data frame and see to its gaps; anything else stays as it is."""
    frame = opened(X)
    given = [] if frame is None else list(getattr(X, "columns", frame.columns))
    named = {str(name): name for name in given if not isinstance(name, str)}
    inner = getattr(selector, "selector", None)
    found = readied(
        X,
        feature_groups,
        takes_groups=takes_groups(selector) and (inner is None or _keeps_groups(inner)),
        max_categories=max_categories,
        max_missing=max_missing,
        **how,
    )
    if frame is None:
        return Ready(selector, X, prepare, None, (), {})
    selector = _for_made_columns(selector, found, [str(name) for name in given])
    if found.encode is not None and any(isinstance(step, LogCPM) for step in _steps(prepare)):
        raise ValueError(
            'prepare="log-cpm" divides every sample by its total, but X has text, dates or columns '
            "that are left out; pass the columns of counts alone"
        )
    notes = list(found.notes)
    if found.gaps:
        columns = f"the missing values of {listed(found.gaps)}"
        if prepare is not None and takes_gaps(prepare):
            pass  # as was asked
        elif prepare is None and get_tags(selector).input_tags.allow_nan:
            notes.append(f"left {columns} to {name_of(inner or selector)}, which takes them")
        else:
            prepare = preparation(["impute", prepare])
            notes.append(f"filled {columns} with the median of each column")
    if found.feature_groups is not None and not asks_for_marks(feature_groups):
        made = {one: source for source, some in found.sources.items() for one in some}
        named |= {one: named.get(source, source) for one, source in made.items()}
    return Ready(selector, found.X, prepare, found.encode, tuple(notes), named, found.sources)


def _keeps_groups(inner: Any) -> bool:
    return not hasattr(inner, "get_params") or takes_groups(inner)


def _for_made_columns(selector: Any, found: Readied, columns: list[str]) -> Any:
    """The selector with what it says about columns of the frame said about those made of them."""
    if found.encode is None:
        return selector
    one: Any
    for one in (selector, getattr(selector, "selector", None)):
        for parameter in ("always_keep", "never_keep"):
            if getattr(one, parameter, None) is not None:
                made = made_of(parameter, getattr(one, parameter), columns, found)
                one.set_params(**{parameter: made})
        if getattr(one, "feature_groups", None) is not None:
            one.set_params(feature_groups=found.feature_groups)
    if found.feature_groups is not None and getattr(selector, "feature_groups", None) is None:
        inner = getattr(selector, "selector", None)
        if getattr(inner, "feature_groups", None) is None:
            return with_feature_groups(selector, found.feature_groups)
    return selector


def _steps(prepare: Any) -> list[Any]:
    return [step for _, step in prepare.steps] if hasattr(prepare, "steps") else [prepare]
