"""What the guide to the papers says of the verdicts, against the records."""

from pathlib import Path

import pytest

from sparsieve.datasets.registry import PAPERS
from sparsieve_experiments.papers import read_record
from sparsieve_experiments.papers.claims import MANY_SETS, UNCLEAR, VERDICTS, counted_verdicts

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "reproducing.md"
# What a claim without a verdict lacks.
LACKS = ("more data sets", "data sets for a count", "over 100 data sets")


def lack(claim):
    if claim.sets_needed is None:
        return LACKS[1]
    return LACKS[2] if claim.sets_needed > MANY_SETS else LACKS[0]


def line(name, counts):
    return f"| {name} | {' | '.join(map(str, counts))} |"


@pytest.mark.long("the claims of all five papers are judged")
def test_the_verdicts_of_the_guide_are_those_of_the_records():
    if not PAGE.exists():
        pytest.skip("the documentation is not part of this copy")
    claims = {paper: read_record(paper).reproduction.claims for paper in PAPERS}
    claims["all"] = [claim for found in claims.values() for claim in found]
    unclear = {name: [c for c in found if c.verdict == UNCLEAR] for name, found in claims.items()}
    expected = ["| paper | claims | " + " | ".join(VERDICTS) + " |"]
    expected += [
        line(
            f"`{name}`" if name != "all" else name,
            [len(found), *(counted_verdicts(found).get(verdict, 0) for verdict in VERDICTS)],
        )
        for name, found in claims.items()
    ]
    expected += [
        line(one, [sum(lack(claim) == one for claim in unclear[name]) for name in claims])
        for one in LACKS
    ]
    never = [claim.claim for claim in unclear["all"] if lack(claim) == LACKS[2]]
    expected += [f"- {claim}" for claim in never]
    said = PAGE.read_text(encoding="utf-8").splitlines()
    missing = [text for text in expected if text not in said]
    assert not missing, "\n".join(["not in the guide:", *missing])
    starts = next(claim for claim in claims["l20"] if "every initial W" in claim.claim)
    assert starts.measured.partition(": ")[2] in PAGE.read_text(encoding="utf-8")
    # Nothing that is settled is still called open.
    start = said.index("No data in reach could settle:")
    listed = said[start + 2 :]
    assert listed[: len(never)] == [f"- {claim}" for claim in never]
    assert not listed[len(never)].startswith("- ")
