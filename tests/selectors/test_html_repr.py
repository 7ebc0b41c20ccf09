"""What notebooks show of selectors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr, get_tags

from sparsieve import (
    FisherSelector,
    L21Selector,
    RidgeForwardSelector,
    RobustL20Selector,
    RPMFSSelector,
    SelectorCV,
    all_selectors,
)

SUMMARY = "sparsieve-selection"


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def shown(selector):
    return selector._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("name", list(all_selectors()))
@pytest.mark.long("RPMFS, the slowest method, is among the cases")
def test_every_selector_fitted_or_not(name, wine):
    cls = all_selectors()[name]
    selector = cls(n_subsamples=4) if name == "StabilitySelection" else cls()
    before = shown(selector)
    assert SUMMARY not in before
    assert "sk-top-container" in before
    assert name in before
    html = shown(selector.fit(*wine))
    assert f"Kept {selector.support_.sum()} of 13 features" in html
    # Selectors that need no target do not look at it.
    assert ("3 classes: 0, 1, 2" in html) == hasattr(selector, "classes_")
    assert hasattr(selector, "classes_") == get_tags(selector).target_tags.required
    assert "sk-top-container" in html
    assert "Not converged" not in html
    first = np.flatnonzero(selector.ranking_ == 1)[0]
    assert (wine[0].columns[first] in html) == bool(selector.support_.any())


def test_the_first_features_and_large_numbers(rng):
    X = rng.standard_normal((30, 2345))
    selector = FisherSelector(n_features_to_select=1200).fit(X, np.arange(30) % 2)
    html = shown(selector)
    assert "Kept 1,200 of 2,345 features" in html
    summary = html[: html.index("<style>")]
    best = np.argsort(selector.ranking_)[:11]
    assert all(f">x{j}<" in summary for j in best[:10])
    assert f">x{best[10]}<" not in summary
    assert f"{selector.scores_[best[0]]:.4g}" in summary
    assert "and 1,190 more" in summary


def test_text_from_the_data_is_escaped(rng):
    evil = "<script>alert(1)</script>"
    X = pd.DataFrame(rng.standard_normal((20, 2)), columns=[evil, "<img src=x onerror=alert(2)>"])
    y = np.where(np.arange(20) % 2, evil, "</div><b>b")
    for selector in (FisherSelector(2), SelectorCV(FisherSelector(), ks=[1, 2], cv=2)):
        html = shown(selector.fit(X, y))
        assert evil not in html
        assert "<img" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
        summary = html[: html.index("<style>")]
        assert summary.count("<div") == summary.count("</div>")


def test_targets_that_are_numbers():
    X, y = load_diabetes(return_X_y=True)
    y = y + 0.5  # whole numbers would be classes
    assert "target: numbers" in shown(RidgeForwardSelector(3).fit(X, y))
    assert "target: 2 columns of numbers" in shown(RidgeForwardSelector(3).fit(X, X[:, :2] + 1))
    assert "target: numbers" in shown(L21Selector(3).fit(X, y).at(2))


def test_many_classes_and_features_that_are_always_kept(wine):
    X, _ = wine
    selector = RidgeForwardSelector(3, always_keep=["ash"]).fit(X, np.arange(178) % 9)
    html = shown(selector)
    assert "9 classes: 0, 1, 2, 3, 4, 5 and 3 more" in html
    assert "kept by request" in html


@pytest.mark.parametrize(
    "selector",
    [
        L21Selector(alpha=5.0, max_iter=1),
        RPMFSSelector(max_iter=1),
        RobustL20Selector(3, solver="irls", max_iter=1),
    ],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.long("RPMFS, the slowest method, is among the cases")
def test_what_did_not_converge_says_so_until_it_does(selector, wine):
    with pytest.warns(ConvergenceWarning):
        selector.fit(*wine)
    assert "Not converged" in shown(selector)
    selector.set_params(max_iter=5000)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        selector.fit(*wine)
    assert "Not converged" not in shown(selector)


def test_certificates_are_shown(wine):
    selector = L21Selector(alpha=5.0).fit(*wine)
    html = shown(selector)
    assert f"objective {selector.objective_:.4g}" in html
    assert f"optimality {selector.optimality_:.2g}" in html
    assert f"{selector.n_iter_} iterations" in html
    search = SelectorCV(ks=[1, 4]).fit(*wine)
    assert f"cross-validated score {search.best_score_:.3g}" in shown(search)


def test_plain_text_where_asked_for(wine):
    selector = FisherSelector(2).fit(*wine)
    with config_context(display="text"):
        assert not hasattr(selector, "_repr_html_")
        assert "text/html" not in selector._repr_mimebundle_()
    assert SUMMARY in selector._repr_html_()


def test_a_failed_fit_is_shown_without_a_selection(wine):
    X, y = wine
    selector = FisherSelector(n_features_to_select=0)
    with pytest.raises(ValueError, match="at least 1"):
        selector.fit(X, y)
    assert SUMMARY not in shown(selector)


def test_diagrams_of_pipelines_are_those_of_scikit_learn(wine):
    X, y = wine
    pipeline = make_pipeline(RidgeForwardSelector(3), LogisticRegression(max_iter=5000)).fit(X, y)
    html = shown(pipeline)
    assert "RidgeForwardSelector" in html
    assert SUMMARY not in html
    assert SUMMARY not in estimator_html_repr(pipeline[0])  # ours is above it


def test_the_link_to_the_documentation_is_that_of_the_package(wine, monkeypatch):
    selector = FisherSelector(3).fit(*wine)
    monkeypatch.setattr("sparsieve.selectors.fitted.documentation", lambda: "")
    assert selector._get_doc_link() == ""
    monkeypatch.setattr("sparsieve.selectors.fitted.documentation", lambda: "https://docs.test")
    assert selector._get_doc_link() == "https://docs.test/api/sparsieve.FisherSelector.html"
    assert "https://docs.test/api/sparsieve.FisherSelector.html" in shown(selector)


def test_the_address_of_the_documentation_comes_from_the_metadata(monkeypatch):
    from email.message import Message

    from sparsieve.selectors import fitted

    told = Message()
    monkeypatch.setattr(fitted, "metadata", lambda name: told)
    assert fitted.documentation.__wrapped__() == ""
    told["Project-URL"] = "Documentation, https://docs.test/"
    assert fitted.documentation.__wrapped__() == "https://docs.test"
