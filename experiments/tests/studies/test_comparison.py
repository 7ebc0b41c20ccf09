import numpy as np
import pytest
from scipy import stats

from sparsieve_experiments.studies import standings


def rows_of(accuracies, *, n_features=100, n_test=10, n_train=30):
    """Rows of (data set, selector, k): accuracies of the splits."""
    return [
        {
            "study": "s", "dataset": dataset, "selector": selector,
            "class": "AllFeatures" if selector == "AllFeatures" else "X", "parameters": "{}",
            "tuning": "none", "protocol": "{}", "classifier": "svm", "k": k, "repeat": 0,
            "fold": fold, "n_train": n_train, "n_test": n_test, "accuracy": value,
            "n_selected": k, "redundancy_signed": None, "redundancy_absolute": None,
            "precision": None, "recall": None, "seconds": 0.1, "peak_mib": None, "warnings": "",
        }
        for (dataset, selector, k), values in accuracies.items()
        for fold, value in enumerate(values)
    ]  # fmt: skip


def test_only_numbers_of_features_that_all_sets_have_are_compared():
    accuracies = {}
    for dataset, ks in (("small", (5, 10)), ("large", (5, 10, 50))):
        for k in ks:
            accuracies[dataset, "a", k] = [0.8, 0.8]
            # At 50 the second would win by far, but one set has no 50 features.
            accuracies[dataset, "b", k] = [1.0, 1.0] if k == 50 else [0.7, 0.7]
    accuracies["small", "AllFeatures", 13] = [0.99, 0.99]
    accuracies["large", "AllFeatures", 900] = [0.99, 0.99]
    [found] = standings(rows_of(accuracies))
    assert (found.datasets, found.ks, found.best) == (["small", "large"], [5, 10], "a")
    assert found.means == {"a": pytest.approx(0.8), "b": pytest.approx(0.7)}
    assert found.baseline == pytest.approx(0.99)
    assert str(found) == (
        "a has the highest mean accuracy (80 %) on small and large using 5 and 10 features (scored "
        "with linear SVM), and b is significantly lower. b is 10.0 points lower (95 % interval "
        "10.0 to 10.0, p < 0.001, corrected). Using all features, the same model scores 99 %."
    )


def test_without_a_common_number_every_set_is_told_for_itself():
    accuracies = {("small", "a", 3): [0.8, 0.9], ("small", "b", 3): [0.7, 0.6]}
    accuracies |= {("large", "a", 50): [0.5, 0.5], ("large", "b", 50): [0.6, 0.7]}
    first, second = standings(rows_of(accuracies))
    assert (first.datasets, first.ks, first.best) == (["small"], [3], "a")
    assert (second.datasets, second.ks, second.best) == (["large"], [50], "b")


def test_what_the_spread_does_not_tell_apart_is_not_separable():
    rng = np.random.default_rng(0)
    accuracies = {}
    for dataset in "pqrstu":
        base = rng.normal(0.8, 0.1)
        accuracies[dataset, "a", 5] = [base + rng.normal(0, 0.03) for _ in range(3)]
        accuracies[dataset, "b", 5] = [base + rng.normal(0, 0.03) for _ in range(3)]
        accuracies[dataset, "c", 5] = [base - 0.2 + rng.normal(0, 0.03) for _ in range(3)]
    [found] = standings(rows_of(accuracies))
    other = "b" if found.best == "a" else "a"
    assert found.level == [other]
    assert f", but {other} (" in str(found)
    assert "%) is not significantly lower. c is 19.6 points lower (95 % interval " in str(found)
    # The same interval as a paired t test, at a third of the level for three pairs of methods.
    means = {s: [np.mean(accuracies[d, s, 5]) for d in "pqrstu"] for s in (found.best, "c")}
    interval = stats.ttest_rel(means[found.best], means["c"]).confidence_interval(1 - 0.05 / 3)
    assert found.gaps["c"].mean - found.gaps["c"].margin == pytest.approx(interval.low)


def test_ties_are_called_ties():
    accuracies = {("d", name, 5): [1.0, 1.0, 1.0] for name in "ab"}
    accuracies["d", "c", 5] = [0.5, 0.5, 0.5]
    [found] = standings(rows_of(accuracies))
    assert found.tied == ["b"]
    assert found.level == []
    assert str(found).startswith("a and b share the highest mean accuracy")


def test_one_set_is_judged_by_its_splits_with_room_for_their_overlap():
    rng = np.random.default_rng(1)
    a, b = 0.9 + rng.normal(0, 0.02, 5), 0.87 + rng.normal(0, 0.02, 5)
    [found] = standings(rows_of({("d", "a", 5): a, ("d", "b", 5): b}, n_test=20, n_train=80))
    sd = np.std(a - b, ddof=1)
    expected = stats.t.ppf(0.975, 4) * sd * np.sqrt(1 / 5 + 20 / 80)
    assert found.gaps["b"].margin == pytest.approx(expected)


def test_a_selector_that_failed_somewhere_is_compared_elsewhere():
    accuracies = {("d", "a", 5): [0.9, 0.9], ("e", "a", 5): [0.9, 0.8], ("d", "b", 5): [0.8, 0.8]}
    [found] = standings(rows_of(accuracies))
    assert found.datasets == ["d"]
    assert standings([]) == []
