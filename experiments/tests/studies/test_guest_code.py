"""Cells of a guest belong to its code: an edit is noticed, wherever it was made."""

import importlib
import sqlite3
import sys
import textwrap

import pandas as pd
import pytest

from sparsieve.scoring import Folds
from sparsieve_experiments.studies import (
    DatasetSpec,
    SelectorSpec,
    StoreReader,
    Study,
    StudyError,
    guest_code,
    run_study,
)
from sparsieve_experiments.studies.compute import compute
from sparsieve_experiments.studies.guest_code import code_of


class Folder:
    """A user's folder of modules, and a Python that is started anew."""

    def __init__(self, path, monkeypatch):
        self.path, self._monkeypatch = path, monkeypatch
        monkeypatch.syspath_prepend(path)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(self, **modules):
        for name, text in modules.items():
            file = self.path / f"{name.replace('_package_', '_package/')}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(textwrap.dedent(text))
        return self

    def restart(self):
        mine = {file.stem for file in self.path.rglob("*.py")} | {"mine_package"}
        for name in [name for name in sys.modules if name.partition(".")[0] in mine]:
            self._monkeypatch.delitem(sys.modules, name)
        guest_code._seen.clear()
        importlib.invalidate_caches()
        return self

    def code(self, *names):
        return code_of(names)

    def after(self, *names, **edits):
        """Digests before and after an edit, in a Python of its own each."""
        before = self.restart().code(*names)
        assert self.restart().code(*names) == before
        self.write(**edits).restart()
        return before, self.code(*names)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return Folder(tmp_path, monkeypatch)


FIRST = "import numpy as np\ndef score(X, y): return np.arange(X.shape[1])[::-1]\n"
SECOND = "import numpy as np\ndef score(X, y): return np.arange(X.shape[1])\n"
WITH_HELPER = "from {} import weight\ndef score(X, y): return weight * abs(X).sum(axis=0)\n"

