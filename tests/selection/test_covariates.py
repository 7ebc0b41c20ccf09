"""``select`` with covariates: in the model, not counted, not ranked, and scored alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import RepeatedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve.preprocessing.covariates import covariate_columns, describe_preparation

pytestmark = pytest.mark.usefixtures("lines_only")


@pytest.fixture
def people():
    """Age and batch explain most of the outcome, and one gene the rest."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(rng.normal(size=(n, 20)), columns=[f"g{j}" for j in range(20)])
    frame["age"], frame["batch"] = rng.normal(50, 12, n), rng.choice(list("abc"), n)
    frame["outcome"] = (
        0.1 * frame["age"] + 2.0 * (frame["batch"] == "a") + frame["g7"] + rng.normal(0, 0.3, n)
    )
    return frame


def test_columns_of_the_frame(people):
    selected = sparsieve.select(people, "outcome", k=1, covariates=["age", "batch"])
    assert selected.features == ["g7"]
    assert list(selected.table["rank"]) == [1]
    assert list(selected.table["feature"]) == ["g7"]
    assert selected.feature_groups == ["g7"]
    assert "1 of 20 feature groups in addition to age and batch by" in str(selected)
    alone = selected.covariates_alone
    assert alone.adds
    assert alone.score < selected.check.score
    assert alone.sentence in str(selected)
    assert alone.sentence in selected._repr_html_()
    assert alone.sentence.startswith("With age and batch alone: R² 0.")
    assert selected.transform(people).shape == (120, 5)  # age, three batches and a gene
    found = sparsieve.select(people, "outcome", covariates=["age", "batch"])
    assert "g7" in found.features
    assert not {"age", "batch"} & set(found.features)
    half = sparsieve.select(people, "outcome", k=0.5, covariates="age", check=False)
    assert len(half.features) == 10  # of 20 genes and the batch


def test_the_score_alone_is_that_of_a_model_without_features(people):
    """The same folds by hand, with scikit-learn's ridge in the place of ours."""
    selected = sparsieve.select(people, "outcome", k=1, covariates=["age", "batch"])
    X = pd.get_dummies(people[["age", "batch"]]).to_numpy(dtype=float)
    model = make_pipeline(StandardScaler(), RidgeCV(np.geomspace(1e-3, 1e3, 13)))
    folds = RepeatedKFold(n_splits=5, n_repeats=4, random_state=1)
    by_hand = cross_val_score(model, X, people["outcome"], cv=folds).mean()
    assert selected.covariates_alone.score == pytest.approx(by_hand, abs=0.03)


def test_features_that_add_nothing(people):
    noise = np.random.default_rng(1).normal(size=(120, 20))
    beside = {"age": people["age"], "batch": people["batch"].astype("category")}
    selected = sparsieve.select(noise, people["outcome"], k=2, covariates=beside)
    alone = selected.covariates_alone
    assert not alone.adds
    assert "the features add nothing to that beyond chance" in alone.sentence
    assert len(selected.features) == 2


def test_annotated_data_and_logarithms(people):
    anndata = pytest.importorskip("anndata")
    genes = np.exp(people[[f"g{j}" for j in range(20)]].to_numpy())
    adata = anndata.AnnData(sparse.csr_matrix(genes), obs=people[["age", "batch", "outcome"]])
    adata.obs_names = [f"c{i}" for i in range(120)]
    adata.var_names = [f"g{j}" for j in range(20)]
    how = {"k": 1, "covariates": ["age", "batch"]}
    selected = sparsieve.select(adata, "outcome", prepare="log-cpm", **how)
    assert describe_preparation(selected.prepare) == "log-cpm"
    # The totals of the samples are those of the genes.
    made = selected.prepared_X.toarray()
    expected = sparsieve.LogCPM().fit_transform(genes)
    np.testing.assert_allclose(made[:, :20], expected)
    np.testing.assert_allclose(made[:, 20], people["age"])
    assert selected.features == ["g7"]
    assert adata.var["sparsieve_selected"].sum() == 1
    assert adata.uns["sparsieve"]["k"] == 1
    assert selected.transform(adata.X).shape == (120, 5)
    with pytest.raises(ValueError, match=r"no column 'agee'; did you mean 'age'"):
        sparsieve.select(adata, "outcome", covariates="agee")


def test_gaps_are_filled_and_other_methods_refuse(people):
    people.loc[3, "age"] = np.nan
    X = people[[f"g{j}" for j in range(20)]].to_numpy()
    selected = sparsieve.select(X, people["outcome"], k=1, covariates=people[["age"]])
    assert selected.notes == ("filled the missing values of 'age' with the median",)
    assert selected.features == ["x7"]
    for covariates, kind, said in (
        (["age"], TypeError, "names columns, but X is of type ndarray"),
        (people[["age"]].iloc[:9], ValueError, "covariates have 9 rows, but X has 120"),
        ({"id": [f"p{i}" for i in range(120)]}, ValueError, "120 different values, too many"),
    ):
        with pytest.raises(kind, match=said):
            sparsieve.select(X, people["outcome"], k=1, covariates=covariates)
    with pytest.raises(ValueError, match="both called 'g1'; rename one"):
        sparsieve.select(people, "outcome", k=1, covariates={"g1": people["age"]})


