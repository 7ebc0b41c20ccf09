"""Ctrl-C: what is done so far is kept where it is of use, and a sentence says what is lost."""

import numpy as np
import pytest

from sparsieve import FisherSelector, SelectorCV, StabilitySelection, compare, select

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 6))
Y = (X[:, 1] + 0.1 * RANDOM.standard_normal(40) > 0).astype(int)


@pytest.fixture
def stopping():
    """A selector whose n-th fit is interrupted, from 1 on."""

    class Stopping(FisherSelector):
        stop_at, fits = 0, 0

        def fit(self, X, y, sample_weight=None):
            Stopping.fits += 1
            if Stopping.fits == Stopping.stop_at:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    def made(stop_at):
        Stopping.stop_at = stop_at
        return Stopping()

    return made


FIRST = "interrupted in fold 8 of 10: the number of features is chosen on the first 5 folds"


def test_a_search_keeps_the_repeats_that_were_done(stopping):
    search = SelectorCV(stopping(8), ks=[1, 2, 6], n_repeats=2)
    with (
        pytest.warns(UserWarning, match=f"{FIRST}, and a fit on all samples follows"),
        pytest.raises(KeyboardInterrupt, match=FIRST),
    ):
        search.fit(X, Y)
    once = SelectorCV(FisherSelector(), ks=[1, 2, 6], n_repeats=1).fit(X, Y)
    assert search.n_splits_ == 5
    assert search.best_k_ == once.best_k_
    np.testing.assert_array_equal(search.predict(X), once.predict(X))
    means = [one.cv_results_["mean_test_score"] for one in (search, once)]
    np.testing.assert_array_equal(*means)


def test_a_search_without_a_whole_repeat_says_so(stopping):
    search = SelectorCV(stopping(3), ks=[1, 2], n_repeats=2)
    with pytest.raises(KeyboardInterrupt, match=r"in fold 3 of 10, before .* cv=3, n_jobs=-1"):
        search.fit(X, Y)
    assert not hasattr(search, "support_")
    search = SelectorCV(stopping(14), ks=[1], n_repeats=2)  # 2 and 10 folds, all samples
    with pytest.raises(KeyboardInterrupt, match=r"in the fit on all samples, .* folds chose 1,"):
        search.fit(X, Y)
    assert not hasattr(search, "support_")


def test_select_returns_what_was_chosen_until_then(stopping):
    with pytest.warns(UserWarning, match="interrupted in fold 8 of 20"):
        selected = select(X, Y, method=stopping(8), check=True)
    assert selected.interrupted
    assert selected.check.n_folds == 5
    assert "x1" in selected.features
    assert str(selected).startswith("The fit was interrupted: this is the best found until then.")
    with pytest.raises(KeyboardInterrupt, match="in fold 1 of 20, before every sample was held"):
        select(X, Y, method=stopping(10))


def test_halves_of_samples_say_where_they_were_stopped(stopping):
    stable = StabilitySelection(stopping(4), n_features_per_run=1, n_subsamples=10)
    with pytest.raises(KeyboardInterrupt, match="in pair of halves 2 of 5, so StabilitySelection"):
        stable.fit(X, Y)


def test_a_comparison_keeps_the_methods_that_were_finished(stopping):
    asked = ["fisher", ("slow", stopping(3)), "f-statistic"]
    with pytest.warns(UserWarning, match="interrupted: 1 of 3 methods was finished, and slow and"):
        found = compare(X, Y, asked, ks=[1, 2], n_repeats=1)
    assert found.interrupted
    assert list(found.methods) == ["fisher"]
    assert found.left_out["slow"] == found.left_out["f-statistic"] == "interrupted"
    assert any("interrupted" in note for note in found.notes)
    whole = compare(X, Y, ["fisher"], ks=[1, 2], n_repeats=1)
    assert not whole.interrupted
    np.testing.assert_array_equal(
        found.methods["fisher"].scores["accuracy"], whole.methods["fisher"].scores["accuracy"]
    )


def test_a_comparison_without_a_finished_method_says_so(stopping):
    with pytest.raises(KeyboardInterrupt, match=r"before any of the 2 methods .* n_repeats=1"):
        compare(X, Y, [("slow", stopping(9)), "fisher"], ks=[1, 2])
