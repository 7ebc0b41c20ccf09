"""The same words and names for every kind of file, and what goes into .h5ad files."""

import re

import numpy as np
import pytest
import scipy.io
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

pytestmark = pytest.mark.usefixtures("lines_only")

FISHER = ("--method", "fisher")


def test_h5ad_keeps_the_other_parts_of_the_file(sparsieve, tmp_path):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(30, 8)).astype(np.float32)
    kinds = np.array(["T", "B"])[np.arange(30) % 2]
    X[:, 2] += 5 * (kinds == "T")
    obs = pd.DataFrame(
        {"kind": kinds, "batch": list("xyz") * 10}, index=[f"c{i}" for i in range(30)]
    )
    data = anndata.AnnData(
        sparse.csr_matrix(X), obs=obs, layers={"raw": X}, obsm={"pca": X[:, :2]}, uns={"made": "up"}
    )
    data.var_names = [f"g{j}" for j in range(8)]
    data.write_h5ad(tmp_path / "d.h5ad")
    out = tmp_path / "out.h5ad"
    arguments = ("select", tmp_path / "d.h5ad", "-t", "kind", "-k", 3, "-o", out)
    result = sparsieve(*arguments, "--drop", "batch", "--drop", "g7")  # not a feature anyway
    assert result.code == 0, result.err
    kept = anndata.read_h5ad(out)
    names = kept.var_names.tolist()
    assert names[0] == "g2"
    assert "g7" not in names
    assert kept.var["sparsieve_rank"].tolist() == [1, 2, 3]
    columns = [int(name[1:]) for name in names]
    np.testing.assert_array_equal(kept.X.toarray(), X[:, columns])
    np.testing.assert_array_equal(kept.layers["raw"], X[:, columns])
    np.testing.assert_array_equal(kept.obsm["pca"], X[:, :2])
    assert (kept.uns["made"], kept.uns["sparsieve"]["k"]) == ("up", 3)
    assert kept.obs["batch"].tolist() == obs["batch"].tolist()
    result = sparsieve(*arguments, "--layer", "raw")
    assert result.code == 0, result.err
    assert anndata.read_h5ad(out).uns["sparsieve"]["layer"] == "raw"
    result = sparsieve(*arguments, "--layer", "row")
    assert (result.code, "has no layer 'row'; did you mean 'raw'?" in result.err) == (1, True)
    np.savez(tmp_path / "d.npz", X=X, y=kinds)
    result = sparsieve("select", tmp_path / "d.npz", "--layer", "raw")
    assert (result.code, result.err) == (1, "error: d.npz has no layers; only .h5ad files have\n")
    result = sparsieve("select", tmp_path / "d.npz", "-o", out)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "but the data are in d.npz" in result.err
    locked = tmp_path / "none" / "out.h5ad"
    assert sparsieve(*arguments[:-1], locked).code == 2


def test_columns_have_the_same_names_in_every_format(sparsieve, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 4)).round(3)
    X[:, 2] += 5 * y
    scipy.io.savemat(tmp_path / "d.mat", {"X": X, "y": y})
    np.savez(tmp_path / "d.npz", X=X, y=y)
    np.savetxt(tmp_path / "d.csv", np.column_stack([X, y]), delimiter=",", fmt="%g")
    dump_svmlight_file(X, y, str(tmp_path / "d.svm"), zero_based=False)
    for name in ("d.mat", "d.npz", "d.csv", "d.svm"):
        target = ("-t", "x4") if name == "d.csv" else ()
        result = sparsieve("select", tmp_path / name, *target, "-k", 1, "-n", *FISHER)
        assert (result.code, result.out) == (0, "x2\n"), name
    result = sparsieve("select", tmp_path / "d.csv", "-t", "label", *FISHER)
    assert result.code == 1
    assert "then they are called x0 to x4, the target too" in result.err


def test_what_is_left_out_anyway_may_be_dropped(sparsieve, tmp_path):
    rows = "\n".join(f"s{i},{i % 2 + 0.01 * i},{i},{'ab'[i % 2]}" for i in range(8))
    (tmp_path / "d.csv").write_text(f",p,q,kind\n{rows}\n")
    for drop in ("Unnamed: 0", "x0"):
        result = sparsieve(
            "select", tmp_path / "d.csv", "-t", "kind", "--drop", drop, "-k", 1, "-n", *FISHER
        )
        assert (result.code, result.out) == (0, "p\n")
    np.savez(tmp_path / "d.npz", X=np.eye(6), y=np.arange(6) % 2, ids=np.arange(6))
    assert sparsieve("select", tmp_path / "d.npz", "--drop", "ids", *FISHER).code == 0
    result = sparsieve("select", tmp_path / "d.npz", "--drop", "idz", *FISHER)
    assert (result.code, "no column 'idz' to drop" in result.err) == (1, True)


@pytest.mark.long("many draws of noise, or chance would not show")
def test_auto_on_noise_says_so_first(sparsieve, tmp_path):
    rng = np.random.default_rng(3)
    np.savez(tmp_path / "noise.npz", X=rng.normal(size=(60, 80)), y=np.arange(60) % 2)
    result = sparsieve("select", tmp_path / "noise.npz", "-k", "auto")
    assert result.code == 0
    first, *_ = result.err.splitlines()
    assert first.startswith("warning: No linear model of the selected features predicts better")
    assert re.search(r"; selection \d+\.\d\d s, total \d+\.\d s\n", result.err)
    assert result.err.count("No linear model of the selected features predicts better") == 1
    told = sparsieve("select", tmp_path / "noise.npz", "-k", "auto", "--json").json()
    assert told["choice"].startswith("No linear model of the selected features predicts")
    assert f"Kept: {told['n_selected']} features, " in told["choice"]
    means = {point["k"]: point["mean"] for point in told["curve"]}
    assert f"accuracy {100 * means[told['n_selected']]:.1f} %" in told["choice"]
    assert told["held_out"]["better_than_guess"] is False
    assert told["seconds"] >= told["fit_seconds"] > 0
