"""People's scripts run from start to end and leave what they came for."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
if not EXAMPLES.exists():
    pytest.skip("these tests were installed without the source tree", allow_module_level=True)

LEFT_BEHIND = {
    "plot_bioinformatician": ("figures/*.svg", "figures/*.pdf", "genes.csv", "report.html"),
    "plot_sklearn_practitioner": ("comparison.svg", "comparison.md", "comparison.html"),
    "plot_researcher": ("curves.pdf", "study.tex", "study.html"),
}
# From a raw file to a saved model, predictions on new rows and a figure.
HOURS = {
    "plot_clinic": ("survival.pdf", "survival.sparsieve", "predictions.csv", "from_two_files.csv"),
    "plot_churn": ("curve.pdf", "churn.sparsieve", "predictions.csv", "to_call.csv"),
    "plot_own_method": ("figures/*.svg", "own.sparsieve", "methods.md", "comparison.md"),
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
        left = [*home.rglob("*.html"), *home.rglob("*.sparsieve")]
        (folder,) = {path.parent for path in left}
        return folder, done.stdout

    return run


def check_left(folder, patterns):
    for pattern in patterns:
        found = list(folder.glob(pattern))
        assert found, f"{pattern} is missing"
        assert all(path.stat().st_size > 200 for path in found)
    for page in folder.glob("*.html"):
        assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")


@pytest.mark.slow
@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_a_script_ends_in_a_figure_a_table_and_a_report(name, folder_of):
    folder, printed = folder_of(name)
    check_left(folder, LEFT_BEHIND[name])
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


def commands_shown(name):
    """The commands in the first comment of a script, as they are typed."""
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").split('"""')[1]
    lines = text.replace("\\\n", " ").splitlines()
    return [line.split()[2:] for line in lines if line.strip().startswith("$ sparsieve")]


@pytest.mark.long("runs a whole script")
@pytest.mark.parametrize(
    "name",
    [
        name if name == "plot_churn" else pytest.param(name, marks=pytest.mark.slow)
        for name in HOURS
    ],
)
@pytest.mark.slow
def test_an_hour_ends_in_a_model_predictions_and_a_figure(name, folder_of):
    folder, printed = folder_of(name)
    check_left(folder, HOURS[name])
    ran = [line.split()[2:] for line in printed.splitlines() if line.startswith("$ sparsieve")]
    assert ran
    for shown in commands_shown(name):  # what readers see is what was run
        assert any(set(shown) <= set(one) for one in ran), shown
    assert "On held-out samples: " in printed
    if name == "plot_own_method":
        assert "3 of 80 features by QuantileSelector: m0" in printed
        return
    new = {"plot_clinic": "new_patients.csv", "plot_churn": "this_week.csv"}[name]
    asked = [line.split(",")[0] for line in (folder / new).read_text().splitlines()[1:]]
    answered = (folder / "predictions.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in answered[1:]] == asked
    if name == "plot_clinic":
        assert answered[0] == "patient,risk,survival at 12,survival at 24"
        of_two = (folder / "from_two_files.csv").read_text().splitlines()[1:]
        risks = [[line.split(",")[1] for line in rows] for rows in (answered[1:], of_two)]
        assert np.allclose(*np.array(risks, dtype=float))
        assert {"GENE04", "GENE17"} <= set(printed.split())
    else:
        assert "closed_on is missing where the target is no" in printed  # the leak is found first
        assert answered[0] == "customer,prediction,probability of no,probability of yes"
        to_call = (folder / "to_call.csv").read_text().splitlines()
        assert to_call[0].startswith(f"{answered[0]},log odds of yes,base,contribution of ")
        shown = [float(line.split(",")[3]) for line in to_call[1:]]
        called = [line.split(",")[1] == "yes" for line in to_call[1:]]
        assert called == [probability >= 1 / 11 for probability in shown]
        assert any(called)
        assert "3 of 9 feature groups" in printed
