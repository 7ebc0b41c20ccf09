"""Do claims hold their level? False discovery proportion and power where the truth is known.

Planted truth: the columns of real data, and a target made of few of them. Global nulls: data
without any relation to the target. Half of the designs are for tuning, the others decide. A claim
is true if its correlation with a true column is at least 0.7, as the selector sees the columns.
Methods:

- ``own``: ``FDRSelector()``; ``sets``: with ``claim="set"``, where a claim is true if a true
  column, or a copy of one, is in the set; ``marginal``: Benjamini and Hochberg on the p-values of
  single columns;
- those of :mod:`benchmarks.claims_rivals`: ``stability``, ``shadows``, ``knockpy`` and ``trex``
  (where they are installed) and ``factors``.

::

    python -m benchmarks.claims run build/claims.jsonl own marginal  # goes on where it was stopped
    python -m benchmarks.claims table build/claims.jsonl             # writes claims.csv beside this
    python -m benchmarks.claims_page                                 # writes the page from that
"""

from __future__ import annotations

import csv
import json
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from time import process_time

from benchmarks import common
from benchmarks.claims_designs import clipped, designs, draw, settings
from benchmarks.claims_rivals import RIVALS

import numpy as np  # isort: skip
from scipy.stats import binom, norm
from scipy.stats import t as student

LEVEL = 0.1
N_REPEATS = 100
N_NULL = 200  # of designs without signal
# Where not as many.
REPEATS = {"trex": 20, "factors": 20, "stability": 10, "shadows": 10, "knockpy": 3}
TABLE = common.ROOT / "benchmarks" / "claims.csv"
FIELDS = ("design", "half", "method", "n", "d", "true", "repeats", "fdr", "fdr_low", "fdr_high")
FIELDS += ("power", "power_low", "power_high", "fdr_sd", "claims", "any", "seconds", "size")


def claims_of(method, X, y, design):
    """Columns that a method claims; of ``sets`` a list of them."""
    from sparsieve import FDRSelector

    if method in RIVALS:
        return RIVALS[method](X, y, LEVEL)
    told = settings(design, y)
    groups = told.pop("groups", None)
    claim = {"own": "conditional", "sets": "set"}.get(method, method)
    selector = FDRSelector(LEVEL, claim=claim, **told)
    selector.fit(X, y, groups=groups)
    if method == "sets":
        return [np.array([i for i, _ in some], dtype=int) for some in selector.sets_.values()]
    return selector.get_support(indices=True)


def outcome(claims, true, X, classes):
    """(false claims, share of the true columns that are found)."""
    from sparsieve.design.sparse import normal_scores
    from sparsieve.selectors.least_squares.claim_data import MIN_CLASS, MIN_CLIPPED

    if not len(true):
        return len(claims), 0.0
    rare = classes is not None and np.unique(classes, return_counts=True)[1].min() < MIN_CLASS
    Z = clipped(normal_scores(X) if rare or len(X) < MIN_CLIPPED else X)
    if isinstance(claims, list):  # sets of columns
        same = np.abs(Z.T @ Z[:, true]) / len(X) >= 1 - 1e-7
        close = np.array([same[some].any(axis=0) for some in claims]).reshape(-1, len(true))
        return int((~close.any(axis=1)).sum()), float(close.any(axis=0).mean())
    close = np.abs(Z[:, claims].T @ Z[:, true]) / len(X) >= 0.7
    return int((~close.any(axis=1)).sum()), float(close.any(axis=0).mean())


def repeats(method: str, design: str) -> int:
    """How often a method meets a design; 0 for never."""
    if design.startswith("null: "):
        return {"own": N_NULL, "sets": N_REPEATS}.get(method, 0)
    if method in ("trex", "factors") and draw(design, 0)[1].dtype.kind != "f":  # for numbers
        return 0
    if method == "knockpy":
        n, d = draw(design, 0)[0].shape
        if n >= 3 * d and "linear" in design:
            return N_REPEATS
        if " ten " in design:  # unordered classes are no numbers
            return 0
    return REPEATS.get(method, N_REPEATS)


def run(path: Path, methods: list[str]) -> None:
    """Add a line for every design and method that the file lacks, repeat by repeat."""
    done: dict[tuple[str, str], int] = defaultdict(int)
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            done[row["design"], row["method"]] += 1
    wanted = {
        (design, method): repeats(method, design) for design in designs() for method in methods
    }
    with path.open("a") as lines:
        for repeat in range(N_NULL):  # all designs once, then again
            for (design, method), limit in wanted.items():
                if done[design, method] <= repeat < limit:
                    once(lines, design, method, repeat)
                    lines.flush()


