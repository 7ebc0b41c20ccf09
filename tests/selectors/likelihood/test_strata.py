"""Strata by their labels: the baseline of each, through every way to a fitted model."""

import numpy as np
import pandas as pd
import pytest

import sparsieve
from sparsieve import LikelihoodForwardSelector, LikelihoodL21Selector, SelectorCV, select
from sparsieve.scoring.survival import kaplan_meier
from sparsieve.validation.survival import as_survival

N = 60
CODES = np.arange(N) % 3
X = np.random.default_rng(0).standard_normal((N, 3))
TIME = (
    np.random.default_rng(1).exponential(np.exp(-X[:, 0])) * 10.0**CODES
)  # lives ten times longer
EVENT = np.random.default_rng(2).random(N) < 0.8

# In an order that is not that of the times, so that a code is never the place of its label.
LABELS = {
    "whole numbers": np.array([3, 1, 2]),
    "small whole numbers": np.array([200, 0, 7], dtype=np.uint8),
    "large whole numbers": np.array([9007199254740993, 9007199254740992, 5]),
    "numbers": np.array([2.5, 0.5, -1.0]),
    "text": np.array(["north", "east", "a place with a long name"]),
    "digits as text": np.array(["1", "01", "1e0"]),
    "objects": np.array(["b", "c", "a"], dtype=object),
}


def one(kind, codes=CODES):
    return LABELS[kind][codes]


@pytest.fixture(scope="module", params=LABELS)
def kind(request):
    return request.param


def expected(at=2.0):
    """Breslow's estimator by its definition, for every stratum apart."""
    fitted = LikelihoodForwardSelector(1, task="survival").fit(X, (TIME, EVENT), strata=CODES)
    risk = np.exp(X @ fitted.coef_[0] + fitted.intercept_[0])
    found = np.empty(N)
    for stratum in range(3):
        own = stratum == CODES
        hazard = sum(
            1.0 / risk[own & (time <= TIME)].sum() for time in TIME[own & EVENT] if time <= at
        )
        found[own] = np.exp(-hazard * risk[own])
    return found


def frame_of(kind):
    return pd.DataFrame({"time": TIME, "event": EVENT, "strata": one(kind)})


WAYS = {
    "fit": lambda kind: LikelihoodForwardSelector(1, task="survival").fit(
        X, (TIME, EVENT), strata=one(kind)
    ),
    "fit, a frame": lambda kind: LikelihoodForwardSelector(1).fit(X, frame_of(kind)),
    "fit, a structured array": lambda kind: LikelihoodForwardSelector(1).fit(
        X, as_survival(frame_of(kind))
    ),
    "fit, categories": lambda kind: LikelihoodForwardSelector(1, task="survival").fit(
        X, (TIME, EVENT), strata=pd.Categorical(one(kind))
    ),
    "select": lambda kind: (
        select(X, (TIME, EVENT), k=1, task="survival", strata=one(kind), check=False).selector
    ),
    "select by a name": lambda kind: (
        select(
            pd.DataFrame(X, columns=list("abc")).assign(t=TIME, e=EVENT, site=one(kind)),
            *(("t", "e"), 1),
            strata="site",
            check=False,
        ).selector
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_keeps_the_labels_and_their_baselines(kind, way):
    selector = WAYS[way](kind)
    assert selector.strata_.tolist() == sorted(LABELS[kind].tolist())
    table = pd.DataFrame(X, columns=list("abc")) if way == "select by a name" else X
    found = selector.predict_survival(table, [2.0], strata=one(kind))[:, 0]
    np.testing.assert_allclose(found, expected(), rtol=1e-6)


@pytest.mark.parametrize("kind", ["large whole numbers", "text"])
def test_selector_cv_and_saved_files_keep_them(kind, tmp_path):
    y = as_survival((TIME, EVENT), strata=one(kind))
    chosen = SelectorCV(LikelihoodForwardSelector(), ks=[1], cv=2).fit(X, y)
    sparsieve.save(chosen, tmp_path / "model.sparsieve")
    again = sparsieve.load(tmp_path / "model.sparsieve").selector_
    assert again.strata_.tolist() == sorted(LABELS[kind].tolist())
    assert again.strata_.dtype == chosen.selector_.strata_.dtype
    found = again.predict_survival(X, [2.0], strata=one(kind))[:, 0]
    np.testing.assert_allclose(found, expected(), rtol=1e-6)


def test_reading_survival_times_again_changes_nothing(kind):
    y = as_survival((TIME, EVENT), strata=one(kind))
    assert y["strata"].tolist() == one(kind).tolist()
    np.testing.assert_array_equal(as_survival(y), y)
    np.testing.assert_array_equal(as_survival(y[::2])["strata"], y["strata"][::2])


def test_both_selectors_and_a_fit_anew():
    selector = LikelihoodL21Selector(alpha=1.0).fit(X, frame_of("text"))
    assert selector.strata_.tolist() == sorted(LABELS["text"].tolist())
    selector.fit(X, frame_of("text")[["time", "event"]])
    assert not hasattr(selector, "strata_")
    assert selector.predict_survival(X[:2], [2.0]).shape == (2, 1)
    with pytest.raises(ValueError, match=r"fitted without strata.*; leave strata out"):
        selector.predict_survival(X[:2], [2.0], strata=["north", "east"])


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (None, "pass strata= to predict_survival, one of 1, 2, 3 for every sample"),
        ([1, 4], "strata hold 4, for which there is no baseline; .* with the strata 1, 2, 3"),
        (["1", "2"], "strata hold '1', '2', for which there is no baseline"),
        ([1], "strata has 1 values, but X has 2 samples"),
        ([1, None], "strata contains NaN or missing values"),
        ([1.0, np.nan], "1 of 2 values are NaN"),
    ],
)
def test_a_stratum_that_was_not_seen_is_named(asked, sentence):
    selector = WAYS["fit"]("whole numbers")
    with pytest.raises(ValueError, match=sentence):
        selector.predict_survival(X[:2], [2.0], strata=asked)
    same = selector.predict_survival(X[:2], [2.0], strata=[1.0, 2.0])
    np.testing.assert_array_equal(same, selector.predict_survival(X[:2], [2.0], strata=[1, 2]))


