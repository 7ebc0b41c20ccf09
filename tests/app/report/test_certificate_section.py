"""The panel that says how good a selection is next to the best possible one."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparsieve import FisherSelector, RidgeForwardSelector
from sparsieve.app.report import selector_report

pytestmark = pytest.mark.usefixtures("lines_only")

pytest.importorskip("vl_convert")
TITLE = "How good is this selection?"


def panel(report):
    return next((section for section in report.sections if section.title == TITLE), None)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, y, RidgeForwardSelector(4).fit(X, y)


def test_only_when_asked_for(wine):
    X, y, selector = wine
    plain = selector_report(selector, X, y, cv=0, null=None)
    assert panel(plain) is None
    assert not hasattr(selector, "certificate_")


def test_chart_and_words(wine):
    X, y, _ = wine
    selector = RidgeForwardSelector(4).fit(X, y)
    report = selector_report(selector, X, y, cv=0, null=None, certify=True)
    section, certificate = panel(report), selector.certificate_
    assert section.text[0] == certificate.sentence(4)
    assert "not about accuracy" in section.text[1]
    columns = section.blocks[0].columns
    assert columns["x"].values == [1, 2, 3, 4] * 2
    assert columns["y"].values[:4] == certificate.objective.tolist()
    assert columns["y"].values[4:] == certificate.lower_bound.tolist()
    page = report.to_html()
    assert TITLE in page
    assert "certify=True" in page
    # A selector that was certified shows it; one that is fitted again does not.
    assert panel(selector_report(selector, X, y, cv=0, null=None)) is not None
    assert panel(selector_report(selector.fit(X, y), X, y, cv=0, null=None)) is None


def test_weights_are_certified_by_the_user(wine):
    X, y, _ = wine
    weights = np.linspace(1.0, 3.0, len(y))
    selector = RidgeForwardSelector(3).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight differs from what"):
        selector_report(selector, X, y, cv=0, null=None, certify=True)
    selector.certify(X, y, sample_weight=weights)
    assert panel(selector_report(selector, X, y, cv=0, null=None, certify=True)) is not None


def test_methods_that_cannot_say(wine):
    X, y, _ = wine
    with pytest.raises(ValueError, match=r"nothing can be proven about .* FisherSelector"):
        selector_report(FisherSelector(3).fit(X, y), X, y, cv=0, certify=True)
