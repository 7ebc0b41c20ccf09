"""What the documentation says of the records, against the records."""

from pathlib import Path

import pytest

from sparsieve_experiments.papers import read_record

TABLE = Path(__file__).parents[3] / "docs" / "measured" / "paper_rows.csv"


@pytest.mark.long("the claims of a paper are judged")
def test_a_row_that_was_recorded_anew_is_told_as_it_is():
    if not TABLE.exists():
        pytest.skip("the documentation is not part of this copy")
    claims = read_record("l20").reproduction.claims
    starts = next(claim for claim in claims if "every initial W" in claim.claim)
    assert starts.measured.partition(": ")[2] in TABLE.read_text(encoding="utf-8")
