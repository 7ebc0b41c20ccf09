"""New tables of files as a saved model takes them."""

from __future__ import annotations

from typing import Any

from ...preprocessing.table import Table
from ...selection.saved import SavedSelection


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
