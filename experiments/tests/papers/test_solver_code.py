"""A digest of code: what changes it, and what does not."""

import pytest

from sparsieve_experiments.papers.solver_code import SolverCode, code_now

SELECTOR = '''
"""A module."""
from ..solvers import descend
from ..validation import check
from sparsieve.penalties import norms as shrinkage

class Base:
    def fit(self, X):
        """Fit."""
        check(X)
        return shrinkage.shrink(X, STRENGTH)

class OneSelector(Base):
    def _fit(self, X: "Matrix") -> int:
        return descend(X)

STRENGTH = 0.5
'''
DESCENT = """
from .engines.step import STEP

def descend(X):
    from sparsieve.design import passes
    if X is None:
        raise ValueError("X is None")
    return passes.over(X) - STEP

def other(X):
    return 3
"""
FILES = {
    "selectors/one.py": SELECTOR,
    "selectors/__init__.py": "from .one import OneSelector\n",
    "solvers/__init__.py": "from .descent import descend\n",
    "solvers/descent.py": DESCENT,
    "solvers/engines/step.py": "# half\nSTEP = 0.5\n",
    "penalties/norms.py": "def shrink(X, strength):\n    return X * strength\n",
    "design/passes.py": "def over(X):\n    return X\n\n\ndef beyond(X):\n    return -X\n",
    "validation/__init__.py": "def check(X):\n    return 1\n",
}


@pytest.fixture
def made(tmp_path):
    def digest(**changes):
        """Of the files with other contents, by the parts of a path joined by two underscores."""
        root = tmp_path / str(len([*tmp_path.iterdir()]))
        changed = {name.replace("__", "/", 1) + ".py": text for name, text in changes.items()}
        for file, text in (FILES | changed).items():
            if text:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text)
        return SolverCode(root).digest(["OneSelector"])

    return digest


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("solvers/engines/step.py", "0.5", "0.25"),
        ("penalties/norms.py", "X * strength", "X + strength"),
        ("design/passes.py", "return X\n", "return 2 * X\n"),
        ("selectors/one.py", "STRENGTH = 0.5", "STRENGTH = 0.6"),
        ("selectors/one.py", "check(X)", "check(X[0])"),  # in a base class
        ("solvers/descent.py", "passes.over(X)", "passes.beyond(X)"),  # another of the same form
    ],
)
def test_a_number_or_step_changes_it(made, file, old, new):
    assert old in FILES[file]
    name = file.removesuffix(".py").replace("/", "__", 1)
    assert made(**{name: FILES[file].replace(old, new)}) != made()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("solvers/engines/step.py", "# half", "# one half, a comment"),
        ("selectors/one.py", '"""Fit."""', '"""Fit the model."""'),
        ("selectors/one.py", '"Matrix") -> int', '"Array") -> float'),
        ("solvers/descent.py", '"X is None"', '"X must be given"'),
        ("solvers/descent.py", "return 3", "return 4"),  # nobody uses it
        ("validation/__init__.py", "return 1", "return 2"),
    ],
)
def test_what_decides_no_number_does_not(made, file, old, new):
    assert old in FILES[file]
    name = file.removesuffix(".py").replace("/", "__", 1)
    assert made(**{name: FILES[file].replace(old, new)}) == made()


def test_a_file_may_move(made):
    moved = {
        "solvers__engines/step": "",
        "solvers__steps/sizes": FILES["solvers/engines/step.py"],
        "solvers__descent": DESCENT.replace(".engines.step", ".steps.sizes"),
        "penalties__norms": "",
        "penalties__plain/shrinking": FILES["penalties/norms.py"],
        "selectors__one": "",
        "selectors__family/one": SELECTOR.replace("from ..", "from ...").replace(
            "sparsieve.penalties import norms", "sparsieve.penalties.plain import shrinking"
        ),
        "selectors____init__": "from .family.one import OneSelector\n",
    }
    assert made(**moved) == made()


def test_names_and_sentences_may_change(made):
    renamed = {
        "selectors__one": SELECTOR.replace("descend", "go_down").replace("STRENGTH", "PRICE"),
        "solvers____init__": "from .descent import go_down\n",
        "solvers__descent": DESCENT.replace("descend(X)", "go_down(columns)")
        .replace("X is None", "columns is None")
        .replace("over(X)", "over(columns)"),
    }
    assert made(**renamed) == made()
    words = 'X * strength\n\nWORDS = "{}"\n'
    said = FILES["penalties/norms.py"].replace("X * strength\n", words)
    used = SELECTOR.replace("shrinkage.shrink(X, STRENGTH)", "shrinkage.shrink(X, shrinkage.WORDS)")
    kinds = [
        made(penalties__norms=said.format(text), selectors__one=used)
        for text in ("of the same length", "of another one", "l1", "l2")
    ]
    assert kinds[0] == kinds[1] != kinds[2] != kinds[3]


def test_an_unknown_name_is_refused(tmp_path):
    (tmp_path / "solvers").mkdir()
    with pytest.raises(LookupError, match="Nothing"):
        SolverCode(tmp_path).digest(["Nothing"])


def test_a_method_of_the_library_reaches_its_own_solvers():
    modules = {place.module for place in code_now().reached(["L0MKLSelector"])}
    assert {
        "papers.l0_mkl.selectors",
        "papers.l0_mkl.kernel_weights",
        "papers.l0_mkl.bank",
    } <= modules
    assert not any(module.startswith(("papers.l0_mpm.solvers", "scale.gpu")) for module in modules)
