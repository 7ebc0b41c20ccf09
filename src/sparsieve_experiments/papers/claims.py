"""What a paper claims, and what our numbers say about it.

A claim is a declaration: the claim in the paper's terms, where it is printed, what the paper
reports, and which rows of which exhibit are compared. One engine judges all of them. A comparison
is paired over data sets: settings and splits are averaged within a data set first, so that the
interval is over data sets. Without an interval there is no verdict: theorems and single runs are
shown or not shown.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from sparsieve.io import write_table
from sparsieve.report.wording import counted, listed_names
from sparsieve.scoring.over_splits import split_difference
from sparsieve.scoring.statistics import LEVEL

from ..studies.exhibits import Exhibit
from .numbers import grouped, rounded

HELD, FAILED, UNCLEAR, OTHER = "held", "did not hold", "cannot tell", "not comparable"
SHOWN, NOT_SHOWN = "shown", "not shown"
VERDICTS = (HELD, FAILED, UNCLEAR, OTHER, SHOWN, NOT_SHOWN)
LARGEST_CLASS = "largest_class_percent"  # of the exhibit that lists the data sets
DATA_SETS = "Data sets"

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Compared:
    """How much better a method is than others, over the data sets of an exhibit.

    Parameters
    ----------
    column : str
        What is compared.
    method : str
        Of which something is claimed.
    rivals : tuple of str
        What it is compared with; all other methods of the rows if not given.
    better : {"higher", "lower"}, default="higher"
    unit : str, default="points"
        Of a difference.
    settings : tuple of str
        Columns that tell the rows of a data set and a method apart.
    splits : str, int or None
        Splits behind a value, or the column that has them; None where nothing is drawn.
    rows : callable, default=None
        Makes the rows to compare of an exhibit; its own rows if not given.
    ratio : bool, default=False
        Compare by the ratio: for times and iterations.
    at_least : float, default=0.0
        How much better the paper says that it is; of a ratio its logarithm.
    same_within : float or None
        The paper claims no difference: differences up to this size count as none.
    unit_of : str, default="dataset"
        The column of independent units.
    accuracy : bool, default=False
        Name the data sets on which no method beats always predicting the largest class.
    because : str
        What a reader of the verdict has to know.

    Examples
    --------
    >>> from sparsieve_experiments.papers.claims import Compared
    >>> Compared("seconds", "AHIHT", ("HIHT",), "lower", ratio=True).method
    'AHIHT'
    """

    column: str
    method: str
    rivals: tuple[str, ...] = ()
    better: str = "higher"
    unit: str = "points"
    settings: tuple[str, ...] = ()
    splits: str | int | None = None
    rows: Callable[[Exhibit], Rows] | None = None
    ratio: bool = False
    at_least: float = 0.0
    same_within: float | None = None
    unit_of: str = "dataset"
    accuracy: bool = False
    because: str = ""

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise ValueError(f"better must be higher or lower, got {self.better!r}")
        if self.method in self.rivals:
            raise ValueError(f"a claim compares {self.method} with itself")


@dataclass(frozen=True)
class Shows:
    """A theorem or a single run: whether an exhibit shows it, and what it shows.

    Parameters
    ----------
    finds : callable
        Takes the exhibit and gives whether it is shown, and what was measured in a phrase.
    because : str
        What a reader has to know.
    """

    finds: Callable[[Exhibit], tuple[bool, str]]
    because: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Parameters
    ----------
    says : str
        In the paper's terms.
    printed_in : str
        Where it stands: "Table II", "Figure 4".
    reported : str
        What the paper reports.
    exhibit : str
        The exhibit that is judged.
    judged : Compared, Shows or str
        How; a string says why it cannot be compared.

    Examples
    --------
    >>> from sparsieve_experiments.papers.claims import Claim, Compared
    >>> Claim("A is better", "Table 1", "6 of 8", "Table 1", Compared("accuracy", "A")).exhibit
    'Table 1'
    """

    says: str
    printed_in: str
    reported: str
    exhibit: str
    judged: Compared | Shows | str


