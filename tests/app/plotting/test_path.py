import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError

from sparsieve import (
    FisherSelector,
    L20Selector,
    L21Selector,
    LikelihoodL21Selector,
    MRMRSelector,
    PathDisplay,
    RFSSelector,
    RidgeForwardSelector,
    RobustL20Selector,
    SelectorCV,
    SVMRFESelector,
    all_selectors,
)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_objective_over_the_features_of_a_nested_path(wine, drawn):
    X, y = wine
    selector = RidgeForwardSelector(n_features_to_select=6).fit(X, y).at(4)
    display = PathDisplay.from_estimator(selector)
    assert display.kind == "objective"
    (line,) = display.lines_
    np.testing.assert_array_equal(line.get_xdata(), np.arange(7))
    np.testing.assert_array_equal(line.get_ydata(), selector.path_.objective)
    shown = drawn(display)
    assert shown[:7] == ["nothing", *X.columns[selector.path_.features]]
    assert "kept: 4" in shown


def test_a_long_path_is_numbered_instead_of_named():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = RidgeForwardSelector(n_features_to_select=15).fit(X, y)
    display = PathDisplay.from_estimator(selector, n_features=5)
    assert display.ax_.get_xlabel() == "number of features"
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), selector.path_.objective)


def test_covariates_do_not_count_on_the_path(wine):
    X, y = wine
    selector = RidgeForwardSelector(n_features_to_select=5, always_keep=["ash", "hue"]).fit(X, y)
    assert PathDisplay.from_estimator(selector).n_kept == 3


def test_strengths_of_entry(wine, drawn):
    X, y = wine
    selector = L21Selector(n_features_to_select=6).fit(X, y).at(4)
    display = PathDisplay.from_estimator(selector)
    assert display.kind == "entry"
    kept, rest = display.lines_
    both = np.concatenate([kept.get_xdata(), rest.get_xdata()])
    np.testing.assert_array_equal(both, selector.path_.strength[1:])
    assert len(kept.get_xdata()) == 4
    assert drawn(display)[-2:] == ["kept", "left out"]
    assert display.names == list(X.columns[selector.path_.features])


def test_a_homotopy_is_drawn_in_order_of_entry(wine):
    selector = L20Selector(n_features_to_select=6, solver="hiht").fit(*wine)
    display = PathDisplay.from_estimator(selector)
    assert display.kind == "entry"
    assert (np.diff(display.x) <= 0).all()
    strengths = dict(zip(selector.path_.features, selector.path_.strength[1:], strict=True))
    by_name = {wine[0].columns[j]: strength for j, strength in strengths.items()}
    assert dict(zip(display.names, display.x, strict=True)) == by_name


def test_scores_of_entry(wine):
    selector = MRMRSelector(n_features_to_select=5).fit(*wine)
    display = PathDisplay.from_estimator(selector)
    assert (display.kind, display.x_name) == ("entry", "score when picked")
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), selector.path_scores_)


def not_nested():
    rng = np.random.default_rng(0)
    for _ in range(50):
        X = rng.standard_normal((40, 25)) @ (np.eye(25) + 0.5 * rng.standard_normal((25, 25)))
        selector = L20Selector(n_features_to_select=10, task="regression")
        selector.fit(X, X[:, :8].sum(axis=1))
        if len(np.unique(np.concatenate(selector.path_.supports))) > 10:
            return selector
    raise AssertionError("all paths were nested")


def test_supports_that_take_back_earlier_choices():
    selector = not_nested().at(7)
    display = PathDisplay.from_estimator(selector)
    assert display.kind == "supports"
    (cells,) = display.lines_
    mask = np.asarray(cells.get_array()).reshape(display.values.shape).astype(bool)
    assert mask.sum(axis=0).tolist() == list(range(1, 11))
    for k in (1, 5, 10):
        names = {f"x{j}" for j in selector.path_.supports[k]}
        assert {name for name, row in zip(display.names, mask, strict=True) if row[k - 1]} == names
    assert display.n_kept == 7
    few = PathDisplay.from_estimator(selector, n_features=3)
    assert few.values.shape == (3, 10)
    assert "the first 3 of" in few.ax_.get_ylabel()


