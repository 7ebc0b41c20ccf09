import pytest

from sparsieve_experiments.papers.base import Bench
from sparsieve_experiments.papers.verdicts import Verdict, chance_levels, fall, verdict_of

ACCURACY = {
    "Brain": {"ours": 90.0, "theirs": 80.0, "third": 70.0},
    "Leukemia": {"ours": 100.0, "theirs": 100.0, "third": 97.0},
    "CNS": {"ours": 60.0, "theirs": 65.0, "third": 65.0},
    "Lung": {"ours": 96.0, "theirs": 95.0, "third": 99.0},
    "NCI": {"ours": 71.0, "theirs": 70.0, "third": 66.0},
}


def test_a_verdict_says_against_whom_how_often_and_what_is_a_tie():
    chance = {"Brain": 24.0, "Leukemia": 65.0, "CNS": 65.0, "Lung": 69.0, "NCI": 15.0}
    verdict = Verdict("ours", ["theirs", "third"], "accuracy", ACCURACY, splits=10, chance=chance)
    assert verdict.wins == ["Brain", "Leukemia", "NCI"]
    assert verdict.ties == ["Leukemia"]
    text = str(verdict)
    assert text.startswith("ours against theirs and third: its accuracy is the highest")
    assert "on 3 of 5 sets, one of them tied at 100 % (Leukemia)" in text
    assert "means of 10 splits" in text
    assert "guessing the largest class gives 15 to 69 %, and no method more on CNS" in text


def test_lower_may_be_better():
    kept = {"a": {"l0": 3.0, "l1": 9.0}, "b": {"l0": 9.0, "l1": 9.0}, "c": {"l0": 5.0, "l1": 4.0}}
    verdict = Verdict("l0", ["l1"], "number of features", kept, better="lower", unit=" features")
    assert "at least as low on 2 of 3 sets, one of them tied at 9 features (b)" in str(verdict)


def test_no_verdict_compares_a_method_with_itself():
    with pytest.raises(ValueError, match="compares ours with itself"):
        Verdict("ours", ["theirs", "ours"], "accuracy", ACCURACY)
    # With theta = 1 and d_max = 1 the capped l1 surrogate is the l1 norm.
    same = {"ours": {"penalty": "l1", "C": 1.0}, "theirs": {"C": 1.0, "penalty": "l1"}}
    with pytest.raises(ValueError, match="with itself: theirs ran the same"):
        Verdict("ours", ["theirs"], "accuracy", ACCURACY, ran=same)
    same["ours"] = {"penalty": "capped l1", "C": 1.0}
    assert "ours against theirs" in str(Verdict("ours", ["theirs"], "accuracy", ACCURACY, ran=same))
    with pytest.raises(ValueError, match="needs a method to compare it with"):
        Verdict("ours", [], "accuracy", ACCURACY)


def test_what_is_missing_neither_wins_nor_loses():
    rows = [
        {"dataset": name, "method": method, "k": k, "accuracy": value}
        for name, k, method, value in (
            ("a", 5, "x", 80.0),
            ("a", 5, "y", 70.0),
            ("a", 9, "x", 80.0),
            ("a", 9, "y", None),
            ("b", 5, "x", 80.0),
            ("b", 5, "y", 80.0),
            ("b", 9, "y", 1.0),
        )
    ]
    verdict = verdict_of(
        rows, "accuracy", "x", by=("dataset", "k"), cases="pairs of set and K", splits=1
    )
    text = str(verdict)
    assert "in 2 of 2 pairs of set and K, one of them tied at 80 % (b at 5)" in text
    assert "one split" in text
    assert "2 without numbers of all methods left out" in text
    nothing = verdict_of(rows, "accuracy", "x", ["z"])
    assert "nothing to compare" in str(nothing)


def test_only_what_falls_without_bound_is_said_to():
    assert fall([5.0, -1e3, -1e30], definite=False) == "falls without bound"
    assert fall([5.0, -4e6], definite=False) == "indefinite"  # not beyond the scale of its start
    assert fall([5.0, float("nan")], definite=False) == "falls without bound"
    assert fall([5.0, 3.0], definite=False) == "indefinite"
    assert fall([5.0, 3.0], definite=True) == "bounded"
    assert fall([], definite=False) == "indefinite"


def test_the_chance_level_is_the_largest_class(tmp_path):
    bench = Bench("l20", tmp_path / "store.sqlite")
    levels = chance_levels(bench, {"Wine": "wine", "Cancer": "breast_cancer"})
    assert levels == {
        "Wine": pytest.approx(100 * 71 / 178),
        "Cancer": pytest.approx(100 * 357 / 569),
    }
