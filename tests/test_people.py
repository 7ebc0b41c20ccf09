"""Three people's scripts run from start to end and leave a figure, a table and a report."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
if not EXAMPLES.exists():
    pytest.skip("these tests were installed without the source tree", allow_module_level=True)

LEFT_BEHIND = {
    "plot_bioinformatician": ("figures/*.svg", "figures/*.pdf", "genes.csv", "report.html"),
    "plot_sklearn_practitioner": ("comparison.svg", "comparison.md", "comparison.html"),
    "plot_researcher": ("curves.pdf", "study.tex", "study.html"),
}


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """Run a script in a process of its own; the folder that it wrote into, and what it printed."""

    def run(name):
        for extra in ("pandas", "matplotlib", "jinja2", "vl_convert"):
            pytest.importorskip(extra)
        home = tmp_path_factory.mktemp(name)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(EXAMPLES / f"{name}.py")],
            cwd=home,
            env=os.environ | {"TMPDIR": str(home), "MPLBACKEND": "Agg"},
            capture_output=True,
            text=True,
            timeout=600,  # only ends what hangs
        )
        assert done.returncode == 0, done.stderr
        (folder,) = {path.parent for path in home.rglob("*.html")}
        return folder, done.stdout

    return run


@pytest.mark.long("runs a whole script")
@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_a_script_ends_in_a_figure_a_table_and_a_report(name, folder_of):
    folder, printed = folder_of(name)
    for pattern in LEFT_BEHIND[name]:
        found = list(folder.glob(pattern))
        assert found, f"{pattern} is missing"
        assert all(path.stat().st_size > 200 for path in found)
    for page in folder.glob("*.html"):
        assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")
    if name == "plot_bioinformatician":
        lines = (folder / "genes.csv").read_text().splitlines()
        assert len(lines) == 11
        assert "held-out samples" in printed
    if name == "plot_sklearn_practitioner":
        table = (folder / "comparison.md").read_text()
        for method in ("ridge-forward", "SelectKBest", "RFE", "RandomForestClassifier"):
            assert method in table
    if name == "plot_researcher":
        table = (folder / "study.tex").read_text()
        assert table.count("\\begin{tabular}") == table.count("\\end{tabular}") > 0
        assert "\\textbf" in table
        assert "%" in printed  # the certificate, as a share
