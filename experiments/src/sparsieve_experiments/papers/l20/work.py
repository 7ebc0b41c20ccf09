"""The computations that are no study, one setting at a time, and what is tried in studies."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import StandardScaler

from sparsieve.scoring.curves import accuracy_curve
from sparsieve.scoring.engine import score_columns
from sparsieve.scoring.folds import each_fold
from sparsieve.scoring.protocol import Folds, derive_seed
from sparsieve.selectors import L21Selector
from sparsieve.selectors.groups import configure

from ...studies.names import selector_class
from ...studies.sources import DatasetSpec
from ..base import Bench
from ..numbers import rounded
from ..splits import PaperSplits, fold_rows

# Printed in Table II beside the names of the classifiers here.
CLASSIFIERS = {"5nn": "knn5", "softmax": "softmax"}
OURS = "l20-FS"
BASELINE = "baseline"


@dataclass(frozen=True)
class Method:
    """A method of Table II.

    Parameters
    ----------
    name : str
        As printed.
    selector : str
        Class name.
    parameters : dict
        Fixed ones.
    grid : dict of str to list
        Candidates to choose from.
    each_k : bool
        The number of features is part of the model, so that every number needs its own fit.
    """

    name: str
    selector: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence] = field(default_factory=dict)
    each_k: bool = False


def methods(scale: Any) -> list[Method]:
    """The methods of Table II in its order."""
    alphas = {"alpha": list(scale.gammas)}
    return [
        Method(BASELINE, "AllFeatures"),
        Method("Relief", "ReliefFSelector"),
        Method("mRMR", "MRMRSelector", {"criterion": "mid"}),
        Method("RFS", "RFSSelector", grid=alphas),
        Method("RLSR", "RLSRSelector", grid=alphas),
        Method(
            "RPMFS",
            "RPMFSSelector",
            {"solver": "published", "max_iter": scale.rpmfs_iterations},
            each_k=True,
        ),
        Method("ESFS", "ESFSSelector", each_k=True),
        Method(OURS, "L20Selector", {"solver": "published"}, {"lam": list(scale.lams)}),
    ]


def data_sets(bench: Bench, printed: Sequence[str] | None = None) -> dict[str, str]:
    """What to call the data sets to use, and their names here.

    Where the registry names a stand-in for a set that is missing, that is used unless the bench
    is quick. When none of the sets asked for is at hand, those of the whole paper serve.
    """
    found = bench.datasets(printed)
    if not bench.quick:
        found |= bench.stand_ins(printed)
    if not found and printed is not None:
        return data_sets(bench)
    return dict(list(found.items())[: bench.scale.most_sets])


def percent(share: float | None) -> float | None:
    """A share as percent."""
    return None if share is None else rounded(100.0 * share)


SEED = 0
# Iterations of a long descent that are kept for drawing.
MAX_POINTS = 100
# Iterations that count as early.
EARLY = 10


class Part(NamedTuple):
    """Training and test samples of one split."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def protocol(n_repeats: int) -> PaperSplits:
    """The splits of the paper; those of a larger number of repeats begin with the same ones."""
    return PaperSplits("2/3", n_repeats)


def scored_homotopy(setting: dict) -> dict:
    """Scores of one split at every number of features, as a study gives them, and rows of W."""
    part = _part(setting)
    curve = accuracy_curve(
        _selector(setting),
        *part,
        ks=setting["ks"],
        classifiers=setting["classifiers"],
        scoring=["accuracy"],
    )
    return {
        "scores": curve.scores,
        "selections": curve.selections,
        "seconds": curve.seconds,
        "n_rows": _n_rows(setting, {}, part),
    }


def l21_rows(setting: dict) -> dict:
    """Nonzero rows of l2,1 regularised least squares on the first training part."""
    part = _scaled(_part({**setting, "repeat": 0}))
    fitted = L21Selector(alpha=setting["gamma"]).fit(part.X, part.y)
    return {"n_rows": int(fitted.coef_.any(axis=0).sum()), "n_features": part.X.shape[1]}


def nested_choice(setting: dict) -> dict:
    """Accuracy with strength and number of features chosen inside the training part.

    The pair with the best mean accuracy over the inner folds, the fewest features of equals, is
    fitted to the whole training part and scored on the test part; each classifier chooses its
    own. Strengths at which the homotopy keeps no row of W are no candidates: there it would rank
    features by their correlation with the classes.
    """
    part = _part(setting)
    candidates = list(ParameterGrid(setting["grid"]))
    if setting["selector"] == "L20Selector":
        kept = [candidate for candidate in candidates if _n_rows(setting, candidate, part)]
        candidates = kept or candidates
    seed = derive_seed(SEED, "inner", setting["repeat"])
    inner = fold_rows(Folds(setting["inner_folds"]), part.y, seed=seed)

    def accuracies(candidate: dict, train: np.ndarray, test: np.ndarray) -> dict:
        fold = Part(part.X[train], part.y[train], part.X[test], part.y[test])
        return _accuracies(setting, candidate, fold, setting["ks"])

    found = [each_fold(partial(accuracies, candidate), inner) for candidate in candidates]
    outer: dict = {}  # classifiers often choose the same
    result: dict = {"accuracy": {}, "n_chosen": {}, "chosen": {}}
    for classifier in setting["classifiers"]:
        pairs = [(k, place) for k in setting["ks"] for place in range(len(candidates))]
        k, place = max(
            pairs,
            key=lambda pair: np.mean([_at(fold, classifier, pair[0]) for fold in found[pair[1]]]),
        )
        if (k, place) not in outer:
            outer[k, place] = _accuracies(setting, candidates[place], part, [k])
        result["accuracy"][classifier] = _at(outer[k, place], classifier, k)
        result["n_chosen"][classifier] = k
        result["chosen"][classifier] = candidates[place]
    return result


