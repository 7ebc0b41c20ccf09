"""Verdicts on claims, checked against plain computations."""

import math
from collections import defaultdict
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sparsieve.datasets.load import PAPERS
from sparsieve_experiments.papers import find_preset, read_record
from sparsieve_experiments.papers.claims import (
    VERDICTS,
    Claim,
    Compared,
    Judged,
    Shows,
    in_words,
    what_would_settle,
)
from sparsieve_experiments.papers.declared import exhibit as declared_exhibit
from sparsieve_experiments.papers.judging import judge_all, trend
from sparsieve_experiments.papers.robust_l20.claims import NMAPG, falls
from sparsieve_experiments.report import reproduction_report
from sparsieve_experiments.studies.exhibits import Exhibit

NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")


def exhibit(name="Table 1", **methods):
    rows = [
        {"dataset": place, "method": method, "score": value}
        for method, values in methods.items()
        for place, value in zip(NAMES, values, strict=False)
    ]
    return Exhibit(name, "", rows)


def judged(compared, *exhibits):
    (found,) = judge_all([Claim("A wins", "Table 1", "6 of 8", "Table 1", compared)], exhibits)
    return found


def test_the_interval_is_that_of_a_paired_t_test():
    ours, theirs = [90.0, 80.0, 71.0, 66.0], [88.0, 79.0, 73.0, 60.0]
    found = judged(Compared("score", "A", ("B",)), exhibit(A=ours, B=theirs))
    whole = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    assert found.difference == pytest.approx(1.75)
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), rel=1e-3)
    assert (found.ahead, found.behind, found.data_sets) == (3, 1, 4)
    assert found.sign_test_p == pytest.approx(2 * (1 + 4) / 16)
    assert found.verdict == "cannot tell"


