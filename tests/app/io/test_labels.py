"""Labels stay what they are, in whatever kind of file and whichever way it is turned."""

import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparsieve.app.io import DataError, read_table
from sparsieve.app.io.labels import Column, read_target

APART = [
    ["01", "1"],
    ["9007199254740993", "9007199254740992"],
    ["1e1", "10"],
    ["0x1", "1"],
    ["007", "7", "0012", "12"],
    ["20230000000000000001", "20230000000000000002", "20230000000000000003"],
    ["1e5", "100000", "1E5"],
    ["+1", "1"],
    ["-0", "0"],
    ["١", "1"],
    ["9007199254740993.0", "9007199254740992.0"],
    ["1_0", "10"],
    ["1 ", "2"],
    ["1.5", "1.50"],
    ["True", "TRUE"],
    ["3.0", "3"],
]


def both_ways(folder, labels):
    """A table with these labels in every role, and the same with its features in rows."""
    n = 2 * len(labels)
    cells = [["id", *[f"s{i}" for i in range(n)]], ["a", *[str(i / 8) for i in range(n)]]]
    cells += [[role, *(labels * 2)] for role in ("label", "patient", "site")]
    cells += [["time", *[str(i + 1) for i in range(n)]], ["died", *["1", "0"] * len(labels)]]
    for name, rows in (("turned.csv", cells), ("d.csv", list(zip(*cells, strict=True)))):
        (folder / name).write_text("\n".join(",".join(row) for row in rows) + "\n", "utf-8")
    for name, turned in (("d.csv", {"sample_id": "id"}), ("turned.csv", {"transpose": True})):
        drop = ["time", "died", "patient", "site"]

        def read(*target, path=folder / name, turned=turned, drop=drop, **roles):
            named = {*target[0], *roles.values()} if isinstance(target[0], tuple) else set(target)
            others = [one for one in (*drop, "label") if one not in named | set(roles.values())]
            return read_table(path, *target, others, **turned, **roles)

        yield read


@pytest.mark.parametrize("labels", APART, ids=" ".join)
def test_two_labels_never_become_one(tmp_path, labels):
    distinct = {label.strip() for label in labels}
    found = []
    for read in both_ways(tmp_path, labels):
        table = read("label", groups="patient", task="classification")
        assert len(set(table.y.tolist())) == len(distinct)
        pairs = set(zip(labels * 2, table.groups.tolist(), strict=True))
        assert len({group for _, group in pairs}) == len(distinct)
        y = read(("time", "died"), strata="site").y
        assert len(np.unique(y["strata"])) == len(distinct)
        found.append((table.y.tolist(), read("label").y.tolist(), read("label").notes))
    assert found[0] == found[1]
    if labels[-1] not in ("1.50", "3"):  # a number with a fraction, and one way to write 3
        assert len(set(found[0][1])) == len(distinct)


