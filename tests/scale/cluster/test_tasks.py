"""Chunks made by the tasks that use them: what is private, what is shared, what is left to Dask."""

import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from sparsieve.scale.cluster.arrays import (  # noqa: E402
    DaskDesign,
    recipes,
)

X = np.arange(24.0).reshape(8, 3)


class Source:
    """What many chunks read from, such as a file; no NumPy array."""

    shape, dtype, ndim = X.shape, X.dtype, X.ndim

    def __getitem__(self, index):
        return X[index]


def made(array):
    """The chunks by their recipes, below each other, and the kinds of what they were given."""
    found = recipes(array)
    blocks = [recipe.make_chunk(dask.compute(given)[0]) for recipe, given in found]
    return np.vstack(blocks), {type(given).__name__ for _, given in found}


@pytest.mark.parametrize(
    ("array", "given"),
    [
        (da.from_array(X, chunks=(4, -1)) * 2.0, "NoneType"),
        (da.from_array(X, chunks=(4, 2)).rechunk({1: -1}) * 2.0, "NoneType"),
        (da.from_array(Source(), chunks=(4, -1)) * 2.0, "Sources"),
        (da.from_delayed(dask.delayed(X), X.shape, X.dtype).rechunk((3, -1)) * 2.0, "Delayed"),
        (da.from_array(X, chunks=(3, -1)).map_blocks(np.copy).rechunk((4, -1)) * 2.0, "Delayed"),
    ],
    ids=["private", "column chunks", "one source", "one chunk, cut", "work in common"],
)
def test_recipes_make_the_chunks(array, given):
    found, kinds = made(array)
    np.testing.assert_array_equal(found, 2.0 * X)
    assert kinds == {given}


def test_work_in_common_is_done_once():
    calls = []

    def counted(block):
        calls.append(len(block))
        return block

    first = da.from_array(X, chunks=(4, -1)).map_blocks(counted, meta=np.empty((0, 0)))
    DaskDesign(first.rechunk((2, -1))).column_sq_norms()
    assert calls == [4, 4]


def test_a_chunk_is_no_result():
    array = da.from_array(Source(), chunks=(2, -1)) * 2.0
    tasks = DaskDesign(array)._tasks(np.sum, ())
    keys = {key for _, part in tasks for key in dict(part.dask)}
    assert len(keys) == len(tasks) + 2  # one each, the work, and the source
