"""Designs larger than memory: arrays in files, read block by block with the next one ahead.

A *source* knows the shape of a matrix in a file and reads ranges of its rows; one design serves
them all. Blocks are as large as the memory limit allows, up to what reading profits from, and
begin where the chunks of the file do.
"""

from __future__ import annotations

import math
import mmap
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

import numpy as np
from scipy import sparse

from ...design.base import DesignMatrix, Index
from ...design.blocks.row_blocks import RowBlockedDesign, add_results, transposed_product
from ...design.standardise import check_matrix, real_dtype
from ...memory import LOAD_SHARE, machine_memory, memory_limit

# Larger blocks are not read faster, and leave the cache before they are used.
BLOCK_BYTES = 32 << 20
# Share of the limit for one block: the one in use, the one being read, and memory to convert.
BLOCK_SHARE = 8
# The same where a chunk of the file cannot be smaller.
CHUNK_SHARE = 4
# Rows that lie further apart than so many times their length are read one by one.
MAX_ROW_GAP = 4


class Source(ABC):
    """A matrix in a file.

    ``row_bytes`` is the memory that a row takes once it is read. ``path`` is that of a file which
    is read as it is, and ``state`` what it was like when it was opened.
    """

    chunk_rows = 1  # rows that the file stores together
    feature_names: np.ndarray | None = None
    is_sparse = False
    path: str | None = None
    state: tuple[int, int, int] | None = None

    def __init__(self, shape: tuple[int, ...], dtype: Any, what: str):
        self.dtype: np.dtype = np.dtype(dtype)
        check_matrix(tuple(shape), self.dtype, what)
        self.shape: tuple[int, int] = (int(shape[0]), int(shape[1]))
        self.row_bytes: int = self.shape[1] * self.dtype.itemsize
        self.what = what

    def check(self) -> None:
        """Refuse a file that has changed since it was opened; asked before and after a pass."""
        if self.path is not None and file_state(self.path) != self.state:
            raise ValueError(
                f"{self.path} has changed since it was opened; open it again, and do not write "
                "to it while features are selected"
            )

    @abstractmethod
    def blocks(self, rows: int) -> Iterator[Any]:
        """All rows from first to last, at most so many at a time: arrays or CSR matrices."""


