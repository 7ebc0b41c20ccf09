"""A run that is added to a record: a data set more, an experiment more, or a refusal."""

import importlib
import json
from dataclasses import replace

import pytest

from sparsieve.datasets.load import PAPERS
from sparsieve_experiments.papers import RecordError, find_preset, read_record, records, save_record
from sparsieve_experiments.papers.base import Experiment, Preset
from sparsieve_experiments.papers.declared import again
from sparsieve_experiments.papers.numbers import mean_rows
from sparsieve_experiments.papers.planning import measured_times
from sparsieve_experiments.papers.record_runs import in_order, joined, tidy
from sparsieve_experiments.papers.reproduce import plan, reproduce
from sparsieve_experiments.studies.exhibits import Exhibit

REPRODUCE = importlib.import_module("sparsieve_experiments.papers.reproduce")
# Printed names of the paper in its order, and data sets that come with scikit-learn.
SETS = {"Brain": "wine", "Breast3": "iris", "Lung": "breast_cancer"}
AT_HAND = []


def size(setting):
    return {"size": len(setting["dataset"]) / 3 * setting["number"]}


def bars(bench, name, factor):
    assumed = getattr(bench, "assumed", None)
    here = AT_HAND if assumed is None else assumed
    settings = [
        {"dataset": SETS[label], "label": label, "method": method, "number": factor * (1 + place)}
        for place, method in enumerate(("A", "B"))
        for label in SETS
        if SETS[label] in here
    ]
    rows = [
        {"dataset": row["label"], "method": row["method"], "size": row["size"], "splits": 2}
        for row in bench.jobs(f"sizes {name}", size, settings)
    ]
    yield Exhibit(name, "Sizes", rows, summary=mean_rows(rows, "method", ["size"]))
    ends = [
        {"dataset": row["dataset"], "last": row["size"]} for row in rows if row["method"] == "B"
    ]
    yield Exhibit(f"{name}, ends", "Ends", rows, summary=ends)
    yield Exhibit(f"{name}, theory", "No data", [{"x": 1}])


def anew(exhibit):
    if "," in exhibit.name:
        return exhibit
    return replace(exhibit, summary=mean_rows(exhibit.rows, "method", ["size"]))


PRESET = Preset(
    "l20",
    "Somebody: Something",
    [
        Experiment("table I", "", lambda bench: bars(bench, "Table I", 1)),
        Experiment("figure 1", "", lambda bench: bars(bench, "Figure 1", 2)),
    ],
    counts_splits=True,
    again=anew,
)


class Some:
    """A made-up paper of which only some data sets are at hand."""

    def __init__(self, monkeypatch, folder):
        self.folder, self.preset = folder, PRESET
        for module in (REPRODUCE, records):
            monkeypatch.setattr(module, "find_preset", lambda paper: self.preset)

    def record(self, names, only=(), place="l20", level="standard", **options):
        """Run on these data sets and record it."""
        AT_HAND[:] = [SETS[name] for name in names]
        file = self.folder / f"{'-'.join(names)}-{level}.sqlite"
        found, planned = reproduce("l20", file, level=level, only=only), plan("l20", level, only)
        times = measured_times(file, {kind.work for kind in planned.kinds})
        save_record(found, planned, dict.fromkeys(times, 2.0), self.folder / place, **options)


@pytest.fixture
def some(monkeypatch, tmp_path):
    return Some(monkeypatch, tmp_path)


def files_of(folder):
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    content = json.loads(found.pop("record.json"))
    runs = content.pop("runs")
    times = sorted(found.pop("times.csv").splitlines())
    return found, content, times, runs


def test_a_record_made_in_parts_equals_one_made_at_once(some, tmp_path):
    some.record(["Brain", "Breast3", "Lung"], place="whole")
    some.record(["Brain", "Lung"])
    some.record(["Breast3"], add=True)
    whole, parts = files_of(tmp_path / "whole"), files_of(tmp_path / "l20")
    assert parts[:3] == whole[:3]
    assert [run["datasets"] for run in whole[3]] == [["breast_cancer", "iris", "wine"]]
    assert [run["datasets"] for run in parts[3]] == [["breast_cancer", "wine"], ["iris"]]
    record = read_record("l20", tmp_path / "l20")
    assert record.remarks == []
    assert record.cells == 2 * 2 * 3
    assert record.seconds == 2.0 * record.cells


def test_experiments_and_the_same_data_set_again(some, tmp_path):
    some.record(["Brain", "Lung"], ["table"])
    some.record(["Brain"], ["figure"], add=True)
    some.record(["Lung"], ["figure"], add=True)
    some.record(["Brain", "Lung"], ["figure"], add=True)  # which covers the two before
    some.record(["Brain", "Lung"], place="whole")
    whole, parts = files_of(tmp_path / "whole"), files_of(tmp_path / "l20")
    assert parts[:3] == whole[:3]
    assert [run["experiments"] for run in parts[3]] == [["table I"], ["figure 1"]]


def test_rows_of_another_level_or_protocol_are_refused(some, tmp_path):
    with pytest.raises(RecordError, match="there is no record of l20"):
        some.record(["Brain"], add=True)
    some.record(["Brain"])
    before = files_of(tmp_path / "l20")
    with pytest.raises(
        RecordError, match=r"holds the standard level .* full level cannot be added"
    ):
        some.record(["Lung"], level="full", add=True)
    other = Experiment("table I", "", lambda bench: bars(bench, "Table I", 7))
    some.preset = replace(PRESET, experiments=[other, PRESET.experiments[1]])
    with pytest.raises(RecordError, match=r"rows of an older protocol .* record all of it anew"):
        some.record(["Lung"], add=True)
    assert files_of(tmp_path / "l20") == before


def test_means_that_cannot_be_made_anew_are_refused(some):
    some.preset = replace(PRESET, again=lambda exhibit: exhibit)
    some.record(["Brain"])
    with pytest.raises(RecordError, match="Table I has a short form over all data sets"):
        some.record(["Lung"], add=True)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.long("reads the record of a paper and makes all its short forms twice")
def test_every_short_form_of_the_papers_can_be_made_from_two_parts(paper):
    preset = find_preset(paper)
    for exhibit in read_record(paper).fuller.reproduction.exhibits:
        rows = in_order(paper, exhibit.rows)
        if "dataset" not in rows[0] or exhibit.name == "Data sets":
            continue
        sets = list(dict.fromkeys(row["dataset"] for row in rows))[::2]
        halves = [
            replace(
                exhibit,
                rows=[row for row in rows if (row["dataset"] in sets) == chosen],
                summary=[
                    row
                    for row in exhibit.summary
                    if "dataset" not in row or (row["dataset"] in sets) == chosen
                ],
            )
            for chosen in (False, True)
        ]
        (both,) = joined(preset, halves[:1], halves[1:])
        assert both.rows == rows
        assert both.summary == tidy(preset, exhibit).summary
        declared = preset.again(replace(exhibit, rows=rows, summary=())).summary
        assert declared or all("dataset" in row for row in exhibit.summary)


def test_totals_are_those_of_all_rows():
    table = next(
        exhibit
        for exhibit in read_record("l0-mpm").reproduction.exhibits
        if exhibit.name == "Table 4"
    )
    made = again("sparsieve_experiments.papers.l0_mpm", table)
    average = [row["rank"] for row in made.rows if row["method"] == "MPM"]
    assert average[-1] == pytest.approx(sum(average[:-1]) / len(average[:-1]), rel=1e-3)
    assert sum(row["dataset"] == "Average" for row in made.rows) == 3
    assert [row["dataset"] for row in made.rows[-3:]] == ["Average"] * 3
