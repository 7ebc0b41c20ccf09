"""l0-MKL: one outer iteration against the same convex problems in cvxpy, and whole fits.

Run with one thread: ``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.mkl``.
The data folder is ``$SPARSIEVE_DATA`` or ``../shared/data``; sets that are not there are skipped.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from pathlib import Path

from benchmarks.common import conditions

import numpy as np  # isort: skip  (after common, which sets the number of threads)
from sklearn.model_selection import train_test_split

from sparsieve import L0MKLSelector, MIKFSSelector
from sparsieve.papers.l0_mkl.alternating_dca import AlternatingMKL, MKLModel
from sparsieve.papers.l0_mkl.bank import KernelBank
from sparsieve.papers.l0_mkl.kernel_svm import KernelMachine
from sparsieve.papers.l0_mkl.kernel_weights import KernelWeights, WeightProgram
from sparsieve.papers.l0_mkl.kernels import feature_kernel
from sparsieve.penalties.concave import surrogate
from sparsieve.solvers.base import Result

ROUNDS = 3
DATA = Path(os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(name: str, half: bool):
    """Two classes of a set; the two largest where there are more."""
    stored = np.load(DATA / f"{name}.npz")
    X, y = stored["X"].astype(float), stored["y"]
    largest = np.sort(np.argsort(-np.bincount(y), kind="stable")[:2])
    X, y = X[np.isin(y, largest)], y[np.isin(y, largest)]
    if half:
        X, _, y, _ = train_test_split(X, y, train_size=0.5, stratify=y, random_state=0)
    return X, y


def best_of(function, repeats: int) -> float:
    """Shortest CPU time, which other work on the machine does not change."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


class CvxpyWeights(WeightProgram):
    """The weight step through the modelling layer, over all features at once."""

    def solve_convex(self, costs, x0):
        import cvxpy

        d, b = cvxpy.Variable(len(costs)), cvxpy.Variable()
        loss = cvxpy.sum_squares(cvxpy.pos(self.s - self.P.T @ d - self.border * b))
        linear = self.charge(self.members) + costs
        problem = cvxpy.Problem(cvxpy.Minimize(linear @ d + loss), [d >= 0, d <= self.d_max])
        problem.solve(solver=cvxpy.CLARABEL)
        features = np.flatnonzero(d.value > 1e-5 * d.value.max())
        return KernelWeights(self.members[features], d.value[features], float(b.value))


class CvxpyModel(MKLModel):
    """Both convex steps through the modelling layer."""

    def weight_program(self, u, members=None, bias=None):
        return CvxpyWeights(self, u, members)

    def _machine(self, A, shift, start):
        import cvxpy

        s = self.bank.roots
        u, b = cvxpy.Variable(len(s)), cvxpy.Variable()
        margins = cvxpy.multiply(self.y, A @ u) + (s * self.y) * b
        quadratic = cvxpy.quad_form(u, cvxpy.psd_wrap(A + shift * np.eye(len(s))))
        loss = cvxpy.sum_squares(cvxpy.pos(s - margins))
        problem = cvxpy.Problem(cvxpy.Minimize(self.lambda1 * quadratic + loss))
        value = problem.solve(solver=cvxpy.CLARABEL)
        return Result(KernelMachine(np.asarray(u.value), float(b.value)), value, 0.0, 0, True)


def outer_iteration(name: str, repeats: int) -> None:
    """The same alternation with our steps and with cvxpy's: seconds per round.

    Both find the kernel matrices and all shifts ready, so that only the rounds are compared.
    """
    X, y = load(name, half=True)
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    bank = KernelBank(Z.T, feature_kernel("sigmoid"))
    settings = (bank, np.where(y == y.max(), 1.0, -1.0), 1.0, 0.1, surrogate("capped_l1", 5.0), 1.0)
    bank.shifts(np.arange(X.shape[1]))
    solver = AlternatingMKL(max_iter=ROUNDS, tol=1e-12)
    reached, seconds = [], []
    for model, count in ((MKLModel(*settings), repeats), (CvxpyModel(*settings), 1)):
        start = MKLModel(*settings).first_coefficients()
        # Both begin with the same coefficients; the problem itself is frozen.
        object.__setattr__(model, "first_coefficients", lambda weights=None, start=start: start)
        results: list = []
        solver.solve(model) if count > 1 else None  # compiles
        seconds.append(
            best_of(lambda m=model, r=results: r.append(solver.solve(m)), count) / ROUNDS
        )
        reached.append(results[-1].trace[0])
    print(
        f"{name:12} {len(y):4} x {X.shape[1]:6}   ours {1e3 * seconds[0]:7.1f} ms   "
        f"cvxpy {1e3 * seconds[1]:8.1f} ms   {seconds[1] / seconds[0]:6.0f} times faster   "
        f"objective after the first round {reached[0]:.8g} and {reached[1]:.8g}"
    )


def whole_fit(name: str, half: bool, selector) -> None:
    """One fit in a process of its own, so that its peak memory is its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        seconds, cpu, megabytes, n_kept, n_iter, optimality = pool.apply(
            _fit, (name, half, selector)
        )
    print(
        f"{name + (' (half)' if half else ''):24} {selector!s:32} {seconds:7.2f} s "
        f"(cpu {cpu:6.2f} s)  peak {megabytes:5.0f} MB  {n_kept:3} features, {n_iter:3} rounds, "
        f"stationarity {optimality:.0e}"
    )


def _fit(name, half, selector):
    X, y = load(name, half)
    # The first fit of a process loads compiled code; a small one takes that out of the timing.
    type(selector)().fit(X[:, :20], y)
    wall, cpu = time.perf_counter(), time.process_time()
    selector.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    # The high-water mark of this process alone; that of getrusage is inherited.
    status = Path("/proc/self/status").read_text()
    peak = float(status.split("VmHWM:")[1].split()[0]) / 1024
    return wall, cpu, peak, int(selector.support_.sum()), selector.n_iter_, selector.optimality_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats and the small sets")
    options = parser.parse_args()
    print(conditions("cvxpy", "clarabel"))
    print("Seconds per round of a weight step and a coefficient step, from the same start")
    for name in ("colon_raw", "allaml"):
        if (DATA / f"{name}.npz").exists():
            outer_iteration(name, 3 if options.quick else 9)
    print("\nWhole fits")
    jobs = [("colon_raw", False), ("allaml", True), ("allaml", False)]
    if not options.quick:
        jobs += [("lung_cancer_181", True), ("lung_cancer_181", False), ("nakayama", False)]
    for name, half in jobs:
        if not (DATA / f"{name}.npz").exists():
            print(f"{name}: skipped, not in {DATA.name}")
            continue
        for selector in (L0MKLSelector(), MIKFSSelector(), L0MKLSelector(kernel="rbf")):
            whole_fit(name, half, selector)


if __name__ == "__main__":
    main()
