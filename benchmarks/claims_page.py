"""The page "Do claims hold?" of the documentation and its tables, from benchmarks/claims.csv."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from textwrap import fill

from benchmarks import common
from benchmarks.claims import LEVEL, TABLE, above_level, means

import numpy as np  # isort: skip

PAGE = common.ROOT / "docs" / "measured" / "claims.md"
Row = dict[str, str]
VARIANTS = {
    "base": "what `FDRSelector` does, before the test with shuffled targets",
    "stop0.2": "the path ends at a step p-value of 0.2 instead of 0.5",
    "stop0.8": "the path ends at 0.8",
    "half": "half as many steps",
    "double": "twice as many steps",
    "cauchy": "the p-values of these three lengths, combined by Cauchy's rule",
    "max": "the largest of these three p-values",
    "near": "the larger p-value of this path and of one with a step less",
    "next": "the larger p-value of this path and of one with a step more",
    "evalues": "e-values of the three lengths, averaged, and the e-BH procedure",
    "more": "more candidates",
    "alone": "the length of the path is chosen without the candidate",
}
METHODS = {
    "own": "`FDRSelector`",
    "knockoffs": "knockoffs (MVR, five copies)",
    "marginal": '`claim="marginal"`',
    "knockpy": "knockpy (MVR)",
    "trex": "T-Rex",
    "factors": "knockoffs, factor model",
    "stability": "`StabilitySelection`",
    "shadows": "`ShadowSelector`",
}
WEAK = 0.4  # power of single claims below which a design counts as small
SETS = """
Of the sets {false:.3f} were false on average, {worst} in the worst design, and {power:.2f} of the
true columns were in a set ({own:.2f} were claimed as single features or by substitutes). On the
{n_weak} designs where single claims find at most {weak:g} of the true columns, sets find
{ratio:.1f} times as many. Where there is nothing to find, some set was claimed in {worst_null} of
the data sets in the worst of {n_nulls} designs, and in {next_null} in the next one. At the 1 %
level, after Holm's correction, the rate is above {level:g} for: {above}. A test of a set leaves all
its features out, so what moves all of them at once, such as a drift of the instrument that nobody
recorded, looks like a set that matters; record it and pass it as `always_keep`.
"""
TEXT = """# Do claims hold?

`FDRSelector(level=0.1)` on data with a known truth: the target was made of a few columns of real
or simulated data, or of none at all. A claim counts as true if it is one of these columns or
correlated with one by 0.7 or more. False: mean share of false claims among all claims, with its
95 % interval. Power: mean share of the true columns that were claimed. Of real data at most 200
samples and 400 columns were used. `python -m benchmarks.claims` measures all of this, and
`python -m benchmarks.claims_page` writes this page.

**These are rates of the designs below, and no bound: the worst situation is one that was not
tried.** Structure of X that goes with the target and that nobody recorded is dangerous, such as
populations, a batch or a drift, in addition to features that matter. As long as the designs had no
populations with true features, the worst rate was 0.13; in three populations it was then 0.28, and
a further test brought it to 0.07. What you know of samples is worth more than any test: pass it as
`always_keep`, or ask for `adjust="components"`.

## The decision

{decision}

## Planted truth

{planted}

Over these designs {mean_false:.3f} of the claims were false on average, and {mean_power:.2f}
of the true columns were claimed.

## Nothing to find

The share of data sets with any claim, which should be at most {level:g}. "Before": the same data
sets without the test with shuffled targets, and with ranks in place of normal scores.

{nulls}

{before}

In the designs with patients, `groups` says which samples belong together, unless the design says
that it was not told; then, and where each sample is there twice, they are found. A known batch is
passed as `always_keep`. In the design with a mixed hidden batch, `adjust="components"` was set; in
the other ones with a hidden batch or a drift, it was left to the default, "auto", which misses a
batch that goes with the target no more than any single feature does.

## Sets of features

`claim="set"` on the same data. A set counts as true if it holds one of the columns that the target
was made of, and a column as found if a set holds it, whatever is correlated with it. Size: median
number of columns in a set.

{sets}

{sets_text}

## Other methods on the same designs

{others_text}

False claims, and then power:

{others_false}

{others_power}

On the designs that each method met:

{others}

## What was tried

Half of the designs were for tuning, the other half decided. On those for tuning:

{variants}

None of these was kept. Other changes:

```{{csv-table}}
:file: claims_changes.csv
:header-rows: 1
```

