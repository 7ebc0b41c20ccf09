"""How many features by AIC, BIC and extended BIC: one path, no folds."""

import numpy as np
import pandas as pd
import pytest

import sparsieve


def planted(seed=0, n=150, d=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :3] @ [2.0, 1.5, 1.0] + rng.normal(size=n)


def by_hand(X, y, order, penalty):
    """The smallest criterion along an order of features, by least squares."""
    values = []
    for k in range(1, len(order) + 1):
        A = np.column_stack([np.ones(len(y)), X[:, order[:k]]])
        rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
        values.append(len(y) * np.log(np.mean(rest**2)) + penalty * k)
    return 1 + int(np.argmin(values))


@pytest.mark.parametrize(("rule", "penalty"), [("aic", 2.0), ("bic", np.log(150))])
def test_the_number_is_that_of_the_formula(rule, penalty):
    for seed in range(3):
        X, y = planted(seed)
        selected = sparsieve.select(X, y, rule=rule, check=False)
        full = sparsieve.RidgeForwardSelector("all", task="regression").fit(X, y)
        order = np.argsort(full.ranking_)[:40]
        assert len(selected.features) == by_hand(X, y, order, penalty)
        assert not isinstance(selected.selector, sparsieve.SelectorCV)
        assert selected.notes[-1].startswith(f"kept {len(selected.features)} features, by ")


def test_extended_bic_finds_what_was_planted():
    found = [sparsieve.select(*planted(seed), rule="ebic", check=False) for seed in range(4)]
    assert [sorted(one.features) for one in found] == [["x0", "x1", "x2"]] * 4
    X, y = planted()
    classes = sparsieve.select(X, (y > 0).astype(int), rule="ebic", check=False)
    assert sorted(classes.features) == ["x0", "x1", "x2"]


def test_noise_is_said_to_be_worth_nothing():
    X, _ = planted()
    y = np.random.default_rng(9).normal(size=150)
    selected = sparsieve.select(X, y, rule="ebic", check=False)
    assert len(selected.features) == 1
    assert "a model without features has a smaller extended BIC" in selected.notes[-1]


def test_covariates_and_groups_are_counted_as_elsewhere():
    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)]).assign(y=y)
    selected = sparsieve.select(frame, "y", rule="ebic", covariates=["g0"], check=False)
    assert sorted(selected.features) == ["g1", "g2"]
    pairs = [[j, j + 1] for j in range(0, 40, 2)]
    selected = sparsieve.select(X, y, rule="ebic", feature_groups=pairs, check=False)
    assert selected.notes[-1].startswith("kept 2 feature groups, by extended BIC")


def test_what_has_no_criterion_is_said():
    X, y = planted(n=40)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        sparsieve.select(X, y, rule="bic", sample_weight=np.ones(40))
    with pytest.raises(ValueError, match="rule='bic' is for k=\"auto\""):
        sparsieve.select(X, y, k=3, rule="bic")
    with pytest.raises(ValueError, match="finds the number itself"):
        sparsieve.select(X, y, rule="bic", method=sparsieve.SelectorCV())
    labels = np.column_stack([y > 0, X[:, 0] > 0]).astype(int)
    with pytest.raises(ValueError, match="columns of labels"):
        sparsieve.select(X, labels, rule="bic", check=False)


def test_the_command_line_has_it(sparsieve, flowers):
    found = sparsieve("select", flowers, "-t", "kind", "--rule", "bic", "--json", "--no-check")
    assert found.code == 0, found.err
    assert set(found.json()["selected"]) == {"q", "t"}
    assert "by BIC" in found.err
