"""What takes long is said before the work, with an estimate."""

import numpy as np
import pytest

from sparsieve import (
    ExactPenaltySVMSelector,
    InfFSSelector,
    L1MPMSelector,
    LaplacianScoreSelector,
    ReliefFSelector,
    RFSSelector,
    SVMRFESelector,
)
from sparsieve.selectors.base import BaseSelector


class Enough(Exception):
    """The fit itself was about to begin."""


@pytest.mark.parametrize(
    ("selector", "shape", "n_classes"),
    [
        (ReliefFSelector(), (200_000, 5), 2),
        (LaplacianScoreSelector(), (1_000_000, 5), 2),
        (ExactPenaltySVMSelector(), (1_000_000, 5), 2),
        (InfFSSelector(), (3, 1_000_000), 2),
        (L1MPMSelector(), (10_000, 20), 5_000),
        (SVMRFESelector(), (10_000, 20), 5_000),
        (RFSSelector(), (10_000, 20), 5_000),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseSelector) else None,
)
@pytest.mark.long("data large enough to reach a limit")
def test_a_long_fit_is_announced_before_it_begins(selector, shape, n_classes, monkeypatch):
    def stop(self, data):
        raise Enough

    monkeypatch.setattr(type(selector), "_fit", stop)
    X = np.random.default_rng(0).standard_normal(shape)
    y = np.arange(shape[0]) % n_classes
    with pytest.warns(UserWarning, match="will take about .* faster"), pytest.raises(Enough):
        selector.fit(X, [f"class {value}" for value in y])


def test_everyday_fits_are_not_announced(recwarn, monkeypatch):
    monkeypatch.setattr(ReliefFSelector, "_fit", lambda self, data: (_ for _ in ()).throw(Enough))
    X = np.random.default_rng(0).standard_normal((2_000, 500))
    with pytest.raises(Enough):
        ReliefFSelector().fit(X, X[:, 0] > 0)
    assert not [w for w in recwarn if "will take" in str(w.message)]
