"""Everyday data: what every selector does with it, one cell per selector, kind and seed.

``python tests/everyday.py`` (`make everyday`) runs all cells and writes
docs/measured/everyday.csv; ``--selectors``, ``--kinds`` and ``--seeds`` run some of them and write
nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import multiprocessing
import os
import resource
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

from sparsieve import (  # noqa: E402
    FisherSelector,
    RidgeForwardSelector,
    all_selectors,
)

SECONDS = 20  # of CPU for a fit
LONGEST = 90  # after which a cell is given up, unless it was announced
LONG = "will take about"  # of a warning before a long fit
TABLE = Path(__file__).resolve().parents[1] / "docs" / "measured" / "everyday.csv"
KINDS: dict[str, Callable[[np.random.Generator, bool], tuple[Any, Any]]] = {}
WRAPPERS = ("EnsembleSelector", "SelectorCV", "ShadowSelector", "StabilitySelection")
# A chi-square statistic is one of counts: other data are refused in a sentence.
NOT_FOR = {"ChiSquareSelector": "is a statistic of counts"}


def kind(name: str) -> Callable:
    """Add a kind of data: of a generator and whether it shall be small."""

    def add(make: Callable) -> Callable:
        KINDS[name] = make
        return make

    return add


def two_classes(X: np.ndarray, rng: np.random.Generator, noise: float) -> np.ndarray:
    """Classes of which the first two columns know, but for noise."""
    return (X[:, 0] + X[:, 1] + noise * rng.standard_normal(len(X)) > 0).astype(int)


@kind("rare positives in sparse data")
def _rare_positives(rng, small):
    shape = (300, 500) if small else (1500, 3000)
    X = sparse.random(*shape, 2e-3, format="csr", random_state=rng)
    return X, (np.asarray(X[:, :10].sum(axis=1)).ravel() > 0).astype(int)


@kind("4 % positives")
def _four_percent(rng, small):
    X = rng.standard_normal((200 if small else 1000, 50))
    score = X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(len(X))
    return X, (score > np.quantile(score, 0.96)).astype(int)


@kind("wide and separable")
def _wide_separable(rng, small):
    X, y = rng.standard_normal((80, 500 if small else 5000)), np.arange(80) % 2
    X[:, :5] += 3.0 * y[:, None]
    return X, y


@kind("wide noise")
def _wide_noise(rng, small):
    return rng.standard_normal((80, 500 if small else 5000)), np.arange(80) % 2


@kind("tall, classes overlap")
def _tall(rng, small):
    X = rng.standard_normal((400 if small else 2000, 30))
    return X, two_classes(X, rng, 2.0)


@kind("counts")
def _counts(rng, small):
    X, y = rng.poisson(1.0, (300, 50 if small else 500)).astype(float), np.arange(300) % 3
    X[:, :5] += rng.poisson(2.0 * y[:, None], (300, 5))
    return X, y


@kind("one-hot columns")
def _one_hot(rng, small):
    codes = rng.integers(0, 6, (200 if small else 600, 12))
    X = np.hstack([np.eye(6)[codes[:, j]] for j in range(12)])
    return X, ((codes[:, 0] < 2) | (codes[:, 1] == 3)).astype(int)


@kind("Student t, 1.5 degrees of freedom")
def _heavy_tails(rng, small):
    X = rng.standard_t(1.5, (300, 30 if small else 100))
    return X, two_classes(X, rng, 0.0)


@kind("low rank, correlations of .99")
def _low_rank(rng, small):
    factors = rng.standard_normal((200, 3))
    X = factors @ rng.standard_normal((3, 60 if small else 300))
    return X + 0.1 * rng.standard_normal(X.shape), (factors[:, 0] > 0).astype(int)


@kind("every column twice")
def _twice(rng, small):
    X = rng.standard_normal((200, 20 if small else 60))
    return np.hstack([X, X]), two_classes(X, rng, 0.5)


@kind("400 copies of one column")
def _copies(rng, small):
    X = rng.standard_normal((200, 20))
    copies = np.repeat(X[:, :1], 40 if small else 400, axis=1)
    return np.hstack([X, copies]), two_classes(X, rng, 0.5)


@kind("30 classes of four")
def _thirty_classes(rng, small):
    y = np.arange(120) % 30
    means = rng.standard_normal((30, 30 if small else 100))
    return means[y] + rng.standard_normal((120, means.shape[1])), y


@kind("5,000 classes")
def _very_many_classes(rng, small):
    n_classes = 200 if small else 5000
    y = np.arange(2 * n_classes) % n_classes
    return rng.standard_normal((n_classes, 20))[y] + 0.3 * rng.standard_normal((len(y), 20)), y


@kind("twenty samples")
def _twenty_samples(rng, small):
    X, y = rng.standard_normal((20, 50)), np.arange(20) % 2
    X[:, 0] += 2.0 * y
    return X, y


@kind("units from 1e-6 to 1e6")
def _units(rng, small):
    X = rng.standard_normal((200, 40))
    return X * 10.0 ** rng.uniform(-6.0, 6.0, 40), two_classes(X, rng, 0.5)


@kind("few levels")
def _few_levels(rng, small):
    X = rng.integers(0, 3, (300, 40)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.standard_normal(300) > 2.0).astype(int)


@kind("a copy of the target")
def _target_inside(rng, small):
    X, y = rng.standard_normal((200, 30)), rng.integers(0, 2, 200)
    X[:, 7] = y
    return X, y


@kind("one sample per class")
def _single_samples(rng, small):
    # But for one class of two: where no class has two samples all selectors refuse in a sentence.
    n_samples = 20 if small else 60
    return rng.standard_normal((n_samples, 30)), np.arange(n_samples) % (n_samples - 1)


@kind("a million samples of five features")
def _million_samples(rng, small):
    X = rng.standard_normal((2_000 if small else 1_000_000, 5))
    return X, two_classes(X, rng, 1.0)


@kind("three samples of a million features")
def _million_features(rng, small):
    return rng.standard_normal((3, 3_000 if small else 1_000_000)), np.array([0, 1, 1])


def data(name: str, seed: int, *, small: bool = False) -> tuple[Any, np.ndarray]:
    """X and labels, which are text, of a kind."""
    X, y = KINDS[name](np.random.default_rng([seed, len(name)]), small)
    return X, np.array([f"class {value}" for value in y], dtype=object)


def selectors() -> dict[str, Any]:
    """Every selector with few features to keep; the wrappers each around two selectors."""
    found = {}
    for name, cls in all_selectors().items():
        if name == "EnsembleSelector":
            members = [("f", FisherSelector()), ("r", RidgeForwardSelector())]
            found[name] = cls(members, n_features_to_select=3)
        elif name in WRAPPERS:
            for inner in (FisherSelector, RidgeForwardSelector):
                found[f"{name}({inner.__name__})"] = cls(inner(), random_state=0)
        else:
            found[name] = (
                cls(FisherSelector(), n_features_to_select=3)
                if name == "SelectorAdapter"
                else cls(n_features_to_select=3)
            )
            if "random_state" in found[name].get_params():
                found[name].set_params(random_state=0)
    return found


@dataclass(frozen=True)
class Cell:
    """What a selector did with data."""

    outcome: str
    seconds: float = 0.0
    sentence: str = ""

    @property
    def fine(self) -> bool:
        """An answer that converged in time, or what is no everyday question."""
        return self.outcome in ("answer", "announced", "no memory", "not meant for this")


def cell(selector: Any, X: Any, y: np.ndarray, announced: Callable[[str], None] = print) -> Cell:
    """Fit the selector and judge the answer; ``announced`` gets the warning of a long fit."""
    told: list[str] = []
    failed = False

    def show(message, category, *_, **__) -> None:
        nonlocal failed
        told.append(str(message))
        failed |= issubclass(category, ConvergenceWarning)
        if LONG in told[-1]:
            announced(told[-1])

    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            selector.fit(X, y)
        except Exception as error:  # whatever it is, it belongs into the table
            outcome = "refused" if isinstance(error, ValueError) else "error"
            reason = f"{type(error).__name__}: {error}".split("\n")[0]
            if isinstance(error, MemoryError | ValueError) and "GiB" in reason:
                outcome = "no memory"
            if type(selector).__name__ in NOT_FOR and outcome == "refused":
                outcome = "not meant for this"
            return Cell(outcome, time.process_time() - start, reason)
    seconds = (time.process_time() - start) / _inner_fits(selector)
    sentence = "; ".join(told)
    if failed or not getattr(selector, "converged_", True):
        return Cell("not converged", seconds, sentence)
    # Some wrappers say that nothing is stable, or better than noise: that is an answer.
    said_so = any(f"no feature was {what}" in sentence for what in ("selected", "confirmed"))
    empty = not selector.get_support().any() and not said_so
    # A feature that separates classes without error may have an infinite statistic.
    if empty or np.isnan(selector.scores_).any():
        return Cell("no answer", seconds, sentence)
    if seconds > SECONDS:
        return Cell("announced" if LONG in sentence else "too slow", seconds, sentence)
    return Cell("answer", seconds, sentence)


def _inner_fits(selector: Any) -> int:
    """How many fits a fitted wrapper made: those of folds or subsamples are of about one cost."""
    if hasattr(selector, "n_subsamples"):
        return selector.n_subsamples + 1
    if hasattr(selector, "n_rounds_"):
        return selector.n_rounds_
    if hasattr(selector, "n_splits_"):
        return selector.n_splits_ + 1
    return len(getattr(selector, "selectors", [selector]))


def _work(pipe: Any, name: str, data_of: str, seed: int) -> None:
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        selectors()[name].fit(*data(data_of, seed, small=True))  # compiles
    selector, (X, y) = selectors()[name], data(data_of, seed)
    limit = LONGEST * (20 if name.partition("(")[0] in WRAPPERS else 1)
    limit += int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    pipe.send(cell(selector, X, y, lambda told: pipe.send(Cell("announced", limit, told))))


def run(name: str, data_of: str, seed: int) -> Cell:
    """The cell in a process of its own, which is ended when it takes too long."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(there, name, data_of, seed)
    )
    process.start()
    there.close()
    found = Cell("given up", LONGEST)
    with contextlib.suppress(EOFError):
        while True:
            found = here.recv()  # the last word counts: an announcement, or the end
    process.join()
    return found


