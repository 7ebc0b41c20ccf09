"""The formal decision about claims, and that the page says what the table says."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control, ttest_1samp

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)


@pytest.fixture
def claims(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    from benchmarks import claims

    return claims


def row(design, values, n_true):
    spread = np.std(values, ddof=1)
    numbers = {"fdr": np.mean(values), "fdr_sd": spread, "repeats": len(values)}
    return {"design": design, "true": n_true, **numbers}


def test_rates_above_the_level_are_found_and_others_are_not(claims):
    rng = np.random.default_rng(0)
    values = {
        "null at the level": (np.arange(200) < 20).astype(float),
        "null at twice the level": (np.arange(200) < 40).astype(float),
        "planted below": rng.beta(0.2, 4, 100),
        "planted above": rng.beta(2, 6, 100),
    }
    rows = [row(name, some, int("planted" in name)) for name, some in values.items()]
    found = claims.above_level(rows)
    assert {name for name, p in found.items() if p < 0.01} == {
        "null at twice the level",
        "planted above",
    }
    pvalues = [
        ttest_1samp(some, 0.1, alternative="greater").pvalue
        if "planted" in name
        else binomtest(int(some.sum()), 200, 0.1, alternative="greater").pvalue
        for name, some in values.items()
    ]
    order = np.argsort(pvalues)
    holm = np.minimum(np.maximum.accumulate((4 - np.arange(4)) * np.sort(pvalues)), 1.0)
    np.testing.assert_allclose([found[list(values)[i]] for i in order], holm, rtol=1e-9)
    assert min(holm) <= min(false_discovery_control(pvalues, method="by"))


def test_of_many_true_levels_one_in_a_hundred_is_doubted(claims):
    rng = np.random.default_rng(1)
    doubted = 0
    for _ in range(40):
        rates = rng.binomial(100, 0.1, 20) / 100
        rows = [
            {"design": str(i), "true": 0, "repeats": 100, "fdr": rate, "fdr_sd": 0.3}
            for i, rate in enumerate(rates)
        ]
        doubted += min(claims.above_level(rows).values()) < 0.01
    assert doubted <= 2


def test_the_page_is_made_of_the_table(claims):
    import csv

    from benchmarks import claims_page

    with claims.TABLE.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert claims_page.PAGE.read_text(encoding="utf-8") == claims_page.page(rows)
    for name, table in claims_page.tables(rows).items():
        assert claims_page.file_of(name).read_text("utf-8") == claims_page.as_csv(table)
    own = [one for one in rows if one["method"] == "own"]
    assert {one["design"] for one in own} == set(claims.designs())
    assert min(int(one["repeats"]) for one in own) >= 100
    assert min(claims.above_level(own).values()) >= 0.01
    assert np.mean([float(one["fdr"]) for one in own]) < 0.1
