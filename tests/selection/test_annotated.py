"""AnnData in, its var and uns filled in."""

import re

import numpy as np
import pytest
from scipy import sparse

import sparsieve
from sparsieve import FisherSelector, select

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")


def cells(form=sparse.csr_matrix, n=60, d=40):
    rng = np.random.default_rng(0)
    kinds = np.array(["T", "B", "NK"])[np.arange(n) % 3]
    X = rng.poisson(0.5, size=(n, d)).astype(np.float32)
    X[:, 7] += 3 * (kinds == "T")
    X[:, 9] += 3 * (kinds == "B")
    obs = pd.DataFrame(
        {"cell_type": pd.Categorical(kinds), "age": X[:, 7] + rng.normal(size=n)},
        index=[f"c{i}" for i in range(n)],
    )
    data = anndata.AnnData(form(X), obs=obs, layers={"swapped": form(X[:, ::-1])})
    data.var_names = [f"g{j}" for j in range(d)]
    return data


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_reads_the_matrix_and_writes_what_it_found(form, tmp_path):
    data = cells(form)
    selected = select(data, "cell_type", k=2)
    alone = select(data.X, data.obs["cell_type"].to_numpy(), k=2)
    assert set(selected.features) == {"g7", "g9"}
    assert sparse.issparse(selected.X) == (form is not np.asarray)
    np.testing.assert_array_equal(data.var["sparsieve_rank"], alone.selector.ranking_)
    np.testing.assert_array_equal(data.var["sparsieve_score"], alone.selector.scores_)
    assert data.var_names[data.var["sparsieve_selected"]].tolist() == ["g7", "g9"]
    kept = data.uns["sparsieve"]
    assert (kept["method"], kept["k"], kept["target"]) == ("RidgeForwardSelector", 2, "cell_type")
    assert kept["score_meaning"] == selected.selector.score_meaning
    data.write_h5ad(tmp_path / "d.h5ad")
    again = anndata.read_h5ad(tmp_path / "d.h5ad")
    assert again.uns["sparsieve"]["parameters"]["ridge"] == "auto"
    assert again.var["sparsieve_selected"].sum() == 2


def test_layers_numbers_and_labels_of_ones_own():
    data = cells()
    assert set(select(data, "cell_type", k=2, layer="swapped").features) == {"g32", "g30"}
    assert data.uns["sparsieve"]["layer"] == "swapped"
    assert select(data, "age", k=1).features == ["g7"]
    assert select(data, data.obs["cell_type"] == "B", k=1, method="fisher").features == ["g9"]
    assert data.uns["sparsieve"]["method"] == "FisherSelector"


@pytest.mark.long("builds a whole page")
def test_names_reach_table_view_and_report(tmp_path):
    selected = select(cells(), "cell_type", k=2)
    assert set(selected.table["feature"]) == {"g7", "g9"}
    assert "g7" in selected._repr_html_()
    pytest.importorskip("jinja2")
    selected.report(tmp_path / "page.html")
    assert "g9" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_backed_files_are_read_by_blocks(form, tmp_path, monkeypatch):
    monkeypatch.setattr("sparsieve.validation.columns._BLOCK", 1000)
    data = cells(form)
    data.write_h5ad(tmp_path / "d.h5ad")
    backed = anndata.read_h5ad(tmp_path / "d.h5ad", backed="r")
    assert select(backed, "cell_type", k=2).features == select(data, "cell_type", k=2).features
    assert backed.var["sparsieve_selected"].sum() == 2
    backed.file.close()


def test_a_backed_file_larger_than_memory_is_not_loaded(tmp_path):
    data = cells(np.asarray, n=400, d=1500)
    data.write_h5ad(tmp_path / "d.h5ad")
    whole = select(data, "cell_type", k=2, linear_only=True)  # as of data in files
    backed = anndata.read_h5ad(tmp_path / "d.h5ad", backed="r")
    with sparsieve.set_memory("2MB"):
        selected = select(backed, "cell_type", k=2)
    assert not isinstance(selected.X, np.ndarray)
    assert selected.features == whole.features
    backed.file.close()


def test_bad_requests_are_refused_in_words():
    data = cells()
    unlabelled = cells()
    unlabelled.obs.loc["c3", "cell_type"] = np.nan
    twins = cells()
    twins.var_names = ["g0"] * 40
    gaps = cells(np.asarray)
    gaps.X[2, 5] = np.nan
    empty = anndata.AnnData(obs=data.obs, layers={})
    for arguments, said in (
        ((data, "celltype"), "adata.obs has no column 'celltype'; did you mean 'cell_type'?"),
        ((data, "zzz"), "adata.obs has no column 'zzz'; there are 'cell_type', 'age'"),
        ((data, "cell_type", "auto", "fisher", "count"), "adata has no layer 'count'; there are"),
        ((unlabelled, "cell_type"), "has no value in 1 of 60 rows; leave them out with adata = "),
        ((twins, "cell_type"), "adata.var_names has duplicates: 'g0'; make them unique with"),
        ((gaps, "cell_type"), "1 value in 1 column ('g5')"),
        ((empty, "cell_type"), "adata has no"),
        ((np.zeros((4, 2)), [0, 1, 0, 1], 1, "fisher", "raw"), "layer='raw' is for AnnData"),
        ((np.zeros((4, 2)), "cell_type"), "y='cell_type' names a column, but X is of type ndarray"),
    ):
        *given, layer = arguments if len(arguments) == 5 else (*arguments, None)
        with pytest.raises((ValueError, TypeError), match=re.escape(said)) as caught:
            select(*given, layer=layer)
        assert "\n" not in str(caught.value)
    assert "notna" in _said(unlabelled)
    with pytest.raises(TypeError, match=r"sparsieve\.select\(X, "):
        FisherSelector().fit(data, data.obs["cell_type"])
    assert "sparsieve" not in data.uns  # nothing is written where nothing was found


def _said(data):
    with pytest.raises(ValueError, match="no value") as caught:
        select(data, "cell_type")
    return str(caught.value)
