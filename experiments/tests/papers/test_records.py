"""Plans and records of a small made-up paper: levels, estimates, what a reader is told."""

import csv
import importlib
import json
import platform
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sparsieve.datasets.load import PAPERS
from sparsieve.scoring.protocol import Folds
from sparsieve_experiments.papers import (
    Record,
    RecordError,
    Reproduction,
    read_record,
    records,
    save_record,
)
from sparsieve_experiments.papers.base import Experiment, Preset
from sparsieve_experiments.papers.claims import Claim, Compared
from sparsieve_experiments.papers.planning import Planner, computed_where, measured_times, plan_of
from sparsieve_experiments.papers.reproduce import find_preset, plan, reproduce
from sparsieve_experiments.studies import StudyError
from sparsieve_experiments.studies.exhibits import Drawing, Exhibit
from sparsieve_experiments.studies.study import Study

REPRODUCE = importlib.import_module(
    "sparsieve_experiments.papers.reproduce"
)  # not the function of that name


def squared(setting):
    return {"square": setting["number"] ** 2}


def table(bench):
    numbers = {"quick": [1], "standard": [1, 2], "full": [1, 2, 3]}[bench.level]
    settings = [{"dataset": "wine", "method": "square", "number": n} for n in numbers]
    rows = [
        {"number": row["number"], "square": row["square"] / 3, "said": "a, b", "parts": [1, 0.5]}
        for row in bench.jobs("squares", squared, settings)
    ]
    yield Exhibit(
        "Table I", "Squares", rows, [Drawing("number", "square", log_y=True)], "All.", rows[:1]
    )


def figure(bench):
    folds = Folds({"quick": 2, "standard": 3, "full": 4}[bench.level])
    study = Study("curves", ["wine"], ["fisher", "t-test"], folds, ks=[2], classifiers=["1nn"])
    accuracies = [
        {"fold": row["fold"], "accuracy": row["accuracy"], "none": None}
        for row in bench.study(study)
    ]
    yield Exhibit("Figure 1", "Accuracy", accuracies)


PRESET = Preset(
    "l20",
    "Somebody: Something",
    (Experiment("table I", "Squares", table), Experiment("figure 1", "Accuracy", figure)),
    {"quick": "One number only."},
)


@pytest.fixture(autouse=True)
def small_paper(monkeypatch):
    monkeypatch.setattr(REPRODUCE, "find_preset", lambda paper: PRESET)
    monkeypatch.setattr(records, "find_preset", lambda paper: PRESET)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store") / "l20.sqlite"


@pytest.fixture
def reproduction(store):
    return reproduce("l20", store)


def test_a_plan_counts_the_cells_that_a_run_computes(reproduction, store):
    planned = plan("l20")
    seen = []
    reproduce("l20", store, on_progress=lambda name, now: seen.append((name, now.total)))
    totals = dict(seen)
    assert totals.pop("l20 level") == 1
    assert planned.cells == sum(totals.values()) == 2 + 2 * 3
    assert planned.seconds is None
    assert planned.unknown == planned.cells
    assert [kind.method for kind in planned.kinds] == ["square", "FisherSelector", "TTestSelector"]
    timed = planned.timed(measured_times(store, totals))
    assert timed.unknown == 0
    assert timed.seconds > 0


def test_the_fingerprint_follows_the_protocol_and_not_the_data_at_hand():
    one = plan_of("l20", "standard", PRESET.experiments)
    assert one.fingerprint == plan_of("l20", "standard", PRESET.experiments).fingerprint
    assert one.fingerprint != plan_of("l20", "full", PRESET.experiments).fingerprint
    assert one.fingerprint != plan_of("l20", "standard", PRESET.experiments[:1]).fingerprint


def test_full_measures_one_cell_of_every_kind_first(tmp_path):
    plans = []
    reproduce("l20", tmp_path / "full.sqlite", level="full", on_plan=plans.append)
    assert len(plans) == 1
    assert plans[0].unknown == 0
    assert plans[0].cells == 3 + 2 * 4


def test_a_store_of_another_level_is_left_alone(reproduction, store):
    before = store.read_bytes()
    with pytest.raises(StudyError, match="holds the standard level of l20; ask for that level"):
        reproduce("l20", store, level="quick")
    assert store.read_bytes() == before


def test_an_unknown_level_is_named(store):
    with pytest.raises(ValueError, match="level must be one of"):
        reproduce("l20", store, level="slow")


def test_fewer_repetitions_are_the_first_ones_of_the_paper(monkeypatch):
    monkeypatch.undo()  # the papers themselves, not the small one
    whole, once = (
        Planner("robust-l20", Path("-"), "full", assumed=["usps"], n_repeats=repeats)
        for repeats in (None, 1)
    )
    for bench in (whole, once):
        for experiment in find_preset("robust-l20").experiments[3:4]:
            bench.asked_by(experiment)
    y = np.arange(50) % 5
    studies = [bench.asked[0][2] for bench in (whole, once)]
    first, ours = (list(study.protocol.splits(y, seed=study.seed)) for study in studies)
    assert [len(first), len(ours)] == [50, 5]
    for split, same in zip(first, ours, strict=False):
        np.testing.assert_array_equal(split.test, same.test)
    jobs = [{(job["repeat"], job["fold"]) for job in bench.asked[1][2]} for bench in (whole, once)]
    assert jobs[1] == {place for place in jobs[0] if place[0] == 0}
    assert studies[0].ks == studies[1].ks