def once(lines, design, method, repeat):
    X, y, true = draw(design, repeat)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        claims = claims_of(method, X, y, design)
    seconds = process_time() - start
    told = settings(design, y)
    if told.get("always_keep") and method != "sets":
        claims = claims[claims != 0]
    classes = told["task"] == "classification"
    false, power = outcome(claims, true, X, y if classes else None)
    row = {"design": design, "method": method, "repeat": repeat, "n": len(X), "d": X.shape[1]}
    row |= {"true": len(true), "claims": len(claims), "false": false, "power": power}
    if method == "sets":
        row["sizes"] = [len(some) for some in claims]
    lines.write(json.dumps(row | {"seconds": round(seconds, 4)}) + "\n")


def interval(values):
    """Mean and its 95 % interval; no smaller than what one more false claim would make of it."""
    values = np.asarray(values, dtype=float)
    mean, n = values.mean(), len(values)
    half = norm.isf(0.025) * max(values.std(ddof=1) if n > 1 else 1.0, 1e-9) / np.sqrt(n)
    high = max(mean + half, 3.0 / n) if mean < 3.0 / n else mean + half
    return mean, max(mean - half, 0.0), min(high, 1.0)


def above_level(rows, level=LEVEL) -> dict[str, float]:
    """How sure it is that designs have a false discovery rate above the level.

    Without signal, the rate is the probability of any claim: an exact binomial test. With planted
    truth: a t-test of the mean proportion, which is careful because most proportions are zero.

    Parameters
    ----------
    rows : list of dict
        Rows of one method in claims.csv, one for each design.
    level : float

    Returns
    -------
    adjusted : dict of str to float
        One-sided p-value of every design, adjusted by Holm's procedure. If no rate is above the
        level, the probability that any of these is below 0.01 is at most 1 %.

    Examples
    --------
    >>> from benchmarks.claims import above_level
    >>> row = {"design": "null", "true": 0, "repeats": 200, "fdr": 0.2, "fdr_sd": 0.4}
    >>> found = above_level([row, row | {"design": "other", "fdr": 0.1}])
    >>> {design: round(p, 4) for design, p in found.items()}
    {'null': 0.0, 'other': 0.5345}
    """
    found = {}
    for row in rows:
        rate, spread, n = float(row["fdr"]), float(row["fdr_sd"]), int(row["repeats"])
        if not int(row["true"]):
            found[row["design"]] = float(binom.sf(round(rate * n) - 1, n, level))
        elif spread > 0 and n > 1:
            found[row["design"]] = float(student.sf((rate - level) / (spread / np.sqrt(n)), n - 1))
        else:
            found[row["design"]] = float(rate <= level)
    adjusted, largest = {}, 0.0
    for place, (design, p) in enumerate(sorted(found.items(), key=lambda item: item[1])):
        largest = max(largest, min((len(found) - place) * p, 1.0))
        adjusted[design] = largest
    return adjusted


def table(path: Path) -> None:
    """A row for every design and method; what the file lacks stays as it was in claims.csv."""
    found = defaultdict(list)
    with TABLE.open(newline="") as lines:
        kept = {(row["design"], row["method"]): row for row in csv.DictReader(lines)}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        found[row["design"], row["method"]].append(row)
    rows = []
    for design, half in designs().items():
        for method in sorted({m for d, m in (*found, *kept) if d == design}):
            if not (some := found[design, method]):
                rows.append(kept[design, method])
                continue
            shares = [one["false"] / max(one["claims"], 1) for one in some]
            fdr = interval(shares)
            power = interval([one["power"] for one in some])
            sizes = [size for one in some for size in one.get("sizes", ())]
            numbers = dict(zip(FIELDS[7:13], (f"{x:.3f}" for x in (*fdr, *power)), strict=True))
            rows.append(
                {
                    **{"design": design, "half": half, "method": method, "repeats": len(some)},
                    **{key: some[0][key] for key in ("n", "d", "true")},
                    **numbers,
                    "fdr_sd": f"{np.std(shares, ddof=1) if len(some) > 1 else 0.0:.4f}",
                    "claims": f"{np.mean([one['claims'] for one in some]):.2f}",
                    "any": f"{np.mean([one['claims'] > 0 for one in some]):.3f}",
                    "seconds": f"{np.median([one['seconds'] for one in some]):.3g}",
                    "size": f"{np.median(sizes):.0f}" if sizes else "",
                }
            )
    with TABLE.open("w", newline="") as out:
        writer = csv.DictWriter(out, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


def means(rows) -> dict[tuple[str, str], list[dict[str, str]]]:
    """Rows with a planted truth by method and half."""
    by = defaultdict(list)
    for row in rows:
        if int(row["true"]):
            by[row["method"], row["half"]].append(row)
    return dict(sorted(by.items()))


if __name__ == "__main__":
    where = Path(sys.argv[2])
    if sys.argv[1] == "run":
        where.parent.mkdir(parents=True, exist_ok=True)
        run(where, sys.argv[3:])
    else:
        table(where)
