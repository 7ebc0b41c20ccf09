"""``--weights``: a column that says how much every sample counts."""

import numpy as np
import pytest

import sparsieve as package


@pytest.fixture
def weighed(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(50) > 0, "ill", "well")
    weights = rng.integers(1, 5, 50)
    path = tmp_path / "weighed.csv"
    rows = [",".join(map(repr, row)) for row in X.tolist()]
    lines = [f"{row},{w},{label}" for row, w, label in zip(rows, weights, y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,w,state", *lines]))
    return path, X, y, weights


def test_weights_are_those_of_python_and_no_feature(sparsieve, weighed):
    path, X, y, weights = weighed
    run = sparsieve(
        *("select", path, "-t", "state", "--weights", "w", "-k", "2", "-m", "fisher", "--json"),
        *("--check", "--all"),
    ).json()
    names = ["a", "b", "c", "d"]
    found = package.select(
        X, y, 2, "fisher", sample_weight=weights, feature_names=names, check=True
    )
    assert {row["feature"] for row in run["ranking"]} == set(names)
    assert run["held_out"]["score"] == pytest.approx(found.check.score)
    ranks = [row["score"] for row in run["ranking"]]
    assert sorted(ranks) == pytest.approx(sorted(found.selector.scores_))


def test_a_comparison_weighs_too(sparsieve, weighed):
    path, X, y, weights = weighed
    options = ("-m", "fisher,f-statistic", "-k", "1", "--folds", "3", "--repeats", "1")
    run = sparsieve("compare", path, "-t", "state", "--weights", "w", *options, "--json").json()
    found = package.compare(
        X, y, ["fisher", "f-statistic"], ks=[1], cv=3, n_repeats=1, sample_weight=weights
    )
    shown = {row["method"]: row["accuracy"] for row in run["methods"]}
    for name, result in found.methods.items():
        assert shown[name] == pytest.approx(result.scores["accuracy"].mean())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("select", "--weights", "state2"), "has no column 'state2'"),
        (("select", "--weights", "state"), "cannot have two roles at once"),
        (("select", "--weights", "w", "-m", "relieff", "-k", "2"), "leave --weights out"),
        (("diagnose", "--weights", "w"), "--drop w"),
    ],
)
def test_wrong_weights_are_told_in_a_sentence(sparsieve, weighed, options, said):
    command, *rest = options
    run = sparsieve(command, weighed[0], "-t", "state", *rest)
    assert run.code != 0
    assert said in run.err


def test_weights_must_be_numbers_from_zero_on(sparsieve, weighed):
    path = weighed[0]
    for text, said in (("heavy", "must hold numbers"), ("-1", "is negative in data row")):
        lines = path.read_text().splitlines()
        parts = lines[1].split(",")
        lines[1] = ",".join([*parts[:4], text, parts[5]])
        path.write_text("\n".join(lines))
        run = sparsieve("select", path, "-t", "state", "--weights", "w", "-k", "2")
        assert run.code != 0
        assert said in run.err