def test_the_best_of_several_is_judged_by_corrected_sign_tests():
    rng = np.random.default_rng(0)
    ours = rng.normal(80.0, 1.0, 8)
    # Far ahead on one set, a little behind on all others: no interval could tell.
    gaps = np.array([9.0, -0.1, -0.1, -0.1, -0.1, -0.1, -0.1, -0.1])
    rivals = {"B": ours - gaps, "C": ours - 5.0 + rng.normal(size=8)}
    found = judged(Compared("score", "A", ("B", "C")), exhibit(A=ours, **rivals))
    assert found.verdict == "cannot tell"
    assert found.sign_test_p == pytest.approx(2 * (1 + 8) / 256, rel=1e-2)  # Holm: C comes first
    rivals["B"] = ours + np.array([9.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    found = judged(Compared("score", "A", ("B", "C")), exhibit(A=ours, **rivals))
    assert (found.verdict, found.rival, found.behind) == ("did not hold", "B", 8)
    assert found.sign_test_p == pytest.approx(2 * 2 / 256, rel=1e-2)
    assert "corrected for 2 rivals" in found.because
    rivals["B"] = ours - 0.1
    found = judged(Compared("score", "A", ("B", "C")), exhibit(A=ours, **rivals))
    assert found.verdict == "held"
    # Of five sets no test can tell: the intervals judge.
    few = {name: values[:5] for name, values in rivals.items()}
    found = judged(Compared("score", "A", ("B", "C")), exhibit(A=ours[:5], **few))
    assert "corrected" not in found.because


def test_a_lead_within_its_error_is_no_verdict():
    rng = np.random.default_rng(0)
    theirs = rng.normal(80.0, 1.0, 6)
    ahead = theirs + 1.53 + 2.3 * math.sqrt(6) * stats.zscore(rng.normal(size=6), ddof=1)
    found = judged(Compared("score", "A", ("B",)), exhibit(A=ahead, B=theirs))
    assert found.difference == pytest.approx(1.53, abs=1e-3)
    assert found.verdict == "cannot tell"
    steady = judged(Compared("score", "A", ("B",)), exhibit(A=theirs + 1.53, B=theirs))
    assert steady.verdict == "held"


@pytest.mark.parametrize(
    ("better", "shift", "verdict"),
    [
        ("higher", 5.0, "held"),
        ("higher", -5.0, "did not hold"),
        ("lower", -5.0, "held"),
        ("lower", 5.0, "did not hold"),
        ("higher", 0.0, "equal"),  # the same everywhere is neither better nor worse
    ],
)
def test_the_direction_counts(better, shift, verdict):
    theirs = np.array([50.0, 60.0, 70.0])
    noise = 0.1 * np.array([1.0, -1.0, 0.0]) * (shift != 0)
    found = judged(
        Compared("score", "A", ("B",), better), exhibit(A=theirs + shift + noise, B=theirs)
    )
    assert found.verdict == verdict
    assert found.difference == pytest.approx(shift)
    assert found.low <= found.difference <= found.high


def test_the_rival_that_decides_is_shown_and_intervals_hold_together():
    base = np.array([50.0, 60.0, 70.0, 80.0])
    noise = np.array([1.0, -1.0, 0.5, -0.5])
    found = judged(
        Compared("score", "A"), exhibit(A=base, B=base - 9 + noise, C=base + 9 - noise, D=base - 20)
    )
    assert found.verdict == "did not hold"
    assert found.measured == "A 65, C 74"
    half = stats.t.isf(0.05 / 3 / 2, 3) * stats.sem(noise)
    assert (found.low, found.high) == pytest.approx((-9 - half, -9 + half), rel=1e-3)


def test_splits_and_settings_are_nested_in_data_sets():
    rows = [
        {"dataset": d, "method": m, "k": k, "score": s + 10 * k, "folds": 3}
        for d, m, s in (("a", "A", 70), ("a", "B", 69), ("b", "A", 60), ("b", "B", 57))
        for k in (1, 2)
    ]
    rows.append({"dataset": "c", "method": "A", "k": 1, "score": 99, "folds": 3})  # without B
    found = judged(
        Compared("score", "A", ("B",), settings=("k",), splits="folds"),
        Exhibit("Table 1", "", rows),
    )
    assert (found.data_sets, found.settings, found.splits) == (2, 2, "3")
    assert found.difference == 2.0
    whole = stats.ttest_rel([85.0, 75.0], [84.0, 72.0]).confidence_interval(0.95)
    assert found.high == pytest.approx(whole.high, rel=1e-3)


def test_ratios_are_compared_by_their_logarithms():
    seconds = {"A": [1.0, 2.0, 30.0], "B": [10.0, 20.0, 400.0]}
    found = judged(Compared("score", "A", ("B",), "lower", ratio=True), exhibit(**seconds))
    logs = np.log(seconds["A"]) - np.log(seconds["B"])
    assert found.difference == pytest.approx(math.exp(logs.mean()), rel=1e-3)
    assert found.verdict == "held"
    assert found.interval.endswith(" times")
    with_zero = {"A": [1.0, 2.0, 30.0, 0.0], "B": [10.0, 20.0, 400.0, 5.0]}
    zero = judged(Compared("score", "A", ("B",), "lower", ratio=True), exhibit(**with_zero))
    assert (zero.difference, zero.data_sets) == (found.difference, 3)


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.5, "held"), (9.0, "did not hold"), (2.0, "cannot tell")]
)
def test_no_difference_is_judged_by_the_whole_interval(shift, verdict):
    theirs = np.array([50.0, 60.0, 70.0, 80.0])
    ours = theirs + shift + 0.1 * np.array([1.0, -1.0, 1.0, -1.0])
    compared = Compared("score", "A", ("B",), same_within=2.0)
    found = judged(compared, exhibit(A=ours, B=theirs))
    assert found.verdict == verdict
    needed = max(map(abs, stats.ttest_rel(ours, theirs).confidence_interval(0.95)))
    assert found.because == f"holds within {needed:.3g} points"
    assert (needed < 2.0) == (verdict == "held")


def test_the_same_everywhere_is_within_a_tolerance_and_short_of_a_lead():
    same = exhibit(A=[50.0, 60.0], B=[50.0, 60.0])
    found = judged(Compared("score", "A", ("B",)), same)
    assert (found.verdict, found.because) == ("equal", "the same everywhere")
    assert judged(Compared("score", "A", ("B",), same_within=2.0), same).verdict == "held"
    assert judged(Compared("score", "A", ("B",), at_least=5.0), same).verdict == "did not hold"


