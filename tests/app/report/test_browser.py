"""The reports in a real browser: no error, no request, and everything on them works."""

import csv
import os
import shutil

import pytest
from sklearn.datasets import load_diabetes

from sparsieve import RidgeForwardSelector, compare
from sparsieve.app.report import comparison_report, selector_report
from sparsieve_experiments.report import study_report

NASTY = "<script>alert(1)</script>"  # the name of a feature, see fixtures/pages.py

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("vl_convert")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
EXECUTABLE = os.environ.get("SPARSIEVE_BROWSER") or next(
    filter(None, map(shutil.which, BROWSERS)), None
)

pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="there is no chromium on this machine")
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
ALL_DRAWN = """() => [...document.querySelectorAll("main .drawing")].every(
    (place) => place.querySelector("svg")
)"""


@pytest.fixture(scope="module")
def browser():
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with playwright.sync_playwright() as control:
        opened = control.chromium.launch(executable_path=EXECUTABLE, args=flags)
        yield opened
        opened.close()


def number_fit():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return RidgeForwardSelector(4, task="regression").fit(X, y), X, y


class Pages(dict):
    """Files of reports, each made when it is first opened."""

    def __init__(self, folder, makers):
        super().__init__()
        self.folder, self.makers = folder, makers

    def __missing__(self, name):
        self[name] = self.folder / f"{name}.html"
        self.makers[name]().save(self[name])
        return self[name]


@pytest.fixture(scope="module")
def pages(request, tmp_path_factory, nasty_selector, exclusive_selector, nasty_wine):
    wait = request.getfixturevalue
    makers = {
        "selection": lambda: selector_report(nasty_selector, *nasty_wine, cv=3),
        "exclusive": lambda: selector_report(exclusive_selector, *nasty_wine, cv=2),
        "regression": lambda: selector_report(*number_fit(), cv=2, null=None),
        "study": lambda: study_report(wait("store")),
        "large": lambda: study_report(wait("large_store")),
        "uneven": lambda: study_report(wait("uneven")),
        "comparison": lambda: comparison_report(
            compare(*nasty_wine, ["fisher", "mrmr", "l21"], ks=[1, 3], cv=2, n_repeats=1)
        ),
    }
    return Pages(tmp_path_factory.mktemp("reports"), makers)


