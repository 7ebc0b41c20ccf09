"""Tall tables of correlated columns: what is found, what is false, and how good the model is.

Thousands of rows and tens of columns that go along with each other (a chain, blocks, common
factors) or do not; some carry the target, equally or ever less. ``select`` and abess choose
features and their number on n samples, and both are scored on 4,000 others: what ``select``
ships, and for abess and for the true features the same kind of model::

    python -m benchmarks.tall [draws] [first seed]
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from dataclasses import dataclass
from time import process_time
from typing import Any

from benchmarks.common import conditions

import numpy as np  # isort: skip

N_TEST, MOST = 4000, 40


@dataclass(frozen=True)
class Design:
    """How columns go along, how many there are, how many signals, and how fast these decay."""

    columns: str
    n_samples: int
    n_columns: int
    n_signals: int
    decay: float
    target: str
    explained: float

    @property
    def name(self) -> str:
        """For the table."""
        size = f"{self.n_samples:,} x {self.n_columns}"
        signals = f"{self.n_signals} signals" if self.n_signals else "noise"
        shape = "" if not self.n_signals else ", equal" if self.decay == 1 else ", decaying"
        return f"{self.columns}, {size}, {signals}{shape}, {self.target}"


DESIGNS = (
    Design("chain .6", 3000, 60, 10, 0.8, "numbers", 0.4),
    Design("chain .8", 1000, 50, 8, 0.8, "numbers", 0.5),
    Design("chain .8", 4000, 40, 8, 0.8, "numbers", 0.3),
    Design("blocks", 800, 100, 8, 1.0, "numbers", 0.5),
    Design("factors", 1000, 80, 8, 0.85, "numbers", 0.5),
    Design("independent", 500, 60, 8, 0.7, "numbers", 0.5),
    Design("independent", 300, 120, 6, 1.0, "numbers", 0.6),
    Design("chain .6", 2000, 60, 8, 0.8, "2 classes", 0.5),
    Design("blocks", 1000, 60, 6, 1.0, "2 classes", 0.5),
    Design("factors", 1500, 100, 8, 0.85, "2 classes", 0.5),
    Design("independent", 400, 40, 6, 0.8, "2 classes", 0.5),
    Design("chain .6", 2000, 60, 8, 0.85, "4 classes", 0.6),
    Design("independent", 1200, 50, 6, 1.0, "4 classes", 0.6),
    Design("chain .6", 400, 60, 0, 1.0, "2 classes", 0.0),
    Design("independent", 400, 60, 0, 1.0, "numbers", 0.0),
)


def columns_of(kind: str, rng: np.random.Generator, n_samples: int, d: int) -> np.ndarray:
    """Columns of unit variance that go along in some way."""
    Z = rng.standard_normal((n_samples, d))
    if kind.startswith("chain"):
        share, X = float(kind.split()[1]), Z.copy()
        for j in range(1, d):
            X[:, j] = share * X[:, j - 1] + np.sqrt(1 - share**2) * Z[:, j]
        return X
    if kind == "blocks":
        common = rng.standard_normal((n_samples, -(-d // 10)))
        return np.sqrt(0.6) * np.repeat(common, 10, axis=1)[:, :d] + np.sqrt(0.4) * Z
    if kind == "factors":
        loads = rng.standard_normal((5, d))
        return rng.standard_normal((n_samples, 5)) @ loads * np.sqrt(0.1) + np.sqrt(0.5) * Z
    return Z


def drawn(design: Design, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X and y of training and test samples, one below the other, and the true columns."""
    rng = np.random.default_rng([seed, DESIGNS.index(design)])
    n_samples, d = design.n_samples + N_TEST, design.n_columns
    X = columns_of(design.columns, rng, n_samples, d)
    true = rng.choice(d, design.n_signals, replace=False)
    sizes = design.decay ** np.arange(design.n_signals)
    if design.target == "4 classes":
        W = rng.choice([-1.0, 1.0], (design.n_signals, 4)) * rng.uniform(0.5, 1, (len(true), 4))
        F = X[:, true] @ (sizes[:, None] * W)
        noise = rng.gumbel(size=F.shape)
        return X, (3 * np.sqrt(design.explained) * F / F.std() + noise).argmax(axis=1), true
    f = X[:, true] @ (sizes * rng.choice([-1.0, 1.0], len(true)))
    f = f / f.std() if len(true) else f
    noise = rng.standard_normal(n_samples)
    v = np.sqrt(design.explained) * f + np.sqrt(1 - design.explained) * noise
    return X, (v if design.target == "numbers" else (v > 0).astype(int)), true


