import gzip

import numpy as np
import pytest

from sparsieve.app.io import DataError, delimited, read_table
from sparsieve.app.io.errors import TargetNeededError


def read(tmp_path, text, name="data.csv", target="label", drop=()):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, target, drop)


def test_plain_csv(tmp_path):
    table = read(tmp_path, "a,label,b\n1,x,2.5\n3,y,-4e-1\n")
    assert table.feature_names == ("a", "b")
    assert table.target_name == "label"
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, -0.4]])
    assert table.y.tolist() == ["x", "y"]
    assert table.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "a,b,label\r\n1,2,x\r\n3,4,y\r\n",  # CRLF
        "\ufeffa,b,label\n1,2,x\n3,4,y\n",  # byte order mark
        '"a","b","label"\n"1","2","x"\n3,4,"y"\n',  # quotes
        "a;b;label\n1;2;x\n3;4;y\n",
        "a\tb\tlabel\n1\t2\tx\n3\t4\ty",  # no line break at the end
        "\na,b,label\n1,2,x\n\n3,4,y\n\n",  # blank lines
        " a , b ,label\n 1, 2 ,x\n3 ,4,y\n",  # blanks around
    ],
)
def test_spellings_of_one_table(tmp_path, text):
    table = read(tmp_path, text)
    assert table.feature_names == ("a", "b")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.y.tolist() == ["x", "y"]


def test_quoted_names_with_delimiters_and_line_breaks(tmp_path):
    table = read(tmp_path, '"a,1","b\n2",label\n1,2,"x,y"\n3,4,"say ""hi"""\n')
    assert table.feature_names == ("a,1", "b\n2")
    assert table.y.tolist() == ["x,y", 'say "hi"']


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_very_wide(tmp_path, delimiter):
    # Longer, as a line, than the longest field that the csv module takes.
    X = np.random.default_rng(0).normal(size=(3, 22_000))
    names = [f"g{j},;\t" if j == 7 else f"gene_{j}" for j in range(22_000)]
    header = delimiter.join([*(f'"{name}"' for name in names), "label"])
    rows = [delimiter.join([*map(repr, map(float, row)), "x"]) for row in X]
    table = read(tmp_path, "\n".join([header, *rows]))
    assert list(table.feature_names) == [name.strip() for name in names]
    np.testing.assert_array_equal(table.X, X)


def test_one_endless_field(tmp_path):
    with pytest.raises(DataError, match="cannot be split"):
        read(tmp_path, f"{'a' * 200_000},label\n1,2\n")
    with pytest.raises(DataError, match="line 2 cannot be read"):
        read(tmp_path, f"a,label\n{'a' * 200_000},2\n")


def test_delimiter_is_the_one_that_fits_the_rows(tmp_path):
    table = read(tmp_path, "a;;;b,c;;d,label\n1,2,x\n3,4,y\n")
    assert table.feature_names == ("a;;;b", "c;;d")


def test_gzip_and_tsv(tmp_path):
    path = tmp_path / "data.tsv.gz"
    path.write_bytes(gzip.compress(b"a,1\tb\tlabel\n1\t2\tx\n3\t4\ty\n"))
    table = read_table(path, "label")
    assert table.feature_names == ("a,1", "b")


def test_decimal_commas(tmp_path):
    table = read(tmp_path, "a;b;label\n1,5;2;x\n-0,25;4,0e1;y\n")
    np.testing.assert_array_equal(table.X, [[1.5, 2], [-0.25, 40]])
    assert any("decimal commas" in note for note in table.notes)


def test_every_column_has_its_own_decimal_sign(tmp_path):
    table = read(tmp_path, "a;b;c;label\n1,5;2.5;1,234;x\n2,5;4.5;0,500;y\n")
    np.testing.assert_array_equal(table.X, [[1.5, 2.5, 1.234], [2.5, 4.5, 0.5]])
    assert "took the commas of 'a', 'c' for decimal signs" in table.notes
    # Behind decimal commas in the first lines, and as the target.
    rows = "\n".join(["1,5;7;1.234"] * 60 + ["2,5;1.25;0.5"])
    table = read(tmp_path, f"a;b;t\n{rows}\n", target="t")
    np.testing.assert_array_equal(table.X[-2:], [[1.5, 7], [2.5, 1.25]])
    assert table.y[-2:].tolist() == [1.234, 0.5]
    with pytest.raises(DataError, match="text column besides the target: 'a'"):
        read(tmp_path, "a;b;label\n1,5;2.5;x\n2.5;4.5;y\n")


