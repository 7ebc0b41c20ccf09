"""Text, dates, gaps and names of samples made into numbers, each with a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._checks import check_integer, check_real, format_names
from ..design import external_design
from ..selectors.groups import with_feature_groups
from ..validation.columns import BY_NAME, columns_mask, in_memory
from ..validation.dataframes import (
    check_kinds,
    frame_library,
    is_plain,
    make_frame,
    objects_as_numbers,
    open_frame,
    rename_to_text,
)
from ..validation.feature_groups import asks_for_marks
from ..validation.feature_groups import feature_groups as groups_given
from ..validation.raw_columns import AS_MARK, AS_VALUE, values_of_frame
from ..validation.raw_tables import make_plan
from ..validation.written import MAX_CATEGORIES, MAX_MISSING, TextKind
from .covariates import fills_gaps, preparation, steps_of
from .inputs import Inputs
from .preprocessor import FramePreprocessor
from .steps import Imputer, LogCPM
from .table import Table


@dataclass(frozen=True)
class EncodedFrame:
    """A data frame as numbers.

    Attributes
    ----------
    X : data frame or array-like
        Numbers; gaps are NaN. What was given where there was nothing to do.
    encode : FramePreprocessor or None
        What made them, fitted; None where there was nothing to do.
    feature_groups : dict, or as given
        The columns made of each column, where they are to be kept together.
    gaps : list of str
        Columns of numbers with missing values.
    notes : list of str
        What was done, one sentence each.
    sources : dict of str to list of str
        The names of the columns made of each column of the frame; empty without an encoder.
    id_name : str
        The column that was taken for the names of the samples; empty where there is none.
    left_out : dict of str to TextKind or None
        The columns that are not used, with what their text is.
    """

    X: Any
    encode: Any = None
    feature_groups: Any = None
    gaps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sources: dict[str, list[str]] = field(default_factory=dict)
    id_name: str = ""
    left_out: dict[str, TextKind | None] = field(default_factory=dict)


def encode_frame(
    X: Any,
    feature_groups: Any = None,
    *,
    takes_groups: bool = True,
    max_categories: int = MAX_CATEGORIES,
    max_missing: float = MAX_MISSING,
    keep: Sequence[str] = (),
) -> EncodedFrame:
    """Turn text and dates of a data frame into numbers and leave out what says nothing.

    Text of a few values becomes columns of zeros and ones, which are kept or left out together, one
    column where there are two values; a missing text is a value of its own. Text that is numbers
    or dates is read as such, and dates become days since 1970; a few cells that are none are gaps.
    Names of samples, text of too many values, columns that are mostly missing and those of one
    value are left out. Gaps in numbers stay, to be filled
    inside the folds. Frames of numbers without such columns, and arrays, are returned as they are.

    Parameters
    ----------
    X : data frame or array-like
    feature_groups : as in :func:`~sparsieve.select`, default=None
        Of the columns of the frame.
    takes_groups : bool, default=True
        Whether the method keeps whole groups; otherwise every column counts for itself.
    max_categories : int, default=20
        Text with more different values is left out.
    max_missing : float, default=0.5
        Columns with a larger share of missing values are left out.
    keep : sequence of str, default=()
        Columns that are used in any case: what would leave them out is an error.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.encoding import encode_frame
    >>> frame = pd.DataFrame({
    ...     "who": ["p1", "p2", "p3"], "age": [40, None, 61], "sex": ["m", "f", "m"]
    ... })
    >>> ready = encode_frame(frame)
    >>> list(ready.X.columns), ready.gaps
    (['age', 'sex=m'], ['age'])
    >>> ready.notes[0]
    "left out 'who': all 3 values are different, so it was taken for the sample ID"
    """
    check_integer("max_categories", max_categories)
    check_real("max_missing", max_missing, minimum=0, maximum=1)
    given, X = X, rename_to_text(X)
    frame = open_frame(X)
    # An empty frame is refused by the selector.
    if frame is None or not len(frame.columns) or not len(frame) or _is_complete(frame.to_native()):
        return EncodedFrame(X if hasattr(X, "iloc") else given, feature_groups=feature_groups)
    check_kinds(frame)
    marks = asks_for_marks(feature_groups)
    plan = make_plan(
        values_of_frame(frame),
        gaps=AS_MARK if marks else AS_VALUE,
        max_categories=max_categories,
        max_missing=max_missing,
        keep=keep,
    )
    if not plan.changes and not (marks and plan.gaps):
        X = _without_na(X, plan.gaps) if hasattr(given, "iloc") else given
        return EncodedFrame(X, feature_groups=feature_groups, gaps=plan.gaps)
    names, notes = plan.names, list(plan.notes)
    if not names:
        raise ValueError("no column of X is left to select from: " + "; ".join(notes))
    if plan.encoded_columns:
        how = "" if takes_groups else "; the method selects single columns, so each counts alone"
        notes.append(
            f"encoded {format_names(plan.encoded_columns)} as columns of zeros and ones{how}"
        )
    made, library = plan.numbers(), frame_library(X)
    return EncodedFrame(
        make_frame(made, names, library, X) if library in ("pandas", "polars") else made,
        FramePreprocessor(plan.columns).ready(frame.columns),
        _regroup(feature_groups, frame.columns, plan.places, takes_groups),
        plan.gaps,
        notes,
        {one.name: one.outputs for one in plan.columns},
        plan.id_name,
        plan.left_out,
    )


def _is_complete(native: Any) -> bool:
    """Whether these are plain numbers without a gap, as most frames are."""
    if not hasattr(native, "iloc") or not all(map(is_plain, set(native.dtypes))):
        return False
    values = native.to_numpy()
    if values.dtype.kind == "O":  # of truth values beside numbers
        values = values.astype(np.float64)
    return values.dtype.kind in "biu" or not (
        np.isnan(values.sum(dtype=np.float64)) and np.isnan(values).any()
    )


def _without_na(frame: Any, gaps: Sequence[str]) -> Any:
    """NaN instead of pandas' NA, which NumPy does not know."""
    frame = objects_as_numbers(frame)
    nullable = [name for name in gaps if not isinstance(frame[name].dtype, np.dtype)]
    return frame.astype(dict.fromkeys(nullable, np.float64)) if nullable else frame


