"""Compile all loops ahead, so that no first fit has to: ``python -m sparsieve.compile``.

Numba compiles a loop when it is first called and keeps the result: in the folder that
``NUMBA_CACHE_DIR`` names, else beside the source, else in the user's cache folder. This command
calls every loop once with numbers of double and of single precision. Run it when you build a
container image: what it keeps is used later even if the installation can then only be read.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["compile_ahead"]

_NOTHING_COMPILED = ("sparsieve.__main__", "sparsieve.app", "sparsieve.scale")


def compile_ahead() -> Path | None:
    """Compile every loop for float64 and float32, and keep the results.

    Returns
    -------
    folder : pathlib.Path or None
        The folder that holds all of them; None where no folder can be written to.

    See Also
    --------
    sparsieve.select : Compiles what it needs, once, where nothing was compiled ahead.

    Examples
    --------
    >>> from sparsieve.compile import compile_ahead
    >>> folder = compile_ahead()  # doctest: +SKIP
    """
    from ._numba import ANNOUNCED, KERNELS

    ANNOUNCED.said = True  # who calls this knows

    for module in walk_packages([str(Path(__file__).parent)], "sparsieve."):
        if not module.name.startswith(_NOTHING_COMPILED):
            import_module(module.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in (np.float64, np.float32):
            for work in _calls(np.dtype(dtype)):
                work()
    folders = {Path(path) for kernel in KERNELS if (path := kernel._cache.cache_path)}
    if not folders:
        return None
    parents = [{folder, *folder.parents} for folder in folders]
    return max(set.intersection(*parents), key=lambda folder: len(folder.parts))


def _calls(dtype: np.dtype) -> Iterator[Callable[[], object]]:
    """Calls that together reach every compiled loop with numbers of this kind."""
    from . import filters, papers, scoring, selectors
    from .design._moment_kernels import standard_rows
    from .design.parallel_passes import read_only

    rng = np.random.default_rng(0)
    y = np.arange(48) % 2
    X = (np.abs(rng.standard_normal((48, 12))) + y[:, None] * np.arange(12) / 4).astype(dtype)
    few: dict[str, Any] = {"n_features_to_select": 3}
    groups = np.arange(12) // 3
    times = np.array(
        list(zip(np.arange(48) % 5 > 0, rng.permutation(48) + 1.0, strict=True)),
        dtype=[("event", bool), ("time", float)],
    )
    for selector in (
        selectors.L21Selector(**few),
        selectors.L21Selector(alpha=0.1, feature_groups=groups),
        selectors.L21Selector(alpha=0.1, feature_groups=groups, penalty="sparse-group"),
        papers.ExclusiveL21Selector(**few),
        papers.ExclusiveL21Selector(**few, solver="published"),
        papers.ExclusiveLassoSelector(**few),
        selectors.LInfSelector(**few),
        papers.L0MKLSelector(**few),
        selectors.LikelihoodL21Selector(**few),
        filters.InfoGainSelector(**few),
        filters.ReliefFSelector(**few),
    ):
        yield partial(selector.fit, X, y)
    # One number per column: few enough to stay packed.
    packed = sparse.csr_array(X * (np.arange(48)[:, None] == 4 * np.arange(12)))
    grouped = selectors.L21Selector(alpha=1e-3, feature_groups=groups)
    yield lambda: grouped.fit(packed, y)
    yield lambda: selectors.L20Selector(**few).fit(np.hstack([X, rng.random((48, 80), dtype)]), y)
    for target in (np.arange(48) % 4, times):
        yield partial(selectors.LikelihoodL21Selector(**few).fit, X, target)
    counts: dict[str, Any] = {"task": "counts", **few}
    for kind in (selectors.LikelihoodL21Selector, selectors.LikelihoodForwardSelector):
        yield partial(kind(**counts).fit, X, y)
    yield partial(selectors.LikelihoodForwardSelector(**few).fit, X, y)
    yield lambda: selectors.LikelihoodForwardSelector(**few).fit(X, times)
    late = np.where(np.arange(48) % 3 == 0, 0.5, 0.0)  # not at risk from the start
    yield lambda: selectors.LikelihoodL21Selector(**few).fit(X, times, entry=late)
    yield lambda: selectors.LikelihoodForwardSelector(**few).fit(X, times, entry=late)
    yield lambda: _curvatures(times, X)
    yield lambda: scoring.concordance_index(times, X[:, 0])
    yield lambda: _passes(X)
    yield lambda: _many_weights(X)
    one = np.ones(X.shape[1], dtype)
    for out in (np.empty((len(X), 14), dtype), np.empty((len(X), 14))):
        units = np.ones(len(one), out.dtype)
        yield partial(standard_rows, read_only(X), 0, 0, -one, one, units, units, out)


def _curvatures(times: np.ndarray, X: np.ndarray) -> None:
    """Second derivatives of the Cox likelihood along columns."""
    from .solvers.losses.cox import Cox, Survival

    loss = Cox(Survival(times["time"], times["event"]))
    columns = X.astype(np.float64)
    F = np.zeros((len(X), 1))
    loss.hessian_product(F, columns[:, :1])
    loss.quadratic_forms(F, columns)
    late = np.where(np.arange(len(X)) % 3 == 0, times["time"] - 0.5, 0.0)
    Cox(Survival(times["time"], times["event"], late)).dual_value(F, 0.5)


def _many_weights(X: np.ndarray) -> None:
    """Kernel weights of more kernels than samples."""
    from .papers.l0_mkl.kernel_weights import solve_weights

    P = np.ascontiguousarray(X[:4].T, dtype=np.float64)
    one = np.ones(P.shape[1])
    solve_weights(P, np.full(len(P), 1e-3), 1.0, one, one, np.full(len(P), 0.5), 0.0, 1e-3)


def _passes(X: np.ndarray) -> None:
    """The passes over large arrays."""
    from .design import dense_products, parallel_passes

    low, high = np.quantile(X, 0.01, axis=0), np.quantile(X, 0.999, axis=0)
    low, high = low.astype(X.dtype), high.astype(X.dtype)
    by_column = np.asfortranarray(X)
    rows = np.tile(X.T, (8, 3))  # wide enough to keep what clipping takes away
    least, most = rows.min(axis=0), rows.max(axis=0)
    most[0] *= most.dtype.type(0.99)
    known = dense_products.find_clip_excess(rows, least, most)
    for clip in (known, known._replace(ends=np.full_like(known.ends, -1))):
        for n_outputs in (2, 4):
            dense_products.products(rows, clip, rows[:, :n_outputs])
    for weights in (None, np.ones(len(X))):
        parallel_passes.moments(X, weights)
        parallel_passes.moments(by_column, weights)
    dense_products.products_by_column(by_column, low, high, X[:, :1])


def main() -> int:
    """Compile and say where the results are; 1 where they cannot be kept."""
    from ._numba import KERNELS

    folder = compile_ahead()
    number = len(KERNELS)
    if folder is None:
        print(
            "Compiled code cannot be kept: no folder for it can be written to. Set "
            "NUMBA_CACHE_DIR to a folder that you can write to, and run this command again.",
            file=sys.stderr,
        )
        return 1
    print(f"Compiled {number} functions for float64 and float32. They are kept in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
