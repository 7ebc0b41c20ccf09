import re
import sys

import pytest

from sparsieve import __version__, all_selectors
from sparsieve.app.cli import demo as demo_module
from sparsieve.app.cli.app import run
from sparsieve.app.cli.output import report
from sparsieve.registry import BEHIND, all_methods, withstood


def test_version_and_help(sparsieve):
    assert sparsieve("--version").out == f"sparsieve {__version__}\n"
    for arguments in ((), ("--help",), ("-h",)):
        result = sparsieve(*arguments)
        assert result.code == 0
        for command in ("select", "methods", "datasets", "demo", "reproduce", "study"):
            assert command in result.out
        assert "Exit codes: 0 success; 1 bad data" in result.out
    assert "Exit codes" in sparsieve("select", "--help").out


def test_unknown_command(sparsieve):
    result = sparsieve("selct")
    assert result.code == 2
    assert result.err.startswith("error: No such command 'selct'")


def test_methods(sparsieve, monkeypatch):
    header, *rows = [line.split("\t") for line in sparsieve("methods").out.splitlines()]
    assert header == ["name", "seconds", "regression", "sparse", "what it does"]
    assert rows[0][0] == "ridge-forward"  # where to start
    assert sorted(row[0] for row in rows) == list(all_methods())
    fisher = next(row for row in rows if row[0] == "fisher")
    assert (float(fisher[1]) < 1, fisher[2:4]) == (True, ["no", "yes"])
    assert fisher[4].startswith("Scores each feature separately")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    result = sparsieve("methods")
    assert "fisher" in result.out
    assert "CPU time for 20 of 20,000 features, 100 samples, one core" in result.err


def test_methods_for_a_purpose(sparsieve):
    def names(*purposes):
        listed = sparsieve("methods", *(f"--for={purpose}" for purpose in purposes)).out
        return {line.partition("\t")[0] for line in listed.splitlines()[1:]}

    assert "relieff" in names("nonlinear")
    assert "ridge-forward" not in names("nonlinear")
    assert names("regression,large") == names("regression", "large")
    assert names("regression", "large") == names("regression") & names("large")
    result = sparsieve("methods", "--for", "linear")
    assert (result.code, "unknown --for 'linear'; " in result.err) == (2, True)
    result = sparsieve("methods", "--for", "proof,p-values")
    assert (result.code, result.err.count("\n")) == (2, 1)


def test_methods_for_wrong_labels_and_outliers_are_those_that_measure_best(sparsieve):
    for purpose, figures in withstood().items():
        listed = sparsieve("methods", "--for", purpose).out.splitlines()[1:]
        names = [line.partition("\t")[0] for line in listed]
        best_first = sorted(figures, key=lambda name: -figures[name])
        assert names == best_first[: len(names)]
        assert figures[names[-1]] >= figures[names[0]] - BEHIND > figures[best_first[len(names)]]
    assert "rfs" in sparsieve("methods", "--for", "outliers").out
    for purpose in ("wrong-labels", "outliers-in-x"):
        assert "\nrfs\t" not in sparsieve("methods", "--for", purpose).out


def test_flags_have_no_type(sparsieve):
    for command in (("--help",), ("select", "--help"), ("study", "run", "--help")):
        assert "bool" not in sparsieve(*command).out


def test_methods_json(sparsieve):
    listed = sparsieve("methods", "--json").json()
    assert {entry["class"] for entry in listed} <= set(all_selectors())
    fisher = next(entry for entry in listed if entry["name"] == "fisher")
    assert fisher["regression"] is False
    assert fisher["sparse"] is True
    assert fisher["parameters"]["n_features_to_select"] is None


def test_datasets(sparsieve, monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path))
    header, *rows = [line.split("\t") for line in sparsieve("datasets").out.splitlines()]
    assert header == [
        "name", "samples", "features", "classes", "kind", "status", "how to get it",
    ]  # fmt: skip
    assert ["wine", "178", "13", "3", "tabular", "embedded", "comes with scikit-learn"] in rows
    allaml = next(row for row in rows if row[0] == "allaml")
    assert allaml[1:6] == ["72", "7129", "2", "gene expression", "missing"]
    assert allaml[6].startswith("download ALLAML.mat of ")
    assert allaml[6].endswith(f" into {tmp_path}")
    assert all(row[6] for row in rows)
    listed = sparsieve("datasets", "--json").json()
    assert len(listed) == len(rows)
    assert {entry["status"] for entry in listed} == {"embedded", "missing", "unavailable"}


