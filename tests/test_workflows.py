"""The workflows of the repository: every step is an action or a target of the Makefile."""

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
if not WORKFLOWS:
    pytest.skip("these tests run outside the repository", allow_module_level=True)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_command_of_a_workflow_is_a_make_target(path):
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    for command in commands:
        program, *targets = re.sub(r"[A-Z_]+=(\$\{\{.*?\}\}|\S*)", "", command).split()
        assert program == "make"
        assert targets
        assert set(targets) <= TARGETS


def test_the_tests_that_the_makefile_names_exist():
    named = set(re.findall(r"tests/[\w/]+(?:\.py)?", (ROOT / "Makefile").read_text("utf-8")))
    assert len(named) > 10
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_the_tested_versions_are_those_that_are_promised():
    metadata = (ROOT / "pyproject.toml").read_text("utf-8")
    promised = re.findall(r"Python :: (3\.\d+)", metadata)
    lowest = re.search(r'"scikit-learn>=([\d.]+)"', metadata)[1]
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"] == promised
    versions = jobs["scikit-learn"]["strategy"]["matrix"]["version"]
    assert versions[0] == lowest
    in_make = re.search(
        r"^VERSIONS \?= (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    assert in_make[1].split() == versions


def loaded(name):
    """A script in docs/ as a module."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_of_the_readme_survive_on_a_package_index():
    pytest.importorskip("hatchling")
    packaged = loaded("package_readme").packaged
    readme = (ROOT / "README.md").read_text("utf-8")
    inside = re.findall(r"\]\((?!https?:)(.*?)\)", readme)
    assert len(inside) > 3
    assert all((ROOT / path).exists() for path in inside)
    alone = packaged(readme, None)
    assert not re.search(r"\]\((?!https?:)|!\[", alone)
    assert "pip install 'sparsieve[cli,report]'" in alone
    assert "pip install sparsieve " in alone
    home = "https://example.org/sparsieve"
    linked = packaged(readme, home)
    assert f"[Start]({home}/blob/main/docs/start.md)" in linked
    assert f"({home}/raw/main/docs/_static/report.png)" in linked
    assert len(re.findall(r"\]\(", linked)) == len(re.findall(r"\]\(", readme))


def test_everything_that_names_the_version_agrees():
    module = loaded("check_release")
    said = [one for one in module.disagreements() if "CHANGELOG.md has no date" not in one]
    assert said == []
    assert any("the tag is v9.9" in one for one in module.disagreements("v9.9"))


@pytest.mark.slow  # `make lint` prints them as well
def test_every_room_of_the_house_has_a_line():
    rooms = loaded("rooms")
    assert rooms.planned().keys() == rooms.measured().keys()
    known = ROOT / "docs" / "rooms.py"
    assert rooms.code_lines(known) < len(known.read_text("utf-8").splitlines())
