"""Programs of users as their type checker sees them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

SOURCE = Path(__file__).resolve().parents[1] / "src"

PROGRAM = """\
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparsieve import (
    L21Selector,
    RankingDisplay,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
    all_selectors,
)
from sparsieve.datasets import load_dataset, make_shared_features
from sparsieve.scoring import Folds
from sparsieve.app.io import read_table, write_table
from sparsieve.app.report import Report, selector_report
from sparsieve_experiments.report import study_report
from sparsieve_experiments.studies import Study, run_study

data = load_dataset("wine")
selector = RidgeForwardSelector(5, standardize=True, always_keep=[0]).fit(data.X, data.y)
scores: NDArray[np.floating] = selector.scores_
mask: NDArray[np.bool_] = selector.support_
best: int = int(selector.ranking_.argmin())
narrower: RidgeForwardSelector = selector.at(2)
narrow = narrower.transform(data.X)
kept = selector.get_support(indices=True)
count: int = selector.n_features_in_
meaning: str = selector.score_meaning
for feature, others in selector.find_substitutes(data.X, threshold=0.8).items():
    print(feature, [correlation for _, correlation in others])

model = L21Selector(n_features_to_select=3).fit(data.X, data.y)
done: bool = model.converged_
way: list[float] = model.history_
gap: float = model.optimality_

chosen = SelectorCV(L21Selector(), cv=5).fit(data.X, data.y)
k: int = chosen.best_k_
predicted = chosen.predict(data.X)
stable = StabilitySelection(RidgeForwardSelector(), n_subsamples=50).fit(data.X, data.y)
bound: float = stable.error_bound_

study = Study("small", ["wine"], ["fisher", "ridge-forward"], Folds(3), ks=[1, 2])
summary = run_study(study, "small.sqlite", n_jobs=1)
total: int = summary.total
study_report("small.sqlite").save(Path("study.html"))
report: Report = selector_report(selector, data.X, data.y, cv=3)
page: str = report.to_html()
display = RankingDisplay.from_estimator(selector, n_features=10)
names: list[str] = display.names
made = make_shared_features(100, 20, random_state=0)
table = read_table("data.csv", target="label", drop=["id"])
write_table("out.csv", table.columns())
for name, cls in all_selectors().items():
    print(name, cls.__name__, meaning, best, narrow.shape, kept, predicted, k, bound, total)
"""

# Unknown parameters are not among them: scikit-learn's untyped bases make mypy allow any.
MISTAKES = {
    'StabilitySelection(n_subsamples="many")': '"n_subsamples"',
    "RidgeForwardSelector(ridge='much')": '"ridge"',
    "RidgeForwardSelector().fit(data.X, data.y).at([2])": '"at"',
    "wrong: str = RidgeForwardSelector().fit(data.X, data.y).scores_": "Incompatible types",
    'selector_report(selector, data.X, data.y, cv="five")': '"cv"',
    'RankingDisplay.from_estimator(selector, n_features="ten")': '"n_features"',
    "make_shared_features(n_samples='100')": '"n_samples"',
    "study_report('a.sqlite').save(1.5)": '"save"',
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says of a program, one list of complaints by line number."""
    folder = tmp_path_factory.mktemp("typing")

    def check(program):
        file = folder / "program.py"
        file.write_text(program)
        # Complaints within the package are the business of `make lint`.
        done = subprocess.run(
            [
                sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
                "--config-file=", f"--cache-dir={folder / 'cache'}", file,
            ],
            capture_output=True, text=True, cwd=folder, check=False,
            env={**os.environ, "MYPYPATH": str(SOURCE)},
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
        found = [line.split(":", 2) for line in done.stdout.splitlines() if ": error: " in line]
        return [(int(number), text) for _, number, text in found]

    return check


@pytest.mark.slow
def test_a_program_without_mistakes_is_clean(checked):
    assert checked(PROGRAM) == []


@pytest.mark.slow
def test_mistakes_are_caught(checked):
    start = PROGRAM.count("\n")
    complaints = dict(checked(PROGRAM + "\n".join(MISTAKES) + "\n"))
    for line, (mistake, expected) in enumerate(MISTAKES.items(), start + 1):
        assert expected in complaints.get(line, "nothing"), mistake
