"""Tables of named columns: their roles, and the columns that a user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._checks import format_names, suggestion
from .._files import DataError
from ..validation.dataframes import open_frame
from ..validation.raw_columns import TEXT, RawColumn, output_places
from ..validation.written import is_gap


@dataclass(frozen=True)
class Table:
    """Features, target and their names, as read from a file; :func:`~sparsieve.select` takes it.

    Attributes
    ----------
    X : ndarray, sparse matrix or design of shape (n_samples, n_features)
        The features; float32 where the file holds nothing wider, float64 otherwise. A design
        where they are too many for the memory limit: selectors take it as it is.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The target: integers, floats or text labels; no columns where there is none. Survival times
        are a structured array with the fields event and time, and entry and strata where given.
    feature_names : tuple of str
        One name per column of X.
    target_name : str
        Name of the target.
    notes : tuple of str
        What the reader decided on its own and a user should know.
    weights : ndarray of shape (n_samples,) or None
        How much every sample counts, where that was asked for.
    groups, ids : ndarray of str of shape (n_samples,) or None
        The group and the name of every sample, where they were asked for.
    id_name : str
        The column of the names.
    encode : tuple of RawColumn
        What was made of every column, in their order; empty where all are numbers as they are.
    texts : dict of str to ndarray
        The text columns that were left as they are in the file, None where a text is missing.
    n_left_out : int
        How many rows of the file are not here: rows with gaps, and samples that a file with the
        target does not have. ``notes`` say why.
    covariates : dict of str to ndarray
        Columns that were named as covariates, as numbers or text; NaN or None where missing.
    together : bool
        Whether the columns made of one column of text count as one feature.

    See Also
    --------
    sparsieve.app.io.read_table : Reads a file.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.app.io import Table
    >>> table = Table(np.eye(3), np.array([0, 1, 1]), ("a", "b", "c"), "label")
    >>> list(table.select([2, 0]).columns())
    ['c', 'a', 'label']
    """

    X: Any  # a dense array or any sparse matrix
    y: np.ndarray
    feature_names: tuple[str, ...]
    target_name: str
    notes: tuple[str, ...] = ()
    groups: np.ndarray | None = None
    ids: np.ndarray | None = None
    id_name: str = ""
    encode: tuple[RawColumn, ...] = ()
    n_left_out: int = 0
    covariates: Mapping[str, np.ndarray] = field(default_factory=dict)
    weights: np.ndarray | None = None
    texts: Mapping[str, np.ndarray] = field(default_factory=dict)
    together: bool = False

    @property
    def made_groups(self) -> dict[str, tuple[int, ...]]:
        """The columns of X made of each column of text, and of each that became several."""
        places = output_places(self.encode)
        groups = {one.name: tuple(places[one.name]) for one in self.encode}
        is_made = {one.name: one.kind == TEXT or len(one.outputs) > 1 for one in self.encode}
        return {name: some for name, some in groups.items() if is_made[name] and some}

    @property
    def made_names(self) -> dict[str, list[str]]:
        """The same by the names of the columns of X."""
        return {
            name: [self.feature_names[j] for j in some] for name, some in self.made_groups.items()
        }

    @property
    def text_groups(self) -> dict[str, tuple[int, ...]]:
        """Columns of zeros and ones by the text column that they were made of."""
        texts = {one.name for one in self.encode if one.kind == TEXT}
        return {name: some for name, some in self.made_groups.items() if name in texts}

    @property
    def gaps(self) -> list[str]:
        """The features in memory that have missing values."""
        if not isinstance(self.X, np.ndarray):
            return []
        where: Any = np.isnan(self.X).any(axis=0)
        return [name for name, gap in zip(self.feature_names, where, strict=True) if gap]

    def select(self, indices: Sequence[int] | np.ndarray) -> Table:
        """The table with these features only, in this order."""
        names = tuple(self.feature_names[j] for j in indices)
        is_design = hasattr(self.X, "take_columns")
        places = np.asarray(indices)
        X = self.X.take_columns(places) if is_design else self.X[:, places]
        return replace(self, X=X, feature_names=names, encode=(), texts={})

    def rows(self, indices: Sequence[int] | np.ndarray) -> Table:
        """The table with these samples only, in this order."""
        some: dict[str, Any] = {
            name: None if values is None else values[indices]
            for name, values in (
                *(("y", self.y), ("groups", self.groups)),
                *(("ids", self.ids), ("weights", self.weights)),
            )
        }
        for part in ("covariates", "texts"):
            some[part] = {name: values[indices] for name, values in getattr(self, part).items()}
        return replace(self, X=taken_rows(self.X, np.asarray(indices)), **some)

    def columns(self) -> dict[str, np.ndarray]:
        """The ids, where there are any, every feature and the target as dense columns by name."""
        X = self.X.toarray() if hasattr(self.X, "toarray") else self.X
        columns = {name: X[:, j] for j, name in enumerate(self.feature_names)}
        if self.ids is not None and self.id_name not in columns:
            columns = {self.id_name: self.ids, **columns}
        targets = {self.target_name: self.y}
        if self.y.dtype.names:  # survival times
            targets = {name: self.y[name] for name in self.y.dtype.names}
        if self.y.ndim == 2:
            targets = {f"{self.target_name}{j}": column for j, column in enumerate(self.y.T)}
        for name, column in targets.items():
            if name in columns:
                raise DataError(f"a feature and the target are both called {name!r}; rename one")
            columns[name] = column
        return columns


def taken_rows(X: Any, index: np.ndarray) -> Any:
    """These rows of an array, a sparse matrix or a design."""
    return X.rows(index) if hasattr(X, "rows") else X[index]


def rows_of(columns: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """A dictionary for every row of the named columns."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def check_complete(groups: Any) -> None:
    """Refuse groups with gaps: nobody knows which samples belong together."""
    values = np.empty(0) if groups is None else np.ravel(np.asarray(groups))
    missing = sum(is_gap(value, ()) for value in values.tolist())
    if missing:
        raise ValueError(
            f"groups has no value in {missing} of {len(values)} rows; leave these samples out of "
            "X, y and groups first"
        )


