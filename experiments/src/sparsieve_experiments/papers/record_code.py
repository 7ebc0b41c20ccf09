"""Which code made the rows of a record, and which rows are of older code than today's.

Every row of a method carries the digest of the sources that solved it, see
:mod:`sparsieve_experiments.papers.solver_code`; ``solved_by.toml`` says which these are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sparsieve._text import plural

from ..studies.exhibits import Exhibit, place_of_row
from ..studies.names import ALL_FEATURES
from .levels import content
from .solver_code import code_now


@dataclass(frozen=True)
class Older:
    """What an exhibit has of rows that another code has made than today's.

    Attributes
    ----------
    exhibit : str
    methods : tuple of str
        Methods of these rows; empty where the rows name none.
    n_rows : int
        All rows that a solver has made.
    n_older, n_unknown : int
        Those of older code, and those that do not say which code has made them.
    """

    exhibit: str
    methods: tuple[str, ...]
    n_rows: int
    n_older: int
    n_unknown: int

    @property
    def as_row(self) -> dict[str, Any]:
        """As a table shows it."""
        return {
            "exhibit": self.exhibit,
            "rows": self.n_rows,
            "of older code": self.n_older,
            "of unknown code": self.n_unknown,
            "methods": "; ".join(self.methods),
        }


def solvers_of(paper: str, exhibit: str, method: str) -> tuple[str, ...]:
    """The classes that solve the rows of a method in an exhibit; none if no solver is needed.

    Examples
    --------
    >>> from sparsieve_experiments.papers.record_code import solvers_of
    >>> solvers_of("l20", "Figure 2", "RFS (best on test)"), solvers_of("l20", "Figure 4", "")
    (('RFSSelector',), ('L20Selector',))
    >>> solvers_of("l20", "Figure 2", "baseline")
    ()
    """
    known = content(__package__, "solved_by.toml")[paper]
    if exhibit in known:
        return tuple(known[exhibit])
    found = [start for start in known if method.startswith(start)]
    return tuple(known[max(found, key=len)]) if found else ()


def code_of_cell(paper: str, setting: Mapping[str, Any]) -> str:
    """The digest of what computes a cell; of all solvers of the paper where it names none."""
    name = str(setting.get("selector") or "")
    if name == ALL_FEATURES:
        return ""
    if name:
        return digest((name,))
    found = solvers_of(paper, "", str(setting.get("method") or ""))
    every = content(__package__, "solved_by.toml")[paper].values()
    return digest(found or tuple(sorted({name for names in every for name in names})))


def stamped(paper: str, exhibit: Exhibit) -> Exhibit:
    """An exhibit that was just computed, with the digests of the code that runs."""
    return replace(exhibit, codes=_codes_now(paper, exhibit))


def older_rows(paper: str, exhibits: Sequence[Exhibit]) -> list[Older]:
    """The exhibits that have rows of other code than today's, and how many."""
    found = []
    for exhibit in exhibits:
        now = _codes_now(paper, exhibit)
        places = Counter(map(place_of_row, exhibit.rows))
        unknown = {place for place in now if place not in exhibit.codes}
        older = {place for place in now if exhibit.codes.get(place, now[place]) != now[place]}
        if older or unknown:
            methods = dict.fromkeys(method for _, method in now if method)
            stale = {method for _, method in older | unknown}
            found.append(
                Older(
                    exhibit.name,
                    tuple(method for method in methods if method in stale),
                    *(sum(places[place] for place in some) for some in (now, older, unknown)),
                )
            )
    return found


def in_words(older: Sequence[Older]) -> str:
    """How many rows are of other code than today's, in a sentence."""
    if not older:
        return "Every row that a solver has made is of today's code."
    parts = [
        f"{number:,} of {'older' if known else 'unknown'} code"
        for known, number in (
            (True, sum(one.n_older for one in older)),
            (False, sum(one.n_unknown for one in older)),
        )
        if number
    ]
    return (
        f"{' and '.join(parts)}, of {plural(sum(one.n_rows for one in older), 'row')} in "
        f"{plural(len(older), 'exhibit')}: the solvers of today may give other numbers there."
    )


def _codes_now(paper: str, exhibit: Exhibit) -> dict[tuple[str, str], str]:
    found = {}
    for place in dict.fromkeys(map(place_of_row, exhibit.rows)):
        solvers = solvers_of(paper, exhibit.name, place[1])
        if solvers:
            found[place] = digest(solvers)
    return found


@cache
def digest(solvers: tuple[str, ...]) -> str:
    """Of the code of these classes as it runs."""
    return code_now().digest(solvers)
