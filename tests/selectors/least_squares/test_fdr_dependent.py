"""Claims where samples are not independent, where a batch hides, and of other targets."""

import numpy as np
import pytest

from sparsieve import FDRSelector, select
from sparsieve.scoring import martingale_residuals

CLAIMS = ("conditional", "marginal", "sequential")


def pairs(rng, alike, n_patients=40, n_features=120, times=2):
    """Samples of patients, feature by feature, and a target that knows patients but no feature."""

    def noise(width):
        shared = np.repeat(rng.standard_normal((n_patients, width)), times, axis=0)
        own = rng.standard_normal(shared.shape)
        return np.sqrt(alike) * shared + np.sqrt(1 - alike) * own

    return noise(n_features), noise(1)[:, 0], np.repeat(np.arange(n_patients), times)


def any_claims(claim, draws, told=True, **options):
    """In how many data sets without any relation something is claimed."""
    found = 0
    for seed in range(draws):
        X, y, patients = pairs(np.random.default_rng(seed), **options)
        selector = FDRSelector(claim=claim).fit(X, y, groups=patients if told else None)
        found += bool(selector.get_support().any())
    return found


@pytest.mark.long("twenty data sets a case")
@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("told", [True, False], ids=["told", "found"])
def test_patients_measured_twice_are_no_evidence(claim, told):
    # A binomial variable of 20 tries at 0.1 is above 5 in one case of 100.
    assert any_claims(claim, 20, told=told, alike=0.9) <= 5


def test_without_groups_as_many_are_claimed_as_before(monkeypatch):
    from sparsieve.selectors.least_squares.hidden_structure import HiddenStructure

    monkeypatch.setattr(HiddenStructure, "close_samples", lambda self: None)
    assert any_claims("marginal", 10, told=False, alike=0.9) >= 8  # what was false


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_sample_twice_says_what_each_once_says(claim):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 50))
    y = X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(60)
    once = FDRSelector(claim=claim).fit(X, y)
    twice = FDRSelector(claim=claim).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert "120 of 120 samples are much closer to another sample" in twice.verdict_
    assert not once.assumed_
    np.testing.assert_array_equal(once.get_support(), twice.get_support())
    if claim != "sequential":  # whose paths end by chance
        assert twice.detectable_correlation_ == pytest.approx(once.detectable_correlation_)
    if claim == "marginal":
        np.testing.assert_allclose(twice.pvalues_, once.pvalues_, rtol=1e-6)


