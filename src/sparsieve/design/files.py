"""Designs larger than memory: arrays in files, read block by block with the next one ahead.

A *source* knows the shape of a matrix in a file and reads ranges of its rows; one design serves
them all. Blocks are as large as the memory limit allows, up to what reading profits from, and
begin where the chunks of the file do.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, cast

import numpy as np
from scipy import sparse

from ..memory import memory_limit
from .base import DesignMatrix
from .blocked import RowBlockedDesign
from .foreign import check_matrix, real_dtype

# Larger blocks are not read faster.
BLOCK_BYTES = 64 << 20
# Share of the limit for one block: the one in use, the one being read, and room to convert.
BLOCK_SHARE = 8
# Data of up to this share of the limit are loaded as a whole.
LOAD_SHARE = 4


class Source(Protocol):
    """A matrix in a file."""

    shape: tuple[int, int]
    dtype: np.dtype
    chunk_rows: int  # rows that the file stores together
    feature_names: np.ndarray | None
    is_sparse: bool

    def check(self) -> None:
        """Refuse a file that has changed since it was opened; asked before every pass."""

    def read(self, start: int, stop: int) -> Any:
        """These rows, as an array or a CSR matrix of its own."""


class FileDesign(RowBlockedDesign):
    """A matrix in a file."""

    def __init__(self, source: Source, block_rows: int | None = None):
        super().__init__(source.shape, real_dtype(source.dtype))
        self.source = source
        self.is_sparse = source.is_sparse
        self.feature_names = source.feature_names
        self.block_rows = _block_rows(source, self.dtype) if block_rows is None else block_rows

    def _raw_blocks(self) -> Iterator[tuple[int, Any]]:
        self.source.check()
        n_rows = self.source.shape[0]
        starts = range(0, n_rows, self.block_rows)
        with ThreadPoolExecutor(1, "sparsieve-read-ahead") as reader:
            coming = reader.submit(self._read, 0, min(self.block_rows, n_rows))
            for start in starts:
                block = coming.result()
                following = start + self.block_rows
                if following < n_rows:
                    stop = min(following + self.block_rows, n_rows)
                    coming = reader.submit(self._read, following, stop)
                yield start, block
                del block

    def _read(self, start: int, stop: int) -> Any:
        block = self.source.read(start, stop)
        if block.shape != (stop - start, self.source.shape[1]):
            raise ValueError(
                f"X gave a block of shape {block.shape} for rows {start} to {stop}, where "
                f"{(stop - start, self.source.shape[1])} was due; is the file being written to?"
            )
        held = block.data if sparse.issparse(block) else block
        self.ledger.bytes_read += held.nbytes
        return block


def _block_rows(source: Source, dtype: np.dtype) -> int:
    """Rows of a block: whole chunks of the file where they fit."""
    room = min(BLOCK_BYTES, memory_limit() // BLOCK_SHARE)
    rows = max(1, room // (max(dtype.itemsize, source.dtype.itemsize) * source.shape[1]))
    if rows > source.chunk_rows:
        rows -= rows % source.chunk_rows
    return min(rows, source.shape[0])


def design_of(X: Any) -> DesignMatrix | None:
    """The design of a memory-mapped array, an HDF5 or Zarr array, or backed AnnData."""
    source = _source(X)
    if source is None:
        return None
    n_samples, n_features = source.shape
    size = n_samples * n_features * real_dtype(source.dtype).itemsize
    if not source.is_sparse and size <= memory_limit() // LOAD_SHARE and hasattr(X, "__array__"):
        return None
    return FileDesign(source)


def _source(X: Any) -> Source | None:
    package, name = type(X).__module__.partition(".")[0], type(X).__name__
    if isinstance(X, np.memmap):
        return MappedArray(X)
    if package == "h5py" and name == "Dataset":
        return ChunkedArray(X, f"the HDF5 dataset {X.name!r}")
    if package == "zarr" and name == "Array":
        return ChunkedArray(X, "the Zarr array")
    return None


class ChunkedArray:
    """An HDF5 dataset or a Zarr array: anything with a shape, a dtype, chunks and slices."""

    feature_names: np.ndarray | None = None
    is_sparse = False

    def __init__(self, X: Any, what: str):
        check_matrix(tuple(X.shape), np.dtype(X.dtype), what)
        self.array, self.what = X, what
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = np.dtype(X.dtype)
        chunks = getattr(X, "chunks", None)
        self.chunk_rows = int(chunks[0]) if chunks else 1

    def check(self) -> None:
        if not self.array:  # h5py: the file was closed
            raise ValueError(f"{self.what} is closed; open its file again, and keep it open")
        if tuple(self.array.shape) != self.shape:
            raise ValueError(
                f"{self.what} had the shape {self.shape} and has {tuple(self.array.shape)} now; "
                "do not write to it while features are selected"
            )

    def read(self, start: int, stop: int) -> np.ndarray:
        try:
            return np.asarray(self.array[start:stop])
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            raise ValueError(
                f"rows {start} to {stop} of {self.what} cannot be read "
                f"({_first_line(error)}); is the file complete?"
            ) from error


class MappedArray:
    """A memory-mapped .npy file, read instead of mapped: its pages do not pile up in memory.

    A file that is cut short while it is mapped ends the process; reading it gives a sentence.
    """

    feature_names: np.ndarray | None = None
    is_sparse = False
    chunk_rows = 1

    def __init__(self, X: np.memmap):
        what = "the memory-mapped array"
        check_matrix(X.shape, X.dtype, what)
        self.array = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = X.dtype
        self.path, self.offset = _place_in_file(X)
        self.file = None if self.path is None else open(self.path, "rb", buffering=0)  # noqa: SIM115
        self.state = self._state()

    def check(self) -> None:
        if self._state() != self.state:
            raise ValueError(
                f"{self.path} has changed since it was opened; open it again, and do not write "
                "to it while features are selected"
            )

    def read(self, start: int, stop: int) -> np.ndarray:
        if self.file is None:
            return np.array(self.array[start:stop])
        block = np.empty((stop - start, self.shape[1]), dtype=self.dtype)
        row = self.shape[1] * self.dtype.itemsize
        room, place = memoryview(cast(Any, block)).cast("B"), self.offset + start * row
        while room:
            count = os.preadv(self.file.fileno(), [room], place)
            if count == 0:
                raise ValueError(
                    f"{self.path} ends before row {stop} of {self.shape[0]}; it was cut short or "
                    "is still being written"
                )
            room, place = room[count:], place + count
        return block

    def _state(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        now = os.stat(self.path)
        return now.st_size, now.st_mtime_ns


def _place_in_file(X: np.memmap) -> tuple[str | None, int]:
    """File and offset of an array with contiguous rows; (None, 0) where it has to be mapped."""
    root: Any = X
    while isinstance(root.base, np.memmap):
        root = root.base
    # What was written to a private copy ("c") is not in the file.
    known = isinstance(root.base, mmap.mmap) and root.filename is not None and root.mode != "c"
    if not (known and X.flags.c_contiguous and hasattr(os, "preadv")):
        return None, 0
    distance = X.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return os.fspath(root.filename), int(root.offset) + distance


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
