import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from sparsieve import SelectorCV, compare
from sparsieve.meta import guess
from sparsieve.meta.guess import GuessTest, TestedModel, against_guess, mean_votes
from sparsieve.scoring.folds import make_folds

pytestmark = pytest.mark.usefixtures("lines_only")


def folds_of(y, n_folds=5, seed=0, stratified=True):
    return make_folds(y, n_folds, seed=seed, stratified=stratified)


class Correlations(BaseEstimator):
    def fit(self, X, y):
        Y = (np.asarray(y)[:, None] == np.unique(y)).astype(float)
        Z = X - X.mean(axis=0)
        self.scores_ = ((Z.T @ (Y - Y.mean(axis=0))) ** 2).sum(axis=1)
        self.n_features_in_ = X.shape[1]
        return self


def test_the_p_value_is_that_of_all_permutations():
    rng = np.random.default_rng(0)
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    Y, folds = np.eye(2)[y], [(np.arange(7), np.arange(7))]  # share 1: an inflation of 3
    votes = np.eye(2)[np.array([0, 0, 0, 1, 1, 1, 1])] + 0.1 * rng.random((7, 2))
    A = votes - votes.mean(axis=0)
    found = float((A * Y).sum())
    every = [float((A * Y[list(order)]).sum()) for order in itertools.permutations(range(7))]
    exact = np.mean(np.array(every) >= found / np.sqrt(3.0) - 1e-9)
    assert against_guess([votes], Y, folds).p_value == pytest.approx(exact, abs=0.02)


def test_shuffles_and_their_normal_limit_agree(monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.permutation(np.repeat([0, 1, 2], 60))
    Y, folds = np.eye(3)[y], folds_of(y)
    votes = [0.2 * Y[test] + rng.random((len(test), 3)) for _, test in folds]
    shuffled = against_guess(votes, Y, folds).p_value
    monkeypatch.setattr(guess, "_MAX_SHUFFLED", 10)
    assert against_guess(votes, Y, folds).p_value == pytest.approx(shuffled, abs=0.02)


def test_units_and_offsets_of_the_outputs_do_not_matter():
    rng = np.random.default_rng(2)
    Y = rng.standard_normal((40, 2))
    folds = folds_of(Y[:, 0], stratified=False)
    votes = [Y[test] + rng.standard_normal((len(test), 2)) for _, test in folds]
    plain = against_guess(votes, Y, folds).p_value
    units, offset = np.array([1e-3, 1e4]), np.array([5.0, -1e4])
    other = [vote * units + offset for vote in votes]
    assert against_guess(other, Y * units + offset, folds).p_value == plain


def test_samples_that_are_never_held_out_do_not_count():
    y = np.arange(40) % 2
    Y, folds = np.eye(2)[y], folds_of(y)[:2]
    found = against_guess([Y[test] for _, test in folds], Y, folds)
    assert found.n_samples == 16
    assert found.p_value <= 0.05


def test_what_says_nothing_is_no_finding():
    y = np.arange(40) % 2
    Y, folds = np.eye(2)[y], folds_of(y)
    same = [np.tile([1.0, 0.0], (len(test), 1)) for _, test in folds]
    assert against_guess(same, Y, folds).p_value == 1.0
    with_one = np.zeros((40, 1))
    assert against_guess([v[:, :1] for v in same], with_one, folds).p_value == 1.0


def test_copies_in_groups_are_no_more_samples():
    rng = np.random.default_rng(3)
    y = np.arange(16) % 2
    votes = np.eye(2)[np.where(rng.random(16) < 0.7, y, 1 - y)]
    folds = folds_of(y)
    once = against_guess([votes[test] for _, test in folds], np.eye(2)[y], folds).p_value
    Y, groups = np.tile(np.eye(2)[y], (6, 1)), np.tile(np.arange(16), 6)
    many = [
        (np.flatnonzero(np.isin(groups, a)), np.flatnonzero(np.isin(groups, b))) for a, b in folds
    ]
    copies = [np.tile(votes, (6, 1))[test] for _, test in many]
    assert against_guess(copies, Y, many).p_value < 0.01 < once
    assert against_guess(copies, Y, many, groups).p_value == pytest.approx(once, abs=0.05)


@pytest.mark.parametrize(("n_samples", "enough"), [(6, False), (12, False), (40, True)])
def test_too_few_samples_are_called_so(n_samples, enough):
    y = np.arange(n_samples) % 2
    folds = folds_of(y, 3)
    wrong = [np.eye(2)[1 - y[test]] for _, test in folds]
    found = against_guess(wrong, np.eye(2)[y], folds)
    assert found.enough is enough
    sentence = found.sentence(0.3, 0.5, "accuracy")
    assert ("are too few to tell" in sentence) is not enough
    assert ("Other models were not tested" in sentence) is enough
    assert "nothing to find" not in sentence


def test_no_six_samples_can_pass_and_twelve_perfect_ones_do():
    for n_samples, passed in ((6, False), (12, True)):
        y = np.arange(n_samples) % 2
        folds = folds_of(y, 3)
        perfect = [np.eye(2)[y[test]] for _, test in folds]
        found = against_guess(perfect, np.eye(2)[y], folds)
        assert found.beats_guess(1.0, 0.5) is passed


def test_a_score_below_the_guess_is_not_better_whatever_the_test_says():
    test = GuessTest(0.001, 100, True)
    assert not test.beats_guess(0.85, 0.9)
    assert "look at every class" in test.sentence(0.85, 0.9, "accuracy")
    of_numbers = test.sentence(-1.0, 0.0, "R²", model=TestedModel("regression"))
    assert of_numbers.endswith("related to the target: some predictions are far off.")
    assert test.beats_guess(0.95, 0.9)
    assert test.sentence(0.95, 0.9) == ""


def test_votes():
    predicted = [np.array([1.0, 3.0]), np.array([2.0, 5.0])]
    np.testing.assert_array_equal(mean_votes(predicted, None), [[1.5], [4.0]])


# -- through whole procedures ------------------------------------------------------------------


def test_good_data_are_found_good():
    for load in (load_wine, load_breast_cancer, load_diabetes):
        X, y = load(return_X_y=True)
        if load is load_diabetes:
            y = y + 0.5
        search = SelectorCV(ks=[3], n_repeats=1).fit(X, y)
        assert search.beats_guess_
        assert search.nothing_found == ""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 1000)), np.arange(60) % 2
    X[:, 3] += 4.0 * y
    assert SelectorCV(ks=[1, 5, 20], n_repeats=1).fit(X, y).beats_guess_


