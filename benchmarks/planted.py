"""How many false features does each rule keep, and what does it cost, where the truth is planted?

Five features, or five groups of three columns, say something about the target; the others are
noise. ``SelectorCV`` chooses the number of features on n samples, and the model on the features of
every rule is scored on 2,000 others::

    python -m benchmarks.planted [draws] [kind, or kind:columns, or kind:columns:samples ...]

The target is numbers (R squared of the truth 0.6), two classes (the same numbers cut at their
mean), or survival times with hazards by the same sum, a third of them censored.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from time import process_time

from benchmarks import common  # noqa: F401  (sets the number of threads)

import numpy as np  # isort: skip

KINDS = ("classes", "numbers", "groups", "survival")
WIDTHS = (30, 200, 2000)
SAMPLES = (60, 200, 1000)
N_SIGNALS, N_TEST, GROUP_SIZE = 5, 2000, 3
RULES = ("fewest", "best")


@dataclass(frozen=True)
class Drawn:
    """A planted truth: training and test samples, and what goes together."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    groups: list[list[int]] | None


def drawn(kind: str, n_samples: int, width: int, seed: int) -> Drawn:
    """The signals are the first five features or groups, all of the same size."""
    rng = np.random.default_rng([seed, n_samples, width, KINDS.index(kind)])
    size = GROUP_SIZE if kind == "groups" else 1
    X = rng.standard_normal((n_samples + N_TEST, width * size))
    weights = rng.choice([-1.0, 1.0], N_SIGNALS * size) / np.sqrt(N_SIGNALS * size)
    signal = X[:, : N_SIGNALS * size] @ weights
    if kind == "survival":
        y = np.empty(len(X), [("event", bool), ("time", float)])
        times = rng.exponential(np.exp(-1.2 * signal))
        ends = rng.exponential(2.0 * np.median(times), len(X))
        y["event"], y["time"] = times <= ends, np.minimum(times, ends)
    else:
        y = signal + np.sqrt(2 / 3) * rng.standard_normal(len(X))
        if kind == "classes":
            y = (y > 0).astype(int)
    together = None
    if kind == "groups":
        together = [list(range(size * g, size * (g + 1))) for g in range(width)]
    return Drawn(X[:n_samples], y[:n_samples], X[n_samples:], y[n_samples:], together)


def one_draw(kind: str, n_samples: int, width: int, seed: int) -> dict[str, tuple[int, int, float]]:
    """By rule: features (or groups) kept, false ones among them, and the score on other samples."""
    from sparsieve import LikelihoodForwardSelector, RidgeForwardSelector, SelectorCV
    from sparsieve.scoring.ridge_path import default_estimator

    data = drawn(kind, n_samples, width, seed)
    survival = kind == "survival"
    selector = (
        LikelihoodForwardSelector()
        if survival
        else RidgeForwardSelector(feature_groups=data.groups)
    )
    search = SelectorCV(selector).fit(data.X, data.y)
    task = {"survival": "survival", "classes": "classification"}.get(kind, "regression")
    found = {}
    for rule in RULES:
        k = search.k_by_rule_[rule]
        kept = search.at(k)
        units = kept.group_support_ if data.groups else kept.support_
        columns = np.flatnonzero(kept.support_)
        model = default_estimator(task, n_samples).fit(data.X[:, columns], data.y)
        score = scored(model, data.X_test[:, columns], data.y_test, survival)
        found[rule] = k, int(units[N_SIGNALS:].sum()), score
    return found


def scored(model, X, y, survival: bool) -> float:
    """Accuracy, R squared or concordance."""
    from sparsieve.scoring.survival import survival_scores

    if not survival:
        return model.score(X, y)
    return survival_scores(y, model.predict(X), ["concordance"])["concordance"]


def cells(asked: str) -> list[tuple[str, int, int]]:
    """The kind, the columns and the samples that are meant by "groups" or "groups:200:60"."""
    kind, _, rest = asked.partition(":")
    width, _, n_samples = rest.partition(":")
    return [
        (kind, one, n)
        for one in ([int(width)] if width else WIDTHS)
        for n in ([int(n_samples)] if n_samples else SAMPLES)
    ]


def main(draws: str = "10", *asked: str) -> None:
    """A line for every combination."""
    warnings.simplefilter("ignore")
    print(
        "| target | columns or groups | samples | draws | kept | of them false | kept by best | "
        "of them false | points lost |"
    )
    print("|---" * 9 + "|")
    for kind, width, n_samples in (cell for one in asked or KINDS for cell in cells(one)):
        start = process_time()
        found = [one_draw(kind, n_samples, width, seed) for seed in range(int(draws))]
        few, most = (np.array([one[rule] for one in found]) for rule in RULES)
        lost = 100 * (most[:, 2] - few[:, 2])
        error = lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else 0.0
        middle = [f"{np.median(part):g}" for part in (*few.T[:2], *most.T[:2])]
        print(
            f"| {kind} | {width:,} | {n_samples:,} | {draws} | {' | '.join(middle)} | "
            f"{lost.mean():+.1f} ({error:.1f}) |",
            flush=True,
        )
        print(f"{process_time() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