TEXTS = st.one_of(
    st.text("01.eE+-_ ", min_size=1, max_size=4),
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False).map(str),
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(labels=st.lists(TEXTS.filter(lambda text: text.strip()), min_size=2, max_size=5))
def test_any_labels_both_ways(tmp_path, labels):
    """The plain loop: a dictionary of texts; numbers must be those that Python reads."""
    stripped = [label.strip() for label in labels] * 2
    found = []
    for read in both_ways(tmp_path, labels):
        table = read("label", groups="patient", task="classification")
        pairs = set(zip(stripped, table.y.tolist(), strict=True))
        assert len(pairs) == len(set(stripped)) == len({y for _, y in pairs})
        assert len(set(table.groups.tolist())) == len(set(stripped))
        plain = read("label").y
        if plain.dtype.kind != "U":
            assert plain.tolist() == [float(text) for text in stripped]
        found.append((table.y.tolist(), table.groups.tolist(), plain.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("labels", "expected", "note"),
    [
        (["1", "2"], [1, 2], ""),
        (["1.0", "2.0"], [1.0, 2.0], ""),
        (["1", "1.0", "2"], [1.0, 1.0, 2.0], "writes one number as '1' and '1.0': that is one val"),
        (["1", "01"], ["1", "01"], "writes one number as '01' and '1': they are read as labels"),
        (
            ["1", "1.0", "2e1", "20"],
            ["1", "1.0", "2e1", "20"],
            "one number as '20' and '2e1': they",
        ),
        (["007", "12"], ["007", "12"], "is written with leading zeros ('007'): they are read as"),
        (["1e+05", "7"], [100000.0, 7.0], ""),  # as R writes
        (["0.5", "007"], [0.5, 7.0], ""),
        (["1.5", "1.50"], [1.5, 1.5], ""),
        (["9" * 20, "1"], ["9" * 20, "1"], "has more digits than whole numbers are read with"),
        (["inf", "1"], [np.inf, 1.0], ""),
        (["a", "1"], ["a", "1"], ""),
    ],
)
def test_when_a_target_is_numbers(tmp_path, labels, expected, note):
    text = "a,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels))
    (tmp_path / "d.csv").write_text(text)
    table = read_table(tmp_path / "d.csv", "label")
    assert table.y.tolist() == expected
    assert type(table.y.tolist()[0]) is type(expected[0])
    assert any(note in one for one in table.notes) if note else table.notes == ()


def test_who_asks_for_numbers_gets_them(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,label\n1,007\n2,7\n3,10\n")
    for task in ("regression", "counts"):
        table = read_table(path, "label", task=task)
        assert (table.y.tolist(), table.notes) == ([7, 7, 10], ())
    assert read_table(path, "label", task="classification").y.tolist() == ["007", "7", "10"]
    path.write_text("a,label\n1,07\n2,12\n")
    assert read_table(path, "label", task="classification").y.tolist() == ["07", "12"]
    with pytest.raises(ValueError, match=r"task must be one of 'auto'"):
        read_table(path, "label", task="numbers")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1, 2], "label": ["1.5", "02"]}).to_parquet(tmp_path / "d.parquet")
    assert read_table(tmp_path / "d.parquet", "label").y.tolist() == ["1.5", "02"]
    assert read_table(tmp_path / "d.parquet", "label", task="regression").y.tolist() == [1.5, 2.0]


@pytest.mark.parametrize("turned", [False, True])
def test_a_target_with_decimal_commas(tmp_path, turned):
    path = tmp_path / "d.csv"
    rows = [["id", "s1", "s2"], ["a", "1,5", "2"], ["y", "2,5", "-0,25"], ["when", "3,5", "1"]]
    rows += [["died", "1", "0"]]
    rows = rows if turned else list(zip(*rows, strict=True))
    path.write_text("\n".join(";".join(row) for row in rows) + "\n")
    how = {"transpose": True} if turned else {"sample_id": "id"}
    assert read_table(path, "y", ["when", "died"], **how).y.tolist() == [2.5, -0.25]
    y = read_table(path, ("when", "died"), ["y"], **how).y
    assert y["time"].tolist() == [3.5, 1.0]


# -- files with types --------------------------------------------------------------------------

LARGE = 2**53 + 1


