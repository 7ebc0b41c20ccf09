"""Whole groups or nothing, against hat matrices written out."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from sparsieve import GroupForwardSelector, make_preprocessor
from sparsieve.preprocessing.groups import group_labels

LABELS = np.array(list("aabccccddeffg"))


def make(seed, n=60, relevant=(), noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(LABELS)))
    columns = np.isin(LABELS, list(relevant))
    return X, X[:, columns].sum(axis=1) + noise * rng.normal(size=n)


def hat(X, columns, ridge):
    Z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, columns]
    return Z @ np.linalg.solve(Z.T @ Z + ridge * len(Z) * np.eye(Z.shape[1]), Z.T)


def plain_forward(X, y, ridge, n_wanted):
    """The definition in the docstring, one group at a time."""
    y = (y - y.mean()) / np.linalg.norm(y - y.mean())
    chosen, scores = [], {}
    while True:
        H = hat(X, np.isin(LABELS, chosen), ridge)
        variance = (y @ y - y @ H @ y) / (len(y) - 1 - np.trace(H))
        found = {}
        for group in sorted(set(LABELS) - set(chosen)):
            step = hat(X, np.isin(LABELS, [*chosen, group]), ridge) - H
            found[group] = y @ step @ y - variance * np.trace(step)
        scores |= found
        if len(chosen) == n_wanted:
            return chosen, scores
        chosen.append(max(found, key=found.get))


@pytest.mark.parametrize("ridge", [0.01, 1.0])
def test_against_hat_matrices(ridge):
    X, y = make(0, relevant="cf")
    selector = GroupForwardSelector(3, groups=LABELS, ridge=ridge).fit(X, y)
    chosen, scores = plain_forward(X, y, ridge, 3)
    assert selector.selected_groups_ == chosen
    assert selector.groups_ == list("abcdefg")
    np.testing.assert_allclose(selector.group_scores_, [scores[g] for g in "abcdefg"], atol=1e-12)
    np.testing.assert_array_equal(selector.support_, np.isin(LABELS, chosen))
    assert sorted(selector.group_ranking_) == list(range(1, 8))


def test_finds_the_best_pair_of_all_pairs():
    X, y = make(1, relevant="bd")
    pairs = list(combinations("abcdefg", 2))
    y0 = y - y.mean()
    best = max(pairs, key=lambda pair: y0 @ hat(X, np.isin(LABELS, pair), 0.01) @ y0)
    selector = GroupForwardSelector(2, groups=LABELS).fit(X, y)
    assert set(selector.selected_groups_) == set(best) == set("bd")


def test_noise_scores_around_zero_however_wide_and_keeps_one_group():
    scores, kept = [], []
    for seed in range(60):
        X, y = make(seed)
        selector = GroupForwardSelector(groups=LABELS).fit(X, y)
        kept.append(len(selector.selected_groups_))
        first = plain_forward(X, y, 0.01, 0)[1]
        scores.append([first[group] for group in "abcdefg"])
    scores = np.array(scores)
    assert (np.abs(scores.mean(axis=0)) < 4 * scores.std(axis=0) / np.sqrt(60)).all()
    assert np.mean(np.array(kept) > 1) < 0.1


def test_as_many_as_matter():
    X, y = make(2, relevant="acf", noise=0.5, n=100)
    assert set(GroupForwardSelector(groups=LABELS).fit(X, y).selected_groups_) == set("acf")


def test_a_copy_of_a_group_is_not_taken_again():
    X, y = make(3, relevant="c")
    both = np.hstack([X, X[:, LABELS == "c"]])
    selector = GroupForwardSelector(groups=[*LABELS, *["copy"] * 4]).fit(both, y)
    assert selector.selected_groups_ in (["c"], ["copy"])


def test_a_category_is_kept_wholly_behind_the_preprocessor():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "tissue": rng.choice(["liver", "lung", "skin"], 90),
            "age": np.where(rng.random(90) < 0.1, np.nan, rng.normal(50, 9, 90)),
            "site": rng.choice(list("uvwxyz"), 90),
        }
    )
    y = frame["tissue"].eq("lung").to_numpy() + 0
    model = make_pipeline(make_preprocessor(frame), GroupForwardSelector()).fit(frame, y)
    assert model[-1].selected_groups_ == ["tissue"]
    kept = ["tissue=liver", "tissue=lung", "tissue=skin"]
    assert model.get_feature_names_out().tolist() == kept
    assert model.transform(frame).shape == (90, 3)
    wider = model[-1].set_params(n_groups_to_select=2).fit(model[0].transform(frame), y)
    for group in wider.groups_:
        columns = [name.partition("=")[0] == group for name in wider.feature_names_in_]
        assert len(set(wider.support_[columns])) == 1


def test_groups_by_name_and_bad_ones():
    assert group_labels("names", 2)[1] == ["x0", "x1"]
    X, y = make(0)
    for arguments, said in (
        ({"groups": "columns"}, 'groups must be "names" or a label'),
        ({"groups": ["a", "b"]}, "groups holds 2 labels for 13 columns"),
        ({"groups": [None] * 13}, "missing labels"),
        ({"groups": LABELS, "n_groups_to_select": 8}, "larger than the 7 groups"),
        ({"n_groups_to_select": 0}, "at least 1"),
        ({"ridge": 0.0}, "ridge must be positive"),
    ):
        with pytest.raises(ValueError, match=said):
            GroupForwardSelector(**arguments).fit(X, y)


def test_constant_columns_and_targets_do_no_harm():
    X, y = make(0, relevant="c")
    X[:, LABELS == "d"] = 3.0
    selector = GroupForwardSelector(7, groups=LABELS).fit(X, y)
    assert np.isfinite(selector.group_scores_).all()
    assert selector.group_scores_[3] == 0.0


def test_scikit_learns_own_checks():
    check_estimator(GroupForwardSelector())
