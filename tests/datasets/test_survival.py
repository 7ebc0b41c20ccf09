import numpy as np
import pytest

from sparsieve.datasets.synthetic.targets import make_survival
from sparsieve.scoring import concordance_index


def test_times_follow_the_relevant_features():
    data = make_survival(2000, 20, n_relevant=4, signal=0.7, censored=0.3, random_state=1)
    assert 1 - data.y["event"].mean() == pytest.approx(0.3, abs=0.03)
    risk = data.X[:, data.relevant] @ data.coef
    others = np.setdiff1d(np.arange(20), data.relevant)
    assert concordance_index(data.y, risk) > 0.75
    assert concordance_index(data.y, data.X[:, others].sum(axis=1)) == pytest.approx(0.5, abs=0.03)
    # A constant hazard: times divided by their means are standard exponential.
    whole = make_survival(2000, 20, n_relevant=4, censored=0.0, random_state=1)
    assert whole.y["event"].all()
    scaled = whole.y["time"] * np.exp(whole.X[:, whole.relevant] @ whole.coef)
    assert scaled.mean() == pytest.approx(1.0, abs=0.06)
    assert np.median(scaled) == pytest.approx(np.log(2), abs=0.06)


def test_its_name_and_its_limits():
    assert repr(make_survival(30, 5, n_relevant=2, random_state=0)).endswith("events>")
    with pytest.raises(ValueError, match="censored must be below 1"):
        make_survival(30, 5, n_relevant=2, censored=1.0)