def test_whole_numbers_of_parquet_keep_all_their_digits(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "d.parquet"
    numbers = pd.array([LARGE, LARGE - 1, None, 7], dtype="Int64")
    frame = pd.DataFrame({"a": range(4), "y": numbers, "donor": numbers, "id": numbers})
    frame.to_parquet(path)
    table = read_table(path, "y", groups="donor", sample_id="id", drop_unlabelled=True)
    assert table.y.tolist() == [LARGE, LARGE - 1, 7]
    assert table.groups.tolist() == table.ids.tolist() == [str(LARGE), str(LARGE - 1), "7"]


def test_decimal_numbers_of_parquet_are_numbers(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    y, donors = ["1.50", "2.00", None], ["7.00", "8.25", "7.00"]
    columns = {
        name: [None if value is None else Decimal(value) for value in values]
        for name, values in (("y", y), ("donor", donors))
    }
    made = pa.table({"a": [1, 2, 3], **columns})
    parquet.write_table(made, tmp_path / "d.parquet")
    table = read_table(tmp_path / "d.parquet", "y", groups="donor", drop_unlabelled=True)
    assert (table.y.tolist(), table.groups.tolist()) == ([1.5, 2.0], ["7", "8.25"])


def test_integers_beyond_what_numpy_counts_with():
    for numbers in ([2**70, 2**70 + 1], [2**63, -1], [2**64 - 1, 2**63]):
        y, _ = read_target(Column("y", "target 'y'", numbers), "d")
        assert len(set(y.tolist())) == 2
        assert [str(value) for value in y.tolist()] == [str(number) for number in numbers]


def test_blanks_around_labels_with_a_type(tmp_path):
    """A text file has blanks between fields; where labels have a type they are part of them."""
    labels = np.array(["a", "a ", "b"])
    np.savez(tmp_path / "d.npz", X=np.eye(3), y=labels)
    assert read_table(tmp_path / "d.npz").y.tolist() == labels.tolist()


def test_numbers_of_a_workbook(tmp_path):
    """A workbook knows no difference between 7 and 7.0, and its text 007 is not 7."""
    openpyxl = pytest.importorskip("openpyxl")
    book, path = openpyxl.Workbook(), tmp_path / "d.xlsx"
    for row in (["id", "a", "y"], [7.0, 1, "u"], ["007", 2, "v"], [3, 3, "u"], [12345, 4, "v"]):
        book.active.append(row)
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<v>7</v>", b"<v>7.0</v>", 1)
    parts[sheet] = parts[sheet].replace(b"<v>12345</v>", b"<v>%d</v>" % LARGE)
    assert b"<v>7.0</v>" in parts[sheet]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert read_table(path, "y", sample_id="id").ids.tolist() == ["7", "007", "3", str(LARGE)]


def keyed(folder, name, ids, **columns):
    frame = pd.DataFrame({"id": ids, **columns})
    path = folder / name
    if name.endswith(".csv"):
        frame.to_csv(path, index=False)
    elif name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    return path


@pytest.mark.parametrize("other", ["y.csv", "y.xlsx", "y.parquet"])
@pytest.mark.parametrize("data", ["x.csv", "x.xlsx", "x.parquet"])
def test_join_keys(tmp_path, data, other):
    """Floats that a gap has made of whole numbers still match; leading zeros are no match."""
    path = keyed(tmp_path, data, [7, 8, 9], a=[1.0, 2.0, 3.0])
    labels = keyed(tmp_path, other, [9, None, 7], kind=["u", "v", "w"])  # 9.0 and 7.0
    table = read_table(path, "kind", target_file=labels, drop_unlabelled=True)
    assert (table.ids.tolist(), table.y.tolist()) == (["7", "9"], ["w", "u"])
    assert table.n_left_out == 1
    labels = keyed(tmp_path, other, ["007", "7", "09"], kind=["u", "v", "w"])
    table = read_table(path, "kind", target_file=labels)
    assert (table.ids.tolist(), table.y.tolist()) == (["7"], ["v"])
    labels = keyed(tmp_path, other, ["007", "008"], kind=["u", "v"])
    with pytest.raises(DataError, match=r"no sample id of .*, such as '007' in y\..* and '7' in x"):
        read_table(path, "kind", target_file=labels)


def test_a_text_too_long_for_a_label(tmp_path):
    (tmp_path / "d.csv").write_text(f"a,y,g\n1,u,{'x' * 1001}\n2,v,y\n")
    with pytest.raises(DataError, match=r"group 'g' of d.csv holds a text of 1001 characters"):
        read_table(tmp_path / "d.csv", "y", groups="g")


@pytest.mark.parametrize("role", ["y", "donor", "id"])
def test_labels_of_parquet_that_are_no_text(tmp_path, role):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    labels = pa.array([b"caf\xe9", b"b"]).view(pa.string())  # which says that it is UTF-8
    columns = {name: labels if name == role else ["u", "v"] for name in ("y", "donor", "id")}
    parquet.write_table(pa.table({"a": [1.0, 2.0], **columns}), tmp_path / "d.parquet")
    with pytest.raises(DataError, match=rf"'{role}' of d.parquet is text, but not UTF-8"):
        read_table(tmp_path / "d.parquet", "y", groups="donor", sample_id="id")
