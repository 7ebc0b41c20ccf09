"""X in the chunks of a Dask cluster, read by tasks that make each chunk when it is needed.

A design whose rows lie in the chunks of a Dask array, on whatever cluster the user has.

Chunks of a Dask array as recipes, so that a chunk and the work on it are one task.

Left to itself Dask makes a chunk in one task and works on it in the next, and makes further chunks
in between: two or three of them wait in the memory of every worker, which Dask pauses when that
gets scarce. A chunk that its own task makes is there only while it is worked on.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..._checks import format_names
from ...design.base import DesignMatrix, Index
from ...design.blocks.row_blocks import RowBlockedDesign, add_results
from ...design.standardise import check_matrix, real_dtype
from .cluster import compute_results, n_threads, persist_chunks, tree


class Recipe:
    """The tasks that make one chunk; without any the chunk is given.

    No dataclass, which Dask would look into for tasks.
    """

    shape: tuple[float, ...]
    key: Any
    tasks: dict[Any, Any]

    def __init__(self, shape: tuple[Any, ...], key: Any, tasks: dict[Any, Any]):
        self.shape, self.key, self.tasks = shape, key, tasks

    def make_chunk(self, given: Any) -> Any:
        """The chunk, here and now: of the sources it is read from, or the one that was given."""
        chunk = given
        if self.tasks:
            import dask

            sources = {} if given is None else given.values
            chunk = dask.get({**self.tasks, **sources}, self.key)
        known = ~np.isnan(self.shape)
        if np.any(known & (np.array(self.shape) != chunk.shape)):
            raise ValueError(
                f"a chunk has shape {chunk.shape} instead of the declared {self.shape}; pass "
                "map_blocks the chunks that its function returns"
            )
        return chunk


class Sources:
    """What many chunks read from, such as open files."""

    def __init__(self, values: dict[Any, Any]):
        self.values = values


def recipes(array: Any) -> list[tuple[Recipe, Any]]:
    """For every chunk its recipe and what goes into it: None, the sources, or the delayed chunk.

    A chunk stays a task of Dask where it is on a worker already, where it shares work with
    others, and where Dask is too old to know what its tasks depend on.
    """
    from dask.core import istask

    chunks = array.to_delayed().ravel().tolist()
    graph = dict(chunks[0].dask)
    cones = [_cone(graph, chunk.key) for chunk in chunks]
    users = Counter(key for cone in cones for key in cone or ())
    shared = {
        key: graph[key]() for key, count in users.items() if count > 1 and not istask(graph[key])
    }
    sources = Sources(shared)
    found: list[tuple[Recipe, Any]] = []
    for chunk, cone, shape in zip(chunks, cones, product(*array.chunks), strict=True):
        own = {key: graph[key] for key in cone or () if users[key] == 1}
        given = [key for key in cone or () if key in shared]
        if own and len(own) + len(given) == len(cone or ()):
            found.append((Recipe(shape, chunk.key, own), sources if given else None))
        else:
            found.append((Recipe(shape, chunk.key, {}), chunk))
    return found


def _cone(graph: dict[str, Any], key: Any) -> set[Any] | None:
    """All that a key is made of; None where that is not in the graph."""
    seen = {key}
    waiting = [key]
    while waiting:
        for needed in _dependencies(graph, waiting.pop()):
            if needed is None:
                return None
            if needed not in seen:
                seen.add(needed)
                waiting.append(needed)
    return seen


def _dependencies(graph: dict[str, Any], key: Any) -> Iterator[Any]:
    """What the task of this key depends on; None where nobody can say."""
    task = graph.get(key)
    # Futures are in no graph: they are kept alive by the collection, and known to Dask alone.
    yield from getattr(task, "dependencies", (None,))


# A chunk of all columns should not take more: larger ones are cut into fewer rows.
CHUNK_BYTES = 256 << 20
# A task takes Dask about a millisecond, as long as reading this much: where there are many chunks,
# neighbours that are smaller are merged.
SMALL_BYTES = 1 << 20
MAX_CHUNKS = 128
# Dask takes more tasks of one name than two per thread for many; workers may still come.
PER_THREAD = 4


def make_design(X: Any) -> DesignMatrix:
    """The design of a Dask array or dataframe; nothing is computed yet."""
    kind = type(X)  # a Delayed answers to every name
    if hasattr(kind, "to_dask_array") and hasattr(kind, "columns"):
        return DaskDesign(_frame_to_array(X), X)
    if hasattr(kind, "rechunk"):
        if (X.ndim == 2 and not np.isnan(X.shape).any()) or X.ndim != 2:
            check_matrix(X.shape, X.dtype, "the Dask array")
        else:  # of unknown length
            check_matrix((2, 1), X.dtype, "the Dask array")
        return DaskDesign(X)
    raise TypeError(
        f"X is a Dask {kind.__name__}, not a matrix; pass a dask.array or a dask.dataframe"
    )


class DaskDesign(RowBlockedDesign):
    """Row chunks that stay where they are: products, sums and moments come back, never X.

    Every question is one graph: a task per chunk, then a tree of merges. Operands that have a
    row per sample are cut to the chunks; the others travel once.

    Column chunks are merged, and so are many small row chunks. Row chunks of unknown size, as
    dataframes have them, are counted first, which is a pass. Chunks are kept on the workers where
    all of X fits half of their free memory, and else made again for every pass by the tasks that
    use them. They may be sparse.

    Parameters
    ----------
    array : dask array of shape (n_samples, n_features)
    frame : dask dataframe or None, default=None
        What the array was made of; selected columns are returned of it.
    """

    array: Any

    def __init__(self, array: Any, frame: Any = None):
        super().__init__(array.shape, real_dtype(array.dtype))
        self.array, self._frame = array, frame
        self.is_sparse: bool = sparse.issparse(array._meta)
        if frame is not None:
            self.feature_names: np.ndarray | None = np.asarray(frame.columns, dtype=object)
        self._edges: np.ndarray | None = None
        self._held: Any = None
        self._chunks: list[Any] = []
        self._n_threads = 0

    @property
    def is_remote(self) -> bool:
        return True

    def ready(self) -> Self:
        """Count rows that nobody has counted, merge chunks, keep on workers what fits."""
        if self._edges is not None:
            return self
        array = self.array
        if np.isnan(array.shape).any():
            self.ledger.passes += 1
            array = _compute_chunk_sizes(array)
        check_matrix(array.shape, array.dtype, "the Dask collection")
        if array.numblocks[1] > 1:
            row_bytes = array.shape[1] * array.dtype.itemsize
            tall = max(array.chunks[0]) * row_bytes > CHUNK_BYTES
            rows = {0: max(1, CHUNK_BYTES // row_bytes)} if tall else {}
            array = array.rechunk({**rows, 1: -1})
        enough = max(MAX_CHUNKS // 2, array.nbytes // SMALL_BYTES)
        if array.numblocks[0] > 2 * enough:
            array = array.rechunk({0: -(-array.shape[0] // enough)})
        self.shape: tuple[int, int] = array.shape
        self._edges = np.concatenate([[0], np.cumsum(array.chunks[0])])
        self._held = persist_chunks(array)  # chunks on workers live as long as this does
        self._chunks = recipes(self._held)
        self._n_threads = n_threads()
        return self

    def take_columns(self, index: Index) -> Any:
        """These columns, still to be computed: of a dataframe a dataframe."""
        if self._frame is not None:
            return self._frame[[self._frame.columns[j] for j in index]]
        return self.array[:, index]

    def _reduce(
        self,
        work: Callable[..., Any],
        *by_row: np.ndarray | None,
        merge: Callable[[Any, Any], Any] = add_results,
    ) -> Any:
        parts = [part for _, part in self._tasks(work, by_row)]
        return compute_results([tree(merge, parts)])[0]

    def _stack(self, work: Callable[..., np.ndarray], *by_row: np.ndarray | None) -> np.ndarray:
        tasks = self._tasks(work, by_row)
        parts = compute_results([part for _, part in tasks])
        out = np.empty((self.shape[0], parts[0].shape[1]), dtype=parts[0].dtype, order="F")
        for (place, _), part in zip(tasks, parts, strict=True):
            out[place] = part
        return out

    def _tasks(self, work: Callable[..., Any], by_row: tuple) -> list[tuple[Any, Any]]:
        """(places of its rows in this design, delayed result) for every chunk."""
        from dask import delayed

        self.ledger.passes += 1
        # Every pass has names of its own: Dask counts what had the same name before.
        token = uuid.uuid4().hex
        task = delayed(_on_chunk, pure=False)
        places = self._places()
        hand = _Hands(token, self._n_threads < len(places) / PER_THREAD)
        shared = hand(_Work(work, self.view, self.is_sparse))
        tasks = []
        for i, ((recipe, given), place, rows) in enumerate(places):
            by_chunk = [None if a is None else a[place] for a in by_row]
            operands = _Operands(recipe, rows, by_chunk)
            name = (f"sparsieve-chunk-{token}", i)
            tasks.append((place, task(shared, operands, hand(given), dask_key_name=name)))
        return tasks

    def _places(self) -> list[tuple[Any, Any, np.ndarray | None]]:
        """(recipe of a chunk, places of its rows in this design, which rows; None for all)."""
        edges: Any = self.ready()._edges
        if self.index is None:
            spans = zip(self._chunks, edges[:-1], edges[1:], strict=True)
            return [(c, slice(start, stop), None) for c, start, stop in spans if stop > start]
        order = np.argsort(self.index, kind="stable")
        bounds = np.searchsorted(self.index[order], edges)
        places = [order[a:b] for a, b in pairwise(bounds)]
        return [
            (chunk, place, self.index[place] - start)
            for chunk, place, start in zip(self._chunks, places, edges[:-1], strict=True)
            if len(place)
        ]


class _Hands:
    """Hands tasks what they have in common.

    What tasks depend on draws them to the worker that holds it. Only of many tasks of one name
    does Dask know better, and gives them to workers that are free: then what is common travels
    once to every worker, else with every task.
    """

    def __init__(self, token: str, many: bool):
        self.token, self.many = token, many
        self._known: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        if not self.many or not isinstance(value, _Work | Sources):
            return value
        if id(value) not in self._known:
            from dask import delayed

            name = (f"sparsieve-{type(value).__name__.strip('_').lower()}-{self.token}", 0)
            self._known[id(value)] = delayed(value, traverse=False, name=name)
        return self._known[id(value)]


class _Work:
    """What is done with every chunk; no dataclass, which Dask would look into for tasks."""

    def __init__(self, work: Callable[..., Any], view: Any, is_sparse: bool):
        self.work, self.view, self.is_sparse = work, view, is_sparse


class _Operands:
    """How one chunk is made, which of its rows are used, and what belongs to them."""

    def __init__(self, recipe: Recipe, rows: np.ndarray | None, by_row: list):
        self.recipe, self.rows, self.by_row = recipe, rows, by_row


def _on_chunk(shared: _Work, operands: _Operands, given: Any) -> Any:
    chunk = operands.recipe.make_chunk(given)
    if np.ma.is_masked(chunk):
        raise ValueError(
            "X has masked values; fill them first, for example with dask.array.ma.filled"
        )
    if operands.rows is not None:
        chunk = chunk[operands.rows]
    if sparse.issparse(chunk) != shared.is_sparse:  # not what the collection said of itself
        chunk = sparse.csr_array(chunk) if shared.is_sparse else chunk.toarray()
    return shared.work(shared.view(chunk), *operands.by_row)


def _compute_chunk_sizes(array: Any) -> Any:
    """The array with known chunks, by one pass that brings back their shapes."""
    from dask import delayed

    shape_of = delayed(_shape, pure=False)
    across = array.numblocks[1]
    made = recipes(array)
    edge = [*made[::across], *made[:across]]  # the first of every row, then of every column
    hand = _Hands(uuid.uuid4().hex, True)
    shapes = compute_results([shape_of(recipe, hand(given)) for recipe, given in edge])
    heights = tuple(int(shape[0]) for shape in shapes[:-across])
    widths = tuple(int(shape[1]) for shape in shapes[-across:])
    array = array.copy()
    array._chunks = (heights, widths)
    return array


def _shape(recipe: Recipe, given: Any) -> tuple[int, ...]:
    return recipe.make_chunk(given).shape


def _frame_to_array(frame: Any) -> Any:
    """The columns of a dataframe as an array of numbers, its rows not counted yet."""
    bad = [str(name) for name, kind in frame.dtypes.items() if not _is_number(kind)]
    if bad:
        raise ValueError(
            f"X has columns that are not numbers: {format_names(bad)}; encode them as numbers "
            "or drop "
            "them"
        )
    kinds = {np.dtype(getattr(kind, "numpy_dtype", kind)) for kind in frame.dtypes}
    single = kinds == {np.dtype(np.float32)}
    return frame.astype(np.float32 if single else np.float64).to_dask_array()


def _is_number(kind: Any) -> bool:
    try:
        return np.dtype(getattr(kind, "numpy_dtype", kind)).kind in "biuf"
    except TypeError:  # a kind of pandas alone: text, categories, dates with zones
        return False
