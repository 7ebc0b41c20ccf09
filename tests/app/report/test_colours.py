"""Colours that everybody can tell apart, and one for each class wherever it is drawn."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from sparsieve import (
    FisherSelector,
    plot,
)
from sparsieve.app.report import selector_report
from sparsieve.app.report.charts import specification
from sparsieve.app.report.elements import Explorer
from sparsieve.app.report.encodings import PALETTE_SIZE, PALETTES, series_colours

# Machado, Oliveira and Fernandes (2009): what people without one kind of cone see, severity 1.
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(colour, vision):
    light = np.array(to_rgb(colour))
    light = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    x = TO_XYZ @ np.clip(vision @ light, 0, 1) / WHITE
    x = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * x[1] - 16, 500 * (x[0] - x[1]), 200 * (x[1] - x[2])])


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("ground", PALETTES)
def test_any_two_colours_can_be_told_apart(ground, vision):
    """A difference of 2.3 is just noticeable; small marks need several times that."""
    seen = [lab(colour, VISIONS[vision]) for colour in PALETTES[ground]]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 12
    back = {"light": "#ffffff", "dark": "#0d1117"}[ground]
    assert min(np.linalg.norm(a - lab(back, VISIONS[vision])) for a in seen) > 20


def test_more_classes_than_colours_repeat_them_in_order():
    names = [f"class {i}" for i in range(40)]
    colours = list(series_colours(names).values())
    assert len(set(colours[:PALETTE_SIZE])) == PALETTE_SIZE == 16
    assert colours[PALETTE_SIZE : 2 * PALETTE_SIZE] == colours[:PALETTE_SIZE]


def test_meaning_goes_before_order():
    assert series_colours(["left out", "selected"]) == dict(
        reversed(series_colours(["selected", "left out"]).items())
    )


@pytest.fixture(scope="module")
def data():
    """The first sample is not of the first class, so that order of appearance would differ."""
    rng = np.random.default_rng(0)
    y = np.array(["c", "a", "b"])[np.arange(60) % 3]
    X = rng.standard_normal((60, 5))
    X[:, 1] += 3.0 * (y == "c")
    X[:, 2] += 3.0 * (y == "a")
    return X, y


def test_a_class_has_one_colour_in_all_charts_of_a_page(data):
    X, y = data
    report = selector_report(FisherSelector(2).fit(X, y), X, y, cv=0, null=None, oddities=())
    explorer = next(b for s in report.sections for b in s.blocks if isinstance(b, Explorer))
    orders = []
    for chart in [*explorer.charts, report.profiles.chart]:
        found = []

        def look(part, found=found):
            if isinstance(part, dict):
                scale = part.get("scale", {})
                if isinstance(scale, dict) and scale.get("range") == "category":
                    found.append(scale["domain"])
                for inner in part.values():
                    look(inner)
            elif isinstance(part, list):
                for inner in part:
                    look(inner)

        look(specification(chart))
        orders += found
    assert len(orders) >= 3  # projection, strip of the heat map, values of a feature
    assert all(order == ["a", "b", "c"] for order in orders)
    assert '"palettes"' in report.to_html()


def test_a_class_has_the_same_colour_in_python_figures(data):
    X, y = data
    selector = FisherSelector(2).fit(X, y)
    due = series_colours(["a", "b", "c"])
    projection = plot(selector, X, y, "projection")
    assert {
        d.get_label(): to_hex(d.get_facecolor()[0]) for d in projection.artists_["points"]
    } == due
    strip = plot(selector, X, y, "heatmap").artists_["strip"]
    codes = strip.get_array().ravel().tolist()
    assert codes == sorted(codes)  # samples stand by class
    assert [to_hex(strip.cmap(strip.norm(code))) for code in (0, 1, 2)] == list(due.values())
    values = plot(selector, X, y, "values")
    legend = values.ax_.get_legend()
    shown = [to_hex(patch.get_facecolor()) for patch in legend.get_patches()]
    assert shown == list(due.values())