Not all figures are of one version; the last rows say which are of which.
"""
SHOWN = """```{{csv-table}}
:file: {file}
:header-rows: 1
:class: dense
```"""
DECISION = """For each of {n_designs} designs, a one-sided test asks whether the false discovery
rate is above {level:g}: an exact binomial test where there is nothing to find, a t-test
otherwise. Holm's procedure corrects for the number of designs. {found} The mean over designs is
{mean:.3f}. Measured rates above {level:g}: {above}. {doubtful}"""
BEFORE = """Without that test, claims appeared in up to {worst} of data sets. `FDRSelector` now
claims nothing unless some feature explains y better than features explain at least 90 % of
shuffled copies of y (at a level of 0.1). If there is nothing to find and samples are independent,
this bounds the probability of a conditional claim by the level: whatever the data are without
covariates, and approximately with covariates whose values do not repeat, such as age."""
TEXT_OF_OTHERS = """None of these promises what a conditional claim promises. `claim="marginal"` is
the procedure of Benjamini and Hochberg on single columns, read as if its claims were conditional.
Knockoffs by MVR were a claim of an earlier version, for three samples for each column and more;
data that it refused count as no claims.
knockpy 1.3.5 ran with MVR knockoffs, a lasso and the Ledoit-Wolf covariance, T-Rex (trexselector
0.6.18, for numbers) with its defaults, which suppose independent columns. `StabilitySelection`
has its defaults (one false selection expected), and `ShadowSelector` 20 extremely randomised trees
and 60 rounds. Only `FDRSelector` was told of the recorded batch of the confounder design. Methods
that take long had fewer repeats; the number of repeats is in brackets. knockpy took 9 to 18 seconds
on 300 to 400 columns and ran on few of these designs; no number where a method did not run.
Knockoffs with a factor model are for numbers here."""


def with_interval(row: Row, what: str) -> str:
    """``0.05 (0.02 to 0.08)``."""
    low, high = float(row[f"{what}_low"]), float(row[f"{what}_high"])
    return f"{float(row[what]):.2f} ({low:.2f} to {high:.2f})"


def mean_of(rows: list[Row], what: str) -> float:
    """Mean over designs."""
    return float(np.mean([float(row[what]) for row in rows])) if rows else float("nan")


def worst_of(rows: list[Row]) -> str:
    """The largest false discovery rate."""
    return f"{max(float(row['fdr']) for row in rows):.2f}"


def repeats_of(rows: list[Row]) -> str:
    """``10`` or ``5 to 10``."""
    numbers = sorted({int(row["repeats"]) for row in rows})
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def compared(by: dict[str, dict[str, Row]]) -> list[list[str]]:
    """A row for every other method."""
    rows = []
    for method, title in METHODS.items():
        some = [row for row in by.get(method, {}).values() if int(row["true"])]
        if some and method != "own":
            same = [by["own"][row["design"]] for row in some]
            means_of = (mean_of(some, "power"), mean_of(same, "fdr"), mean_of(same, "power"))
            head = [title, str(len(some)), repeats_of(some), f"{mean_of(some, 'fdr'):.2f}"]
            rows.append([*head, worst_of(some), *(f"{value:.2f}" for value in means_of)])
    return rows


def side_by_side(by: dict[str, dict[str, Row]], what: str) -> list[list[str]]:
    """A row for every design, with a cell for every method."""
    lines = []
    for design, own in by["own"].items():
        if int(own["true"]):
            rows = [by[method].get(design) for method in METHODS if method in by]
            cells = [
                f"{with_interval(row, what)} [{row['repeats']}]" if row else "" for row in rows
            ]
            lines.append([design, *cells])
    return lines


def about_sets(by: dict[str, dict[str, Row]]) -> str:
    """What claims about sets come to."""
    planted = {name: row for name, row in by["sets"].items() if int(row["true"])}
    nulls = {name: row for name, row in by["sets"].items() if not int(row["true"])}
    weak = [name for name in planted if float(by["own"][name]["power"]) <= WEAK]
    ratio = sum(float(planted[name]["power"]) for name in weak) / sum(
        float(by["own"][name]["power"]) for name in weak
    )
    above = [name for name, p in above_level(list(by["sets"].values())).items() if p < 0.01]
    rates = sorted(((float(row["fdr"]), name) for name, row in nulls.items()), reverse=True)
    said = SETS.format(
        false=mean_of(list(planted.values()), "fdr"),
        worst=worst_of(list(planted.values())),
        power=mean_of(list(planted.values()), "power"),
        own=mean_of([by["own"][name] for name in planted], "power"),
        n_weak=len(weak),
        weak=WEAK,
        ratio=ratio,
        level=LEVEL,
        n_nulls=len(nulls),
        worst_null=f"{rates[0][0]:.2f} ({rates[0][1].removeprefix('null: ')})",
        next_null=f"{rates[1][0]:.2f}",
        above=", ".join(name.removeprefix("null: ") for name in above) or "no design",
    )
    return fill(" ".join(said.split()), 100)


def decision(own: list[Row]) -> str:
    """What the tests of all designs say."""
    found = above_level(own)
    least = min(found, key=lambda design: found[design])
    named = [design for design, p in found.items() if p < 0.01]
    doubtful = [row["design"] for row in own if float(row["fdr_low"]) > LEVEL]
    rates = sorted(((float(row["fdr"]), row["design"]) for row in own), reverse=True)
    said = DECISION.format(
        n_designs=len(own),
        level=LEVEL,
        mean=mean_of(own, "fdr"),
        found=f"At the 1 % level, the rate is above {LEVEL:g} for: {', '.join(named)}."
        if named
        else f"At the 1 % level, the rate is above {LEVEL:g} for no design; the smallest corrected "
        f"p-value is {found[least]:.2f} ({least}).",
        above=", ".join(f"{design} ({rate:.2f})" for rate, design in rates if rate > LEVEL)
        or "none",
        doubtful=f"Taken alone, the 95 % interval of {' and of '.join(doubtful)} lies above "
        f"{LEVEL:g}: several classes of unequal size on real data are the weakest spot."
        if doubtful
        else "No 95 % interval lies above it.",
    )
    return fill(" ".join(said.split()), 100)


def by_method(rows: list[Row]) -> dict[str, dict[str, Row]]:
    """Method to design to its row."""
    by: dict[str, dict[str, Row]] = {}
    for row in rows:
        by.setdefault(row["method"], {})[row["design"]] = row
    return by


def tables(rows: list[Row]) -> dict[str, list[list[str]]]:
    """Name of a file to its table, a heading first."""
    by = by_method(rows)
    planted, nulls, sets, variants = [], [], [], []
    for row in by["own"].values():
        false = with_interval(row, "fdr")
        if int(row["true"]):
            size = f"{row['n']} x {row['d']}"
            power = with_interval(row, "power")
            planted.append([row["design"], size, row["repeats"], false, power])
        else:
            other = by["before"].get(row["design"])
            before = with_interval(other, "fdr") if other else ""
            nulls.append([row["design"].removeprefix("null: "), row["repeats"], false, before])
    for row in by["sets"].values():
        if int(row["true"]):
            rates = [with_interval(row, "fdr"), with_interval(row, "power")]
            single = f"{float(by['own'][row['design']]['power']):.2f}"
            sets.append([row["design"], row["repeats"], *rates, row["size"], single])
    for (method, half), some in means(rows).items():
        if half == "tune" and method in VARIANTS:
            rates = [f"{mean_of(some, 'fdr'):.2f}", worst_of(some), f"{mean_of(some, 'power'):.2f}"]
            variants.append([method, VARIANTS[method], repeats_of(some), *rates])
    side = ["data and truth", *(title for method, title in METHODS.items() if method in by)]
    rates = ["repeats", "false", "worst design", "power"]
    return {
        "planted": [["data and truth", "samples x columns", "repeats", "false", "power"], *planted],
        "nulls": [["data", "repeats", "some claim in", "before"], *nulls],
        "sets": [
            ["data and truth", "repeats", "false", "power", "size", "power of single claims"],
            *sets,
        ],
        "others_false": [side, *side_by_side(by, "fdr")],
        "others_power": [side, *side_by_side(by, "power")],
        "others": [["method", "designs", *rates, "own: false", "own: power"], *compared(by)],
        "variants": [["variant", "", *rates], *variants],
    }


def page(rows: list[Row]) -> str:
    """What the tables say."""
    by = by_method(rows)
    held = list(by["own"].values())
    planted = [row for row in held if int(row["true"])]
    worst = f"{100 * float(worst_of([*by['before'].values()])):.0f} %"
    return TEXT.format(
        level=LEVEL,
        decision=decision(held),
        before=fill(" ".join(BEFORE.format(worst=worst).split()), 100),
        mean_false=mean_of(planted, "fdr"),
        mean_power=mean_of(planted, "power"),
        sets_text=about_sets(by),
        others_text=TEXT_OF_OTHERS,
        **{name: SHOWN.format(file=file_of(name).name) for name in tables(rows)},
    )


def file_of(name: str) -> Path:
    """Where a table is."""
    return PAGE.with_name(f"claims_{name}.csv")


def as_csv(table: list[list[str]]) -> str:
    """The text of the file of a table."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue()


if __name__ == "__main__":
    with TABLE.open(newline="") as lines:
        measured = list(csv.DictReader(lines))
    PAGE.write_text(page(measured), encoding="utf-8")
    for name, table in tables(measured).items():
        file_of(name).write_text(as_csv(table), encoding="utf-8")
