"""What a paper's package declares in ``exhibits.toml`` and ``claims.toml``.

Code computes rows. The experiments, titles, notes, short forms and pictures of exhibits, and the
claims that they are judged by, are declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from ..studies.exhibits import Drawing, Exhibit
from .base import Experiment, Preset
from .claims import Claim, Compared, Shows
from .judging import trend
from .levels import content, left_out, plain, scales
from .numbers import mean_rows, wide_rows


def preset(package: str) -> Preset:
    """The experiments that ``exhibits.toml`` of a package declares; ``run`` names a function.

    Examples
    --------
    >>> from sparsieve_experiments.papers.declared import preset
    >>> preset("sparsieve_experiments.papers.l20").paper
    'l20'
    """
    said = dict(content(package, "exhibits.toml")["preset"])
    experiments = []
    for one in said.pop("experiments"):
        run = _named(package, one["run"])
        experiments.append(Experiment(one["name"], one["title"], run))
    told = {
        "coarser": left_out(package),
        "claims": partial(declared, package),
        "headline": import_module(".claims", package).headline,
        "again": partial(again, package),
    }
    return Preset(experiments=experiments, **told, **said)


def _named(package: str, path: str) -> Callable[..., Any]:
    """The function of a path such as ".tables.scores" inside the package."""
    module, _, function = path.rpartition(".")
    return getattr(import_module(module, package), function)


def exhibit(package: str, name: str, rows: Sequence[dict], summary: Sequence[dict] = ()) -> Exhibit:
    """The exhibit of this name that a package declares, with its rows.

    Parameters
    ----------
    package : str
        Its name.
    name : str
        As the paper calls the table or figure.
    rows : sequence of dict
        See :class:`sparsieve_experiments.studies.exhibits.Exhibit`.
    summary : sequence of dict
        The rows in short, where that is not declared: rows with some values (``where``) and
        ``columns``, what :func:`mean_rows` or, with ``at``, :func:`wide_rows` makes of them, or
        what a function of the package (``run``) does. With ``totals``, the name that they have
        in the place of a data set, they stand below the rows as well.

    Examples
    --------
    >>> from sparsieve_experiments.papers.declared import exhibit
    >>> rows = [{"dataset": d, "method": "RFS", "seconds": s} for d, s in (("a", 1.0), ("b", 3.0))]
    >>> found = exhibit("sparsieve_experiments.papers.l20", "Figure 7", rows)
    >>> found.title, found.summary
    ('Computation time of the sparse methods', [{'method': 'RFS', 'seconds': 2.0}])
    """
    mine = _said(package, name)
    if mine is None:
        raise LookupError(f"{package} declares no exhibit {name!r}")
    drawings = [Drawing(**drawing) for drawing in mine.get("drawings", ())]
    note = mine["note"].format_map(content(package, "exhibits.toml")["shared"])
    if "summary" in mine and rows and not summary:
        summary = _in_short(package, rows, **mine["summary"])
        if "totals" in mine:
            apart = [row for row in rows if row["dataset"] != mine["totals"]]
            rows = [*apart, *summary]
    return Exhibit(name, mine["title"], rows, drawings, note, summary)


def again(package: str, found: Exhibit) -> Exhibit:
    """An exhibit with rows of several runs: its short form and totals are made anew."""
    mine = _said(package, found.name)
    if mine is None or "summary" not in mine:
        return found
    return exhibit(package, found.name, found.rows)


def _said(package: str, name: str) -> dict[str, Any] | None:
    said = content(package, "exhibits.toml")["exhibit"]
    return next((one for one in said if one["name"] == name), None)


def _in_short(package: str, rows: Sequence[dict], **how: Any) -> list[dict]:
    if "run" in how:
        return _named(package, how["run"])(rows)
    where = how.pop("where", {})
    rows = [row for row in rows if all(row[name] in where[name] for name in where)]
    if "by" in how and rows:
        return wide_rows(rows, **how) if "at" in how else mean_rows(rows, **how)
    shown = how.get("columns", rows[0] if rows else ())
    return [{name: row[name] for name in shown} for row in rows]


def declared(package: str, level: str) -> list[Claim]:
    """The claims that ``claims.toml`` of a package declares, for a reproduction of this level.

    ``rows`` and ``shows`` of a claim name functions of the module ``claims`` of the package, and
    ``splits`` may name a number of the level.

    Examples
    --------
    >>> from sparsieve_experiments.papers.declared import declared
    >>> declared("sparsieve_experiments.papers.l20", "full")[0].printed_in
    'Introduction'
    """
    functions, scale = vars(import_module(".claims", package)), scales(package)[level]
    return [
        _claim(dict(said), functions, scale) for said in content(package, "claims.toml")["claim"]
    ]


def _claim(said: dict[str, Any], functions: dict[str, Any], scale: Any) -> Claim:
    told = {name: said.pop(name) for name in ("says", "printed_in", "reported")}
    told["exhibit"] = said.pop("exhibit", told["printed_in"])
    if "not_comparable" in said:
        return Claim(**told, judged=said["not_comparable"])
    if "trend" in said:
        return Claim(**told, judged=Shows(partial(trend, **said["trend"])))
    if "shows" in said:
        return Claim(**told, judged=Shows(functions[said.pop("shows")], **said))
    how = plain(said)
    if "rows" in how:
        how["rows"] = functions[how["rows"]]
    if isinstance(how.get("splits"), str):
        how["splits"] = getattr(scale, how["splits"], how["splits"])
    return Claim(**told, judged=Compared(**how))