@pytest.mark.parametrize("header", [",a,b,label", "a,b,label"], ids=["pandas", "R"])
def test_unnamed_row_names_are_left_out(tmp_path, header):
    table = read(tmp_path, f"{header}\ns1,1,2,x\ns2,3,4,y\n")
    assert table.feature_names == ("a", "b")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert any("row names" in note for note in table.notes)


@pytest.mark.parametrize("cells", [("0.5", "1"), ("3", "3"), ("", "1.5"), ("7", "nan")])
def test_a_first_column_of_values_is_kept_under_a_made_up_name(tmp_path, cells):
    one, other = cells
    table = read(tmp_path, f",a,label\n{one},1,x\n{other},3,y\n")
    assert table.feature_names == ("x0", "a")
    np.testing.assert_array_equal(table.X[:, 0], [float(cell or "nan") for cell in cells])
    assert table.notes == ("the first column has no name but holds values: it is called x0",)
    assert read(tmp_path, f",a,label\n{one},1,x\n{other},3,y\n", drop=["x0"]).X.shape == (2, 1)


@pytest.mark.parametrize(("cells", "kept"), [(("0", "1"), False), (("0.5", "1"), True)])
def test_made_up_names_are_not_those_of_other_columns(tmp_path, cells, kept):
    table = read(tmp_path, f",x0,label\n{cells[0]},1,x\n{cells[1]},3,y\n")
    assert table.feature_names == (("unnamed x0", "x0") if kept else ("x0",))


def test_a_first_column_of_values_with_decimal_commas(tmp_path):
    assert read(tmp_path, ";a;label\n0,5;1,5;x\n1,5;3;y\n").feature_names == ("x0", "a")


def test_unnamed_inner_column_gets_a_name(tmp_path):
    table = read(tmp_path, "a,,label\n1,2,x\n3,4,y\n", drop=["x1"])
    assert table.feature_names == ("a",)


def test_missing_and_truth_values(tmp_path):
    table = read(tmp_path, "a,b,label\n,TRUE,x\nNA,False,y\n1,true,x\n")
    np.testing.assert_array_equal(table.X, [[np.nan, 1], [np.nan, 0], [1, 1]])


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [(("0", "1"), "i"), (("0.5", "1"), "f"), (("no", "1"), "U"), (("1_0", "2_0"), "U")],
)
def test_type_of_target(tmp_path, labels, dtype):
    table = read(tmp_path, f"a,label\n1,{labels[0]}\n2,{labels[1]}\n")
    assert table.y.dtype.kind == dtype