@pytest.mark.parametrize(
    ("leads", "count", "ties", "won", "verdict"),
    [
        ([5, 5, 5, 5, 5, -1], "all", False, 5, "did not hold"),  # one counterexample is enough
        ([1, 1, 1, 1, 1, 1], "all", False, 6, "held"),
        ([1, 1, 1, 1, 1, 0], "all", False, 5, "did not hold"),
        ([1, 1, 1, 1, 1, 0], "all", True, 6, "held"),
        ([-90, 1, 1, 1, 1, 1], "4 of 5", False, 5, "held"),  # the mean is behind, the count is not
        ([1, 1, 1, 1, -1, -1], "4 of 5", False, 4, "cannot tell"),
        ([1, 1, -1, -1, -1, -1], "4 of 5", False, 2, "did not hold"),
    ],
)
def test_a_claim_of_a_count_is_judged_by_the_count(leads, count, ties, won, verdict):
    base = np.full(6, 50.0)
    table = exhibit(A=base + leads, B=base, C=base - 100)
    found = judged(Compared("score", "A", count=count, ties=ties), table)
    assert found.verdict == verdict
    assert f"on {won} of 6 data sets" in found.counted
    if count == "4 of 5":  # the probability of so few, added up by hand
        p = sum(math.comb(6, i) * 0.8**i * 0.2 ** (6 - i) for i in range(won + 1))
        assert f"(p = {p:.2g} if it were on 4 of 5)" in found.counted
        assert (p < 0.05) == (verdict == "did not hold")
    assert found.counted in found.over


def test_a_count_may_be_of_cells_and_must_be_one():
    rows = [
        {"dataset": d, "method": m, "kind": kind, "score": score}
        for d in "ab"
        for kind, scores in (("x", (3, 1)), ("y", (1, 2)))
        for m, score in zip("AB", scores, strict=True)
    ]
    how = Compared("score", "A", ("B",), settings=("kind",), count="3 of 4", each_setting=True)
    assert judged(how, Exhibit("Table 1", "", rows)).counted.startswith("ahead on 2 of 4 cells")
    with pytest.raises(ValueError, match="count must be all or like '9 of 11'"):
        Compared("score", "A", count="most")


def test_a_range_needs_two_values():
    rows = [
        {"dataset": d, "method": m, "k": k, "score": s * k}
        for d, ks in (("a", (1, 2)), ("b", (1,)), ("c", (1, 3)))
        for m, s in (("A", 1.0), ("B", 2.0))
        for k in ks
    ]
    how = Compared("score", "A", ("B",), "lower", over="k", change="range")
    found = judged(how, Exhibit("Table 1", "", rows))
    assert (found.data_sets, found.difference) == (2, -1.5)


def test_data_sets_measured_less_thoroughly_are_left_out_and_named():
    table = exhibit(A=[5.0, 6.1, 7.0, 0.0], B=[1.0, 2.0, 3.0, 90.0])
    claim = Claim("A wins", "Table 1", "", "Table 1", Compared("score", "A", ("B",)))
    (found,) = judge_all([claim], [table], {"Table 1": ("d",)})
    assert (found.verdict, found.data_sets) == ("held", 3)
    assert found.because == "without d, which has fewer splits"


