"""Filters and wrappers against their fastest peers: one thread, the same run, compiled code warm.

Run with one BLAS thread, for example::

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.filters
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.filters --classical

Data come from the folder named by SPARSIEVE_DATA or from ../shared/data; what is not there, and
peers that are not installed, are skipped with a line that says so.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from time import process_time

from benchmarks.common import Row, best_of, conditions, load, show, write_table

import numpy as np  # isort: skip  (after common, which sets the number of threads)


def installed(module: str) -> bool:
    """Whether a peer can be imported; says so where it cannot."""
    if find_spec(module) is None:
        print(f"skipped: {module} is not installed", file=sys.stderr)
        return False
    return True


def compared(task, data, ours, peer, theirs, least: float, note="") -> Row:
    """A row whose target is a ratio."""
    return Row(task, data, ours, peer, theirs, f"{least:g}x", theirs >= least * ours, note)


def relieff() -> Iterator[Row]:
    from sparsieve import ReliefFSelector

    for name, against_skrebate in (("allaml", True), ("warppie10p", True), ("isolet", False)):
        loaded = load(name)
        if loaded is None:
            continue
        X, y = loaded
        selector = ReliefFSelector(n_neighbors=10)
        ours = best_of(lambda s=selector, X=X, y=y: s.fit(X, y), 7)
        if installed("fast_select"):
            from fast_select import ReliefF

            peer = ReliefF(n_features_to_select=10, n_neighbors=10, backend="cpu", n_jobs=1)
            theirs = best_of(lambda p=peer, X=X, y=y: p.fit(X, y), 7)
            gap = np.abs(peer.feature_importances_ - selector.scores_).max()
            note = f"largest difference of scores {gap:.1g} (peer in single precision)"
            yield compared("ReliefF, k=10", name, ours, "fast-select", theirs, 1, note)
        if against_skrebate and installed("skrebate"):
            from skrebate import ReliefF as Slow

            peer = Slow(n_neighbors=10, n_jobs=1)
            theirs = best_of(lambda p=peer, X=X, y=y: p.fit(X, y), 1)
            yield compared("ReliefF, k=10", name, ours, "skrebate", theirs, 100)


SHAPES = (
    *((60, 60_000), (120, 60_000), (500, 20_000), (2_000, 5_000)),
    *((10_000, 1_000), (100_000, 100), (300_000, 50), (1_000_000, 20)),
)


def tables(n: int, d: int, dtype: type) -> Iterator[tuple[str, object]]:
    """The same kind of X four ways: counts from 0 to 1, and of these 2 % where it is sparse."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = rng.random((n, d), dtype=dtype)
    yield "rows", X
    yield "columns", np.asfortranarray(X)
    few = sparse.random(n, d, density=0.02, format="csr", random_state=0, dtype=dtype)
    yield "CSR", few
    yield "CSC", few.tocsc()


def tests(y: np.ndarray) -> list[tuple]:
    """(name, ours, target, scikit-learn's, what that is called with) of every classical test."""
    from sklearn.feature_selection import chi2, f_classif, f_regression

    from sparsieve import ChiSquareSelector, FStatisticSelector, TTestSelector

    codes = (y > 0).astype(int)
    return [
        ("F, numbers", FStatisticSelector(task="regression"), y, f_regression),
        ("F, classes", FStatisticSelector(task="classification"), codes, f_classif),
        ("t", TTestSelector(equal_var=True), codes, f_classif),
        ("chi-square", ChiSquareSelector(), codes, chi2),
    ]


def fastest_of_both(ours, theirs, rounds: int) -> list[float]:
    """CPU seconds of two pieces of work, the least of some runs each, in turns."""
    least = [np.inf, np.inf]
    for turn in range(rounds + 1):
        for place, work in enumerate((ours, theirs)):
            start = process_time()
            work()
            if turn:  # the first one loads and compiles
                least[place] = min(least[place], process_time() - start)
    return least


def classical(shapes=SHAPES, rounds: int = 5) -> Iterator[list]:
    """A row for every test and X: milliseconds of CPU time, ratio, difference of the scores."""
    for n, d in shapes:
        y = np.random.default_rng(1).standard_normal(n)
        for dtype in (np.float64, np.float32):
            for kind, X in tables(n, d, dtype):
                for name, selector, target, peer in tests(y):
                    ours, theirs = fastest_of_both(
                        lambda s=selector, X=X, y=target: s.fit(X, y),
                        lambda p=peer, X=X, y=target: p(X, y),
                        rounds,
                    )
                    scores, expected = selector.scores_, peer(X, target)[0]
                    if name == "t":
                        scores = scores**2
                    scale = np.maximum(np.abs(expected), 1.0)
                    gap = np.nanmax(np.abs(scores - expected) / scale)
                    what = [f"{n:,} x {d:,}", kind, np.dtype(dtype).name, name]
                    times = [f"{1e3 * ours:.1f}", f"{1e3 * theirs:.1f}"]
                    yield [*what, *times, f"{theirs / ours:.2f}", f"{gap:.0e}"]


