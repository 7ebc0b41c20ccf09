"""Every kind of chart, drawn: the numbers of the artists are those of the description."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from sparsieve.app.plotting.drawing import _KINDS
from sparsieve.app.plotting.kinds import ChartDisplay
from sparsieve.app.report.charts import _KINDS as VEGA_KINDS
from sparsieve.app.report.comparison_sections import diagram_rows
from sparsieve.app.report.elements import make_chart
from sparsieve.app.report.encodings import LEVEL, series_colours


def drawn(*arguments, **options):
    display = ChartDisplay(make_chart("A title", *arguments, **options)).plot()
    display.figure_.canvas.draw()
    return display


def test_both_renderers_know_the_same_kinds():
    assert set(_KINDS) == set(VEGA_KINDS)


@pytest.mark.parametrize(("last", "inside"), [(0.1, True), (0.9, False)])
def test_a_legend_hides_no_bar(last, inside):
    rows = [(f"f{i}", 1.0 - i * (1.0 - last) / 9, "ab"[i % 2]) for i in range(10)]
    display = drawn("bars", rows, {"y": "", "x": "score", "series": ""})
    box = display.ax_.get_legend().get_window_extent()
    bars = display.artists_["bars"]
    assert not any(box.overlaps(bar.get_window_extent()) for bar in bars)
    assert (box.y1 < display.ax_.get_window_extent().y1) == inside


def test_lines_with_bands_that_end_at_the_most():
    rows = [(1, 0.5, 0.1, "a"), (2, 0.95, 0.2, "a"), (1, 0.7, 0.0, "all"), (2, 0.7, 0.0, "all")]
    titles = {"x": "k", "y": "accuracy", "error": "", "series": "method"}
    found = drawn("lines", rows, titles, most=1, marker=2, across="all")
    first, across = found.artists_["lines"]
    assert first.get_ydata().tolist() == [0.5, 0.95]
    assert (first.get_linestyle(), across.get_linestyle()) == ("-", "--")
    (band,) = found.artists_["bands"]
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (pytest.approx(0.4), 1.0)
    assert found.artists_["marks"][0].get_xdata() == [2, 2]
    assert [found.ax_.get_xlabel(), found.ax_.get_ylabel()] == ["k", "accuracy"]


def test_points_by_class_in_the_order_given():
    rows = [(0.0, 1.0, "b"), (1.0, 2.0, "a"), (2.0, 3.0, "b")]
    titles = {"x": "first", "y": "second", "series": "class"}
    found = drawn("points", rows, titles, series_names=["a", "b"], diagonal=(0.0, 3.0))
    a, b = found.artists_["points"]
    assert b.get_offsets().tolist() == [[0, 1], [2, 3]]
    assert to_hex(a.get_facecolor()[0]) == series_colours(["a", "b"])["a"]
    assert found.artists_["diagonal"].get_xdata().tolist() == [0, 3]


def test_points_from_the_17th_class_on_have_another_shape():
    names = [f"class {i}" for i in range(18)]
    found = drawn(
        "points", [(i, i, name) for i, name in enumerate(names)], {"x": "", "y": "", "series": ""}
    )
    shapes = [dots.get_paths()[0].vertices.shape for dots in found.artists_["points"]]
    assert len(set(shapes[:16])) == 1
    assert shapes[16] == shapes[17] != shapes[0]


def test_bars_errors_and_levels():
    rows = [("u", 0.5, 0.1), ("v", -0.25, 0.2), ("w", None, 0.0)]
    found = drawn(
        "bars", rows, {"y": "", "x": "score", "error": ""}, line=0.3, meaning="More is better."
    )
    assert [bar.get_width() for bar in found.artists_["bars"]] == [0.5, -0.25, pytest.approx(0.525)]
    assert to_hex(found.artists_["line"].get_color()) == LEVEL
    assert found.ax_.get_xlabel() == "score\nMore is better."
    assert found.caption == "Score: More is better."
    logarithmic = drawn("bars", [("u", 0.01), ("v", 10.0)], {"y": "", "x": "seconds"}, log_x=True)
    assert logarithmic.artists_["bars"].get_offsets()[:, 0].tolist() == [0.01, 10.0]


def test_grouped_bars_do_not_hide_each_other():
    rows = [("u", 1.0, "a"), ("u", 2.0, "b"), ("v", 3.0, "a"), ("v", 4.0, "b")]
    found = drawn("bars", rows, {"y": "", "x": "", "series": ""}, grouped=True)
    spans = sorted((bar.get_y(), bar.get_y() + bar.get_height()) for bar in found.artists_["bars"])
    assert all(end <= start + 1e-9 for (_, end), (start, _) in pairwise(spans))


def test_cells_of_a_map_are_in_the_order_of_the_rows():
    rows = [("v", "q", 0.5, 3), ("v", "p", 1.0, 4), ("u", "p", 0.0, 5)]
    titles = {"y": "true", "x": "predicted", "value": "share", "count": ""}
    found = drawn("heatmap", rows, titles, labels="count", domain=(0.0, 1.0))
    cells = np.ma.filled(found.artists_["cells"].get_array(), np.nan)
    np.testing.assert_array_equal(cells, [[0.5, 1.0], [np.nan, 0.0]])
    assert [text.get_text() for text in found.ax_.get_yticklabels()] == ["v", "u"]
    assert sorted(text.get_text() for text in found.ax_.texts) == ["3", "4", "5"]


def test_large_maps_are_images_and_small_ones_are_not():
    for n, image in ((10, False), (70, True)):
        rows = [(f"f{i}", f"s{j}", float(i * j)) for i in range(n) for j in range(n)]
        found = drawn(
            "heatmap", rows, {"y": "", "x": "", "value": ""}, diverging=True, x_label=f"{n} samples"
        )
        assert bool(found.artists_["cells"].get_rasterized()) == image
        assert found.ax_.get_xlabel() == (f"{n} samples" if n > 60 else "")


def test_boxes_are_quartiles():
    values = np.random.default_rng(0).standard_normal(50)
    found = drawn("distribution", [(v, "u") for v in values], {"x": "dose", "y": ""})
    (box,) = found.artists_["boxes"]
    ends = box.get_x(), box.get_x() + box.get_width()
    assert ends == (
        pytest.approx(np.quantile(values, 0.25)),
        pytest.approx(np.quantile(values, 0.75)),
    )
    np.testing.assert_allclose(
        np.sort(found.artists_["dots"][0].get_offsets()[:, 0]), np.sort(values)
    )


def test_sets_and_ranks():
    rows = [("2: a, b", "fisher", "selected"), ("2: a, b", "mrmr", "left out")]
    inside, outside = drawn("dots", rows, {"y": "", "x": "", "series": ""}).artists_["dots"]
    assert (inside.get_offsets().tolist(), outside.get_offsets().tolist()) == ([[0, 0]], [[1, 0]])
    ranks = [tuple(row.values()) for row in diagram_rows(["a", "b", "c"], [1.2, 1.8, 3.0], 1.0)]
    titles = {name: name for name in ("part", "x", "x2", "y", "y2", "text")}
    found = drawn("critical-difference", ranks, titles, ranks=(1, 3))
    assert [text.get_text() for text in found.artists_["texts"]] == ["a 1.20", "b 1.80", "c 3.00"]


def test_long_names_lose_their_middle_and_stay_different():
    names = ["gene_" + "x" * 60 + f"_{i}" for i in range(3)]
    found = drawn("bars", [(name, 1.0) for name in names], {"y": "", "x": ""})
    shown = [text.get_text() for text in found.ax_.get_yticklabels()]
    assert len(set(shown)) == 3
    assert max(map(len, shown)) <= 44
    assert all(name.startswith("gene_") and "..." in name for name in shown)


@pytest.mark.parametrize("n", [3, 12, 59])
@pytest.mark.parametrize("width", [3.35, 7.1])
def test_names_below_a_map_do_not_touch(n, width):
    rows = [("row", f"column {j}", 1.0) for j in range(n)]
    figure, ax = plt.subplots(figsize=(width, 3), layout="constrained")
    ChartDisplay(make_chart("t", "heatmap", rows, {"y": "", "x": "", "value": ""})).plot(ax=ax)
    figure.canvas.draw()
    labels = [text for text in ax.get_xticklabels() if text.get_text()]
    assert labels
    starts = np.diff([text.get_window_extent().x1 for text in labels])
    slanted = labels[0].get_rotation() != 0
    wide = max(text.get_window_extent().width for text in labels)
    line = labels[0].get_fontsize() * figure.dpi / 72
    # Of slanted names the distance between lines of text counts.
    assert starts.min() * (np.sqrt(0.5) if slanted else 1.0) >= (0.95 * line if slanted else wide)