@pytest.mark.slow
def test_feature_groups_and_groups_of_samples_together():
    found = 0
    for seed in range(20):
        X, y, patients = pairs(np.random.default_rng(seed), alike=0.9, n_features=60)
        selector = FDRSelector(feature_groups=np.arange(60) // 3).fit(X, y, groups=patients)
        found += bool(selector.get_support().any())
    assert found <= 5


def test_true_features_of_patients_are_found():
    X, noise, patients = pairs(np.random.default_rng(3), alike=0.5, n_patients=80)
    y = 2 * X[:, 0] - 2 * X[:, 1] + noise
    found = FDRSelector().fit(X, y, groups=patients)
    assert set(found.get_support(indices=True)) >= {0, 1}
    assert "The 160 samples belong to 80 groups." in found.verdict_


def test_rows_in_another_order_say_the_same():
    X, y, patients = pairs(np.random.default_rng(5), alike=0.7)
    y = y + X[:, 0]
    order = np.random.default_rng(1).permutation(len(y))
    for claim in CLAIMS:
        one = FDRSelector(claim=claim).fit(X, y, groups=patients)
        other = FDRSelector(claim=claim).fit(X[order], y[order], groups=patients[order])
        np.testing.assert_allclose(one.pvalues_, other.pvalues_, rtol=1e-6)


def test_weights_and_groups_together():
    X, y, patients = pairs(np.random.default_rng(6), alike=0.8)
    times = np.random.default_rng(7).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    one = FDRSelector().fit(X, y, sample_weight=times, groups=patients)
    other = FDRSelector().fit(X[rows], y[rows], groups=patients[rows])
    np.testing.assert_allclose(one.pvalues_, other.pvalues_, rtol=1e-6)


def test_groups_of_another_length_are_refused():
    X, y, patients = pairs(np.random.default_rng(8), alike=0.8)
    with pytest.raises(ValueError, match="groups must say for each of the 80 samples"):
        FDRSelector().fit(X, y, groups=patients[:-1])


def test_a_batch_told_as_covariate_may_have_a_spread_of_its_own():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        batch = (np.arange(60) < 15) * 1.0
        spread = np.where(batch > 0, 3.0, 1.0)
        X = np.column_stack((batch, rng.standard_normal((60, 40)) * spread[:, None]))
        y = rng.standard_normal(60) * spread
        selector = FDRSelector(claim="marginal", always_keep=[0]).fit(X, y)
        found += bool((selector.adjusted_pvalues_[1:] <= 0.1).any())
    assert found <= 5  # 15 to 17 of 20 where the spread was not looked at


def hidden_batch(rng, strength=1.0):
    batch = rng.integers(0, 2, 80)
    X = rng.standard_normal((80, 200)) + strength * batch[:, None]
    return X, batch ^ (rng.random(80) < 0.1)


@pytest.mark.long("twenty data sets")
def test_a_hidden_batch_is_no_feature():
    found = {None: 0, "auto": 0, "components": 0}
    for seed in range(20):
        X, y = hidden_batch(np.random.default_rng(seed))
        for adjust in found:
            selector = FDRSelector(adjust=adjust).fit(X, y)
            found[adjust] += bool(selector.get_support().any())
            if adjust == "auto":
                assert "adjusted for 1 principal component" in selector.verdict_
    assert found["auto"] <= 5
    assert found["components"] <= 5
    assert found[None] > found["auto"]


def test_components_are_not_taken_where_few_features_say_it_all():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 200)) + rng.standard_normal((100, 3)) @ rng.standard_normal(
        (3, 200)
    )
    y = X[:, 5] + X[:, 9] + 0.3 * rng.standard_normal(100)
    found = FDRSelector().fit(X, y)
    assert not found.assumed_
    assert set(found.get_support(indices=True)) >= {5, 9}
    told = FDRSelector(adjust=3).fit(X, y)
    assert "adjusted for 3 principal components" in told.verdict_
    assert told.degrees_of_freedom_[1] < found.degrees_of_freedom_[1]


def three_populations(seed, effect=0.8):
    """Copies of the rare allele in three populations, which differ in y; five places matter."""
    rng = np.random.default_rng(seed)
    population, usual = rng.integers(0, 3, 200), rng.uniform(0.1, 0.9, 240)
    frequencies = rng.beta(19 * usual, 19 * (1 - usual), (3, 240)).clip(0.02, 0.98)
    X = rng.binomial(2, frequencies[population]).astype(float)
    y = 0.8 * X[:, :5] @ [1, -1, 1, -1, 1] + effect * population + rng.standard_normal(200)
    return X, y


def test_populations_are_seen_beside_the_features_that_matter():
    false, found = [], []
    for seed in (1, 3, 5, 7):
        X, y = three_populations(seed)
        selector = FDRSelector().fit(X, y)
        claimed = selector.get_support(indices=True)
        false.append(np.mean(claimed > 4))
        found.append(np.mean([j in claimed for j in range(5)]))
        if "so all was tested again given" in selector.assumed_:
            assert selector.assumed_ in selector.verdict_
    assert np.mean(false) <= 0.1  # 0.2 where components are looked at before the features alone
    assert np.mean(found) >= 0.9
    assert FDRSelector(adjust=None).fit(X, y).assumed_ == ""


def test_populations_are_seen_beside_groups_of_features():
    X, y = three_populations(1)
    found = FDRSelector(feature_groups=np.arange(240) // 2).fit(X, y)
    assert "so all was tested again given" in found.assumed_
    assert found.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]


def test_where_features_say_all_of_y_nothing_is_tested_again():
    X, y = three_populations(1, effect=0.0)
    assert FDRSelector().fit(X, y).assumed_ == ""


def survival(rng, n_true, n=120, d=60):
    X = rng.standard_normal((n, d))
    times = rng.exponential(np.exp(-X[:, :n_true].sum(axis=1)))
    censored = rng.exponential(2.0, n)
    return X, (np.minimum(times, censored), times <= censored)


