"""Logistic regression with groups beside skglm, and what the races of likelihoods run.

    OMP_NUM_THREADS=1 PYTHONPATH=src:. python -m benchmarks.likelihood [--quick]

The table is CPU time of one thread, at one strength. :mod:`benchmarks.races` has the races: Cox l1
paths of 50 strengths down to 0.05 of the largest, beside Coxnet of scikit-survival, and the best
set of k features with a small ridge, beside abess, whose set is fitted anew with our ridge; ours
has the sets of all sizes up to k.

Peers are imported where they are installed; data come from ``SPARSIEVE_DATA`` with simulated
survival times, and from scikit-survival itself. The excess is the largest of the objective over the
best one that was found, relative to it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.common import DATA, conditions

import numpy as np  # isort: skip  (after common, which sets the number of threads)

from sparsieve.design import as_design
from sparsieve.solvers.losses.cox import Cox, Survival
from sparsieve.solvers.losses.separable import Logistic
from sparsieve.solvers.paths.newton_set import LikelihoodL21, PenalisedLikelihood
from sparsieve.solvers.searches.likelihood_forward import (
    LikelihoodForward,
    explainable,
    null_curvature,
)
from sparsieve.solvers.searches.likelihood_neighbours import RidgeLikelihood
from sparsieve.solvers.searches.ridge_fit import ridge_fit

REPEATS = 3
GROUP_SETS = ("colon", "leukemia_72", "gravier", "madelon")
GROUP_SIZES = (5, 20)
FORWARD_SETS = ("spambase", "madelon", "colon", "cox gse7390", "cox lung_203", "cox gravier")
FORWARD_RIDGE = 1e-3  # of the curvature of the null model


def cpu_time(call: Callable) -> tuple[float, object]:
    """The least CPU time of a few calls after a first one that compiles, and the answer."""
    answer, times = call(), []
    for _ in range(REPEATS):
        start = time.process_time()
        answer = call()
        times.append(time.process_time() - start)
    return min(times), answer


def standardised(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of a stored set; X without constant columns, centred, of unit variance."""
    with np.load(DATA / f"{name}.npz", allow_pickle=True) as stored:
        X, y = np.asarray(stored["X"], dtype=np.float64), stored["y"]
    X = X[:, X.std(axis=0) > 0]
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def survival_set(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(X, time, event): real for gse7390, else simulated from ten features of a real X."""
    if name == "gse7390":
        from sksurv.datasets import load_breast_cancer

        frame, y = load_breast_cancer()
        X = frame.select_dtypes("number").to_numpy(dtype=np.float64)
        return (X - X.mean(axis=0)) / X.std(axis=0), y["t.tdm"], y["e.tdm"]
    X, _ = standardised(name)
    rng = np.random.default_rng(0)
    used = rng.choice(X.shape[1], 10, replace=False)
    risk = X[:, used] @ rng.standard_normal(10) / np.sqrt(10)
    dies = rng.exponential(np.exp(-risk))
    censored = rng.exponential(np.median(dies) * 1.5, len(dies))
    return X, np.minimum(dies, censored), dies <= censored


def our_path(problem: PenalisedLikelihood, alphas: np.ndarray, tol: float) -> list:
    """Objectives along a path."""
    return list(LikelihoodL21(tol=tol).path(problem, alphas))


def cox_path_problem(name: str) -> tuple[PenalisedLikelihood, np.ndarray, tuple]:
    """(problem, strengths, data) of the Cox l1 path of a set."""
    X, times, event = survival_set(name)
    n, d = X.shape
    loss = Cox(Survival(times, event), ties="breslow")
    groups = [np.array([j]) for j in range(d)]
    problem = PenalisedLikelihood(as_design(X), loss, groups, np.ones(d), np.empty((n, 0)))
    start = np.abs(X.T @ loss.gradient(np.zeros((n, 1)))).max()
    return problem, start * np.geomspace(1.0, 0.05, 50), (X, times, event)


def cox_objectives(data: tuple, alphas: np.ndarray, found) -> np.ndarray:
    """Objectives along a path: of our results, or of coefficients in columns."""
    if isinstance(found, list):
        return np.array([one.objective for one in found])
    X, times, event = data
    loss = Cox(Survival(times, event), ties="breslow")
    return np.array(
        [
            loss.value(X @ coef[:, None]) + alpha * np.abs(coef).sum()
            for coef, alpha in zip(found.T, alphas, strict=True)
        ]
    )


def coxnet(X, times, event, alphas, tol: float) -> np.ndarray:
    """Coefficients along the path of Coxnet, in columns."""
    from sksurv.linear_model import CoxnetSurvivalAnalysis
    from sksurv.util import Surv

    model = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=alphas, tol=tol, max_iter=1_000_000)
    return model.fit(X, Surv.from_arrays(event, times)).coef_


def race_group(quick: bool) -> Iterator[tuple]:
    """Logistic regression with groups of neighbouring columns against skglm, without intercept."""
    for name in GROUP_SETS[: 1 if quick else None]:
        X, labels = standardised(name)
        y = (labels == np.unique(labels)[-1]).astype(np.float64)
        n, d = X.shape
        for size in GROUP_SIZES:
            groups = np.array_split(np.arange(d), -(-d // size))
            weights = np.sqrt([len(some) for some in groups])
            problem = PenalisedLikelihood(
                as_design(X), Logistic(y), groups, weights, np.empty((n, 0))
            )
            largest = problem.strengths(problem.loss.gradient(np.zeros((n, 1)))).max()
            alpha = 0.1 * largest
            objectives, rows = {}, []
            for tol in (1e-4, 1e-6, 1e-10):
                who = f"sparsieve, gap {tol:g}"
                spent, (found,) = cpu_time(partial(our_path, problem, [alpha], tol))
                objectives[who] = found.objective
                rows.append((who, spent))
            for tol in (1e-4, 1e-6):
                fit = _skglm(X, y, groups, weights, alpha, tol)
                if fit is None:
                    continue
                spent, w = cpu_time(fit)
                norms = np.array([np.linalg.norm(w[some]) for some in groups])
                who = f"skglm, tol {tol:g}"
                objectives[who] = problem.loss.value((X @ w)[:, None]) + alpha * weights @ norms
                rows.append((who, spent))
            best = min(objectives.values())
            for who, spent in rows:
                what = f"{name} {n} x {d}, groups of {size}"
                yield what, who, spent, objectives[who] / best - 1.0


def _skglm(X, y, groups, weights, alpha, tol):
    try:
        from skglm.datafits import LogisticGroup
        from skglm.penalties import WeightedGroupL2
        from skglm.solvers import GroupProxNewton
        from skglm.utils.jit_compilation import compiled_clone
    except ImportError:
        return None
    pointers = np.concatenate(([0], np.cumsum([len(some) for some in groups]))).astype(np.int32)
    indices = np.concatenate(groups).astype(np.int32)
    datafit = compiled_clone(LogisticGroup(pointers, indices))
    penalty = compiled_clone(WeightedGroupL2(alpha / len(y), weights, pointers, indices))
    solver = GroupProxNewton(max_iter=200, tol=tol / len(y) ** 0.5)

    def fit():
        return solver.solve(X, 2.0 * y - 1.0, datafit, penalty)[0]

    return fit


def forward_contestants(
    name: str,
) -> Iterator[tuple[str, dict[str, Callable], dict[str, float]]]:
    """(case, what everybody runs, their objectives) for 5, 10 and 20 features."""
    is_cox = name.startswith("cox ")
    if is_cox:
        X, times, event = survival_set(name[4:])
        target: np.ndarray = np.column_stack([times, event.astype(np.float64)])
        loss: Cox | Logistic = Cox(Survival(times, event), ties="breslow")
    else:
        X, labels = standardised(name)
        target = (labels == np.unique(labels)[-1]).astype(np.float64)
        loss = Logistic(target)
    n, d = X.shape
    ridge = FORWARD_RIDGE * null_curvature(loss)
    free = np.ones((n, int(loss.has_intercept)))
    problem = RidgeLikelihood(as_design(X), loss, free, ridge, np.ones(d, dtype=bool))
    for k in (5, 10, 20):
        ours = "sparsieve, 5 swaps"
        runs: dict[str, Callable] = {ours: partial(LikelihoodForward(k, 5).solve, problem)}
        values = {ours: runs[ours]().objective}
        fit = _abess(X, target, k, ridge, is_cox)
        if fit is not None:
            support = np.flatnonzero(fit())
            columns, penalty = problem.columns(support), problem.penalty(len(support))
            runs["abess"] = fit
            values["abess"] = ridge_fit(loss, columns, penalty, scale=explainable(loss)).objective
        yield f"{name} {n} x {d}, k = {k}", runs, values


def _abess(X, target, k, ridge, is_cox):
    try:
        from abess import CoxPHSurvivalAnalysis, LogisticRegression
    except ImportError:
        return None
    model = CoxPHSurvivalAnalysis if is_cox else LogisticRegression

    def fit():
        return model(support_size=k, alpha=0.5 * ridge / len(X)).fit(X, target).coef_

    return fit


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smallest sets only")
    asked = parser.parse_args()
    print(conditions("skglm", "scikit-survival", "abess"))
    print(f"{'data':34} {'solver':22} {'CPU s':>8} {'excess':>9}")
    for what, who, spent, excess in race_group(asked.quick):
        print(f"{what:34} {who:22} {spent:8.3f} {excess:9.1e}", flush=True)


if __name__ == "__main__":
    main()
