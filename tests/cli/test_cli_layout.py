"""Tables and help on a narrow terminal: no word is broken, and what does not fit goes below."""

import re

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
from sparsieve.cli.app import run
from sparsieve.cli.layout import print_table

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


def test_help_of_a_group_lists_its_commands(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "Usage: sparsieve [OPTIONS] COMMAND" in shown
    assert re.search(r"^  select +Select the features of FILE", shown, re.MULTILINE)