@pytest.fixture
def opened(browser, pages):
    """Open a report and watch it; at the end nothing may have gone wrong."""
    contexts, complaints, requests = [], [], []

    def open_page(name, size="desktop", scheme="light", folded=False):
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type != "log" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(pages[name].as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        if not folded:
            page.locator("#unfold").click()
            page.wait_for_function(ALL_DRAWN, timeout=60_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    outside = [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []


@pytest.mark.thinned(12)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["selection", "exclusive", "study"])
@pytest.mark.long("opens a browser")
def test_every_chart_is_drawn_and_nothing_overflows(opened, name, size, scheme):
    page = opened(name, size, scheme)
    charts = page.locator("main figure.chart")
    assert charts.count() >= 5
    for i in range(charts.count()):
        assert charts.nth(i).locator("svg").count() == 1
        assert charts.nth(i).locator("svg path").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.long("opens a browser")
def test_names_from_data_are_text(opened):
    page = opened("selection")
    assert page.locator("td", has_text=NASTY).first.is_visible()
    assert page.locator("td script, td b, td img, figcaption img").count() == 0
    assert page.locator("svg text", has_text=NASTY).count() > 0


def column(page, table, number):
    return page.locator(f"{table} tbody tr:visible td:nth-child({number})").all_inner_texts()


@pytest.mark.slow
def test_a_table_sorts_by_numbers_and_by_names_with_the_keyboard(opened):
    page = opened("selection")
    table = ".table:has(h3:text-is('Ranking'))"
    score = page.locator(f"{table} th button", has_text="score")
    score.focus()
    page.keyboard.press("Enter")  # largest first
    values = [float(text) for text in column(page, table, 3)]
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Enter")
    values = [float(text) for text in column(page, table, 3)]
    assert values == sorted(values)
    assert page.locator(f"{table} th[aria-sort=ascending]").inner_text().startswith("score")
    page.locator(f"{table} th button", has_text="feature").click()
    words = [name.lower() for name in column(page, table, 2) if name[0].isalpha()]
    assert words == sorted(words)


def figure_id(page, title):
    return page.locator("figure", has=page.locator(f"h3:text-is('{title}')")).get_attribute("id")


@pytest.mark.slow
def test_the_slider_and_the_panel_with_the_keyboard(opened, nasty_selector, tmp_path):
    page = opened("selection")
    slider = page.locator("input[type=range]")
    by_class = figure_id(page, "Selected features by class")
    confusion = figure_id(page, "Held-out samples by true and predicted class")
    counts = page.locator(f"#{confusion} svg .mark-text.role-mark text")
    listed = page.locator(".selection li")
    first = sorted(counts.all_text_contents())
    slider.focus()
    for key, k in (("Home", 1), ("ArrowRight", 2), ("End", 6), ("ArrowLeft", 5)):
        page.keyboard.press(key)
        assert slider.get_attribute("aria-valuetext") == f"{k} feature{'s' * (k > 1)}"
        names = nasty_selector.at(k).get_feature_names_out()
        assert sorted(listed.all_inner_texts()) == sorted(names)
        page.wait_for_function(
            "([place, n]) => document.querySelectorAll(place).length === n",
            arg=[f"#{by_class} svg .mark-rect.role-mark path", 3 * k],
        )
        page.wait_for_function("() => !document.querySelector('.drawing[style*=height]')")
        assert sum(int(text) for text in counts.all_text_contents()) == 178
        if k == 1:
            assert sorted(counts.all_text_contents()) != first
    assert "correctly: ridge model" in page.locator(".told").inner_text()

    # Odd names are names, on axes and in the panel.
    table = ".table:has(h3:text-is('Ranking'))"
    for name in ("constructor", "__proto__", "toString", NASTY):
        button = page.locator(f"{table} button.feature", has_text=name).first
        button.focus()
        page.keyboard.press("Enter")
        dialog = page.locator("dialog[open]")
        assert dialog.locator("h2").inner_text() == name
        assert dialog.locator("[data-part=ranks] tr").count() == 3
        page.wait_for_selector("dialog[open] svg .mark-symbol path")
        labels = dialog.locator("svg .role-axis-label text").all_text_contents()
        assert {"constructor", "__proto__"} <= {label.strip("\u200b") for label in labels}
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0
        assert button.evaluate("button => button === document.activeElement")
    assert page.locator("main svg text", has_text="constructor").count() > 2

    # Spreadsheets do not run what the file holds.
    file = downloaded(page, page.locator(table).locator("[data-action=csv]"))
    file.save_as(tmp_path / "ranking.csv")
    with (tmp_path / "ranking.csv").open(newline="", encoding="utf-8") as lines:
        found = list(csv.DictReader(lines))
    assert "'=1+1" in {row["feature"] for row in found}
    assert [int(row["rank"]) for row in found] == list(range(1, 14))


@pytest.mark.slow
def test_numbers_are_explored_too(opened):
    page = opened("regression", "phone", "dark")
    page.locator("input[type=range]").press("Home")
    assert page.locator(".selection li").all_inner_texts() == ["bmi"]
    page.locator(".selection button.feature").click()
    page.wait_for_selector("dialog[open] svg .mark-symbol path")
    titles = page.locator("dialog svg .role-axis-title text").all_text_contents()
    assert set(titles) == {"value", "target"}
    page.locator("dialog [data-action=close]").click()
    page.wait_for_function("() => !document.querySelector('dialog[open]')")


@pytest.mark.slow
def test_headers_look_sortable_and_wide_tables_say_that_they_scroll(opened):
    page = opened("study", "phone")
    table = ".table:has(h3:text-is('All means'))"
    header = page.locator(f"{table} th").first
    assert header.get_attribute("aria-sort") == "none"
    assert "\u2195" in header.locator("button").evaluate(
        "button => getComputedStyle(button, '::after').content"
    )
    assert page.locator(f"{table} > .hint").is_visible()
    scroller = page.locator(f"{table} .scroller")
    assert "more-right" in scroller.get_attribute("class")
    scroller.evaluate("element => { element.scrollLeft = element.scrollWidth; }")
    page.wait_for_selector(f"{table} .scroller.more-left:not(.more-right)")
    assert page.locator(f"{table} td wbr").count() > 0  # names break at their humps


@pytest.mark.slow
def test_a_table_is_searched(opened):
    page = opened("study")
    table = ".table:has(h3:text-is('All means'))"
    page.locator(f"{table} input").fill("ridge")
    methods = column(page, table, 2)
    assert methods
    assert set(methods) == {"RidgeForwardSelector"}
    assert "of 72 rows" in page.locator(f"{table} output").inner_text()
    page.locator(f"{table} input").fill("")
    assert len(column(page, table, 2)) == 25
    page.locator(f"{table} [data-action=more]").click()
    assert len(column(page, table, 2)) == 72


def drawn(page, figure):
    return page.locator(f"{figure} svg").inner_html()


@pytest.mark.slow
def test_a_chart_is_switched(opened):
    page = opened("study")
    figure = "figure:has(h3:text-is('Accuracy over the number of features'))"
    before = drawn(page, figure)
    page.locator(f"{figure} select[data-field=dataset]").select_option(label="wine")
    page.wait_for_function(
        "([selector, before]) => document.querySelector(selector)?.innerHTML !== before",
        arg=["figure svg", before],
    )
    assert drawn(page, figure) != before
    page.locator(f"{figure} [data-action=numbers]").click()
    shown = page.locator(f"{figure} .numbers tbody td:first-child").all_inner_texts()
    assert set(shown) == {"wine"}


@pytest.mark.slow
def test_a_large_study_is_switched_at_once(opened):
    page = opened("large")
    figure = "figure:has(h3:text-is('Accuracy over the number of features'))"
    lines = page.locator(f"{figure} svg .mark-line path")
    assert lines.count() == 12
    page.locator(f"{figure} select[data-field=dataset]").select_option(label="data set 7")
    page.locator(f"{figure} [data-action=numbers]").click()
    page.wait_for_function(
        "place => document.querySelector(place)?.textContent.includes('data set 7')",
        arg="figure .numbers tbody tr",
        timeout=60_000,
    )
    assert lines.count() == 12


@pytest.mark.slow
def test_no_selection_is_a_dashed_line_across_the_chart(opened):
    page = opened("uneven")
    figure = "figure:has(h3:text-is('Accuracy over the number of features'))"
    chosen = page.locator(f"{figure} select[data-field=dataset]")
    assert chosen.evaluate("box => box.selectedOptions[0].label") == "mean of all data sets"
    lines = page.locator(f"{figure} svg .mark-line path")
    dashes = [lines.nth(i).get_attribute("stroke-dasharray") for i in range(lines.count())]
    assert sorted(dashes) == ["1,0", "1,0", "6,4"]
    across = lines.nth(dashes.index("6,4")).bounding_box()
    widths = [lines.nth(i).bounding_box()["width"] for i in range(lines.count())]
    assert across["width"] == max(widths)
    assert across["height"] < 5
    assert page.locator("summary", has_text="Warnings").count() == 1


@pytest.mark.slow
def test_the_theme_is_switched(opened):
    page = opened("selection")
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.locator("#theme").click()
    assert page.evaluate(ground) != before
    assert page.locator("html[data-theme=dark]").count() == 1


def downloaded(page, button):
    with page.expect_download() as download:
        button.click()
    return download.value


@pytest.mark.slow
def test_csv_of_a_chart_and_of_a_table(opened, tmp_path):
    page = opened("study")
    for where in ("figure >> nth=0", ".table >> nth=0"):
        file = downloaded(page, page.locator(where).locator("[data-action=csv]"))
        assert file.suggested_filename.endswith(".csv")
        file.save_as(tmp_path / "file.csv")
        with (tmp_path / "file.csv").open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        assert len(rows) >= 72
        assert f"F {NASTY}" in {row["method"] for row in rows}
        scores = [float(row["accuracy"]) for row in rows]
        assert 0 <= min(scores) <= max(scores) <= 1


@pytest.mark.slow
def test_pictures_of_a_chart(opened, tmp_path):
    page = opened("selection", scheme="dark")
    figure = page.locator("figure.chart").first
    svg = downloaded(page, figure.locator("[data-action=svg]"))
    svg.save_as(tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "white" in text  # pictures are for papers, whatever the page looks like
    png = downloaded(page, figure.locator("[data-action=png]"))
    png.save_as(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_it_prints_on_white(opened):
    page = opened("selection", scheme="dark", folded=True)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".folds").is_hidden()
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".actions").first.is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.pdf()) > 10_000


@pytest.mark.slow
def test_a_comparison_is_drawn_and_its_dots_tell_who_chose_what(opened):
    page = opened("comparison", "phone", "dark")
    charts = page.locator("figure.chart")
    for i in range(charts.count()):
        assert charts.nth(i).locator("svg path").count() > 0
    dots = page.locator(
        "figure", has=page.get_by_role("heading", name="Which methods chose which features")
    )
    assert dots.locator("svg .mark-symbol path").count() >= 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


LINES = """cell => {
  const style = getComputedStyle(cell);
  const inside = cell.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  return Math.round(inside / parseFloat(style.lineHeight));
}"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["selection", "comparison", "study"])
def test_a_page_opens_with_a_sentence_a_picture_and_one_row_of_figures(opened, name):
    page = opened(name, folded=True)
    assert page.locator("main .drawing svg").count() >= 1
    first = page.locator("main > :first-child")
    assert first.evaluate("element => element.tagName") == "FIGURE"
    assert first.bounding_box()["y"] < 500
    assert page.locator(".headline").inner_text().count(". ") == 0
    tiles = page.locator(".figures > div")
    assert len({round(tiles.nth(i).bounding_box()["y"]) for i in range(tiles.count())}) == 1
    folded = page.locator("details.section:not([open]) figure.chart")
    assert folded.count() > 0
    assert folded.locator("svg").count() == 0  # drawn when they are unfolded
    page.locator("details.section:not([open]):has(figure) > summary").first.click()
    page.wait_for_selector("details.section[open] figure.chart svg path")


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_table_of_methods_shows_its_verdict_without_scrolling(opened, size):
    page = opened("comparison", size, folded=True)
    table = page.locator(".table", has_text="Methods using").first
    scroller = table.locator(".scroller")
    if size == "desktop":
        assert scroller.evaluate("place => place.scrollWidth <= place.clientWidth")
    verdict = table.locator("tbody tr:nth-child(2) td:nth-child(4)").bounding_box()
    edge = scroller.bounding_box()
    assert verdict["x"] + verdict["width"] <= edge["x"] + edge["width"] + 1


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_names_of_methods_never_take_four_lines(opened, size):
    page = opened("study", size)
    table = ".table:has(h3:text-is('All means'))"
    cells = page.locator(f"{table} tbody td:nth-child(2)")
    lines = [cells.nth(i).evaluate(LINES) for i in range(cells.count())]
    assert max(lines) <= (1 if size == "desktop" else 3)
    cells = page.locator("figure:has(h3:text-is('Accuracy (%) of every method on every data set'))")
    texts = cells.first.locator("svg .mark-text.role-mark text").all_text_contents()
    assert len(texts) == 4 * 3
    assert all(0 <= float(text) <= 100 for text in texts)


@pytest.mark.slow
def test_a_band_is_drawn_for_the_line_that_is_pointed_at(opened):
    page = opened("comparison", folded=True)
    bands = (
        "[...document.querySelectorAll('svg .mark-area path')].map(b => b.getAttribute('opacity'))"
    )
    assert set(page.evaluate(bands)) == {"0"}
    box = page.locator("figure.chart svg").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 3)
    page.wait_for_function(f"() => {bands}.filter((shown) => shown !== '0').length === 1")
