"""What the l0-MKL paper computes: machines fitted on half of a set and tried on the other."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache, partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score

from sparsieve.datasets import load_dataset
from sparsieve.datasets.load import Dataset
from sparsieve.papers import ExactPenaltySVMSelector, L0MKLSelector, L0SVMSelector, MIKFSSelector
from sparsieve.papers.l0_mkl.bank import KernelBank
from sparsieve.papers.l0_mkl.kernel_weights import UnboundedObjectiveError
from sparsieve.scoring.folds import each_fold
from sparsieve.scoring.protocol import Folds, Split

from ..claims import LARGEST_CLASS
from ..fingerprints import fingerprint_of
from ..splits import PaperSplits, fold_rows

METHODS = ("PiE-SVM", "CAP-SVM", "EP-SVM", "MIK-FS", "l0-MKL")
KERNEL_METHODS = ("MIK-FS", "l0-MKL")
BY_MARGIN, BY_WEIGHT = "by margin", "by kernel weight"
# Largest kernel weight of our formulation; the paper has none, so that its weights are free. A
# weight that ends at the second bound grows without end: the objective has no minimum.
D_MAX, FREE_D_MAX = 1.0, 1e3
# How many times its first value (the number of samples) an objective lies below zero once fallen.
FALL_FACTOR = 1e6
# Rounds that the printed iteration is given.
MAX_ITER = 20
# Bytes of kernels that many fits share: those of the largest set, which takes .8e9, are held.
SHARED_KERNEL_BYTES = 2e9

# The class called "1" counts as positive, in these sets the one that goes by another name.
POSITIVE = {"colon_raw": "n", "lung_cancer_181": "mesothelioma", "carcinoma_174": "PR"}


def is_l1(parameters: dict) -> bool:
    """Whether a multiple kernel machine with these parameters has the plain l1 norm.

    On weights up to 1 / theta the capped l1 norm is theta times the plain one.
    """
    return parameters.get("theta", 0.0) * parameters.get("d_max", D_MAX) <= 1.0


def norm(method: str, parameters: dict) -> str:
    """What stands in for the number of features: what really tells methods apart."""
    if method not in KERNEL_METHODS:
        return method
    return "l1" if is_l1(parameters) else f"capped l1, theta={parameters['theta']:g}"


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
    return {
        **_scores(setting, machine, X[split.test], y[split.test]),
        "seconds": seconds,
        "inner_accuracy": _inner_accuracy(setting, X[split.train], y[split.train]),
    }


def try_bound(setting: dict) -> dict:
    """Fit l0-MKL with one choice of parameters, and count the weights at their bound.

    The setting holds dataset, method, parameters and repeat.
    """
    X, y, split = _half(setting)
    machine = _machine(setting).fit(X[split.train], y[split.train])
    largest = setting["parameters"]["d_max"]
    return {
        **_scores(setting, machine, X[split.test], y[split.test]),
        "n_at_bound": int(np.count_nonzero(machine.kernel_weights_ >= (1 - 1e-9) * largest)),
        "converged": bool(machine.converged_),
    }


def try_together(setting: dict) -> dict:
    """Fit a kernel method with many strengths and one kernel, on one split.

    The setting holds dataset, method, grid (parameters with the same kernel), repeat and
    inner_folds. Everything is as :func:`try_parameters` gives it, but for the seconds: the kernels
    of a training part are built once for all strengths. They cost more than all else.
    """
    X, y, split = _half(setting)
    folds = fold_rows(Folds(setting["inner_folds"]), y[split.train], seed=setting["repeat"])
    inside = [(split.train[train], split.train[test]) for train, test in folds]
    machines = _on_part(setting, X[split.train], y[split.train])
    tried = [
        {"parameters": parameters, **_scores(setting, machine, X[split.test], y[split.test])}
        for parameters, machine in zip(setting["grid"], machines, strict=True)
    ]
    right = np.zeros(len(tried), dtype=np.int64)
    for train, test in inside:  # a part at a time, so that one set of kernels is held
        machines = _on_part(setting, X[train], y[train])
        right += [int(np.sum(machine.predict(X[test]) == y[test])) for machine in machines]
    for row, count in zip(tried, right, strict=True):
        row["inner_accuracy"] = int(count) / len(split.train)
    return {"tried": tried}


def _scores(setting: dict, machine, X: np.ndarray, y: np.ndarray) -> dict:
    predicted, positive = machine.predict(X), _positive(setting["dataset"])
    return {
        "accuracy": float(np.mean(predicted == y)),
        "f1": float(f1_score(y, predicted, pos_label=positive, zero_division=0.0)),
        "n_used": n_used(machine),
    }


def _on_part(setting: dict, X: np.ndarray, y: np.ndarray) -> list:
    """A machine for each of the parameters, which share the kernels of this training part."""
    kept: list = []

    def bank_of(build, data, kernel):
        if not kept:
            kept.append(build(data, kernel))
        return kept[0]

    machines = []
    for parameters in setting["grid"]:
        machine = _machine({**setting, "parameters": parameters})
        machine.set_params(max_memory=SHARED_KERNEL_BYTES)
        machine._bank = partial(bank_of, machine._bank)
        machines.append(machine.fit(X, y))
        del machine._bank
    return machines


def fit_seconds(setting: dict) -> dict:
    """CPU seconds of one fit on the training half, as :func:`try_parameters` measures them."""
    return {"seconds": try_parameters({**setting, "inner_folds": 0})["seconds"]}


def follow(setting: dict) -> dict:
    """Fit one method and look closer: accuracy at every number of features, and the objective.

    The setting holds dataset, method, parameters, repeat and ks.
    """
    machine, ks, test = _fitted(setting)
    return {
        "at": ks,
        "accuracies": _accuracies(machine, ks, *test),
        "history": [float(value) for value in machine.history_],
    }


def keep_by_rules(setting: dict) -> dict:
    """Fit l0-MKL once; accuracy at every number of features, kept by margin and by kernel weight.

    The setting is that of :func:`follow`.
    """
    machine, ks, test = _fitted(setting)
    by_weight = copy.copy(machine)
    order = np.lexsort((machine.ranking_, -np.abs(machine.kernel_weights_).sum(axis=0)))
    by_weight.ranking_ = np.argsort(order) + 1
    rules = {BY_MARGIN: machine, BY_WEIGHT: by_weight}
    return {"at": ks, **{rule: _accuracies(one, ks, *test) for rule, one in rules.items()}}


def _fitted(setting: dict) -> tuple:
    """A machine fitted on the training half, the numbers of features there are, the test half."""
    X, y, split = _half(setting)
    machine = _machine(setting).fit(X[split.train], y[split.train])
    return machine, [k for k in setting["ks"] if k <= X.shape[1]], (X[split.test], y[split.test])


def _accuracies(machine, ks: Sequence[int], X: np.ndarray, y: np.ndarray) -> list[float]:
    return [float(np.mean(machine.at(k).predict(X) == y)) for k in ks]


def run_published(setting: dict) -> dict:
    """Run the printed algorithms, and say how that ends.

    The setting holds dataset, parameters, repeat and standardize. ``trace`` is the objective at
    the start and after every round; in a round that falls out of reach after every step of
    Algorithm 3. A weight step without a minimum ends it with None.
    """
    X, y, split = _half(setting)
    machine = L0MKLSelector(
        solver="published",
        standardize=setting["standardize"],
        max_iter=MAX_ITER,
        **setting["parameters"],
    )
    trace = [float(len(split.train))]  # with coefficients of zero every sample costs one
    outcome: dict[str, float | None] = {"n_used": None, "accuracy": None}
    definite = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # ends are what is looked at
            machine.fit(X[split.train], y[split.train])
    except UnboundedObjectiveError as error:
        trace += error.trace
    else:
        trace += machine.history_
        definite = _lowest_eigenvalue(machine, X[split.train]) >= 0.0
        hits = float(np.mean(machine.predict(X[split.test]) == y[split.test]))
        outcome = {"n_used": n_used(machine), "accuracy": hits}
    return {
        "end": fall(trace, definite=definite),
        "trace": [value if np.isfinite(value) else None for value in trace],
        **outcome,
    }


def fall(trace: Sequence[float], *, definite: bool) -> str:
    """Whether an iteration's objective falls without bound, in words.

    An indefinite problem has no convex minimum, but inside bounds its objective still ends
    somewhere; only one that lies below zero by ``FALL_FACTOR`` times the size of its first value
    (at least 1), or has left every number, is said to fall without bound.

    Parameters
    ----------
    trace : sequence of float
        Objective after every iteration.
    definite : bool
        Whether the quadratic form is positive semidefinite.

    Returns
    -------
    word : {"falls without bound", "indefinite", "bounded"}

    Examples
    --------
    >>> from sparsieve_experiments.papers.l0_mkl.work import fall
    >>> fall([1.0, -1e30], definite=False), fall([1.0, 0.5], definite=False)
    ('falls without bound', 'indefinite')
    """
    numbers = list(trace)
    if numbers and not definite:
        first = abs(numbers[0]) if np.isfinite(numbers[0]) else 1.0
        if not numbers[-1] >= -FALL_FACTOR * max(first, 1.0):  # also when it is no number any more
            return "falls without bound"
    return "bounded" if definite else "indefinite"


def _lowest_eigenvalue(machine: L0MKLSelector, X: np.ndarray) -> float:
    """Of the weighted sum of kernels; what rounding made negative is zero."""
    if machine.standardize:
        deviations = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    d = machine.kernel_weights_[0]
    used = np.flatnonzero(d)
    bank = KernelBank(X[:, used].T, machine.kernel_, centred=False)
    eigenvalues = np.linalg.eigvalsh(bank.combine(np.arange(len(used)), d[used]))
    rounding = 1e-9 * float(np.abs(eigenvalues).max())
    return 0.0 if eigenvalues[0] >= -rounding else float(eigenvalues[0])


def describe(setting: dict) -> dict:
    """Size of a set as it is used here, and the largest class of the test halves."""
    X, y = two_classes(setting["dataset"])
    tested = np.bincount(y) // 2
    return {
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "n_classes": 2,
        LARGEST_CLASS: 100.0 * float(tested.max() / tested.sum()),
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


def _loaded(dataset: str) -> Dataset:
    return _remembered(dataset, fingerprint_of(dataset))


@lru_cache(maxsize=2)
def _remembered(dataset: str, fingerprint: str) -> Dataset:
    return load_dataset(dataset)


def _positive(dataset: str) -> int:
    names = list(_loaded(dataset).class_names[:2])
    name = POSITIVE.get(dataset, "1")
    return names.index(name) if name in names else 1


def _half(setting: dict) -> tuple[np.ndarray, np.ndarray, Split]:
    X, y = two_classes(setting["dataset"])
    repeat = setting["repeat"]
    return X, y, list(PaperSplits("1/2", repeat + 1).splits(y, seed=0))[repeat]


def _machine(setting: dict):
    method, parameters = setting["method"], setting["parameters"]
    if method == "PiE-SVM":
        return L0SVMSelector(surrogate="exp", **parameters)
    if method == "CAP-SVM":
        return L0SVMSelector(surrogate="capped_l1", **parameters)
    if method == "EP-SVM":
        return ExactPenaltySVMSelector(**parameters)
    if "theta" not in parameters:
        return MIKFSSelector(**parameters)
    return L0MKLSelector(**{"surrogate": "capped_l1", "d_max": D_MAX, **parameters})


def _inner_accuracy(setting: dict, X: np.ndarray, y: np.ndarray) -> float | None:
    if not setting["inner_folds"]:
        return None

    def hits(train: np.ndarray, test: np.ndarray) -> int:
        machine = _machine(setting).fit(X[train], y[train])
        return int(np.sum(machine.predict(X[test]) == y[test]))

    folds = fold_rows(Folds(setting["inner_folds"]), y, seed=setting["repeat"])
    return sum(each_fold(hits, folds)) / len(y)


@cache
def _compile(method: str) -> None:
    """Compile what a machine needs, so that no fit's seconds contain it."""
    X = np.random.default_rng(0).standard_normal((24, 5))
    _machine({"method": method, "parameters": {}}).fit(X, np.arange(24) % 2)
