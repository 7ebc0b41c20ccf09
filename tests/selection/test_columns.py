"""Columns by name: the target, the groups, genes."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve import RidgeForwardSelector, compare, select

pytestmark = pytest.mark.usefixtures("lines_only")

pd = pytest.importorskip("pandas")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    made = pd.DataFrame(rng.standard_normal((48, 6)), columns=list("abcdef"))
    made["kind"] = np.array(["u", "v"])[np.arange(48) % 2]
    made["donor"] = np.arange(48) // 4
    made["c"] += 2.0 * (made["kind"] == "u")
    return made


@pytest.mark.parametrize(
    "library",
    [
        "pandas",
        pytest.param(
            "polars",
            marks=pytest.mark.needs_sklearn(
                "1.7",
                "scikit-learn 1.6 reads polars by a protocol that new versions of polars dropped",
            ),
        ),
    ],
)
def test_a_column_is_the_target(frame, library):
    given = frame if library == "pandas" else pytest.importorskip("polars").from_pandas(frame)
    plain = frame[list("abcdef")]
    selected = select(given, "kind", 2, groups="donor", check=True)
    by_hand = select(plain, frame["kind"], 2, groups=frame["donor"], check=True)
    assert selected.features == by_hand.features
    assert selected.check == by_hand.check
    assert list(selected.X.columns) == list("abcdef")
    options = {"ks": [1, 2], "n_repeats": 1}
    found = compare(given, "kind", ["fisher"], groups="donor", **options)
    other = compare(plain, frame["kind"], ["fisher"], groups=frame["donor"], **options)
    assert list(found.data.names) == list("abcdef")
    np.testing.assert_array_equal(
        found.methods["fisher"].scores["accuracy"], other.methods["fisher"].scores["accuracy"]
    )


@pytest.mark.parametrize("function", [lambda *a, **o: select(*a, k=1, **o), compare])
def test_columns_that_cannot_be(frame, function):
    missing = frame.copy()
    missing.loc[[3, 4], "kind"] = None
    gaps = frame.copy()
    gaps.loc[3, "b"] = np.nan
    for arguments, options, kind, said in (
        ((frame, "knd"), {}, ValueError, "X has no column 'knd'; did you mean 'kind'?"),
        (
            (frame, "kind"),
            {"groups": "doner"},
            ValueError,
            "no column 'doner'; did you mean 'donor'",
        ),
        (
            (frame, "kind"),
            {"groups": "kind"},
            ValueError,
            "y and groups both name the column 'kind'",
        ),
        (
            (missing, "kind"),
            {},
            ValueError,
            "column 'kind' has no value in 2 of 48 rows; leave them",
        ),
        (
            (gaps.drop(columns="kind").select_dtypes("number").to_numpy(), gaps["kind"]),
            {},
            ValueError,
            "); impute or drop them, for examp",
        ),
        ((np.eye(8), "kind"), {}, TypeError, "y='kind' names a column, but X is of type ndarray"),
        (
            (np.eye(8), [0, 1] * 4),
            {"groups": "d"},
            TypeError,
            "groups='d' names a column, but X is",
        ),
        ((np.eye(8), [0, 1] * 4), {"layer": "raw"}, ValueError, "layer='raw' is for AnnData"),
    ):
        with pytest.raises(kind) as caught:
            function(*arguments, **options)
        assert said in str(caught.value)


def test_new_data_are_prepared_alike(frame):
    X, y = frame[list("abcdef")].abs(), frame["kind"]
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    new = X.iloc[::-1].reset_index(drop=True)
    filled = np.log1p(new.fillna(X.median()))
    for k in (2, "auto"):
        selected = select(X, y, k, prepare=["impute", "log"])
        kept = selected.selector.get_support()
        np.testing.assert_allclose(np.asarray(selected.transform(new)), filled.to_numpy()[:, kept])


@pytest.fixture
def cells(frame):
    anndata = pytest.importorskip("anndata")
    counts = np.random.default_rng(0).poisson(2.0, (48, 30)).astype(np.float32)
    counts[:, 7] += 6 * (frame["kind"] == "u")
    obs = frame[["kind", "donor"]].set_index(frame.index.astype(str))
    made = anndata.AnnData(sparse.csr_matrix(np.zeros_like(counts)), obs=obs)
    made.layers["counts"] = sparse.csr_matrix(counts)
    made.var_names = [f"gene{j}" for j in range(30)]
    return made


def test_annotated_data_by_names(cells):
    selected = select(
        cells, "kind", 3, layer="counts", groups="donor", prepare="log-cpm",
        always_keep=["gene3"], never_keep=["gene7"],
    )  # fmt: skip
    assert "gene3" in selected.features
    assert "gene7" not in selected.features
    assert sparse.issparse(selected.X)
    assert selected.groups.tolist() == cells.obs["donor"].tolist()
    with pytest.raises(ValueError, match="never_keep: 'gene99' is not a column of X; did you mean"):
        select(cells, "kind", 3, layer="counts", never_keep=["gene99"])


def test_annotated_data_are_compared(cells):
    options = {"ks": [1, 2], "n_repeats": 1, "layer": "counts", "groups": "donor"}
    found = compare(cells, "kind", ["fisher", "f-statistic"], **options)
    assert found.consensus["feature"][0] == "gene7"
    assert sparse.issparse(found.data.X)
    assert found.data.groups.tolist() == cells.obs["donor"].tolist()
    with pytest.raises(ValueError, match="adata has no layer 'count'; did you mean 'counts'"):
        compare(cells, "kind", ["fisher"], layer="count")


def test_reports_hold_groups_out_together_and_prepare_inside_folds():
    """Copies of samples predict each other, unless their groups keep them in one fold."""
    from sparsieve.app.report.assessment import assess
    from sparsieve.preprocessing.covariates import preparation
    from sparsieve.selection.selected_data import SelectedData

    rng = np.random.default_rng(0)
    X, y = np.tile(rng.random((24, 40)), (4, 1)), np.tile(np.arange(24) % 2, 4)
    X[0, 0] = np.nan
    filled = np.nan_to_num(X)
    kept = SelectedData.from_selector(RidgeForwardSelector(12).fit(filled, y), filled, y, None)
    scores = []
    for groups in (None, np.tile(np.arange(24), 4)):
        found = assess(kept, X, n_folds=4, seed=0, groups=groups, prepare=preparation("impute"))
        assert found.reason == ""
        scores.append(found.main["mean"])
    assert scores[0] > 0.85 > 0.8 > scores[1]