KINDS = {
    "function": "def score(X, y): return {} * abs(X).sum(axis=0)",
    "lambda": "score = lambda X, y: {} * abs(X).sum(axis=0)",
    "partial": """
        from functools import partial
        def scaled(X, y, by): return by * abs(X).sum(axis=0)
        score = partial(scaled, by={})
        """,
    "constant": "BY = {}\ndef score(X, y): return BY * abs(X).sum(axis=0)",
    "class": """
        class score:
            def fit(self, X, y): self.scores_ = {} * abs(X).sum(axis=0)
        """,
    "object": """
        class Scores:
            def __call__(self, X, y): return {} * abs(X).sum(axis=0)
        score = Scores()
        """,
    "decorated": """
        from functools import cache, wraps
        def doubled(f):
            @wraps(f)
            def made(X, y): return {} * f(X, y)
            return made
        @doubled
        def score(X, y): return abs(X).sum(axis=0)
        """,
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_of_any_kind_of_guest_is_noticed(folder, kind):
    folder.write(mine_a=KINDS[kind].format(1))
    one, two = folder.after("mine_a:score", mine_a=KINDS[kind].format(2))
    assert one != two


def test_an_edit_of_what_a_guest_imports_is_noticed(folder):
    folder.write(mine_b=WITH_HELPER.format("mine_helper"), mine_helper="weight = 1")
    one, two = folder.after("mine_b:score", mine_helper="weight = 2")
    assert one != two
    folder.write(
        mine_c="def score(X, y):\n    import mine_helper\n    return mine_helper.weight",
    )
    one, two = folder.after("mine_c:score", mine_helper="weight = 3")
    assert one != two
    folder.write(
        mine_package___init__="",
        mine_package_guest="from .deep import weight\nfrom . import other\ndef score(X, y): 0",
        mine_package_deep="weight = 1",
        mine_package_other="x = 1",
    )
    for edit in ("mine_package_deep", "mine_package_other", "mine_package___init__"):
        one, two = folder.after("mine_package.guest:score", **{edit: "weight = 7"})
        assert one != two, edit
    one, two = folder.after("mine_b:score", mine_package_deep="weight = 8")
    assert one == two  # nothing to do with it


def test_an_edit_of_a_base_in_another_module_is_noticed(folder):
    folder.write(
        mine_base="class Base:\n    def fit(self, X, y): self.scores_ = 1 * abs(X).sum(axis=0)",
        mine_d="import mine_base\nscore = type('score', (mine_base.Base,), {})",
    )
    text = "class Base:\n    def fit(self, X, y): self.scores_ = 2 * abs(X).sum(axis=0)"
    one, two = folder.after("mine_d:score", mine_base=text)
    assert one != two


def test_installed_packages_count_by_their_version(monkeypatch, folder):
    name = "sklearn.feature_selection:SelectKBest"
    now = code_of([name])
    folder.write(mine_e="from sklearn.svm import SVC\nimport pandas\ndef score(X, y): 0")
    own = code_of(["mine_e:score"])
    monkeypatch.setattr(guest_code, "_version_of", lambda package: f"{package} 99")
    assert code_of([name]) != now
    assert code_of(["mine_e:score"]) != own  # of pandas
    folder.write(mine_f="from sklearn.svm import SVC\nimport numpy\ndef score(X, y): 0")
    shared = code_of(["mine_f:score"])
    monkeypatch.undo()
    sys.path.insert(0, str(folder.path))
    try:
        assert code_of(["mine_f:score"]) == shared  # other cells do not count these either
    finally:
        sys.path.remove(str(folder.path))


def test_python_reads_a_module_once_and_that_is_said(folder):
    folder.write(mine_g=FIRST)
    code_of(["mine_g:score"])
    folder.write(mine_g=SECOND)
    with pytest.raises(StudyError, match=r"mine_g\.py was changed after Python had imported it"):
        code_of(["mine_g:score"])
    importlib.reload(sys.modules["mine_g"])
    code_of(["mine_g:score"])
    # Imported by the user, edited, and only then named in a study.
    folder.restart().write(mine_g=FIRST)
    importlib.import_module("mine_g")
    folder.write(mine_g=SECOND)
    with pytest.raises(StudyError, match=r"mine_g\.py was changed after Python had imported it"):
        code_of(["mine_g:score"])


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_not_edited_is_not_said_to_be(folder, kind):
    folder.write(mine_h=KINDS[kind].format(1))
    importlib.import_module("mine_h")
    assert code_of(["mine_h:score"]) == code_of(["mine_h:score"])


# -- in studies ----------------------------------------------------------------------------------


def study_of(*selectors):
    return Study(
        "guests",
        ["wine"],
        list(selectors),
        Folds(2),
        ks=[1],
        classifiers=["1nn"],
        allow_import=True,
    )


def features_in(store):
    with StoreReader(store) as reader:
        return {cell["result"]["features"][0] for cell in reader.cells("guests", ["done"])}


def test_cells_of_other_code_are_computed_again_and_that_is_said(folder):
    store = folder.path / "store.sqlite"
    folder.write(mine_i=FIRST)
    assert run_study(study_of("mine_i:score"), store).computed == 2
    assert features_in(store) == {0}
    folder.restart()
    assert run_study(study_of("mine_i:score"), store).computed == 0
    folder.write(mine_i=SECOND).restart()
    again = run_study(study_of("mine_i:score"), store)
    assert again.computed == 2
    assert again.notes == [
        "2 finished cells were computed with other code of score: computed again"
    ]
    assert features_in(store) == {12}
    folder.write(mine_i=FIRST).restart()  # what is known already is not computed a third time
    assert run_study(study_of("mine_i:score"), store).computed == 0
    assert features_in(store) == {0}


def test_stores_of_before_are_read_and_their_guests_computed_again(folder, monkeypatch):
    store = folder.path / "store.sqlite"
    folder.write(mine_j=FIRST)
    study = study_of("mine_j:score", "fisher")
    with monkeypatch.context() as patch:
        patch.setattr(Study, "codes", lambda self: dict.fromkeys(["score", "FisherSelector"], ""))
        assert run_study(study, store).computed == 4
    again = run_study(study, store)
    assert again.computed == 2  # the cells of fisher are what they were
    assert again.notes == [
        "2 finished cells were written by a version that did not notice when the code of other "
        "packages changed: computed again"
    ]
    assert sqlite3.connect(store).execute("select count(*) from cells").fetchone()[0] == 6


def test_guests_are_found_wherever_they_are_named(folder):
    folder.write(mine_k=FIRST, mine_l=FIRST)
    chi2 = {"name": "sklearn.feature_selection:chi2"}
    for spec, wanted in (
        (SelectorSpec("fisher"), []),
        (SelectorSpec("mine_k:score", allow_import=True), ["mine_k:score"]),
        (
            SelectorSpec("stability-selection", {"selector": "mine_k:score"}, allow_import=True),
            ["mine_k:score"],
        ),
        (
            SelectorSpec(
                "ensemble", {"selectors": ["fisher", {"name": "mine_l:score"}]}, allow_import=True
            ),
            ["mine_l:score"],
        ),
        (
            SelectorSpec(
                "sklearn.feature_selection:SelectKBest",
                grid={"score_func": [chi2, {"name": "mine_k:score"}]},
                allow_import=True,
            ),
            ["mine_k:score", chi2["name"], "sklearn.feature_selection:SelectKBest"],
        ),
    ):
        assert spec.guests() == sorted(wanted)


def test_a_worker_with_other_code_does_not_compute(folder):
    folder.write(mine_m=FIRST)
    data = DatasetSpec("wine").load()
    cell = study_of("mine_m:score").cells(data)[0]
    given = (data.X, data.y, None, None, None, cell.split.train, cell.split.test)
    assert compute(cell.key, cell.spec, *given).error == ""
    other = compute(cell.key, {**cell.spec, "code": "0" * 64}, *given)
    assert (
        "the code of 'mine_m:score' is not the one that the study was planned with" in other.error
    )


def test_groups_of_a_file_keep_their_labels(tmp_path):
    table = pd.DataFrame({"a": range(6), "y": list("uvuvuv")})
    for labels, kept in (
        (["01", "1", "2", "2", "01", "1"], ["01", "1", "2"]),
        ([3, 4, 4, 3, 5, 5], [3, 4, 5]),
        (["9007199254740993", "9007199254740992"] * 3, [9007199254740992, 9007199254740993]),
        (["1e1", "10"] * 3, ["10", "1e1"]),
    ):
        table.assign(patient=labels).to_csv(tmp_path / "t.csv", index=False)
        spec = DatasetSpec("t", file=str(tmp_path / "t.csv"), target="y", groups="patient")
        assert sorted(set(spec.load().groups.tolist())) == kept
