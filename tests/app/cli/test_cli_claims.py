"""``sparsieve select -k fdr=0.1`` and ``--claim``."""

import numpy as np
import pytest

from sparsieve import FDRSelector

pytestmark = pytest.mark.usefixtures("lines_only")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(a table with two features that matter, the same with shuffled labels)"""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 40))
    y = (X[:, 3] + X[:, 5] > 0).astype(int)
    paths = []
    for name, labels in (("signal", y), ("noise", np.random.default_rng(0).permutation(y))):
        path = tmp_path_factory.mktemp("claims") / f"{name}.csv"
        lines = [",".join([*(f"g{j}" for j in range(40)), "label"])]
        pairs = zip(X.tolist(), labels, strict=True)
        lines += [",".join([*map(repr, row), "ab"[label]]) for row, label in pairs]
        path.write_text("\n".join(lines) + "\n")
        paths.append(path)
    direct = FDRSelector(0.1).fit(X, y)
    assert direct.get_support(indices=True).tolist() == [3, 5]
    return paths


def test_what_can_be_claimed_is_kept(sparsieve, files):
    result = sparsieve("select", files[0], "-t", "label", "-k", "fdr=0.1", "--no-check")
    assert result.code == 0
    assert {line.split("\t")[1] for line in result.out.splitlines()[1:]} == {"g3", "g5"}
    assert "2 of 40 features are significant at a false discovery rate of 10 %" in result.err
    found = sparsieve(
        "select", files[0], "-t", "label", "-k", "fdr=0.2", "--claim", "marginal", "--json", "-q"
    ).json()
    assert found["method"] == "fdr"
    assert (found["claims"]["claim"], found["claims"]["level"]) == ("marginal", 0.2)
    assert {"g3", "g5"} <= {row["feature"] for row in found["claims"]["claims"]}


def test_claims_beside_a_selection(sparsieve, files, tmp_path):
    page = tmp_path / "page.html"
    result = sparsieve(
        "select", files[0], "-t", "label", "-k", 4, "--claim", "conditional", "--report", page
    )
    assert len(result.out.splitlines()) == 5
    assert "4 features were selected for prediction; 2 of them are significant" in result.err
    assert "What can be claimed" in page.read_text(encoding="utf-8")


def test_nothing_can_be_claimed(sparsieve, files):
    result = sparsieve("select", files[1], "-t", "label", "-k", "fdr=0.1")
    assert result.code == 0
    assert "No feature is significant at a false discovery rate of 10 %" in result.err
    assert "--claim marginal finds features" in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-k", "fdr=2"), "-k fdr=LEVEL needs a level such as fdr=0.1, got 'fdr=2'"),
        (("-k", "fdr="), "-k fdr=LEVEL needs a level"),
        (("-k", "fdr=0.1", "-m", "fisher"), "which --method fisher does not test"),
        (("-k", "fdr=0.1", "--stable"), "-k fdr=0.1 and --stable exclude each other"),
        (("-k", "many"), "-k must be a number of features, a fraction such as 0.1, auto or fdr="),
    ],
)
def test_bad_options_are_refused(sparsieve, files, arguments, words):
    result = sparsieve("select", files[0], "-t", "label", *arguments)
    assert result.code != 0
    assert words in result.err
