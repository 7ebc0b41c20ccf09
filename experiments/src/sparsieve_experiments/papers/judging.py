"""How claims are judged: one engine for all papers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from sparsieve._text import listed_names
from sparsieve.scoring.stability import split_difference
from sparsieve.scoring.statistics import LEVEL, holm

from ..studies.exhibits import Exhibit
from .claims import (
    CHANGES,
    DATA_SETS,
    EQUAL,
    FAILED,
    HELD,
    LARGEST_CLASS,
    MANY_SETS,
    NOT_SHOWN,
    OTHER,
    SHOWN,
    UNCLEAR,
    Claim,
    Compared,
    Judged,
    NotComparable,
    Rows,
    Shows,
)
from .numbers import grouped, rounded


def judge_all(
    claims: Iterable[Claim],
    exhibits: Iterable[Exhibit],
    coarser: Mapping[str, Collection[str]] | None = None,
) -> list[Judged]:
    """Judge every claim by the exhibits.

    ``coarser`` names data sets, by exhibit, that were measured less thoroughly than the others: a
    comparison leaves them out, and says so.

    Examples
    --------
    >>> from sparsieve_experiments.papers.claims import Claim, Compared
    >>> from sparsieve_experiments.papers.judging import judge_all
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
    return [
        _judged(claim, named.get(claim.exhibit), chance, (coarser or {}).get(claim.exhibit, ()))
        for claim in claims
    ]


def _judged(
    claim: Claim, exhibit: Exhibit | None, chance: Mapping[str, float], coarser: Collection[str]
) -> Judged:
    told = (claim.says, claim.printed_in, claim.reported)
    if isinstance(claim.judged, str):
        return Judged(*told, verdict=OTHER, because=claim.judged)
    if exhibit is None or not exhibit.rows:
        return Judged(*told, because=f"{claim.exhibit} was not computed")
    if isinstance(claim.judged, Shows):
        found, measured = claim.judged.finds(exhibit)
        verdict = SHOWN if found else NOT_SHOWN
        return Judged(*told, measured, verdict=verdict, because=claim.judged.because)
    try:
        return Judged(*told, **_compared(claim.judged, exhibit, chance, coarser))
    except NotComparable as error:
        return Judged(*told, verdict=OTHER, because=str(error))


def _compared(
    how: Compared, exhibit: Exhibit, chance: Mapping[str, float], coarser: Collection[str]
) -> dict[str, Any]:
    every = _rows(how, exhibit)
    rows = [row for row in every if row.get("dataset") not in coarser]
    left_out = [name for name in coarser if any(row.get("dataset") == name for row in every)]
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
    if left_out:
        remarks.append(f"without {listed_names(left_out)}, which has fewer splits")
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
    found = _difference(how, means, rivals)
    if how.count:
        apart = {m: [values[m] for values in cases.values()] for m in means}
        found |= _counted(how, apart if how.each_setting else means, rivals)
    if found["verdict"] != UNCLEAR:
        found["sets_needed"] = None
    return {
        **found,
        "data_sets": len(units),
        "units": _unit(how),
        "splits": splits,
        "settings": len({case[1:] for case in cases}) if how.settings else None,
        "because": "; ".join([*remarks, *found["because"]]),
    }


def _rows(how: Compared, exhibit: Exhibit) -> Rows:
    """The rows to compare: some of an exhibit, or what is made of them."""
    rows = [
        dict(row)
        for row in (exhibit.rows if how.rows is None else how.rows(exhibit))
        if all(row[name] in _several(values) for name, values in how.where.items())
    ]
    if how.kinds:
        of_kinds = [
            {**row, "method": kind}
            for row in rows
            for kind, methods in how.kinds.items()
            if row["method"] in methods
        ]
        rows = _reduced(of_kinds, how, (*how.settings, "method"), np.mean)
    if how.over:
        # Of one value nothing changes.
        several = [
            row
            for group in grouped(rows, how.unit_of, "method").values()
            if len({row[how.over] for row in group}) > 1
            for row in group
        ]
        rows = _reduced(several, how, ("method",), CHANGES[how.change])
    return rows


