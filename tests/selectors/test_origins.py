"""Which feature is behind a column of a guest's pipeline, against one perturbation per column."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    Normalizer,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)

from sparsieve import RidgeForwardSelector, SelectorAdapter, SelectorCV, compare, select
from sparsieve.selectors.origins import NO_ORIGIN, NotTraced, origins, transform_by_step

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 6))
Y = (2 * X[:, 4] + 0.3 * X[:, 1] + 0.5 * RNG.standard_normal(60) > 0).astype(int)
SCALED = ColumnTransformer([("scaled", StandardScaler(), [2, 3, 4])], remainder="passthrough")


class Silent(TransformerMixin, BaseEstimator):
    """A user's transformer, which says nothing about names."""

    def __init__(self, function):
        self.function = function

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return self.function(X)


class Resampler(BaseEstimator):
    """As in imbalanced-learn: changes rows, and has no transform."""

    def fit(self, X, y=None):
        return self

    def fit_resample(self, X, y):
        return X, y


def reversed_columns(X):
    return np.asarray(X)[:, ::-1]


def gaps(X):
    """Column 1 is empty, columns 3 and 4 have gaps."""
    X = X.copy()
    X[:, 1], X[:7, 3], X[5:9, 4] = np.nan, np.nan, np.nan
    return X