def _regroup(
    given: Any, columns: Sequence[str], made: Mapping[str, list[int]], takes_groups: bool
) -> Any:
    """The feature groups of the columns that were made."""
    if given is None or asks_for_marks(given):
        several = any(len(places) > 1 for places in made.values())
        return dict(made) if takes_groups and (several or given is not None) else None
    groups = groups_given(given, len(columns), list(columns))
    found: dict[str, list[int]] = {}
    for name, places in groups.by_place().items():
        kept = [j for place in places for j in made.get(columns[place], ())]
        if kept:
            found[name] = kept
    return found


def encode_columns(
    inputs: Inputs,
    *,
    takes_groups: bool,
    takes_gaps: bool = False,
    streams: bool = False,
    method: str = "",
) -> Inputs:
    """The same with X made of numbers, feature groups for the columns made, and gaps seen to.

    Parameters
    ----------
    inputs : Inputs
        As :func:`~sparsieve.preprocessing.inputs.read_inputs` returns them.
    takes_groups, takes_gaps, streams : bool
        What the method does: keep whole groups of columns, take missing values, read a matrix
        that is larger than memory as it lies in a file.
    method : str
        Its name, for notes.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.encoding import encode_columns
    >>> from sparsieve.preprocessing.inputs import read_inputs
    >>> frame = pd.DataFrame({"age": [40, None, 61], "sex": ["m", "f", "m"], "ill": [0, 1, 1]})
    >>> made = encode_columns(read_inputs(frame, "ill"), takes_groups=True)
    >>> list(made.X.columns), made.notes[-1]
    (['age', 'sex=m'], "filled the missing values of 'age' with its median")
    """
    inputs = replace(inputs, leaves_gaps=takes_gaps)
    if inputs.is_annotated:
        is_external = streams and external_design(inputs.X) is not None
        inputs = replace(inputs, X=inputs.X if is_external else in_memory(inputs.X))
    X = inputs.X
    if inputs.table is None:
        found = encode_frame(
            X,
            inputs.feature_groups,
            takes_groups=takes_groups,
            max_categories=inputs.max_categories,
            max_missing=inputs.max_missing,
            keep=() if inputs.covariates.is_separate else inputs.covariates.names,
        )
        inputs = replace(
            inputs,
            X=found.X,
            encode=found.encode,
            feature_groups=found.feature_groups,
            gaps=tuple(found.gaps),
            notes=tuple(found.notes),
            sources=found.sources,
            source_names=_source_names(X, found, inputs.feature_groups),
            id_name=found.id_name,
            left_out=found.left_out,
        )
    else:
        inputs = _with_table_groups(inputs, inputs.table, takes_groups)
    if inputs.encode is not None and any(isinstance(s, LogCPM) for s in steps_of(inputs.prepare)):
        raise ValueError(
            'prepare="log-cpm" divides every sample by its total, but X has text, dates or columns '
            "that are left out; pass the columns of counts alone"
        )
    if not inputs.gaps or fills_gaps(inputs.prepare):
        return inputs
    if takes_gaps and inputs.prepare is None:
        note = (
            f"left the missing values of {format_names(inputs.gaps)} to {method}, which takes them"
        )
        return replace(inputs, notes=(*inputs.notes, note))
    text_groups = () if inputs.table is None else tuple(inputs.table.text_groups.values())
    prepare = preparation([Imputer(text_groups=text_groups), inputs.prepare])
    medians = "the median of each column" if len(inputs.gaps) > 1 else "its median"
    note = f"filled the missing values of {format_names(inputs.gaps)} with {medians}"
    return replace(inputs, prepare=prepare, notes=(*inputs.notes, note))


