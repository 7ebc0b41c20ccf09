"""Nobody waits five seconds without a word: what is under way, how far, and how long it takes."""

from threading import Event

import pytest

from sparsieve.app.cli import live
from sparsieve.meta.progress import Pace, listening


@pytest.fixture
def clock(monkeypatch):
    """Seconds that go by when the test says so."""
    now = [0.0]
    monkeypatch.setattr("sparsieve._clock.clock", lambda: now[0])
    return now


def test_a_silent_stage_says_how_far_it_is(clock, capsys):
    stage, pace = live.Stage("Selecting"), Pace("select", 4, "pair of halves")
    for seconds in (4.0, 5.0, 9.0):
        clock[0] = seconds
        stage.say_if_silent()
    with listening(stage.advance):
        for seconds in (11.0, 12.0):
            clock[0] = seconds
            pace.step()
    stage.say_if_silent()
    assert capsys.readouterr().err.splitlines() == [
        "Selecting: 5 s so far",
        "Selecting: 2/4 pairs of halves, about 2 s left",
    ]


@pytest.mark.parametrize("show", [live.progress, live.following])
def test_somebody_watches_while_work_is_done(show, monkeypatch, capsys):
    heard = Event()
    monkeypatch.setattr(live, "SILENCE", 0.01)
    monkeypatch.setattr(live.Stage, "say", lambda stage: heard.set())
    with show("Reading", quiet=True):
        pass
    assert not heard.is_set()
    with show("Reading"):
        assert heard.wait(60)
