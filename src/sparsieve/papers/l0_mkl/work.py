"""What the l0-MKL paper computes: machines fitted on half of a set and tried on the other."""

from __future__ import annotations

import time
from functools import cache, lru_cache

import numpy as np
from sklearn.metrics import f1_score

from ...datasets import Dataset, load_dataset
from ...evaluation.protocol import Folds, RepeatedSplits, Split
from ...selectors import ExactPenaltySVMSelector, L0MKLSelector, L0SVMSelector, MIKFSSelector
from ...solvers.mkl.weights import UnboundedObjectiveError

MACHINES = {
    "PiE-SVM": (L0SVMSelector, {"surrogate": "exp"}),
    "CAP-SVM": (L0SVMSelector, {"surrogate": "capped_l1"}),
    "EP-SVM": (ExactPenaltySVMSelector, {}),
    "MIK-FS": (MIKFSSelector, {}),
    "l0-MKL": (L0MKLSelector, {"surrogate": "capped_l1"}),
}

# The class called "1" counts as positive, in these sets the one that goes by another name.
POSITIVE = {"colon_raw": "n", "lung_cancer_181": "mesothelioma", "carcinoma_174": "PR"}


def try_parameters(setting: dict) -> dict:
    """Fit one method with one choice of parameters, on one split.

    The setting holds dataset, method, parameters, repeat and inner_folds; with inner_folds = 0
    nothing is cross-validated. ``seconds`` is the CPU time of the one fit on the training half.
    """
    X, y, split = _half(setting)
    machine = _machine(setting)
    _compile(setting["method"])
    start = time.process_time()
    machine.fit(X[split.train], y[split.train])
    seconds = time.process_time() - start
    predicted = machine.predict(X[split.test])
    positive = _positive(setting["dataset"])
    return {
        "accuracy": float(np.mean(predicted == y[split.test])),
        "f1": float(f1_score(y[split.test], predicted, pos_label=positive, zero_division=0.0)),
        "n_used": n_used(machine),
        "seconds": seconds,
        "inner_accuracy": _inner_accuracy(setting, X[split.train], y[split.train]),
    }


def follow(setting: dict) -> dict:
    """Fit one method and look closer: accuracy at every number of features, and the objective.

    The setting holds dataset, method, parameters, repeat and ks.
    """
    X, y, split = _half(setting)
    machine = _machine(setting).fit(X[split.train], y[split.train])
    ks = [k for k in setting["ks"] if k <= X.shape[1]]
    return {
        "at": ks,
        "accuracies": [
            float(np.mean(machine.at(k).predict(X[split.test]) == y[split.test])) for k in ks
        ],
        "history": [float(value) for value in machine.history_],
    }


def try_published_objective(setting: dict) -> dict:
    """Minimise the objective as published, and say how that ends.

    The setting holds dataset, parameters and repeat.
    """
    X, y, split = _half(setting)
    machine = L0MKLSelector(formulation="paper", **setting["parameters"])
    try:
        machine.fit(X[split.train], y[split.train])
    except UnboundedObjectiveError:
        return {"unbounded": True, "accuracy": None}
    predicted = machine.predict(X[split.test])
    return {"unbounded": False, "accuracy": float(np.mean(predicted == y[split.test]))}


def describe(setting: dict) -> dict:
    """Size of a set as it is used here."""
    X, y = two_classes(setting["dataset"])
    return {
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "majority": float(np.bincount(y).max() / len(y)),
    }


def n_used(machine) -> int:
    """Features with a weight; a model without any still reports one as selected."""
    weights = machine.kernel_weights_ if hasattr(machine, "kernel_weights_") else machine.coef_
    return int(np.count_nonzero(weights))


def two_classes(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    """The samples of the first two classes."""
    data = _loaded(dataset)
    kept = data.y < 2
    return np.asarray(data.X[kept], dtype=np.float64), data.y[kept]


@lru_cache(maxsize=2)
def _loaded(dataset: str) -> Dataset:
    return load_dataset(dataset)


def _positive(dataset: str) -> int:
    names = list(_loaded(dataset).class_names[:2])
    name = POSITIVE.get(dataset, "1")
    return names.index(name) if name in names else 1


def _half(setting: dict) -> tuple[np.ndarray, np.ndarray, Split]:
    X, y = two_classes(setting["dataset"])
    repeat = setting["repeat"]
    protocol = RepeatedSplits(0.5, n_repeats=repeat + 1, per_class=True)
    return X, y, list(protocol.splits(y, seed=0))[repeat]


def _machine(setting: dict):
    cls, fixed = MACHINES[setting["method"]]
    return cls(**fixed, **setting["parameters"])


def _inner_accuracy(setting: dict, X: np.ndarray, y: np.ndarray) -> float | None:
    if not setting["inner_folds"]:
        return None
    hits = 0
    for split in Folds(setting["inner_folds"]).splits(y, seed=setting["repeat"]):
        machine = _machine(setting).fit(X[split.train], y[split.train])
        hits += int(np.sum(machine.predict(X[split.test]) == y[split.test]))
    return hits / len(y)


@cache
def _compile(method: str) -> None:
    """Compile what a machine needs, so that no fit's seconds contain it."""
    cls, fixed = MACHINES[method]
    X = np.random.default_rng(0).standard_normal((24, 5))
    cls(**fixed).fit(X, np.arange(24) % 2)
