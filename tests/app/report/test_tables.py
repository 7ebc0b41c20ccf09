"""Printed tables: what stands in the three formats."""

import csv
import re
import shutil
import subprocess

import numpy as np
import pytest

from sparsieve.app.io import DataError
from sparsieve.app.report.tables import Cell, ResultTable, as_latex, as_markdown, write_tables

ODD = [
    "a_b & c",
    "50 %",
    "x{y}",
    "\\section",
    "[1]",
    "*",
    "a|b",
    "~^#$",
    "<b>",
    "a--b",
    "@me #3",
    "=1",
]


def table():
    rows = [[Cell(name), Cell(f"-{i}.5", i == 1, "*" * (i == 2))] for i, name in enumerate(ODD)]
    columns = {"method": np.array(ODD, dtype=object), "score": np.arange(len(ODD)) / 3}
    return ResultTable(
        "Scores of a_b", ["method", "accuracy (%)"], rows, ["* Lower: t-test."], columns
    )


def test_latex_is_balanced_and_every_sign_is_escaped():
    text = as_latex(table())
    bare = re.sub(r"\\[\\{}&%$#_]", "", text.replace("\\\\\n", "\n"))  # escaped signs left out
    assert bare.count("{") == bare.count("}")
    begun = re.findall(r"\\begin\{(\w+)\}", text)
    assert sorted(begun) == sorted(re.findall(r"\\end\{(\w+)\}", text))
    body = text[text.index("\\midrule") : text.index("\\bottomrule")].splitlines()[1:]
    assert len(body) == len(ODD)
    for line in body:
        assert line.endswith(" \\\\")
        assert len(re.findall(r"(?<!\\)&", line)) == 1
        assert not line.startswith(("[", "*"))
        assert not re.search(r"(?<!\\)[%#_]", line)
    assert "\\textbf{$-$1.5}" in body[1]
    assert "\\textsuperscript{*}" in body[2]
    assert text.count("\\textbf{") == 1
    assert "a-{}-b" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_latex_compiles(tmp_path):
    whole = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n%s\n\\end{document}"
    (tmp_path / "t.tex").write_text(whole % as_latex(table()))
    subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True, timeout=60)


def test_markdown_has_the_cells_that_were_given():
    markdown = pytest.importorskip("markdown_it")
    text = as_markdown(table())
    tokens = markdown.MarkdownIt("commonmark").enable("table").parse(text)
    kinds = [token.type for token in tokens]
    assert kinds.count("tr_open") == len(ODD) + 1
    cells = [
        "".join(child.content for child in tokens[i + 1].children)
        for i, token in enumerate(tokens)
        if token.type in ("th_open", "td_open")
    ]
    assert cells[:2] == ["method", "accuracy (%)"]
    assert cells[2::2] == ODD
    assert cells[3::2] == [f"-{i}.5{'*' * (i == 2)}" for i in range(len(ODD))]
    assert kinds.count("html_block") == 0
    assert "@" not in text  # nobody is called
    assert text.endswith("\\* Lower: t-test.")


def test_csv_is_written_as_other_files_are(tmp_path):
    path = tmp_path / "t.csv"
    write_tables(path, [table(), table()], escape_formulas=True)
    with path.open(newline="", encoding="utf-8") as lines:
        found = list(csv.DictReader(lines))
    assert len(found) == 2 * len(ODD)
    assert found[11]["method"] == "'=1"
    assert float(found[2]["score"]) == 2 / 3


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"known are \.tex, \.md, \.csv"):
        write_tables(tmp_path / "t.docx", [table()])
    assert not list(tmp_path.iterdir())