def table(cells: dict[tuple[str, str, int], Cell]) -> list[list[str]]:
    """A row for a kind, with what every selector did, and one for all of them."""
    rows = [["data", "median s", "longest s", "slowest", "outcomes other than an answer"]]
    for data_of in KINDS:
        mine = {key: found for key, found in cells.items() if key[1] == data_of}
        if not mine:
            continue
        times = [found.seconds for found in mine.values()]
        slowest = max(mine, key=lambda key: mine[key].seconds)
        others: dict[tuple[str, str], list[Cell]] = {}
        for (name, _, _), found in mine.items():
            if found.outcome != "answer":
                others.setdefault((name, found.outcome), []).append(found)
        told = "; ".join(
            f"{name}: {outcome} ({len(found)}, {max(c.seconds for c in found):.0f} s)"
            for (name, outcome), found in others.items()
        )
        rows.append([data_of, f"{np.median(times):.2f}", f"{max(times):.1f}", slowest[0], told])
    counts = Counter(found.outcome for found in cells.values()).most_common()
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in counts)
    n_all = 3 * len(KINDS) * len(selectors())
    return [*rows, ["all", "", "", "", f"{len(cells):,} of {n_all:,} cells: {told}"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--selectors", nargs="*", help="parts of names")
    parser.add_argument("--kinds", nargs="*", help="parts of names")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    cells = {}
    for data_of in KINDS:
        if options.kinds and not any(part in data_of for part in options.kinds):
            continue
        for name in selectors():
            if options.selectors and not any(part in name for part in options.selectors):
                continue
            for seed in range(options.seeds):
                found = cells[name, data_of, seed] = run(name, data_of, seed)
                if not found.fine or found.seconds > SECONDS / 2:
                    print(
                        f"{data_of} | {name} | {seed} | {found.outcome} | {found.seconds:.1f} s | "
                        f"{found.sentence[:300]}",
                        flush=True,
                    )
    rows = table(cells)
    if not (options.selectors or options.kinds) and options.seeds >= 3:
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    print("\n".join(" | ".join(row) for row in rows))
    raise SystemExit(not all(found.fine for found in cells.values()))


if __name__ == "__main__":
    main()
