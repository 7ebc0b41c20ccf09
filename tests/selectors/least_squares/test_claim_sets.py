"""Claims about sets of correlated features one of which matters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sparsieve import FDRSelector, load, save, select


def clustered(seed: int, n: int = 80, size: int = 8, n_clusters: int = 12, alike: float = 0.9):
    """Clusters of columns, and a target that the first column of the third cluster makes."""
    rng = np.random.default_rng(seed)
    common = np.repeat(rng.standard_normal((n, n_clusters)), size, axis=1)
    X = np.sqrt(alike) * common + np.sqrt(1 - alike) * rng.standard_normal(common.shape)
    return X, 0.8 * X[:, 2 * size] + rng.standard_normal(n), 2 * size


def plain_weights(X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Likelihoods of one-column regressions, by least squares of each."""
    logs = []
    for j in columns:
        A = np.column_stack((np.ones(len(y)), X[:, j]))
        rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
        logs.append(-0.5 * (len(y) - 1) * np.log((rest**2).sum()))
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum()


def test_weights_are_likelihoods_of_regressions():
    X, y, _ = clustered(0)
    X, y = np.clip(X, -2, 2), np.clip(y, -2, 2)  # so that nothing else is clipped much
    # All columns are neighbours: nothing is taken out, and each is judged by its own regression.
    found = FDRSelector(0.9, claim="set", substitutes=1e-9, adjust=None).fit(X, y)
    (members,) = list(found.sets_.values())[:1]
    columns, weights = map(np.array, zip(*members, strict=True))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Z, t = np.clip(Z, -3, 3), y.copy()
    np.testing.assert_allclose(
        weights, plain_weights(Z, t, np.arange(X.shape[1]))[columns.astype(int)], rtol=0.05
    )
    assert weights.sum() >= 1 - 0.009
    assert (np.diff(weights) <= 0).all()


def test_sets_hold_the_true_feature_where_no_single_one_can_be_claimed():
    held, claims, single = 0, 0, 0
    for seed in range(12):
        X, y, true = clustered(seed)
        found = FDRSelector(claim="set").fit(X, y)
        claims += len(found.sets_)
        held += sum(true in dict(some) for some in found.sets_.values())
        single += int(FDRSelector(substitutes=1.0).fit(X, y).support_.sum())
    assert claims >= 10
    assert held >= claims - 1
    assert single <= 3


def test_a_feature_that_stands_alone_is_a_set_of_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 60))
    found = FDRSelector(claim="set").fit(X, X[:, 3] + 0.5 * rng.standard_normal(100))
    assert found.sets_ == {3: [(3, pytest.approx(1.0, abs=1e-3))]}
    assert found.get_support(indices=True).tolist() == [3]
    assert "1 set of features is significant" in found.verdict_
    assert "'x3' alone" in found.verdict_


def test_copies_share_the_weight():
    X, y, _ = clustered(1)
    once = FDRSelector(claim="set").fit(X, y)
    twice = FDRSelector(claim="set").fit(np.hstack((X, X)), y)
    assert list(once.sets_) == list(twice.sets_)
    for claim, members in once.sets_.items():
        double = dict(twice.sets_[claim])
        assert len(double) == 2 * len(members)
        for j, weight in members:
            assert double[j] == double[j + X.shape[1]] == pytest.approx(weight / 2)


def test_the_order_of_columns_and_rows_does_not_matter():
    X, y, _ = clustered(2)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    first = FDRSelector(claim="set").fit(X, y)
    other = FDRSelector(claim="set").fit(X[rows][:, columns], y[rows])
    named = [{int(columns[j]) for j, _ in some} for some in other.sets_.values()]
    assert named == [{j for j, _ in some} for some in first.sets_.values()]


def test_closed_columns_are_in_no_set():
    X, y, true = clustered(3)
    kept = [0, 1]
    found = FDRSelector(claim="set", never_keep=[true], always_keep=kept).fit(X, y)
    members = {j for some in found.sets_.values() for j, _ in some}
    assert members
    assert not members & {true, *kept}


@pytest.mark.long("forty fits without signal")
def test_noise_is_seldom_claimed():
    claimed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, _, _ = clustered(seed, n=40)
        claimed += bool(FDRSelector(claim="set").fit(X, rng.standard_normal(40)).sets_)
    assert claimed <= 9  # 10 % of 40, and 2.6 standard errors


@pytest.mark.long("twenty fits")
def test_samples_of_one_patient_count_as_one():
    patients, told, ignored = np.repeat(np.arange(40), 3), 0, 0
    for seed in range(10):  # nothing to find
        X, _, _ = clustered(seed, n=40)
        y = np.random.default_rng(seed).standard_normal(40)
        X, y = X[patients], y[patients]
        told += bool(FDRSelector(claim="set").fit(X, y, groups=patients).sets_)
        alone = FDRSelector(claim="set", adjust=None)  # patients are structure of X as well
        ignored += bool(alone.fit(X, y, groups=np.arange(120)).sets_)
    assert told <= 2
    assert ignored >= 5


def test_saved_tables_and_words(tmp_path):
    X, y, true = clustered(5)
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])
    selected = select(frame, y, k="fdr=0.1", claim="set")
    selector = selected.selector
    assert any(f"gene{true}" in dict(some) for some in selector.sets_.values())
    save(selector, tmp_path / "sets.sparsieve")
    assert load(tmp_path / "sets.sparsieve").sets_ == selector.sets_
    assert "sets_ lists the features of every set" in selector.verdict_
    beside = select(frame, y, k=3).claims(claim="set")
    assert "in significant sets" in beside.side_by_side()


def test_weaker_claims_offer_sets():
    X, _, _ = clustered(0)
    y = np.random.default_rng(0).standard_normal(len(X))
    found = select(X, y, k=2, task="regression").claims()
    assert len(found.features) == 0
    assert found.weaker_sentences()[0].startswith("Weaker claim (set): a feature or one of some")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"claim": "set", "feature_groups": np.arange(96) // 8}, "is for single features"),
        ({"claim": "set", "n_resamples": 99}, "needs no permutations"),
        ({"claim": "marginal", "substitutes": 0.8}, "substitutes are of"),
    ],
)
def test_what_cannot_be_honoured_is_refused(settings, said):
    X, y, _ = clustered(0)
    with pytest.raises(ValueError, match=said):
        FDRSelector(**settings).fit(X, y)