@dataclass(frozen=True)
class Judged:
    """A claim and its verdict; a row of the claims table and of ``--claims``.

    Attributes
    ----------
    claim, printed_in, reported, measured : str
        What the paper says, where and with which numbers; what we measured.
    data_sets, units, splits, settings : int or None, str, str, int or None
        What the measurement is over; the units are "data set", or what takes their place.
    difference, low, high : float or None
        Of the method less the rival that decides, with a 95 % interval; a ratio in "times".
    unit : str
    ahead, behind : int or None
        Data sets on which the method is better or worse than that rival.
    sign_test_p : float or None
        Two-sided, of these counts.
    verdict : str
        One of ``VERDICTS``.
    because : str
        What a reader has to know of the verdict.
    """

    claim: str
    printed_in: str
    reported: str
    measured: str = ""
    data_sets: int | None = None
    units: str = ""
    splits: str = ""
    settings: int | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    ahead: int | None = None
    behind: int | None = None
    sign_test_p: float | None = None
    verdict: str = UNCLEAR
    because: str = ""

    @property
    def as_row(self) -> dict[str, Any]:
        """All of it, as ``--claims`` writes it."""
        return asdict(self)

    @property
    def shown(self) -> dict[str, str]:
        """The same in the few columns of a table that fits a page."""
        because = f"because {self.because}" if self.verdict == OTHER else self.because
        note = f"({because})" if self.measured and because else because
        return {
            "verdict": self.verdict,
            "claim": f"{self.claim} ({self.printed_in})",
            "paper": self.reported,
            "ours": f"{self.measured} {note}".strip(),
            "difference [95 % interval]": self.interval,
            "sets × splits × settings; ahead on, sign test": self.over,
        }

    @property
    def interval(self) -> str:
        """The difference in words: "-1.2 [-3, 0.6]", or a ratio: "0.86 [0.49, 1.5] times"."""
        if self.difference is None:
            return ""
        number, low, high = (rounded(v, 2) for v in (self.difference, self.low, self.high))
        span = f" [{low:g}, {high:g}]" if self.low is not None else ""
        return f"{number:g}{span} times" if self.unit == "times" else f"{number:+g}{span}"

    @property
    def over(self) -> str:
        """What it is over, and how often ahead: "6 × 3 × 2; 2 of 6, p = 0.38"."""
        if self.data_sets is None:
            return ""
        other = "" if self.units == "data set" else f" {self.units}s"
        counts = f"{self.data_sets}{other} × {self.splits or 1} × {self.settings or 1}"
        return f"{counts}; {self.ahead} of {self.data_sets}, p = {self.sign_test_p:.2g}"


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
    >>> from sparsieve_experiments.papers.claims import declared
    >>> from sparsieve_experiments.papers.l20 import claims, plan
    >>> declared(claims.__package__, vars(claims), plan.FULL)[0].printed_in
    'Figure 1'
    """
    text = resources.files(package).joinpath("claims.toml").read_text(encoding="utf-8")
    return [_claim(said, functions, scale) for said in tomllib.loads(text)["claim"]]


def _claim(said: dict[str, Any], functions: Mapping[str, Any], scale: Any) -> Claim:
    told = {name: said.pop(name) for name in ("says", "printed_in", "reported")}
    told["exhibit"] = said.pop("exhibit", told["printed_in"])
    if "not_comparable" in said:
        return Claim(**told, judged=said["not_comparable"])
    if "trend" in said:
        return Claim(**told, judged=Shows(partial(trend, **said["trend"])))
    if "shows" in said:
        return Claim(**told, judged=Shows(functions[said.pop("shows")], **said))
    how: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in said.items()
    }
    if "rows" in how:
        how["rows"] = functions[how["rows"]]
    if isinstance(how.get("splits"), str):
        how["splits"] = getattr(scale, how["splits"], how["splits"])
    return Claim(**told, judged=Compared(**how))


def trend(
    exhibit: Exhibit, x: str, y: str, *, rises: bool, line: str | None = None
) -> tuple[bool, str]:
    """Whether a column rises (or falls) from the smallest to the largest x, on every line."""
    rows = [row for row in exhibit.rows if row[y] is not None]
    ends = []
    for group in grouped(rows, *([line] if line else [])).values():
        ordered = sorted(group, key=lambda row: row[x])
        ends.append((ordered[0][y], ordered[-1][y]))
    held = sum((b > a) if rises else (b < a) for a, b in ends)
    low, high = (sum(values) / len(values) for values in zip(*ends, strict=True))
    on = f", so on {held} of {len(ends)} lines" if len(ends) > 1 else ""
    what = y.removeprefix("n_").replace("_", " ")
    return held == len(ends), f"{what} {_shown(low)} to {_shown(high)}{on}"


def counted_verdicts(claims: Iterable[Judged]) -> dict[str, int]:
    """How many claims have each verdict, in the order of ``VERDICTS``."""
    counts = Counter(claim.verdict for claim in claims)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def in_words(claims: Sequence[Judged]) -> str:
    """The verdicts in a sentence.

    Examples
    --------
    >>> from sparsieve_experiments.papers.claims import Judged, in_words
    >>> in_words([Judged("A", "", "", verdict="held"), Judged("B", "", "")])
    '2 claims: 1 held, 1 cannot tell.'
    """
    counts = [f"{count} {verdict}" for verdict, count in counted_verdicts(claims).items()]
    return f"{counted(len(claims), 'claim')}: {', '.join(counts)}." if claims else "No claims."


def write_claims(claims: Sequence[Judged], path: Path) -> None:
    """Write a table with one row per claim, in the format of the file's suffix."""
    rows = [claim.as_row for claim in claims]
    columns = {}
    for field in fields(Judged):
        values = [row[field.name] for row in rows]
        is_text = any(isinstance(value, str) for value in values)
        columns[field.name] = np.array(values, dtype=str if is_text else float)
    write_table(path, columns)