def test_fewer_repetitions_where_no_row_would_say_so(store):
    with pytest.raises(ValueError, match="robust-l20 and l0-mkl, not l20; leave it away"):
        plan("l20", n_repeats=1)
    with pytest.raises(ValueError, match="n_repeats must be"):
        reproduce("l20", store, n_repeats=0)


def test_a_store_of_other_repetitions_is_left_alone(tmp_path, monkeypatch):
    counting = replace(PRESET, counts_splits=True)
    monkeypatch.setattr(REPRODUCE, "find_preset", lambda paper: counting)
    file = tmp_path / "once.sqlite"
    reproduce("l20", file, only=["table"], n_repeats=1)
    reproduce("l20", file, only=["table"], n_repeats=1)
    with pytest.raises(StudyError, match="holds 1 repetition of l20; ask for the same number"):
        reproduce("l20", file, only=["table"])


def saved(reproduction, store, folder):
    planned = plan("l20")
    save_record(reproduction, planned, measured_times(store, ["squares", "curves"]), folder)
    return planned


def test_a_record_gives_back_what_was_found(reproduction, store, tmp_path):
    planned = saved(reproduction, store, tmp_path)
    record = read_record("l20", tmp_path)
    assert record.remarks == []
    assert record.cells == planned.cells
    assert record.seconds >= 0
    assert set(record.times) == {kind.place for kind in planned.kinds}
    for ours, theirs in zip(reproduction.exhibits, record.reproduction.exhibits, strict=True):
        assert (ours.name, ours.title, ours.note) == (theirs.name, theirs.title, theirs.note)
        assert list(ours.drawings) == list(theirs.drawings)
        for row, other in zip(ours.rows, theirs.rows, strict=True):
            assert list(row) == list(other)
            assert other == {
                name: float(f"{value:.6g}") if isinstance(value, float) else value
                for name, value in row.items()
            }
    assert "standard level: 8 cells" in record.in_words


def test_a_record_of_an_older_protocol_or_version_says_so(
    reproduction, store, tmp_path, monkeypatch
):
    saved(reproduction, store, tmp_path)
    shorter = replace(PRESET, experiments=PRESET.experiments[:1])
    monkeypatch.setattr(records, "find_preset", lambda paper: shorter)
    monkeypatch.setattr(records, "__version__", "99.0")
    remarks = read_record("l20", tmp_path).remarks
    assert len(remarks) == 2
    assert "99.0" in remarks[0]
    assert "older one" in remarks[1]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content.update(format=99), "has format 99"),
        (lambda content: content.update(paper="l0-mkl"), "is one of 'l0-mkl'"),
        (lambda content: content.pop("exhibits"), "is damaged"),
        (lambda content: content["exhibits"][0].update(file="../../secret"), "is no name"),
        (lambda content: content["exhibits"][0].update(file="other.csv"), "other.csv is missing"),
        (lambda content: content["exhibits"][0]["kinds"].update(number="code"), "is damaged"),
        (lambda content: content["exhibits"][0].update(drawings=[{"z": 1}]), "is damaged"),
        (lambda content: content["exhibits"][0].update(drawings=[{"x": [], "y": ""}]), "damaged"),
        (lambda content: content.update(cells=float("inf")), "is damaged"),
        (lambda content: content["runs"][0].pop("where"), "is damaged"),
    ],
)
def test_a_damaged_record_is_refused_in_one_sentence(
    reproduction, store, tmp_path, damage, message
):
    saved(reproduction, store, tmp_path)
    file = tmp_path / "record.json"
    content = json.loads(file.read_text())
    damage(content)
    file.write_text(json.dumps(content))
    with pytest.raises(RecordError, match=message):
        read_record("l20", tmp_path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.write_text("work,dataset\n" + "x" * 300_000 + ",y\n"), "is damaged"),
        (lambda file: (file.unlink(), file.mkdir()), "times.csv of the record .* cannot be read"),
    ],
)
def test_tables_of_a_record_that_are_none(reproduction, store, tmp_path, damage, message):
    saved(reproduction, store, tmp_path)
    damage(tmp_path / "times.csv")
    with pytest.raises(RecordError, match=message):
        read_record("l20", tmp_path)


@pytest.fixture
def with_full(reproduction, store, tmp_path):
    """A record, and beside it one of Table I at the full level."""
    saved(reproduction, store, tmp_path / "l20")
    file = tmp_path / "full.sqlite"
    fuller = reproduce("l20", file, level="full", only=["table"])
    times = measured_times(file, ["squares"])
    save_record(fuller, plan("l20", "full", ["table"]), times, tmp_path / "l20-full")
    return read_record("l20", tmp_path / "l20")