def _reduced(
    rows: Sequence[dict], how: Compared, by: Sequence[str], measure: Callable
) -> list[dict]:
    """A row for every unit and what else is named, with one number of its values."""
    return [
        {**group[0], how.column: float(measure([row[how.column] for row in group]))}
        for group in grouped(rows, how.unit_of, *by).values()
    ]


def _complete(rows: Rows, how: Compared, methods: Sequence[str]) -> dict[tuple, dict[str, float]]:
    """The cases in which every method has a value, by method; logarithms where ratios count."""
    found = {}
    for case, group in grouped(map(dict, rows), how.unit_of, *how.settings).items():
        values = {
            row["method"]: float(row[how.column])
            for row in group
            if row["method"] in methods and row[how.column] is not None
        }
        if how.ratio and min(values.values(), default=0.0) <= 0.0:
            continue  # nothing has a ratio to zero
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
    leads = {rival: _leads(how, means, rival) for rival in rivals}
    corrected = dict(zip(rivals, holm([_sign_test(leads[r]) for r in rivals]), strict=True))
    remarks = []
    if _can_tell(how, n_units, len(rivals)):
        verdict, rival = _by_signs(leads, corrected)
        remarks.append(f"by sign tests, p corrected for {len(rivals)} rivals")
    gap, margin = pairs[rival]
    needed = _sets_needed(how, gap, margin, n_units, len(rivals))
    ours, theirs = np.array(means[how.method]), np.array(means[rival])
    ahead, behind = int((leads[rival] > 0).sum()), int((leads[rival] < 0).sum())
    ends = sorted(sign * end for end in (gap - margin, gap + margin))
    known = math.isfinite(margin)
    same = known and not ahead + behind
    remarks += ["the same everywhere"] if same else []
    if same and verdict == UNCLEAR:
        verdict, needed = EQUAL, None
    if how.same_within is not None and known:
        within = max(abs(gap) + margin for gap, margin in pairs.values())
        remarks.append(f"holds within {rounded(within, 3):g} {how.unit}")
    back = math.exp if how.ratio else float
    unit = "times" if how.ratio else how.unit
    of_values = "" if unit in ("", "points", "times") else f" {unit}"
    return {
        "measured": f"{how.method} {_shown(back(ours.mean()))}, "
        f"{rival} {_shown(back(theirs.mean()))}{of_values}",
        "difference": rounded(back(sign * gap) + 0.0),  # no -0
        "low": rounded(back(ends[0]) + 0.0) if known else None,
        "high": rounded(back(ends[1]) + 0.0) if known else None,
        "unit": unit,
        "rival": rival,
        "ahead": ahead,
        "behind": behind,
        "sign_test_p": rounded(corrected[rival], 3),
        "sets_needed": needed,
        "verdict": verdict,
        "because": remarks,
    }


def _can_tell(how: Compared, n_units: int, n_rivals: int) -> bool:
    """Whether corrected sign tests judge: of the best of several, where they have enough sets."""
    plain = how.same_within is None and not how.at_least
    return plain and n_rivals > 1 and 2.0 * 0.5**n_units * n_rivals < LEVEL


def _by_signs(leads: Mapping[str, np.ndarray], corrected: Mapping[str, float]) -> tuple[str, str]:
    """Held where every rival is behind, failed where one is ahead; and the rival that decides."""
    sums = {rival: float(np.sign(found).sum()) for rival, found in leads.items()}
    told = [rival for rival in leads if corrected[rival] < LEVEL]
    failed = [rival for rival in told if sums[rival] < 0]
    beaten = [rival for rival in told if sums[rival] > 0]
    verdict = FAILED if failed else HELD if len(beaten) == len(leads) else UNCLEAR
    deciding = failed or [rival for rival in leads if rival not in beaten] or beaten
    return verdict, min(deciding, key=lambda rival: (sums[rival], leads[rival].mean()))


def _sign_test(leads: np.ndarray) -> float:
    """Two-sided, ties left out."""
    ahead, behind = int((leads > 0).sum()), int((leads < 0).sum())
    return float(stats.binomtest(ahead, ahead + behind).pvalue) if ahead + behind else 1.0


