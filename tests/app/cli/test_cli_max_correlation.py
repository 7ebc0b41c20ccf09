"""``--max-correlation`` of ``select`` and ``compare``, and the same in studies."""

import json

import numpy as np
import pandas as pd
import pytest

from sparsieve_experiments.studies import SelectorSpec


@pytest.fixture
def doubled(tmp_path):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((60, 4))
    frame = pd.DataFrame(np.hstack([Z, 2 * Z]), columns=[f"{c}{i}" for i in (1, 2) for c in "abcd"])
    frame["kind"] = np.where(Z[:, 0] + Z[:, 1] > 0, "x", "y")
    frame.to_csv(path := tmp_path / "doubled.csv", index=False)
    return path


def kept(result):
    assert result.code == 0, result.err
    return {name[0] for name in result.out.split()}


@pytest.mark.parametrize("method", ["ridge-forward", "fisher"])
def test_copies_are_passed_over(sparsieve, doubled, method):
    options = ("select", doubled, "-t", "kind", "-k", 4, "-m", method, "-n", "--no-check")
    assert kept(sparsieve(*options)) == set("abcd")
    assert len(kept(sparsieve(*options, "--max-correlation", "none"))) < 4


def test_what_is_no_correlation_is_refused(sparsieve, doubled):
    for command in ("select", "compare"):
        result = sparsieve(command, doubled, "-t", "kind", "--max-correlation", "1.5")
        assert result.code == 2
        assert "--max-correlation must be above 0 and at most 1, or none, got 1.5" in result.err
    result = sparsieve("select", doubled, "-t", "kind", "--param", "max_correlation=0.5")
    assert "use --max-correlation instead" in result.err


def test_compare_passes_it_on(sparsieve, doubled):
    how = ("-t", "kind", "--methods", "fisher", "-k", 4, "--repeats", 1, "--json", "-q")
    found = json.loads(sparsieve("compare", doubled, *how).out)
    chosen = [row["feature"][0] for row in found["consensus"] if row["methods"]]
    assert sorted(chosen) == list("abcd")


def test_studies_take_it_as_a_parameter():
    spec = SelectorSpec("fisher", {"max_correlation": 0.95})
    assert spec.label == "FisherSelector(max_correlation=0.95)"