def by_abess(X: np.ndarray, y: np.ndarray, target: str) -> np.ndarray:
    """The columns that abess keeps, their number by its own criterion."""
    import abess

    kinds = {"numbers": "LinearRegression", "2 classes": "LogisticRegression"}
    kind = getattr(abess, kinds.get(target, "MultinomialRegression"))
    sizes = range(min(X.shape[1], MOST) + 1)
    with contextlib.redirect_stdout(io.StringIO()):
        coef = np.atleast_2d(kind(support_size=sizes).fit(X, y).coef_)
    by_column = coef if coef.shape[1] == X.shape[1] else coef.T
    return np.flatnonzero(np.abs(by_column).sum(axis=0))


def judged(columns: np.ndarray, X: np.ndarray, y: np.ndarray, n: int) -> float:
    """The score of the model that ``select`` would ship with these columns, in points."""
    from sparsieve.scoring.ridge_path import default_estimator

    is_classes = y.dtype.kind == "i"
    if not len(columns):
        return 100 * float((y[n:] == np.bincount(y[:n]).argmax()).mean()) if is_classes else 0.0
    model = default_estimator("classification" if is_classes else "regression", n)
    return 100 * model.fit(X[:n, columns], y[:n]).score(X[n:, columns], y[n:])


def one_draw(design: Design, seed: int) -> list[float]:
    """Kept, false, found, score: of select, then of abess; score of the truth; CPU seconds."""
    import sparsieve

    X, y, true = drawn(design, seed)
    n, found = design.n_samples, []
    start = process_time()
    selected: Any = sparsieve.select(X[:n], y[:n], check=False)
    seconds = process_time() - start
    for columns in (
        np.flatnonzero(selected.selector.support_),
        by_abess(X[:n], y[:n], design.target),
    ):
        is_true = np.isin(columns, true)
        found += [len(columns), int((~is_true).sum()), int(is_true.sum())]
        found.append(judged(columns, X, y, n))
    return [*found, judged(true, X, y, n), seconds]


def main(draws: str = "20", first: str = "0") -> None:
    """A line for every design, and the means."""
    warnings.simplefilter("ignore")
    print(conditions("abess"), end="\n\n")
    print(
        "| columns | kept | false | found | score | abess: kept | false | found | score | "
        "true features | seconds |"
    )
    print("|---" * 11 + "|")
    every = []
    for design in DESIGNS:
        seeds = range(int(first), int(first) + int(draws))
        table = np.array([one_draw(design, seed) for seed in seeds])
        mean = table.mean(axis=0)
        cells = [f"{mean[i]:.1f}" for i in range(9)] + [f"{mean[9]:.2f}"]
        print(f"| {design.name} | {' | '.join(cells)} |", flush=True)
        if design.n_signals:
            every.append(table)
    table = np.vstack(every)
    false, behind, lost = table[:, 1], table[:, 3] - table[:, 7], table[:, 3] - table[:, 8]
    print(
        f"\nWith signals: false {false.mean():.2f} (median {np.median(false):g}), "
        f"abess {table[:, 5].mean():.2f}; score less abess {behind.mean():+.2f}, "
        f"less the true features {lost.mean():+.2f}."
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
