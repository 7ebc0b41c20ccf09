"""What the l0-MPM paper computes: minimax probability machines in ten folds, and made-up data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import matthews_corrcoef

from sparsieve.datasets import load_dataset
from sparsieve.papers import (
    L0MPMSelector,
    L1MPMSelector,
    MPMClassifier,
    SMPMSelector,
    SparseKernelMPMClassifier,
)
from sparsieve.scoring.folds import each_fold
from sparsieve.scoring.protocol import Folds

from ..base import Bench
from ..data import printed_sizes
from ..splits import fold_rows, standardised_parts

METHODS = ("MPM", "L1-MPM", "L0-MPM")
# The steps of these are the printed ones where only features are selected.
PRINTED = ("L0-MPM", "S-MPM")
PRINTED_DELTA = 0.9
# How many rows the paper takes of sets that have many more.
DRAWN_ROWS = {"Spam": 200, "Madelon": 200}
N_FOLDS = 10


def sets(bench: Bench) -> dict[str, str]:
    """The paper's sets at hand: printed name to name here, in the paper's order."""
    found = bench.datasets()
    return {name: found[name] for name in printed_sizes("l0-mpm") if name in found}


def machine(method: str) -> dict[str, str]:
    """What the setting of a linear machine says of it."""
    return {"method": method, **({"solver": "published"} if method in PRINTED else {})}


def draws(bench: Bench, printed: str, dataset: str) -> list[dict]:
    """What settings say of a set: its rows, random choices of them, and how many folds are done.

    Of Spam there are several choices because the paper's is not known; of Madelon, where the
    printed steps take 10 to 20 seconds a fit, there is one.
    """
    scale = bench.scale
    return [
        {
            "dataset": dataset,
            "n_rows": DRAWN_ROWS.get(printed),
            "draw": draw,
            "n_folds": scale.madelon_folds if printed == "Madelon" else N_FOLDS,
        }
        for draw in range(scale.n_draws if printed == "Spam" else 1)
    ]


def alpha_of(printed: str) -> float:
    """Steepness of the surrogate of L0-MPM."""
    return 0.5 if printed == "Ionosphere" else 5.0


# Weights below this share of the largest count as zero; the paper names no threshold.
ZERO_WEIGHT_TOL = 1e-5


def try_linear(setting: dict) -> dict:
    """Folds of a linear machine; lists with one entry per fold.

    The setting holds dataset, n_rows (None for all), draw, n_folds (how many of the ten are
    done), method, solver (of L0-MPM and S-MPM), alpha, and level: None, or a pair of "share" (of
    the best level that the training part can reach) or "delta" and a number. Where the level is out
    of reach of a fold its entries are None.
    """
    X, y = _rows(setting)

    def outcome(train: np.ndarray, test: np.ndarray) -> dict:
        X_train, X_test = standardised_parts(X, train, test)
        reach = _reach(setting["method"], X_train, y[train])
        machine = _linear_machine(setting, reach)
        if machine is None:
            found = dict.fromkeys(("accuracy", "mcc", "n_kept", "n_iter"), None)
        else:
            found = _scores(machine.fit(X_train, y[train]), X_test, y[test], machine.coef_)
        return {**found, "reach": reach}

    return {
        **_of_folds(setting, y, outcome),
        "n_features": X.shape[1],
        "n_samples": len(y),
        "positive": float(y.mean()),
    }


def descend(setting: dict) -> dict:
    """The objective of L0-MPM on the first training part, at a share of the level in reach."""
    X, y = _rows(setting)
    train, test = fold_rows(Folds(10), y, seed=0)[0]
    X_train, _ = standardised_parts(X, train, test)
    reach = _reach("L0-MPM", X_train, y[train])
    machine = _linear_machine(setting, reach).fit(X_train, y[train])
    history = np.asarray(machine.history_, dtype=float)
    excess = history - history[-1]
    # What rounding leaves of the excess has no rate.
    counted = excess[:-1] > 1e-6 * abs(history[-1])
    rates = excess[1:][counted] / excess[:-1][counted]
    return {
        "history": [float(f"{value:.6g}") for value in history],
        "iterations": len(history),
        "converged": bool(machine.converged_),
        "rises": int((np.diff(history) > 1e-9 * np.abs(history[:-1])).sum()),
        "slowest_rate": float(f"{rates.max(initial=0.0):.3g}"),
    }


def try_kernel(setting: dict) -> dict:
    """Folds of a machine with a Gaussian kernel; lists with one entry per fold.

    The setting holds dataset, n_rows, draw, n_folds, method, width, delta, inner_folds (of the
    cross-validation inside each training part; 0 leaves it out) and solver (of L0-MPM; ours
    without).
    """
    X, y = _rows(setting)

    def outcome(train: np.ndarray, test: np.ndarray) -> dict:
        X_train, X_test = standardised_parts(X, train, test)
        machine = _kernel_machine(setting).fit(X_train, y[train])
        return {
            **_scores(machine, X_test, y[test], machine.dual_coef_),
            "n_train": len(train),
            "inner_accuracy": _inner_accuracy(setting, X_train, y[train]),
        }

    return _of_folds(setting, y, outcome)


def try_synthetic(setting: dict) -> dict:
    """One draw of the paper's artificial data; accuracy on 2000 fresh samples.

    The setting holds method, solver (of L0-MPM), alpha, delta and repeat.
    """
    rng = np.random.default_rng(setting["repeat"])
    X, y = draw_synthetic(rng, 50)
    machine = _linear_machine({**setting, "level": ["delta", setting["delta"]]}, 1.0)
    machine.fit(X, y)
    kept = with_weight(machine.coef_)
    return {
        "accuracy": float(machine.score(*draw_synthetic(rng, 2000))),
        "n_kept": int(kept.sum()),
        "n_relevant": int(kept[:10].sum()),
    }


def draw_synthetic(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Section 4.2: x_i = y N(-i, 1) for i = 1, ..., 10 and 990 features of noise."""
    y = np.where(rng.random(n_samples) < 0.5, -1, 1)
    X = rng.normal(size=(n_samples, 1000))
    X[:, :10] = y[:, None] * (X[:, :10] - np.arange(1, 11))
    return X, y


