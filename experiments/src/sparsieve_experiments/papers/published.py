"""Numbers that the papers print, as they print them."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any


def published(table: str) -> list[dict]:
    """The rows of a printed table; numbers are floats, empty cells None.

    Parameters
    ----------
    table : str
        "data_sets", "l20_table2", "l0mkl_tables4_5_6", "l0mkl_table7", "l0mpm_table2",
        "l0mpm_tables3_5_6_7", "l0mpm_table4" or "l0mpm_synthetic".

    Returns
    -------
    rows : list of dict

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.

    Examples
    --------
    >>> from sparsieve_experiments.papers.published import published
    >>> published("l0mkl_table7")[0]["dataset"]
    'ALLAML'
    """
    path = resources.files(__package__).joinpath("tables", f"{table}.csv")
    with path.open(encoding="utf-8") as lines:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(lines)]


def published_by(table: str, *names: str) -> dict[Any, dict]:
    """The rows of a printed table by what some columns hold: a value, or a tuple of several.

    Examples
    --------
    >>> from sparsieve_experiments.papers.published import published_by
    >>> published_by("l0mkl_table7", "dataset")["ALLAML"]["dataset"]
    'ALLAML'
    """
    return {
        row[names[0]] if len(names) == 1 else tuple(row[name] for name in names): row
        for row in published(table)
    }


def _value(text: str) -> str | float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text
