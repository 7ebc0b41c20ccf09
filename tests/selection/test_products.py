"""Everything that ``select`` takes meets everything else: each pair of options at least once.

On noise nothing may be claimed beyond its level and no sentence may say more than was tested; on a
planted signal the planted columns are found. Options that exclude each other are named.
"""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GroupKFold, KFold

import sparsieve
from sparsieve.app.cli.app import run

OPTIONS = {
    "task": ("classes", "rare", "numbers", "whole", "counts", "survival"),
    "k": (3, "auto", "fdr=0.1"),
    "groups": (False, True),
    "cv": (None, 4, "splitter", "pairs"),
    "estimator": (False, True),
    "covariates": ((), ("age",), ("age", "ward")),
    "feature_groups": (False, True),
    "door": ("python", "command line"),
    "out": ("print", "report", "save"),
    "planted": (False, True),
}
MODELS = {
    "classes": LogisticRegression(),
    "rare": LogisticRegression(),
    "numbers": Ridge(),
    "whole": Ridge(),
    "counts": PoissonRegressor(),
}


def usual(case):
    """What a case leaves out because its other options know nothing of it."""
    if case["door"] == "command line":
        case |= {"cv": None, "estimator": False}
    if case["task"] == "survival":
        case |= {"estimator": False}
    if str(case["k"]).startswith("fdr"):  # tests instead of folds and models
        case |= {"cv": None, "estimator": False}
    return case


def pairs_of(case):
    return set(itertools.combinations(sorted(case.items(), key=lambda item: item[0]), 2))


def cases():
    """Few cases that hold every pair of options that can meet."""
    rng = np.random.default_rng(0)
    everything = [usual(dict(zip(OPTIONS, values, strict=True))) for values in drawn(rng)]
    missing = set().union(*map(pairs_of, everything))
    kept = []
    while missing:
        best = max(everything, key=lambda case: len(pairs_of(case) & missing))
        missing -= pairs_of(best)
        kept.append(best)
    return kept


def drawn(rng):
    """All pairs of values, the other options at random."""
    for (a, these), (b, those) in itertools.combinations(OPTIONS.items(), 2):
        for one, other in itertools.product(these, those):
            for _ in range(3):
                random = {name: v[rng.integers(len(v))] for name, v in OPTIONS.items()}
                yield (random | {a: one, b: other}).values()


def table(case, seed):
    """80 samples of 20 patients, twelve columns; of a planted signal two of them are true."""
    rng = np.random.default_rng(seed)
    patients = np.repeat(np.arange(20), 4)
    own = 0.8 if case["groups"] else 0.0
    X = rng.standard_normal((80, 12)) + own * rng.standard_normal((20, 12))[patients]
    signal = rng.standard_normal(80) + own * rng.standard_normal(20)[patients]
    if case["planted"]:
        signal = 2 * X[:, 2] - 2 * X[:, 7] + 0.3 * rng.standard_normal(80)
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(12)])
    frame["age"] = rng.integers(20, 90, 80)
    frame["ward"] = rng.choice(["north", "south", "west"], 80)
    frame["patient"] = patients
    task = case["task"]
    if task in ("classes", "rare"):
        limit = np.quantile(signal, 0.5 if task == "classes" else 0.85)
        frame["y"] = np.where(signal > limit, "ill", "well")
    elif task == "numbers":
        frame["y"] = signal
    elif task == "whole":
        frame["y"] = np.rint(3 * signal).astype(int)
    elif task == "counts":
        frame["y"] = rng.poisson(np.exp(1.0 + 0.4 * signal))
    else:
        frame["months"] = np.exp(-signal) + 0.01
        frame["died"] = rng.random(80) < 0.8
    return frame


def folds(case, frame):
    if case["cv"] == "splitter":
        return GroupKFold(4) if case["groups"] else KFold(4, shuffle=True, random_state=0)
    if case["cv"] == "pairs":
        by = frame["patient"] % 4 if case["groups"] else np.arange(80) % 4
        return [(np.flatnonzero(by != fold), np.flatnonzero(by == fold)) for fold in range(4)]
    return case["cv"]


FEATURE_GROUPS = {f"gene{j}": f"pathway{j // 2}" for j in range(12)}
TASKS = {"whole": "regression", "counts": "counts"}


