"""Figures of a comparison are the charts of its report."""

import pytest
from sklearn.datasets import load_wine

from sparsieve import compare
from sparsieve.app.plotting.selection import file_name
from sparsieve.app.report import comparison_report
from sparsieve.app.report.packing import collect_charts

pytest.importorskip("matplotlib")


@pytest.mark.long("writes every figure")
def test_every_chart_of_the_report_is_saved(tmp_path):
    found = compare(
        *load_wine(return_X_y=True, as_frame=True), ["fisher", "mrmr"], ks=[1, 3], cv=2, n_repeats=1
    )
    paths = found.save_figures(tmp_path, width="double", formats=("svg",))
    charts = collect_charts(comparison_report(found))
    assert [path.stem for path in paths] == [*(file_name(c.title) for c in charts), "captions"]
    assert len(charts) >= 7
    assert paths[0].name == "accuracy-over-the-number-of-features.svg"
    captions = (tmp_path / "captions.md").read_text()
    assert all(chart.title in captions for chart in charts)
    assert "Click" not in captions  # a file has no legend to click
    for path in paths[:-1]:
        assert "<text" in path.read_text()
