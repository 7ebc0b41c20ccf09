"""Workbooks of others: values are read, nothing else happens."""

import zipfile

import pytest

from sparsieve._imports import MissingExtraError
from sparsieve.app.io import DataError, read_table

openpyxl = pytest.importorskip("openpyxl")


def book(path, rows, *more):
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for title in more:
        made.create_sheet(title)
    made.save(path)
    return path


ROWS = [["a", "b;c", "y"], [1, 0.1, "u"], [2, True, "v"], [None, None, None], [None, -1e-300, "u"]]


def rewritten(path, part, change):
    """The same archive with one part changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


SHEET = "xl/worksheets/sheet1.xml"


def test_values_and_sheets(tmp_path):
    table = read_table(book(tmp_path / "d.xlsx", ROWS, "second"), "y")
    assert table.feature_names == ("a", "b;c")
    assert table.X[:2].tolist() == [[1, 0.1], [2, 1]]
    assert table.X[2, 1] == -1e-300
    assert table.y.tolist() == ["u", "v", "u"]
    assert table.notes == (
        "read the first of 2 sheets, 'Sheet'; save another one as a file of its own to use it",
    )


def test_a_cell_beyond_the_header_is_an_uneven_row(tmp_path):
    path = book(tmp_path / "d.xlsx", [["a", "y"], [1, 0], [2, 1, "stray"]])
    with pytest.raises(DataError, match=r"d.xlsx line 3 has 3 fields but the first line has 2"):
        read_table(path, "y")


def test_saved_values_of_formulas_are_read_and_others_refused(tmp_path):
    path = book(tmp_path / "d.xlsx", [["a", "y"], ["=1+1", 0], [3, 1]])
    with pytest.raises(DataError, match=r"row 2 of d.xlsx holds a formula whose value was not sav"):
        read_table(path, "y")
    rewritten(
        path,
        SHEET,
        lambda xml: (
            xml.replace(b"<v />", b"<v>2</v>")
            .replace(b"<v></v>", b"<v>2</v>")
            .replace(b"<v/>", b"<v>2</v>")
        ),
    )
    assert read_table(path, "y").X.ravel().tolist() == [2, 3]


def test_entities_and_odd_encodings_are_refused(tmp_path):
    path = book(tmp_path / "d.xlsx", ROWS)
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    rewritten(path, SHEET, lambda xml: laughs + xml)
    with pytest.raises(DataError, match=r"'xl/worksheets/sheet1.xml' declares entities"):
        read_table(path, "y")
    path = book(tmp_path / "e.xlsx", ROWS)
    rewritten(path, SHEET, lambda xml: xml.decode().encode("utf-16"))
    with pytest.raises(DataError, match=r"is not UTF-8 text"):
        read_table(path, "y")
    path = book(tmp_path / "f.xlsx", ROWS)
    rewritten(path, SHEET, lambda xml: b'<?xml version="1.0" encoding="UTF-7"?>' + xml)
    with pytest.raises(DataError, match=r"is not UTF-8 text"):
        read_table(path, "y")


LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'


def renamed(path, part, new, change=lambda xml: xml):
    """The same workbook whose part has another name, as its relations say, and is changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    for name in ("xl/_rels/workbook.xml.rels", "[Content_Types].xml"):
        parts[name] = parts[name].replace(part[3:].encode(), new[3:].encode())
    parts[new] = change(parts.pop(part))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("new", ["xl/worksheets/sheet1.bin", "xl/sheet", "xl/media/image1.png"])
