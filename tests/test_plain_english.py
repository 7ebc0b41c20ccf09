"""Phrases that nobody says are gone from everything a user reads."""

import dataclasses
import html
import importlib
import inspect
import re
from pathlib import Path

import pytest
import typer
from sklearn.datasets import load_wine

import sparsieve
from sparsieve.app.cli.app import app, run

ROOT = Path(__file__).resolve().parents[1]
BANNED = {
    name: re.compile(pattern, re.I)
    for name, pattern in {
        "has not seen": r"samples (it|they) (has|have) not seen|with as many, a",
        "always names": r"who always names|is right for \d",
        "any as many": r"any as many",
        "so many as": r"\bso many as\b",
        "off the diagonal": r"off the diagonal was taken",
        "in size": r"\d in size\b|correlation, in size",
        "done again": r"\bdone again\b",
        "beyond chance": r"\b(lower|higher|better|worse) beyond chance",
        "its standard error": r"\bits standard error",
        "unranked gain": r"unranked gain",
        "settings as words": r"grouped (False|True)|\bkind (splits|folds)\b",
        "no time on a machine": r"took 0 s\b|; vm; ",
        "the selection itself": r"the selection itself: \d|\d cells, about",
        "like an id": r"as an id does|as an ID or a remark is|at 3 deviations|no problems found",
        "percent without a space": r"\d% of (the|its) ",
        "one features": r"\b(at|of|with|the|best|first|kept|keeps?|these) 1 features\b",
    }.items()
}


def found(where, text):
    words = " ".join(text.split())
    return [
        f"{where}: ...{words[max(match.start() - 40, 0) : match.end() + 40]}..."
        for pattern in BANNED.values()
        for match in pattern.finditer(words)
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "With as many, a linear SVM classifies 100 % of samples it has not seen correctly",
        "who always names the largest class is right for 36.5 %",
        "Prove how much of what any as many features could explain these do",
        "auto: so many as cross-validation finds best",
        "what is off the diagonal was taken for another",
        "a mean correlation of 0.318 in size",
        "The experiments of l20, done again",
        "and the others are lower beyond chance",
        "its standard error",
        "unranked gain",
        "Protocol: grouped False, kind splits",
        "took 0 s on 2; vm; aarch64",
        "at 1 features",
        "in 7.22 s (the selection itself: 0.17 s)",
        "1/66 cells, about 0 s left",
        "customer is text with 400 distinct values, as an ID or a remark is",
        "age is missing in 65% of the samples",
    ],
)
def test_the_phrases_are_recognised(sentence):
    assert found("here", sentence)


def test_plain_sentences_pass():
    plain = (
        "Using these 20 features, a linear SVM classified 100 % of held-out samples correctly. "
        "Always predicting the largest class scores 36.5 %. The classes differ in size. "
        "One standard error. Of the 31 features 10 were kept; at 11 features the curve is flat."
    )
    assert found("here", plain) == []


# -- sources ---------------------------------------------------------------------------------


def written():
    """README, pages and examples, as they are read; what the build makes is made from these."""
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))
    made = {"_build", "_generated", "api", "gallery", "reproductions"}
    docs = ROOT / "docs"
    yield from (page for page in docs.rglob("*.md") if not made & set(page.parts))
    yield from (docs / "measured").glob("*.csv")
    yield docs / "_ext" / "generated_pages.py"
    yield docs / "_ext" / "recorded_pages.py"
    yield from (p for p in (ROOT / "examples").iterdir() if p.suffix in {".py", ".toml", ".rst"})


def test_pages_and_examples():
    if not (ROOT / "docs" / "start.md").exists():
        pytest.skip("these tests were installed without the source tree")
    assert [one for page in written() for one in found(page.name, page.read_text())] == []


