"""How far a search is, and that a long one is announced."""

import warnings

import numpy as np
import pytest

from sparsieve import FDRSelector, FisherSelector, SelectorCV, select
from sparsieve.meta.progress import Pace, listening

X = np.random.default_rng(0).standard_normal((40, 3))
y = np.arange(40) % 2


class Slow:
    """A clock of which every look takes a while, the first fold longer."""

    def __init__(self, first, others):
        self.now, self.steps = 0.0, iter([0.0, first])
        self.others = others

    def __call__(self):
        self.now += next(self.steps, self.others)
        return self.now


def said_by(monkeypatch, first, others, **how):
    monkeypatch.setattr("sparsieve._clock.clock", Slow(first, others))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SelectorCV(FisherSelector(), ks=[1], cv=5, n_repeats=2, **how).fit(X, y)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("first", "others", "words"),
    [
        (1.0, 1.0, None),
        (15.0, 0.1, None),  # it was compiled
        (6.0, 6.0, "SelectorCV will take about 60 seconds on these data; verbose=1 says how far"),
        (60.0, 60.0, "SelectorCV will take about 10 minutes on these data"),
    ],
)
def test_a_long_search_is_announced_once(monkeypatch, first, others, words):
    said = said_by(monkeypatch, first, others)
    assert len(said) == (words is not None)
    assert words is None or said[0].startswith(words)


def test_who_is_told_needs_no_announcement(monkeypatch, capsys):
    assert said_by(monkeypatch, 60.0, 60.0, verbose=1) == []
    assert "fold 10 of 10: 600.0 s, about 0.0 s left" in capsys.readouterr().out
    told = []
    with listening(lambda name, now: told.append((name, now.done, now.total))):
        assert said_by(monkeypatch, 60.0, 60.0) == []
    assert told == [("fold", done, 10) for done in range(1, 11)]


def test_select_prints_lines_of_its_folds(capsys):
    select(X, y, verbose=1, check=False)
    assert "fold 20 of 20" in capsys.readouterr().out
    with pytest.raises(ValueError, match="leave verbose out"):
        select(X, y, method=FDRSelector(), verbose=1)
    with pytest.raises((TypeError, ValueError), match="verbose"):
        select(X, y, 2, "fisher", verbose=1)


@pytest.mark.parametrize(("watched", "said"), [(True, True), (False, False)])
def test_who_waits_hears_of_ten_seconds(monkeypatch, capsys, watched, said):
    monkeypatch.setattr("sparsieve._clock.is_interactive", lambda: watched)
    assert said_by(monkeypatch, 1.0, 1.0) == []
    assert (
        "SelectorCV will take about 10 seconds on these data" in capsys.readouterr().err
    ) == said


def test_loops_inside_of_a_step_are_not_told():
    told = []
    with listening(lambda name, now: told.append(name)):
        for _ in Pace("a survey", 2, "house").follow(Pace("one", 1, "person").follow("ab")):
            pass
    assert told == ["house", "house"]
