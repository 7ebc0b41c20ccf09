"""What a paper's package declares in ``exhibits.toml`` and ``claims.toml``.

Code computes rows. Titles, notes and pictures of exhibits, and the claims that they are judged by,
are declarations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..studies.exhibits import Drawing, Exhibit
from .claims import Claim, Compared, Shows
from .judging import trend
from .levels import content, plain


def exhibit(package: str, name: str, rows: Sequence[dict], summary: Sequence[dict] = ()) -> Exhibit:
    """The exhibit of this name that a package declares, with its rows.

    Parameters
    ----------
    package : str
        Its name.
    name : str
        As the paper calls the table or figure.
    rows, summary : sequence of dict
        See :class:`sparsieve_experiments.studies.exhibits.Exhibit`.

    Examples
    --------
    >>> from sparsieve_experiments.papers.declared import exhibit
    >>> exhibit("sparsieve_experiments.papers.l20", "Figure 7", []).title
    'Computation time of the sparse methods'
    """
    declared = content(package, "exhibits.toml")
    said = next((said for said in declared["exhibit"] if said["name"] == name), None)
    if said is None:
        raise LookupError(f"{package} declares no exhibit {name!r}")
    drawings = [Drawing(**drawing) for drawing in said.get("drawings", ())]
    note = said["note"].format_map(declared["shared"])
    return Exhibit(name, said["title"], rows, drawings, note, summary)


def declared(package: str, functions: Mapping[str, Any], scale: Any) -> list[Claim]:
    """The claims that ``claims.toml`` of a package declares.

    Parameters
    ----------
    package : str
        Its name.
    functions : mapping of str to callable
        What ``rows`` and ``shows`` of a claim name.
    scale : object
        How much is computed; ``splits`` may name a number of it.

    Examples
    --------
    >>> from sparsieve_experiments.papers.declared import declared
    >>> from sparsieve_experiments.papers.l20 import claims, plan
    >>> declared(claims.__package__, vars(claims), plan.FULL)[0].printed_in
    'Figure 1'
    """
    return [
        _claim(dict(said), functions, scale) for said in content(package, "claims.toml")["claim"]
    ]


def _claim(said: dict[str, Any], functions: Mapping[str, Any], scale: Any) -> Claim:
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
