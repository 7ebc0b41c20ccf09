"""Groups of samples reach every p-value of a selection."""

import warnings

import numpy as np
import pytest

from sparsieve import TTestSelector, plot, select
from sparsieve.app.report import selector_report
from sparsieve.app.report.survival import held_out_survival
from sparsieve.selection.selected_data import SelectedData
from sparsieve.validation.exchange import Exchange


@pytest.fixture
def noise():
    rng = np.random.default_rng(2)
    patients = np.repeat(np.arange(20), 4)
    X = rng.standard_normal((20, 6))[patients] + 0.1 * rng.standard_normal((80, 6))
    return X, (rng.permutation(20) % 2)[patients], patients


@pytest.fixture
def told(monkeypatch):
    """The groups that shuffles were told of."""
    seen, made = [], Exchange.from_target

    def of(y, *, groups=None, **how):
        seen.append(None if groups is None else np.asarray(groups).tolist())
        return made(y, groups=groups, **how)

    monkeypatch.setattr(Exchange, "from_target", of)
    return seen


def test_noise_of_patients_stays_noise(noise):
    X, y, patients = noise
    with pytest.warns(UserWarning, match="the p-values of .* need independent samples, but groups"):
        selected = select(X, y, 2, "t-test", groups=patients, permutations=39, check=False)
    assert selected.null.familywise.min() > 0.05
    assert select(X, y, 2, "t-test", permutations=39, check=False).null.familywise.min() <= 0.05


@pytest.mark.long("a report and two figures")
def test_every_shuffle_of_a_selection_knows_the_groups(noise, told, tmp_path):
    X, y, patients = noise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selected = select(X, y, 2, "t-test", groups=patients, check=True)
        selected.report(tmp_path / "report.html")
        pytest.importorskip("matplotlib")
        selected.plot("null")
        plot(selected.selector, X, y, "null", groups=patients)
    assert len(told) >= 5
    assert all(groups == patients.tolist() for groups in told)


def test_the_page_says_why_noise_has_no_level(noise):
    X, groups = noise[0], np.repeat(np.arange(8), 10)
    y = np.zeros(80, dtype=[("event", "?"), ("time", "f8"), ("strata", "i8")])
    y["event"], y["time"], y["strata"] = True, 1.0 + groups, groups
    selected = select(X, y, 1, groups=groups, check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = selector_report(selected.method, X, y, groups=groups, cv=0)
    text = " ".join(line for section in page.sections for line in section.text)
    assert "The level of noise is not known: y cannot be shuffled, because no two groups" in text


def test_survival_curves_of_few_groups_have_no_p_value():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 12)
    y = np.zeros(36, dtype=[("event", "?"), ("time", "f8")])
    y["event"], y["time"] = True, np.array([1.0, 2.0, 3.0])[groups]
    X = rng.standard_normal((36, 4))
    kept = SelectedData.from_selector(select(X, y, 1, groups=groups, check=False).method, X, y)
    found = held_out_survival(kept, X, n_folds=3, groups=groups, n_shuffles=39)
    assert found.p_value is None
    assert "in only 6 ways, exchanging 3 groups" in found.sentences()[-1]


def test_the_selector_is_told_too(noise):
    X, y, patients = noise
    seen = []

    class Told(TTestSelector):
        def fit(self, X, y, sample_weight=None, *, groups=None):
            seen.append(groups)
            return super().fit(X, y, sample_weight)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        select(X, y, 2, Told(), groups=patients, check=True)
    assert all(groups is not None for groups in seen)