def judge_all(claims: Iterable[Claim], exhibits: Iterable[Exhibit]) -> list[Judged]:
    """Judge every claim by the exhibits.

    Examples
    --------
    >>> from sparsieve_experiments.papers.claims import Claim, Compared, judge_all
    >>> from sparsieve_experiments.studies.exhibits import Exhibit
    >>> rows = [{"dataset": d, "method": m, "accuracy": a} for d, m, a in (
    ...     ("x", "A", 90), ("x", "B", 80), ("y", "A", 81), ("y", "B", 70), ("z", "A", 71),
    ...     ("z", "B", 60))]
    >>> claim = Claim("A is better", "Table 1", "", "Table 1", Compared("accuracy", "A", ("B",)))
    >>> found, = judge_all([claim], [Exhibit("Table 1", "", rows)])
    >>> found.verdict, found.interval, found.ahead
    ('held', '+11 [9.2, 12]', 3)
    """
    named = {exhibit.name: exhibit for exhibit in exhibits}
    chance = {
        row["dataset"]: row[LARGEST_CLASS]
        for row in (named[DATA_SETS].rows if DATA_SETS in named else ())
        if row.get(LARGEST_CLASS) is not None
    }
    return [_judged(claim, named.get(claim.exhibit), chance) for claim in claims]


def _judged(claim: Claim, exhibit: Exhibit | None, chance: Mapping[str, float]) -> Judged:
    told = (claim.says, claim.printed_in, claim.reported)
    if isinstance(claim.judged, str):
        return Judged(*told, verdict=OTHER, because=claim.judged)
    if exhibit is None or not exhibit.rows:
        return Judged(*told, because=f"{claim.exhibit} was not computed")
    if isinstance(claim.judged, Shows):
        found, measured = claim.judged.finds(exhibit)
        verdict = SHOWN if found else NOT_SHOWN
        return Judged(*told, measured, verdict=verdict, because=claim.judged.because)
    return Judged(*told, **_compared(claim.judged, exhibit, chance))


def _compared(how: Compared, exhibit: Exhibit, chance: Mapping[str, float]) -> dict[str, Any]:
    rows = exhibit.rows if how.rows is None else how.rows(exhibit)
    rivals = how.rivals or tuple(
        name for name in dict.fromkeys(row["method"] for row in rows) if name != how.method
    )
    cases = _complete(rows, how, (how.method, *rivals))
    if not cases or not rivals:
        return {"because": "no data set has numbers of all methods"}
    units = dict.fromkeys(case[0] for case in cases)
    means = {
        method: [
            float(np.mean([values[method] for case, values in cases.items() if case[0] == unit]))
            for unit in units
        ]
        for method in (how.method, *rivals)
    }
    remarks = [how.because] if how.because else []
    idle = [
        unit
        for i, unit in enumerate(units)
        if how.accuracy
        and unit in chance
        and not _beats(max(m[i] for m in means.values()), chance[unit])
    ]
    if idle:
        remarks.append(f"{listed_names(idle)}: no better than guessing")
    splits = _splits(rows, how)
    if len(units) < 2:
        remarks.append(f"only {next(iter(units))} can be compared")
    return {
        **_difference(how, means, rivals),
        "data_sets": len(units),
        "units": "data set" if how.unit_of == "dataset" else how.unit_of,
        "splits": splits,
        "settings": len({case[1:] for case in cases}) if how.settings else None,
        "because": "; ".join(remarks),
    }


