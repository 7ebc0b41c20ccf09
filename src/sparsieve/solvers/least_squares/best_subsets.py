"""Proven best supports of every size, and the proven best size for a price per feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, islice
from math import comb

import numpy as np

from ...design import DesignMatrix, in_double
from ..base import Event, Path, Result, relative
from .bounds import BoundSearch
from .exact import BestSupport, best_support

# Without a ridge every support is tried; more than this many would take too long.
MOST_SUPPORTS = 2_000_000
BATCH = 4096
# Accuracy of the relaxation that may rule a size out by its price.
PRICED = 1e-4

Callback = Callable[[Event], "bool | None"]


class TooManySupports(ValueError):
    """There is no ridge to bound with, and too many supports to try."""


def best_subsets(
    design: DesignMatrix,
    Y: np.ndarray,
    ridge: float,
    starts: Sequence[np.ndarray],
    *,
    price: float | None = None,
    eligible: np.ndarray | None = None,
    tol: float,
    time_limit: float,
    callback: Callback | None = None,
) -> Result[Path]:
    """The best support of every size 0, 1, ..., len(starts) - 1.

    Parameters
    ----------
    starts : a good support of every size, the empty one first.
    price : of one feature against half the objective. Sizes that provably cost more in all than
        the best one keep their start, unsearched, with what their bound says of it.
    tol : relative gap at which a support counts as proven.
    time_limit : seconds for every size.

    A ``KeyboardInterrupt`` leaves with the path so far as its attribute ``best``; sizes that were
    not searched keep their starts, with what is proven about these.
    """
    Y = np.asarray(Y, dtype=np.float64)
    supports = [np.asarray(start, dtype=np.int64) for start in starts]
    power = float(np.vdot(Y, Y))
    search = BoundSearch(design, Y, ridge, eligible) if ridge > 0 and len(starts) > 1 else None
    objectives = np.full(len(supports), power)
    gaps = np.zeros(len(supports))
    if search is not None:
        for k in range(1, len(supports)):
            objectives[k] = search.objective(supports[k])
    n_nodes = 0
    trace: list[float] = []
    reached = 0
    try:
        for k in range(1, len(supports)):
            if search is None:
                found = every_support(design, Y, k, eligible)
            elif (bound := _too_dear(search, k, price, objectives)) is not None:
                gaps[k] = relative(objectives[k] - bound, objectives[k])
                reached = k
                continue
            else:
                found = best_support(
                    design,
                    Y,
                    ridge,
                    k,
                    supports[k],
                    tol=tol,
                    time_limit=time_limit,
                    search=search,
                    callback=callback,
                )
            _keep(found, k, supports, objectives, gaps)
            reached = k
            n_nodes += found.n_iter
            trace.append(found.objective)
    except KeyboardInterrupt as stopped:
        if (best := getattr(stopped, "best", None)) is not None:
            reached += 1
            _keep(best, reached, supports, objectives, gaps)
        for k in range(reached + 1, len(supports)):  # these have their starts still
            objectives[k], gaps[k] = _unsearched(design, Y, search, supports[k], objectives[k])
        path = Path(supports, objective=objectives, optimality=gaps)
        stopped.best = Result(  # type: ignore[attr-defined]
            path, float(objectives[-1]), float(gaps[-1]), n_nodes, False, trace
        )
        raise
    path = Path(supports, objective=objectives, optimality=gaps)
    return Result(path, float(objectives[-1]), float(gaps[-1]), n_nodes, gaps[-1] <= tol, trace)


def _keep(found: Result[BestSupport], k: int, supports, objectives, gaps) -> None:
    supports[k] = found.solution.support
    objectives[k], gaps[k] = found.objective, found.optimality


def _unsearched(
    design: DesignMatrix, Y: np.ndarray, search: BoundSearch | None, start: np.ndarray, value: float
) -> tuple[float, float]:
    """Objective of a start, and its gap to what the last dual point says of its size."""
    if search is None:
        columns = in_double(design).dense_columns(start)
        rest = Y - columns @ np.linalg.lstsq(columns, Y, rcond=None)[0]
        value = float(np.vdot(rest, rest))
    bound = 0.0
    if search is not None and search.last is not None:
        bound = float(search.last.bounds(len(start), search.ridge)[-1])
    return value, relative(value - min(bound, value), value)


def _too_dear(search: BoundSearch, k: int, price: float | None, objectives) -> float | None:
    """The bound for this size, if no support of it can cost less in all than the best known."""
    if price is None:
        return None
    totals = 0.5 * objectives + price * np.arange(len(objectives))
    bound = float(search.solve(k, tol=PRICED)[1].bounds(k, search.ridge)[-1])
    return bound if 0.5 * bound + price * k > float(totals.min()) else None


def every_support(
    design: DesignMatrix, Y: np.ndarray, k: int, eligible: np.ndarray | None = None
) -> Result[BestSupport]:
    """Plain least squares on every support of k features: no ridge, no bound, no doubt."""
    design = in_double(design)
    mask = np.ones(design.shape[1], dtype=bool) if eligible is None else eligible
    features = np.flatnonzero(mask)
    if comb(len(features), k) > MOST_SUPPORTS:
        raise TooManySupports(
            f"without a ridge every one of the {comb(len(features), k):,} supports of {k} features "
            "would have to be tried; give a ridge, for example ridge=1.0"
        )
    columns = design.dense_columns(features)
    gram, cross = columns.T @ columns, columns.T @ Y
    power = float(np.vdot(Y, Y))
    best, chosen = np.inf, np.empty(0, dtype=np.int64)
    every = combinations(range(len(features)), k)
    n_tried = 0
    while batch := list(islice(every, BATCH)):
        index = np.array(batch)
        inverse = np.linalg.pinv(gram[index[:, :, None], index[:, None, :]], hermitian=True)
        explained = np.einsum("bic,bij,bjc->b", cross[index], inverse, cross[index], optimize=True)
        place = int(np.argmax(explained))
        n_tried += len(index)
        if power - explained[place] < best:
            best, chosen = power - float(explained[place]), index[place]
    best = max(best, 0.0)
    found = BestSupport(features[chosen], best, n_tried, len(features))
    return Result(found, best, 0.0, n_tried, True, [best])
