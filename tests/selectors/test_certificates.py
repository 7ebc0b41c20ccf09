"""What every selector with ``certify`` says where there is nothing, or little, to prove."""

import numpy as np
import pytest

import sparsieve
from sparsieve import (
    L20Selector,
    LikelihoodForwardSelector,
    LikelihoodL21Selector,
    RidgeForwardSelector,
)

NOTHING = "No feature was selected, so there is nothing to prove."
CLASSES = np.arange(40) % 2


def noise():
    return np.random.default_rng(1).standard_normal((40, 5))


def survival():
    rng = np.random.default_rng(0)
    y = np.empty(40, dtype=[("event", "?"), ("time", "f8")])
    y["time"], y["event"] = rng.exponential(1.0, 40), rng.random(40) < 0.7
    return y


EMPTY = {
    "ridge forward": (RidgeForwardSelector(1), np.full((40, 2), 7.0), CLASSES),
    "greedy": (L20Selector(1), np.full((40, 2), 7.0), CLASSES),
    "exact": (L20Selector(1, solver="exact"), np.full((40, 2), 7.0), CLASSES),
    "homotopy": (L20Selector(1, solver="hiht", ridge=1.0), np.full((40, 2), 7.0), CLASSES),
    "too dear": (L20Selector(lam=1e9), noise(), CLASSES),
    "too dear, exact": (L20Selector(lam=1e9, solver="exact"), noise(), CLASSES),
    "likelihood": (LikelihoodForwardSelector(1), np.full((40, 2), 7.0), CLASSES),
    "likelihood of noise": (LikelihoodForwardSelector(), noise(), CLASSES),
    "survival": (LikelihoodForwardSelector(1), np.full((40, 2), 7.0), survival()),
}


@pytest.mark.thinned(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", EMPTY)
def test_an_empty_selection(case):
    selector, X, y = EMPTY[case]
    certificate = selector.fit(X, y).certify(X, y)
    assert len(certificate.n_features) == 0
    assert str(certificate) == NOTHING
    assert selector.certificate_ is certificate
    with pytest.raises(ValueError, match=NOTHING):
        selector.certify(X, y, n_features=1)


def test_an_empty_selection_of_select():
    X = noise()
    found = sparsieve.select(X, CLASSES, method="likelihood-forward", k=None, certify=True)
    assert str(found.certificate) == NOTHING


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "selector",
    [
        RidgeForwardSelector(1, always_keep=[2]),
        L20Selector(1, always_keep=[2], solver="exact"),
        LikelihoodForwardSelector(1, always_keep=[2]),
        LikelihoodForwardSelector(always_keep=[2]),
        LikelihoodL21Selector(1, always_keep=[2]),
    ],
    ids=["ridge forward", "exact", "likelihood", "as many as count", "l21"],
)
def test_nothing_beside_what_is_always_kept(selector):
    X = noise()
    certificate = selector.fit(X, CLASSES).certify(X, CLASSES)
    assert certificate.n_features.tolist() == [1]
    assert certificate.gap.tolist() == [0.0]
    assert (
        str(certificate)
        == "The selected feature is in always_keep, so there was nothing to choose."
    )
