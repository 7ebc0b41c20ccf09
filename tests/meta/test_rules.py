"""What is said of a curve over the number of features holds for the scores it was made of."""

import re
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsieve.meta.rules import RULES, CountCurve, best, choices, describe, elbow, one_se, shown
from sparsieve.scoring import split_difference

SHARE = 0.25


@st.composite
def tables(draw, fewest_splits=1):
    """Fold scores of any shape: rising, saturated, falling, flat, noisy, ties, errors, one fold."""
    n_ks, n_splits = draw(st.integers(1, 12)), draw(st.integers(fewest_splits, 20))
    steps = draw(st.lists(st.integers(1, 30), min_size=n_ks, max_size=n_ks))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = np.linspace(0.0, 1.0, n_ks)
    shape = {
        "rising": x,
        "saturated": np.minimum(2.0 * x, 1.0),
        "falling": -x,
        "hill": -((x - 0.4) ** 2),
        "flat": 0.0 * x,
    }[draw(st.sampled_from(["rising", "saturated", "falling", "hill", "flat"]))]
    noise = random.standard_normal((n_ks, n_splits)) * draw(st.sampled_from([0.0, 0.01, 0.1, 1.0]))
    scores = shape[:, None] + random.standard_normal(n_splits) * 0.1 + noise
    kind = draw(st.sampled_from(["accuracy", "r2", "errors", "tiny", "huge"]))
    if kind == "accuracy":  # of few samples: shares with many ties
        per_fold = draw(st.integers(1, 12))
        scores = np.clip(np.round(per_fold * (0.7 + 0.3 * scores)) / per_fold, 0.0, 1.0)
    scores = {"r2": scores - 1.5, "errors": -30.0 * np.exp(-scores)}.get(kind, scores)
    scores = scores * {"tiny": 1e-7, "huge": 1e9}.get(kind, 1.0)
    return CountCurve(np.cumsum(steps), scores, draw(st.sampled_from([SHARE, 1.0, 1 / 9])))


def words_of(curve):
    return describe(curve, choices(curve))


def numbers_in(text):
    """(number of features, score as printed) wherever the text gives both."""
    pairs = re.findall(r"([\d,]+) \((-?[\d.]+(?:e[+-]?\d+)?)\)", text)
    [top] = re.findall(r"highest with ([\d,]+) features?: (\S+?)(?: \(standard|;)", text)
    return [(int(k.replace(",", "")), score) for k, score in [*pairs, top]]


@given(tables())
def test_what_is_printed_as_a_mean_is_the_mean_over_the_folds(curve):
    found = numbers_in(words_of(curve))
    assert len(found) >= 4
    for k, printed in found:
        scores = curve.scores[list(curve.ks).index(k)]
        assert printed == shown(curve, np.mean(scores))
        digits = len(printed.partition("e")[0].partition(".")[2])
        unit = 10.0 ** (int(printed.partition("e")[2] or 0) - digits)
        assert float(printed) == pytest.approx(np.mean(scores), abs=0.5001 * unit)
        assert scores.min() - unit <= float(printed) <= scores.max() + unit


@given(tables(fewest_splits=2))
def test_as_good_is_within_one_standard_error_of_the_paired_differences(curve):
    """By plain loops, and by the test that compares methods: nothing in the range is lower."""
    first, last = curve.plateau
    text = words_of(curve)
    if first < last:
        assert f"any number from {curve.ks[first]:,} (" in text
        assert f"to {curve.ks[last]:,} (" in text
    else:
        assert "no other number that was tried is as good" in text
    top = curve.scores[curve.top].tolist()
    assert np.mean(top) == pytest.approx(max(map(np.mean, curve.scores)), rel=1e-9)
    for row in curve.scores[first : last + 1].tolist():
        differences = [a - b for a, b in zip(top, row, strict=True)]
        error = statistics.stdev(differences) * (1 / len(top) + curve.test_share) ** 0.5
        size = np.abs(curve.scores).max()
        assert statistics.fmean(differences) <= error + 1e-9 * size
        scaled = np.array([top, row]) / (size or 1.0)
        assert split_difference(*scaled, curve.test_share).p_value > 0.05


