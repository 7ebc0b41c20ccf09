"""The standing quality study: every selector at its defaults and the peers a user would pick.

``python -m benchmarks.quality [--quick] [--jobs N] [--store FILE] [--minutes M]
[--methods NAME ...]`` goes on where it stopped. With ``--methods`` only these run; their ranks are
then ranks among them. Data sets come from the folder that SPARSIEVE_DATA names. A fit that takes
longer than ``LIMIT`` seconds of CPU counts as too slow and is recorded so, and the method is not
tried on the other folds of that data set; the slow selectors run on ten sets with one seed only. Of
a data set with more than ``SAMPLES`` samples that many are drawn, in the same shares of classes.
Selection, scaling and classifiers see the training part alone.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

from benchmarks.common import DATA, conditions, load

import numpy as np  # isort: skip
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif, mutual_info_classif
from sklearn.linear_model import enet_path
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sparsieve import SelectorCV, all_selectors
from sparsieve.scoring import bootstrap_interval, nogueira_stability
from sparsieve_experiments.studies.jobs import run_jobs

KS = (5, 10, 20, 50, 100)
LIMIT = 20.0
FOLDS, SEEDS = 5, (0, 1)
SAMPLES = 600
STABLE_AT = 20
FOREST_AT = ("10", "50")  # a forest costs more than all else of a cheap method
# fmt: off
SETS = [
    "allaml", "borovecki", "brain", "breast3", "carcinoma_174", "christensen", "cnae9",
    "cns", "coil20", "colon_raw", "dbworld", "glioma", "gravier", "isolet", "leukemia_38",
    "lung_203", "lymphoma_62", "lymphoma_96", "madelon", "mnist_1000", "nci_61",
    "sonar", "sorlie", "spambase", "su_102", "tumor14_190", "usps", "warpar10p", "warppie10p",
    "wdbc", "yale",
]
FEW = [
    "allaml", "brain", "colon_raw", "glioma", "leukemia_38", "lung_203", "lymphoma_62", "sonar",
    "warpar10p", "wdbc",
]
# fmt: on
QUICK = ["colon_raw", "leukemia_38", "sonar", "warpar10p"]
SLOW = {
    "ESFSSelector",
    "ExactPenaltySVMSelector",
    "ExclusiveLassoSelector",
    "HSICLassoSelector",
    "InfFSSelector",
    "L0MKLSelector",
    "L0MPMSelector",
    "L0SVMSelector",
    "L1MPMSelector",
    "MIKFSSelector",
    "RPMFSSelector",
    "SMPMSelector",
    "StabilitySelection",
    "MultiTaskLasso path",
    "mutual information",
    "random forest",
    "Boruta",
}
VARIANTS = ("10 % of labels flipped", "20 % of labels flipped", "gross outliers in X")
VARIED = ["RidgeForwardSelector", "L21Selector", "RFSSelector", "RobustL20Selector", "f_classif"]
OWN = "own"  # what the model keeps when nothing is asked for
CHOSEN = "RidgeForward with SelectorCV"


# -- the peers: functions that rank all features, best first ---------------------------------


def _by(scores) -> np.ndarray:
    return np.argsort(-np.nan_to_num(scores), kind="stable")


def _linear_svc(X, y):
    return _by(np.abs(LinearSVC(penalty="l1", dual=False, C=1.0).fit(X, y).coef_).max(axis=0))


def _multi_task_lasso(X, y):
    Y = (y[:, None] == np.unique(y)).astype(float)
    _, coefs, _ = enet_path(X, Y - Y.mean(axis=0), l1_ratio=1.0, n_alphas=50, eps=1e-2)
    norms = np.linalg.norm(coefs, axis=0)
    entered = np.where(norms.any(axis=1), np.argmax(norms > 0, axis=1), norms.shape[1])
    return np.lexsort((-norms[:, -1], entered))


def _fastcan(X, y):
    from fastcan import FastCan

    Y = (y[:, None] == np.unique(y)).astype(float)
    chosen = FastCan(min(100, X.shape[1]), verbose=0).fit(X, Y).indices_
    return np.concatenate([chosen, np.setdiff1d(np.arange(X.shape[1]), chosen)])


def _fast_select(X, y):
    from fast_select import ReliefF

    found = ReliefF(n_features_to_select=min(100, X.shape[1]), n_neighbors=10)
    return _by(found.fit(X, y).feature_importances_)


def _boruta(X, y):
    from boruta import BorutaPy

    forest = RandomForestClassifier(max_depth=5, random_state=0)
    return np.argsort(BorutaPy(forest, random_state=0).fit(X, y).ranking_, kind="stable")


PEERS = {
    "f_classif": lambda X, y: _by(f_classif(X, y)[0]),
    "mutual information": lambda X, y: _by(mutual_info_classif(X, y, random_state=0)),
    "LinearSVC-l1": _linear_svc,
    "MultiTaskLasso path": _multi_task_lasso,
    "random forest": lambda X, y: _by(
        RandomForestClassifier(500, random_state=0).fit(X, y).feature_importances_
    ),
}
OPTIONAL = {"fastcan": _fastcan, "fast_select": _fast_select, "boruta": _boruta}
PEERS |= {
    {"fast_select": "fast-select ReliefF", "boruta": "Boruta"}.get(name, name): rank
    for name, rank in OPTIONAL.items()
    if find_spec(name) is not None
}
# Wrappers around others, and filters for counts only.
LEFT_OUT = {"SelectorCV", "ChiSquareSelector"}


def methods() -> list[str]:
    """Names of all that can run here."""
    ours = [name for name in all_selectors() if name not in LEFT_OUT]
    if find_spec("clarabel") is None:
        ours = [name for name in ours if "MPM" not in name]
    return [*ours, CHOSEN, *PEERS]


# -- one job ---------------------------------------------------------------------------------


class TooSlowError(Exception):
    """A fit took longer than the limit."""


late = False  # some methods hide the exception below behind one of their own


def _alarm(signum, frame):
    global late
    late = True
    raise TooSlowError


def supports_of(method: str, X, y) -> dict[str, list[int]]:
    """The features kept at every number of features, and those of the method's own choice."""
    ks = [k for k in KS if k <= X.shape[1]]
    if method in PEERS:
        order = PEERS[method](X, y)
        return {str(k): order[:k].tolist() for k in ks}
    if method == CHOSEN:
        return {OWN: SelectorCV().fit(X, y).get_support(indices=True).tolist()}
    selector = all_selectors()[method]()
    own = selector.fit(X, y).get_support(indices=True).tolist()
    fitted = selector.reaching(max(ks)).fit(X, y)
    found = {
        str(k): fitted.at(k).get_support(indices=True).tolist() for k in ks if k <= fitted.n_ranked_
    }
    return {**found, OWN: own}