def test_so_many_data_sets_would_settle_it():
    theirs = np.array([50.0, 60.0, 70.0, 80.0])
    leads = np.array([3.0, -1.0, 2.0, 0.0])
    found = judged(Compared("score", "A", ("B",)), exhibit(A=theirs + leads, B=theirs))
    spread = np.std(leads, ddof=1)
    width = {n: stats.t.isf(0.025, n - 1) * spread / math.sqrt(n) for n in range(2, 101)}
    assert found.sets_needed == min(n for n in width if width[n] < leads.mean())
    never = judged(Compared("score", "A", ("B",)), exhibit(A=[51, 59, 70.01], B=[50, 60, 70]))
    assert never.sets_needed == 101
    held = judged(Compared("score", "A", ("B",)), exhibit(A=theirs + 5 + 0.01 * leads, B=theirs))
    assert (held.verdict, held.sets_needed) == ("held", None)
    single = judged(Compared("score", "A", ("B",)), exhibit(A=[1.0], B=[2.0]))
    said = what_would_settle([found, never, held, single])
    assert said.startswith(f"3 claims cannot be told: 1 needs more data sets ({found.sets_needed})")
    assert "1 has one data set only" in said
    assert said.endswith("could settle it: A wins.")
    assert what_would_settle([held]) == ""
    absent = Judged("B wins", "Table 2", "", because="Table 2 was not computed")
    assert what_would_settle([absent]) == "1 claim cannot be told: 1 has no numbers here."


def test_only_rows_with_the_values_asked_for_are_compared():
    rows = [
        {"dataset": d, "method": m, "k": k, "score": 10 * k + (m == "A") * k}
        for d in "ab"
        for m in "AB"
        for k in (1, 2, 3)
    ]
    table = Exhibit("Table 1", "", rows)
    assert judged(Compared("score", "A", ("B",), where={"k": 3}), table).difference == 3
    several = Compared("score", "A", ("B",), where={"k": (1, 2)}, settings=("k",))
    assert judged(several, table).difference == 1.5


def test_a_claim_of_a_lead_is_judged_by_that_lead():
    theirs = np.array([50.0, 60.0, 70.0, 80.0])
    ours = theirs + 3 + 0.1 * np.array([1.0, -1.0, 1.0, -1.0])
    assert judged(Compared("score", "A", ("B",)), exhibit(A=ours, B=theirs)).verdict == "held"
    by_five = Compared("score", "A", ("B",), at_least=5.0)
    assert judged(by_five, exhibit(A=ours, B=theirs)).verdict == "did not hold"


def test_one_data_set_has_no_interval_and_no_verdict():
    found = judged(Compared("score", "A", ("B",)), exhibit(A=[90.0], B=[10.0]))
    assert (found.low, found.high, found.verdict) == (None, None, "cannot tell")
    assert "only a can be compared" in found.because


def test_guessing_is_not_missed_for_rounding():
    sets = Exhibit("Data sets", "", [{"dataset": "a", "largest_class_percent": 65.5172}])
    table = exhibit(A=[65.52, 90.0, 80.0], B=[62.07, 80.0, 81.0])
    found = judged(Compared("score", "A", ("B",), accuracy=True), table, sets)
    assert found.because == "a: no better than guessing"
    better = exhibit(A=[65.53, 90.0, 80.0], B=[62.07, 80.0, 81.0])
    assert judged(Compared("score", "A", ("B",), accuracy=True), better, sets).because == ""


def test_what_cannot_be_compared_says_why():
    table = exhibit(A=[1.0], B=[2.0])
    found = judged("the solvers differ", table)
    assert (found.verdict, found.because) == ("not comparable", "the solvers differ")
    assert found.shown["ours"] == "because the solvers differ"
    missing = judged(Compared("score", "A", ("B",)))
    assert (missing.verdict, missing.because) == ("cannot tell", "Table 1 was not computed")
    assert judged(Compared("score", "A", ("Z",)), table).verdict == "cannot tell"
    assert judged(Shows(lambda e: (False, "3 rises")), table).verdict == "not shown"
    assert judged(Shows(lambda e: (True, "no rise")), table).measured == "no rise"


def test_no_claim_compares_a_method_with_itself():
    with pytest.raises(ValueError, match="compares A with itself"):
        Compared("score", "A", ("B", "A"))
    with pytest.raises(ValueError, match="better must be"):
        Compared("score", "A", better="more")