@given(tables())
def test_rules_choose_among_what_is_as_good(curve):
    first, last = curve.plateau
    assert first <= curve.top <= last
    assert one_se(curve) == first
    assert first <= best(curve) <= last
    assert 0 <= elbow(curve) <= curve.top
    if curve.scores.shape[1] == 1:  # nothing is known of chance: only equals are as good
        top = np.broadcast_to(curve.scores[curve.top], (last + 1 - first, 1))
        np.testing.assert_allclose(curve.scores[first : last + 1], top)


@given(tables(), st.sampled_from([1e-3, 1.0, 50.0]), st.sampled_from([-7.0, 0.0, 3.0]))
def test_units_and_order_of_the_folds_do_not_matter(curve, factor, shift):
    size = np.abs(curve.scores).max()
    scores = factor * (curve.scores + shift * size)[:, ::-1]
    other = CountCurve(curve.ks, np.round(scores, 9 - int(np.log10(size * factor + 1e-30))))
    same = CountCurve(curve.ks, np.round(curve.scores, 9 - int(np.log10(size + 1e-30))))
    assert choices(other) == choices(same)


@given(
    st.integers(0, 9),
    st.integers(1, 12),
    st.floats(0.5, 1.0),
    st.integers(1, 20),
    st.integers(0, 2**32 - 1),
)
def test_of_a_saturated_curve_the_fewest_features_win(before, flat, level, n_splits, seed):
    """Counts that score the same on every fold bring nothing: neither rule goes to their end."""
    random = np.random.default_rng(seed)
    top = np.full((1, n_splits), level) - 0.1 * random.random(n_splits)
    rising = top - np.linspace(0.5, 0.1, before)[:, None]
    scores = np.vstack([rising, np.repeat(top, flat, axis=0)])
    curve = CountCurve(np.cumsum(random.integers(1, 10, before + flat)), scores)
    assert one_se(curve) == best(curve) == before
    assert curve.plateau == (before, before + flat - 1)
    if flat > 1:
        assert "with the same score on every fold" in words_of(curve)


def test_a_nearly_saturated_curve_does_not_lead_to_its_far_end():
    """One sample wrong now and then among many numbers that classify everything."""
    ks = np.unique(np.geomspace(1, 100, 20).round().astype(int))
    random = np.random.default_rng(0)
    for _ in range(50):
        scores = np.minimum(0.5 + 0.5 * np.log(ks) / np.log(20), 1.0)[:, None].repeat(20, axis=1)
        flat = np.flatnonzero(ks >= 20)
        scores[random.choice(flat, 3), random.integers(0, 20, 3)] -= 1 / 30
        curve = CountCurve(ks, scores)
        assert 20 <= ks[one_se(curve)] <= 30
        assert 20 <= ks[best(curve)] <= 78


def test_a_curve_worked_out_by_hand():
    ks = np.array([1, 10, 100, 1000])
    scores = np.array([[0.5, 0.5, 0.5], [0.85, 0.88, 0.89], [0.88, 0.9, 0.86], [0.9, 0.86, 0.91]])
    curve = CountCurve(ks, scores, SHARE)
    # Differences to the top: .05 -.02 .02 with deviation .0351, and .02 -.04 .05 with .0458.
    root = np.sqrt(1 / 3 + 1 / 4)
    np.testing.assert_allclose(curve.behind, [0.39, 0.05 / 3, 0.01, 0.0])
    deviations = [np.std(scores[3] - row, ddof=1) for row in scores]
    np.testing.assert_allclose(curve.errors, root * np.array(deviations))
    assert curve.plateau == (1, 3)
    assert choices(curve) == {"best": 3, "one_se": 1, "elbow": 1}
    assert words_of(curve) == (
        "The mean score over 3 folds is highest with 1,000 features: 0.890 (standard error 0.020); "
        "any number from 10 (0.873) to 1,000 (0.890) features is as good, within one standard "
        "error of the paired differences. Number of features by rule: best 1,000 (0.890), one_se "
        "10 (0.873), elbow 10 (0.873)."
    )