def test_survival_times_are_tested_by_their_residuals():
    X, y = survival(np.random.default_rng(0), 2)
    found = FDRSelector(task="survival", claim="marginal").fit(X, y)
    by_hand = FDRSelector(claim="marginal", task="regression").fit(X, martingale_residuals(y))
    np.testing.assert_allclose(found.pvalues_, by_hand.pvalues_, rtol=1e-6)
    selected = select(X, y, k="fdr=0.1", task="survival", check=False)
    assert set(selected.features) >= {"x0", "x1"}
    assert "significant" in str(select(X, y, k=2, task="survival", check=False).claims())


@pytest.mark.long("forty data sets")
def test_survival_times_and_counts_without_any_relation():
    claims = {"survival": 0, "counts": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = survival(rng, 0)
        claims["survival"] += bool(FDRSelector(task="survival").fit(X, y).get_support().any())
        y = rng.poisson(np.exp(1 + rng.standard_normal(120)))
        claims["counts"] += bool(FDRSelector(task="counts").fit(X, y).get_support().any())
    assert max(claims.values()) <= 5


def test_counts_are_claimed_for():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 80))
    y = rng.poisson(np.exp(1 + 0.7 * X[:, 4]))
    assert select(X, y, k="fdr=0.1", task="counts", check=False).features[0] == "x4"


@pytest.mark.parametrize("n_features", [8, 15])
def test_equal_samples_in_few_columns_are_found_unless_there_are_few_levels(n_features):
    X = np.random.default_rng(3).standard_normal((60, n_features))
    y = X[:, 0] + 0.5
    assert (
        "120 of 120 samples"
        in FDRSelector().fit(*(np.repeat(z, 2, axis=0) for z in (X, y))).assumed_
    )
    assert FDRSelector().fit(np.repeat(X > 0, 2, axis=0)[:, :5], np.repeat(y, 2)).assumed_ == ""


@pytest.mark.parametrize("kind", ["normal", "few columns", "0/1", "few levels", "one factor"])
def test_independent_samples_are_not_taken_for_copies(kind):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((80, 4 if kind == "few columns" else 60))
        if kind == "0/1":
            X = (X[:, :6] > 0) * 1.0
        elif kind == "few levels":
            X = np.round(X[:, :8])
        elif kind == "one factor":
            X = X + 2.0 * rng.standard_normal((80, 1))
        y = rng.standard_normal(80)
        assert not FDRSelector(claim="marginal").fit(X, y).assumed_


def test_a_feature_and_its_copies_are_no_hidden_structure():
    X, y = survival(np.random.default_rng(0), 1, n=200, d=12)
    alone = FDRSelector(task="survival").fit(X, y)
    for copies in (1, 3):
        more = FDRSelector(task="survival").fit(np.column_stack((X, X[:, [0] * copies])), y)
        assert not more.assumed_
        assert more.pvalues_.min() == pytest.approx(alone.pvalues_.min(), rel=1e-6)


def test_what_cannot_be_honoured_is_refused():
    many = np.random.default_rng(0).standard_normal((3001, 4))
    for adjust in ("components", 2):
        with pytest.raises(ValueError, match="of which there may be 3,000, but X has 3,001"):
            FDRSelector(adjust=adjust).fit(many, many[:, 0])
    assert FDRSelector().fit(many, many[:, 0]).get_support()[0]


def test_components_are_not_taken_where_a_further_feature_says_more():
    """Of three features that share a factor, the factor says more than one, and less than two."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 60)) + rng.standard_normal((150, 1))
    y = X[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(150)
    factor = X.mean(axis=1)
    assert np.corrcoef(factor, y)[0, 1] > np.abs(np.corrcoef(X.T, y)[-1, :-1]).max()
    found = FDRSelector().fit(X, y)
    assert found.assumed_ == ""
    assert found.support_[:3].all()


def test_a_component_that_a_column_nearly_is_hides_nothing():
    rng = np.random.default_rng(0)
    size = rng.standard_normal((100, 1))
    X = size + 0.6 * rng.standard_normal((100, 40))
    y = size[:, 0] + 0.3 * rng.standard_normal(100)
    assert "1 principal component" in FDRSelector().fit(X, y).assumed_
    X[:, 7] = size[:, 0] + 0.2 * rng.standard_normal(100)
    found = FDRSelector().fit(X, y)
    assert found.assumed_ == ""
    assert found.get_support()[7]