def test_a_trend_is_that_of_every_line():
    rows = [
        {"x": x, "y": y, "line": n}
        for n, ys in ((1, (5, 9, 7)), (2, (4, 1, 3)))
        for x, y in enumerate(ys)
    ]
    lines = Exhibit("F", "", rows)
    assert trend(lines, "x", "y", rises=True, line="line")[0] is False
    assert trend(Exhibit("F", "", rows[:3]), "x", "y", rises=True)[0] is True
    assert "1 of 2 lines" in trend(lines, "x", "y", rises=False, line="line")[1]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_recorded_claim_has_a_verdict_and_every_difference_an_interval(paper):
    record = read_record(paper).reproduction
    names = {exhibit.name for exhibit in record.exhibits}
    found = record.claims
    assert len(found) >= 10
    for claim, one in zip(find_preset(paper).claims("standard"), found, strict=True):
        assert claim.exhibit in names
        assert one.verdict in VERDICTS
        assert all((one.claim, one.printed_in, one.reported))
        if one.verdict in ("held", "did not hold", "equal"):
            assert one.low <= one.difference <= one.high
            assert one.data_sets > 1
            assert one.sign_test_p is not None
        if one.verdict == "not comparable":
            assert one.because
        if one.verdict in ("shown", "not shown"):
            assert one.measured
    assert {field.name for field in fields(Judged)} == set(found[0].as_row)


def test_the_claims_of_the_issue_are_there():
    """Counts that can be read off the recorded tables."""
    mpm = {c.claim: c for c in read_record("l0-mpm").reproduction.claims}
    rows = read_record("l0-mpm").reproduction.exhibits
    table = next(e for e in rows if e.name == "Table 3").rows
    mcc = {(r["dataset"], r["method"]): r["mcc"] for r in table}
    for share in (0.8, 0.95):
        ours = f"L0-MPM, {share} of the best level"
        sets = {d for d, _ in mcc}
        wins = sum(mcc[d, ours] > mcc[d, "MPM"] for d in sets)
        claim = mpm[f"L0-MPM beats MPM in MCC, {share} of best"]
        assert claim.ahead == wins
        assert claim.counted.startswith(f"ahead on {wins} of {len(sets)} data sets")
    steps = next(e for e in rows if e.name == "Tables 5, 6 and 7").rows
    taken = {(r["dataset"], r["method"]): r["iterations"] for r in steps}
    # The printed steps: those of ours are 12.1.
    assert taken["Sonar", "L0-MPM, 0.8 of the best level"] == 18.4
    assert mpm["L0-MPM needs fewer iterations than S-MPM"].won == 0


@pytest.mark.parametrize("paper", PAPERS)
def test_the_guide_says_what_the_record_says(paper):
    record = read_record(paper).reproduction
    page = Path(__file__).parents[3] / "docs" / "guides" / "reproducing.md"
    guide = " ".join(page.read_text("utf-8").split())
    assert f"(`sparsieve reproduce {paper} --recorded`): {record.headline}" in guide
    assert record.headline.endswith(".")
    assert reproduction_report(record).headline == record.headline


@pytest.mark.parametrize("paper", PAPERS)
def test_a_headline_of_some_experiments_counts_their_verdicts(paper):
    record = read_record(paper).reproduction
    some = replace(record, exhibits=record.exhibits[-1:])
    assert some.headline == in_words(some.claims)