def test_drop(tmp_path):
    table = read(tmp_path, "id,a,label\np1,1,x\np2,2,y\n", drop=["id"])
    assert table.feature_names == ("a",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "data.csv is empty"),
        ("\n\n", "data.csv is empty"),
        ("a,b,label\n", "column names but no rows"),
        ("label\n1\n", "only one column"),
        ("a,lable\n1,x\n", "has no column 'label'; did you mean 'lable'"),
        ("a,LABEL\n1,x\n", "did you mean 'LABEL'"),
        ("1.5,2.5\n1,3\n", "names missing"),
        ("a,b,a,label\n1,2,3,x\n", "duplicate column names: 'a'"),
        ("id,a,label\np1,1,x\n", r"text column.*'id' \('p1' in line 2\).*--drop"),
        ("id,n,a,label\np1,q,1,x\n", "text columns.*'id', 'n'"),
        ("a,b,label\n1,2,x\n1,?,x\n", r"'b' \('\?' in line 3\)"),
        ("a,label\n1_2,x\n3,y\n", r"text column.*'a' \('1_2'"),
        ("a,label\n2024-01-31,x\n2024-02-01,y\n", "text column"),
        ("a,b,label\n1,2,x\n1,2\n", "line 3 has 2 fields but the first line has 3"),
        ('"a\nb",c,label\n1,2,x\n1,2,3,4\n', "line 4 has 4 fields"),
        ("a,label\n1,x\n2,\n3,NA\n", r"missing in 2 rows \(first in data row 2\)"),
        (b"a,label\n1,caf\xe9\n", "not UTF-8"),
        (b"caf\xe9,label\n1,2\n", "not UTF-8"),
    ],
)
def test_bad_files(tmp_path, text, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_broken_gzip(tmp_path):
    with pytest.raises(DataError, match="gzip"):
        read(tmp_path, b"a,label\n1,2\n", name="data.csv.gz")
    whole = gzip.compress(b"a,label\n" + b"1,2\n" * 100_000)
    with pytest.raises(DataError, match="gzip"):
        read(tmp_path, whole[: len(whole) // 2], name="data.csv.gz")


def test_unknown_drop_and_missing_target(tmp_path):
    text = "alpha,label\n1,x\n"
    with pytest.raises(DataError, match="no column 'alfa' to drop; did you mean 'alpha'"):
        read(tmp_path, text, drop=["alfa"])
    with pytest.raises(DataError, match="no column besides the target 'label'"):
        read(tmp_path, text, drop=["alpha"])
    with pytest.raises(DataError, match="cannot be dropped"):
        read(tmp_path, text, drop=["label"])
    with pytest.raises(TargetNeededError, match="'alpha', 'label'"):
        read(tmp_path, text, target=None)


# -- the fast parser agrees with the reference ------------------------------------------------


@pytest.fixture
def arrow_always(monkeypatch):
    """PyArrow on every file; the list tells what it gave."""
    pytest.importorskip("pyarrow.csv")
    given = []
    parse = delimited._parse_with_arrow

    def spy(*args):
        given.append(parse(*args))
        return given[-1]

    monkeypatch.setattr(delimited, "_arrow_pays", lambda *_: True)
    monkeypatch.setattr(delimited, "_parse_with_arrow", spy)
    return given


@pytest.mark.parametrize(
    "text",
    [
        "a,b,label\n1,2.5,x\n,4,y\n",
        'a,b,label\r\n"1","2.5",x\r\n3,4e3,"y,z"\r\n',
        "\ufeffa,b,label\n1,,007\nNA,,12\n",
        "a;b;label\n1,5;2;x\n3;4;y\n",
        ",a,b,label\nr1,1,2,x\nr2,3,4,y\n",
    ],
)
def test_arrow_agrees(tmp_path, arrow_always, monkeypatch, text):
    fast = read(tmp_path, text)
    assert arrow_always[-1] is not None
    monkeypatch.setattr(delimited, "_arrow_pays", lambda *_: False)
    reference = read(tmp_path, text)
    assert len(arrow_always) == 1
    np.testing.assert_array_equal(fast.X, reference.X)
    np.testing.assert_array_equal(fast.y, reference.y)
    assert fast.feature_names == reference.feature_names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,a,label\np1,1,x\n", r"'id' \('p1' in line 2\)"),
        ("a,b,label\n1,2,x\n1,2\n", "line 3"),
        ("a,label\n2024-01-31,x\n", "text column"),
    ],
)
def test_what_arrow_cannot_read_gets_the_reference_message(tmp_path, arrow_always, text, sentence):
    with pytest.raises(DataError, match=sentence):
        read(tmp_path, text)
    assert arrow_always == [None]


def test_a_large_file_goes_to_arrow_and_a_wide_one_does_not(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow.csv")
    used = []
    monkeypatch.setattr(delimited, "_parse_with_arrow", lambda *_: used.append(1))
    monkeypatch.setattr(delimited, "_ARROW_BYTES", 1000)
    monkeypatch.setattr(delimited, "_ARROW_BYTES_PER_COLUMN", 400)
    tall = "a,label\n" + "1,2\n2,1\n" * 500
    read(tmp_path, tall)
    assert used == [1]
    names = ",".join(f"g{j}" for j in range(200))
    row = ",".join(["1.5"] * 200)
    table = read(tmp_path, f"{names},label\n{row},0\n{row},1\n")
    assert table.X.shape == (2, 200)
    assert used == [1]
