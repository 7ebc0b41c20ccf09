"""``sparsieve select --stable``."""

import pytest


@pytest.mark.slow
def test_bounds_are_said_and_shown(sparsieve, flowers, tmp_path):
    pytest.importorskip("vl_convert")
    page = tmp_path / "page.html"
    run = sparsieve(
        *(
            "select",
            flowers,
            "-t",
            "kind",
            "-m",
            "f-statistic",
            "--stable",
            "--no-check",
            "--report",
            page,
        )
    )
    assert run.code == 0
    assert {line.split("\t")[1] for line in run.out.splitlines()[1:]} <= {"q", "t"}
    assert "of the 100 runs on half the data" in run.err
    assert "without assumptions" in run.err
    assert "Expected number of features kept by mistake, at most" in page.read_text()


def test_bounds_in_json_and_refusals(sparsieve, flowers):
    common = ("select", flowers, "-t", "kind", "-m", "f-statistic", "--stable", "--no-check")
    found = sparsieve(*common, "-k", "2", "--json", "-q").json()
    assert set(found["stability"]["error_bounds"]) == {"worst_case", "unimodal", "r_concave"}
    assert found["n_selected"] == 2
    refused = sparsieve(*common, "-k", "auto")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
