"""Preparation of X and groups of samples in one line."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve import LogCPM, RidgeForwardSelector, SelectorCV, select


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 2)
    mean = rng.lognormal(3.0, 1.5, 120) * rng.lognormal(0.0, 0.6, (60, 1))
    mean[:, :8] *= np.where(y[:, None], 4.0, 1.0)
    return rng.negative_binomial(3.0, 3.0 / (3.0 + mean)).astype(float), y


@pytest.mark.slow
@pytest.mark.parametrize("k", [6, "auto"])
def test_the_selection_is_that_of_prepared_counts(counts, k):
    X, y = counts
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(120)])
    selected = select(frame, y, k=k, prepare="log-cpm")
    logs = LogCPM().fit_transform(X)
    n_kept = len(selected.features)
    alone = RidgeForwardSelector(n_features_to_select=n_kept).fit(logs, y)
    assert set(selected.features) == {f"g{j}" for j in alone.get_support(indices=True)}
    for other in (X, sparse.csr_array(X)):
        assert select(other, y, k=k, prepare=LogCPM()).features == [
            name.replace("g", "x") for name in selected.features
        ]
    pl = pytest.importorskip("polars")
    assert select(pl.DataFrame(frame), y, k=k, prepare="log-cpm").features == selected.features
    assert selected.prepare.scale_ == np.median(X.sum(axis=1))
    assert selected.prepared_X.columns.tolist() == frame.columns.tolist()


def test_counts_are_said_first_unless_prepared(counts):
    X, y = counts
    raw = select(X, y, k=3)
    assert repr(raw).startswith("note: the values look like raw counts (whole numbers from 0 to ")
    assert 'prepare="log-cpm"' in raw._repr_html_().replace("&quot;", '"')
    prepared = select(X, y, k=3, prepare="log-cpm")
    assert prepared.leaks == []
    assert repr(prepared).startswith("3 of 120 features by RidgeForwardSelector: ")


def test_accuracy_prepares_inside_the_folds(counts):
    X, y = counts
    selected = select(X, y, k=5, prepare="log-cpm")
    search = SelectorCV(RidgeForwardSelector(), ks=[5], n_repeats=2, prepare=LogCPM())
    assert selected.accuracy == search.fit(X, y).best_score_


@pytest.mark.slow
def test_a_report_of_prepared_counts(counts, tmp_path):
    X, y = counts
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(120)])
    for k in (3, "auto"):
        select(frame, y, k=k, prepare="log-cpm").report(tmp_path / "page.html")
        assert "g1" in (tmp_path / "page.html").read_text()


def test_what_cannot_be_prepared(counts, tmp_path):
    X, y = counts
    with pytest.raises(ValueError, match="prepare must be one of 'impute', "):
        select(X, y, k=3, prepare="logs")
    with pytest.raises(
        ValueError, match="'log-cpm' takes logarithms, but 90 columns have negative"
    ):
        select(X - 5.0, y, k=3, prepare="log-cpm")
    np.save(tmp_path / "X.npy", X)
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="prepare needs X in memory"):
        select(da.from_array(X, chunks=(20, 120)), y, k=3, prepare="log-cpm")


@pytest.mark.long("many fits to full accuracy")
def test_copies_are_said_first_and_groups_undo_them():
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.standard_normal((30, 200)), (3, 1)), np.tile(np.arange(30) % 2, 3)
    patients = np.tile(np.arange(30), 3)
    said = "note: 90 of 90 samples have duplicates or near-duplicates (samples 0 and "
    selected = select(X, y, k=10)
    assert repr(selected).startswith(said)
    grouped = select(X, y, k=10, groups=patients)
    assert re.match(r"(No linear model|30 samples are too few).*\n10 of 200", repr(grouped))
    assert selected.accuracy > 0.85 > 0.7 > grouped.accuracy
    with pytest.warns(
        UserWarning, match="No linear model of the selected features predicts better"
    ):
        found = select(X, y, groups=patients)
    assert found.selector.n_splits_ == 20


# -- in compare --------------------------------------------------------------------------------


@pytest.mark.long("many fits to full accuracy")
def test_comparing_prepares_inside_the_folds(counts):
    X, y = counts
    raw = sparsieve.compare(X, y, ["fisher"], ks=[5])
    found = sparsieve.compare(X, y, ["fisher"], ks=[5], prepare="log-cpm")
    assert repr(raw).startswith("note: the values look like raw counts")
    assert repr(found).startswith("1 method compared on 60 samples")
    scores = found.methods["fisher"].scores["accuracy"][0]
    # By hand, on the same splits.
    from sklearn.linear_model import LogisticRegression

    from sparsieve import FisherSelector

    splits = found.data.splits(5, 2, 0)
    for (train, test), score in zip(splits, scores, strict=True):
        logs = LogCPM().fit(X[train]).transform(X)
        kept = FisherSelector(n_features_to_select=5).fit(logs[train], y[train]).get_support()
        scaled = StandardScaler().fit(logs[train][:, kept]).transform(logs[:, kept])
        model = LogisticRegression(tol=1e-9, max_iter=10_000).fit(scaled[train], y[train])
        assert model.score(scaled[test], y[test]) == pytest.approx(score)
    assert scores.mean() > raw.methods["fisher"].scores["accuracy"][0].mean()


def test_comparing_says_copies_first():
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.standard_normal((30, 60)), (3, 1)), np.tile(np.arange(30) % 2, 3)
    found = sparsieve.compare(X, y, ["fisher"], ks=[5])
    assert repr(found).startswith("note: 90 of 90 samples have duplicates or near-duplicates")
    html = found._repr_html_()
    assert html.index("90 of 90 samples") < html.index("fisher")
    grouped = sparsieve.compare(X, y, ["fisher"], ks=[5], groups=np.tile(np.arange(30), 3))
    assert repr(grouped).startswith("1 method compared")
