"""``diagnose`` on what people have: raw frames, AnnData, survival times, odd columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsieve import diagnose


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 80
    made = pd.DataFrame({"who": [f"p{i}" for i in range(n)], "age": rng.normal(50, 9, n)})
    made["sex"] = rng.choice(["f", "m"], n)
    made["since"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(n), "D")
    made["dose"] = rng.normal(size=n)
    made["kind"] = np.where(rng.random(n) < 0.5, "ill", "well")
    made.loc[::7, "age"] = None
    return made


def kinds(found):
    return {one.kind for one in found}


def test_a_raw_frame_by_the_name_of_its_target(frame):
    found = diagnose(frame, "kind", try_models=False)
    assert [one.sentence for one in found] == [
        "who is text with 80 distinct values; it looks like an ID or a remark and is not used"
    ]
    frame["outcome"] = frame["kind"].map({"ill": "dead", "well": "alive"})
    leak = next(one for one in diagnose(frame, "kind", try_models=False) if one.kind == "leak")
    assert leak.features == (5,)  # its place among the columns of X
    assert leak.sentence.startswith("outcome=")


@pytest.mark.parametrize("as_frame", [True, False])
def test_columns_that_cannot_be_used_are_named(frame, as_frame):
    X = frame[["age", "dose"]].assign(empty=np.nan, rare=np.nan, endless=frame["dose"])
    X.loc[::5, "rare"] = 1.0 * np.arange(16)
    X.loc[3, "endless"] = np.inf
    given = {} if as_frame else {"feature_names": list(X.columns)}
    found = diagnose(X if as_frame else X.to_numpy(), frame["kind"], try_models=False, **given)
    said = [one.sentence for one in found]
    assert "empty has no values: drop it" in said
    assert (
        "endless has 1 infinite value, perhaps from a division by zero: replace or drop it" in said
    )
    assert "rare is missing in 80 % of the samples: drop it, or ask why" in said
    assert {"missing", "infinite"} <= kinds(found)


def test_infinite_values_of_sparse_data(rng):
    X = sparse.random(40, 6, density=0.5, random_state=0, format="csr")
    X.data[0] = np.inf
    assert "infinite" in kinds(diagnose(X, np.arange(40) % 2, try_models=False))


def test_annotated_data(frame):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(1)
    adata = anndata.AnnData(sparse.csr_matrix(rng.poisson(1.0, (80, 30)) * 1.0), obs=frame)
    adata.obs_names = [f"c{i}" for i in range(80)]
    adata.layers["leak"] = adata.X.toarray()
    adata.layers["leak"][:, 4] = frame["kind"] == "ill"
    assert "leak" not in kinds(diagnose(adata, "kind", try_models=False))
    found = diagnose(adata, "kind", layer="leak", try_models=False)
    assert [one.features for one in found if one.kind == "leak"] == [(4,)]


def test_survival_times_by_name(frame):
    frame["months"] = np.random.default_rng(2).exponential(10, 80)
    frame["died"] = np.arange(80) % 3 > 0
    frame["copy"] = 12.0 * frame["months"]
    found = diagnose(frame.drop(columns="kind"), ("months", "died"))
    assert any(one.kind == "leak" and "copy" in one.sentence for one in found)


def test_gaps_can_be_filled_for_the_models():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4).astype(int)
    X[rng.random(X.shape) < 0.01] = np.nan
    assert "nonlinear" not in kinds(diagnose(X, y))
    assert "nonlinear" in kinds(diagnose(X, y, impute=True))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_low_counts_are_counts(rng, as_sparse):
    means = np.exp(rng.normal(-1.5, 1.5, 400))
    depth = np.exp(rng.normal(0, 0.4, 150))
    counts = rng.poisson(np.outer(depth, means)).astype(float)
    assert 10 <= counts.max() < 300
    X = sparse.csr_array(counts) if as_sparse else counts
    assert "counts" in kinds(diagnose(X, np.arange(150) % 2, try_models=False))
    points = np.minimum(counts * 4, 16)  # a scale that ends
    assert "counts" not in kinds(diagnose(points, np.arange(150) % 2, try_models=False))
