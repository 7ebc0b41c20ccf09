"""Chunks of a Dask array as recipes, so that a chunk and the work on it are one task.

Left to itself Dask makes a chunk in one task and works on it in the next, and makes further chunks
in between: two or three of them wait in the memory of every worker, which Dask pauses when that
gets scarce. A chunk that its own task makes is there only while it is worked on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np


class Recipe:
    """The tasks that make one chunk; without any the chunk is given.

    No dataclass, which Dask would look into for tasks.
    """

    shape: tuple[float, ...]
    key: Any
    tasks: dict[Any, Any]

    def __init__(self, shape: tuple[Any, ...], key: Any, tasks: dict[Any, Any]):
        self.shape, self.key, self.tasks = shape, key, tasks

    def made(self, given: Any) -> Any:
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
        for needed in _needed(graph, waiting.pop()):
            if needed is None:
                return None
            if needed not in seen:
                seen.add(needed)
                waiting.append(needed)
    return seen


def _needed(graph: dict[str, Any], key: Any) -> Iterator[Any]:
    """What the task of this key depends on; None where nobody can say."""
    task = graph.get(key)
    # Futures are in no graph: they are kept alive by the collection, and known to Dask alone.
    yield from getattr(task, "dependencies", (None,))