HALF = N // 2


@pytest.mark.parametrize(
    ("strata", "sentence"),
    [
        (np.array([None, "a"] * HALF), "strata contains NaN or missing values \\(30 of 60\\)"),
        ([np.nan, "a"] * HALF, "strata contains NaN or missing values \\(30 of 60\\)"),
        ([np.nan, 1.0] * HALF, "strata: 30 of 60 values are NaN"),
        ([1, "a"] * HALF, "strata mixes text with other labels; convert them all to text"),
        (np.array([1, "1"] * HALF, dtype=object), "strata mixes text with other labels"),
        ([10**30, 1] * HALF, "strata hold whole numbers as large as 1000.*; pass them as text"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"] * HALF), "strata holds dates or times"),
        (np.array([{1}, {2}] * HALF), "strata hold values such as .1.; pass their names as text"),
    ],
)
@pytest.mark.parametrize("door", ["fit", "select", "frame"])
def test_what_labels_cannot_be_gets_one_sentence(strata, sentence, door):
    selector = LikelihoodForwardSelector(1, task="survival")
    enter = {
        "fit": lambda: selector.fit(X, (TIME, EVENT), strata=strata),
        "select": lambda: select(X, (TIME, EVENT), k=1, task="survival", strata=strata),
        "frame": lambda: selector.fit(X, frame_of("text").assign(strata=strata)),
    }[door]
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        enter()
    assert "\n" not in str(caught.value)


def test_strata_are_one_column():
    with pytest.raises(ValueError, match=r"strata must be one column, but has shape \(60, 2\)"):
        as_survival((TIME, EVENT), strata=np.ones((N, 2)))
    y = as_survival((TIME, EVENT), strata=CODES[:, None])
    assert y["strata"].tolist() == CODES.tolist()


def test_times_that_are_no_numbers_are_refused():
    selector = LikelihoodForwardSelector(1, task="survival").fit(X, (TIME, EVENT))
    curve = kaplan_meier((TIME, EVENT))
    for ask in (lambda times: selector.predict_survival(X[:1], times), curve.evaluate):
        with pytest.raises(ValueError, match="1 of the 2 times asked for is NaN; leave them out"):
            ask([1.0, np.nan])
        with pytest.raises(ValueError, match="times must be numbers"):
            ask(["soon"])
    with pytest.raises(ValueError, match=r"times must be a list of numbers, such as \[1.0, 5.0\]"):
        selector.predict_survival(X[:1], 3.0)
    # Before the first time nothing has happened; after the last nothing more is known.
    assert curve.evaluate([-1.0, 0.0, np.inf]).tolist() == [1.0, 1.0, curve.survival[-1]]
    ends = selector.predict_survival(X[:1], [-1.0, TIME.max(), np.inf])[0]
    assert ends[0] == 1.0
    assert ends[1] == ends[2]