def test_a_sheet_of_any_name_is_looked_at(tmp_path, new):
    """Which part is a sheet the workbook says: its name does not."""
    path = renamed(book(tmp_path / "d.xlsx", ROWS), SHEET, new)
    assert read_table(path, "y").y.tolist() == ["u", "v", "u"]
    said = rf"d.xlsx is not read: its part '{new}' declares entities, .* save the sheet as .csv"
    for change in (
        lambda xml: LAUGHS + xml,
        lambda xml: b"<!--" + b" " * 2_100_000 + b"-->" + LAUGHS + xml,
        lambda xml: b"<!--" + b" " * ((1 << 20) - 10) + b"-->" + LAUGHS + xml,  # between two reads
        lambda xml: LAUGHS.replace(b"DOCTYPE", b"DOCTYP\0E") + xml,
    ):
        path = renamed(book(tmp_path / "d.xlsx", ROWS), SHEET, new, change)
        with pytest.raises(DataError, match=said):
            read_table(path, "y")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_wide_letters_are_seen_in_a_part_of_any_name(tmp_path, encoding):
    new = "xl/worksheets/sheet1.bin"
    for start, said in (("", "is not UTF-8 text"), (" " * 100, "declares entities")):
        path = renamed(
            book(tmp_path / "d.xlsx", ROWS),
            SHEET,
            new,
            lambda xml, start=start: (start + (LAUGHS + xml).decode()).encode(encoding),
        )
        with pytest.raises(DataError, match=said):
            read_table(path, "y")


def test_formulas_are_seen_in_a_sheet_of_any_name(tmp_path):
    rows = [["a", "y"], ["=1+1", 0], [3, 1]]
    path = renamed(book(tmp_path / "d.xlsx", rows), SHEET, "xl/elsewhere.bin")
    with pytest.raises(DataError, match=r"row 2 of d.xlsx holds a formula whose value was not sav"):
        read_table(path, "y")


def test_what_inflates_beyond_memory_is_refused(tmp_path, monkeypatch):
    path = book(tmp_path / "d.xlsx", ROWS)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/extra.xml", b" " * 3_000_000)
    monkeypatch.setattr("sparsieve.app.io.excel.memory_limit", lambda: 2_000_000)
    assert path.stat().st_size < 20_000
    with pytest.raises(DataError, match=r"d.xlsx inflates to more than the memory limit"):
        read_table(path, "y")


def test_rows_and_columns_far_away_take_no_memory(tmp_path, monkeypatch):
    path = book(tmp_path / "d.xlsx", ROWS)
    far = b'<row r="99999999999"><c r="A99999999999"><v>1</v></c></row></sheetData>'
    rewritten(path, SHEET, lambda xml: xml.replace(b"</sheetData>", far))
    with pytest.raises(DataError, match=r"a row beyond the 1,048,576|not a readable Excel file"):
        read_table(path, "y")
    wide = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(9, 60))
    path = book(tmp_path / "e.xlsx", ROWS)
    rewritten(path, SHEET, lambda xml: xml.replace(b"</sheetData>", wide + b"</sheetData>"))
    monkeypatch.setattr("sparsieve.app.io.excel.memory_limit", lambda: 500_000)
    with pytest.raises(DataError, match=r"holds more than the memory limit"):
        read_table(path, "y")


def test_links_to_other_files_are_not_followed(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("do not read")
    path = book(tmp_path / "d.xlsx", [["a", "y"], [f"='[{secret}]Sheet1'!A1", 0], [3, 1]])
    with pytest.raises(DataError, match=r"a formula whose value was not saved"):
        read_table(path, "y")


@pytest.mark.parametrize(
    "content", [b"1", b"PK\x03\x04 no archive", b"\xd0\xcf\x11\xe0 an old one"]
)
def test_what_is_no_workbook(tmp_path, content):
    (tmp_path / "d.xlsx").write_bytes(content)
    with pytest.raises(DataError, match=r"d.xlsx is not a readable Excel file"):
        read_table(tmp_path / "d.xlsx", "y")


def test_without_the_package_one_sentence_tells_how_to_get_it(tmp_path, monkeypatch):
    path = book(tmp_path / "d.xlsx", ROWS)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(
        MissingExtraError, match=r"install it with pip install 'sparsieve\[excel\]'"
    ):
        read_table(path, "y")
