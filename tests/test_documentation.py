"""The start pages tell the truth: their snippets and commands are run, and links lead somewhere."""

import ast
import contextlib
import importlib
import inspect
import io
import pkgutil
import re
import runpy
import shlex
import shutil
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import sparsieve
import sparsieve_experiments

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
if not (DOCS / "start.md").exists():
    pytest.skip("these tests were installed without the source tree", allow_module_level=True)

PAGES = [
    ROOT / "README.md",
    DOCS / "index.md",
    DOCS / "start.md",
    DOCS / "proofs.md",
    *sorted((DOCS / "guides").glob("*.md")),
]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
# Commands that set a machine up or run for minutes; make and pip are tested by test_package.py.
NOT_RUN = ("pip", "make", "python -m", "export", "sparsieve reproduce l20 --jobs", "sparsieve demo")


def blocks(page, language):
    """Contents of the fenced blocks of a language, comments of the console without."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)


def commands(page):
    for block in blocks(page, "console"):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ ") and not line[2:].startswith(NOT_RUN):
                yield shlex.split(line[2:], comments=True)


def named(page):
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of, and X and y to name."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    keep = np.r_[:40, 500:540]  # both diagnoses
    X, y = X.iloc[keep].reset_index(drop=True), y.iloc[keep].reset_index(drop=True)
    table = X.assign(diagnosis=np.where(y == 1, "benign", "malignant"))
    table.to_csv(tmp_path / "expression.csv", index=False)
    table.rename(columns={"diagnosis": "ill"}).to_csv(tmp_path / "table.csv", index=False)
    X[:5].to_csv(tmp_path / "new.csv", index=False)
    # The messy ones of the guide on preprocessing.
    ids, patients = [f"s{i}" for i in range(80)], np.arange(80) // 2
    messy = table.assign(sex=np.where(patients % 3, "f", "m"), patient=patients)
    messy.loc[::9, "mean radius"] = np.nan
    messy.loc[5:8, "diagnosis"] = None
    messy = messy.assign(months=1 + np.arange(80) * 7 % 60, died=np.arange(80) % 3 > 0)
    messy.insert(0, "sample", ids)
    messy.to_csv(tmp_path / "patients.csv", index=False)
    X.set_axis(ids).T.to_csv(tmp_path / "genes.csv")
    known = table[["diagnosis"]].assign(patient=patients).set_axis(ids)[2:]
    known.to_csv(tmp_path / "phenotypes.csv", index_label="sample")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return {"X": X, "y": y}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=named)
@pytest.mark.long("runs whole pages")
def test_snippets_run(page, desk, monkeypatch):
    for extra in ("pandas", "anndata", "matplotlib", "jinja2", "vl_convert"):
        pytest.importorskip(extra)
    if "study.sqlite" in page.read_text():
        _small_study()
    module = types.ModuleType("page")  # whose classes can be pickled
    monkeypatch.setitem(sys.modules, "page", module)
    space = vars(module)
    space.update(desk)
    for block in blocks(page, "python"):
        ast.parse(block)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            exec(compile(block, named(page), "exec"), space)


@pytest.mark.long("selects with a search, as the README does")
def test_the_readme_is_short_and_shows_what_is_printed():
    readme = ROOT / "README.md"
    first, *_ = blocks(readme, "python")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(first, "README.md", "exec"), {})
    assert said.getvalue() == blocks(readme, "text")[0]
    text = readme.read_text()
    assert text.count("![") == 1
    prose = re.sub(r"^```.*?^```|\]\(.*?\)", "", text, flags=re.M | re.S)
    assert len(prose.split()) <= 400
    for command in ("make demo", "make test"):
        assert f"$ {command} " in text


def _small_study():
    from sparsieve.scoring import Folds
    from sparsieve_experiments.studies import Study, run_study

    study = Study("small", ["wine"], ["fisher"], Folds(3), ks=[1, 2], classifiers=["svm"])
    run_study(study, "study.sqlite")


@pytest.mark.slow
def test_commands_run(desk, capsys):
    from sparsieve.app.cli.app import run

    pytest.importorskip("vl_convert")
    study = Path("examples/study.toml")  # a repeat and a data set of what the pages run
    text = study.read_text().replace("n_repeats = 5", "n_repeats = 1")
    study.write_text(text.replace('[[datasets]]\nname = "breast_cancer"\n', ""))
    done = []
    for command in (command for page in PAGES for command in commands(page)):
        program, *arguments = command
        if arguments[:2] == ["study", "run"]:
            arguments = arguments[:3]  # in this process
        if arguments in done:
            continue
        done.append(arguments)
        assert program == "sparsieve", command
        assert run(arguments) == 0, f"{' '.join(command)}: {capsys.readouterr().err}"
    assert len(done) > 10


def written():
    """Pages of the documentation; what the build makes has folders of its own."""
    return [
        page
        for folder in (DOCS, *(DOCS / name for name in ("families", "guides", "measured")))
        for page in sorted(folder.glob("*.md"))
    ]


def test_the_documentation_is_short():
    """Tables of measurements are CSV files in docs/measured, and do not count."""
    pages = written()
    assert len(pages) <= 35
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 30_000


def test_every_measured_table_is_on_a_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in written())
    tables = [path.name for path in (DOCS / "measured").glob("*.csv")]
    assert [name for name in tables if name not in pages] == []


def test_links_to_files_lead_somewhere():
    lost = [
        f"{named(page)}: {target}"
        for page in (ROOT / "README.md", *written())
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text())
        if "://" not in target and "api/" not in target and not (page.parent / target).exists()
    ]
    assert lost == []


@pytest.fixture(scope="module")
def generated():
    """The module that writes pages from the package."""
    pytest.importorskip("numpydoc")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "_ext")
        yield importlib.import_module("generated_pages")


def test_the_reference_lists_every_public_name(generated):
    page = generated.api_page()
    listed = re.findall(r"^   ~?(sparsieve\S*)$", page, re.M)
    assert len(listed) == len(set(listed))
    missing = [
        name
        for name in sparsieve.__all__
        if callable(getattr(sparsieve, name)) and f"sparsieve.{name}" not in listed
    ]
    assert missing == []
    chapters = re.findall(r"^(.+)\n-+$", page, re.M)
    assert chapters[:2] == ["Start here", "Selectors by family"]
    assert {"Scores", "Plots", "Reports"} < set(chapters)


def test_the_quality_tables_agree(generated):
    """The short table has the figures of the full one."""
    quality = DOCS / "measured" / "quality.csv"
    full, short = generated.full_quality(quality), generated.short_quality(quality)
    assert len(full) == len(short) + 1 > 35
    assert all(set(row.values()) <= set(cells) for row, cells in zip(short, full[1:], strict=True))


def test_examples_of_the_gallery_are_gallery_pages():
    """A title and an explanation on top; running them is `make docs`, and the slow test below."""
    assert len(EXAMPLES) >= 15
    for example in EXAMPLES:
        text = ast.get_docstring(ast.parse(example.read_text()))
        title, rule, blank, *rest = text.splitlines()
        assert (rule, blank, bool(rest)) == ("=" * len(title), "", True), example.name


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example, desk):
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("anndata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        runpy.run_path(str(example))
    assert plt.get_fignums()
    plt.close("all")


# -- docstrings ------------------------------------------------------------------------------

# What numpydoc checks and this package does otherwise: no second summary where the first says it
# all, named return values, parameters that are passed by name in the order in which they read best.
OTHERWISE = {"ES01", "RT02", "PR03"}


def places():
    """The packages that are public, and those that are not."""
    said = runpy.run_path(str(DOCS / "_ext" / "public.py"))
    selectors = {f"sparsieve.{name}" for name in said["SELECTORS"]}
    internal = {f"sparsieve.{name}" for name in said["INTERNAL"]} | {"sparsieve_experiments.cli"}
    return {*said["PACKAGES"].values(), *selectors}, internal


def test_every_package_is_public_or_says_why_not():
    public, internal = places()
    there = {
        f"{package.__name__}.{part.name}"
        for package in (sparsieve, sparsieve.app, sparsieve_experiments)
        for part in pkgutil.iter_modules(package.__path__)
        if part.name[0] != "_"
    } - {"sparsieve.app"}
    assert public | internal == there
    assert not public & internal


def test_the_public_face_is_small():
    """Names of other packages than ``sparsieve`` itself are counted together with its own."""
    assert len(sparsieve.__all__) <= 78
    packages = [place for place in places()[0] if place.startswith("sparsieve.")]
    names = {name for place in packages for name in importlib.import_module(place).__all__}
    assert len(names.union(sparsieve.__all__)) <= 132


def test_results_are_explained_where_the_reference_looks_for_them():
    for result in runpy.run_path(str(DOCS / "_ext" / "public.py"))["RESULTS"]:
        module, _, name = f"sparsieve.{result}".rpartition(".")
        assert inspect.getdoc(getattr(importlib.import_module(module), name))
        assert name not in sparsieve.__all__


def public_things():
    """Classes and functions by the name under which a user imports them; no constants."""
    at_root = set(sparsieve.__all__)
    yield from ((f"sparsieve.{n}", getattr(sparsieve, n)) for n in at_root if n[0] != "_")
    for place in sorted(places()[0]):
        module = importlib.import_module(place)
        if not set(module.__all__) <= at_root:
            for name in module.__all__:
                if callable(getattr(module, name)):
                    yield f"{place}.{name}", getattr(module, name)


@pytest.mark.slow
def test_docstrings_are_numpydoc():
    """See Also, types, returns and an example each."""
    validate = pytest.importorskip("numpydoc.validate").validate
    from numpydoc.docscrape import ClassDoc

    wrong = []
    for name, thing in public_things():
        for code, message in validate(name)["errors"]:
            if code == "PR01" and isinstance(thing, type):
                # What results are made of stands under Attributes, scikit-learn's parameters there.
                doc = ClassDoc(thing, config={"show_class_members": False})
                entries = [*doc["Parameters"], *doc["Attributes"]]
                said = {one.strip() for entry in entries for one in entry.name.split(",")}
                asked = set(re.findall(r"'(\w+)'", message))
                if asked <= said or thing.__mro__[1].__module__.startswith("sklearn"):
                    continue
            if code not in OTHERWISE:
                wrong.append(f"{name}: {code} {message}")
    assert wrong == [], "\n".join(wrong)


def test_signatures_are_true():
    """``help`` and the reference show the names and defaults that a constructor takes."""
    for name, thing in public_things():
        if isinstance(thing, type) and issubclass(thing, Exception):
            continue
        kinds = {parameter.kind for parameter in inspect.signature(thing).parameters.values()}
        assert inspect.Parameter.VAR_POSITIONAL not in kinds, name
    for name, cls in sparsieve.all_estimators().items():
        if name not in sparsieve.all_selectors():
            continue
        defaults = {p.name: p.default for p in inspect.signature(cls).parameters.values()}
        assert repr(defaults) == repr({k: getattr(cls(), k) for k in defaults}), name
        assert set(defaults) == set(cls().get_params(deep=False)), name


def test_folds_are_cv_n_repeats_and_random_state():
    """A study and its protocols are named like the keys of their files; all else is alike."""
    like_files = {"Study", "Folds", "RepeatedSplits", "TimeOrdered"}
    found = []
    for name, thing in public_things():
        is_class = isinstance(thing, type)
        if thing.__name__ in like_files or (is_class and issubclass(thing, Exception)):
            continue
        other = {"folds", "repeats", "seed"} | ({"n_folds"} if not is_class else set())
        found += [f"{name}: {one}" for one in inspect.signature(thing).parameters if one in other]
    assert found == []


def test_a_report_is_a_page_and_a_summary_is_text():
    for name, thing in public_things():
        if isinstance(thing, type) and hasattr(thing, "report"):
            assert "path" in inspect.signature(thing.report).parameters, name
    for name in ("SelectorCV", "ShadowSelector", "StabilitySelection"):
        assert not hasattr(getattr(sparsieve, name), "report")
        assert inspect.signature(getattr(sparsieve, name).summary).return_annotation == "str"