def column_names(X: Any, names: Any = None) -> Any:
    """What the columns of X are called, by itself or by ``names``; None without names."""
    frame = open_frame(X)
    return names if frame is None else [str(name) for name in frame.columns]


def number_columns(selector: Any, names: np.ndarray | None) -> None:
    """Columns that parameters call by name, by their place: X itself has no names."""
    from ..validation.feature_groups import by_place

    one: Any
    for one in (selector, getattr(selector, "selector", None)):
        if placed := by_place(one, names):
            one.set_params(**placed)


def is_anndata(X: Any) -> bool:
    """Whether this is an AnnData object."""
    return hasattr(X, "obs") and hasattr(X, "var") and hasattr(X, "layers") and hasattr(X, "X")


def annotated_matrix(adata: Any, layer: str | None) -> Any:
    """``adata.X`` or a layer of it, which may lie in a file."""
    if layer is None:
        if adata.X is None:
            layers = " or ".join(repr(str(name)) for name in adata.layers) or "... (it has none)"
            raise ValueError(f"adata has no matrix X; say which layer to use: layer={layers}")
        return adata.X
    if layer not in adata.layers:
        known = [str(name) for name in adata.layers]
        raise ValueError(f"adata has no layer {layer!r}{suggestion(layer, known)}")
    from ..validation.columns import in_memory

    return in_memory(adata.layers[layer])


def variable_names(adata: Any) -> np.ndarray:
    """Names of the variables, each of which must mean one column."""
    names = adata.var_names
    if not names.is_unique:
        repeated = list(dict.fromkeys(names[names.duplicated()]))
        raise ValueError(
            f"adata.var_names has duplicates: {format_names(repeated)}; make them unique with "
            "adata.var_names_make_unique()"
        )
    return np.array([str(name) for name in names], dtype=object)


def obs_column(adata: Any, column: str) -> np.ndarray:
    """A column of ``obs`` without gaps."""
    if column not in adata.obs:
        known = [str(name) for name in adata.obs.columns]
        raise ValueError(f"adata.obs has no column {column!r}{suggestion(column, known)}")
    values = adata.obs[column]
    missing = int(np.asarray(values.isna()).sum())
    if missing:
        raise ValueError(
            f"adata.obs[{column!r}] has no value in {missing} of {len(values)} rows; leave them "
            f"out with adata = adata[adata.obs[{column!r}].notna()].copy()"
        )
    labels = np.asarray(values)
    return np.array(labels.tolist()) if labels.dtype == object else labels


def frame_column(frame: Any, column: str) -> Any:
    """A column of a data frame without gaps."""
    if column not in frame.columns:
        known = [str(one) for one in frame.columns]
        raise ValueError(f"X has no column {column!r}{suggestion(column, known)}")
    values = frame.get_column(column)
    gaps = values.is_null()
    if values.dtype.is_float():
        gaps = gaps | values.is_nan()
    missing = int(gaps.sum())
    if missing:
        raise ValueError(
            f"column {column!r} has no value in {missing} of {len(values)} rows; leave them out "
            f"first, for example with X.dropna(subset=[{column!r}]) in pandas or "
            f"X.drop_nulls({column!r}) in polars"
        )
    return values.to_native()