class Reversed(TransformerMixin, BaseEstimator):
    """A user's transformer that says what it makes."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return reversed_columns(X)

    def get_feature_names_out(self, names):
        return names[::-1]


REVERSED = Reversed()


FOLLOWED = {
    "scaler": (StandardScaler(), range(6)),
    "passthrough": ("passthrough", range(6)),
    "some columns first": (SCALED, [2, 3, 4, 0, 1, 5]),
    "columns by slice and mask": (
        ColumnTransformer(
            [("a", StandardScaler(), slice(4, None)), ("b", "passthrough", X[0] > 9)]
        ),
        [4, 5],
    ),
    "one within another": (
        ColumnTransformer([("a", SCALED, [5, 4, 3, 2, 1, 0])]),
        [3, 2, 1, 5, 4, 0],
    ),
    "dropped and passed": (
        ColumnTransformer([("a", "drop", [0]), ("b", "passthrough", [5, 1])], remainder="drop"),
        [5, 1],
    ),
    "pipeline in a pipeline": (
        make_pipeline(SCALED, make_pipeline(StandardScaler(), SCALED)),
        None,
    ),
    "best of SelectKBest": (SelectKBest(k=2), [1, 4]),
    "union of two parts": (
        make_union(
            ColumnTransformer([("a", "passthrough", [3])]),
            ColumnTransformer([("a", PowerTransformer(), [0, 5])]),
        ),
        [3, 0, 5],
    ),
    "function with names": (
        FunctionTransformer(np.abs, feature_names_out="one-to-one"),
        range(6),
    ),
    "function of every value": (FunctionTransformer(np.tanh), range(6)),
    "names within frames": (
        make_pipeline(
            StandardScaler().set_output(transform="pandas"),
            ColumnTransformer([("a", MaxAbsScaler(), ["x5", "x2"])], remainder="passthrough"),
        ),
        [5, 2, 0, 1, 3, 4],
    ),
    "reversed by names": (REVERSED, range(5, -1, -1)),
    "rows only": (Resampler(), range(6)),
    "lengths of rows": (Normalizer(), range(6)),
}


@pytest.mark.parametrize("case", FOLLOWED)
def test_columns_are_followed(case):
    step, wanted = FOLLOWED[case]
    if not isinstance(step, str | Resampler):
        step = step.fit(X, Y)
    found = origins([step], 6)
    if wanted is not None:
        assert found.tolist() == list(wanted)
    if not isinstance(step, str | Resampler | Normalizer):
        assert found.tolist() == by_single_columns(step, X)


def by_single_columns(step, X):
    """The plain way: change one column after the other, and see which outputs change."""

    def made(X):
        out = transform_by_step(X, step)
        return out.toarray() if sparse.issparse(out) else np.asarray(out)

    before = made(X)
    moved = np.zeros((X.shape[1], before.shape[1]), dtype=bool)
    for j in range(X.shape[1]):
        other = X.copy()
        other[:, j] = X[::-1, j]
        moved[j] = (made(other) != before).any(axis=0)
    assert moved.sum(axis=0).max() == 1
    return [int(column.argmax()) if column.any() else NO_ORIGIN for column in moved.T]


NO_SINGLE = "makes columns that are no single columns of X"
REFUSED = {
    "components": (PCA(), f"PCA {NO_SINGLE}"),
    "polynomials": (PolynomialFeatures(2), f"PolynomialFeatures {NO_SINGLE}"),
    "codes": (make_pipeline(KBinsDiscretizer(3, strategy="uniform")), NO_SINGLE),
    "two views of all": (
        FeatureUnion([("a", StandardScaler()), ("b", "passthrough")]),
        "FeatureUnion makes several columns of one feature",
    ),
    "components of some": (
        ColumnTransformer([("a", PCA(2), [0, 1])], remainder="passthrough"),
        f"PCA {NO_SINGLE}",
    ),
    "no names": (Silent(reversed_columns), "Silent does not say which columns it makes of which"),
    "a function without names": (
        FunctionTransformer(reversed_columns),
        "FunctionTransformer does not say which",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_column_of_x_is_refused(case):
    step, sentence = REFUSED[case]
    with pytest.raises(NotTraced, match=sentence):
        origins([step.fit(X)], 6)


def test_gaps_that_are_filled_keep_their_columns():
    holes = gaps(X)
    assert origins([SimpleImputer().fit(holes)], 6).tolist() == [0, 2, 3, 4, 5]
    filled = X.copy()
    filled[:7, 3] = np.nan
    assert origins([KNNImputer().fit(filled)], 6).tolist() == list(range(6))
    with pytest.raises(NotTraced, match=f"SimpleImputer {NO_SINGLE}"):
        origins([SimpleImputer(add_indicator=True).fit(filled)], 6)


@pytest.mark.parametrize("seed", range(6))
def test_chains_of_steps_against_single_columns(seed):
    rng = np.random.default_rng(seed)
    wide = rng.standard_normal((40, 9))
    steps, n = [], 9
    for _ in range(3):
        some = rng.permutation(n)[: rng.integers(1, n + 1)].tolist()
        rest = "passthrough" if rng.random() < 0.5 else "drop"
        steps.append(ColumnTransformer([("a", MaxAbsScaler(), some)], remainder=rest))
        n = n if rest == "passthrough" else len(some)
    chain = make_pipeline(*steps).fit(wide)
    found = origins([step for _, step in chain.steps], 9)
    assert found.tolist() == by_single_columns(chain, wide)


# -- the guests themselves -----------------------------------------------------------------------


def kept(selector):
    return selector.get_support(indices=True).tolist()


ENDS = {
    "scores": SelectKBest(),
    "coefficients": LogisticRegression(),
    "importances": RandomForestClassifier(10, random_state=0),
    "ranks": RFE(LogisticRegression()),
    "selector of this package": RidgeForwardSelector(),
    "no ranks": SelectFromModel(LogisticRegression(), threshold=0.5),
}


@pytest.mark.parametrize("end", ENDS)
def test_scores_go_to_the_features_whose_columns_were_moved(end):
    guest = ENDS[end]
    plain = SelectorAdapter(make_pipeline(StandardScaler(), guest)).reaching(6).fit(X, Y)
    for first in (SCALED, REVERSED, make_pipeline(SCALED, SCALED)):
        steps = make_pipeline(first, StandardScaler(), guest)
        if end == "importances":  # a forest draws columns by their place
            steps = make_pipeline(first, first, REVERSED, guest)
        moved = SelectorAdapter(steps).reaching(6).fit(X, Y)
        if end != "importances":
            np.testing.assert_allclose(moved.scores_, plain.scores_, rtol=1e-6)
            for k in (1, 2, 4, 6):
                assert kept(moved.at(k)) == kept(plain.at(k))
        assert kept(moved.at(1)) == [4]


def test_features_that_a_step_drops_are_not_ranked():
    guest = make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression())
    found = SelectorAdapter(guest).fit(X, Y)
    seen = SelectKBest(k=3).fit(X, Y).get_support()
    assert found.n_ranked_ == 3
    assert (found.scores_[~seen] == 0).all()
    assert kept(found.at(3)) == np.flatnonzero(seen).tolist()
    with pytest.raises(ValueError, match="more than the 3 features that this fit ranked"):
        found.at(4)
    sentence = "the steps before LogisticRegression leave 3 of the 6 columns of X, fewer than the 4"
    with pytest.raises(ValueError, match=sentence):
        SelectorAdapter(guest, n_features_to_select=4).fit(X, Y)
    inner = SelectorAdapter(make_pipeline(VarianceThreshold(), RidgeForwardSelector(2)))
    wide = np.c_[np.ones(60), X]
    assert kept(inner.fit(wide, Y).at(1)) == [5]
    assert inner.fit(wide, Y).n_ranked_ <= 6


def test_pipelines_at_the_end_of_pipelines_and_searches_are_followed():
    deep = Pipeline(
        [("first", SCALED), ("rest", make_pipeline(StandardScaler(), SelectKBest(k=1)))]
    )
    assert kept(SelectorAdapter(deep).fit(X, Y)) == [4]
    assert kept(SelectorAdapter(deep, n_features_to_select=2).fit(X, Y).at(1)) == [4]
    ours = Pipeline(
        [("first", SCALED), ("rest", make_pipeline(StandardScaler(), RidgeForwardSelector(2)))]
    )
    assert kept(SelectorAdapter(ours).fit(X, Y).at(1)) == [4]
    weights = np.ones(60)
    assert kept(SelectorAdapter(ours).fit(X, Y, sample_weight=weights).at(1)) == [4]
    search = GridSearchCV(
        make_pipeline(SCALED, LogisticRegression()), {"logisticregression__C": [1, 2]}, cv=2
    )
    assert kept(SelectorAdapter(search).fit(X, Y).at(1)) == [4]


def test_a_pipeline_inside_a_selector_must_leave_columns_in_place():
    by_end = {"importance_getter": "named_steps.logisticregression.coef_"}
    for step, is_right in ((StandardScaler(), True), (REVERSED, False)):
        for outer in (SelectFromModel, RFE):
            guest = outer(make_pipeline(step, LogisticRegression()), **by_end)
            if is_right:
                assert kept(SelectorAdapter(guest, n_features_to_select=1).fit(X, Y)) == [4]
                continue
            with pytest.raises(ValueError, match=f"the pipeline inside {outer.__name__} moves"):
                SelectorAdapter(guest, n_features_to_select=1).fit(X, Y)


def test_select_and_compare_refuse_what_is_no_feature_in_a_sentence():
    names = ["sex", "smoker", "age", "bmi", "marker", "noise"]
    frame = pd.DataFrame(X, columns=names)
    followed = make_pipeline(SCALED, SelectKBest(k=3))
    assert select(frame, Y, k=1, method=followed, check=False).features == ["marker"]
    mixed = make_pipeline(PCA(), LogisticRegression())
    with pytest.raises(ValueError, match="PCA, a step before LogisticRegression, makes"):
        select(frame, Y, k=1, method=mixed, check=False)
    found = compare(frame, Y, ["fisher", ("by components", mixed)], ks=[1], cv=2, n_repeats=1)
    assert "no single columns of X" in found.left_out["by components"]
    named = make_pipeline(
        ColumnTransformer([("a", StandardScaler(), ["age"])]), LogisticRegression()
    )
    with pytest.raises(
        ValueError, match="looks for the column 'age', but methods get X as an array"
    ):
        select(frame, Y, k=1, method=named, check=False)


def test_a_guest_that_moved_columns_is_copied_and_pickled():
    guest = make_pipeline(VarianceThreshold(), SCALED, RidgeForwardSelector(3))
    fitted = SelectorAdapter(guest).fit(np.c_[np.ones(60), X], Y)
    loaded = pickle.loads(pickle.dumps(fitted))
    assert kept(loaded.at(1)) == kept(fitted.at(1)) == [5]
    again = fitted.fit(X, Y)  # nothing is left of the first fit
    assert kept(again.at(1)) == [4]


# -- what prepares X -----------------------------------------------------------------------------


def totals_first(X):
    """Samples scaled by their sizes: mixes columns, and leaves each in its place."""
    return X / np.abs(X).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_preparation_must_leave_columns_in_place(as_frame):
    given = pd.DataFrame(X, columns=list("abcdef")) if as_frame else X
    fifth = "e" if as_frame else "x4"
    for fine in (StandardScaler(), "impute", FunctionTransformer(np.tanh), KNNImputer()):
        assert select(given, Y, k=1, prepare=fine, method="fisher", check=False).features == [fifth]
    if not as_frame:
        step = FunctionTransformer(totals_first, feature_names_out="one-to-one")
        how = {"prepare": step, "method": "fisher", "check": False}
        assert select(given, Y, k=1, **how).features == ["x4"]
    for step, why in (
        (SCALED, "moves columns to other places"),
        (PCA(), "makes columns that are no single columns of X"),
        (FunctionTransformer(reversed_columns), "feature_names_out='one-to-one'"),
    ):
        sentence = f"{type(step).__name__} .*{why}.* must leave every column in its place"
        with pytest.raises(ValueError, match=sentence):
            select(given, Y, k=1, prepare=step, method="fisher", check=False)
        with pytest.raises(ValueError, match=sentence):
            compare(given, Y, ["fisher"], ks=[1], cv=2, n_repeats=1, prepare=step)
        with pytest.raises(ValueError, match=sentence):
            SelectorCV("fisher", ks=[1], cv=2, prepare=step).fit(given, Y)
