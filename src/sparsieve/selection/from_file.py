"""From a table that was read from a file to what a saved model takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._checks import listed, warn_user
from ..io import DataError, Table
from ..validation.feature_groups import GAP, SEPARATOR
from .saved import SavedSelection


def wanted_columns(saved: SavedSelection) -> set[str] | None:
    """The columns that a file may have for the model, as they are or before text was encoded.

    None where the model knows its columns by place.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.selection.from_file import wanted_columns
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> wanted_columns(sparsieve.select(X, y, k=1)._to_save())
    {'proline'}
    """
    columns = saved.model[0].columns
    if columns is None:
        return None
    return {source for name in columns for source in (name, *_sources(name))}


def _sources(name: str) -> Iterator[str]:
    """Columns that ``sex=f`` may come from: what stands before any sign of equality."""
    place = name.rfind(SEPARATOR)
    while place > 0:
        yield name[:place]
        place = name.rfind(SEPARATOR, 0, place)


def rows_for(saved: SavedSelection, table: Table) -> Any:
    """The rows of a table as the model takes them; texts that are new are warned of."""
    step = saved.model[0]
    if step.columns is None:
        return table.X
    if step.encode is not None:
        return _raw_frame(table, list(step.columns))
    known = {name: j for j, name in enumerate(table.feature_names)}
    if all(name in known for name in step.columns) and step.columns:
        made = table.X[:, [known[name] for name in step.columns]]
    else:
        _check_columns(step.columns, table)
        made = np.column_stack([_column(name, table, saved) for name in step.columns])
    _warn_of_new_texts(saved, table)
    return made


def _check_columns(columns: list[str], table: Table) -> None:
    """Refuse a table without some of the columns, or with text in the place of numbers."""
    known = {*table.feature_names, *table.text_groups}
    texts = [name for name in columns if name in table.text_groups]
    if texts:
        levels = [_levels(table, name)[0] for name in texts]
        raise DataError(
            f"columns {listed(texts)} hold text such as {levels[0]!r}, but the model was trained "
            "on numbers there"
        )
    missing = [name for name in columns if not known & {name, *_sources(name)}]
    if missing:
        raise DataError(
            f"the data lack {len(missing)} of the {len(columns)} columns that the model uses: "
            f"{listed(missing)}"
        )


def _levels(table: Table, source: str) -> list[str]:
    """The values of a text column of the table."""
    start = len(source) + len(SEPARATOR)
    return [table.feature_names[j][start:] for j in table.text_groups[source]]


def _column(name: str, table: Table, saved: SavedSelection) -> np.ndarray:
    """A column of zeros and ones of a text, or of a mark of gaps, whether its value is here."""
    known = {each: j for j, each in enumerate(table.feature_names)}
    sources = [one for one in _sources(name) if one in known or one in table.text_groups]
    if not sources:
        return np.asarray(table.X[:, known[name]], dtype=np.float64)
    source = sources[0]
    level = name[len(source) + len(SEPARATOR) :]
    if source in table.text_groups:
        parts = np.asarray(table.X[:, list(table.text_groups[source])], dtype=np.float64)
        gaps, levels = np.isnan(parts[:, 0]), _levels(table, source)
        made = np.zeros(len(parts))
        if level in levels:
            made = np.nan_to_num(parts[:, levels.index(level)])
    else:  # texts that look like numbers, as all of them do here
        values = np.asarray(table.X[:, known[source]], dtype=np.float64)
        gaps, made = np.isnan(values), np.array([f"{v:g}" == level for v in values], dtype=float)
    if level == GAP:
        return gaps.astype(np.float64)
    is_marked = f"{source}{SEPARATOR}{GAP}" in saved.names
    return made if is_marked else np.where(gaps, np.nan, made)


def _warn_of_new_texts(saved: SavedSelection, table: Table) -> None:
    names, used = set(saved.names), {s for name in saved.model[0].columns for s in _sources(name)}
    new = [
        f"{source!r} has values unknown to the model: {listed(unknown)}"
        for source in table.text_groups
        if source in used
        and (
            unknown := [v for v in _levels(table, source) if f"{source}{SEPARATOR}{v}" not in names]
        )
    ]
    if new:
        warn_user(f"new data look unlike the training data: {'; '.join(new)}")


def _raw_frame(table: Table, columns: list[str]) -> Any:
    """The columns of the file before text was encoded, as a data frame."""
    known = {name: j for j, name in enumerate(table.feature_names)}
    missing = [name for name in columns if name not in known and name not in table.text_groups]
    if missing:
        raise DataError(
            f"the data lack {len(missing)} of the {len(columns)} columns that the model uses: "
            f"{listed(missing)}"
        )
    made: dict[str, list[Any]] = {}
    for name in columns:
        if name in known:
            values = np.asarray(table.X[:, known[name]], dtype=np.float64)
            made[name] = [None if v != v else v for v in values.tolist()]
            continue
        parts, levels = table.X[:, list(table.text_groups[name])], _levels(table, name)
        made[name] = [None if row[0] != row[0] else levels[int(row.argmax())] for row in parts]
    return _frame(made)


def _frame(columns: dict[str, list[Any]]) -> Any:
    """A data frame of whatever library is installed."""
    import narwhals as nw

    for library in ("pandas", "polars", "pyarrow"):
        try:
            return nw.from_dict(columns, backend=library).to_native()
        except ImportError:
            continue
    raise DataError(
        "this model was trained on a data frame with text or dates, so new data need one, too; "
        "install pandas, polars or pyarrow"
    )