def mrmr() -> Iterator[Row]:
    from sparsieve import MRMRSelector

    loaded = load("warppie10p")
    if loaded is None:
        return
    X, y = loaded
    selector = MRMRSelector(n_features_to_select=50)
    ours = best_of(lambda: selector.fit(X, y), 5)
    if installed("mrmr"):
        import pandas as pd
        from mrmr import mrmr_classif

        frame, target = pd.DataFrame(X), pd.Series(y)
        path: list[int] = []

        def peer():
            path[:] = mrmr_classif(frame, target, 50, n_jobs=1, show_progress=False)

        theirs = best_of(peer, 1)
        same = sum(a == b for a, b in zip(path, selector.path_.features, strict=True))
        note = f"{same} of 50 choices the same, in order"
        yield compared("mRMR (FCQ), k=50", "warppie10p", ours, "mrmr-selection", theirs, 50, note)
    for criterion in ("mid", "jmi", "cmim"):
        other = MRMRSelector(n_features_to_select=50, criterion=criterion)
        seconds = best_of(lambda s=other: s.fit(X, y), 3)
        yield Row(f"mRMR ({criterion}), k=50", "warppie10p", seconds, "-", None, "-", True)


def information() -> Iterator[Row]:
    from sklearn.feature_selection import mutual_info_classif

    from sparsieve import InfoGainSelector

    loaded = load("allaml")
    if loaded is None:
        return
    X, y = loaded
    theirs = best_of(lambda: mutual_info_classif(X, y, random_state=0), 1)
    for method in ("mdl", "frequency", "std"):
        selector = InfoGainSelector(discretize=method)
        ours = best_of(lambda s=selector: s.fit(X, y), 5)
        yield Row(
            f"information, {method}",
            "allaml",
            ours,
            "mutual_info_classif",
            theirs,
            "< 1 s",
            ours < 1,
            "the peer estimates densities from neighbours",
        )


def svm_rfe() -> Iterator[Row]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_selection import RFE
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    from sparsieve import SVMRFESelector

    loaded = load("warppie10p")
    if loaded is None:
        return
    X, y = loaded
    Z = StandardScaler().fit_transform(X)
    selector = SVMRFESelector(n_features_to_select=50, step=0.1)
    ours = best_of(lambda: selector.fit(X, y), 3)
    peer = RFE(LinearSVC(), n_features_to_select=50, step=0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        theirs = best_of(lambda: peer.fit(Z, y), 1)
    failed = sum(issubclass(w.category, ConvergenceWarning) for w in caught)
    note = (
        f"ours: {selector.n_steps_} steps, optimality {selector.optimality_:.0e}; "
        f"peer: 10 steps, {failed} fits not converged"
    )
    yield compared("SVM-RFE, step 10 %", "warppie10p", ours, "RFE(LinearSVC)", theirs, 10, note)
    # The very same problem: the peer penalises its intercept, so it goes without one.
    fixed = SVMRFESelector(n_features_to_select=50, step=242, fit_intercept=False)
    seconds = best_of(lambda: fixed.fit(X, y), 3)
    peer = RFE(LinearSVC(fit_intercept=False), n_features_to_select=50, step=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = best_of(lambda: peer.fit(Z, y), 1)
    common = int((fixed.support_ & peer.support_).sum())
    note = f"no intercept, the peer's steps; {common} of 50 features in common"
    yield compared("SVM-RFE, step 242", "warppie10p", seconds, "RFE(LinearSVC)", theirs, 10, note)


def by_table(rows: list[list[str]]) -> list[list[str]]:
    """A row for every X: milliseconds of each test (scikit-learn's), the largest difference."""
    found: dict[tuple, dict[str, str]] = {}
    gaps: dict[tuple, float] = {}
    for *X, name, ours, theirs, _, gap in rows:
        found.setdefault(tuple(X), {})[name] = f"{ours} ({theirs})"
        gaps[tuple(X)] = max(gaps.get(tuple(X), 0.0), float(gap))
    names = list(next(iter(found.values())))
    heading = ["X", "stored by", "precision", *names, "difference"]
    return [heading, *([*X, *cells.values(), f"{gaps[X]:.0e}"] for X, cells in found.items())]


def write_classical() -> None:
    """Print the classical tests as they are measured, and write the table of the documentation."""
    print(conditions())
    rows = []
    for row in classical():
        print(*row, sep=", ", flush=True)
        rows.append(row)
    write_table("filters.csv", by_table(rows))


def main() -> None:
    """Print the table of all, or write that of the classical tests."""
    warnings.filterwarnings("ignore", message="n_neighbors .* is greater than or equal")
    if "--classical" in sys.argv:
        warnings.simplefilter("ignore")  # of columns that are constant
        write_classical()
        return
    rows = (row for task in (relieff, mrmr, information, svm_rfe) for row in task())
    show(rows, "fast-select", "skrebate", "mrmr-selection")


if __name__ == "__main__":
    main()
