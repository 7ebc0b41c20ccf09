"""``--feature-groups`` of select and compare."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from sparsieve.app.io import read_table
from sparsieve.app.io.rows import read_feature_groups


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame({"city": rng.choice(list("abc"), n), "age": rng.normal(size=n)})
    frame["income"], gap = rng.normal(size=n), rng.random(n) < 0.3
    frame["target"] = (frame["city"] == "a") * 2.0 + 1.5 * gap + 0.3 * rng.normal(size=n)
    frame.loc[gap, "income"] = np.nan
    frame.loc[::11, "city"] = None
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


def test_categories_are_kept_together(sparsieve, table):
    options = ["--feature-groups", "categories", "-k", "2", "--no-check"]
    result = sparsieve("select", table, "--target", "target", *options, "--json")
    found = json.loads(result.out)
    assert set(found["feature_groups"]) == {"city", "income"}
    assert set(found["selected"]) == {
        *("city=a", "city=b", "city=c", "city=(missing)"),
        *("income", "income=(missing)"),
    }
    assert found["prepare"] == "impute"
    assert {row["group"] for row in found["ranking"]} == {"city", "income"}
    printed = sparsieve("select", table, "--target", "target", *options)
    assert printed.out.splitlines()[0] == "rank\tgroup\tfeature\tscore"
    assert "kept 2 of 3 feature groups (6 of 7 columns)" in printed.err


@pytest.mark.long("writes a page")
def test_the_page_counts_groups_in_its_title(sparsieve, table, tmp_path):
    pytest.importorskip("vl_convert")
    page = tmp_path / "page.html"
    options = ["--feature-groups", "categories", "-k", "1", "--covariates", "age", "--no-check"]
    result = sparsieve("select", table, "-t", "target", *options, "--report", page)
    assert result.code == 0, result.err
    assert "1 of 2 feature groups for target" in page.read_text(encoding="utf-8")


def test_groups_of_a_file(sparsieve, table, tmp_path):
    groups = tmp_path / "groups.tsv"
    groups.write_text("group\tfeature\nperson\tage\nperson\tincome\n", encoding="utf-8")
    options = ["--encode-text", "--impute", "--feature-groups", groups, "-k", "1", "--no-check"]
    found = json.loads(sparsieve("select", table, "-t", "target", *options, "--json").out)
    assert found["feature_groups"] == ["city=a"]
    compared = sparsieve(
        "compare", table, "-t", "target", *options[:4], "-k", "1,2", "--repeats", "1"
    )
    assert "Using" in compared.err + compared.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("feature,group\nagee,person\n", "'agee'; did you mean 'age'?"),
        ("name,group\nage,person\n", "must have the columns feature and group"),
        ("feature,group\nage,\n", "line 2 of groups.csv has no feature or no group"),
        ("feature,group\n", "no groups below its first line"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(sparsieve, table, tmp_path, text, said):
    groups = tmp_path / "groups.csv"
    groups.write_text(text, encoding="utf-8")
    options = ["--encode-text", "--impute", "--feature-groups", groups]
    result = sparsieve("select", table, "-t", "target", *options)
    assert result.code != 0
    assert said in result.err


def test_methods_for_single_columns_say_so(sparsieve, table):
    result = sparsieve(
        "select", table, "-t", "target", "-m", "relieff", "--feature-groups", "categories"
    )
    assert result.code != 0
    assert "relieff selects single columns" in result.err


def test_marks_of_gaps_and_overlaps(table, tmp_path):
    marked = read_table(table, "target", encode_text=True, gaps="mark")
    groups = marked.made_groups
    names = [[marked.feature_names[j] for j in columns] for columns in groups.values()]
    assert names == [
        ["city=a", "city=b", "city=c", "city=(missing)"],
        ["income", "income=(missing)"],
    ]
    city = marked.X[:, groups["city"]]
    np.testing.assert_array_equal(city.sum(axis=1), 1.0)
    file = tmp_path / "overlap.csv"
    file.write_text("feature,group\na,one\nb,one\nb,two\n", encoding="utf-8")
    assert read_feature_groups(file, ["a", "b"]) == {"one": ["a", "b"], "two": ["b"]}
