from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_regression

from sparsieve import FisherSelector, RidgeForwardSelector, SelectorCV, _clock, compare, select
from sparsieve.meta.held_out import HeldOutCheck, check_selector, held_out_check, score_interval
from sparsieve.scoring import nogueira_stability

pytestmark = pytest.mark.usefixtures("lines_only")

X, Y = load_wine(return_X_y=True)


def noise(n_samples, n_features=50, seed=0):
    return np.random.default_rng(seed).standard_normal((n_samples, n_features))


def test_it_is_the_search_over_one_number():
    check = held_out_check(RidgeForwardSelector(3), X, Y, n_kept=3, task="classification")
    search = SelectorCV(RidgeForwardSelector(), ks=[3], n_repeats=2).fit(X, Y)
    assert check.score == search.best_score_
    assert check.low < check.score < check.high <= 1.0
    assert check.guess == pytest.approx(71 / 178)
    assert check.beats_guess
    supports = np.zeros((10, 13), dtype=bool)
    for mask, chosen in zip(supports, search.selected_in_folds_, strict=True):
        mask[chosen] = True
    assert supports.sum() == 30
    assert check.stability == nogueira_stability(supports).value
    assert HeldOutCheck.of(search) == check


def test_what_a_reader_sees():
    good = repr(select(X, Y, k=3))
    first, second = good.split("\n")
    assert first.startswith("3 of 13 features by RidgeForwardSelector: ")
    assert second.startswith("On held-out samples: accuracy 9")
    assert "always predicting the largest class: 39.9 %; stability 0." in second
    nothing = repr(select(noise(60), np.arange(60) % 2, k=15)).split("\n")
    assert nothing[0].startswith(
        "No linear model of the selected features predicts better than a guess without features"
    )
    assert nothing[1].startswith("15 of 50 features")
    few = repr(select(noise(12), np.arange(12) % 2, k=5)).split("\n")
    assert few[0].startswith("12 samples are too few to tell whether anything predicts better")
    A, b = make_regression(60, 8, n_informative=2, random_state=0)
    assert "On held-out samples: R² 0." in repr(select(A, b, k=2))
    assert "always predicting the mean: 0.000" in repr(select(A, b, k=2))


def test_perfect_scores_have_an_interval():
    easy = np.column_stack([np.arange(40) % 2, noise(40, 2).T[0]])
    check = select(easy, np.arange(40) % 2, k=1).check
    assert check.score == 1.0
    assert 0.85 < check.low < 0.95
    assert check.high == 1.0


def test_it_is_left_out_where_declined_or_slow():
    selected = select(X, Y, k=3, check=False)
    assert selected.check is None
    assert repr(selected) == selected.__repr__()
    assert "\n" not in repr(selected)
    slow = replace(select(X, Y, k=3), fit_seconds=3.0)
    assert slow.check is None
    said = "Not checked on held-out samples (about 30 s). Run select(..., check=True)."
    assert repr(slow).split("\n")[1] == said
    assert said in slow._repr_html_()
    assert slow.accuracy == select(X, Y, k=3).accuracy  # who asks gets it
    assert replace(slow, asked=True).check.beats_guess
    with pytest.raises(ValueError, match='check must be True, False or "auto"'):
        select(X, Y, k=3, check="yes")


def test_the_time_is_that_of_the_fit_on_the_clock(monkeypatch):
    now = iter(range(0, 1000, 7))
    monkeypatch.setattr(_clock, "clock", lambda: next(now))
    assert "(about 70 s)" in select(X, Y, k=3).unchecked


def test_noise_warns_at_once_where_the_check_is_asked_for():
    with pytest.warns(UserWarning, match="No linear model of the selected features predicts"):
        select(noise(60), np.arange(60) % 2, k=15, check=True)


def test_what_cannot_be_checked_says_why():
    tiny = select(noise(4), [0, 0, 0, 1], k=2)
    assert tiny.unchecked == (
        "Not checked on held-out samples: 4 samples are too few to hold some out."
    )
    single = select(noise(60), np.r_[0, np.arange(59)], k=2, task="classification")
    assert "the two largest classes have only 1 and 2 samples" in single.unchecked
    fitted = FisherSelector(2).fit(X, Y)
    fitted.support_ = np.zeros(13, dtype=bool)
    none, reason = check_selector(fitted, X, Y, task="classification", fit_seconds=0.0, how="")
    assert none is None
    assert "no feature was selected" in reason


def test_json():
    found = select(X, Y, k=3).check.as_dict()
    assert found["metric"] == "accuracy"
    assert found["interval"][0] < found["score"] < found["interval"][1]
    assert found["better_than_guess"] is True
    assert found["warning"] is None


@pytest.mark.parametrize("k", [2, "auto"])
def test_one_fold_has_a_score_and_no_standard_error(k):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    numbers = X[:, 0] + 0.1 * rng.standard_normal(60)
    times = np.exp(-X[:, 0]), np.arange(60) % 3 > 0
    once = [(np.arange(40), np.arange(40, 60))]
    for y, task in ((numbers > 0, "classification"), (numbers, "regression"), (times, "survival")):
        found = select(X, y, k, cv=once, task=task, check=True)
        assert found.check.n_folds == 1
        assert found.check.score > 0.8
        assert np.isnan(found.check.stability)
        assert "one fold says nothing of stability; 1 fold" in str(found)
        assert np.isnan(found.check.low) == (task != "classification")
        assert ("no interval from one fold" in str(found)) == (task != "classification")
    # Of accuracy the 20 held-out samples say it by themselves.
    check = select(X, numbers > 0, k, cv=once, check=True).check
    low, high = score_interval(np.array([check.score]), 0.0, 20, check.measure)
    assert (check.low, check.high) == (low, high)


def test_the_page_of_one_fold_claims_no_standard_error(tmp_path):
    X = noise(60, 4)
    once = [(np.arange(40), np.arange(40, 60))]
    found = select(X, X[:, 0] + 0.1 * noise(60, 1)[:, 0], 1, cv=once, check=True)
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "no interval from one fold" in page


def test_one_split_does_not_tell_methods_apart():
    once = [(np.arange(0, 178, 2), np.arange(1, 178, 2))]
    with pytest.raises(ValueError, match="cv gives one split of the samples, but methods are told"):
        compare(X, Y, ["fisher", "mrmr"], ks=[2], cv=once)