def varied(X, y, variant: str, rng):
    """Training data with flipped labels or gross outliers."""
    X, y = X.copy(), y.copy()
    if variant.endswith("flipped"):
        share = int(variant.split()[0]) / 100
        hit = rng.random(len(y)) < share
        y[hit] = rng.choice(np.unique(y), hit.sum())
    elif variant:
        hit = rng.random(X.shape) < 0.01
        X[hit] += 20.0 * rng.standard_normal(int(hit.sum())) * X.std()
    return X, y


def job(setting: dict) -> dict:
    """Select on one fold and score the selections on its test part."""
    X, y = load(setting["data"])
    if len(y) > SAMPLES:
        X, _, y, _ = train_test_split(X, y, train_size=SAMPLES, stratify=y, random_state=0)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=setting["seed"])
    train, test = list(folds.split(X, y))[setting["fold"]]
    scaler = StandardScaler().fit(X[train])
    A, B = scaler.transform(X[train]), scaler.transform(X[test])
    rng = np.random.default_rng([setting["seed"], setting["fold"]])
    learn, labels = varied(A, y[train], setting["variant"], rng)
    global late
    late = False
    signal.signal(signal.SIGPROF, _alarm)  # seconds of CPU: other work on the machine costs none
    signal.setitimer(signal.ITIMER_PROF, 2 * LIMIT)  # two fits: the own choice, and the path
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            supports = supports_of(setting["method"], learn, labels)
    except Exception:
        if not late:
            raise
        return {"too_slow": True}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    seconds = time.process_time() - started
    scores = {}
    for k, support in supports.items():
        if not support:
            continue
        a, b = learn[:, support], B[:, support]
        models = {"svm": SVC(kernel="linear"), "1nn": KNeighborsClassifier(1)}
        if k in FOREST_AT:
            models["forest"] = RandomForestClassifier(50, random_state=0)
        scores[k] = {
            name: float((model.fit(a, labels).predict(b) == y[test]).mean())
            for name, model in models.items()
        } | {"n": len(support)}
    kept = supports.get(str(STABLE_AT), [])
    return {"seconds": seconds, "scores": scores, "kept": kept, "n_features": X.shape[1]}


