"""The speed table of docs/measured.md: ``python -m benchmarks.readme_speed [--write] [--quick]``.

Measures every row with its peers in one run and prints the table with day, processor and versions;
``--write`` puts it into docs/measured.md, between the two comments that mark its place. ``--quick``
tries the script on small parts of the data, and never writes.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from itertools import groupby

from benchmarks import exclusive, foundation
from benchmarks.common import ROOT, Row, conditions

START, END = "<!-- speed: make bench-readme -->", "<!-- end of speed -->"
PEERS = ("celer", "skglm", "fastcan")
# As they are called here, and in the table.
DATA = {
    "allaml": "allaml 72 x 7129",
    "warppie10p": "warppie10p 210 x 2420, 10 classes",
    "isolet": "isolet 1560 x 617, 26 classes",
    "500 x 5000 x 5": "500 x 5000, 5 outputs, synthetic",
    "104 x 22283": "104 x 22,283",
    "glioma": "glioma 50 x 4434, 4 classes",
}


def seconds(value: float) -> str:
    """Two digits: 0.043, 0.21, 4.3, 12."""
    return f"{float(f'{value:.2g}'):g}"


def fastest(rows: list[Row]) -> str:
    """The fastest peer that came to objectives as good, or how long all of them tried in vain."""
    known = [row for row in rows if row.theirs is not None]
    # A note other than the tolerance says that a peer stopped short of our objective.
    done = [row for row in known if not row.note or row.note.startswith("tol")]
    called = {"sklearn": "scikit-learn"}
    if done:
        best = min(done, key=lambda row: row.theirs)
        return f"{seconds(best.theirs)} ({called.get(best.peer, best.peer)})"
    if not known:
        return ""
    names = ", ".join(called.get(row.peer, row.peer) for row in known)
    return f"over {seconds(min(row.theirs for row in known))} ({names})"


def lines(quick: bool) -> Iterator[tuple[str, str, str, str]]:
    """(task, data, ours, the fastest peer)."""
    few = foundation.problems(("allaml",), synthetic=False) if quick else foundation.problems()
    problems = [(name, X[:, : 300 if quick else None], Y) for name, X, Y in few]
    task = f"l2,1 path, {foundation.N_ALPHAS} strengths, gap 1e-6"
    found = foundation.l21_rows(problems, limit=10.0 if quick else foundation.LIMIT)
    for name, rows in groupby(found, lambda row: row.data):
        several = list(rows)
        yield task, name, seconds(several[0].ours), fastest(several)
    for row in foundation.forward_rows(("allaml",) if quick else ("allaml", "isolet")):
        yield row.task, row.data, seconds(row.ours), fastest([row])
    task = "exclusive l2,1 to 1e-5 of the optimum, (.1, .01) alpha_max"
    names = ("glioma",) if quick else ("glioma", "isolet")
    columns = 300 if quick else None
    for name, _, ours, alm, note in exclusive.against_alm(names, [".1, .01 alpha_max"], columns):
        assert not note, f"the ALM does not reach 1e-5 on {name}:{note}"
        yield task, name, seconds(ours), f"{seconds(alm)} (the paper's ALM, compiled)"


def table(quick: bool = False) -> str:
    """Conditions and rows, as Markdown."""
    said = (
        f"Seconds; {conditions(*PEERS)}.\nWhere something is optimised, to equally good objectives:"
    )
    rows = [said, "", "| task | data | sparsieve | fastest peer |", "|---|---|---|---|"]
    before = ""
    for task, name, ours, theirs in lines(quick):
        print(f"{task}: {name}: {ours}, {theirs or 'no peer'}", flush=True)
        shown = "" if task == before else task
        rows.append(f"| {shown} | {DATA.get(name, name)} | {ours} | {theirs} |".replace("  ", " "))
        before = task
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small parts of the data, no writing")
    parser.add_argument("--write", action="store_true", help="put the table into docs/measured.md")
    asked = parser.parse_args()
    made = table(asked.quick)
    print("\n" + made)
    if asked.write and not asked.quick:
        page = ROOT / "docs" / "measured.md"
        place = re.compile(f"{re.escape(START)}.*{re.escape(END)}", re.DOTALL)
        text, count = place.subn(lambda _: f"{START}\n{made}\n{END}", page.read_text("utf-8"))
        assert count == 1, "docs/measured.md does not have the two comments that mark the table"
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