def test_headlines_are_counted_from_the_recorded_rows():
    """Three of the five once more, by plain counting."""
    exhibits = {
        paper: {e.name: e.rows for e in read_record(paper).reproduction.exhibits}
        for paper in ("exclusive-l21", "l0-mkl", "l0-mpm")
    }
    curves = defaultdict(list)
    for row in exhibits["exclusive-l21"]["Figure 2"]:
        curves[row["dataset"], row["method"]].append(row["accuracy_majority_percent"])
    means = {place: np.mean(values) for place, values in curves.items()}
    sets = {dataset for dataset, _ in means}
    ours = "exclusive l2,1 (beta = alpha)"
    others = {m for _, m in means} - {ours, "exclusive l2,1 (beta = 10 alpha)"}
    best = sum(all(means[d, ours] > means[d, m] for m in others) for d in sets)
    behind = sum(means[d, ours] <= means[d, "l2,1"] for d in sets)
    said = read_record("exclusive-l21").reproduction.headline
    assert f"on {best or 'none'} of {len(sets)} data sets, not on all" in said
    assert f"l2,1 is as good or better on {behind}." in said

    table = {(r["dataset"], r["method"]): r for r in exhibits["l0-mkl"]["Table 4"]}
    sets = {dataset for dataset, _ in table}
    methods = {method for _, method in table}
    best = sum(
        table[d, "l0-MKL"]["accuracy"] >= max(table[d, m]["accuracy"] for m in methods)
        for d in sets
    )
    fewer = sum(table[d, "l0-MKL"]["n_features"] < table[d, "MIK-FS"]["n_features"] for d in sets)
    said = read_record("l0-mkl").reproduction.headline
    assert f"best or equal on {best} of {len(sets)} data sets" in said
    few = ", all on one split" if {row["splits"] for row in table.values()} == {1} else ""
    assert f"than MIK-FS on {fewer} of {len(sets)}{few};" in said

    mcc = {(r["dataset"], r["method"]): r["mcc"] for r in exhibits["l0-mpm"]["Table 3"]}
    ours, theirs = (f"{name}-MPM, 0.95 of the best level" for name in ("L0", "L1"))
    sets = {dataset for dataset, _ in mcc}
    better = sum(mcc[d, ours] > mcc[d, theirs] for d in sets)
    said = read_record("l0-mpm").reproduction.headline
    assert f"better than it on {better} of {len(sets)} (" in said


@pytest.mark.parametrize("paper", PAPERS)
def test_titles_notes_and_pictures_of_a_record_are_those_declared(paper):
    package = f"sparsieve_experiments.papers.{paper.replace('-', '_')}"
    for one in read_record(paper).reproduction.exhibits:
        if one.name == "Data sets":
            assert {"n_samples", "published_n_samples", "remark"} <= set(one.columns)
            continue
        told = declared_exhibit(package, one.name, one.rows)
        assert (one.title, one.note) == (told.title, told.note)
        assert list(one.drawings) == list(told.drawings)


def test_a_figure_that_is_not_declared_is_named():
    with pytest.raises(LookupError, match="declares no exhibit 'Figure 99'"):
        declared_exhibit("sparsieve_experiments.papers.l20", "Figure 99", [])


def test_only_curves_over_many_k_are_called_steady():
    rhos = [method.label for method in NMAPG]
    waves = ("B", rhos[1])
    rows = [
        {**place, "k": k, "accuracy_percent": 80.0 + k - 3 * (k % 2) * (place["method"] in waves)}
        for d, n in (("a", 12), ("b", 5))
        for m in ("A", "B", *rhos)
        for place in [{"dataset": d, "method": m, "splits": 50}]
        for k in range(1, n + 1)
    ]
    found = {(row["dataset"], row["method"]): row["fall"] for row in falls(Exhibit("", "", rows))}
    fall = 5 * 2 / 11
    assert found == pytest.approx({("a", "A"): 0.0, ("a", "B"): fall, ("a", "nmAPG"): fall / 2})


def test_kinds_of_methods_and_changes_over_a_column_are_compared():
    rows = [
        {"dataset": d, "method": m, "k": k, "score": base + k * slope + shift}
        for d, shift in (("a", 0.0), ("b", 1.0))
        for m, base, slope in (("A", 10.0, 1.0), ("B", 20.0, 2.0), ("C", 12.0, 5.0))
        for k in (1, 2, 4)
    ]
    table = Exhibit("Table 1", "", rows)
    kinds = Compared("score", "AB", ("C",), settings=("k",), kinds={"AB": ("A", "B"), "C": ("C",)})
    means = {k: np.mean([10 + k, 20 + 2 * k]) - (12 + 5 * k) for k in (1, 2, 4)}
    assert judged(kinds, table).difference == pytest.approx(np.mean(list(means.values())), abs=1e-3)
    spread = judged(Compared("score", "A", ("C",), "lower", over="k"), table)
    assert spread.difference == pytest.approx(-4 * np.std([1, 2, 4]), abs=1e-3)
    span = judged(Compared("score", "A", ("C",), "lower", over="k", change="range"), table)
    assert span.difference == pytest.approx(3 - 15)
    with pytest.raises(ValueError, match="change must be one of"):
        Compared("score", "A", change="slope")
