"""Objectives, supports and CPU time of 40 fits: has a change of the code changed an answer?

``python -m benchmarks.frozen --write`` records them in ``benchmarks/frozen.json``; without it the
fits are done again and compared with the record. Every family is there, on dense and on sparse
data. One thread, CPU time of the fit alone, the least of three, compiled code warm.

Which code is measured is a matter of PYTHONPATH. To compare with an earlier commit, whose worktree
is at OLD, on the same machine::

    PYTHONPATH=OLD/src:. python -m benchmarks.frozen --write --record /tmp/before.json
    PYTHONPATH=src:. python -m benchmarks.frozen --record /tmp/before.json
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import scipy.sparse as sp

from benchmarks import common

RECORD = common.ROOT / "benchmarks" / "frozen.json"
# What counts as the same: objectives to this relative difference, times within this factor where
# they are long enough to be measured.
SAME_OBJECTIVE, SAME_TIME, MEASURABLE_SECONDS = 1e-7, 1.1, 0.5

# Class, parameters, data set, as which kind of matrix.
FITS: list[tuple[str, dict, str, str]] = [
    ("RidgeForwardSelector", {"n_features_to_select": 50}, "allaml", "dense"),
    ("RidgeForwardSelector", {"n_features_to_select": 50}, "isolet", "dense"),
    ("RidgeForwardSelector", {"n_features_to_select": 50}, "newsgroups_2000", "sparse"),
    ("L20Selector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("L20Selector", {"n_features_to_select": 20}, "basehock", "sparse"),
    ("L20Selector", {"n_features_to_select": 3, "solver": "exact"}, "colon", "dense"),
    ("L20Selector", {"lam": 0.01, "solver": "published"}, "glioma", "dense"),
    ("L21Selector", {"n_features_to_select": 50}, "allaml", "dense"),
    ("L21Selector", {"n_features_to_select": 100}, "lung_cancer_181", "dense"),
    ("L21Selector", {"n_features_to_select": 50}, "cnae9", "sparse"),
    ("LInfSelector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("ExclusiveL21Selector", {"n_features_to_select": 20}, "isolet", "dense"),
    ("ExclusiveL21Selector", {"n_features_to_select": 20}, "cnae9", "sparse"),
    ("ExclusiveLassoSelector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("ExclusiveLassoSelector", {"n_features_to_select": 20}, "su_102", "dense"),
    ("RLSRSelector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("RLSRSelector", {"n_features_to_select": 20}, "cnae9", "sparse"),
    ("ESFSSelector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("RFSSelector", {"n_features_to_select": 20}, "allaml", "dense"),
    ("RFSSelector", {"n_features_to_select": 20}, "isolet", "dense"),
    ("RFSSelector", {"n_features_to_select": 20}, "usps", "dense"),
    ("RFSSelector", {"n_features_to_select": 20}, "cnae9", "sparse"),
    ("RobustL20Selector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("RobustL20Selector", {"n_features_to_select": 20}, "newsgroups_2000", "sparse"),
    ("RPMFSSelector", {"n_features_to_select": 20}, "yale", "dense"),
    ("UDFSSelector", {"n_features_to_select": 20}, "wdbc", "dense"),
    ("L0SVMSelector", {"n_features_to_select": 20}, "colon", "dense"),
    ("L0SVMSelector", {"n_features_to_select": 20}, "dbworld", "sparse"),
    ("ExactPenaltySVMSelector", {"n_features_to_select": 20}, "colon", "dense"),
    ("SVMRFESelector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("L0MPMSelector", {"n_features_to_select": 20}, "leukemia_72", "dense"),
    ("L1MPMSelector", {"n_features_to_select": 20}, "dbworld", "sparse"),
    ("SMPMSelector", {"n_features_to_select": 20}, "leukemia_72", "dense"),
    ("MPMClassifier", {}, "sonar", "dense"),
    ("L0MKLSelector", {"n_features_to_select": 20}, "colon", "dense"),
    ("MIKFSSelector", {"n_features_to_select": 20}, "colon", "dense"),
    ("HSICLassoSelector", {"n_features_to_select": 20}, "colon", "dense"),
    ("ReliefFSelector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("MRMRSelector", {"n_features_to_select": 20}, "lung_203", "dense"),
    ("FStatisticSelector", {"n_features_to_select": 20}, "basehock", "sparse"),
]


def fit(name: str, parameters: dict, data: str, kind: str, repeats: int) -> dict | None:
    """What this fit gives; None where the data are not at hand."""
    import sparsieve

    loaded = common.load(data)
    if loaded is None:
        return None
    X, y = loaded
    X = sp.csr_matrix(X) if kind == "sparse" else X
    seconds = []
    for attempt in range(repeats + 1):  # the first one compiles
        estimator = getattr(sparsieve, name)(**parameters)
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(X, y)
        seconds.append(process_time() - start)
        if attempt > 0 and sum(seconds[1:]) > 20:
            break
    objective = getattr(estimator, "objective_", None)
    support = getattr(estimator, "support_", None)
    return {
        "objective": None if objective is None else np.atleast_1d(objective).tolist(),
        "support": None if support is None else np.flatnonzero(support).tolist(),
        "seconds": round(min(seconds[1:]), 4),
    }


def title(name: str, parameters: dict, data: str, kind: str) -> str:
    shown = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return f"{name}({shown}) on {data}, {kind}"


def difference(old: dict, new: dict) -> tuple[float, int, float]:
    """(Relative change of the objective, features that differ, new over old seconds)."""
    change = 0.0
    if old["objective"] is not None and new["objective"] is not None:
        a, b = np.asarray(old["objective"]), np.asarray(new["objective"])
        changes = (b - a) / np.maximum(abs(a), 1e-300) if a.shape == b.shape else np.array([np.inf])
        change = float(changes[abs(changes).argmax()])
    others = len(set(old["support"] or ()) ^ set(new["support"] or ()))
    return change, others, new["seconds"] / old["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="record what is found")
    parser.add_argument("--only", default="", help="fits whose title holds this text")
    parser.add_argument("--record", type=Path, default=RECORD, help="where the record is")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    record = json.loads(arguments.record.read_text()) if arguments.record.exists() else {}
    changed = 0
    for case in FITS:
        name = title(*case)
        if arguments.only not in name or (found := fit(*case, arguments.repeats)) is None:
            continue
        if name in record:
            objective, others, ratio = difference(record[name], found)
            slow = ratio > SAME_TIME and found["seconds"] > MEASURABLE_SECONDS
            differs = abs(objective) > SAME_OBJECTIVE or others > 0
            changed += differs
            marks = ("DIFFERS " if differs else "") + ("SLOWER" if slow else "")
            print(
                f"{name:<78} objective {objective:+.1e}, {others} features, "
                f"{found['seconds']:.3f} s ({ratio:.2f}x) {marks}",
                flush=True,
            )
        else:
            print(f"{name:<78} {found['seconds']:.3f} s, not recorded", flush=True)
        if arguments.write:
            record[name] = found
    if arguments.write:
        arguments.record.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{changed} of {len(FITS)} fits give another answer than the record")


if __name__ == "__main__":
    main()
