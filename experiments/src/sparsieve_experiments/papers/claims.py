"""What a paper claims, and what our numbers say about it.

A claim is a declaration: the claim in the paper's terms, where it is printed, what the paper
reports, and which rows of which exhibit are compared. One engine judges all of them. A comparison
is paired over data sets: settings and splits are averaged within a data set first, so that the
interval is over data sets. Where the paper claims a count ("on 9 of 11 sets"), the count is the
verdict and its test stands beside it. Theorems and single runs are shown or not shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from sparsieve._text import plural
from sparsieve.app.io import write_table

from ..studies.exhibits import Exhibit
from .numbers import rounded

HELD, FAILED, UNCLEAR, OTHER = "held", "did not hold", "cannot tell", "not comparable"
EQUAL, SHOWN, NOT_SHOWN = "equal", "shown", "not shown"
VERDICTS = (HELD, FAILED, UNCLEAR, EQUAL, OTHER, SHOWN, NOT_SHOWN)
MANY_SETS = 100  # more data sets than anybody has compared these methods on
LARGEST_CLASS = "largest_class_percent"  # of the exhibit that lists the data sets
DATA_SETS = "Data sets"

Rows = Sequence[Mapping[str, Any]]
CHANGES: dict[str, Callable[[Sequence[float]], float]] = {
    "deviation": lambda values: float(np.std(values)),
    "range": lambda values: max(values) - min(values),
}


class NotComparable(ValueError):
    """What makes the rows of a claim found that they cannot show it; the message says why."""


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
    splits : str, int, tuple of int or None
        Splits behind a value, or the column that has them; None where nothing is drawn.
    rows : callable, default=None
        Makes the rows to compare of an exhibit; its own rows if not given.
    where : mapping of str to a value or a tuple of values
        Only rows that have one of these values in these columns.
    kinds : mapping of str to tuple of str
        Compare kinds of methods, each by the mean of its methods, instead of methods.
    over : str
        A column, such as the number of features: compare how the column changes over it,
        measured by ``change``.
    change : {"deviation", "range"}
        Standard deviation, or largest less smallest value.
    ratio : bool, default=False
        Compare by the ratio: for times and iterations.
    at_least : float, default=0.0
        How much better the paper says that it is; of a ratio its logarithm.
    same_within : float or None
        The paper claims no difference: differences up to this size count as none. The verdict
        says from which size on it would hold.
    count : str
        On how many data sets the paper says that the method is ahead of all rivals: "9 of 11", or
        "all". The claim held if our share is as large; it did not hold if so small a count has a
        probability below 5 % where every data set is won with the claimed share.
    ties : bool, default=False
        Count data sets on which it is as good as the best rival.
    each_setting : bool, default=False
        Count the settings of a data set one by one, such as the cells of a table.
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
    splits: str | int | tuple[int, ...] | None = None
    rows: Callable[[Exhibit], Rows] | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    over: str = ""
    change: str = "deviation"
    ratio: bool = False
    at_least: float = 0.0
    same_within: float | None = None
    count: str = ""
    ties: bool = False
    each_setting: bool = False
    unit_of: str = "dataset"
    accuracy: bool = False
    because: str = ""

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise ValueError(f"better must be higher or lower, got {self.better!r}")
        if self.change not in CHANGES:
            raise ValueError(f"change must be one of {list(CHANGES)}, got {self.change!r}")
        if self.method in self.rivals:
            raise ValueError(f"a claim compares {self.method} with itself")
        if self.count and self.count != "all" and not re.fullmatch(r"\d+ of \d+", self.count):
            raise ValueError(f"count must be all or like '9 of 11', got {self.count!r}")

    @property
    def share(self) -> float:
        """The share of data sets that the paper's count claims."""
        if self.count == "all":
            return 1.0
        won, of_all = self.count.split(" of ")
        return int(won) / int(of_all)


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
    rival : str
        The rival that decides.
    ahead, behind : int or None
        Data sets on which the method is better or worse than that rival.
    sign_test_p : float or None
        Two-sided, of these counts; with several rivals by Holm's correction for all of them. It
        decides where several rivals are to be beaten and there are enough data sets for it.
    won : int or None
        Where the paper claims a count: ours.
    counted : str
        The same in words, and how probable so small a one is if the paper's
        share is right.
    sets_needed : int or None
        How many data sets like these would settle a difference of this size, where the interval
        is on both sides; None where it is not, or where nobody can say.
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
    rival: str = ""
    ahead: int | None = None
    behind: int | None = None
    sign_test_p: float | None = None
    won: int | None = None
    counted: str = ""
    sets_needed: int | None = None
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
            "claim": self.claim,
            "paper": f"{self.printed_in}: {self.reported}",
            "ours": f"{self.measured} {note}".strip(),
            "difference [95 % interval]": self.interval,
            "measured on": self.over,
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
        """What it is over, and how often ahead, in words."""
        if self.data_sets is None:
            return ""
        many = [plural(self.data_sets, self.units)]
        if self.splits:
            many.append("1 split" if self.splits == "1" else f"{self.splits} splits")
        if self.settings is not None and self.settings > 1:
            many.append(f"{self.settings} settings")
        ahead = (
            f"ahead of {self.rival} on {self.ahead} of {self.data_sets} "
            f"(sign test: p = {self.sign_test_p:.2g})"
        )
        return "; ".join([", ".join(many), *filter(None, [self.counted]), ahead])


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
    return f"{plural(len(claims), 'claim')}: {', '.join(counts)}." if claims else "No claims."


