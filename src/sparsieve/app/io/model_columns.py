"""Tables that were read from files: what their columns were made of, and new ones for a model."""

from __future__ import annotations

from typing import Any

from ...preprocessing.covariates import covariate_columns
from ...selection.saved import SavedSelection
from ...validation.raw_columns import NUMBER, VALUE, RawColumn
from .table import Table


def encoded_columns(table: Table) -> list[RawColumn] | None:
    """What the features of a table, then its covariates, were made of, in the order of X.

    None where every one is a number as it is in the file.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.app.io import Table
    >>> from sparsieve.app.io.model_columns import encoded_columns
    >>> covariates = {"sex": np.array(["m", "f"])}
    >>> table = Table(np.eye(2), np.array([0, 1]), ("a", "b"), "label", covariates=covariates)
    >>> [(column.name, column.kind) for column in encoded_columns(table)]
    [('a', 'number'), ('b', 'number'), ('sex', 'text')]
    """
    beside = covariate_columns(table.covariates)[1] if table.covariates else []
    if not table.encode and all(one.kind == NUMBER for one in beside):
        return None
    own = table.encode or [
        RawColumn(name, NUMBER, [name], [VALUE], [None]) for name in table.feature_names
    ]
    return [*own, *beside]


def rows_for(saved: SavedSelection, table: Table) -> Any:
    """The rows of a table whose text was left as it is, as the model takes them."""
    names = saved.model[0].columns
    if names is None:
        return table.X
    known = {name: j for j, name in enumerate(table.feature_names)}
    if saved.model[0].encode is None and all(name in known for name in names):
        return table.X[:, [known[name] for name in names]]
    own = {name: table.X[:, j] for name, j in known.items()} | dict(table.texts)
    return own | dict(table.covariates)