class FileDesign(RowBlockedDesign):
    """A matrix in a file; what fits the memory limit is read once, anything larger every time."""

    columns_at_once = 16  # reading X takes longer than multiplying it by these

    def __init__(self, source: Source, block_rows: int | None = None, hold: bool | None = None):
        super().__init__(source.shape, real_dtype(source.dtype))
        self.source = source
        self.is_sparse: bool = source.is_sparse
        self.feature_names: np.ndarray | None = source.feature_names
        self.block_rows: int = _block_rows(source, self.dtype) if block_rows is None else block_rows
        # Shared by all designs of this source: an empty list is filled by the first pass.
        if hold is None:
            hold = source.shape[0] * source.row_bytes <= memory_limit() // LOAD_SHARE
        self._held: list[Any] | None = [] if hold else None

    def hint_columns(self, index: Index) -> None:
        self._known.wanted = np.asarray(index)

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """X.T @ R; columns that will be needed next come along, and save a pass of their own."""
        kept, wanted = self._known.columns, self._known.wanted
        self._known.wanted = wanted[:0]
        index = np.array([j for j in wanted.tolist() if j not in kept], dtype=np.int64)
        index = index[: self.max_cached_columns() // 2]
        if not len(index):
            return super().rmatmul(R)
        product: Any = None
        columns = np.empty((self.shape[0], len(index)), self.dtype, order="F")
        for place, (part, some) in self._parts(partial(_product_and_columns, index), (R,)):
            product = part if product is None else add_results(product, part)
            columns[place] = some
        self._keep_columns(dict(zip(index.tolist(), columns.T, strict=True)))
        return self._product(product, R)

    def _raw_blocks(self) -> Iterator[tuple[int, Any]]:
        start, n_rows, n_columns = 0, *self.source.shape
        for block in self._held or self._read_ahead():
            stop = start + block.shape[0]
            if stop > n_rows or block.shape[1] != n_columns:
                break
            yield start, block
            start = stop
        if start != n_rows:
            raise ValueError(
                f"X should have {n_rows} rows and {n_columns} columns, but reading ended at row "
                f"{start}; check that the file is complete and not being written to"
            )

    def _read_ahead(self) -> Iterator[Any]:
        """Blocks from the file, the next one read while this one is used."""
        self.source.check()
        blocks, held = self.source.blocks(self.block_rows), []
        with ThreadPoolExecutor(1, "sparsieve-read-ahead") as reader:
            coming = reader.submit(next, blocks, None)
            while (block := coming.result()) is not None:
                coming = reader.submit(next, blocks, None)
                values = block.data if sparse.issparse(block) else block
                self.ledger.bytes_read += values.nbytes
                if self._held is not None:
                    held.append(block)
                yield block
                del block, values
        self.source.check()  # what changed meanwhile may have been read half before, half after
        if self._held is not None:
            self._held[:] = held


def _product_and_columns(index: np.ndarray, block: DesignMatrix, R: np.ndarray):
    return transposed_product(block, R), block.dense_columns(index)


def _block_rows(source: Source, dtype: np.dtype) -> int:
    """Rows of a block: whole chunks of the file where they fit."""
    n_bytes = min(BLOCK_BYTES, memory_limit() // BLOCK_SHARE)
    wider = max(1, dtype.itemsize // source.dtype.itemsize)
    rows = max(1, n_bytes // max(1, source.row_bytes * wider))
    if rows > source.chunk_rows:
        rows -= rows % source.chunk_rows
    elif source.chunk_rows * source.row_bytes * wider <= memory_limit() // CHUNK_SHARE:
        rows = source.chunk_rows  # of which a part would cost as much as all
    return min(rows, source.shape[0])


def make_design(X: Any) -> DesignMatrix | None:
    """The design of a memory-mapped array, an HDF5 or a Zarr array that is too large to load."""
    make = _make_source(X)
    if make is None:
        return None
    if not isinstance(X, np.ndarray):
        check_open(X, "X")
    size = math.prod(X.shape) * real_dtype(X.dtype).itemsize
    return None if size <= memory_limit() // LOAD_SHARE else FileDesign(make())


def check_open(array: Any, what: str) -> None:
    """Refuse an HDF5 dataset whose file was closed."""
    if type(array).__module__.startswith("h5py") and not array:
        raise ValueError(f"{what} is closed; open its file again, and keep it open")


def _make_source(X: Any) -> Callable[[], Source] | None:
    package, name = type(X).__module__.partition(".")[0], type(X).__name__
    if isinstance(X, np.memmap):
        return partial(MappedArray, X)
    if package == "h5py" and name == "Dataset":
        return partial(ChunkedArray, X, f"the HDF5 dataset {X.name!r}")
    if package == "zarr" and name == "Array":
        return partial(ChunkedArray, X, "the Zarr array")
    return None


class SlicedRows(Source):
    """A matrix of another package that gives slices of its rows."""

    def __init__(self, X: Any, what: str):
        super().__init__(X.shape, X.dtype, what)
        self.array = X

    def blocks(self, rows: int) -> Iterator[Any]:
        for start in range(0, self.shape[0], rows):
            stop = min(start + rows, self.shape[0])
            try:
                block = self.array[start:stop]
                yield block if self.is_sparse else np.asarray(block)
            except (OSError, RuntimeError, ValueError, KeyError) as error:
                raise ValueError(
                    f"rows {start} to {stop} of {self.what} cannot be read ({first_line(error)}); "
                    "check that the file is complete"
                ) from error


class ChunkedArray(SlicedRows):
    """An HDF5 dataset or a Zarr array: anything with a shape, a dtype, chunks and slices."""

    def __init__(self, X: Any, what: str):
        super().__init__(X, what)
        chunks = getattr(X, "chunks", None)
        self.chunk_rows: int = int(chunks[0]) if chunks else 1
        chunk_bytes, most = math.prod(chunks or ()) * self.dtype.itemsize, machine_memory()
        if most is not None and chunk_bytes > most:
            raise ValueError(
                f"{what} is stored in chunks of {chunk_bytes / 2**30:.1f} GiB, more than the "
                "memory of this machine; store it in smaller chunks"
            )

    def check(self) -> None:
        check_open(self.array, self.what)
        if tuple(self.array.shape) != self.shape:
            raise ValueError(
                f"{self.what} had the shape {self.shape} and has {tuple(self.array.shape)} now; "
                "do not write to it while features are selected"
            )


class MappedArray(Source):
    """A memory-mapped .npy file, read instead of mapped: its pages do not pile up in memory.

    A file that is cut short while it is mapped ends the process; reading it gives a sentence.
    """

    offset: int
    path: str | None

    def __init__(self, X: np.memmap):
        super().__init__(X.shape, X.dtype, "the memory-mapped array")
        self.array = X
        self.path, self.offset = _place_in_file(X)
        self.state: tuple[int, int, int] | None = (
            None if self.path is None else file_state(self.path)
        )

    def blocks(self, rows: int) -> Iterator[np.ndarray]:
        ranges = [(i, min(i + rows, self.shape[0])) for i in range(0, self.shape[0], rows)]
        if self.path is None:
            for start, stop in ranges:
                yield np.array(self.array[start:stop])
            return
        with open(self.path, "rb", buffering=0) as file:
            for start, stop in ranges:
                yield self._read_block(file, start, stop)

    def _read_block(self, file: Any, start: int, stop: int) -> np.ndarray:
        (_, width), (down, across) = self.shape, self.array.strides
        height, origin = stop - start, self.offset + start * down
        if abs(down) < abs(across):  # columns lie together
            block = np.empty((height, width), dtype=self.dtype, order="F")
            for j in range(width):
                block[:, [j]] = self._part(file, origin + j * across, (height, 1), stop)
            return block
        if abs(down) <= MAX_ROW_GAP * abs(across) * width:
            return np.ascontiguousarray(self._part(file, origin, (height, width), stop))
        block = np.empty((height, width), dtype=self.dtype)
        for i in range(height):
            block[[i]] = self._part(file, origin + i * down, (1, width), stop)
        return block

    def _part(self, file: Any, origin: int, shape: tuple[int, int], stop: int) -> np.ndarray:
        """Values from the place of the first on, by one reading from the first byte to the last."""
        steps = [(count - 1) * s for count, s in zip(shape, self.array.strides, strict=True)]
        first = origin + sum(min(0, step) for step in steps)
        last = origin + sum(max(0, step) for step in steps) + self.dtype.itemsize
        held = np.empty(last - first, dtype=np.uint8)
        left = memoryview(cast(Any, held))
        file.seek(first)
        while left:
            count = file.readinto(left)
            if not count:
                raise ValueError(
                    f"{self.path} ends before row {stop} of {self.shape[0]}; it was cut short or "
                    "is still being written"
                )
            left = left[count:]
        return np.ndarray(shape, self.dtype, held.data, origin - first, self.array.strides)


def _place_in_file(X: np.memmap) -> tuple[str | None, int]:
    """File and offset of the first value of an array; (None, 0) where it has to be mapped."""
    root: Any = X
    while isinstance(root.base, np.memmap):
        root = root.base
    # What was written to a private copy ("c") is not in the file.
    known = isinstance(root.base, mmap.mmap) and root.filename is not None and root.mode != "c"
    if not known:
        return None, 0
    distance = X.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return os.fspath(root.filename), int(root.offset) + distance


def file_state(path: str) -> tuple[int, int, int]:
    """What tells that a file has changed, or that another has taken its place."""
    try:
        now = os.stat(path)
    except OSError:
        raise ValueError(
            f"{path} no longer exists; do not move or delete X while it is being read"
        ) from None
    return now.st_size, now.st_mtime_ns, now.st_ino


def first_line(error: BaseException) -> str:
    """What an error of another package says, in one line."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