def test_columns_of_covariates():
    days = np.array(["1970-01-02", "NaT"], dtype="M8[D]")
    given = {"sex": ["m", None], "site": ["b", "a"], "day": days, "dose": ["1,000", "2"]}
    made, columns, gaps = covariate_columns(given)
    names = [name for column in columns for name in column.outputs]
    assert names == ["sex=(missing)", "site=b", "day", "dose"]  # two values are one column
    np.testing.assert_array_equal(made, [[0, 1, 1, 1000], [1, 0, np.nan, 2]])
    assert gaps == ["day"]


def test_covariates_given_apart_are_encoded_as_columns_of_the_frame(people):
    sexes = np.where(np.arange(len(people)) % 3, "m", "f")
    apart = sparsieve.select(people, "outcome", k=1, covariates={"sex": sexes}, check=False)
    inside = people.assign(sex=sexes)
    within = sparsieve.select(inside, "outcome", k=1, covariates=["sex"], check=False)
    assert list(apart.X.columns)[-1] == "sex=m"
    assert sum(name.startswith("sex=") for name in within.X.columns) == 1
    assert len(apart.covariates.places) == len(within.covariates.places) == 1


@pytest.mark.parametrize("k", [2, "auto"])
def test_reports_and_figures_neither_rank_nor_count_covariates(k, tmp_path):
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 4)), columns=list("abcd"))
    frame["age"], frame["batch"] = rng.normal(50, 5, 60), rng.choice(["u", "v", "w"], 60)
    y = frame["a"] + 0.1 * frame["age"] > 5
    found = sparsieve.select(frame, y, k=k, covariates=["age", "batch"])
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "kept by request" not in page
    assert "All 4 feature groups." in page
    assert "beside age and batch" in page
    drawn = found.plot("ranking").chart.columns["y"].values
    assert not {"age", "batch"} & set(drawn)


@pytest.mark.parametrize(("prepare", "needed"), [("log", ["g7", "age"]), ("log-cpm", None)])
def test_covariates_below_zero_are_left_alone_by_logarithms(people, prepare, needed, tmp_path):
    table = people.assign(age=people["age"] - 50).drop(columns="batch")
    genes = [f"g{j}" for j in range(20)]
    table[genes] = np.exp(table[genes])
    selected = sparsieve.select(
        table, "outcome", k=1, covariates="age", prepare=prepare, check=False
    )
    assert selected.features == ["g7"]
    sparsieve.save(selected, tmp_path / "model.sparsieve")
    again = sparsieve.load(tmp_path / "model.sparsieve")
    new = table.drop(columns="outcome")
    np.testing.assert_array_equal(again.predict(new), selected.predict(new))
    if needed is not None:  # no other column
        expected = np.column_stack([new["age"], np.log1p(new["g7"])])
        np.testing.assert_allclose(
            sorted(again.transform(new[needed]).to_numpy().T.tolist()), sorted(expected.T.tolist())
        )
        np.testing.assert_array_equal(again.predict(new[needed]), selected.predict(new))


@pytest.mark.parametrize("k", [1, "auto"])
def test_weights_and_covariates_where_metadata_are_routed(people, k):
    weights, found = np.linspace(1, 2, len(people)), []
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            selected = sparsieve.select(
                people, "outcome", k=k, covariates="age", sample_weight=weights, check=True
            )
            found.append((selected.features, selected.covariates_alone))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("values", "task", "metric"),
    [
        (np.arange(120) * 3, "regression", "r2"),
        (np.arange(120) // 20, "regression", "r2"),
        (np.arange(120) // 4, "classification", "accuracy"),
    ],
)
def test_the_covariates_alone_read_the_target_as_it_was_read(people, values, task, metric):
    """Whole numbers may be classes or quantities: what was said of them holds for every fit."""
    people["outcome"] = values[np.argsort(np.argsort(people["age"] + people["g7"]))]
    selected = sparsieve.select(
        people, "outcome", covariates="age", task=task, cv=3, random_state=0
    )
    alone = selected.covariates_alone
    assert alone.sentence in str(selected)
    assert selected.check.measure.name == metric
    assert f"With age alone: {selected.check.measure.title}" in alone.sentence
    numbers = people.assign(outcome=people["outcome"] + 0.5 * (task == "regression"))
    again = sparsieve.select(numbers, "outcome", covariates="age", task=task, cv=3, random_state=0)
    assert again.covariates_alone.score == pytest.approx(alone.score)


def test_what_was_done_to_the_data_stands_below_what_was_kept(people):
    first, second = str(sparsieve.select(people, "outcome", k=1, check=False)).split("\n")
    assert first.startswith("1 of 22 feature groups")
    assert second == "note: encoded 'batch' as columns of zeros and ones"