def with_weight(weights: np.ndarray) -> np.ndarray:
    """Which columns hold a weight that counts."""
    sizes = np.abs(np.atleast_2d(weights)).max(axis=0)
    return sizes > ZERO_WEIGHT_TOL * sizes.max()


def _rows(setting: dict) -> tuple[np.ndarray, np.ndarray]:
    data = load_dataset(setting["dataset"])
    X, y = np.asarray(data.X, dtype=np.float64), data.y
    if setting["n_rows"] is not None and setting["n_rows"] < len(y):
        rng = np.random.default_rng(setting["draw"])
        rows = rng.choice(len(y), setting["n_rows"], replace=False)
        X, y = X[rows], y[rows]
    return X, y


def _inner_accuracy(setting: dict, X: np.ndarray, y: np.ndarray) -> float | None:
    if not setting["inner_folds"]:
        return None

    def hits(train: np.ndarray, test: np.ndarray) -> int:
        X_train, X_test = standardised_parts(X, train, test)
        machine = _kernel_machine(setting).fit(X_train, y[train])
        return int(np.sum(machine.predict(X_test) == y[test]))

    return sum(each_fold(hits, fold_rows(Folds(setting["inner_folds"]), y, seed=0))) / len(y)


_LINEAR: dict[str, Any] = {
    "MPM": MPMClassifier,
    "L1-MPM": L1MPMSelector,
    "L0-MPM": L0MPMSelector,
    "S-MPM": SMPMSelector,
}


def _reach(method: str, X: np.ndarray, y: np.ndarray) -> float:
    """The best worst-case accuracy that these moments allow."""
    ridge = _LINEAR[method]().ridge
    return float(MPMClassifier(ridge=ridge).fit(X, y).worst_case_accuracy_)


def _linear_machine(setting: dict, reach: float):
    """The machine at its level, or None where that is out of reach."""
    method = setting["method"]
    named = {name: setting[name] for name in ("solver",) if name in setting}
    if method in ("MPM", "S-MPM"):
        return _LINEAR[method](**named)
    kind, amount = setting["level"]
    delta = amount * reach if kind == "share" else amount
    if delta > reach:
        return None
    strength = {"theta": setting["alpha"]} if method == "L0-MPM" else {}
    return _LINEAR[method](delta=delta, **strength, **named)


def _kernel_machine(setting: dict):
    gamma = 0.5 / setting["width"] ** 2
    if setting["method"] == "MPM":
        return MPMClassifier("rbf", gamma=gamma)
    norm = "l1" if setting["method"] == "L1-MPM" else "l0"
    how = {"delta": setting["delta"], "solver": setting.get("solver", "surrogate")}
    return SparseKernelMPMClassifier("rbf", gamma=gamma, norm=norm, **how)


def _scores(machine, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> dict:
    predicted = machine.predict(X)
    return {
        "accuracy": float(np.mean(predicted == y)),
        "mcc": float(matthews_corrcoef(y, predicted)),
        "n_kept": int(with_weight(weights).sum()),
        "n_iter": int(machine.n_iter_),
    }


def _of_folds(setting: dict, y: np.ndarray, outcome: Callable[..., dict]) -> dict:
    """What comes of the first of ten folds, a list for each number."""
    folds = each_fold(outcome, fold_rows(Folds(10), y, seed=0)[: setting["n_folds"]])
    return {name: [fold[name] for fold in folds] for name in folds[0]}
