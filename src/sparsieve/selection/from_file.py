"""Tables that were read from files: what their columns were made of, and new ones for a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import listed
from ..io import DataError, Table
from ..preprocessing.covariates import covariate_columns
from ..preprocessing.raw_columns import (
    DATE,
    LEVEL,
    MARK,
    NUMBER,
    TEXT,
    VALUE,
    RawColumn,
)
from ..validation.feature_groups import GAP, SEPARATOR
from ..validation.written import text_kind
from .saved import SavedSelection

# -- what a selection saw --------------------------------------------------------------------------


def encoded_columns(table: Table) -> list[RawColumn] | None:
    """What the features of a table, then its covariates, were made of, in the order of X.

    None where every one is a number as it is in the file.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.io import Table
    >>> from sparsieve.selection.from_file import encoded_columns
    >>> made, sex = np.array([[1.0, 40.0], [0.0, 61.0]]), np.array(["m", "f"], dtype=object)
    >>> table = Table(made, np.array([0, 1]), ("sex=m", "age"), "label",
    ...               text_groups={"sex": (0,)}, texts={"sex": sex})
    >>> [(column.name, column.kind) for column in encoded_columns(table)]
    [('sex', 'text'), ('age', 'number')]
    """
    names = table.feature_names
    of_text = {j: name for name, some in table.text_groups.items() for j in some}
    sources: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        unmarked = name.removesuffix(f"{SEPARATOR}{GAP}")
        source = of_text.get(j, unmarked if unmarked in sources else name)
        sources.setdefault(source, []).append(j)
    beside = covariate_columns(table.covariates)[1] if table.covariates else []
    found = [_made_of(table, source, [names[j] for j in some]) for source, some in sources.items()]
    is_plain = not table.texts and len(sources) == len(names)
    return None if is_plain and all(one.kind == NUMBER for one in beside) else [*found, *beside]


def _made_of(table: Table, source: str, outputs: list[str]) -> RawColumn:
    mark = f"{source}{SEPARATOR}{GAP}"
    if source in table.text_groups:
        start = len(source) + len(SEPARATOR)
        levels = [None if name == mark else name[start:] for name in outputs]
        values = set(table.texts[source].tolist())
        has_gaps = None in values
        known = [*sorted(values - {None}), *[None] * has_gaps]
        how: dict[str, Any] = {"known": known, "leaves_gaps": has_gaps and mark not in outputs}
        return RawColumn(source, TEXT, outputs, [LEVEL] * len(levels), levels, **how)
    made = [MARK if name == mark else VALUE for name in outputs]
    kind, month_first = NUMBER, False
    if source in table.texts:
        text = text_kind(table.texts[source].tolist())
        kind = DATE if text.kind == "date" else NUMBER
        month_first = text.month_first
    return RawColumn(source, kind, outputs, made, [None] * len(made), month_first=month_first)


# -- new rows for a model --------------------------------------------------------------------------


def rows_for(saved: SavedSelection, table: Table) -> Any:
    """The rows of a table whose text was left as it is, as the model takes them."""
    step = saved.model[0]
    if step.columns is None:
        return table.X
    known = {name: j for j, name in enumerate(table.feature_names)}
    columns = list(step.columns)
    missing = [name for name in columns if name not in known and name not in table.texts]
    if missing:
        raise DataError(
            f"the data lack {len(missing)} of the {len(columns)} columns that the model uses: "
            f"{listed(missing)}"
        )
    if step.encode is None:
        if all(name in known for name in columns):
            return table.X[:, [known[name] for name in columns]]
        return np.column_stack([_numbers(name, table, known) for name in columns])
    kinds = {one.name: one.kind for one in step.encode}
    return _frame({name: _values(name, table, known, kinds[name]) for name in columns})


def _numbers(name: str, table: Table, known: dict[str, int]) -> np.ndarray:
    """A column of numbers, which may be written with thousands set apart and the like."""
    if name in known:
        return np.asarray(table.X[:, known[name]], dtype=np.float64)
    found = text_kind(table.texts[name].tolist())
    if found.kind != "number" or found.numbers is None:
        example = next((text for text in table.texts[name] if text is not None), "")
        raise DataError(
            f"column {name!r} holds text such as {example!r}, but the model was trained on numbers "
            "there"
        )
    return found.numbers


def _values(name: str, table: Table, known: dict[str, int], kind: str) -> list[Any]:
    """The values of a column before it is encoded, None where they are missing."""
    if name not in known:
        return table.texts[name].tolist()
    numbers = np.asarray(table.X[:, known[name]], dtype=np.float64).tolist()
    # Texts that all look like numbers were read as such.
    return [None if v != v else f"{v:g}" if kind == TEXT else v for v in numbers]


def _frame(columns: dict[str, list[Any]]) -> Any:
    """A data frame of whatever library is installed."""
    import narwhals as nw

    for library in ("pandas", "polars", "pyarrow"):
        try:
            return nw.from_dict(columns, backend=library).to_native()
        except ImportError:
            continue
    raise DataError(
        "this model was trained on a table with text, dates or gaps, so new data need a data frame "
        "inside; install pandas, polars or pyarrow"
    )
