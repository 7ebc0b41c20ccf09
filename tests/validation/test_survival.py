"""Survival targets in all the forms in which they come, and one sentence for each mistake."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import (
    BaseSelector,
    FeatureScores,
    FisherSelector,
    L21Selector,
    LikelihoodForwardSelector,
    RidgeForwardSelector,
    SelectorCV,
    select,
)
from sparsieve.validation.reading import read_task
from sparsieve.validation.survival import as_survival, is_survival, survival_parts
from sparsieve.validation.target import with_task

TIME = [5.0, 2.0, 7.0, 2.0]
EVENT = [True, False, True, True]
X = np.random.default_rng(0).normal(size=(4, 3))


@dataclass(eq=False, repr=False, kw_only=True)
class TakesSurvival(BaseSelector):
    task: str = "auto"
    _accepts_survival = True

    def _fit(self, data):
        self.seen_ = data
        return FeatureScores(np.arange(3.0), n_kept=1)


def structured(names=("died", "years"), formats=("?", "f8"), columns=(EVENT, TIME)):
    array = np.empty(len(columns[0]), dtype=list(zip(names, formats, strict=True)))
    for name, column in zip(names, columns, strict=True):
        array[name] = column
    return array


FORMS = {
    "structured": structured(),
    "structured, time first": structured(("years", "died"), ("f4", "?"), (TIME, EVENT)),
    "frame": pd.DataFrame({"years": TIME, "died": EVENT}),
    "frame, event first": pd.DataFrame({"died": EVENT, "years": TIME}),
    "frame by names": pd.DataFrame({"Event": [1, 0, 1, 1], "Time": TIME}),
    "frame of nullable types": pd.DataFrame({"years": TIME, "died": EVENT}).convert_dtypes(),
    "polars": pl.DataFrame({"years": TIME, "died": EVENT}),
}
FURTHER = {"entry": [0.0, 1, 2, 0], "strata": ["b", "a", "b", "a"]}
NAMED = {
    "tuple": (TIME, EVENT),
    "array": np.column_stack([TIME, EVENT]),
    "frame of 0 and 1": pd.DataFrame({"years": TIME, "died": [1, 0, 1, 1]}),
}


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_forms_that_say_what_they_are(y):
    assert is_survival(y)
    assert read_task(y) == ("survival", "")
    target = TakesSurvival().fit(X, y).seen_.target
    assert target.task == "survival"
    assert target.survival.time.tolist() == TIME
    assert target.survival.event.tolist() == EVENT
    assert target.survival.entry is None
    assert target.survival.strata is None


@pytest.mark.parametrize("y", [y for y in FORMS.values() if hasattr(y, "columns")])
def test_a_frame_may_hold_entry_times_and_strata(y):
    columns = {**{name: list(y[name]) for name in y.columns}, **FURTHER}
    found = TakesSurvival().fit(X, type(y)(columns)).seen_.target.survival
    assert (found.time.tolist(), found.event.tolist()) == (TIME, EVENT)
    assert (found.entry.tolist(), found.strata.tolist()) == tuple(FURTHER.values())


@pytest.mark.parametrize("y", NAMED.values(), ids=NAMED)
def test_forms_that_are_read_as_survival_only_where_it_is_said(y):
    assert not is_survival(y)
    found = TakesSurvival(task="survival").fit(X, y).seen_.target.survival
    assert (found.time.tolist(), found.event.tolist()) == (TIME, EVENT)


def test_entry_and_strata_stay_with_the_samples():
    y = as_survival((TIME, EVENT), entry=[1, 0, 2, -1.0], strata=["b", "a", "b", "a"])
    data = TakesSurvival().fit(X, y, sample_weight=[1, 0, 1, 2]).seen_
    assert data.target.survival.entry.tolist() == [1, 2, -1]
    assert data.target.survival.strata.tolist() == ["b", "b", "a"]
    assert data.target.rows([2, 0]).survival.time.tolist() == [2, 5]
    assert np.array_equal(as_survival(survival_parts(y)), y)
    assert np.array_equal(data.arrays()[1], y[[0, 2, 3]])


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ((TIME, [0, 0, 0, 0]), "all 4 samples are censored: no event happened"),
        (([3, 3, 3, 3], EVENT), "all 4 survival times are 3, so nothing says who"),
        (([-1, 2, 3, 4], EVENT), "1 of 4 survival times are negative"),
        (([np.nan, 2, 3, 4], EVENT), "survival times: 1 of 4 values are NaN"),
        ((TIME, [1, 2, 1, 2]), "the event holds 2; code it as 1 or True"),
        ((TIME, [1.0, 0, np.nan, 1]), "the event: 1 of 4 values are NaN"),
        ((TIME, ["yes", "no", "no", "yes"]), "the event holds 'no', 'yes'; say which of them"),
        ((TIME, [True, None, False, True]), "the event: 1 of 4 values are missing"),
        ((["a", "b", "c", "d"], EVENT), "survival times must be numbers"),
        ((TIME, [True, False]), "time has 4 values, but the event has 2"),
        (TIME, r"needs a time and an event, but y has shape \(4,\)"),
        (structured(("a", "b"), ("f8", "f8"), (TIME, TIME)), "the event in 'b' holds"),
        (pd.DataFrame({"died": EVENT, "late": EVENT, "t": TIME}), "but y has 3 columns"),
    ],
)
def test_mistakes_get_one_sentence(y, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        TakesSurvival(task="survival").fit(X, y)
    assert "\n" not in str(caught.value)


def test_an_entry_after_the_end_is_refused():
    with pytest.raises(ValueError, match="2 of 4 samples have an entry time that is not before"):
        as_survival((TIME, EVENT), entry=[5.0, 0, 8, 1])


def test_one_event_is_enough():
    TakesSurvival(task="survival").fit(X, (TIME, [0, 1, 0, 0]))


@pytest.mark.parametrize(
    "selector", [RidgeForwardSelector(), FisherSelector(), L21Selector(), SelectorCV()]
)
def test_other_selectors_say_who_can(selector):
    name = type(selector).__name__
    with pytest.raises(ValueError, match=f"{name} cannot select for survival times; use Likel"):
        selector.fit(X, structured())


def test_a_task_that_contradicts_y_is_refused():
    with pytest.raises(ValueError, match=r'y holds survival times, but .* task="regression"'):
        RidgeForwardSelector(task="regression").fit(X, structured())


def test_the_task_reaches_the_selectors_inside():
    assert with_task(TakesSurvival(), "survival").task == "survival"
    pipeline = make_pipeline(StandardScaler(), TakesSurvival(task="survival"))
    pipeline.fit(X, structured())
    assert clone(pipeline)[-1].task == "survival"


def test_counts_are_whole_numbers_from_zero_on():
    target = TakesSurvival(task="counts").fit(X, [0, 3, 1, 200]).seen_.target
    assert (target.task, target.Y.ravel().tolist()) == ("counts", [0, 3, 1, 200])
    assert with_task(RidgeForwardSelector(), "counts").task == "counts"
    for y, sentence in {
        (0, 1, 2, 0.5): r"y holds 0.5 \(1 of 4 values are no counts\)",
        (0, 1, 2, -1): "y holds -1",
        (0, 0, 0, 0): "all counts in y are 0",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            TakesSurvival(task="counts").fit(X, y)


def test_a_squared_loss_takes_counts_for_numbers():
    y = np.random.default_rng(0).poisson(3, 30)
    features = np.random.default_rng(1).normal(size=(30, 5))
    as_counts = RidgeForwardSelector(2, task="counts").fit(features, y)
    as_numbers = RidgeForwardSelector(2, task="regression").fit(features, y)
    assert (as_counts.support_ == as_numbers.support_).all()


PAIR = np.column_stack([[5.0, 2, 7, 2, 9, 4], [1, 0, 1, 1, 0, 1]])


@pytest.mark.parametrize("y", [PAIR, PAIR[:, ::-1].astype(int), pd.DataFrame(PAIR)])
def test_two_columns_that_may_be_times_and_events_are_named(y):
    X = np.random.default_rng(0).normal(size=(6, 3))
    with pytest.warns(UserWarning, match="two columns, one of 0 and 1 .* pass a structured array"):
        RidgeForwardSelector(2).fit(X, y)
    with pytest.raises(ValueError, match="if they are survival times, pass a structured array"):
        LikelihoodForwardSelector(2).fit(X, y)
    with pytest.raises(ValueError, match=r"to select or LikelihoodForwardSelector$"):
        FisherSelector(2).fit(X, y)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (PAIR, "regression"),
        (PAIR - [[3, 0]], "auto"),  # a time is never negative
        (PAIR[:, [1, 1]], "auto"),  # two labels
        (PAIR[:, [0, 0]], "auto"),
        (PAIR[:, [0, 1, 0]], "auto"),
    ],
)
def test_other_targets_of_several_columns_are_read_without_a_word(y, task, recwarn):
    X = np.random.default_rng(0).normal(size=(6, 3))
    RidgeForwardSelector(2, task=task).fit(X, y)
    assert not [one for one in recwarn if "structured" in str(one.message)]


def test_select_names_the_structured_form():
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(40, 3)), rng.exponential(size=40)
    y = np.column_stack([time, time > 0.3])
    with pytest.warns(UserWarning, match="if they are survival times, pass a structured array"):
        select(X, y, k=1)
