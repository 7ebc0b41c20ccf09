"""Survival times on the command line: --time, --event, --entry and --strata."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .errors import UsageError
from .options import seldom
from .tables import Reading

if TYPE_CHECKING:  # loading it takes a while
    from ..io import Table

_column = partial(typer.Option, metavar="COL", rich_help_panel="Survival times")


@dataclass(frozen=True)
class SurvivalColumns:
    """The columns that the options name."""

    survival_time: str | None = _column(
        None,
        "--time",
        help="Column with the time to the event or to censoring; instead of --target, with "
        "--event.",
    )
    event: str | None = _column(
        None,
        "--event",
        help="Column that says whether the event happened: 1 or true, else 0 or false (censored).",
    )
    entry: str | None = seldom(
        None,
        "--entry",
        metavar="COL",
        help="Column with the time at which the observation of a sample began, if not 0.",
    )
    strata: str | None = seldom(
        None,
        "--strata",
        metavar="COL",
        help="Column with the stratum of each sample, such as the hospital: samples are compared "
        "only within it.",
    )
    event_value: str | None = seldom(
        None,
        "--event-value",
        metavar="LABEL",
        help="The label in --event that says that the event happened, such as dead. Default: 1, "
        "true or 1:...",
    )

    @property
    def _columns_by_role(self) -> dict[str, str]:
        """The columns by what they hold."""
        columns = {"time": self.survival_time, **vars(self)}
        del columns["survival_time"], columns["event_value"]
        return {name: column for name, column in columns.items() if column is not None}

    def check(self, target: str | None, task: str) -> None:
        """Refuse options that do not go together."""
        given = {f"--{name}": column for name, column in self._columns_by_role.items()}
        if self.event_value is not None and self.event is None:
            raise UsageError("--event-value needs --time and --event")
        if not given:
            return
        if self.survival_time is None or self.event is None:
            missing = "--time" if self.survival_time is None else "--event"
            raise UsageError(f"{next(iter(given))} needs {missing} too: survival times need both")
        if target is not None:
            raise UsageError("--target and --time exclude each other: name one target")
        if task != "auto":
            raise UsageError(f"--task {task} and --time exclude each other: leave --task out")
        if len(set(given.values())) < len(given):
            raise UsageError(f"{' and '.join(given)} must name different columns")

    def task(self, task: str) -> str:
        """How the target is read."""
        return task if self.survival_time is None else "survival"

    def read_table(self, reading: Reading, path: Path, task: str, **how: Any) -> Table:
        """The table with survival times as its target, where they were asked for."""
        if self.survival_time is None:
            return reading.read_table(path, task=task, **how)
        target = (self.survival_time, self.event)
        named: dict[str, Any] = {
            "entry": self.entry,
            "strata": self.strata,
            "event_value": self.event_value,
        }
        return reading.read_table(path, target=target, **named, **how)
