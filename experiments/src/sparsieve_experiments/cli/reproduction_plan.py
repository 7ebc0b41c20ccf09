"""What ``sparsieve reproduce`` would compute, and how long that takes, in words and as a table."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from sparsieve.app.cli.output import print_json, print_rows, say


def print_plan(plan: Any, preset: Any, store: Path, *, as_json: bool) -> None:
    """The cells by experiment, data set and method, with an estimate where one was measured.

    Times come from the store, and else from the record that comes with the package. Where that is
    of another level than the full one, the estimate of a full run is a lower bound.
    """
    recorded, level = _recorded_times(plan)
    is_bound = plan.level == "full" != level
    plan = plan.timed(recorded).timed(plan.times_in(store))
    if as_json:
        listed = [{**vars(kind), "seconds_in_all": kind.seconds_in_all} for kind in plan.kinds]
        print_json(
            {
                "paper": plan.paper,
                "level": plan.level,
                "cells": plan.cells,
                "seconds": plan.seconds,
                "seconds_are_a_lower_bound": is_bound,
                "cells_without_estimate": plan.unknown,
                "not_counted": plan.later,
                "coarser": preset.coarser.get(plan.level),
                "kinds": listed,
            }
        )
        return
    if not any(kind.dataset for kind in plan.kinds):
        from sparsieve.datasets import get_data_home

        say(
            f"none of the data sets of {plan.paper} is in {get_data_home()}, so no work on them is "
            "planned; name their folder with --data, and see: sparsieve datasets"
        )
        if not plan.kinds:
            return
    together: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for kind in plan.kinds:
        together[kind.experiment, kind.dataset or "-"].append(kind)
    rows = []
    for (experiment, dataset), kinds in together.items():
        methods = list(dict.fromkeys(kind.method for kind in kinds if kind.method))
        known = [kind.seconds_in_all for kind in kinds if kind.seconds is not None]
        missing = sum(kind.cells for kind in kinds if kind.seconds is None)
        minutes = f"{sum(known) / 60:.1f}" if known else ""
        rows.append(
            [
                experiment,
                dataset,
                ", ".join(methods) or "-",
                f"{sum(kind.cells for kind in kinds):,}",
                f"{minutes} or more"
                if known and (missing or is_bound)
                else minutes or "not measured",
            ]
        )
    print_rows(
        ["experiment", "data set", "methods", "cells", "minutes of a core"],
        rows,
        right=["cells", "minutes of a core"],
    )
    say_plan(plan, preset, 1)
    if is_bound:
        say(
            f"this is a lower bound: cells were measured at the {level} level, where they are "
            "smaller; a full run times one cell of every kind before it starts"
        )


def say_plan(plan: Any, preset: Any, jobs: int) -> None:
    """How much there is to do, in sentences on standard error."""
    say(f"{plan.level} level: {plan.cells:,} cells{_estimate(plan, jobs)}")
    if plan.later:
        say(f"not counted, because it depends on other results: {', '.join(plan.later)}")
    if preset.coarser.get(plan.level):
        say(preset.coarser[plan.level])


def _estimate(plan: Any, jobs: int) -> str:
    if plan.seconds is None:
        return ""
    text = f", about {_duration(plan.seconds)} of one core"
    if jobs > 1:
        text += f", {_duration(plan.seconds / jobs)} with {jobs} processes"
    if plan.unknown:
        text += f", without {plan.unknown:,} cells that were not measured"
    return text


def _duration(seconds: float) -> str:
    """Examples: 45 s, 12 minutes, 3.5 hours, 2.1 days."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours" if seconds < 172800 else f"{seconds / 86400:.1f} days"


def _recorded_times(plan: Any) -> tuple[dict[tuple[str, str, str], float], str]:
    """Seconds of the cells of the record, and its level."""
    from ..papers import RecordError, read_record

    try:
        record = read_record(plan.paper)
    except RecordError:
        return {}, plan.level
    if record.fuller is None or plan.level != record.fuller.reproduction.level:
        return record.times, record.reproduction.level
    return {**record.times, **record.fuller.times}, record.reproduction.level
