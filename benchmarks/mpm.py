"""The minimax probability machines against the same programs written in cvxpy.

Run with one thread: OMP_NUM_THREADS=1 python -m benchmarks.mpm [--quick]

Peers: the formulation with features x features covariance roots ("d x d", as papers print it) and
the one with thin sample factors ("thin"), both through cvxpy and Clarabel at its default
accuracy, modelling time included. Every time is the least of a few repeats in the same run.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

from benchmarks.common import conditions

import numpy as np  # isort: skip  (after common, which sets the number of threads)

from sparsieve import L0MPMSelector, L1MPMSelector, MPMClassifier, SMPMSelector

DELTA, RIDGE, THETA = 0.8, 0.1, 5.0


def problem(n, d, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[y == 1, :5] += 0.8
    return X, y


def best_time(call, repeats):
    times, answer = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - start)
    return min(times), answer


class Cvxpy:
    """The programs in cvxpy, with thin or with square factors of the covariances."""

    def __init__(self, thin: bool, ridge: float):
        self.thin, self.ridge = thin, ridge

    def _moments(self, X, y):
        import cvxpy as cp

        w = cp.Variable(X.shape[1])
        means, norms = [], []
        for label in (1, 0):
            rows = X[y == label]
            mean = rows.mean(axis=0)
            Z = (rows - mean) / np.sqrt(len(rows))
            if self.thin:
                parts = [Z @ w] if self.ridge == 0 else [Z @ w, np.sqrt(self.ridge) * w]
                norms.append(cp.norm(cp.hstack(parts)))
            else:
                values, vectors = np.linalg.eigh(Z.T @ Z)
                root = vectors * np.sqrt(np.maximum(values, 0.0) + self.ridge)
                norms.append(cp.norm(root.T @ w))
            means.append(mean)
        return cp, w, means, norms

    def mpm(self, X, y):
        cp, w, means, norms = self._moments(X, y)
        program = cp.Problem(cp.Minimize(sum(norms)), [(means[0] - means[1]) @ w == 1])
        return program.solve(solver="CLARABEL")

    def l1(self, X, y):
        cp, w, means, norms = self._moments(X, y)
        b = cp.Variable()
        kappa = np.sqrt(DELTA / (1 - DELTA))
        first, second = means[0] @ w - b, b - means[1] @ w
        limits = [first >= kappa * norms[0], first >= 1, second >= kappa * norms[1], second >= 1]
        return cp.Problem(cp.Minimize(cp.norm1(w)), limits).solve(solver="CLARABEL")

    def smpm(self, X, y, alpha):
        cp, w, means, norms = self._moments(X, y)
        gain = (means[0] - means[1]) @ w - alpha * cp.norm1(w)
        return cp.Problem(cp.Minimize(sum(norms)), [gain >= 1]).solve(solver="CLARABEL")


def report(what, ours, theirs, our_value, their_value):
    if our_value is None:
        note = "peer: its time for one step, times the steps"
    else:
        difference = abs(our_value - their_value) / max(abs(their_value), 1e-12)
        note = f"objectives differ by {difference:.0e}"
    print(
        f"{what:<40}{1e3 * ours:>9.1f} ms {1e3 * theirs:>10.1f} ms {theirs / ours:>7.0f} x"
        f"   {note}",
        flush=True,
    )


def against_cvxpy(d, thin, ridge, repeats, peer_repeats):
    X, y = problem(100, d)
    kind = "thin" if thin else "d x d"
    name = f"d={d}, ridge={ridge:g}, cvxpy {kind}"
    peer = Cvxpy(thin, ridge)
    common = {"ridge": ridge, "standardize": False}
    l1 = L1MPMSelector(delta=DELTA, **common)
    ours, fitted = best_time(lambda: l1.fit(X, y), repeats)
    theirs, value = best_time(lambda: peer.l1(X, y), peer_repeats)
    report(f"L1-MPM  {name}", ours, theirs, fitted.objective_, value)
    l0 = L0MPMSelector(delta=DELTA, theta=THETA, **common)
    ours, fitted = best_time(lambda: l0.fit(X, y), repeats)
    report(f"L0-MPM  {name}", ours, fitted.n_iter_ * theirs, None, None)
    if ridge == 0:
        return
    ours, fitted = best_time(lambda: MPMClassifier(ridge=ridge).fit(X, y), repeats)
    theirs, value = best_time(lambda: peer.mpm(X, y), peer_repeats)
    report(f"MPM     {name}", ours, theirs, fitted.objective_, value)
    smpm = SMPMSelector(**common)
    ours, fitted = best_time(lambda: smpm.fit(X, y), repeats)
    theirs, value = best_time(lambda: peer.smpm(X, y, fitted.alpha_), peer_repeats)
    report(f"S-MPM   {name}", ours, theirs, fitted.objective_, value)


def alone(name, X, y, repeats):
    for estimator in (
        L1MPMSelector(),
        L0MPMSelector(),
        L0MPMSelector(ridge="ledoit_wolf"),
        SMPMSelector(),
        MPMClassifier(),
    ):
        seconds, fitted = best_time(lambda estimator=estimator: estimator.fit(X, y), repeats)
        mask = getattr(fitted, "support_", None)
        kept = "" if mask is None else f"{mask.sum()} features, "
        print(
            f"{name:<30}{estimator!s:<42}{seconds:>8.3f} s   {kept}optimality "
            f"{fitted.optimality_:.0e}",
            flush=True,
        )


def madelon_rows(n):
    folder = os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")
    path = Path(folder) / "madelon.npz"
    if not path.exists():
        return None
    data = np.load(path, allow_pickle=True)
    rows = np.random.default_rng(0).choice(len(data["y"]), n, replace=False)
    return data["X"][rows].astype(float), data["y"][rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller peers, fewer repeats")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", message="Solution may be inaccurate")
    repeats = 2 if quick else 5
    MPMClassifier().fit(*problem(20, 3))  # imports and warm-up
    L1MPMSelector().fit(*problem(20, 3))
    print(conditions("cvxpy", "clarabel"))
    print(f"{'100 samples':<40}{'sparsieve':>12} {'cvxpy':>13}")
    against_cvxpy(500, False, RIDGE, repeats, 1)
    for d in (500,) if quick else (500, 2000):
        against_cvxpy(d, True, RIDGE, repeats, 1 if quick else 2)
        against_cvxpy(d, True, 0.0, repeats, 1 if quick else 2)
    print()
    alone("22,283 features, 100 samples", *problem(100, 22_283), 1 if quick else 3)
    rows = madelon_rows(200)
    if rows is None:
        print("Madelon is not at hand; name its folder in SPARSIEVE_DATA")
    else:
        alone("Madelon, 200 samples", *rows, 1 if quick else 3)


if __name__ == "__main__":
    main()
