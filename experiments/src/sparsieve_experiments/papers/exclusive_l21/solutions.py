"""What solutions are like: Section 4.1, Figure 1, and Theorems 5 and 6."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from sparsieve.design import as_design
from sparsieve.papers.exclusive_l21.exclusive_lasso import ExclusiveLassoSelector
from sparsieve.papers.exclusive_l21.published import ExclusiveALM
from sparsieve.papers.exclusive_l21.selector import ExclusiveL21Selector
from sparsieve.penalties.convex import ExclusiveL21
from sparsieve.solvers.base import Event, LeastSquares
from sparsieve.solvers.paths.block_cd import BlockCD

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import picked, rounded
from .methods import centred_indicators, loaded

X = np.array(
    [
        [0.463, 0.319, -0.100, 0.526, 0.535, 0.329, 0.475],
        [0.296, 0.192, 0.058, -0.076, 0.152, 0.313, -0.114],
        [0.196, 0.189, 0.167, -0.280, 0.267, -0.246, 0.164],
        [0.330, 0.357, 0.027, -0.001, 0.118, 0.058, 0.191],
        [0.332, 0.035, -0.002, 0.280, 0.111, -0.043, 0.104],
        [-0.022, -0.026, 0.770, 0.189, 0.196, -0.146, -0.121],
        [-0.217, 0.028, 0.404, 0.359, 0.335, -0.282, -0.235],
        [0.396, 0.297, 0.260, 0.241, 0.193, 0.038, 0.101],
    ]
)
Y = np.array(
    [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1]], float
)
# The strengths are not printed; these fit the printed coefficients best.
STRENGTHS = {"l2,1": (1.6, 0.0), "exclusive lasso": (0.0, 0.9), "exclusive l2,1": (1.0, 1.9)}
LASSO = ExclusiveLassoSelector()


def solve_illustration(setting: dict) -> dict:
    """Coefficients under one of the penalties."""
    selector = ExclusiveL21Selector(alpha=setting["alpha"]) if setting["alpha"] else LASSO
    fitted = clone(selector).set_params(
        beta=setting["beta"], fit_intercept=False, standardize=False, task="regression", tol=1e-9
    )
    return {"coefficients": fitted.fit(X, Y).coef_.T.tolist()}


def illustrated(bench: Bench) -> list[Exhibit]:
    """How many coefficients and features every penalty keeps."""
    settings = [
        {"method": method, "alpha": alpha, "beta": beta}
        for method, (alpha, beta) in STRENGTHS.items()
    ]
    rows = [
        _counted(found)
        for found in bench.jobs("exclusive-l21 illustration", solve_illustration, settings)
    ]
    return [exhibit(__package__, "Equation 2", rows)]


def _counted(found: dict) -> dict:
    kept = np.abs(np.array(found["coefficients"])) >= 5e-4  # the paper prints three decimals
    return {
        **picked(found, "method", "alpha", "beta"),
        "nonzeros": int(kept.sum()),
        "published_nonzeros": 12,
        "features_kept": int(kept.any(axis=1).sum()),
        "features_of_all_classes": int(kept.all(axis=1).sum()),
        "features_of_some_classes": int((kept.any(axis=1) & ~kept.all(axis=1)).sum()),
    }


STARTS = {
    "zero": "published ALM from zero",
    "random": "published ALM from N(0, 1)",
}
OPTIMUM = "optimum (block coordinate descent)"


def run_alm(setting: dict) -> dict:
    """Objective and constraint residual after every iteration of the published method."""
    problem = _problem(setting)
    start = None
    if setting["start"] == "random":
        shape = (problem.design.shape[1], problem.Y.shape[1])
        start = problem.make_result(np.random.default_rng(setting["seed"]).standard_normal(shape))
    objective, split = [], []

    def watch(event: Event) -> None:
        objective.append(rounded(event.objective, 5))
        split.append(rounded(event.solution.copy_distance, 5))

    solver = ExclusiveALM(max_iter=setting["max_iter"])
    result = solver.solve(problem, start, watch)
    return {
        "objective": objective,
        "split": split,
        "final": float(result.objective),
        "stopped": result.n_iter < setting["max_iter"],
    }


def find_optimum(setting: dict) -> dict:
    """The optimum of the same problem, certified by a duality gap."""
    result = BlockCD(tol=setting["tol"], max_iter=100_000).solve(_problem(setting))
    return {"optimum": float(result.objective), "gap": float(result.optimality)}


def convergence(bench: Bench) -> list[Exhibit]:
    """Objective and residual per iteration beside the certified optimum."""
    names = bench.datasets(bench.scale.converging)
    places = [
        {"dataset": name, "label": label, "alpha": 1.0, "beta": 1.0}
        for label, name in names.items()
    ]
    optima = {
        found["label"]: found
        for found in bench.jobs(
            "exclusive-l21 optimum", find_optimum, [{**place, "tol": 1e-4} for place in places]
        )
    }
    runs = bench.jobs(
        "exclusive-l21 convergence",
        run_alm,
        [
            {**place, "start": start, "seed": 0, "max_iter": 1000}
            for place in places
            for start in STARTS
        ],
    )
    runs = [run for run in runs if run["label"] in optima]
    rows = [row for run in runs for row in _iterations(run)]
    for label, found in optima.items():
        lengths = [len(run["objective"]) for run in runs if run["label"] == label]
        # A level line from the first iteration to the last.
        for iteration in (1, max(lengths, default=1)):
            level = {"objective": rounded(found["optimum"], 5), "constraint_residual": None}
            rows.append({"dataset": label, "method": OPTIMUM, "iteration": iteration, **level})
    summary = [_end(run, optima[run["label"]]) for run in runs]
    return [exhibit(__package__, "Figure 1", rows, summary)]


def _problem(setting: dict) -> LeastSquares:
    X, codes, n_classes = loaded(setting["dataset"])
    design = as_design(np.asfortranarray(StandardScaler().fit_transform(X)))
    Y = centred_indicators(codes, n_classes)
    return LeastSquares(design, Y, ExclusiveL21(setting["alpha"], setting["beta"]))


def _iterations(run: dict) -> list[dict]:
    return [
        {
            "dataset": run["label"],
            "method": STARTS[run["start"]],
            "iteration": t,
            "objective": objective,
            "constraint_residual": split or None,
        }
        for t, (objective, split) in enumerate(
            zip(run["objective"], run["split"], strict=True), start=1
        )
    ]


def _end(run: dict, best: dict) -> dict:
    return {
        "dataset": run["label"],
        "method": STARTS[run["start"]],
        "iterations": len(run["objective"]),
        "stopped_by_its_rule": run["stopped"],
        "iterations_to_look_flat": _flat_from(run["objective"]),
        "objective": rounded(run["final"], 5),
        "optimum": rounded(best["optimum"], 5),
        "relative_excess": rounded(run["final"] / best["optimum"] - 1.0, 5),
        "constraint_residual": run["split"][-1],
    }


def _flat_from(objective: list[float]) -> int:
    """The iteration from which on the objective is within a percent of its last value."""
    off = np.flatnonzero(np.abs(np.array(objective) - objective[-1]) > 0.01 * objective[-1])
    return int(off[-1]) + 2 if len(off) else 1


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
