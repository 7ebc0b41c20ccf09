"""Tables and help on a narrow terminal: no word is broken, and what does not fit goes below."""

import io
import re

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
from sparsieve.app.cli.app import run
from sparsieve.app.cli.output import in_lines, print_table

HEADER = ("method", "accuracy (%)", "95 % interval", "difference from the best", "95 % interval")
HEADER += ("verdict", "stability", "time per fit", "balanced accuracy (%)")
ROWS = [
    ("ridge-forward", "89.9", "84.1 to 95.6", "", "", "best", "0.67", "< 0.1 s", "90.3"),
    (
        *("f-statistic", "87.7", "82.0 to 92.9", "2.2", "-10.5 to 21.1"),
        *("not significantly lower (p = 0.66)", "0.88", "< 0.1 s", "87.7"),
    ),
]


def words(text):
    return set(re.sub("[┃│┏┓┗┛┡┩└┘━─┳╇┴]", " ", text).split())


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_words_of_a_table_stay_whole(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    right = tuple(name for name in HEADER[1:] if name != "verdict")
    print_table(HEADER, ROWS, right=right)
    shown = capsys.readouterr().out
    assert words(shown) == {
        word for row in (HEADER, *ROWS) for cell in row for word in cell.split()
    }
    assert max(map(len, shown.splitlines())) <= columns
    assert "-10.5 to 21.1" in shown  # a number and its interval are one piece
    assert shown.count("f-statistic") == {60: 3, 80: 2, 100: 2, 200: 1}[columns]


def test_a_word_wider_than_the_terminal_is_folded(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    print_table(("feature", "score"), [("x" * 60, "0.5")], right=("score",))
    shown = capsys.readouterr().out
    assert shown.count("x") == 60
    assert max(map(len, shown.splitlines())) <= 40


@pytest.mark.parametrize("command", ["select", "compare", "diagnose", "predict"])
def test_help_leaves_room_for_descriptions(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Usage: sparsieve {command} [OPTIONS]")
    described = [line.strip() for line in lines if line.startswith("      ")]
    assert max(map(len, described)) > 65
    assert "x>=" not in shown
    assert "\nThe table\n" in shown
    assert "--target COL" in shown or command == "predict"


def test_what_is_seldom_needed_comes_last(capsys):
    assert run(["select", "--help"]) == 0
    first, last = capsys.readouterr().out.split("\nSeldom needed\n")
    seldom = ("--layer", "--entry", "--strata", "--event-value", "--max-missing", "--encoding")
    for option in (*seldom, "--max-categories", "--encode-text", "--comment", "--format"):
        assert f"\n  {option}" not in first
        assert f"  {option}" in last
    for option in ("--target COL", "--covariates COL", "--time COL", "--report OUT", "--rule RULE"):
        assert option in first


def test_help_of_a_group_lists_its_commands(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "Usage: sparsieve [OPTIONS] COMMAND" in shown
    assert re.search(r"^  select +Select the features of FILE", shown, re.MULTILINE)


def test_sentences_break_between_words_on_a_terminal_only(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    said = "note: copy_calls is nearly a copy of calls (absolute correlation above 0.999): drop one"
    assert in_lines(said, io.StringIO()) == said  # other programs read a sentence per line
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    shown = in_lines(said, terminal)
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.split() == said.split()
    path = f"wrote {'folder/' * 20}report.html"
    assert in_lines(path, terminal).split() == path.split()


@pytest.mark.long("four selections")
def test_a_reader_does_not_see_a_name_twice(tmp_path, capsys, monkeypatch):
    lines = [f"{i % 7},{'ab'[i % 2]}{'cd'[i // 2 % 2]},{int(i % 7 > 3)}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["size,text,y", *lines]) + "\n")
    asked = ["select", str(tmp_path / "t.csv"), "-t", "y", "--no-check", "-k"]
    for count, is_twice in (("1", False), ("2", True)):
        assert run([*asked, count]) == 0
        assert capsys.readouterr().out.startswith("rank\tgroup\tfeature\tscore\n")
        with monkeypatch.context() as patched:
            patched.setattr("sys.stdout.isatty", lambda: True, raising=False)
            assert run([*asked, count]) == 0
        assert ("group" in capsys.readouterr().out) == is_twice