def in_python(case, frame, folder):
    asked = {"k": case["k"], "task": TASKS.get(case["task"], "auto"), "random_state": 0}
    target = ("months", "died") if case["task"] == "survival" else "y"
    X = frame if case["groups"] else frame.drop(columns="patient")
    if case["groups"]:
        asked["groups"] = "patient"
    if case["feature_groups"]:
        asked["feature_groups"] = [[f"gene{j}", f"gene{j + 1}"] for j in range(0, 12, 2)]
    if case["covariates"]:
        asked["covariates"] = list(case["covariates"])
    X = X.drop(columns=[c for c in ("age", "ward") if c not in case["covariates"]])
    if case["estimator"]:
        asked["estimator"] = MODELS[case["task"]]
    selected = sparsieve.select(X, target, cv=folds(case, frame), **asked)
    words = str(selected)
    if case["out"] == "report":
        selected.report(folder / "page.html")
    if case["out"] == "save" and len(selected.features):
        sparsieve.save(selected, folder / "model.sparsieve")
        again = sparsieve.load(folder / "model.sparsieve")
        assert list(again.features) == list(selected.features)
        np.testing.assert_array_equal(again.predict(X), selected.predict(X))
    return list(map(str, selected.features)), words, selected


def on_command_line(case, frame, folder, capsys):
    X = frame.drop(columns=[c for c in ("age", "ward") if c not in case["covariates"]])
    X = X if case["groups"] else X.drop(columns="patient")
    X.to_csv(folder / "table.csv", index=False)
    words = ["select", folder / "table.csv", "-k", case["k"]]
    if case["task"] == "survival":
        words += ["--time", "months", "--event", "died"]
    else:
        words += ["--target", "y", "--task", TASKS.get(case["task"], "auto")]
    if case["groups"]:
        words += ["--groups", "patient"]
    if case["covariates"]:
        words += ["--covariates", ",".join(case["covariates"])]
    if case["feature_groups"]:
        lines = ["feature,group", *(f"{name},{group}" for name, group in FEATURE_GROUPS.items())]
        (folder / "groups.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        words += ["--feature-groups", folder / "groups.csv"]
    if case["out"] == "report":
        words += ["--report", folder / "page.html"]
    if case["out"] == "save":
        words += ["--model", folder / "model.sparsieve"]
    code = run([str(word) for word in words])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert code == 0, said.err
    if (folder / "model.sparsieve").exists():
        asked = ["predict", folder / "model.sparsieve", folder / "table.csv"]
        assert run([str(word) for word in asked]) == 0, capsys.readouterr().err
        assert len(capsys.readouterr().out.splitlines()) == 81
    names = re.findall(r"^(?:\d+\s+)?(gene\d+|pathway\d)\b", said.out, re.M)
    return names, said.out + said.err, None


def name_of(case):
    return "-".join(f"{v}" for v in case.values())


@pytest.mark.thinned(4)
@pytest.mark.long("a whole selection with its check, and a page or a file")
@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_what_select_takes_meets(case, tmp_path, capsys):
    frame = table(case, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if case["door"] == "python":
            kept, words, selected = in_python(case, frame, tmp_path)
        else:
            kept, words, selected = on_command_line(case, frame, tmp_path, capsys)
    assert "nan" not in words.lower()
    if case["planted"]:
        found = set(kept)
        true = (
            {"pathway1", "pathway3"} if found & set(FEATURE_GROUPS.values()) else {"gene2", "gene7"}
        )
        assert true & found, words
    if selected is not None and selected.check is not None:
        verdict = selected.check.as_dict()["better_than_guess"]
        assert (verdict is None) == ("ot tested against" in words)
        assert (verdict is False) <= ("not predict" in words or "predicts better" in words)


@pytest.mark.slow
def test_noise_is_not_claimed_beyond_the_level(tmp_path):
    """Verdicts have a level of 5 %, claims a false discovery rate of 10 %: false on noise."""
    noise = [case for case in cases() if case["door"] == "python" and not case["planted"]]
    claims = verdicts = 0
    for case, seed in itertools.product(noise, range(8)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            kept, _, selected = in_python(case | {"out": "print"}, table(case, seed), tmp_path)
        claimed = bool(kept) if case["k"] == "fdr=0.1" else False
        if selected.check is not None and case["k"] != "fdr=0.1":
            claimed = selected.check.as_dict()["better_than_guess"] is True
        claims, verdicts = claims + claimed, verdicts + 1
    assert verdicts >= 60
    assert claims <= stats.binom.ppf(0.99, verdicts, 0.1), f"{claims} of {verdicts}"
    print(f"{claims} of {verdicts}")