def _counted(
    how: Compared, values: Mapping[str, list[float]], rivals: Sequence[str]
) -> dict[str, Any]:
    """How often the method is ahead of all rivals, and the verdict on the paper's count."""
    least = np.min([_leads(how, values, rival) for rival in rivals], axis=0)
    won = int((least >= 0).sum() if how.ties else (least > 0).sum())
    p = float(stats.binom.cdf(won, len(least), how.share))
    verdict = HELD if won >= how.share * len(least) - 1e-9 else FAILED if p < LEVEL else UNCLEAR
    if len(least) < 2:
        verdict = UNCLEAR
    what = ("best" if rivals[1:] else "ahead") + (" or equal" if how.ties else "")
    each = "cells" if how.each_setting else f"{_unit(how)}s"
    claimed = "claimed: all" if how.count == "all" else f"p = {p:.2g} if it were on {how.count}"
    return {
        "won": won,
        "counted": f"{what} on {won} of {len(least)} {each} ({claimed})",
        "sets_needed": None,  # that of the interval says nothing of a count
        "verdict": verdict,
    }


def _leads(how: Compared, values: Mapping[str, list[float]], rival: str) -> np.ndarray:
    """How far the method is ahead of a rival in every case; a tie is zero."""
    ours, theirs = np.array(values[how.method]), np.array(values[rival])
    sign = 1.0 if how.better == "higher" else -1.0
    return np.where(np.isclose(ours, theirs, rtol=1e-9), 0.0, sign * (ours - theirs))


def _sets_needed(
    how: Compared, gap: float, margin: float, n_units: int, n_rivals: int
) -> int | None:
    """How many data sets would put an interval of this spread on one side; None for one set."""
    if not math.isfinite(margin) or not margin:
        return None
    lead = abs(how.same_within - abs(gap) if how.same_within is not None else gap - how.at_least)
    level = LEVEL / n_rivals / 2
    spread = margin / float(stats.t.isf(level, n_units - 1)) * math.sqrt(n_units)
    for count in range(2, MANY_SETS + 1):
        if float(stats.t.isf(level, count - 1)) * spread / math.sqrt(count) < lead:
            return count
    return MANY_SETS + 1


def _verdict(how: Compared, pairs: Mapping[str, tuple[float, float]]) -> tuple[str, str]:
    """Held against every rival, failed against some, or neither; and the rival that decides."""
    if how.same_within is not None:
        pairs = {rival: (how.same_within - abs(gap), m) for rival, (gap, m) in pairs.items()}
    ahead = {rival: gap - how.at_least for rival, (gap, _) in pairs.items()}
    cleared = [rival for rival, (_, margin) in pairs.items() if ahead[rival] > margin]
    failed = [rival for rival, (_, margin) in pairs.items() if ahead[rival] < -margin]
    verdict = FAILED if failed else HELD if len(cleared) == len(pairs) else UNCLEAR
    deciding = failed or [rival for rival in pairs if rival not in cleared] or cleared
    return verdict, min(deciding, key=lambda rival: ahead[rival])


def _splits(rows: Rows, how: Compared) -> str:
    if isinstance(how.splits, str):
        counts = sorted({row[how.splits] for row in rows if row.get(how.splits) is not None})
    else:
        counts = [] if how.splits is None else list(_several(how.splits))
    return "" if not counts else f"{counts[0]}" + (f"–{counts[-1]}" if counts[1:] else "")


def _beats(score: float, chance: float) -> bool:
    """Whether a score is above a chance level, both as they are printed."""
    return float(f"{score:.4g}") > float(f"{chance:.4g}")


def _unit(how: Compared) -> str:
    return "data set" if how.unit_of == "dataset" else how.unit_of


def _several(values: Any) -> tuple:
    return values if isinstance(values, tuple) else (values,)


def _shown(value: float) -> str:
    return f"{rounded(value, 3):g}"


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
    on = f" ({held} of {len(ends)} lines)" if len(ends) > 1 else ""
    what = y.removeprefix("n_").replace("_", " ")
    return held == len(ends), f"{what} {_shown(low)} to {_shown(high)}{on}"