def what_would_settle(claims: Sequence[Judged]) -> str:
    """Of the claims without a verdict, how many lack what, in sentences; "" if there are none.

    Examples
    --------
    >>> from sparsieve_experiments.papers.claims import Judged, what_would_settle
    >>> what_would_settle([Judged("A", "", "", sets_needed=12), Judged("B", "", "", data_sets=1)])
    '2 claims cannot be told: 1 needs more data sets (12); 1 has one data set only.'
    """
    unclear = [claim for claim in claims if claim.verdict == UNCLEAR]
    if not unclear:
        return ""
    known = [(c.sets_needed, c.claim) for c in unclear if c.sets_needed is not None]
    some = sorted(needed for needed, _ in known if needed <= MANY_SETS)
    never = [claim for needed, claim in known if needed > MANY_SETS]
    absent = sum(claim.data_sets is claim.sets_needed is None for claim in unclear)
    single = sum(claim.data_sets == 1 for claim in unclear)
    rest = len(unclear) - len(known) - single - absent
    said = []
    if some:
        sizes = f"{some[0]} to {some[-1]}" if some[1:] and some[0] < some[-1] else f"{some[0]}"
        said.append(f"{_needs(len(some))} more data sets ({sizes})")
    for count, what in (
        (absent, "no numbers here"),
        (single, "one data set only"),
        (rest, "too few data sets for a count"),
    ):
        if count:
            said.append(f"{count} {'has' if count == 1 else 'have'} {what}")
    if never:
        listed = "; ".join(never)
        said.append(
            f"{_needs(len(never))} more than {MANY_SETS} data sets, so that no data at hand or in "
            f"reach could settle {'it' if len(never) == 1 else 'them'}: {listed}"
        )
    return f"{plural(len(unclear), 'claim')} cannot be told: {'; '.join(said)}."


def _needs(count: int) -> str:
    return f"{count} {'needs' if count == 1 else 'need'}"


def write_claims(claims: Sequence[Judged], path: Path) -> None:
    """Write a table with one row per claim, in the format of the file's suffix."""
    rows = [claim.as_row for claim in claims]
    names = [one.name for one in fields(Judged)]
    shown = {n: ["" if row[n] is None else str(row[n]) for row in rows] for n in names}
    write_table(path, {name: np.array(texts) for name, texts in shown.items()})
