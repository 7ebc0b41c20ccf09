"""Groups of features: is size fair, are the right groups found, and how long does it take?

::

    PYTHONPATH=src:. python -m benchmarks.groups noise    # which size of noise wins
    PYTHONPATH=src:. python -m benchmarks.groups mixture  # informative groups among noise
    PYTHONPATH=src:. python -m benchmarks.groups times    # l2,1 beside skglm and adelie
    PYTHONPATH=src:. python -m benchmarks.groups forward  # forward selection of groups

Without a name all of them run. Peers are optional: what is not installed is left out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from benchmarks.common import Row, best_of, show

import numpy as np  # isort: skip
from scipy import sparse

from sparsieve import (
    L20Selector,
    L21Selector,
    RidgeForwardSelector,
)

SIZES = (1, 2, 5, 10, 20, 50)
SELECTORS = {
    "RidgeForwardSelector": RidgeForwardSelector,
    "L20Selector": L20Selector,
    "L20Selector, equal costs": lambda k, feature_groups: L20Selector(
        k, feature_groups=feature_groups, group_costs=np.ones(len(np.unique(feature_groups)))
    ),
    "L21Selector": L21Selector,
}
# Objectives count as equal within this share.
EQUAL = 1e-6
TOLERANCES = 10.0 ** -np.arange(2, 15)


# -- fairness ------------------------------------------------------------------------------------


def table(title: str, names: list[str], shares: Callable[[Any], np.ndarray]) -> None:
    """Print a row of shares in per cent for every selector, as they come."""
    print(f"\n{title}\n\n| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for name, selector in SELECTORS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = shares(selector)
        print(f"| {name} | " + " | ".join(f"{100 * x:.0f}" for x in row) + " |", flush=True)


def noise(n_draws: int = 100, n_samples: int = 150, n_each: int = 4) -> None:
    """How often a group of every size comes first where there is nothing to find."""
    sizes = np.repeat(SIZES, n_each)
    labels = np.repeat(np.arange(len(sizes)), sizes)

    def shares(selector: Any) -> np.ndarray:
        rng, wins = np.random.default_rng(0), np.zeros(len(SIZES))
        for _ in range(n_draws):
            X, y = rng.normal(size=(n_samples, len(labels))), rng.normal(size=n_samples)
            fitted = selector(1, feature_groups=labels).fit(X, y)
            wins[int(np.argmin(fitted.group_ranking_)) // n_each] += 1
        return wins / n_draws

    title = (
        f"Noise only: how often a group of each size comes first, in per cent ({n_draws} draws, "
        f"{n_samples} samples, {n_each} groups of each size; equal shares are "
        f"{100 / len(SIZES):.0f})"
    )
    table(title, [f"{size} columns" for size in SIZES], shares)


def mixture(n_draws: int = 40, n_samples: int = 200, strength: float = 0.45) -> None:
    """Groups of 1, 5 and 20 columns with signals of equal size among noise of every size."""
    informative = (1, 5, 20)
    sizes = np.concatenate([informative, np.repeat(SIZES, 4)])
    labels = np.repeat(np.arange(len(sizes)), sizes)

    def shares(selector: Any) -> np.ndarray:
        rng, kept = np.random.default_rng(1), np.zeros(len(sizes))
        for _ in range(n_draws):
            X = rng.normal(size=(n_samples, len(labels)))
            y = rng.normal(size=n_samples)
            for g, size in enumerate(informative):
                coefficients = rng.normal(size=size)
                coefficients *= strength / np.linalg.norm(coefficients)
                y = y + X[:, labels == g] @ coefficients
            kept += selector(3, feature_groups=labels).fit(X, y).group_support_
        false = kept[3:].reshape(len(SIZES), 4).sum(axis=1)
        return np.concatenate([kept[:3], false]) / n_draws

    title = (
        f"Three informative groups among 24 of noise, three kept: how often each informative group "
        f"is found, and how many groups of noise of each size are kept, in per cent of {n_draws} "
        f"draws ({n_samples} samples, each group explains {100 * strength**2:.0f} % of the noise)"
    )
    names = [f"signal, {size}" for size in informative] + [f"noise, {size}" for size in SIZES]
    table(title, names, shares)


# -- times ---------------------------------------------------------------------------------------


def problems() -> Iterator[tuple[str, np.ndarray | sparse.csc_array, np.ndarray, int]]:
    """(name, X, y, size of groups): six sets, dense and sparse."""
    rng = np.random.default_rng(0)
    for n, d, size in ((300, 6000, 2), (1000, 5000, 10), (200, 10_000, 50)):
        X = rng.normal(size=(n, d)) + 0.5 * np.repeat(rng.normal(size=(n, d // size)), size, axis=1)
        yield f"dense {n}x{d}/{size}", X, _target(X, size, rng), size
    for n, d, size in ((2000, 20_000, 2), (2000, 10_000, 10), (5000, 10_000, 50)):
        X = sparse.random_array((n, d), density=0.01, rng=rng, format="csc")
        yield f"sparse {n}x{d}/{size}", X, _target(X, size, rng), size


def _target(X, size: int, rng: np.random.Generator) -> np.ndarray:
    w = np.zeros(X.shape[1])
    for g in rng.choice(X.shape[1] // size, 10, replace=False):
        w[g * size : (g + 1) * size] = rng.normal(size=size)
    signal = X @ w
    return signal + 0.5 * signal.std() * rng.normal(size=len(signal))


def objective(X, y: np.ndarray, w: np.ndarray, size: int, alpha: float) -> float:
    """||y - Xw||^2 + alpha sqrt(size) sum_g ||w_g||."""
    rest = y - X @ w
    norms = np.linalg.norm(np.reshape(w, (-1, size)), axis=1)
    return float(rest @ rest + alpha * np.sqrt(size) * norms.sum())


Solve = Callable[[float], np.ndarray]


def skglm_solver(X, y: np.ndarray, size: int, alpha: float) -> Solve:
    """GroupLasso of skglm by its tolerance."""
    from skglm import GroupLasso

    X = X if isinstance(X, np.ndarray) else sparse.csc_matrix(X)
    weights = np.full(X.shape[1] // size, np.sqrt(size))

    def solve(tol: float) -> np.ndarray:
        model = GroupLasso(
            size, alpha / (2 * len(y)), weights, tol=tol, fit_intercept=False, max_iter=200
        )
        return model.fit(X, y).coef_

    return solve


def adelie_solver(X, y: np.ndarray, size: int, alpha: float) -> Solve:
    """Grpnet of adelie, from its own start, by its tolerance."""
    import adelie as ad

    starts = np.arange(0, X.shape[1], size)
    if isinstance(X, np.ndarray):
        matrix = ad.matrix.dense(np.asfortranarray(X), n_threads=1)
    else:
        matrix = ad.matrix.sparse(sparse.csc_matrix(X), n_threads=1)
    strength = alpha / (2 * len(y))

    def solve(tol: float) -> np.ndarray:
        state = ad.grpnet(
            X=matrix,
            glm=ad.glm.gaussian(y=y),
            groups=starts,
            penalty=np.full(len(starts), np.sqrt(size)),
            lmda_path=[strength],
            intercept=False,
            early_exit=False,
            progress_bar=False,
            n_threads=1,
            tol=tol,
        )
        return np.asarray(state.betas[-1].todense()).ravel()

    return solve


def times(only: str = "") -> Iterator[Row]:
    """l2,1 over groups to equal objectives."""
    for name, X, y, size in problems():
        if only not in name:
            continue
        starts = np.arange(0, X.shape[1], size)
        alpha = 0.1 * float(
            2 * np.sqrt(np.add.reduceat(np.asarray(X.T @ y) ** 2, starts)).max() / np.sqrt(size)
        )
        labels = np.repeat(np.arange(len(starts)), size)
        selector = L21Selector(
            alpha=alpha,
            feature_groups=labels,
            standardize=False,
            fit_intercept=False,
            group_weights=np.full(len(starts), np.sqrt(size)),
            task="regression",
        )
        ours = best_of(lambda s=selector, X=X, y=y: s.fit(X, y))
        reached = objective(X, y, selector.coef_.ravel(), size, alpha)
        used = int(selector.group_support_.sum())
        for peer, make in (("skglm GroupLasso", skglm_solver), ("adelie grpnet", adelie_solver)):
            note = f"{used} of {len(starts)} groups, gap {selector.optimality_:.0e}"
            try:
                solve = make(X, y, size, alpha)
            except ImportError:
                yield Row("l2,1 groups", name, ours, peer, None, "ahead", None, "not installed")
                continue
            theirs, value = _until_equal(solve, X, y, size, alpha, reached)
            if theirs is None:
                note += f"; never below {value / reached - 1:.0e} above"
            ahead = None if theirs is None else ours <= theirs
            yield Row("l2,1 groups", name, ours, peer, theirs, "ahead", ahead, note)


def _until_equal(
    solve: Solve, X, y: np.ndarray, size: int, alpha: float, reached: float
) -> tuple[float | None, float]:
    """The time at the loosest tolerance with our objective, and the least objective seen."""
    least = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solve(TOLERANCES[0])  # compiles
        for tol in TOLERANCES:
            start = perf_counter()
            w = solve(tol)
            taken = perf_counter() - start
            least = min(least, objective(X, y, w, size, alpha))
            if least <= reached * (1 + EQUAL):
                return min(taken, best_of(lambda tol=tol: solve(tol))), least
    return None, least


def forward() -> None:
    """Forward selection of groups: the whole fit, and what reading X for its products takes."""
    print(f"\n{'data':<26}{'groups':>8}{'fit, s':>9}{'products alone, s':>20}")
    rng = np.random.default_rng(0)
    for n, d, size, count in (
        (200, 5000, 5, 20),
        (1000, 5000, 10, 10),
        (1000, 10_000, 20, 10),
        (2000, 10_000, 5, 30),
    ):
        X = rng.normal(size=(n, d))
        y = _target(X, size, rng)
        labels = np.repeat(np.arange(d // size), size)
        selector = RidgeForwardSelector(count, feature_groups=labels, task="regression")
        V = rng.normal(size=(n, size))
        fit = best_of(lambda s=selector, X=X, y=y: s.fit(X, y))
        floor = best_of(lambda X=X, V=V, k=count: [X.T @ V for _ in range(k)])
        print(f"{f'{n}x{d}/{size}':<26}{count:>8}{fit:>9.3f}{floor:>20.3f}", flush=True)


def main(names: list[str] | None = None) -> None:
    """Run the parts with these names, by default all."""
    parts: dict[str, Callable[[], None]] = {
        "noise": noise,
        "mixture": mixture,
        "times": lambda: show(times(), "skglm", "adelie"),
        "forward": forward,
    }
    for name in names or list(parts):
        parts[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
