"""Units, notes and plausibility of what a user is told."""

import numpy as np
import pandas as pd
import pytest

import sparsieve
from sparsieve import L20Selector, RidgeForwardSelector, SelectorCV, diagnose, make_preprocessor
from sparsieve.app.report.elements import Step
from sparsieve.preprocessing.steps import Imputer
from sparsieve.validation.reading import read_task


@pytest.fixture(scope="module")
def clinic():
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame(rng.standard_normal((n, 4)), columns=["a", "b", "c", "d"])
    frame["sex"] = np.where(rng.random(n) < 0.5, "m", "f")
    frame["city"] = rng.choice(list("uvwxyz"), n)
    by_city = frame.city.map(dict(zip("uvwxyz", range(6), strict=True)))
    y = 2.0 * frame.a + 2.0 * (frame.sex == "m") + by_city + rng.standard_normal(n)
    return frame, y.to_numpy()


def test_claims_beside_groups_are_of_groups(clinic):
    selected = sparsieve.select(*clinic, k=4, feature_groups="categories", check=False)
    claims = selected.claims()
    assert "4 feature groups were selected for prediction" in str(claims)
    assert "of 6 feature groups" in claims.verdict
    assert set(claims.columns["feature"]) <= {"a", "b", "c", "d", "sex", "city"}
    assert {"a", "city"} <= set(claims.columns["feature"])
    p = claims.columns["p_value_adjusted"]
    assert max(p) <= claims.level
    assert p == sorted(p)


def test_tests_of_groups_count_groups(clinic):
    selected = sparsieve.select(*clinic, k="fdr=0.1", feature_groups="categories", check=False)
    claims = selected.claims()
    n_claimed = len(claims.features)
    assert n_claimed == int(selected.method.group_support_.sum())
    assert f"{n_claimed} of 6 feature groups" in claims.verdict
    assert selected.verdict == claims.verdict  # by the names of the groups, not of columns
    assert "'city'" in selected.verdict


def test_chips_of_a_group_have_its_number(clinic, tmp_path):
    selected = sparsieve.select(*clinic, k=3, feature_groups="categories", check=False)
    page = tmp_path / "page.html"
    selected.report(page)
    text = page.read_text(encoding="utf-8")
    listed = text[text.index('class="selection"') :].partition("</ol>")[0]
    numbers = [int(part.partition('"')[0]) for part in listed.split('data-rank="')[1:]]
    assert len(numbers) == int(selected.selector.get_support().sum()) > 3
    assert sorted(set(numbers)) == [1, 2, 3]
    assert list(Step(2, ["a", "b"], [0, 1]).numbers) == [1, 2]


def test_two_values_of_text_are_one_column(clinic):
    frame, _ = clinic
    made = make_preprocessor(frame).fit_transform(frame)
    assert [name for name in made.columns if name.startswith("sex")] == ["sex=m"]
    assert sum(name.startswith("city") for name in made.columns) == 6
    # Its gaps get the more frequent value.
    X = np.array([[1.0], [0.0], [0.0], [np.nan]])
    assert Imputer(text_groups=[[0]]).fit_transform(X)[3, 0] == 0.0
    assert Imputer(text_groups=[[0]]).fit_transform(1.0 - X)[3, 0] == 1.0


def test_two_values_of_text_are_one_column_of_a_file(clinic, tmp_path):
    from sparsieve.app.io.read import read_table

    frame, y = clinic
    path = tmp_path / "clinic.csv"
    frame.assign(y=y).to_csv(path, index=False)
    table = read_table(path, "y", encode_text=True)
    assert [name for name in table.feature_names if name.startswith("sex")] == ["sex=m"]
    assert len(table.text_groups["sex"]) == 1


def test_a_constant_target_is_named(clinic):
    X = clinic[0][["a", "b", "c", "d"]]
    same = np.full(200, 3.5)
    for ask in (
        lambda: sparsieve.select(X, same, k=2),
        lambda: sparsieve.select(X, same),
        lambda: sparsieve.compare(X, same, ["ridge-forward"], ks=[1]),
        lambda: SelectorCV().fit(X, same),
    ):
        with pytest.raises(ValueError, match=r"y is 3.5 in all 200 samples, so that there is noth"):
            ask()


def test_many_whole_numbers_as_classes_are_said():
    ages = np.repeat(np.arange(18, 90), 9)
    task, sentence = read_task(ages)
    assert task == "classification"
    assert sentence.startswith("y holds 72 different whole numbers in 648 samples and is treated")
    assert 'pass task="regression" if they are quantities' in sentence
    assert read_task(np.repeat(np.arange(40), 9)) == ("classification", "")  # codes of classes
    assert read_task(np.repeat(np.arange(1, 27), 9)) == ("classification", "")
    assert read_task(np.arange(60) % 3) == ("classification", "")
    X = np.random.default_rng(0).standard_normal((648, 3))
    with pytest.warns(UserWarning, match="72 different whole numbers"):
        sparsieve.select(X, ages, k=1, check=False)


def test_labels_that_differ_in_spelling_are_named():
    y = np.array(["Tumor", "tumor", "Normal ", "Normal"] * 10)
    X = np.random.default_rng(0).standard_normal((40, 2))
    first = diagnose(X, y, try_models=False).first()
    assert len(first) == 1
    assert "'Normal', 'Normal '; 'Tumor', 'tumor'" in first[0]
    assert sparsieve.select(X, y, k=1, check=False).oddities == first
    assert not diagnose(X, np.char.strip(np.char.lower(y)), try_models=False).first()


def test_groups_are_not_called_samples():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 5)), rng.standard_normal(600)
    search = SelectorCV(ks=[1, 2], n_repeats=1).fit(X, y, groups=np.arange(600) % 5)
    assert "5 samples" not in search.nothing_found


@pytest.mark.parametrize("cls", [RidgeForwardSelector, L20Selector])
def test_no_share_of_the_target_is_above_one(cls):
    rng = np.random.default_rng(0)
    f = rng.standard_normal(300)
    alike = f[:, None] + 0.1 * rng.standard_normal((300, 5))
    X = np.hstack([alike, rng.standard_normal((300, 5))])
    grouped = cls(2, feature_groups=["a"] * 5 + list("bcdef")).fit(X, f)
    assert 0.98 < grouped.group_scores_.max() <= 1.0
    assert 0.98 < cls(2, standardize=False).fit(10 * X, f).scores_.max() <= 1.0
