"""Text files as they come: encodings, comments, separators of thousands, dates, names."""

from __future__ import annotations

import codecs

import numpy as np
import pandas as pd
import pytest

from sparsieve.app.io import DataError, read_table

ROWS = "a,größe,kind\n1,2,x\n3,4,y\n"


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (ROWS.encode("cp1252"), {"encoding": "cp1252"}),
        (ROWS.encode("utf-16"), {}),
        (ROWS.encode("utf-16-le"), {"encoding": "utf-16-le"}),
        (codecs.BOM_UTF32_LE + ROWS.encode("utf-32-le"), {}),
        (ROWS.replace("\n", "\r").encode(), {}),
        (ROWS.replace("\n", "\r").encode("utf-16"), {}),
        (ROWS.encode("utf-8-sig"), {}),
        (f"# made today\n#\n{ROWS}".encode(), {}),
        (f"% made today\n{ROWS}% end\n".encode(), {"comment": "%"}),
        (ROWS.replace("1,2", "# no, not this one\n1,2").encode(), {"comment": "#"}),
    ],
)
def test_ways_to_write_a_file(tmp_path, content, options):
    path = tmp_path / "d.csv"
    path.write_bytes(content)
    table = read_table(path, "kind", **options)
    assert table.feature_names == ("a", "größe")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


def test_a_header_may_begin_with_a_number_sign(tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text("## version 4\n#chrom\ta\tkind\n1\t2\tx\n3\t4\ty\n")
    assert read_table(path, "kind").feature_names == ("#chrom", "a")


def test_lines_are_numbered_as_in_the_file(tmp_path):
    path = tmp_path / "d.csv"
    for text, options in (
        ("# one\n\na,b,kind\n1,2,x\n3,y\n", {}),
        ("% one\n" * 3 + ROWS + "1\n", {"comment": "%"}),
    ):
        path.write_text(text)
        line = text.count("\n")
        with pytest.raises(DataError, match=f"line {line} has"):
            read_table(path, "kind", **options)


def test_what_is_not_utf8_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes(ROWS.encode("cp1252"))
    with pytest.raises(DataError, match=r"is not UTF-8 text; .* --encoding cp1252"):
        read_table(path, "kind")
    for encoding in ("nonsense", "rot13", "zlib"):
        with pytest.raises(DataError, match="is not an encoding of text"):
            read_table(path, "kind", encoding=encoding)
    with pytest.raises(DataError, match="is not text in UTF-16"):
        read_table(path, "kind", encoding="utf-16")
    np.savez(tmp_path / "d.npz", X=np.eye(3), y=[0, 1, 0])
    with pytest.raises(DataError, match=r"--encoding .* cannot be used with d.npz"):
        read_table(tmp_path / "d.npz", encoding="cp1252")


def test_numbers_as_people_write_them(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(
        'paid,share,people,kind\n"1,234.5",12 %,1 234,x\n"12,345,678",-,7,y\n0.5,3%,-,x\n'
    )
    table = read_table(path, "kind")
    expected = [[1234.5, 12, 1234], [12345678, np.nan, 7], [0.5, 3, np.nan]]
    np.testing.assert_array_equal(table.X, expected)
    assert table.notes == ("read the text of 'paid', 'share', 'people' as numbers",)
    turned = tmp_path / "t.csv"
    turned.write_text('name,s1,s2,s3\npaid,"1,234.5",-,0.5\nkind,x,y,x\n')
    found = read_table(turned, "kind", transpose=True).X
    np.testing.assert_array_equal(found, [[1234.5], [np.nan], [0.5]])
    path.write_text("price;a;b\n1.790,82;0,5;1.790\n12,5;0,123;2.000\n")
    table = read_table(path, "price")
    assert table.y.tolist() == [1790.82, 12.5]
    np.testing.assert_array_equal(table.X, [[0.5, 1790], [0.123, 2000]])


def test_text_is_quoted_as_it_stands(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a;b;kind\n1,5;1.7905,82;x\n2,5;3,0;y\n")
    with pytest.raises(DataError, match=r"'1\.7905,82' in line 2"):
        read_table(path, "kind")


def test_signs_are_labels_beside_other_text(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,strand,kind\n1,+,x\n2,-,y\n3,+,x\n")
    table = read_table(path, "kind", encode_text=True)
    assert table.feature_names == ("a", "strand=-")
    assert not np.isnan(table.X).any()


def raw(n=40):
    return pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(n)],
            "a": np.arange(n) % 7,
            "since": [f"2020-01-{i % 28 + 1:02d}" for i in range(n)],
            "city": [None if i == 3 else "xy"[i % 2] for i in range(n)],
            "remark": [f"word {i // 2}" for i in range(n - 20)] + ["none"] * 20,
            "rare": [1.0 if i % 4 == 0 else None for i in range(n)],
            "kind": ["ab"[i % 2] for i in range(n)],
        }
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_raw_table(tmp_path, suffix):
    path = tmp_path / f"d{suffix}"
    frame = raw()
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame["since"] = pd.to_datetime(frame["since"])
        frame.to_parquet(path)
    how = {"encode_text": "auto", "max_missing": 0.5, "max_categories": 10}
    table = read_table(path, "kind", **how)
    assert table.feature_names == ("a", "since", "city=y")
    assert table.X[:2, 1].tolist() == [18262.0, 18263.0]
    assert (table.id_name, table.ids[1]) == ("who", "p1")
    assert table.notes == (
        "left out 'who': all 40 values are different, so it was taken for the sample ID",
        "left out text with more than max_categories=10 different values: 'remark' (11)",
        "left out 'rare': more than 50 % of the values are missing (max_missing=0.5)",
        "read 'since' as days since 1970",
        "encoded 'city' as columns of zeros and ones",
    )
    wide = read_table(path, "kind", encode_text="auto")
    assert "rare" in wide.feature_names
    with pytest.raises(DataError, match=r"text column 'remark' of d\..* has 11 distinct values"):
        read_table(path, "kind", encode_text=True, drop=["who"], max_categories=10)


def test_nothing_left_is_said(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("who,empty,kind\np1,,x\np2,,y\np3,,x\n")
    with pytest.raises(DataError, match=r"no column with values to select from; left out 'who'"):
        read_table(path, "kind", encode_text="auto", max_missing=0.5)