def test_fewer_features_give_away_no_more_than_an_eighth_of_the_rise():
    """However noisy the folds are. More features are as good by their standard error alone."""
    noise = 0.3 * np.random.default_rng(0).standard_normal((5, 20))
    noise -= noise.mean(axis=1, keepdims=True)
    means = np.array([0.5, 0.8, 0.87, 0.89, 0.9])
    curve = CountCurve(np.array([1, 3, 9, 27, 81]), means[:, None] + noise)
    assert (curve.errors[:-1] > 0.05).all()
    assert curve.plateau == (2, 4)
    falling = CountCurve(curve.ks, curve.scores[::-1])
    assert (falling.top, *falling.plateau) == (0, 0, np.argmax(falling.behind > falling.errors) - 1)
    assert falling.plateau[1] > 2


def test_more_features_count_where_they_may_gain_something():
    """Noise of a standard error of 0.01 leaves room for 1 % of a rise of 0.4, of 0.001 does not."""
    ks = np.array([1, 10, 20, 40, 80])
    random = np.random.default_rng(0)
    for size, kept in ((0.02, 80), (0.002, 10)):
        noise = random.standard_normal((5, 20))
        noise = size * (noise - noise.mean(axis=1, keepdims=True)) / noise.std(axis=1)[:, None]
        curve = CountCurve(ks, np.array([0.5, 0.9, 0.9, 0.9, 0.9])[:, None] + noise)
        assert curve.plateau == (1, 4)
        assert ks[best(curve)] == kept
        assert ks[one_se(curve)] == 10


def test_standard_errors_allow_for_shared_training_samples(rng):
    scores = rng.random((3, 20))
    curve = CountCurve(np.array([1, 10, 100]), scores, test_share=0.25)
    by_hand = scores.std(axis=1, ddof=1) * np.sqrt(1 / 20 + 0.25)
    np.testing.assert_allclose(curve.standard_errors, by_hand)
    assert curve.errors[curve.top] == 0.0


def test_elbow_on_a_curve_worked_out_by_hand():
    ks = np.array([1, 2, 3, 5, 10])
    means = np.array([0.5, 0.8, 0.88, 0.9, 0.9])
    scores = means[:, None] + np.array([-0.03, 0.0, 0.03])
    # Above the line from (1, 0.5) to (5, 0.9): 0.2 at 2 and 0.18 at 3.
    assert ks[elbow(CountCurve(ks, scores))] == 2
    assert elbow(CountCurve(ks, np.full((5, 3), 0.7))) == 0


def test_where_nothing_beats_a_guess_best_keeps_no_more_than_one_se():
    noise = np.random.default_rng(0).normal(0.5, 0.1, (8, 20))
    curve = CountCurve(2 ** np.arange(8), noise)
    chosen = choices(curve, beats_guess=False)
    assert chosen["best"] == chosen["one_se"]
    assert choices(curve, beats_guess=True)["best"] > chosen["best"]
    assert describe(curve, chosen, "A warning.").startswith("A warning. The mean score over 20")


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_refused(odd):
    scores = np.full((3, 4), 0.5)
    scores[1, 2] = odd
    with pytest.raises(ValueError, match="NaN or infinite; use fewer folds"):
        CountCurve(np.array([1, 2, 3]), scores)


def test_the_command_line_knows_the_rules():
    from sparsieve.cli.options import Rule

    assert [rule.value for rule in Rule] == list(RULES)