def _complete(rows: Rows, how: Compared, methods: Sequence[str]) -> dict[tuple, dict[str, float]]:
    """The cases in which every method has a value, by method; logarithms where ratios count."""
    found = {}
    for case, group in grouped(map(dict, rows), how.unit_of, *how.settings).items():
        values = {
            row["method"]: float(row[how.column])
            for row in group
            if row["method"] in methods and row[how.column] is not None
        }
        if len(values) == len(methods) and all(map(math.isfinite, values.values())):
            found[case] = {m: math.log(v) if how.ratio else v for m, v in values.items()}
    return found


def _difference(
    how: Compared, means: Mapping[str, list[float]], rivals: Sequence[str]
) -> dict[str, Any]:
    """The method less the rival that decides, with a simultaneous interval, and the verdict."""
    sign = 1.0 if how.better == "higher" else -1.0
    n_units = len(means[how.method])
    pairs = {rival: (sign * (means[how.method][0] - means[rival][0]), math.inf) for rival in rivals}
    if n_units > 1:
        # The intervals against all rivals hold together.
        width = float(stats.t.isf(LEVEL / len(rivals) / 2, n_units - 1))
        for rival in rivals:
            found = split_difference(means[how.method], means[rival], 0.0)
            pairs[rival] = sign * found.mean, width * found.error
    verdict, rival = _verdict(how, pairs)
    gap, margin = pairs[rival]
    ours, theirs = np.array(means[how.method]), np.array(means[rival])
    leads = np.where(np.isclose(ours, theirs, rtol=1e-9), 0.0, sign * (ours - theirs))
    ahead, behind = int((leads > 0).sum()), int((leads < 0).sum())
    ends = sorted(sign * end for end in (gap - margin, gap + margin))
    known = math.isfinite(margin)
    back = math.exp if how.ratio else float
    unit = "times" if how.ratio else how.unit
    of_values = "" if unit in ("points", "times") else f" {unit}"
    return {
        "measured": f"{how.method} {_shown(back(ours.mean()))}, "
        f"{rival} {_shown(back(theirs.mean()))}{of_values}",
        "difference": rounded(back(sign * gap) + 0.0),  # no -0
        "low": rounded(back(ends[0]) + 0.0) if known else None,
        "high": rounded(back(ends[1]) + 0.0) if known else None,
        "unit": unit,
        "ahead": ahead,
        "behind": behind,
        "sign_test_p": rounded(float(stats.binomtest(ahead, ahead + behind).pvalue), 3)
        if ahead + behind
        else 1.0,
        "verdict": verdict,
    }


def _verdict(how: Compared, pairs: Mapping[str, tuple[float, float]]) -> tuple[str, str]:
    """Held against every rival, failed against some, or neither; and the rival that decides."""
    if how.same_within is not None:
        pairs = {rival: (how.same_within - abs(gap), m) for rival, (gap, m) in pairs.items()}
    ahead = {rival: gap - how.at_least for rival, (gap, _) in pairs.items()}
    cleared = [rival for rival, (_, margin) in pairs.items() if ahead[rival] > margin]
    failed = [
        rival
        for rival, (_, margin) in pairs.items()
        if ahead[rival] < -margin or ahead[rival] == margin == 0.0
    ]
    verdict = FAILED if failed else HELD if len(cleared) == len(pairs) else UNCLEAR
    deciding = failed or [rival for rival in pairs if rival not in cleared] or cleared
    return verdict, min(deciding, key=lambda rival: ahead[rival])


def _splits(rows: Rows, how: Compared) -> str:
    if not isinstance(how.splits, str):
        return "" if how.splits is None else str(how.splits)
    counts = sorted({row[how.splits] for row in rows if row.get(how.splits) is not None})
    return "" if not counts else f"{counts[0]}" + (f"–{counts[-1]}" if counts[1:] else "")


def _beats(score: float, chance: float) -> bool:
    """Whether a score is above a chance level, both as they are printed."""
    return float(f"{score:.4g}") > float(f"{chance:.4g}")


def _shown(value: float) -> str:
    return f"{rounded(value, 3):g}"
