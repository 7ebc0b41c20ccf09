import errno
import json
import os
import pathlib
import re

import pytest

from sparsieve.app.report import Report
from sparsieve.app.report import encodings as vega
from sparsieve.app.report.elements import Chart, Column, Facts, Listing, Section, Table, make_chart
from sparsieve.app.report.packing import to_text

NASTY = "<script>alert(1)</script>"  # the name of a feature, see fixtures/pages.py

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")


def page(*blocks, **settings):
    settings = {"title": "t", "headline": "h", **settings}
    return Report(sections=[Section("s", ["text"], blocks)], **settings).to_html()


def chart_data(html):
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.S)
    return json.loads(found[1])


def everywhere(text):
    """A report with a text in every place that there is."""
    columns = {"x": Column(text, [1.0]), "y": Column(text, [text])}
    blocks = [
        Table(text, [Column(text, [text])], note=text),
        Facts(text, {text: text}),
        Listing(text, text),
        Chart(text, "bars", columns, controls=("y",), note=text),
    ]
    sections = [Section(text, [text], blocks)]
    return Report(text, text, sections, figures={text: text}, warnings=[text])


def test_all_text_is_escaped_wherever_it_stands():
    html = everywhere(NASTY).to_html()
    assert NASTY not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 15
    # As data it comes back as it was.
    assert chart_data(html)[0]["columns"][1]["names"] == [NASTY]


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200f", "\u061c"])
def test_no_text_turns_the_direction_of_what_is_beside_it(mark):
    spelled = f"a\\u{ord(mark):04x}b"
    html = everywhere(f"a{mark}b").to_html()
    assert mark not in html
    assert html.count(spelled) >= 15
    assert chart_data(html)[0]["columns"][1]["names"] == [spelled]  # not the mark itself again
    assert mark not in everywhere(f"a{mark}b")._repr_html_()


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "\u2028", "&amp;", "' \" `"])
def test_text_cannot_leave_the_script_it_is_in(text):
    columns = {"x": Column("x", [1.0]), "y": Column("y", [text])}
    assert chart_data(page(Chart("c", "bars", columns)))[0]["columns"][1]["names"] == [text]


def test_nothing_comes_from_a_network():
    html = page(Chart("c", "points", {"x": Column("x", [1]), "y": Column("y", [2])}))
    assert "default-src 'none'" in html
    html = re.sub(r"<script.*?</script>", "", html, flags=re.S)  # watched in test_browser.py
    for attribute in ("src", "href"):
        for address in re.findall(
            rf'<(?:script|link|img|a|iframe)[^>]*\s{attribute}="([^"]*)"', html
        ):
            assert address.startswith(("#", "data:")), address
    assert not re.search(r"@import|url\(", html[: html.index("</style>")])


def test_names_below_dots_have_room_on_a_phone():
    rows = [(f"3: {'gene' * 9}", f"method{i}", "selected") for i in range(8)]
    chart = make_chart("Who", "dots", rows, {"y": "", "x": "", "series": ""})
    assert 'style="min-width: 468px"' in Report("r", "h", [Section("s", (), [chart])]).to_html()


def test_a_page_without_charts_needs_no_script_library():
    assert len(page(Table("t", [Column("a", [1])]))) < 60_000


@pytest.fixture
def script_cache(tmp_path, monkeypatch):
    """Where the script is kept, and the script itself made anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    converter = pytest.importorskip("vl_convert")
    made = vega.vega_script.__wrapped__()
    monkeypatch.setattr(converter, "javascript_bundle", lambda vl_version: made)
    return tmp_path / "sparsieve" / f"vega-{converter.__version__}-{vega.VEGA_LITE}.js", made


@pytest.mark.slow
@pytest.mark.posix
def test_a_script_from_the_cache_is_the_one_that_was_put_there(script_cache, monkeypatch):
    path, made = script_cache
    if not path.exists():
        pytest.skip("no digest is known of the script of this version of vl-convert")
    whole = path.read_text(encoding="utf-8")
    assert whole == made
    for planted in ("alert('planted')", whole + ";alert('planted')", whole[:1000], "\udcff"):
        path.write_bytes(planted.encode("utf-8", "surrogateescape"))
        assert vega.vega_script.__wrapped__() == made
        assert path.read_text(encoding="utf-8") == made  # mended
    path.unlink()
    os.mkfifo(path)  # nobody ever writes to it
    assert vega.vega_script.__wrapped__() == made


@pytest.mark.slow
def test_a_cache_that_cannot_be_used_costs_only_time(script_cache, monkeypatch, tmp_path):
    path, made = script_cache
    path.unlink(missing_ok=True)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "write_text", full)
        assert vega.vega_script.__wrapped__() == made
    assert not list(path.parent.glob("*"))  # and nothing is left behind
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))  # no folder
    assert vega.vega_script.__wrapped__() == made


def test_missing_and_infinite_numbers_are_empty():
    columns = {"x": Column("x", [1.0, float("nan"), float("inf")]), "y": Column("y", [1, 2, None])}
    html = page(Chart("c", "points", columns), Table("t", [Column("n", [float("nan"), 2.5])]))
    assert chart_data(html)[0]["columns"][0]["values"] == [1.0, None, None]
    assert "nan" not in re.search(r"<tbody>.*?</tbody>", html, re.S)[0]


def test_numbers_as_readers_want_them():
    assert to_text(1234567) == "1,234,567"
    assert to_text(2024) == "2024"
    assert to_text(0.00001234) == "1.234e-05"
    assert to_text(99.123, 3) == "99.1"
    assert to_text(False) == "no"
    assert to_text("a") == "a"


def test_save_replaces_a_file_only_by_a_complete_page(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    report = Report("t", "h", [Section("s", (), ["not a block"])])
    with pytest.raises(TypeError, match="no blocks of type str"):
        report.save(path)
    assert path.read_text() == "before"
    Report("t", "h", [Section("s")]).save(path)
    assert path.read_text().startswith("<!doctype html>")


def test_a_notebook_gets_a_frame():
    frame = Report("a < b", 'say "hi"', [Section("s")])._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert 'say "hi"' not in frame
    assert "<script" not in frame
