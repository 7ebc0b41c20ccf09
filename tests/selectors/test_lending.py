"""Other people's code may write into what it is given, and nobody else notices."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sparsieve import (
    EnsembleSelector,
    SelectorAdapter,
    SelectorCV,
    StabilitySelection,
    compare,
    select,
)
from sparsieve.scoring import Folds
from sparsieve.selectors.methods import as_selector
from sparsieve.selectors.origins import call_with_views
from sparsieve_experiments.studies import DatasetSpec, Study, run_study

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 6))
Y = (X[:, 4] + 0.5 * RNG.standard_normal(60) > 0).astype(int)


def careful(X, y):
    X = X.toarray() if sparse.issparse(X) else np.array(X)
    return np.abs(np.corrcoef(X.T, y)[:-1, -1])


def careless(X, y):
    """Destroys what it is given, at the end."""
    scores = careful(X, y)
    if sparse.issparse(X):
        X.data[:] = 0.0
    else:
        X[:] = 0.0
    y[:] = 0
    return scores


class Careless(BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        self.scores_ = careless(X, y)
        if sample_weight is not None:
            sample_weight[:] = 0.0
        return self


def centred_in_place(X):
    X -= X.mean(axis=0)
    return X


CENTRED_IN_PLACE = FunctionTransformer(centred_in_place, feature_names_out="one-to-one")
GUESTS = {
    "function": careless,
    "estimator": Careless(),
    "function within a selector": SelectKBest(careless, k=3),
    "scaler in place": make_pipeline(StandardScaler(copy=False), SelectKBest(careless, k=3)),
    "step in place": make_pipeline(CENTRED_IN_PLACE, SelectKBest(careless)),
}


@pytest.mark.parametrize("guest", GUESTS.values(), ids=list(GUESTS))
@pytest.mark.parametrize(
    "form",
    [
        np.copy,
        np.asfortranarray,
        np.float32,
        pd.DataFrame,
        sparse.csr_array,
        sparse.csc_array,
    ],
    ids=lambda form: form.__name__,
)
def test_what_a_guest_writes_stays_with_it(guest, form):
    if sparse.issparse(form(X)) and hasattr(guest, "fit") and not hasattr(guest, "k"):
        pytest.skip("it says that it takes no sparse matrix")
    given, y, weights = form(X), Y.copy(), np.ones(60)
    before = given.copy()
    fitted = SelectorAdapter(guest, n_features_to_select=1).fit(given, y)
    differs = (given != before) if not isinstance(given, pd.DataFrame) else (given != before).values
    assert not differs.sum()
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_allclose(fitted.scores_, careful(X, Y), rtol=1e-4)
    if isinstance(guest, Careless):
        SelectorAdapter(guest).fit(given, y, sample_weight=weights)
        assert (weights == 1.0).all()


def test_compare_scores_the_others_on_what_the_user_gave():
    given, y = X.copy(), Y.copy()
    found = compare(given, y, [careless, "f-statistic"], ks=[1], cv=3, n_repeats=1)
    alone = compare(X, Y, ["f-statistic"], ks=[1], cv=3, n_repeats=1)
    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(y, Y)
    for one, two in zip(*(r.curve("f-statistic", "accuracy") for r in (found, alone)), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "around",
    [
        lambda guest: SelectorCV(guest, ks=[1, 2], cv=2),
        lambda guest: StabilitySelection(guest, n_subsamples=4, n_features_to_select=1),
        lambda guest: EnsembleSelector([guest, "fisher"], n_features_to_select=1),
    ],
)
def test_selectors_around_a_careless_guest(around):
    given, y = X.copy(), Y.copy()
    found = around(careless).fit(given, y)
    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(y, Y)
    wanted = around(careful).fit(X, Y)
    np.testing.assert_array_equal(found.scores_, wanted.scores_)


def test_select_around_a_careless_guest():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    before = frame.copy()
    assert select(frame, Y, k=1, method=careless, check=False).features == ["e"]
    pd.testing.assert_frame_equal(frame, before)


def test_a_study_around_a_careless_guest(tmp_path):
    data = {"X": X.copy(), "y": Y.copy()}
    spec = DatasetSpec("mine", data=data)
    study = Study(
        "careless",
        [spec],
        [f"{__name__}:careless", "fisher"],
        Folds(3),
        ks=[1],
        classifiers=["1nn"],
        allow_import=True,
    )
    assert run_study(study, tmp_path / "store.sqlite").failed == 0
    np.testing.assert_array_equal(data["X"], X)
    np.testing.assert_array_equal(data["y"], Y)


def test_nothing_is_copied_for_those_who_only_read():
    seen = []

    def reader(X, y):
        seen.append(X)
        return f_classif(X, y)[0]

    given = X.copy()
    as_selector(reader).fit(given, Y)
    assert len(seen) == 1
    assert np.shares_memory(seen[0], given)


def test_errors_that_are_not_about_writing_come_out_at_once():
    calls = []

    def broken(X):
        calls.append(1)
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        call_with_views(broken, X)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "write",
    [
        lambda X: X.sort(axis=0),
        lambda X: np.random.default_rng(0).shuffle(X),
        lambda X: np.nan_to_num(X, copy=False),
        lambda X: np.add(X, 1, out=X),
        lambda X: X.fill(0.0),
    ],
)
def test_every_way_to_write_is_noticed(write):
    given = X.copy()
    call_with_views(write, given)
    np.testing.assert_array_equal(given, X)


def test_a_sparse_matrix_can_be_put_in_order_by_a_guest():
    thin = sparse.csr_array((X * (np.abs(X) > 1))[:, ::-1])
    thin.indices[:2] = thin.indices[:2][::-1]
    thin.has_sorted_indices = False
    before = thin.indices.copy()

    def tidy(X):
        X.sort_indices()
        X.eliminate_zeros()
        return X.nnz

    assert call_with_views(tidy, thin) == thin.nnz
    np.testing.assert_array_equal(thin.indices, before)


class Empty:
    """Keeps nothing and ranks nothing."""

    def fit(self, X, y):
        return self

    def get_support(self):
        return np.zeros(6, dtype=bool)


@pytest.mark.parametrize("k", [None, 2])
def test_a_guest_that_keeps_nothing_is_refused_in_a_sentence(k):
    with pytest.raises(ValueError, match="Empty keeps none of the 6 features and does not rank"):
        select(X, Y, k=k, method=Empty(), check=False)


def test_what_prepares_x_in_place_leaves_the_users_alone():
    for step in (StandardScaler(copy=False), CENTRED_IN_PLACE):
        for given in (X.copy(), pd.DataFrame(X, columns=list("abcdef"))):
            how = {"prepare": step, "check": False}
            selected = select(given, Y, k=1, method="fisher", **how)
            selected.transform(given)
            compare(given, Y, ["fisher"], ks=[1], cv=2, n_repeats=1, prepare=step)
            SelectorCV("fisher", ks=[1], cv=2, prepare=step).fit(given, Y).predict(given)
            np.testing.assert_array_equal(np.asarray(given), X)
