"""Figures as files: sizes of a journal, text as text, the same bytes every time."""

import re

import pytest

from sparsieve.app.plotting.kinds import ChartDisplay
from sparsieve.app.plotting.selection import save_displays
from sparsieve.app.report.elements import make_chart

BARS = ChartDisplay(
    make_chart(
        "Scores", "bars", [("gene α", 0.5), ("$x$", 0.2)], {"y": "", "x": "score"}, "A note."
    )
)
LINES = ChartDisplay(
    make_chart("Lines", "lines", [(1, 0.5), (2, 0.7)], {"x": "k", "y": "accuracy"})
)


def millimetres(svg):
    return float(re.search(r'width="([\d.]+)pt"', svg)[1]) / 72 * 25.4


def test_files_are_the_same_every_time_and_carry_no_date(tmp_path):
    both = [
        save_displays([("bars", BARS), ("lines", LINES)], tmp_path / part, formats=("svg", "pdf"))
        for part in ("one", "two")
    ]
    names = ["bars.svg", "bars.pdf", "lines.svg", "lines.pdf", "captions.md"]
    for paths in both:
        assert [path.name for path in paths] == names
    for first, second in zip(*both, strict=True):
        assert first.read_bytes() == second.read_bytes()
    assert b"CreationDate" not in (tmp_path / "one" / "bars.pdf").read_bytes()
    assert "dc:date" not in (tmp_path / "one" / "bars.svg").read_text()


@pytest.mark.parametrize(("width", "due"), [("single", 85), ("double", 180), (120.0, 120)])
def test_widths_and_text(tmp_path, width, due):
    save_displays([("bars", BARS)], tmp_path, width=width, formats="svg")
    svg = (tmp_path / "bars.svg").read_text()
    assert millimetres(svg) == pytest.approx(due, abs=0.5)
    assert "<text" in svg
    assert ">gene α</text>" in svg
    assert ">$x$</text>" in svg


def test_captions_and_words_for_who_cannot_see(tmp_path):
    save_displays([("bars", BARS)], tmp_path, formats=("png",))
    said = (tmp_path / "captions.md").read_text()
    assert "## bars\n\nScores. A note.\n" in said
    assert "Alternative text: Scores: bar chart of 2 rows by score. Largest: gene α 0.5" in said
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_settings_of_the_reader_stay_and_do_not_matter(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path"}):
        save_displays([("bars", BARS)], tmp_path / "a", formats="svg")
        assert matplotlib.rcParams["font.size"] == 30
    save_displays([("bars", BARS)], tmp_path / "b", formats="svg")
    assert (tmp_path / "a/bars.svg").read_bytes() == (tmp_path / "b/bars.svg").read_bytes()


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="formats must be"):
        save_displays([("bars", BARS)], tmp_path / "x", formats=("svg", "bmp"))
    with pytest.raises(ValueError, match="width must be"):
        save_displays([("bars", BARS)], tmp_path / "x", width="wide")
    with pytest.raises(ValueError, match="width must be 30 to 1000 millimetres"):
        save_displays([("bars", BARS)], tmp_path / "x", width=3)
    assert not (tmp_path / "x").exists()
