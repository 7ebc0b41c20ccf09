"""How a report was made, so that it can be repeated."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from ..scoring.outcomes import software
from .elements import Facts, Listing, Section, Table


def how_made(
    parameters: Mapping[str, object] | None,
    *,
    command: str = "",
    code: str = "",
    seed: int | None = None,
    versions: Mapping[str, str] | None = None,
    text: Sequence[str] = (),
    tables: Sequence[Table] = (),
) -> Section:
    """The section that ends every report.

    Parameters
    ----------
    parameters : dict or None
        Of the method.
    command, code : str
        What makes the same report, on a command line or in Python.
    seed : int, default=None
        Of the folds.
    versions : dict, default=None
        Software behind the results; that of this process if not given.
    text : sequence of str
        Sentences on the procedure.
    tables : sequence of Table
        What was compared.

    Returns
    -------
    section : Section
    """
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts: dict[str, object] = {"made": now, **(software() if versions is None else versions)}
    if seed is not None:
        facts["seed"] = seed
    lines = {"Command line": command, "In Python": code}
    blocks: list = [*tables, *(Listing(title, text) for title, text in lines.items() if text)]
    if parameters:
        blocks.append(Facts("Parameters", {k: repr(v) for k, v in parameters.items()}))
    return Section("How it was made", text, [*blocks, Facts("Software", facts)])
