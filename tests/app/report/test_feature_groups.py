"""Reports and figures speak of feature groups by their names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sparsieve
from sparsieve.app.report import selector_report
from sparsieve.app.report.elements import Table


@pytest.fixture
def selected():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 20)), columns=[f"gene{j}" for j in range(20)])
    y = np.where(X.iloc[:, 4:8].sum(axis=1) > 0, "case", "control")
    X.iloc[:, 12:16] = X.iloc[:, 4:8].to_numpy() + 0.3 * rng.normal(size=(90, 4))
    pathways = [f"pathway {j // 4}" for j in range(20)]
    return sparsieve.select(X, y, k=1, method="f-statistic", feature_groups=pathways)


def test_a_report_names_groups(selected):
    report = selector_report(selected.selector, selected.X, selected.y)
    assert report.title == "1 feature group selected by FStatisticSelector"
    assert "Using pathway 1, the one feature group kept of 5 (4 columns)" in report.headline
    assert "accuracy, all 5 feature groups" in report.figures
    sections = {section.title: section for section in report.sections}
    (ranking,) = (b for b in sections["Ranking"].blocks if isinstance(b, Table))
    columns = {column.title: list(column.values) for column in ranking.columns}
    assert columns["feature group"][:2] == ["pathway 1", "pathway 3"]
    assert columns["columns"] == [4] * 5
    assert columns["p-value"][0] < 1e-6 < columns["p-value"][-1]
    (substitutes,) = (
        b for b in sections["Correlation and substitutes"].blocks if isinstance(b, Table)
    )
    assert [next(iter(column.values)) for column in substitutes.columns[:2]] == [
        "pathway 1",
        "pathway 3",
    ]
    assert "same feature groups in every fold" in sections["Stability"].text[0]


def test_figures_and_pages_are_made(selected, tmp_path):
    names = {path.stem for path in selected.save_figures(tmp_path, formats=["svg"])}
    assert {"curve", "ranking", "stability", "substitutes"} <= names
    assert "pathway 1" in (tmp_path / "ranking.svg").read_text(encoding="utf-8")
    captions = (tmp_path / "captions.md").read_text(encoding="utf-8")
    assert "over the number of feature groups" in captions
    selected.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Number of feature groups" in page or "1 feature group" in page
    assert "1 of 5 feature groups (4 of 20 columns)" in selected._repr_html_()


def test_p_values_are_adjusted_for_the_number_of_groups(selected):
    table = selected.selector.to_frame(all_features=True)
    adjusted = table.groupby("group")["p_value_fdr"].first()
    plain = table.groupby("group")["p_value"].first()
    best = plain.idxmin()
    assert adjusted[best] <= 5 * plain[best] * (1 + 1e-9)