def test_a_robust_path_and_a_mere_order(wine):
    robust = RobustL20Selector(n_features_to_select=5, alpha=5.0).fit(*wine)
    display = PathDisplay.from_estimator(robust)
    assert display.kind in ("objective", "supports")
    assert display.x[-5:].tolist() == [1, 2, 3, 4, 5]
    order = PathDisplay.from_estimator(SVMRFESelector(n_features_to_select=4).fit(*wine))
    assert order.kind == "supports"
    np.testing.assert_array_equal(order.values, np.triu(np.ones((13, 13), dtype=bool)))


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "selector",
    [L21Selector(), L21Selector(standardize=False), RFSSelector(), LikelihoodL21Selector()],
)
@pytest.mark.long("many fits to full accuracy")
def test_norms_over_the_strength(wine, selector):
    X, y = wine
    selector = clone(selector)
    display = PathDisplay.from_estimator(selector, X, y)
    assert display.kind == "norms"
    assert not hasattr(selector, "n_features_in_")  # a copy was used
    path = selector.path(X, y)
    assert len(display.x) == len(path) == 50
    assert len(display.lines_) == min(10, len(display.values))
    kept = path.n_features[1:]  # without the empty selection
    np.testing.assert_array_equal((display.values > 0).sum(axis=0), kept)
    # The last strength, in the units of the model.
    dense = path.coefs[-1].toarray()
    scale = X.std(axis=0, ddof=0).to_numpy() if selector.standardize else 1.0
    norms = np.linalg.norm(dense, axis=0) * scale
    for name, line in zip(display.names, display.lines_, strict=True):
        assert line.get_ydata()[-1] == pytest.approx(norms[X.columns.get_loc(name)], abs=1e-12)
    left, right = display.ax_.get_xlim()
    assert left > right  # from strong to weak


def test_awkward_names_and_given_axes(awkward, drawn):
    X, y = awkward
    expected = {"<b>$x_1", "$x$", "a_$b"}
    for display in (
        PathDisplay.from_estimator(L21Selector(), X, y),
        PathDisplay.from_estimator(L21Selector(8).fit(X, y)),
        PathDisplay.from_estimator(RidgeForwardSelector(8).fit(X, y)),
        PathDisplay.from_estimator(SVMRFESelector(2).fit(X, y)),
    ):
        assert expected <= set(drawn(display)), display.kind
    _, ax = plt.subplots()
    display = PathDisplay.from_estimator(RidgeForwardSelector(3).fit(X, y), ax=ax, color="red")
    assert display.ax_ is ax
    assert display.lines_[0].get_color() == "red"


def test_refusals(wine):
    X, y = wine
    with pytest.raises(NotFittedError, match="RidgeForwardSelector is not fitted yet"):
        PathDisplay.from_estimator(RidgeForwardSelector())
    with pytest.raises(ValueError, match="FisherSelector has no path_ to draw; RankingDisplay"):
        PathDisplay.from_estimator(FisherSelector().fit(X, y))
    with pytest.raises(ValueError, match="no path_ to draw; pass X and y as well"):
        PathDisplay.from_estimator(L21Selector(alpha=5.0).fit(X, y))
    with pytest.raises(ValueError, match="FisherSelector has no method path"):
        PathDisplay.from_estimator(FisherSelector(), X, y)
    with pytest.raises(ValueError, match="SelectorCV has no path_ to draw; draw its selector_ ins"):
        PathDisplay.from_estimator(SelectorCV(ks=[2]).fit(X, y))
    with pytest.raises(ValueError, match="n_features must be an integer"):
        PathDisplay.from_estimator(RidgeForwardSelector().fit(X, y), n_features=1.5)
    with pytest.raises(ValueError, match="kind must be one of norms"):
        PathDisplay("pie", np.arange(2), "x", [], np.arange(2)).plot()


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", list(all_selectors()))
def test_every_selector_is_drawn_or_refused_in_a_sentence(name, fitted_by_name):
    selector = fitted_by_name(name)
    if hasattr(selector, "path_"):
        PathDisplay.from_estimator(selector).figure_.canvas.draw()
    else:
        with pytest.raises(ValueError, match=f"{name} has no path_ to draw; "):
            PathDisplay.from_estimator(selector)
