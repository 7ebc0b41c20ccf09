"""Rows of a record that other code has made than today's."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from sparsieve.app.cli.app import app
from sparsieve.datasets.load import PAPERS
from sparsieve_experiments import papers
from sparsieve_experiments.papers import plan, read_record, record_code, save_record
from sparsieve_experiments.papers.levels import content
from sparsieve_experiments.papers.record_code import (
    code_of_cell,
    in_words,
    solvers_of,
    stamped,
)
from sparsieve_experiments.papers.record_runs import joined
from sparsieve_experiments.papers.solver_code import code_now
from sparsieve_experiments.studies.exhibits import Exhibit, place_of_row
from sparsieve_experiments.studies.jobs import run_jobs


@pytest.fixture
def now(monkeypatch):
    """The digests of today, by the first solver: no source is read for them."""
    digests = {}
    monkeypatch.setattr(record_code, "digest", lambda s: digests.get(s[0], f"now{s[0][:9]}"))
    return digests


@pytest.fixture
def recorded(now, tmp_path):
    """The record of l0-mpm as if it were made today."""
    found = read_record("l0-mpm").reproduction
    exhibits = [stamped("l0-mpm", exhibit) for exhibit in found.exhibits]
    save_record(replace(found, exhibits=exhibits), plan("l0-mpm"), {}, tmp_path / "l0-mpm")
    return tmp_path / "l0-mpm"


def test_rows_of_today_are_not_named(recorded):
    assert read_record("l0-mpm", recorded).older == []
    assert in_words([]) == "Every row that a solver has made is of today's code."
    for exhibit in read_record("l0-mpm", recorded).reproduction.exhibits:
        assert "code" not in exhibit.columns


def test_a_changed_solver_makes_its_rows_older(recorded, now):
    now["L1MPMSelector"] = "changed"
    older = {one.exhibit: one for one in read_record("l0-mpm", recorded).older}
    found = replace(older["Table 3"], methods=tuple(sorted(older["Table 3"].methods)))
    assert found.methods == (
        "L1-MPM, 0.8 of the best level",
        "L1-MPM, 0.95 of the best level",
        "L1-MPM, delta 0.9",
    )
    sets = found.n_rows // 7  # machines and their levels
    assert (found.n_older, found.n_unknown) == (3 * sets, 0)
    assert "Figure 8" not in older
    assert f"{3 * sets} of older code, of {7 * sets} rows in 1 exhibit" in in_words([found])


def test_rows_without_a_digest_are_of_unknown_code(recorded):
    lines = (recorded / "figure-9.csv").read_text().splitlines()
    kept = [lines[0], lines[1].rpartition(",")[0] + ",", *lines[2:]]
    (recorded / "figure-9.csv").write_text("\n".join(kept) + "\n")
    (found,) = read_record("l0-mpm", recorded).older
    assert (found.exhibit, found.n_rows, found.n_older, found.n_unknown) == ("Figure 9", 3, 0, 1)


def test_the_command_names_them(recorded, now, monkeypatch):
    now["L1MPMSelector"] = "changed"
    found = read_record("l0-mpm", recorded)
    monkeypatch.setattr(papers, "read_record", lambda paper: found)
    said = CliRunner().invoke(app, ["reproduce", "l0-mpm", "--recorded"])
    assert said.exit_code == 0
    assert "of older code" in said.output
    assert "the solvers of today may give other numbers there" in said.output


def test_an_added_run_brings_its_own_digests():
    rows = [{"dataset": name, "method": "MPM", "x": 1} for name in ("Pima", "Sonar")]
    before = Exhibit("Some", "", rows, codes={place_of_row(row): "old" for row in rows})
    run = Exhibit("Some", "", rows[1:], codes={place_of_row(rows[1]): "new"})
    preset = papers.find_preset("l0-mpm")
    (found,) = joined(preset, [before], [run])
    assert found.codes == {("Pima", "MPM"): "old", ("Sonar", "MPM"): "new"}


def doubled(setting):
    return {"x": 2 * setting["x"]}


def test_a_store_computes_anew_what_other_code_has_computed(tmp_path):
    codes, seen = ["one"], []

    def compute():
        file = tmp_path / "jobs.sqlite"
        run_jobs(
            "jobs", doubled, [{"x": 1}], file, code=lambda _: codes[0], on_progress=seen.append
        )
        return seen[-1].computed

    assert [compute(), compute()] == [1, 0]
    codes[0] = "two"
    assert compute() == 1


def test_cells_are_identified_by_what_computes_them(now):
    assert code_of_cell("l20", {"selector": "RFSSelector"}) == "nowRFSSelect"
    assert code_of_cell("l0-mpm", {"method": "L1-MPM"}) == "nowL1MPMSele"
    assert code_of_cell("l20", {"selector": "AllFeatures"}) == ""
    now["ESFSSelector"] = "every"  # the first of all solvers of the paper
    assert code_of_cell("l20", {"size": 3}) == "every"


@pytest.mark.thinned(2)
@pytest.mark.long("reads all records")
@pytest.mark.parametrize("paper", PAPERS)
def test_it_is_declared_what_solves_the_rows_of_a_method(paper):
    for exhibit in read_record(paper).reproduction.exhibits:
        for method in {method for _, method in map(place_of_row, exhibit.rows)} - {"", "baseline"}:
            assert solvers_of(paper, exhibit.name, method), (exhibit.name, method)


@pytest.mark.long("parses every solver")
def test_what_solves_is_there():
    declared = content("sparsieve_experiments.papers", "solved_by.toml")
    assert set(declared) == set(PAPERS)
    assert code_now().digest(
        {name for one in declared.values() for all in one.values() for name in all}
    )
