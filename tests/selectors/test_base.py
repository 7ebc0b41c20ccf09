"""What BaseSelector offers on top of ranking."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsieve import (
    ExactPenaltySVMSelector,
    ExclusiveL21Selector,
    FisherSelector,
    L0MKLSelector,
    L0SVMSelector,
    L21Selector,
    LInfSelector,
    MIKFSSelector,
    RFSSelector,
    RidgeForwardSelector,
    SMPMSelector,
)
from sparsieve.selectors.base import FeatureScores
from sparsieve.validation.columns import FixedColumns


def test_ranking_breaks_ties_by_second_score_then_column():
    scores = np.array([1.0, 2.0, 1.0, 1.0, 0.0])
    ties = np.array([0.0, 0.0, 5.0, 0.0, 9.0])
    found = FeatureScores(scores, n_kept=2, ties=ties)
    assert found.ranking().tolist() == [3, 1, 2, 4, 5]


def test_ranking_is_a_sort_by_several_keys(rng):
    for _ in range(50):
        n = int(rng.integers(1, 30))
        scores = rng.choice([0.0, -0.0, 1.0, -2.0, np.inf, np.nan], n)
        constant, order = rng.random(n) < 0.3, rng.permutation(n)[: rng.integers(0, n + 1)]
        place = np.full(n, n)
        place[order] = np.arange(len(order))
        found = FeatureScores(scores, n_kept=1, order=order, constant=constant).ranking()
        best = np.lexsort((np.arange(n), -scores, constant, place))
        np.testing.assert_array_equal(np.argsort(found), best)


def test_constants_and_forbidden_features_rank_last():
    found = FeatureScores(np.arange(4.0), n_kept=2, constant=np.array([False, True, False, True]))
    assert found.ranking().tolist() == [2, 4, 1, 3]
    forced = np.array([False, False, False, True])
    assert FixedColumns(forced, ~forced).rank(found.ranking()).tolist() == [3, 4, 2, 1]


def test_substitutes_are_the_copies_left_out(rng):
    X = rng.standard_normal((60, 6))
    y = np.arange(60) % 2
    X[:, 0] += 3 * y
    X[:, 4] = -X[:, 0] + 0.01 * rng.standard_normal(60)
    X[:, 5] = 2.0
    selector = FisherSelector(n_features_to_select=1).fit(X, y)
    (chosen,) = selector.get_support(indices=True)
    substitutes = selector.find_substitutes(X)
    ((other, correlation),) = substitutes[chosen]
    assert {chosen, other} == {0, 4}
    assert correlation == pytest.approx(np.corrcoef(X[:, 0], X[:, 4])[0, 1])
    assert selector.substitutes_ == substitutes
    from_sparse = selector.find_substitutes(sparse.csr_array(X))
    assert from_sparse[chosen][0][0] == other
    with pytest.raises(ValueError, match="threshold must be positive"):
        selector.find_substitutes(X, threshold=0)


def test_substitutes_by_name(rng):
    X = pd.DataFrame(rng.standard_normal((40, 3)), columns=["a", "b", "c"])
    y = (X["a"] > 0).astype(int)
    X["c"] = X["a"] * 2
    selector = RidgeForwardSelector(n_features_to_select=1).fit(X, y)
    assert selector.find_substitutes(X) == {"a": [("c", pytest.approx(1.0))]}


def test_classes_of_an_earlier_fit_are_forgotten(rng):
    X = rng.standard_normal((30, 5))
    selector = RidgeForwardSelector(2).fit(X, np.arange(30) % 3)
    assert len(selector.classes_) == 3
    assert not hasattr(selector.fit(X, X[:, 0]), "classes_")


def test_zero_weight_samples_do_not_count(rng):
    X, y = rng.standard_normal((30, 5)), np.arange(30) % 3
    weights = (np.arange(30) < 20).astype(float)
    kept = FisherSelector().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(kept.scores_, FisherSelector().fit(X[:20], y[:20]).scores_)
    with pytest.raises(ValueError, match=r"at least one non-zero|zero for every sample"):
        FisherSelector().fit(X, y, sample_weight=np.zeros(30))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        FisherSelector().fit(X, y, sample_weight=-weights)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("damage", ["large index", "negative index", "pointers fall", "too far"])
def test_a_damaged_sparse_matrix_is_refused_before_anything_is_done_with_it(kind, damage):
    X = kind(sparse.random(60, 70, density=0.2, random_state=0))
    X.indices, X.indptr = X.indices.copy(), X.indptr.copy()
    if damage == "large index":
        X.indices[5] = 1000
    elif damage == "negative index":
        X.indices[5] = -1
    elif damage == "pointers fall":
        X.indptr[10] = X.indptr[12] + 5
    else:
        X.indptr[-1] += 7
    for selector in (RidgeForwardSelector(3), L21Selector(3)):
        with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
            selector.fit(X, np.arange(60) % 2)


@pytest.mark.parametrize(
    "strong",
    [
        L0SVMSelector(C=1e-3),
        ExactPenaltySVMSelector(C=1e-3),
        L21Selector(alpha=1e4),
        LInfSelector(alpha=1e4),
        ExclusiveL21Selector(alpha=1e4),
        RFSSelector(alpha=1e4),
        L0MKLSelector(lambda2=1e4),
        MIKFSSelector(lambda2=1e4),
        SMPMSelector(alpha=1.5),
    ],
    ids=lambda one: type(one).__name__,
)
def test_more_features_than_carry_weight_are_said_in_one_sentence(strong, rng):
    X = rng.normal(size=(60, 8))
    y = (X[:, 2] > 0).astype(int)
    strong.set_params(n_features_to_select=5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        strong.fit(X, y)
    few = [str(one.message) for one in caught if "weight in this model" in str(one.message)]
    assert len(few) == 1
    assert re.match(
        r"(No feature has|Only \d features? ha\w+) a nonzero weight in this model; .* "
        r"ranked by .*; .*request fewer features$",
        few[0],
    )
    # The first of those without weight is the one that the classes follow.
    assert strong.support_[2]


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_gaps_of_a_data_frame_pass_transform(library, output):
    """Columns are only picked; a fit refuses gaps where the method cannot use them."""
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    X = {f"c{j}": rng.standard_normal(30) for j in range(4)}
    y = (X["c1"] + X["c2"] > 0).astype(int)
    selector = FisherSelector(2).fit(frames.DataFrame(X), y).set_output(transform=output)
    X["c0"][0] = X["c1"][5] = np.nan
    kept = np.asarray(selector.transform(frames.DataFrame(X)), dtype=float)
    np.testing.assert_array_equal(kept, np.column_stack([X["c1"], X["c2"]]))
    X["c0"][1] = np.inf
    if library != "pandas" or output == "default":  # scikit-learn does not look at the others
        with pytest.raises(ValueError, match="infinity"):
            selector.transform(frames.DataFrame(X))
    with pytest.raises(ValueError, match="NaN"):
        FisherSelector(2).fit(frames.DataFrame(X), y)
