"""Section 4: minima of |w - a|^2 with the l1 norm and with its square as the penalty."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import rounded

# What the paper prints: a, lambda, with the l1 norm, with its square.
PRINTED = (
    ((2.0, 1.0), 0.1, (1.95, 0.95), (1.75, 0.75)),
    ((2.0, 1.0), 1.0, (1.5, 0.5), (1.0, 0.0)),
    ((2.0, 1.0), 10.0, (0.0, 0.0), (0.1818, 0.0)),
    ((2.0, 1.0), 1000.0, (0.0, 0.0), (0.0020, 0.0)),
    ((1.0,), 3.0, (0.0,), (0.25,)),
)
SIZES, LAMBDAS, DRAWS = (1, 2, 4, 6), (0.01, 0.5, 5.0, 500.0), 20
ROUNDS, POINTS = 40, 9  # of a search on finer and finer grids


def squared_l1_minimum(a: np.ndarray, lam: float) -> np.ndarray:
    """The minimum of |w - a|^2 + lam |w|_1^2 by the explicit solution of the paper, equation 10."""
    sizes = np.sort(np.abs(a))[::-1]
    counts = np.arange(1, len(a) + 1)
    thresholds = lam * np.cumsum(sizes) / (1.0 + lam * counts)
    last = np.flatnonzero(sizes > thresholds)
    if not len(last):  # a is zero
        return np.zeros(len(a))
    return np.sign(a) * np.maximum(np.abs(a) - thresholds[last[-1]], 0.0)


def search_on_grids(a: np.ndarray, lam: float, power: int) -> np.ndarray:
    """The minimum of |w - a|^2 + lam |w|_1^power in the box of a, by finer and finer grids."""
    low, high = np.minimum(a, 0.0), np.maximum(a, 0.0)
    best = 0.5 * (low + high)
    width = high - low
    for _ in range(ROUNDS):
        lines = [
            np.clip(m + w * np.linspace(-0.5, 0.5, POINTS), lo, hi)
            for m, w, lo, hi in zip(best, width, low, high, strict=True)
        ]
        W = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(a))
        best = W[np.argmin(_objective(W, a, lam, power))]
        width = 0.6 * width
    return best


def two_cases(setting: dict) -> dict:
    """The printed problem by the explicit solution and by a search."""
    a, lam = np.array(setting["a"]), setting["lambda"]
    plain = np.sign(a) * np.maximum(np.abs(a) - lam / 2.0, 0.0)
    return {
        "l1": plain.tolist(),
        "squared": squared_l1_minimum(a, lam).tolist(),
        "l1_by_search": search_on_grids(a, lam, 1).tolist(),
        "squared_by_search": search_on_grids(a, lam, 2).tolist(),
    }


def every_set(setting: dict) -> dict:
    """How far the explicit solution lies above the best of all sets of nonzero coefficients."""
    rng = np.random.default_rng(setting["seed"])
    lam, size = setting["lambda"], setting["size"]
    excess = 0.0
    for _ in range(setting["draws"]):
        a = rng.normal(size=size).round(1)  # with ties and zeros
        ours = float(_objective(squared_l1_minimum(a, lam)[None], a, lam, 2)[0])
        sets = (chosen for k in range(size + 1) for chosen in combinations(range(size), k))
        best = min(_best_on(a, lam, chosen) for chosen in sets)
        excess = max(excess, ours - best)
    return {"largest_excess": excess}


def explained(bench: Bench) -> list[Exhibit]:
    """Section 4.1, and Theorems 5 and 6."""
    settings = [{"a": list(a), "lambda": lam} for a, lam, _, _ in PRINTED]
    found = bench.jobs("exclusive-l21 two cases", two_cases, settings)
    printed = {(a, lam): shown for a, lam, *shown in PRINTED}
    cases = [
        {
            "a": _told(row["a"]),
            "lambda": row["lambda"],
            "penalty": penalty,
            "minimum": _told(row[name]),
            "by_search": _told(row[f"{name}_by_search"]),
            "published": _told(theirs),
            "largest_difference": rounded(
                max(
                    float(np.abs(np.subtract(row[name], other)).max())
                    for other in (row[f"{name}_by_search"], theirs)
                ),
                2,
            ),
        }
        for row in found
        for name, penalty, theirs in zip(
            ("l1", "squared"),
            ("l1", "squared l1"),
            printed[tuple(row["a"]), row["lambda"]],
            strict=True,
        )
    ]
    draws = [
        {"size": size, "lambda": lam, "draws": DRAWS, "seed": 0}
        for size, lam in product(SIZES, LAMBDAS)
    ]
    theorems = [
        {
            "coefficients": row["size"],
            "lambda": row["lambda"],
            "problems": row["draws"],
            "largest_excess": rounded(row["largest_excess"], 2),
        }
        for row in bench.jobs("exclusive-l21 every set", every_set, draws)
    ]
    return [
        exhibit(__package__, "Section 4.1", cases),
        exhibit(__package__, "Theorems 5 and 6", theorems),
    ]


def _objective(W: np.ndarray, a: np.ndarray, lam: float, power: int) -> np.ndarray:
    return ((W - a) ** 2).sum(axis=1) + lam * np.abs(W).sum(axis=1) ** power


def _best_on(a: np.ndarray, lam: float, chosen: tuple[int, ...]) -> float:
    """The objective at the stationary point with these nonzero coefficients and the signs of a."""
    w = np.zeros(len(a))
    if chosen:
        on = list(chosen)
        signs = np.where(a[on] < 0, -1.0, 1.0)
        w[on] = np.linalg.solve(np.eye(len(on)) + lam * np.outer(signs, signs), a[on])
    return float(_objective(w[None], a, lam, 2)[0])


def _told(values) -> str:
    return ", ".join(f"{value + 0.0:.4g}" for value in values)
