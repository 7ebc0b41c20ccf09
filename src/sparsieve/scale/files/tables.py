"""Tables in files whose columns have names: backed AnnData and Parquet, read block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._checks import format_names, warn_user
from ...design.base import DesignMatrix
from ...memory import memory_limit
from .arrays import ChunkedArray, FileDesign, SlicedRows, Source, file_state, first_line

# A row group of at most this share of the memory limit may be held as a whole.
GROUP_SHARE = 8


def make_design(X: Any) -> DesignMatrix | None:
    """The design of backed AnnData, of the sparse matrix of such, or of a Parquet file."""
    name = type(X).__name__
    if name == "AnnData":
        return FileDesign(annotated_source(X)) if X.isbacked else None
    if name.endswith(("CSRDataset", "CSCDataset")):
        return FileDesign(SparseRows(X, "X"))
    if name == "ParquetFile":
        _warn_of_large_groups(X)
        return FileDesign(ParquetRows(X))
    if type(X).__module__.startswith("pyarrow") and name.endswith(("Dataset", "Scanner")):
        raise TypeError(
            f"X is a {name} of pyarrow, which cannot be read in passes; pass "
            "pyarrow.parquet.ParquetFile(path) of one file, or X.to_table() in memory"
        )
    return None


def open_parquet(path: str, texts: Sequence[str] | None = None) -> Any:
    """A Parquet file, opened so that no row group has to be held as a whole if it is large.

    Of the columns ``texts`` every text is held once.
    """
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(path, read_dictionary=texts)
    if _largest_group(file) <= memory_limit() // GROUP_SHARE:
        return file
    # One buffer for every column, together no more than a block.
    buffer_bytes = memory_limit() // GROUP_SHARE // max(1, len(file.schema_arrow.names))
    file.close()
    size = min(max(buffer_bytes, 1 << 12), 1 << 20)
    return ParquetFile(path, read_dictionary=texts, pre_buffer=False, buffer_size=size)


def _largest_group(file: Any) -> int:
    """Bytes of the largest row group."""
    meta = file.metadata
    return max((meta.row_group(i).total_byte_size for i in range(meta.num_row_groups)), default=0)


def _warn_of_large_groups(file: Any) -> None:
    size = _largest_group(file)
    if size > memory_limit():
        warn_user(
            f"a row group of the Parquet file takes {size / 2**30:.1f} GB, more than the memory "
            "limit, and is read at once; write smaller row groups, or open the file with "
            "pre_buffer=False and a buffer_size such as 65536"
        )


def annotated_source(data: Any) -> Source:
    """The matrix of backed AnnData, with the names of its variables."""
    if data.is_view:
        raise TypeError(
            "X is a view of a backed AnnData object; pass the whole object, with sample_weight 0 "
            "for samples to leave out, or X.to_memory().X"
        )
    matrix = data.X
    kind = type(matrix).__name__
    is_sparse = kind.endswith(("CSRDataset", "CSCDataset"))
    source = (SparseRows if is_sparse else ChunkedArray)(matrix, "X of the AnnData object")
    source.feature_names = np.array([str(name) for name in data.var_names], dtype=object)
    return source


class SparseRows(SlicedRows):
    """A CSR matrix in an .h5ad file."""

    is_sparse = True

    def __init__(self, X: Any, what: str):
        super().__init__(X, what)
        if X.format != "csr":
            raise ValueError(
                f"{what} is stored by columns (CSC), so its rows cannot be read in passes; store "
                "it as CSR, or load it with to_memory()"
            )
        # Entries come with their columns, and are converted in a second copy.
        stored = int(X.group["data"].shape[0])
        self.row_bytes: int = max(1, 2 * stored * (self.dtype.itemsize + 4) // self.shape[0])

    def check(self) -> None:
        if not self.array.group:
            raise ValueError(f"the file of {self.what} is closed; open it again")


class ParquetRows(Source):
    """Columns of numbers of a Parquet file, by default all."""

    file: Any
    names: list[str]

    def __init__(self, file: Any, columns: Sequence[str] | None = None, path: str | None = None):
        import pyarrow

        schema = file.schema_arrow
        names = list(schema.names if columns is None else columns)
        kinds = [schema.field(name).type for name in names]
        odd = [
            name
            for name, kind in zip(names, kinds, strict=True)
            if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind))
            and not pyarrow.types.is_boolean(kind)
        ]
        if odd:
            raise TypeError(
                f"X has columns that are not numbers: {format_names(odd)}; drop or encode them"
            )
        narrow = all(kind == pyarrow.float32() for kind in kinds)
        self.file, self.names = file, names
        shape = (file.metadata.num_rows, len(names))
        super().__init__(shape, np.float32 if narrow else np.float64, "the Parquet file")
        self.row_bytes: int = 2 * self.row_bytes  # as Arrow has it, and as we do
        groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        self.chunk_rows: int = max(groups, default=1)
        self.feature_names: np.ndarray | None = np.array(names, dtype=object)
        self.path = path
        self.state: tuple[int, int, int] | None = None if path is None else file_state(path)

    def blocks(self, rows: int) -> Iterator[np.ndarray]:
        import pyarrow

        try:
            for batch in self.file.iter_batches(rows, columns=self.names, use_threads=False):
                block = np.empty((batch.num_rows, len(self.names)), self.dtype, order="F")
                for j, column in enumerate(batch.columns):
                    if pyarrow.types.is_boolean(column.type):
                        column = column.cast(pyarrow.int8())
                    block[:, j] = column.to_numpy(zero_copy_only=False)
                yield block
        except (OSError, pyarrow.ArrowException) as error:
            raise ValueError(
                f"the Parquet file cannot be read ({first_line(error)}); check that it is complete"
            ) from error