def test_docstrings_of_public_names():
    docs = {}
    for package in ("sparsieve", "sparsieve.scoring", "sparsieve.app.report", "sparsieve.datasets"):
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            docs[f"{package}.{name}"] = inspect.getdoc(thing) or ""
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if member[0] != "_" and (callable(value) or isinstance(value, property)):
                    docs[f"{package}.{name}.{member}"] = inspect.getdoc(value) or ""
    assert len(docs) > 100
    assert [one for name, doc in docs.items() for one in found(name, doc)] == []


# -- commands --------------------------------------------------------------------------------


def commands(command, path=()):
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


def test_help_of_every_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")  # sentences in one piece
    paths = list(commands(typer.main.get_command(app)))
    assert {("select",), ("compare",), ("study", "run"), ("reproduce",)} <= set(paths)
    wrong = []
    for path in paths:
        assert run([*path, "--help"]) == 0
        wrong += found(" ".join(path), re.sub("[│|╭╮╰╯─]", " ", capsys.readouterr().out))
    assert wrong == []


def test_list_of_methods(capsys):
    assert run(["methods"]) == 0
    assert found("sparsieve methods", capsys.readouterr().out) == []


# -- reports ---------------------------------------------------------------------------------


def strings(thing):
    """Every text in a report, its charts and tables included."""
    if isinstance(thing, str):
        yield thing
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from strings(getattr(thing, field.name))
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from strings(key)
            yield from strings(value)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from strings(value)


def read(report):
    """What the page says: its sentences, charts and tables, and the text of its template."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", report.to_html(), flags=re.S)
    return " ¶ ".join([*strings(report), html.unescape(re.sub(r"<[^>]+>", " ", page))])


def selection():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = sparsieve.RidgeForwardSelector(4).fit(X, y)
    return sparsieve.app.report.selector_report(selector, X, y, cv=2, certify=True)


def selection_of_one():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = sparsieve.FisherSelector(1).fit(X, y)
    return sparsieve.app.report.selector_report(selector, X, y, cv=2, null=None)


def comparison():
    X, y = load_wine(return_X_y=True, as_frame=True)
    methods = ["ridge-forward", "fisher", "laplacian-score"]
    return sparsieve.app.report.comparison_report(
        sparsieve.compare(X, y, methods, ks=[1, 3], cv=3, n_repeats=1)
    )


def reproduction():
    from sparsieve_experiments.papers import read_record
    from sparsieve_experiments.report import reproduction_report

    return reproduction_report(read_record("l0-mpm").reproduction)


@pytest.mark.long("builds a page of each kind")
@pytest.mark.parametrize("make", [selection, selection_of_one, comparison, reproduction])
def test_reports(make):
    for extra in ("pandas", "jinja2", "vl_convert"):
        pytest.importorskip(extra)
    assert found(make.__name__, read(make())) == []


@pytest.mark.long("runs a study")
def test_report_on_a_study(store):
    for extra in ("pandas", "jinja2", "vl_convert"):
        pytest.importorskip(extra)
    from sparsieve_experiments.report import study_report

    assert found("study", read(study_report(store))) == []


def test_what_diagnose_and_compare_print(capsys, flowers):
    table = ["--target", "kind"]
    assert run(["diagnose", str(flowers), *table]) == 0
    asked = ["-m", "fisher,mrmr", "-k", "1", "--folds", "2", "--repeats", "1"]
    assert run(["compare", str(flowers), *table, *asked]) == 0
    said = capsys.readouterr()
    assert found("sparsieve compare", said.out + said.err) == []


def test_what_select_prints(capsys, flowers):
    assert run(["select", str(flowers), "-t", "kind", "-k", "1"]) == 0
    said = capsys.readouterr()
    assert found("sparsieve select", said.out + said.err) == []


@pytest.mark.long("reads a record")
def test_what_a_recorded_reproduction_prints(capsys):
    assert run(["reproduce", "l0-mpm", "--recorded"]) == 0
    said = capsys.readouterr()
    assert found("sparsieve reproduce", said.out + said.err) == []
