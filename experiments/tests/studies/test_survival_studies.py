"""Survival times and counts in studies."""

import numpy as np
import pandas as pd
import pytest

from sparsieve.datasets.synthetic.targets import make_survival
from sparsieve.scoring import Folds
from sparsieve_experiments.report import study_report
from sparsieve_experiments.studies import DatasetSpec, StoreReader, Study, result_rows, run_study
from sparsieve_experiments.studies.kinds import StudyError

SIZE = {"n_samples": 60, "n_features": 12}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    data = make_survival(60, 5, n_relevant=2, signal=1.2, random_state=0)
    table = pd.DataFrame(data.X, columns=[f"g{j}" for j in range(5)])
    table["months"], table["died"] = data.y["time"], data.y["event"].astype(int)
    path = tmp_path_factory.mktemp("study") / "patients.csv"
    table.to_csv(path, index=False)
    return path


def test_a_study_of_survival_times_and_counts(file, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    visits = {"X": X, "y": rng.poisson(np.exp(X[:, 0]))}
    study = Study(
        "both",
        [
            DatasetSpec("patients", file=str(file), target=["months", "died"], task="survival"),
            DatasetSpec("visits", data=visits, task="counts"),
            DatasetSpec("made", make="make_survival", parameters=SIZE),
        ],
        ["likelihood-forward", "ridge-forward"],
        Folds(3),
        ks=[1, 2],
    )
    done = run_study(study, tmp_path / "both.sqlite")
    assert (done.done, done.failed) == (12, 0)
    with StoreReader(tmp_path / "both.sqlite") as store:
        rows = result_rows(store)
        page = study_report(store)
    of = {name: [row for row in rows if row["dataset"] == name] for name in ("patients", "visits")}
    assert {row["selector"] for row in of["patients"]} == {"LikelihoodForwardSelector"}
    assert {row["classifier"] for row in of["patients"]} == {"cox"}
    assert np.mean([row["concordance"] for row in of["patients"]]) > 0.65
    assert {row["classifier"] for row in of["visits"]} == {"poisson"}
    assert np.mean([row["deviance_explained"] for row in of["visits"]]) > 0.1
    assert "On data sets with survival times" in page.headline
    assert {row["precision"] is not None for row in rows if row["dataset"] == "made"} == {True}


def test_a_target_without_events_is_refused(file, tmp_path):
    table = pd.read_csv(file).assign(died=0)
    table.to_csv(tmp_path / "alive.csv", index=False)
    spec = DatasetSpec(
        "alive", file=str(tmp_path / "alive.csv"), target=["months", "died"], task="survival"
    )
    with pytest.raises(StudyError, match="data set 'alive': all 60 samples are censored"):
        spec.load()
