"""The package as a whole: what importing it costs, what is in the wheel, what the docs claim."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy
import pytest

import sparsieve

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("numba", "clarabel", "torch", "dask", "matplotlib", "cvxpy", "anndata", "pyarrow")


def run(*arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, check=True, **options)


def modules_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    return set(run(sys.executable, "-c", code).stdout.split())


@pytest.mark.slow
def test_importing_everything_public_loads_nothing_heavy():
    loaded = modules_after(
        "import sparsieve, sparsieve.datasets\nfor n in sparsieve.__all__: getattr(sparsieve, n)"
    )
    baseline = modules_after("import sklearn.feature_selection")
    assert not {name for name in HEAVY if name in loaded} - baseline


@pytest.mark.slow
def test_one_method_does_not_wait_for_the_others():
    loaded = modules_after("from sparsieve import L21Selector")
    assert "sparsieve.selectors.least_squares" in loaded
    assert not loaded & {
        "sparsieve.papers",
        "sparsieve.meta",
    }


@pytest.mark.slow
def test_packages_are_found_by_name():
    code = "import sparsieve; print(sparsieve.selectors.hinge.SVMRFESelector.__name__)"
    assert run(sys.executable, "-c", code).stdout.split() == ["SVMRFESelector"]


@pytest.mark.slow
def test_works_where_optional_parts_are_missing():
    """The core needs neither the extras nor, before they are used, clarabel."""
    code = """
import sys

class Missing:
    names = {"torch", "dask", "matplotlib", "pandas", "pyarrow", "anndata", "clarabel"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import numpy as np
import sparsieve
rng = np.random.default_rng(0)
X, y = rng.standard_normal((30, 8)), np.arange(30) % 2
for selector in (sparsieve.RidgeForwardSelector, sparsieve.L21Selector, sparsieve.FisherSelector):
    selector(n_features_to_select=3).fit(X, y).transform(X)
print(len(sparsieve.all_selectors()))
"""
    assert int(run(sys.executable, "-c", code).stdout) >= 3


def test_public_names_exist_and_are_sorted():
    assert sparsieve.__all__ == sorted(sparsieve.__all__)
    for name in sparsieve.__all__:
        assert getattr(sparsieve, name) is not None
    assert set(sparsieve.all_estimators()) <= set(sparsieve.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        sparsieve.Nothing  # noqa: B018


MODULES = [
    module.name
    for module in pkgutil.walk_packages(sparsieve.__path__, "sparsieve.")
    if "__main__" not in module.name and not module.name.rpartition(".")[2].startswith("_")
]


# Modules that, or whose examples, need an extra that ``make test`` does without.
ON_DEVICE = ("base", "host_streaming", "tensor")
EXTRAS = {f"sparsieve.scale.gpu.{name}": "torch" for name in ON_DEVICE}
EXTRAS["sparsieve.device"] = "torch"


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    module = importlib.import_module(name)
    results = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert results.failed == 0


@pytest.mark.parametrize("name", list(sparsieve.all_estimators()))
def test_every_selector_is_documented_with_an_example(name):
    doc = sparsieve.all_estimators()[name].__doc__
    for part in ("Parameters\n", "Attributes\n", "Examples\n", ">>> "):
        assert part in doc, f"{name} has no {part.strip()} section"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT
    )  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "sparsieve/datasets/registry.csv" in names
    assert "sparsieve/py.typed" in names
    assert all(name.startswith(("sparsieve/", "sparsieve-")) for name in names)
    assert not [name for name in names if name.endswith((".npz", ".nbi", ".nbc"))]


@pytest.mark.slow
def test_wheel_installs_into_a_clean_environment(wheel, tmp_path):
    """Without the source tree: dependencies are borrowed, the package is the wheel's."""
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "-q", wheel)
    site = str(Path(numpy.__file__).parents[1])
    code = f"""
import sys
sys.path.append({site!r})
import numpy as np, sparsieve
assert {str(tmp_path)!r} in sparsieve.__file__, sparsieve.__file__
from sklearn.pipeline import make_pipeline
from sklearn.linear_model import LogisticRegression
from sparsieve import L21Selector
from sparsieve.datasets import load_dataset
data = load_dataset("wine")
model = make_pipeline(L21Selector(n_features_to_select=5), LogisticRegression(max_iter=5000))
print(model.fit(data.X, data.y).score(data.X, data.y))
"""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    result = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=env, check=False
    )
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) > 0.9
    command = tmp_path / "env" / "bin" / "sparsieve"
    env["PYTHONPATH"] = site
    shown = run(command, "--version", cwd=tmp_path, env=env).stdout
    assert sparsieve.__version__ in shown