@pytest.mark.thinned(3)
@pytest.mark.parametrize("sizes", [(8, 8), (6, 18), (10, 10, 10)])
@pytest.mark.long("many draws of noise, or chance would not show")
def test_noise_is_claimed_no_more_often_than_stated(sizes):
    """A small part of benchmarks/nulls.py, whose table is in the documentation."""
    claims, n_nulls = 0, 60
    for seed in range(n_nulls):
        rng = np.random.default_rng(seed)
        y = np.repeat(np.arange(len(sizes)), sizes)
        X = rng.standard_normal((len(y), 10))
        search = SelectorCV(Correlations(), ks=[1, 3, 10], n_repeats=1).fit(X, y)
        claims += search.beats_guess_
    assert binomtest(claims, n_nulls, 0.05, alternative="greater").pvalue > 0.01


def test_the_number_of_features_tried_makes_no_claim_easier():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 60)), np.arange(40) % 2
    search = SelectorCV(Correlations(), ks=range(1, 61)).fit(X, y)
    highest = search.cv_results_["mean_test_score"].max()
    assert highest > search.guess_  # of sixty numbers some score more by chance
    assert not search.beats_guess_


def test_compare_tests_every_method_at_its_share_of_the_level():
    X, y = load_wine(return_X_y=True)
    found = compare(X, y, ["fisher", "mrmr"], ks=[2, 5], n_repeats=1)
    assert found.verdict.predictive == list(found.verdict.means)
    noise = np.random.default_rng(0).standard_normal((178, 13))
    nothing = compare(noise, y, ["fisher", "mrmr"], ks=[2, 5], n_repeats=1)
    assert nothing.verdict.predictive == []
    none = "None of the 2 methods predicted significantly better than a guess"
    assert nothing.recommendation.startswith(none)


def test_the_table_of_nulls_keeps_the_level():
    with (Path(__file__).parents[2] / "benchmarks" / "nulls.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    for procedure in ("found", "ten", "compare"):
        assert sum(row["procedure"] == procedure for row in rows) == 12
        of_all = [row for row in rows if row["procedure"] == procedure]
        nulls, claims = (sum(int(row[name]) for row in of_all) for name in ("nulls", "claims"))
        assert nulls >= (400 if procedure == "compare" else 12 * 400)
        assert claims <= 0.05 * nulls
    for row in rows:
        nulls, claims = int(row["nulls"]), int(row["claims"])
        assert binomtest(claims, nulls, 0.05, alternative="greater").pvalue > 0.001, row


def test_the_page_has_the_table_of_nulls():
    root = Path(__file__).parents[2]
    with (root / "benchmarks" / "nulls.csv").open(newline="") as lines:
        known = {(row["procedure"], row["configuration"]): row for row in csv.DictReader(lines)}
    page = (root / "docs" / "measured" / "false_alarms.csv").read_text(encoding="utf-8")
    for name in dict.fromkeys(configuration for _, configuration in known):
        found, ten, compared = (known[procedure, name] for procedure in ("found", "ten", "compare"))
        of_compare = f"{compared['claims']} of {compared['nulls']}"
        named = f'"{name}"' if "," in name else name
        assert f"{named},{found['claims']},{ten['claims']},{of_compare}\n" in page


def test_too_few_groups_are_called_groups():
    y, groups = np.repeat([0, 1, 0, 1], 10), np.repeat(np.arange(4), 10)
    folds = make_folds(y, 2, seed=0, groups=groups)
    found = against_guess([np.eye(2)[y[test]] for _, test in folds], np.eye(2)[y], folds, groups)
    assert (found.n_samples, found.unit, found.enough) == (4, "group", False)
    assert found.p_value > 0.05
    assert found.sentence(1.0, 0.5).startswith("4 groups are too few to tell")


def test_large_predictions_are_no_trouble():
    y = np.arange(40.0)
    folds = folds_of(y, stratified=False)
    found = [
        against_guess([s * y[t][:, None] for _, t in folds], y[:, None], folds) for s in (1, 1e200)
    ]
    assert found[0] == found[1]