def homotopy_fit(setting: dict) -> dict:
    """The homotopy at one final lambda: rows of W and the accuracy with them and at every k.

    A W without rows leaves the classifier nothing but the largest class.
    """
    part = _scaled(_part(setting))
    fitted = _fitted(setting, part)
    n_rows = len(fitted.path_)
    own = np.flatnonzero(fitted.get_support()) if n_rows else np.zeros(0, dtype=np.int64)
    # Beyond the rows of W the others follow by the norm of their gradient.
    columns = {k: np.flatnonzero(fitted.ranking_ <= k) for k in setting["ks"]}
    scored = score_columns(*part, {None: own, **columns}, models=["5nn"], metrics=["accuracy"])
    return {
        "n_rows": n_rows,
        "rows": own.tolist(),
        "accuracy": scored.scores["5nn", None]["accuracy"],
        "accuracies": [scored.scores["5nn", k]["accuracy"] for k in setting["ks"]],
        "n_iter": int(fitted.n_iter_),
    }


def descent(setting: dict) -> dict:
    """The objective at every iteration of a fit to a training part, thinned when it is long."""
    fitted = _fitted(setting, _scaled(_part(setting)))
    history = np.asarray(fitted.history_, dtype=float)
    rises = np.diff(history) > 1e-9 * np.abs(history[:-1])
    places = np.arange(len(history))
    if len(history) > MAX_POINTS:
        # Dense where the objective moves: at the beginning.
        places = np.unique(np.geomspace(1, len(history), MAX_POINTS).astype(int) - 1)
    reached = history[0] - 0.99 * (history[0] - history.min())
    return {
        "iterations": (places + 1).tolist(),
        "objectives": history[places].tolist(),
        "n_iter": len(history),
        "n_rises": int(rises.sum()),
        "first": float(history[0]),
        "last": float(history[-1]),
        "after_ten": float(history[:EARLY][-1]),
        "settled": int(np.argmax(history <= reached)) + 1,
    }


def fit_seconds(setting: dict) -> dict:
    """CPU seconds of the fastest of some fits to a training part."""
    part = _scaled(_part(setting))
    # What a method compiles at its first fit is no part of its time.
    _fitted(setting, Part(part.X[:, :20], part.y, part.X_test, part.y_test))
    seconds = []
    for _ in range(setting["timings"]):
        start = time.process_time()
        fitted = _fitted(setting, part)
        seconds.append(time.process_time() - start)
    return {"seconds": min(seconds), "n_iter": int(getattr(fitted, "n_iter_", 1))}


def _part(setting: dict) -> Part:
    data = DatasetSpec(setting["dataset"]).load()
    *_, split = protocol(setting["repeat"] + 1).splits(data.y, seed=SEED)
    X, y = data.X, data.y
    return Part(X[split.train], y[split.train], X[split.test], y[split.test])


def _scaled(part: Part) -> Part:
    scaler = StandardScaler().fit(part.X)
    return part._replace(X=scaler.transform(part.X), X_test=scaler.transform(part.X_test))


def _n_rows(setting: dict, candidate: dict, part: Part) -> int:
    """How many rows of W the homotopy keeps."""
    parameters = {**setting["parameters"], **candidate}
    return len(_fitted({**setting, "parameters": parameters}, _scaled(part)).path_)


def _fitted(setting: dict, part: Part):
    parameters = dict(setting["parameters"])
    if parameters.get("n_features_to_select", 0) > part.X.shape[1]:
        parameters["n_features_to_select"] = part.X.shape[1]
    with warnings.catch_warnings():
        # Published step rules need not converge; that is what these experiments show.
        warnings.simplefilter("ignore")
        return _selector({**setting, "parameters": parameters}).fit(part.X, part.y)


def _selector(setting: dict, **candidate):
    return configure(selector_class(setting["selector"]), {**setting["parameters"], **candidate})


def _accuracies(setting: dict, candidate: dict, part: Part, ks: list[int]) -> dict:
    """Accuracy by classifier and number of features."""
    selector = _selector(setting, **candidate)
    curves = [
        accuracy_curve(
            selector, *part, ks=asked, classifiers=setting["classifiers"], scoring=["accuracy"]
        )
        for asked in ([[k] for k in ks] if setting["each_k"] else [list(ks)])
    ]
    return {
        (row["classifier"], row["k"]): row["accuracy"] for curve in curves for row in curve.scores
    }


def _at(accuracies: dict, classifier: str, k: int) -> float:
    """The accuracy with k features, or with as many as the selector has."""
    return accuracies[classifier, max(n for name, n in accuracies if name == classifier and n <= k)]
