"""A raw data frame made ready for a selector, and the selector for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._checks import listed
from ..preprocessing.log_cpm import LogCPM
from ..preprocessing.prepare import takes_gaps
from ..preprocessing.raw import readied
from ..preprocessing.raw_methods import filled, for_made_columns
from ..registry import name_of
from ..selectors.around import tags_of
from ..selectors.groups import takes_groups
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
    id_name : str
        The column that was taken for the names of the samples; empty where there is none.
    """

    selector: Any
    X: Any
    prepare: Any
    encode: Any
    notes: tuple[str, ...]
    given_names: dict[str, Any]
    sources: dict[str, list[str]] = field(default_factory=dict)
    id_name: str = ""


def ready(
    selector: Any,
    X: Any,
    feature_groups: Any,
    prepare: Any,
    estimator: Any = None,
    **how: Any,
) -> Ready:
    """Encode text and dates of a data frame and see to its gaps; anything else stays as it is.

    Gaps are filled where the selector or the ``estimator`` on the kept columns does not take them.
    """
    frame = opened(X)
    given = [] if frame is None else list(getattr(X, "columns", frame.columns))
    named = {str(name): name for name in given if not isinstance(name, str)}
    inner = getattr(selector, "selector", None)
    found = readied(
        X,
        feature_groups,
        takes_groups=takes_groups(selector)
        and (not hasattr(inner, "get_params") or takes_groups(inner)),
        **how,
    )
    if frame is None:
        return Ready(selector, X, prepare, None, (), {})
    selector = for_made_columns(selector, found)
    if found.encode is not None and any(isinstance(step, LogCPM) for step in _steps(prepare)):
        raise ValueError(
            'prepare="log-cpm" divides every sample by its total, but X has text, dates or columns '
            "that are left out; pass the columns of counts alone"
        )
    notes = list(found.notes)
    if found.gaps and not takes_gaps(prepare):
        if prepare is None and pass_gaps(selector, estimator):
            method = name_of(selector if inner is None else inner)  # which may be empty: a forest
            columns = f"the missing values of {listed(found.gaps)}"
            notes.append(f"left {columns} to {method}, which takes them")
        else:
            prepare, note = filled(prepare, found.gaps)
            notes.append(note)
    if found.feature_groups is not None and not asks_for_marks(feature_groups):
        made = {one: source for source, some in found.sources.items() for one in some}
        named |= {one: named.get(source, source) for one, source in made.items()}
    made_by = found.encode, tuple(notes), named, found.sources, found.id_name
    return Ready(selector, found.X, prepare, *made_by)


def pass_gaps(selector: Any, estimator: Any) -> bool:
    """Whether a selector and the model on what it keeps, where one was given, take gaps."""
    asked = [selector] if estimator is None else [selector, estimator]
    return all(tags_of(one).input_tags.allow_nan for one in asked)


def _steps(prepare: Any) -> list[Any]:
    return [step for _, step in prepare.steps] if hasattr(prepare, "steps") else [prepare]
