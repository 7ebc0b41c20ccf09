"""Reports and reproductions on the command line."""

import csv
import sqlite3
from html import escape

import pytest

from sparsieve_experiments.papers import Experiment, Preset, l20
from sparsieve_experiments.papers.claims import Judged
from sparsieve_experiments.studies import Store
from sparsieve_experiments.studies.exhibits import Drawing, Exhibit

pytestmark = pytest.mark.usefixtures("lines_only")

pytest.importorskip("vl_convert")

STUDY = """
name = "small"
ks = [1, 3]
classifiers = ["1nn"]
protocol = { kind = "folds", n_folds = 2 }
datasets = ["wine"]
selectors = ["fisher", "ridge-forward"]
"""


def test_select_writes_a_report_beside_the_table(sparsieve, flowers, tmp_path):
    page = tmp_path / "report.html"
    result = sparsieve("select", flowers, "--target", "kind", "-k", 2, "--report", page)
    assert result.code == 0
    assert result.out.splitlines()[0].split("\t") == ["rank", "feature", "score"]
    assert f"wrote {page}" in result.err
    text = page.read_text(encoding="utf-8")
    assert "2 of 6 features for kind" in text
    assert "Using these 2 of 6 features, a softmax regression model" in text


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("report.pdf", "unknown suffix '.pdf'; known are .html, .htm"),
        ("nowhere/report.html", "the folder nowhere does not exist"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_the_work(
    sparsieve, flowers, monkeypatch, tmp_path, report, message
):
    monkeypatch.chdir(tmp_path)
    result = sparsieve("select", flowers, "--target", "kind", "--report", report)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


def test_missing_packages_are_named_before_the_work(sparsieve, flowers, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    page = tmp_path / "report.html"
    result = sparsieve("select", flowers, "--target", "kind", "--report", page)
    assert result.code == 1
    assert "jinja2 is needed to write a report" in result.err
    assert "pip install 'sparsieve[report]'" in result.err
    assert not page.exists()


def test_study_report(sparsieve, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    page = tmp_path / "study.html"
    early = sparsieve("study", "report", file, "-o", page)
    assert (early.code, page.exists()) == (1, False)
    assert "there is no store" in early.err
    assert sparsieve("study", "run", file, "-q").code == 0
    result = sparsieve("study", "report", file, "-o", page)
    assert (result.code, result.err) == (0, f"wrote {page}\n")
    assert "has the highest mean accuracy" in page.read_text(encoding="utf-8")


def double(setting):
    return {"twice": 2 * setting["number"]}


def fail(setting):
    raise ValueError("this cannot be computed")


def small_experiment(bench):
    numbers = range(2 if bench.quick else 5)
    rows = bench.jobs("l20 doubles", double, [{"number": n} for n in numbers])
    rows = [{**row, "published": 4.5 if row["number"] == 2 else None} for row in rows]
    yield Exhibit("Table 1", "Doubles", rows, [Drawing("number", "twice")], note="Doubled.")


def failing_experiment(bench):
    yield Exhibit("Figure 9", "Nothing", bench.jobs("l20 failures", fail, [{"number": 1}]))


@pytest.fixture
def small_paper(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path))
    small = Experiment("table 1", "Doubles", small_experiment)
    failing = Experiment("figure 9", "Nothing", failing_experiment)
    monkeypatch.setattr(l20, "PRESET", Preset("l20", "Somebody: Doubling (2020)", [small, failing]))


def test_reproduce(sparsieve, small_paper, tmp_path):
    page = tmp_path / "l20.html"
    result = sparsieve("reproduce", "l20", "--only", "table", "--report", page)
    assert result.code == 0
    assert "Table 1: Doubles" in result.out
    assert "4.5" in result.out
    assert "Somebody: Doubling (2020)" in result.err
    assert "left out Brain: no file in the data folder" in result.err
    assert "left out Lung: no exact copy could be obtained" in result.err
    assert (tmp_path / "l20.sqlite").exists()
    assert "Reproducing Somebody" in page.read_text(encoding="utf-8")


def test_reproduce_as_json_quick_and_resumed(sparsieve, small_paper):
    quick = sparsieve("reproduce", "l20", "--quick", "--only", "table 1", "--json", "-q").json()
    assert [row["twice"] for row in quick["exhibits"][0]["rows"]] == [0, 2]
    assert quick["level"] == "quick"
    found = sparsieve("reproduce", "l20", "--only", "table 1", "--json")
    assert [row["twice"] for row in found.json()["exhibits"][0]["rows"]] == [0, 2, 4, 6, 8]
    assert "standard level: 5 cells" in found.err
    again = sparsieve("reproduce", "l20", "--only", "table 1", "--json")
    assert "l20 doubles: 5/5 cells" in again.err


def test_levels_have_stores_of_their_own(sparsieve, small_paper, tmp_path):
    for option in ("--quick", "--full"):
        assert sparsieve("reproduce", "l20", option, "--only", "table 1", "-q").code == 0
    assert {path.name for path in tmp_path.glob("*.sqlite")} == {
        "l20-quick.sqlite",
        "l20-full.sqlite",
    }
    mixed = sparsieve("reproduce", "l20", "--only", "table 1", "--store", "l20-full.sqlite")
    assert mixed.code == 1
    assert "l20-full.sqlite holds the full level of l20; ask for that level" in mixed.err


def test_a_plan_computes_nothing_and_knows_what_was_measured(sparsieve, small_paper, tmp_path):
    before = sparsieve("reproduce", "l20", "--plan", "--only", "table 1")
    assert before.code == 0
    assert before.out.splitlines()[1].split("\t")[3:] == ["5", "not measured"]
    assert not (tmp_path / "l20.sqlite").exists()
    assert sparsieve("reproduce", "l20", "--only", "table 1", "-q").code == 0
    after = sparsieve("reproduce", "l20", "--plan", "--only", "table 1", "--json").json()
    assert (after["cells"], after["cells_without_estimate"]) == (5, 0)


def test_a_plan_without_data_says_why_it_is_empty(sparsieve, monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path))
    result = sparsieve("reproduce", "l20", "--plan")
    assert (result.code, result.out) == (0, "")
    assert f"none of the data sets of l20 is in {tmp_path}" in result.err
    assert "name their folder with --data" in result.err


def test_a_plan_of_another_level_than_the_record_is_a_lower_bound(sparsieve, monkeypatch):
    monkeypatch.delenv("SPARSIEVE_DATA", raising=False)
    full = sparsieve("reproduce", "l0-mpm", "--full", "--plan", "--only", "figure 8")
    assert "this is a lower bound" in full.err
    assert "or more" in full.out
    standard = sparsieve("reproduce", "l0-mpm", "--plan", "--only", "figure 8", "--json").json()
    assert not standard["seconds_are_a_lower_bound"]


def _read(name, text):
    if name in ("difference", "low", "high", "sign_test_p"):
        return float(text) if text else None
    if name in ("data_sets", "settings", "ahead", "behind", "won", "sets_needed"):
        return int(float(text)) if text else None
    return text


@pytest.mark.thinned(2)
@pytest.mark.parametrize("paper", ["robust-l20", "l20", "exclusive-l21", "l0-mkl", "l0-mpm"])
def test_a_record_opens_with_the_claims_which_equal_the_file(sparsieve, tmp_path, paper):
    """The table on the terminal, the file of --claims and the page say the same."""
    file, page = tmp_path / "claims.csv", tmp_path / "page.html"
    shown = sparsieve("reproduce", paper, "--recorded", "--claims", file, "--report", page)
    lines = [line.split("\t") for line in shown.out.splitlines()]
    assert lines[0][:2] == ["verdict", "claim"]
    with file.open(encoding="utf-8") as rows:
        written = list(csv.DictReader(rows))
    assert len(written) == len(lines) - 1 > 3
    for line, row in zip(lines[1:], written, strict=True):
        again = Judged(**{name: _read(name, text) for name, text in row.items()})
        assert line == list(again.shown.values())
    html = page.read_text(encoding="utf-8").replace("<wbr>", "")
    html = html[html.index('id="content"') :]  # the headline may have the words of a claim
    places = [html.index(escape(row["claim"])) for row in written]
    assert places == sorted(places)
    assert max(places) < html.index("how its claims are judged")
    tables = sparsieve("reproduce", paper, "--recorded", "--tables")
    assert tables.out.startswith(shown.out)
    assert len(tables.out) > len(shown.out)


def test_claims_cannot_be_written_where_there_is_no_folder(sparsieve, tmp_path):
    result = sparsieve("reproduce", "l20", "--recorded", "--claims", tmp_path / "no" / "c.csv")
    assert result.code == 1
    assert "does not exist" in result.err
    assert sparsieve("reproduce", "l20", "--tables").code == 2


@pytest.mark.slow
def test_a_full_run_says_first_how_long_it_takes(sparsieve, small_paper):
    result = sparsieve("reproduce", "l20", "--full", "--only", "table 1", "--jobs", 2)
    assert "full level: 5 cells, about 0 s of one core, 0 s with 2 processes" in result.err


def test_a_record_is_written_and_shown(sparsieve, small_paper, tmp_path, monkeypatch):
    small = Experiment("table 1", "Doubles", small_experiment)
    monkeypatch.setattr(l20, "PRESET", Preset("l20", "Somebody: Doubling (2020)", [small]))
    assert sparsieve("reproduce", "l20", "-q", "--record", tmp_path / "records").code == 0
    folder = tmp_path / "records" / "l20"
    assert sorted(path.name for path in folder.iterdir()) == [
        "record.json",
        "table-1.csv",
        "times.csv",
    ]
    part = ("reproduce", "l20", "-q", "--only", "table 1", "--record", tmp_path / "records")
    assert "--record with --only is for --full" in sparsieve(*part).err
    assert "there is no record of l20" in sparsieve(*part, "--full", "--add").err
    assert sparsieve(*part, "--full").code == 0
    file = tmp_path / "records" / "l20-full" / "record.json"
    once = file.read_text(encoding="utf-8")
    assert sparsieve(*part, "--full", "--add").code == 0
    assert file.read_text(encoding="utf-8") == once
    assert "--add is for --record" in sparsieve("reproduce", "l20", "--add").err
    assert "robust-l20 and l0-mkl, not l20" in sparsieve("reproduce", "l20", "--repeats", 1).err


def test_a_failure_is_said_and_gives_code_1(sparsieve, small_paper):
    result = sparsieve("reproduce", "l20", "-q")
    assert result.code == 1
    assert "failed: l20 failures: {'number': 1}: ValueError: this cannot be computed" in result.err


def test_wrong_usage(sparsieve, small_paper):
    assert "paper must be one of" in sparsieve("reproduce", "nothing").err
    assert "no experiment of l20 is called 'figure 77'" in (
        sparsieve("reproduce", "l20", "--only", "figure 77").err
    )
    assert "there is no folder" in sparsieve("reproduce", "l20", "--data", "nowhere").err
    assert sparsieve("reproduce", "l20", "--jobs", 0).code == 2
    for one, other in (("--quick", "--full"), ("--recorded", "--plan"), ("--recorded", "--quick")):
        refused = sparsieve("reproduce", "l20", one, other)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
        assert f"{one} and {other} exclude each other" in refused.err
    refused = sparsieve("reproduce", "l20", "--device", "cpu")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "solved in batches: robust-l20, not l20" in refused.err


def test_reproduce_says_what_is_wrong_with_a_store(sparsieve, small_paper, tmp_path):
    assert sparsieve("reproduce", "l20", "--only", "table 1", "-q").code == 0
    connection = sqlite3.connect(tmp_path / "l20.sqlite")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    result = sparsieve("reproduce", "l20", "--only", "table 1", "-q")
    assert (result.code, len(result.err.splitlines())) == (1, 1)
    assert "l20.sqlite is a store of another version of sparsieve" in result.err
    other = sparsieve("reproduce", "l20", "--only", "table 1", "-q", "--store", "new.sqlite")
    assert other.code == 0


def test_a_full_disk_loses_nothing_of_a_reproduction(sparsieve, small_paper, monkeypatch):
    finish, finished = Store.finish, []

    def full(self, key, result):
        if len(finished) == 4:  # the first is the level
            pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
            self._connection.execute(f"PRAGMA max_page_count = {pages}")
            result = {**result, "padding": "x" * 10**6}
        finished.append(key)
        return finish(self, key, result)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish", full)
        result = sparsieve("reproduce", "l20", "--only", "table 1", "-q")
    assert (result.code, len(result.err.splitlines())) == (1, 1)
    assert "disk is full" in result.err
    assert "what is finished is kept" in result.err
    again = sparsieve("reproduce", "l20", "--only", "table 1")
    assert again.code == 0
    assert "l20 doubles: 3/5 cells" in again.err


def test_an_interrupted_reproduction_goes_on_where_it_was(sparsieve, small_paper, monkeypatch):
    finish, finished = Store.finish, []

    def interrupted(self, key, result):
        finished.append(key)
        if len(finished) == 4:  # the first is the level
            raise KeyboardInterrupt
        return finish(self, key, result)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish", interrupted)
        result = sparsieve("reproduce", "l20", "--only", "table 1", "-q")
    assert result.code == 130
    assert result.err == ("what is finished is in l20.sqlite: run it again to go on\ninterrupted\n")
    again = sparsieve("reproduce", "l20", "--only", "table 1")
    assert again.code == 0
    assert "l20 doubles: 2/5 cells" in again.err