def _source_names(X: Any, found: EncodedFrame, asked_groups: Any) -> dict[str, Any]:
    """The columns of the frame by those of X, where they have names that are no text or parts."""
    frame = open_frame(X)
    if frame is None:
        return {}
    columns = getattr(X, "columns", frame.columns)
    named = {str(name): name for name in columns if not isinstance(name, str)}
    if found.feature_groups is None or asks_for_marks(asked_groups):
        return named
    made = {one: source for source, some in found.sources.items() for one in some}
    return named | {one: named.get(source, source) for one, source in made.items()}


def _with_table_groups(inputs: Inputs, table: Table, takes_groups: bool) -> Inputs:
    """The same with feature groups of the columns that a reader made, and what it made."""
    made, asked = table.made_names, inputs.feature_groups
    whole, groups = made if table.together else {}, asked
    if asks_for_marks(asked):
        if not made:
            raise ValueError(
                'feature_groups="categories" is for tables with text or missing values, and this '
                "one has neither"
            )
        groups = made
    elif isinstance(asked, Mapping) and whole:
        groups = _with_whole_columns(asked, whole)
    elif asked is None and takes_groups and any(len(some) > 1 for some in whole.values()):
        groups = made
    names: dict[str, Any] = {}
    if groups is not None and not asks_for_marks(asked):
        names = {one: source for source, some in whole.items() for one in some}
    encode = None
    if table.encode:
        encode = FramePreprocessor(table.encode).ready([one.name for one in table.encode])
    return replace(
        inputs,
        feature_groups=groups,
        encode=encode,
        gaps=tuple(table.gaps),
        sources={one.name: list(one.outputs) for one in table.encode},
        source_names=names,
    )


def _with_whole_columns(
    groups: Mapping[Any, Any], made: Mapping[str, list[str]]
) -> dict[Any, list[Any]]:
    """Groups that name columns of text, by the columns made of them; each is at least one group."""
    found: dict[Any, list[Any]] = {}
    for group, given in groups.items():
        names = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
        found[group] = [one for name in names for one in made.get(name, (name,))]
    listed = {name for names in found.values() for name in names}
    alone = {name: some for name, some in made.items() if not listed & set(some)}
    return alone | found


def for_made_columns(selector: Any, inputs: Inputs) -> Any:
    """The selector with what it says about columns of the data said about those made of them."""
    if inputs.encode is None and inputs.table is None:
        return selector
    chosen: Any = [selector, getattr(selector, "selector", None)]
    has_groups = [one for one in chosen if getattr(one, "feature_groups", None) is not None]
    for one in chosen:
        for parameter in BY_NAME if inputs.sources else ():
            named: Any = getattr(one, parameter, None)
            if not hasattr(named, "__iter__"):
                continue
            if inputs.table is None or any(isinstance(name, str) for name in named):
                one.set_params(**{parameter: _made_columns(parameter, named, inputs)})
    for one in has_groups:
        one.set_params(feature_groups=inputs.feature_groups)
    return selector if has_groups else with_feature_groups(selector, inputs.feature_groups)


def _made_columns(parameter: str, named: Any, inputs: Inputs) -> list[str]:
    """Columns that a parameter names among those of the frame, as the columns made of them."""
    names = [named] if isinstance(named, str) else named
    made = [name for group in inputs.sources.values() for name in group]
    if all(isinstance(name, str) and name in made for name in names):
        return list(names)
    columns = inputs.encode.feature_names_in_.tolist()
    mask = columns_mask(parameter, names, len(columns), columns)
    chosen = [columns[j] for j in np.flatnonzero(mask).tolist()]
    lost = [column for column in chosen if not inputs.sources.get(column)]
    if lost and parameter == "always_keep":
        why = "; ".join(note for note in inputs.notes if note.startswith("left out"))
        raise ValueError(
            f"always_keep: {format_names(lost)} cannot be kept ({why}); drop that from always_keep"
        )
    return [name for column in chosen for name in inputs.sources.get(column, ())]


def as_numbers(frame: Any) -> np.ndarray:
    """The columns of a data frame of numbers as an array; gaps are NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.encoding import as_numbers
    >>> as_numbers(pd.DataFrame({"age": [40, None], "ill": [True, False]})).tolist()
    [[40.0, 1.0], [nan, 0.0]]
    """
    columns: Any = values_of_frame(open_frame(frame)).values()
    return np.column_stack([one.numbers for one in columns])