def plan(quick: bool) -> list[dict]:
    """All settings: fast methods first, fold by fold, so that a stopped run is a balanced one."""
    sets = [name for name in (QUICK if quick else SETS) if (DATA / f"{name}.npz").exists()]
    few = [name for name in sets if name in FEW]
    fast = [method for method in methods() if method not in SLOW]
    slow = [method for method in methods() if method in SLOW]
    settings = []
    for seed in SEEDS[: 1 if quick else 2]:
        for fold in range(FOLDS):
            settings += [(name, m, fold, seed, "") for name in sets for m in fast]
            if seed == SEEDS[0]:
                settings += [(name, m, fold, seed, "") for name in few for m in slow]
            if fold < 3:
                settings += [
                    (name, m, fold, seed, v) for name in few for m in VARIED for v in VARIANTS
                ]
    keys = ("data", "method", "fold", "seed", "variant")
    return [dict(zip(keys, values, strict=True)) for values in settings]


# -- the table -------------------------------------------------------------------------------


def table(outcomes: list[dict]) -> str:
    """Markdown: mean accuracy, rank, paired difference to the default, stability, seconds."""
    cells: dict[str, dict[tuple, dict]] = {}
    for outcome in outcomes:
        result, setting = outcome.get("result"), outcome["setting"]
        if result is None or setting["variant"]:
            continue
        place = (setting["data"], setting["seed"], setting["fold"])
        cells.setdefault(setting["method"], {})[place] = result
    default = cells.get("RidgeForwardSelector", {})
    lines = [
        "| method | sets | SVM, difference to ridge forward [95 %] | rank on the ten sets | SVM, "
        "k = 5 / 10 / 20 / 50 / 100 | 1-NN, mean | forest, mean | own k: SVM (k) | stability | "
        "CPU s | sets too slow |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    ranks = _ranks(cells)
    rows = []
    for method, found in cells.items():
        slow = len({place[0] for place, r in found.items() if r.get("too_slow")})
        fine = {place: r for place, r in found.items() if not r.get("too_slow")}
        sets = sorted({place[0] for place in fine})
        by_k = [_mean(fine, str(k), "svm") for k in KS]
        ahead = _difference(fine, default, sets)
        text = "-" if ahead is None else f"{ahead[0]:+.1f} [{ahead[1]:.1f}, {ahead[2]:.1f}]"
        seconds = np.mean([r["seconds"] for r in fine.values()]) if fine else np.nan
        rows.append(
            (
                -np.inf if ahead is None else ahead[0],
                f"| {method} | {len(sets)} | {text} | {ranks.get(method, np.nan):.1f} | "
                f"{' / '.join(f'{v:.1f}' for v in by_k)} | "
                f"{_over(fine, '1nn'):.1f} | {_over(fine, 'forest'):.1f} | "
                f"{_mean(fine, OWN, 'svm'):.1f} ({_mean(fine, OWN, 'n') / 100:.0f}) | "
                f"{_stability(fine, sets):.2f} | {seconds:.2f} | {slow} |".replace(
                    "nan (nan)", ""
                ).replace("nan", ""),
            )
        )
    return "\n".join(lines + [line for _, line in sorted(rows, reverse=True)])


def _ranks(cells: dict[str, dict[tuple, dict]]) -> dict[str, float]:
    """Mean rank on the sets that all methods ran on, by SVM accuracy over all k; first seed."""
    accuracy: dict[str, dict[str, float]] = {}
    for method, found in cells.items():
        for name in FEW:
            values = [
                result["scores"][str(k)]["svm"]
                for place, result in found.items()
                if place[:2] == (name, SEEDS[0]) and not result.get("too_slow")
                for k in KS
                if str(k) in result["scores"]
            ]
            if values:
                accuracy.setdefault(method, {})[name] = float(np.mean(values))
    whole = [method for method, found in accuracy.items() if len(found) == len(FEW)]
    by_set = [rankdata([-accuracy[method][name] for method in whole]) for name in FEW]
    return dict(zip(whole, np.mean(by_set, axis=0).tolist(), strict=True)) if whole else {}


def _mean(found: dict, k: str, what: str) -> float:
    """Mean over data sets of the mean over folds, in per cent."""
    by_set: dict[str, list[float]] = {}
    for place, result in found.items():
        if what in result["scores"].get(k, {}):
            by_set.setdefault(place[0], []).append(result["scores"][k][what])
    return 100 * float(np.mean([np.mean(v) for v in by_set.values()])) if by_set else np.nan


def _over(found: dict, what: str) -> float:
    values = [_mean(found, str(k), what) for k in KS]
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan


def _difference(found: dict, default: dict, sets: list[str]):
    """Mean over sets of the difference to the default at the same k and fold, and its interval."""
    differences = []
    for name in sets:
        values = [
            result["scores"][str(k)]["svm"] - default[place]["scores"][str(k)]["svm"]
            for place, result in found.items()
            if place[0] == name and place in default and not default[place].get("too_slow")
            for k in KS
            if str(k) in result["scores"] and str(k) in default[place]["scores"]
        ]
        if values:
            differences.append(100 * float(np.mean(values)))
    if len(differences) < 3:
        return None
    interval = bootstrap_interval(differences, random_state=0)
    return float(np.mean(differences)), interval.low, interval.high


def _stability(found: dict, sets: list[str]) -> float:
    values = []
    for name in sets:
        kept = [r for place, r in found.items() if place[0] == name and len(r["kept"])]
        if len(kept) >= 2 and len(kept[0]["kept"]) < kept[0]["n_features"]:
            masks = np.zeros((len(kept), kept[0]["n_features"]), dtype=bool)
            for i, result in enumerate(kept):
                masks[i, result["kept"]] = True
            values.append(nogueira_stability(masks).value)
    return float(np.mean(values)) if values else np.nan


def variants(outcomes: list[dict]) -> str:
    """Markdown: SVM accuracy at 20 features with spoiled training data."""
    lines = ["| method | clean | " + " | ".join(VARIANTS) + " |", "|---|" + "---|" * 4]
    for method in VARIED:
        values = []
        for variant in ("", *VARIANTS):
            found = {
                (s["data"], s["seed"], s["fold"]): outcome["result"]
                for outcome in outcomes
                if (s := outcome["setting"])["method"] == method
                and s["variant"] == variant
                and s["data"] in FEW
                and s["fold"] < 3
                and outcome.get("result")
                and not outcome["result"].get("too_slow")
            }
            values.append(f"{_mean(found, str(STABLE_AT), 'svm'):.1f}")
        lines.append(f"| {method} | {' | '.join(values)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", default="quality.sqlite")
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--methods", nargs="+", choices=methods(), default=methods())
    arguments = parser.parse_args()
    settings = [one for one in plan(arguments.quick) if one["method"] in arguments.methods]
    outcomes: list[dict] = []
    hopeless: set[tuple[str, str]] = set()
    deadline = time.monotonic() + 60 * arguments.minutes
    size = 100
    for start in range(0, len(settings), size):
        if time.monotonic() > deadline:
            print(f"stopped in time after {start} of {len(settings)} jobs", file=sys.stderr)
            break
        batch = [
            setting
            for setting in settings[start : start + size]
            if (setting["data"], setting["method"]) not in hopeless
        ]
        done = run_jobs("quality", job, batch, Path(arguments.store), n_jobs=arguments.jobs)
        hopeless |= {
            (outcome["setting"]["data"], outcome["setting"]["method"])
            for outcome in done
            if (outcome.get("result") or {}).get("too_slow")
        }
        outcomes += done
    failed = [outcome for outcome in outcomes if "error" in outcome]
    for outcome in failed[:20]:
        print(outcome["setting"], outcome["error"][:200], file=sys.stderr)
    print(conditions("fastcan", "fast-select", "boruta"))
    print(f"{len(outcomes)} of {len(settings)} jobs, {len(failed)} failed\n")
    print(table(outcomes), "\n\n" + variants(outcomes))


if __name__ == "__main__":
    main()