@pytest.mark.long("the whole demonstration")
def test_demo(sparsieve, monkeypatch, tmp_path):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo_module, "N_FEATURES", 2_000)
    result = sparsieve("demo")
    assert result.code == 0
    assert re.search("method .* kept .* of the 5 found .* accuracy .* seconds", result.out)
    assert re.search(r"all features .* 2,000 of\s+2,000", result.out)
    for name in demo_module.METHODS:
        assert name in result.out
    said = result.err.replace("\n", " ")
    [(kept, why)] = re.findall(r"Kept: (\d+) features, (.*?) \(accuracy", said)
    assert "best" in why or "as well as any" in why  # in words, as select does, and -k auto
    assert re.search(rf"ridge-forward .* {kept} of\s+2,000", result.out)
    assert "sparsieve select yourdata.csv --target label -k 20 -o selected.csv" in result.err
    assert str(tmp_path / "sparsieve-demo.html") in result.err
    page = (tmp_path / "sparsieve-demo.html").read_text(encoding="utf-8")
    assert re.search(r"these \d+ of 2,000 features", page)
    # The page has the numbers that were printed.
    said = page.replace("\N{NO-BREAK SPACE}", " ").replace(".0 %", " %")
    [whole] = re.findall(r"all features .*?([\d.]+)%", result.out)
    [forward] = re.findall(r"ridge-forward .*?([\d.]+)%", result.out)
    assert f"{whole.removesuffix('.0')} %" in said.partition("all 2,000 features")[2][:40]
    assert f"classified {forward.removesuffix('.0')} % of held-out" in said
    assert f"Kept: {kept} features, {why} (accuracy" in page
    monkeypatch.setattr(demo_module, "METHODS", ("fisher",))
    fewer, more = (
        sparsieve("demo", "--json", "--rule", rule).json() for rule in ("one_se", "best")
    )
    assert fewer[1]["kept"] <= more[1]["kept"]


@pytest.mark.long("the whole demonstration")
def test_demo_keeps_its_promise(sparsieve):
    """What matters out of thousands and nothing else, as good as everything."""
    whole, forward, *others = sparsieve("demo", "--json").json()
    assert whole["kept"] == whole["n_features"] == 5_000
    assert forward["method"] == "ridge-forward"
    assert 4 <= forward["found"] == forward["kept"] == len(forward["features"]) <= 5
    assert forward["accuracy"] >= whole["accuracy"]
    assert len(others) == 2


def test_demo_refuses_a_place_it_cannot_write_to_before_the_work(sparsieve, tmp_path):
    result = sparsieve("demo", "--report", tmp_path / "nowhere" / "page.html")
    assert (result.code, "does not exist" in result.err) == (2, True)


def test_demo_selects_inside_the_folds():
    # On labels without any relation to X, selecting before splitting looks good; inside, it
    # cannot do better than chance.
    import numpy as np

    from sparsieve.datasets.load import Dataset

    rng = np.random.default_rng(0)
    noise = Dataset(name="noise", X=rng.normal(size=(60, 3000)), y=np.arange(60) % 2)
    noise.relevant = np.empty(0, dtype=int)
    row, _ = demo_module._search_count("fisher", noise, "best")
    assert row["accuracy"] < 0.7


@pytest.mark.parametrize("name", ["a\u202eb", "a\u2067b", "a\x1b[31mb", "a\udcffb"])
def test_names_do_not_act_on_a_terminal(capsys, monkeypatch, name):
    from sparsieve.app.cli.output import print_names, print_rows, say

    spelled = name.encode("unicode_escape").decode()
    print_rows(("name", "score"), [(name, "1")], for_reading=True)
    say(f"kept {name}")
    report(ValueError(f"no column {name}"), debug=False)
    whole = "\udcff" not in name  # half a character cannot be printed
    if whole:
        print_names([name])  # for another program
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    print_names([name])
    out, err = capsys.readouterr()
    assert err.count(spelled) == 2
    assert out.count(spelled) == 2
    assert name not in err
    assert out.count(name) == whole


@pytest.mark.parametrize("name", ["study", "reproduce"])
def test_commands_of_the_experiments_say_where_they_come_from(capsys, monkeypatch, name):
    monkeypatch.setattr("sparsieve.app.cli.app._EXPERIMENTS", {name})
    assert run([name, "--help"]) == 2
    assert "pip install ./experiments" in capsys.readouterr().err