def test_exhibits_of_the_full_level_take_the_place_of_others(with_full, reproduction):
    table, figure = with_full.reproduction.exhibits
    assert [row["number"] for row in table.rows] == [1, 2, 3]
    assert [row["fold"] for row in figure.rows] == [
        row["fold"] for row in reproduction.exhibits[1].rows
    ]
    assert with_full.reproduction.level == "standard"
    assert with_full.reproduction.levels == {"Table I": ("full",)}
    assert with_full.remarks == []  # the protocol of the experiments that it holds
    assert with_full.cells == 8
    assert "standard level: 8 cells" in with_full.in_words
    assert "At the full level: Table I. Recorded on" in with_full.in_words
    assert "full level: 3 cells" in with_full.in_words


def test_other_data_sets_keep_their_rows_and_claims_leave_them_out():
    few = [{"dataset": d, "method": m, "score": s} for d in "abc" for m, s in (("A", 2), ("B", 1))]
    many = [{**row, "score": 10 * row["score"]} for row in few if row["dataset"] != "a"]
    sizes = [{"dataset": "a", "n_samples": 9}, {"dataset": "b", "n_samples": None}]
    fuller = [{"dataset": "a", "n_samples": None}, {"dataset": "b", "n_samples": 7}]
    claims = {
        level: [Claim("", "", "", "T", Compared("score", "A", ("B",), splits=splits))]
        for level, splits in (("quick", 1), ("standard", 3), ("full", 10))
    }
    preset = replace(PRESET, claims=claims.__getitem__, coarser={"standard": "Two numbers."})
    found = [
        Record(
            Reproduction(
                preset,
                [Exhibit("Data sets", "", listed), Exhibit("T", "", rows)],
                {"b": "no file", "z": "lost"} if level == "standard" else {"z": "lost"},
                [],
                level,
                Path("-"),
            ),
            *((), 60.0, 2, {}),
        )
        for rows, listed, level in ((few, sizes, "standard"), (many, fuller, "full"))
    ]
    both = records.with_full(*found).reproduction
    listed, table = both.exhibits
    assert [row["n_samples"] for row in listed.rows] == [9, 7]
    assert both.missing == {"z": "lost"}
    scores = {(row["dataset"], row["method"]): row["score"] for row in table.rows}
    assert [scores[d, "A"] for d in "abc"] == [2, 20, 20]
    assert both.levels == {"T": ("standard", "full")}
    assert both.coarser == "Two numbers. At the full level: T (in part)."
    (claim,) = both.claims
    assert (claim.splits, claim.difference, claim.data_sets) == ("10", 10, 2)
    assert claim.because == "without a, which has fewer splits"


def test_a_record_says_where_its_cells_were_computed(reproduction, store, tmp_path):
    here = computed_where(store)
    assert here["python"] == platform.python_version()
    elsewhere = tmp_path / "moved.sqlite"
    elsewhere.write_bytes(store.read_bytes())
    with sqlite3.connect(elsewhere) as moved:
        moved.execute(
            "UPDATE cells SET result = replace(result, ?, '\"sparc\"')",
            [json.dumps(here["processor"])],
        )
    assert computed_where(elsewhere)["processor"] == "sparc"
    assert computed_where(tmp_path / "none.sqlite") == here


def test_no_record_names_the_command_that_makes_one(tmp_path):
    with pytest.raises(RecordError, match="run: sparsieve reproduce l20"):
        read_record("l20", tmp_path)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_record_of_every_paper_comes_with_the_package(paper, monkeypatch):
    monkeypatch.undo()  # the paper itself, not the small one
    record = read_record(paper)
    assert record.reproduction.level == "standard"
    assert record.reproduction.errors == []
    assert all(exhibit.rows for exhibit in record.reproduction.exhibits)
    assert record.cells > 0
    assert record.seconds < 2 * 25 * 60  # what two cores do in 25 minutes


@pytest.mark.parametrize(
    ("paper", "table"), [("l20", "figure-2.csv"), ("robust-l20", "figure-2.csv")]
)
def test_a_record_with_a_hole_where_no_claim_can_do_without(paper, table, monkeypatch, tmp_path):
    monkeypatch.undo()  # the paper itself, not the small one
    home = Path(records.__file__).parent / "records" / paper
    shutil.copytree(home, tmp_path / "holed")
    file = tmp_path / "holed" / table
    head, *rows = csv.reader(file.read_text(encoding="utf-8").splitlines())
    for row in rows:
        row[head.index("k" if paper == "robust-l20" else "method")] = ""
    with file.open("w", encoding="utf-8", newline="") as open_file:
        csv.writer(open_file).writerows([head, *rows])
    with pytest.raises(RecordError, match="is damaged"):
        read_record(paper, tmp_path / "holed")
