"""Chunks of a Dask array as recipes, so that a chunk and the work on it are one task.

Left to itself Dask makes a chunk in one task and works on it in the next, and makes further chunks
in between: two or three of them wait in the memory of every worker. Where they do not fit, the
workers pause, and nothing that would free memory is ever run. A chunk that its own task makes is
there only while it is worked on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any


class Recipe:
    """The tasks that make one chunk, and what they share with those of other chunks.

    Without any task the chunk is given. No dataclass, which Dask would look into for tasks.
    """

    def __init__(self, shape: tuple, key: Any, tasks: dict[Any, Any], given: tuple[Any, ...]):
        self.shape, self.key, self.tasks, self.given = shape, key, tasks, given

    def made(self, values: tuple[Any, ...]) -> Any:
        """The chunk, of the values of what is given; here and now."""
        known = dict(zip(self.given, values, strict=True))
        if self.tasks:
            import dask

            chunk = dask.get({**self.tasks, **known}, self.key)
        else:
            chunk = known[self.key]
        if any(
            have != due for have, due in zip(chunk.shape, self.shape, strict=True) if due == due
        ):
            raise ValueError(
                f"a chunk has the shape {chunk.shape}, but {self.shape} was said of it; pass "
                "map_blocks the chunks that its function returns"
            )
        return chunk


def recipes(array: Any) -> list[tuple[Recipe, list[Any]]]:
    """For every chunk its recipe and the delayed values that go into it.

    A chunk stays a task of Dask, and is itself that value, where it is on a worker already, where
    it shares work with others, and where Dask is too old to know what its tasks depend on.
    """
    from dask import delayed
    from dask.core import istask

    chunks = array.to_delayed().ravel().tolist()
    graph = dict(chunks[0].dask)
    cones = [_cone(graph, chunk.key) for chunk in chunks]
    users = Counter(key for cone in cones for key in cone or ())
    # What many chunks read from, such as an open file: one object that travels once.
    sources = {
        key: delayed(graph[key](), traverse=False, pure=False)
        for key, count in users.items()
        if count > 1 and not istask(graph[key])
    }
    found = []
    for chunk, cone, shape in zip(chunks, cones, product(*array.chunks), strict=True):
        own = {key: graph[key] for key in cone or () if users[key] == 1}
        given = [key for key in cone or () if key in sources]
        if len(own) + len(given) == len(cone or ()) > 0:
            recipe = Recipe(shape, chunk.key, own, tuple(given))
            found.append((recipe, [sources[key] for key in given]))
        else:
            found.append((Recipe(shape, chunk.key, {}, (chunk.key,)), [chunk]))
    return found


def _cone(graph: dict, key: Any) -> set | None:
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


def _needed(graph: dict, key: Any) -> Iterator[Any]:
    """What the task of this key depends on; None where nobody can say."""
    task = graph.get(key)
    # Futures are in no graph: they are kept alive by the collection, and known to Dask alone.
    yield from getattr(task, "dependencies", (None,))
