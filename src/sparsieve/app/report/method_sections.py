"""Sections that every report on several methods has: stability and time.

Rows begin with the data set where there are several, which the reader then chooses, and then hold
the method and its values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elements import Section, chart_of

_METHOD = {"y": ""}
_DATA_SET_AND_METHOD = {"dataset": "data set", **_METHOD}


def stability_section(
    title: str, rows: Iterable[tuple[Any, ...]], note: str, *, several: bool
) -> Section:
    """How much the selections of the splits agree: the index and half of its interval."""
    note = f"1 if every split chose the same features, 0 for random choices{note}"
    values = {"x": "Nogueira's index", "error": "half of the interval"}
    return _bars("Stability", title, rows, values, note, several)


def times_section(rows: Iterable[tuple[Any, ...]], note: str, *, several: bool) -> Section:
    """The seconds of a fit."""
    timed = [(*names, max(seconds, 1e-6)) for *names, seconds in rows]
    values = {"x": "seconds per fit (logarithmic)"}
    return _bars("Time", "Seconds per fit", timed, values, note, several, log_x=True)


def _bars(
    heading: str, title: str, rows: Any, values: dict, note: str, several: bool, **options: Any
) -> Section:
    names, controls = (_DATA_SET_AND_METHOD, ("dataset",)) if several else (_METHOD, ())
    options |= {"digits": {"x": 3}, "controls": controls}
    return Section(heading, (), [chart_of(title, "bars", rows, names | values, note, **options)])
