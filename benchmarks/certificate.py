"""Proofs: the time of all bounds against fits, and nodes and seconds of the exact search.

The bounds are compared with 300 steps of proximal gradients on the same relaxation, the plain
way to the same number. Run with ``python -m benchmarks.certificate``.
"""

from __future__ import annotations

import sys
import warnings
from time import perf_counter

from benchmarks.common import Row, best_of, load, show

import numpy as np  # isort: skip
from sklearn.datasets import load_breast_cancer, load_wine

from sparsieve import L20Selector, RidgeForwardSelector
from sparsieve.solvers import ExactSearch

# data set, limit in fits for all of k = 1..50, and for a single k
BOUNDS = [("allaml", 20, 10), ("isolet", 40, 10), ("warppie10p", 40, 10), ("borovecki", None, None)]
# data set, largest k, seconds per k that may pass
EXACT = [
    ("wine", 10, 10),
    ("breast_cancer", 10, 10),
    ("sonar", 10, 10),
    ("colon", 10, 120),
    ("allaml", 8, 120),
    ("glioma", 3, 120),
    ("leukemia_38", 10, 120),
]


def data(name: str):
    """(X, y) of an embedded or a stored data set, or None."""
    if name == "wine":
        return load_wine(return_X_y=True)
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True)
    return load(name)


def proximal_gradients(X, Y, ridge: float, k: int, n_steps: int = 300) -> float:
    """The bound after so many steps of projected gradient descent in z on all features."""
    z = np.full(X.shape[1], k / X.shape[1])
    best, step = 0.0, None
    for _ in range(n_steps):
        A = np.linalg.solve(np.eye(len(X)) + (X * z) @ X.T / ridge, Y)
        s = ((X.T @ A) ** 2).sum(axis=1)
        top = np.partition(s, len(s) - k)[len(s) - k :].sum()
        best = max(best, float(np.vdot(A, Y)) ** 2 / (float(np.vdot(A, A)) + top / ridge))
        step = 0.5 / s.max() if step is None else step
        z = _onto_budget(z + step * s, k)
    return best


def _onto_budget(z, k: int):
    low, high = z.min() - 1.0, z.max()
    for _ in range(60):
        shift = 0.5 * (low + high)
        if np.clip(z - shift, 0.0, 1.0).sum() > k:
            low = shift
        else:
            high = shift
    return np.clip(z - high, 0.0, 1.0)


def bounds():
    """All of k = 1..50 and k = 20 alone, in fits of the selector."""
    for name, limit, single in BOUNDS:
        found = data(name)
        if found is None:
            continue
        X, y = found
        selector = RidgeForwardSelector(50, task="classification")
        fit = best_of(lambda s=selector, X=X, y=y: s.fit(X, y))
        every = best_of(lambda s=selector, X=X, y=y: s.certify(X, y))
        certificate = selector.certificate_
        gaps = ", ".join(f"{100 * certificate.gap[k - 1]:.1f} %" for k in (5, 10, 20, 50))
        met = None if limit is None else every <= limit * fit
        yield Row(
            "bounds for k=1..50", name, every, "fit", fit, f"<{limit} fits", met, f"gap {gaps}"
        )
        one = best_of(lambda s=selector, X=X, y=y: s.certify(X, y, n_features=20))
        met = None if single is None else one <= single * fit
        yield Row("bound for k=20", name, one, "fit", fit, f"<{single} fits", met)
        if name == "allaml":
            sd = X.std(axis=0)
            Z = (X - X.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
            Y = (y[:, None] == np.unique(y)).astype(float)
            Y -= Y.mean(axis=0)
            start = perf_counter()
            plain = proximal_gradients(Z, Y, float(len(y)), 20)
            slow = perf_counter() - start
            exact = L20Selector(20).fit(X, y)
            ours = best_of(lambda s=exact, X=X, y=y: s.certify(X, y, n_features=20))
            better = exact.certificate_.lower_bound[0] >= plain * (1 - 1e-3)
            note = f"bound {exact.certificate_.lower_bound[0]:.4f} against {plain:.4f}"
            yield Row(
                "bound for k=20",
                name,
                ours,
                "300 gradient steps",
                slow,
                ">30x",
                better and slow >= 30 * ours,
                note,
            )


def exact() -> None:
    """Nodes, seconds and gap of every k, and where the best support is not greedy's."""
    print(f"{'data':<16}{'k':>3}{'seconds':>9}{'gap':>10}  best is")
    for name, largest, limit in EXACT:
        found = data(name)
        if found is None:
            continue
        X, y = found
        greedy = L20Selector(largest).fit(X, y)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proven = L20Selector(largest, solver=ExactSearch(time_limit=limit)).fit(X, y)
        seconds = perf_counter() - start
        for k in range(1, largest + 1):
            same = set(greedy.at(k).get_support(indices=True)) == set(
                proven.at(k).get_support(indices=True)
            )
            gap = float(proven.path_.optimality[k])
            print(f"{name:<16}{k:>3}{'':>9}{gap:>10.2g}  {'greedy' if same else 'another'}")
        print(f"{name:<16}{'all':>3}{seconds:>9.2f}{'':>10}  {proven.n_iter_} nodes", flush=True)


def main() -> None:
    show(bounds())
    exact()


if __name__ == "__main__":
    sys.exit(main())
