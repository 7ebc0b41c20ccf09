"""What is said of a curve over the number of features holds for the scores it was made of."""

import re
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsieve.meta.rules import (
    RULES,
    CountCurve,
    Kept,
    as_well,
    best,
    choices,
    describe,
    elbow,
    fewest,
    format_score,
    in_force,
    median,
    not_the_median,
    one_se,
)
from sparsieve.scoring import split_difference
from sparsieve.scoring.folds import fold_repeats, make_folds
from sparsieve.scoring.scorers import resolve_scores

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
    share = draw(st.sampled_from([SHARE, 1.0, 1 / 9]))
    repeats = draw(st.sampled_from([None, np.arange(n_splits) // 5, np.zeros(n_splits, int)]))
    return CountCurve(np.cumsum(steps), scores, share, repeats=repeats)


def words_of(curve, rule="fewest", warning=""):
    index = choices(curve)[rule]
    mean, error = float(curve.means[index]), float(curve.standard_errors[index])
    return describe(curve, Kept(index, rule, mean, error, "ridge model"), warning)


def numbers_in(curve, text):
    """(number of features, score as printed): what is kept, and the best number."""
    [kept] = re.findall(r"Kept: ([\d,]+) features?, ", text)
    [scores] = re.findall(r"score (\S+(?: and \S+)?) over \d+ fold", text)
    first, _, second = scores.partition(" and ")
    return [(int(kept.replace(",", "")), first), (curve.ks[curve.top], second or first)]


@given(tables(), st.sampled_from(list(RULES)))
def test_what_is_printed_as_a_mean_is_the_mean_over_the_folds(curve, rule):
    for k, printed in numbers_in(curve, words_of(curve, rule)):
        scores = curve.scores[list(curve.ks).index(k)]
        assert printed == format_score(curve, np.mean(scores))
        digits = len(printed.partition("e")[0].partition(".")[2])
        unit = 10.0 ** (int(printed.partition("e")[2] or 0) - digits)
        assert float(printed) == pytest.approx(np.mean(scores), abs=0.5001 * unit)
        assert scores.min() - unit <= float(printed) <= scores.max() + unit


@given(tables(fewest_splits=2), st.sampled_from([None, 0.01, 0.2, 0.21, 1.0]))
def test_as_good_is_within_one_standard_error_of_the_paired_differences(curve, p_value):
    """By plain loops, and by the test that compares methods: neither end is significantly lower."""
    curve = replace(curve, p_value=p_value)
    share = curve.test_share if p_value is not None and p_value > 0.2 else 0.0
    first, last = curve.plateau
    top = curve.scores[curve.top].tolist()
    assert np.mean(top) == pytest.approx(max(map(np.mean, curve.scores)), rel=1e-9)
    size, as_good = np.abs(curve.scores).max(), []
    for index, row in enumerate(curve.scores.tolist()):
        differences = [a - b for a, b in zip(top, row, strict=True)]
        error = statistics.stdev(differences) * (1 / len(top) + share) ** 0.5
        if statistics.fmean(differences) <= error + 1e-9 * size:
            as_good.append(index)
    assert (first, last) == (as_good[0], as_good[-1])
    for end in (first, last):
        scaled = np.array([top, curve.scores[end]]) / (size or 1.0)
        assert split_difference(*scaled, curve.test_share).p_value > 0.05


@given(tables())
def test_rules_choose_among_what_is_as_good(curve):
    first, last = curve.plateau
    assert first <= curve.top <= last
    assert one_se(curve) == first
    assert best(curve) == curve.top
    assert np.mean(curve.scores[best(curve)]) == pytest.approx(np.max(curve.means), rel=1e-9)
    assert 0 <= elbow(curve) <= curve.top
    if curve.scores.shape[1] == 1:  # nothing is known of chance: only equals are as good
        top = np.broadcast_to(curve.scores[curve.top], (2, 1))
        np.testing.assert_allclose(curve.scores[[first, last]], top)


@given(tables(), st.sampled_from([None, 0.01, 0.2, 0.21]))
def test_the_median_is_that_of_the_best_numbers_of_the_repeats(curve, p_value):
    """By plain loops: in half of the repeats no more features score higher, but not with fewer."""
    curve = replace(curve, p_value=p_value)
    names = [] if curve.repeats is None else sorted(set(curve.repeats.tolist()))
    if len(names) < 2 or p_value == 0.21:
        assert median(curve) == one_se(curve)
        return
    size, highest = 1e-9 * np.abs(curve.scores).max(), []
    for name in names:
        means = [np.mean(row[curve.repeats == name]) for row in curve.scores]
        highest.append(next(i for i, mean in enumerate(means) if mean >= max(means) - size))
    kept = median(curve)
    assert 2 * sum(index < kept for index in highest) < len(names)
    assert kept <= curve.top
    if kept < curve.top:
        assert 2 * sum(index <= kept for index in highest) >= len(names)


def test_where_another_rule_stands_in_for_the_median_that_is_said():
    scores = np.array([[0.6, 0.6, 0.6, 0.6], [0.8, 0.8, 0.7, 0.6], [0.7, 0.7, 0.71, 0.95]])
    curve = CountCurve(np.array([1, 5, 50]), scores, repeats=np.arange(4))
    assert not_the_median(curve) == not_the_median(replace(curve, p_value=0.2)) == ""
    assert in_force(curve, "median") == "median"
    once = replace(curve, repeats=None)
    assert not_the_median(once) == " The folds were drawn once, so 'median' is 'one_se'."
    assert in_force(once, "median") == "one_se"
    noise, guessed = replace(curve, p_value=0.21), replace(curve, guess=0.8, p_value=0.06)
    for one in (noise, guessed):
        assert not_the_median(one).startswith(" Little or nothing speaks for better predictions")
        assert [in_force(one, rule) for rule in ("best", "elbow")] == ["best", "elbow"]
    assert (in_force(noise, "median"), in_force(guessed, "median")) == ("one_se", "none")


def test_a_repeat_begins_where_a_sample_is_held_out_once_more(rng):
    y = np.arange(12) % 2
    folds = [fold for seed in range(3) for fold in make_folds(y, 4, seed=seed)]
    np.testing.assert_array_equal(fold_repeats(folds, 12), np.repeat([0, 1, 2], 4))
    masks = [tuple(np.isin(np.arange(12), part) for part in fold) for fold in folds]
    np.testing.assert_array_equal(fold_repeats(masks, 12), fold_repeats(folds, 12))
    shuffled = [np.split(rng.permutation(12), [9]) for _ in range(4)]  # test sets that overlap
    assert not fold_repeats(shuffled, 12).any()
    assert not fold_repeats(folds[:6], 12).any()  # the second repeat is not complete


def test_half_of_the_repeats_outvote_the_highest_mean():
    """One repeat that likes many features does not decide, as it does for the highest mean."""
    scores = np.array([[0.6, 0.6, 0.6, 0.6], [0.8, 0.8, 0.7, 0.6], [0.7, 0.7, 0.71, 0.95]])
    curve = CountCurve(np.array([1, 5, 50]), scores, repeats=np.arange(4))
    assert (median(curve), best(curve)) == (1, 2)
    assert words_of(curve, "median") == (
        "Kept: 5 features, by the rule 'median'; the best number is 50 (score 0.725 and 0.765 "
        "over 4 folds; standard error 0.068)."
    )
    assert as_well(curve, 1) == "5 features do as well as 50 (0.725 and 0.765)."
    assert median(replace(curve, repeats=None)) == one_se(curve)
    assert median(replace(curve, guess=0.8, p_value=0.06)) == 0


def test_no_more_are_kept_than_have_the_highest_mean():
    scores = np.array([[0.9, 0.9, 0.5], [0.8, 0.8, 0.9], [0.91, 0.91, 0.2]])
    curve = CountCurve(np.array([1, 5, 50]), scores, repeats=np.arange(3))
    assert (median(curve), best(curve)) == (1, 1)


@given(tables(), st.sampled_from([None, 0.01, 0.21]))
def test_only_what_is_as_good_is_said_to_do_as_well(curve, p_value):
    """A number between the fewest and the most that are as good need not be."""
    curve = replace(curve, p_value=p_value)
    kept = median(curve)
    if p_value == 0.21:  # of what may be noise nothing does well
        assert as_well(curve, kept) == ""
        return
    few = fewest(curve) if kept == curve.top else kept
    behind = curve.scores[curve.top] - curve.scores[few]
    error = np.std(behind, ddof=1) / np.sqrt(len(behind)) if len(behind) > 1 else 0.0
    is_as_good = np.mean(behind) <= error + 1e-9 * np.abs(curve.scores).max()
    assert bool(as_well(curve, kept)) == bool(
        few < curve.top and (is_as_good or few == fewest(curve))
    )


@st.composite
def scored(draw):
    """Tables of a score that has a name, and with log losses."""
    curve = draw(tables(fewest_splits=2))
    name, task = draw(
        st.sampled_from(
            [
                ("accuracy", "classification"),
                ("roc_auc", "classification"),
                ("r2", "regression"),
                ("neg_mean_absolute_error", "regression"),
            ]
        )
    )
    (score,) = resolve_scores(name, task).values()
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    losses = None
    if task == "classification" and draw(st.booleans()):
        size = draw(st.sampled_from([0.0, 0.01, 0.3]))
        losses = 0.7 - 0.3 * draw(st.floats(0, 1)) * np.linspace(0, 1, len(curve.ks))[:, None]
        losses = losses + size * random.random(curve.scores.shape)
    guess, p_value = draw(st.sampled_from([None, -1e12])), draw(st.sampled_from([0.01, 0.04, 0.5]))
    curve = replace(curve, score=score, losses=losses, guess=guess, p_value=p_value)
    return replace(curve, guess_loss=0.0 if losses is None else draw(st.sampled_from([0.0, 0.7])))


@given(scored())
def test_the_fewest_are_as_good_as_the_best_by_the_documented_rule(curve):
    """By plain loops over the folds."""
    n_splits, size = curve.scores.shape[1], 1e-9 * np.abs(curve.scores).max()

    def gaps(table, best_row):
        """(mean of the paired differences, its error corrected for shared training samples)."""
        for row in table:
            apart = [a - b for a, b in zip(best_row, row, strict=True)]
            spread = statistics.variance(apart)
            yield statistics.fmean(apart), (spread * (1 / n_splits + curve.test_share)) ** 0.5

    top = curve.scores[curve.top]
    tolerance = {"accuracy": 0.01, "roc_auc": 0.01, "r2": 0.05 * abs(1.0 - top.mean())}.get(
        curve.score.name, 0.05 * abs(top.mean())
    )
    is_sure = curve.p_value <= 0.05
    by_score = [
        gap <= (max(min(error, tolerance), 0.2 * tolerance) if is_sure else error) + size
        for gap, error in gaps(curve.scores, top)
    ]
    expected = by_score
    if curve.losses is not None:
        least = -curve.losses[curve.losses.mean(axis=1).argmin()]
        limit = max(-0.05 * least.mean(), 0.03 * curve.guess_loss) if is_sure else np.inf
        nothing = -0.02 * least.mean() if is_sure else 0.0
        by_loss = [
            gap <= max(min(error, limit), nothing) + 1e-9
            for gap, error in gaps(-curve.losses, least)
        ]
        expected = by_loss
        if is_sure:
            expected = [a and b for a, b in zip(by_score, by_loss, strict=True)]
            if not any(expected):
                expected = [False] * max(by_score.index(True), by_loss.index(True)) + [True]
    assert fewest(curve) == expected.index(True)


def test_of_noise_one_feature_is_kept():
    """The log loss of noise is that of a guess, whatever hits say."""
    random = np.random.default_rng(0)
    (score,) = resolve_scores("accuracy", "classification").values()
    scores = np.round(random.normal(0.5, 0.05, (8, 20)), 2)
    losses = np.log(2) + 0.001 * random.random((8, 20))
    curve = CountCurve(2 ** np.arange(8), scores, score=score, losses=losses, p_value=0.3)
    assert fewest(curve) == 0


@given(tables(), st.sampled_from([1e-3, 1.0, 50.0]), st.sampled_from([-7.0, 0.0, 3.0]))
def test_units_and_order_of_the_folds_do_not_matter(curve, factor, shift):
    size = np.abs(curve.scores).max()
    scores = factor * (curve.scores + shift * size)[:, ::-1]
    other = np.round(scores, 9 - int(np.log10(size * factor + 1e-30)))
    backwards = None if curve.repeats is None else curve.repeats[::-1]
    other = replace(curve, scores=other, repeats=backwards)
    same = np.round(curve.scores, 9 - int(np.log10(size + 1e-30)))
    same = replace(curve, scores=same)
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


def test_a_curve_worked_out_by_hand():
    ks = np.array([1, 10, 100, 1000])
    scores = np.array([[0.5, 0.5, 0.5], [0.85, 0.88, 0.89], [0.88, 0.9, 0.86], [0.9, 0.86, 0.91]])
    curve = CountCurve(ks, scores, SHARE)
    # Differences to the top: .05 -.02 .02 with deviation .0351, and .02 -.04 .05 with .0458.
    root = np.sqrt(1 / 3)
    np.testing.assert_allclose(curve.behind, [0.39, 0.05 / 3, 0.01, 0.0])
    deviations = [np.std(scores[3] - row, ddof=1) for row in scores]
    np.testing.assert_allclose(curve.errors, root * np.array(deviations))
    assert curve.plateau == (1, 3)
    assert choices(curve) == {"fewest": 3, "median": 1, "one_se": 1, "best": 3, "elbow": 1}
    # Of a score that nobody knows nothing is given away; of R squared 5 % of the 0.11 are.
    (score,) = resolve_scores("r2", "regression").values()
    known = replace(curve, score=score)
    assert choices(known)["fewest"] == 3
    assert choices(replace(known, scores=scores - [[0.0], [-0.012], [0.0], [0.0]]))["fewest"] == 1
    assert words_of(curve, "one_se") == (
        "Kept: 10 features, by the rule 'one_se'; the best number is 1,000 (score 0.873 and 0.890 "
        "over 3 folds; standard error 0.016)."
    )


def test_a_single_repeat_keeps_the_smallest_of_a_flat_top_and_best_is_its_highest_mean():
    """Both are said, as a person would."""
    accuracy = next(iter(resolve_scores("accuracy", "classification").values()))
    flat = np.array([0.1, -0.1, 0.05, -0.05])
    scores = np.array([0.5 + flat, 0.739 + flat[::-1], 0.738 - flat, 0.7394 + flat])
    curve = CountCurve(np.array([1, 4, 9, 27]), scores, SHARE, accuracy)
    assert next(iter(RULES)) == "fewest"
    assert choices(curve) == {"fewest": 1, "median": 1, "one_se": 1, "best": 3, "elbow": 1}
    said = "Kept: 4 features, the fewest that are as good as 27, the best number (accuracy 73.9 %"
    assert words_of(curve).startswith(said)
    assert "4 feature groups, " in words_of(replace(curve, unit="feature group"))
    alone = replace(curve, ks=np.array([1, 4]), scores=scores[:2])
    assert "Kept: 4 features, the best number that was tried (" in words_of(alone)
    one = replace(curve, ks=np.array([1, 4]), scores=scores[1::2])
    assert as_well(one, 0).startswith("1 feature does as well as 4")
    shipped = Kept(1, "fewest", 0.75, 0.01, "softmax regression model")
    assert describe(curve, shipped, "", "ridge model").endswith(
        "over 4 folds, by the ridge model that searches). The softmax regression model on them: "
        "accuracy 75.0 % (standard error 1.0 %)."
    )


def test_standard_errors_allow_for_shared_training_samples(rng):
    scores = rng.random((3, 20))
    curve = CountCurve(np.array([1, 10, 100]), scores, test_share=0.25)
    by_hand = scores.std(axis=1, ddof=1) * np.sqrt(1 / 20 + 0.25)
    np.testing.assert_allclose(curve.standard_errors, by_hand)
    assert curve.errors[curve.top] == 0.0
    apart = scores - scores[curve.top]
    np.testing.assert_allclose(curve.errors, apart.std(axis=1, ddof=1) / np.sqrt(20))
    by_chance = replace(curve, p_value=0.3)
    np.testing.assert_allclose(by_chance.errors, apart.std(axis=1, ddof=1) * np.sqrt(0.3))


def test_elbow_on_a_curve_worked_out_by_hand():
    ks = np.array([1, 2, 3, 5, 10])
    means = np.array([0.5, 0.8, 0.88, 0.9, 0.9])
    scores = means[:, None] + np.array([-0.03, 0.0, 0.03])
    # Above the line from (1, 0.5) to (5, 0.9): 0.2 at 2 and 0.18 at 3.
    assert ks[elbow(CountCurve(ks, scores))] == 2
    assert elbow(CountCurve(ks, np.full((5, 3), 0.7))) == 0


def test_where_nothing_speaks_against_a_guess_fewer_features_are_as_good():
    """The highest of many equal means is a matter of luck."""
    kept = {0.01: [], 0.5: []}
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0.5, 0.1, (8, 20))
        for p_value, found in kept.items():
            curve = CountCurve(2 ** np.arange(8), noise, p_value=p_value)
            found.append(int(curve.ks[one_se(curve)]))
    assert np.mean(kept[0.5]) < np.mean(kept[0.01])
    assert np.median(kept[0.5]) <= 2


@given(tables(), st.sampled_from([None, 0.06, 0.3]))
def test_where_the_best_is_no_better_than_a_guess_the_fewest_are_as_good(curve, p_value):
    """No feature at all does as well, also where scores rise with the number of features."""
    curve = replace(curve, p_value=p_value)
    above = replace(curve, guess=float(curve.means.min()) - 1.0)
    assert above.plateau == replace(above, guess=None).plateau
    curve = replace(curve, guess=float(curve.means.max()))
    seen = replace(curve, p_value=0.05)  # decision values say so, where labels do not
    assert seen.plateau == replace(seen, guess=None).plateau
    assert one_se(curve) == 0
    assert curve.plateau == (0, len(curve.ks) - 1)
    assert best(curve) == curve.top
    assert fewest(curve) == 0
    said = words_of(curve, warning="A warning.")
    assert said.startswith("A warning. Kept: ")
    if len(curve.ks) > 1:
        assert "where a guess without features is as good" in said
    assert as_well(curve, 0) == ""


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_refused(odd):
    scores = np.full((3, 4), 0.5)
    scores[1, 2] = odd
    with pytest.raises(ValueError, match="NaN or infinite; use fewer folds"):
        CountCurve(np.array([1, 2, 3]), scores)


def test_the_command_line_knows_the_rules():
    from sparsieve.app.cli.options import Rule

    assert [rule.value for rule in Rule] == list(RULES)
