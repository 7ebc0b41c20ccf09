"""Survival times of raw tables: labels of events, hazard ratios and the figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sparsieve import select
from sparsieve.app.io import DataError, read_table
from sparsieve.app.report.survival import HeldOutSurvival, survival_chart
from sparsieve.validation.survival import as_survival


@pytest.fixture
def clinic():
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(rng.normal(size=(n, 5)), columns=[f"g{j}" for j in range(5)])
    frame["sex"] = rng.choice(["f", "m"], n)
    time, end = rng.exponential(20 * np.exp(-frame["g1"])), rng.exponential(40, n)
    frame["OS_MONTHS"] = np.minimum(time, end)
    frame["OS_STATUS"] = np.where(time <= end, "1:DECEASED", "0:LIVING")
    frame.loc[5, "sex"] = frame.loc[9, "g3"] = None
    return frame


def test_text_gaps_and_coded_events_in_one_line(clinic):
    selected = select(clinic, ("OS_MONTHS", "OS_STATUS"), k=2, check=False)
    assert selected.features[0] == "g1"
    assert selected.y["event"].sum() == (clinic["OS_STATUS"] == "1:DECEASED").sum()
    assert any(note.startswith("encoded 'sex'") for note in selected.notes)
    table = selected.table
    assert table["hazard_ratio_low"][0] < np.exp(1.0) < table["hazard_ratio_high"][0]
    assert (table["hazard_ratio_low"] < table["hazard_ratio"]).all()


def test_which_label_is_the_event(clinic):
    died = clinic["OS_STATUS"].str.startswith("1").to_numpy()
    times = clinic["OS_MONTHS"]
    for labels, value in (
        (np.where(died, "dead", "alive"), "dead"),
        (np.where(died, "Dead", "lost"), "dead"),
        (np.where(died, 2, 1), 2),
        (np.where(died, 2.0, 1.0), "2"),
        (died, True),
    ):
        y = as_survival((times, labels), event_value=value)
        np.testing.assert_array_equal(y["event"], died)
    with pytest.raises(ValueError, match=r"never holds 'gone'; it holds 'alive', 'dead'"):
        as_survival((times, np.where(died, "dead", "alive")), event_value="gone")
    with pytest.raises(ValueError, match="for example with event_value='dead'"):
        as_survival((times, np.where(died, "dead", "alive")))
    with pytest.raises(ValueError, match="event_value are for survival times"):
        select(clinic, "OS_MONTHS", event_value="dead")


def test_labels_of_events_in_files(clinic, tmp_path, sparsieve):
    path = tmp_path / "clinic.csv"
    clinic["status"] = clinic["OS_STATUS"].map({"1:DECEASED": "dead", "0:LIVING": "alive"})
    clinic.to_csv(path, index=False)
    how = {"encode_text": "auto"}
    coded = read_table(path, ("OS_MONTHS", "OS_STATUS"), drop=["status"], **how)
    named = read_table(path, ("OS_MONTHS", "status"), drop=["OS_STATUS"], event_value="dead", **how)
    np.testing.assert_array_equal(coded.y, named.y)
    with pytest.raises(DataError, match="event_value is for survival times"):
        read_table(path, "status", event_value="dead", **how)
    common = ("select", path, "--time", "OS_MONTHS", "-k", 1, "--no-check", "--json")
    drop = ("--event", "status", "--drop", "OS_STATUS")
    refused = sparsieve(*common, *drop)
    assert (refused.code, "for example with --event-value 'dead'" in refused.err) == (1, True)
    found = sparsieve(*common, *drop, "--event-value", "dead")
    assert found.json()["selected"] == ["g1"]
    alone = sparsieve("select", path, "-t", "status", "--event-value", "dead")
    assert (alone.code, "--event-value needs --time" in alone.err) == (2, True)


@pytest.mark.parametrize("p_value", [None, 0.02])
def test_the_figure_shows_who_was_censored(clinic, p_value):
    y = as_survival((clinic["OS_MONTHS"], clinic["OS_STATUS"]))
    thirds = np.argsort(np.argsort(-clinic["g1"])) // 40
    risk = clinic["g1"].to_numpy()
    found = HeldOutSurvival(y, risk, thirds, 9.0, p_value, 99, 5, time_name="OS_MONTHS")
    chart = survival_chart(found)
    assert chart.columns["x"].title == "OS_MONTHS"
    assert chart.columns["censored"].values.count("yes") == int((~y["event"]).sum())
    assert "Log-rank test by " in chart.note
    assert "p = 0." in chart.note or "p < 0." in chart.note
    assert any("og-rank test" in sentence for sentence in found.sentences())
    pytest.importorskip("matplotlib")
    from sparsieve.app.plotting.kinds import ChartDisplay

    drawn = ChartDisplay(chart).plot()
    assert drawn.ax_.get_xlabel() == "OS_MONTHS"
    assert sum(len(ticks.get_xdata()) for ticks in drawn.artists_["ticks"]) == (~y["event"]).sum()
    drawn.figure_.canvas.draw()
    legend = drawn.ax_.get_legend()
    *series, test = [text.get_text() for text in legend.get_texts()]
    assert series == chart.options["series_names"]
    assert test.startswith("log-rank test: p ")
    whole, box = drawn.figure_.bbox, legend.get_window_extent()
    assert whole.x0 <= box.x0 < box.x1 <= whole.x1
    assert whole.y0 <= box.y0 < box.y1 <= whole.y1


@pytest.mark.slow
def test_the_report_has_hazard_ratios(clinic, tmp_path):
    pytest.importorskip("vl_convert")
    selected = select(clinic, ("OS_MONTHS", "OS_STATUS"), k=2, check=False)
    selected.report(tmp_path / "r.html", cv=3)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Hazard ratios" in page
    assert "OS_MONTHS" in page
