"""Tables as people have them: transposed, in two files, with text, gaps and groups."""

import numpy as np
import pandas as pd
import pytest

from sparsieve.app.io import DataError, read_table

FRAME = pd.DataFrame(
    {
        "sample": ["s1", "s2", "s3", "s4", "s5"],
        "a": [1.0, 2.5, np.nan, 4.0, 5.0],
        "sex": ["f", "m", None, "m", "f"],
        "b": [10, 20, 30, 40, 50],
        "donor": ["p", "p", "q", "q", "r"],
        "kind": ["x", "y", "x", None, "y"],
    }
)
ROLES = {"groups": "donor", "sample_id": "sample", "drop_unlabelled": True, "encode_text": True}


def written(folder, suffix, frame=FRAME, name="data"):
    path = folder / f"{name}{suffix}"
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    return path


def check_messy(table):
    assert table.feature_names == ("a", "sex=m", "b")
    expected = [[1, 0, 10], [2.5, 1, 20], [np.nan, np.nan, 30], [5, 0, 50]]
    np.testing.assert_array_equal(table.X, np.array(expected))
    assert table.y.tolist() == ["x", "y", "x", "y"]
    assert table.groups.tolist() == ["p", "p", "q", "r"]
    assert table.ids.tolist() == ["s1", "s2", "s3", "s5"]
    assert list(table.text_groups.values()) == [(1,)]
    (note,) = [one for one in table.notes if one.startswith("left out")]
    assert note.startswith("left out 1 of 5 ")
    assert note.endswith(": target 'kind' is missing in 1")
    assert table.n_left_out == 1


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_every_role_in_every_format(tmp_path, suffix):
    check_messy(read_table(written(tmp_path, suffix), "kind", **ROLES))


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_features_in_rows(tmp_path, suffix):
    turned = FRAME.set_index("sample").T.rename_axis("name").reset_index()
    path = written(tmp_path, suffix, turned)
    roles = ROLES | {"sample_id": None}
    table = read_table(path, "kind", transpose=True, **roles)
    check_messy(table)
    assert table.id_name == "name"
    said = r"data.* has no column 'kind', but a row of that name: .* add --transpose"
    with pytest.raises(DataError, match=said):
        read_table(path, "kind")
    with pytest.raises(DataError, match=r"has no column 'knd'; did you mean 'kind'"):
        read_table(path, "knd", transpose=True)
    with pytest.raises(DataError, match=r"text columns besides the target: 'sex', 'donor'"):
        read_table(path, "kind", transpose=True, drop_unlabelled=True)


def test_uneven_rows_and_empty_tables_in_rows(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("name,s1,s2\na,1,2\nb,1\n")
    with pytest.raises(DataError, match=r"d.csv line 3 has 2 fields but the first line has 3"):
        read_table(path, "b", transpose=True)
    path.write_text("name,s1,s2\n")
    with pytest.raises(DataError, match=r"no rows"):
        read_table(path, "b", transpose=True)
    path.write_text("name;s1;s2\na;1,5;2,5\nkind;0;1\n")
    table = read_table(path, "kind", transpose=True)
    assert (table.X.ravel().tolist(), table.y.tolist()) == ([1.5, 2.5], [0, 1])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_a_target_of_another_file(tmp_path, suffix):
    features = FRAME[["sample", "a", "b"]].dropna()
    labels = FRAME[["kind", "sample", "donor"]].dropna().iloc[::-1]
    labels = pd.concat([labels, pd.DataFrame([["x", "s9", "t"]], columns=labels.columns)])
    path = written(tmp_path, suffix, features)
    other = written(tmp_path, suffix, labels, "labels")
    table = read_table(path, "kind", target_file=other, sample_id="sample", groups="donor")
    assert table.ids.tolist() == ["s1", "s2", "s5"]
    assert (table.y.tolist(), table.groups.tolist()) == (["x", "y", "y"], ["p", "p", "r"])
    np.testing.assert_array_equal(table.X, [[1, 10], [2.5, 20], [5, 50]])
    assert table.notes[-1] == (
        f"matched 3 of 4 samples with {other.name}; left out, without a target there: 's4'; not in "
        f"{path.name}: 's3', 's9'"
    )


def test_joins_that_cannot_be(tmp_path):
    path, other = tmp_path / "x.csv", tmp_path / "y.csv"
    path.write_text("id,a\n1,0.5\n2,0.7\n3,0.1\n")
    other.write_text("who,kind\n1,u\n2,v\n")
    assert read_table(path, "kind", target_file=other).y.tolist() == ["u", "v"]
    for text, said in (
        ("who,kind\nA,u\nB,v\n", "no sample id of y.csv is in x.csv, such as 'A' in y.csv and '1'"),
        ("who,kind\na,u\nB,v\n", "but 1 of them are names of columns of x.csv: .* add --transpose"),
        ("who,kind\n1,u\n1,v\n", r"sample ids of y.csv \(column 'who'\) are not unique: '1'"),
        ("who,kind\n,u\n2,v\n", "sample id 'who' of y.csv is missing in 1 row"),
        ("who,sort\n1,u\n2,v\n", "y.csv has no column 'kind'"),
    ):
        other.write_text(text)
        with pytest.raises(DataError, match=said):
            read_table(path, "kind", target_file=other)
    other.write_text("who,kind\n1,u\n2,v\n")
    for options, said in (
        ({"sample_id": "whom"}, "x.csv has no column 'whom'"),
        ({"groups": "donor"}, "x.csv has no column 'donor'"),
    ):
        with pytest.raises(DataError, match=said):
            read_table(path, "kind", target_file=other, **options)
    path.write_text("id,a\n1,0.5\n1,0.7\n")
    with pytest.raises(DataError, match=r"sample ids of x.csv .* not unique"):
        read_table(path, "kind", target_file=other)


def test_annotated_data_know_groups_and_other_files(tmp_path):
    anndata = pytest.importorskip("anndata")
    obs = FRAME.set_index("sample")[["donor", "kind"]]
    data = anndata.AnnData(
        np.arange(10.0).reshape(5, 2), obs=obs.assign(kind=obs["kind"].astype("category"))
    )
    data.var_names = ["g0", "g1"]
    data.write_h5ad(tmp_path / "d.h5ad")
    table = read_table(tmp_path / "d.h5ad", "kind", groups="donor", drop_unlabelled=True)
    assert table.groups.tolist() == ["p", "p", "q", "r"]
    assert table.X[:, 1].tolist() == [1, 3, 5, 9]
    with pytest.raises(
        DataError, match=r"obs of d.h5ad has no column 'doner'; did you mean 'donor'"
    ):
        read_table(tmp_path / "d.h5ad", "kind", groups="doner", drop_unlabelled=True)
    (tmp_path / "y.csv").write_text("who,state\ns5,1\ns1,0\n")
    table = read_table(tmp_path / "d.h5ad", "state", target_file=tmp_path / "y.csv")
    assert (table.ids.tolist(), table.y.tolist()) == (["s1", "s5"], [0, 1])
    (tmp_path / "y.csv").write_text("state,who\n1,s5\n0,s1\n")
    other = {"target_file": tmp_path / "y.csv", "sample_id": "who"}
    assert read_table(tmp_path / "d.h5ad", "state", **other).y.tolist() == [0, 1]
    said = r"first column of y.csv, 'state', does not hold sample ids; name .* with --id"
    with pytest.raises(DataError, match=said):
        read_table(tmp_path / "d.h5ad", "state", target_file=tmp_path / "y.csv")
    (tmp_path / "y.csv").write_text("who,state\ns5,1\ns1,0\n")
    with pytest.raises(DataError, match=r"obs of d.h5ad has no column 'whom'"):
        read_table(tmp_path / "d.h5ad", "state", **other | {"sample_id": "whom"})


def test_arrays_know_groups_and_unlabelled_samples(tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, X=np.eye(3), y=np.array([0, np.nan, 1]), donor=np.array([7, 7, 8]))
    table = read_table(path, groups="donor", drop_unlabelled=True)
    assert (table.y.tolist(), table.groups.tolist()) == ([0, 1], ["7", "8"])
    with pytest.raises(DataError, match=r"--transpose \(transpose= from Python\) cannot be used"):
        read_table(path, transpose=True)


def test_dropped_columns_with_commas(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text('"a,b",a,b,c,y\n1,2,3,4,0\n5,6,7,8,1\n')
    assert read_table(path, "y", ["a,b"]).feature_names == ("a", "b", "c")
    assert read_table(path, "y", ["a, c"]).feature_names == ("a,b", "b")
    with pytest.raises(DataError, match=r"no column 'd' to drop"):
        read_table(path, "y", ["a,d"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"groups": "dono"}, "no column 'dono'; did you mean 'donor'"),
        ({"groups": "kind"}, "column 'kind' of data.csv cannot have two roles"),
        (
            {"groups": "sex"},
            r"target 'kind' of data.csv is missing in 1 row \(first in data row 4\), group 'sex' "
            r"in 1 row \(first in data row 3\), together in 2 of 5 rows; fill them in, or leave "
            "out such rows with --drop-unlabelled",
        ),
        ({}, "missing in 1 row .*leave out such rows with --drop-unlabelled"),
    ],
)
def test_roles_that_cannot_be(tmp_path, options, said):
    given = {"encode_text": True, "sample_id": "sample"} | options
    with pytest.raises(DataError, match=said):
        read_table(written(tmp_path, ".csv"), "kind", **given)


def test_text_that_names_samples_is_not_encoded(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("name,a,y\n" + "".join(f"n{i},{i},{i % 2}\n" for i in range(30)))
    with pytest.raises(DataError, match=r"'name' of d.csv has 30 distinct values.*--drop name"):
        read_table(path, "y", encode_text=True)


def test_all_targets_missing(tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1,\n2,NA\n")
    with pytest.raises(DataError, match=r"target 'y' of d.csv is missing in every row"):
        read_table(tmp_path / "d.csv", "y", drop_unlabelled=True)
