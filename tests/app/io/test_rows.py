"""Which rows are used, for every kind of file and every role: each row carries its own number."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.io
from scipy import sparse

from sparsieve import memory
from sparsieve.app.io import DataError, read_table
from sparsieve.scale.files import arrays as files

N = 16
ROW = np.arange(N)
EVENTS = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0])
VALUES = {
    "target": [f"class {i}" for i in ROW],
    "time": ROW + 1.5,
    "event": EVENTS,
    "entry": ROW + 0.25,
    "strata": [f"site {i}" for i in ROW],
    "groups": [f"donor {i}" for i in ROW],
    "sample_id": [f"sample {i}" for i in ROW],
}
# Every role has its gap in a row of its own, and one in a row where another has one too.
GAPS = {
    "target": (2,),
    "time": (1, 9),
    "event": (3,),
    "entry": (5,),
    "strata": (7,),
    "groups": (9,),
    "sample_id": (11,),
}
WORDS = {
    "target": "target",
    "time": "time",
    "event": "event",
    "entry": "entry time",
    "strata": "stratum",
    "groups": "group",
    "sample_id": "sample id",
}
SURVIVAL = ("time", "event", "entry", "strata", "groups", "sample_id")
LABELLED = ("target", "groups", "sample_id")


def column(role, gaps):
    """The values of a role as objects, None where they are missing."""
    values = np.array(list(VALUES[role]), dtype=object)
    values[[row for row in gaps.get(role, ()) if row < len(values)]] = None
    return values


def array(role, gaps):
    """The same as an array with a type: NaN and empty text are what such a file has for gaps."""
    values = column(role, gaps)
    if isinstance(VALUES[role], list):
        return np.array(["" if value is None else value for value in values])
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def features():
    rng = np.random.default_rng(0)
    return np.column_stack([ROW + 100.0, rng.standard_normal((N, 2))])


def frame(roles, gaps):
    made = pd.DataFrame(features(), columns=["number", "b", "c"])
    for role in roles:
        made[role] = pd.Series(column(role, gaps)).infer_objects()
    return made


def turned(made):
    made = made.T.reset_index()
    made.columns = ["corner", *[f"s{i}" for i in range(N)]]
    return made


# -- how the files are written -----------------------------------------------------------------


def write_text(path, roles, gaps):
    frame(roles, gaps).to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")


def write_book(path, roles, gaps):
    pytest.importorskip("openpyxl")
    frame(roles, gaps).to_excel(path, index=False)


def write_turned(path, roles, gaps):
    turned(frame(roles, gaps)).to_csv(path, index=False)


def write_turned_book(path, roles, gaps):
    pytest.importorskip("openpyxl")
    turned(frame(roles, gaps)).to_excel(path, index=False)


def write_parquet(path, roles, gaps):
    pytest.importorskip("pyarrow")
    frame(roles, gaps).to_parquet(path, row_group_size=5)


def write_h5ad(path, roles, gaps):
    anndata = pytest.importorskip("anndata")
    made = frame(roles, gaps)
    data = anndata.AnnData(sparse.csr_matrix(made[["number", "b", "c"]].to_numpy()))
    data.var_names = ["number", "b", "c"]
    for role in roles:
        data.obs[role] = made[role].to_numpy()
    data.write_h5ad(path)


def arrays(roles, gaps):
    return {role: array(role, gaps) for role in roles}


def write_npz(path, roles, gaps):
    np.savez(path, X=features(), **arrays(roles, gaps))


def write_mat(path, roles, gaps):
    made = arrays(roles, gaps)
    made = {name: v.astype(object) if v.dtype.kind == "U" else v for name, v in made.items()}
    scipy.io.savemat(path, {"X": sparse.csc_matrix(features()), **made})


def write_npy(path, roles, gaps):
    np.save(path, features())
    for role, values in arrays(roles, gaps).items():
        np.save(path.parent / role, values)
        (path.parent / f"{role}.npy").rename(path.parent / role)


def write_hdf5(path, roles, gaps):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["X"] = features()
        for role, values in arrays(roles, gaps).items():
            file[role] = values.astype("S") if values.dtype.kind == "U" else values


def write_zarr(path, roles, gaps):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(path), mode="w")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # text is not in Zarr's specification yet
        for name, values in {"X": features(), **arrays(roles, gaps)}.items():
            group.create_array(name, data=values)


def write_svm(path, roles, gaps):
    lines = []
    for row, values in zip(ROW, features(), strict=True):
        label = "nan" if row in gaps.get("target", ()) else row
        lines.append(f"{label} " + " ".join(f"{j}:{v}" for j, v in enumerate(values, 1)))
    path.write_text("\n".join(lines) + "\n")


WRITERS = {
    "d.csv": write_text,
    "d.tsv": write_text,
    "d.csv.gz": write_text,
    "d.xlsx": write_book,
    "turned.csv": write_turned,
    "turned.xlsx": write_turned_book,
    "d.parquet": write_parquet,
    "d.h5ad": write_h5ad,
    "d.npz": write_npz,
    "d.mat": write_mat,
    "d.npy": write_npy,
    "d.h5": write_hdf5,
    "d.zarr": write_zarr,
}
SLOW = {
    "d.mat": "such files are read in a process of their own",
    "d.h5ad": "the first to import anndata waits for it",
    "d.xlsx": "the first to import openpyxl waits for it",
}
LARGE = ("d.parquet", "d.h5ad", "d.npy", "d.h5", "d.zarr")


def marked(names):
    marks = {name: [pytest.mark.long(why)] for name, why in SLOW.items()}
    return [pytest.param(name, marks=marks.get(name, [])) for name in names]


@pytest.fixture
def nothing_fits(monkeypatch):
    monkeypatch.setattr(files, "LOAD_SHARE", 1 << 20)
    monkeypatch.setattr("sparsieve.app.io.stored.LOAD_SHARE", 1 << 20)
    monkeypatch.setattr(files, "BLOCK_BYTES", 8 * 3 * 4)
    monkeypatch.setattr(memory, "_limit", 2 << 20)


# -- what is read ------------------------------------------------------------------------------


def how(roles, name):
    given = {role: role for role in roles if role not in ("target", "time", "event")}
    target = "target" if "target" in roles else ("time", "event")
    return {"target": target, "transpose": name.startswith("turned"), **given}


def check_refused(path, roles, sample, **given):
    """One sentence with every column and how often it is missing."""
    with pytest.raises(DataError) as caught:
        read_table(path, **given)
    said = str(caught.value)
    for role in roles:
        times = len(GAPS[role])
        where = f"{times} {sample}{'s' * (times > 1)} (first in data {sample} {GAPS[role][0] + 1})"
        assert f"{WORDS[role]} {role!r}" in said
        assert f"in {where}" in said
    n_gaps = len({row for role in roles for row in GAPS[role]})
    if len(roles) > 1:
        assert f"together in {n_gaps} of {N} {sample}s" in said
    assert said.endswith("with --drop-unlabelled (drop_unlabelled=True from Python)")


def check_paired(table, roles, gaps=None):
    """Every row that is complete is there, with its own value in each role."""
    gaps = {role: GAPS[role] for role in roles} if gaps is None else gaps
    rows = sorted(set(ROW.tolist()) - {row for some in gaps.values() for row in some})
    X = table.select([0]).X
    X = X.toarray() if sparse.issparse(X) else X
    assert X.ravel().tolist() == [row + 100.0 for row in rows]
    assert table.n_left_out == N - len(rows)
    for role in roles:
        expected = [VALUES[role][row] for row in rows]
        if role in ("groups", "sample_id"):
            found = table.groups if role == "groups" else table.ids
            assert found.tolist() == expected
        elif role == "target":
            assert table.y.tolist() == expected
        elif role == "strata":  # codes, or labels, of which each is there once
            assert len(set(table.y["strata"].tolist())) == len(rows)
            assert np.argsort(table.y["strata"]).tolist() == np.argsort(expected).tolist()
        else:
            assert table.y[role].tolist() == expected


def check_file(path, roles):
    given = how(roles, path.name)
    sample = "column" if path.name.startswith("turned") else "row"
    check_refused(path, roles, sample, **given)
    table = read_table(path, drop_unlabelled=True, **given)
    check_paired(table, roles)
    (note,) = [note for note in table.notes if note.startswith("left out")]
    n_gaps = len({row for role in roles for row in GAPS[role]})
    assert note.startswith(f"left out {n_gaps} of {N} {sample}s of {path.name}: ")
    for role in roles:
        assert f"{WORDS[role]} {role!r} " in note


@pytest.mark.parametrize("roles", [SURVIVAL, LABELLED], ids=["survival", "labels"])
@pytest.mark.parametrize("name", marked(WRITERS))
def test_rows_with_a_gap_are_refused_or_left_out_together(tmp_path, name, roles):
    WRITERS[name](tmp_path / name, roles, GAPS)
    check_file(tmp_path / name, roles)


@pytest.mark.parametrize("roles", [SURVIVAL, LABELLED], ids=["survival", "labels"])
@pytest.mark.parametrize("name", marked(LARGE))
def test_rows_of_files_larger_than_memory(tmp_path, name, roles, nothing_fits):
    WRITERS[name](tmp_path / name, roles, GAPS)
    check_file(tmp_path / name, roles)
    table = read_table(tmp_path / name, drop_unlabelled=True, **how(roles, name))
    assert hasattr(table.X, "passes")  # it is a design, which stays in its file


@pytest.mark.parametrize("role", [*SURVIVAL, "target"])
def test_a_gap_in_one_role_alone(tmp_path, role):
    """Each role by itself decides, in one kind of file of each engine of reading."""
    roles = SURVIVAL if role != "target" else LABELLED
    gaps = {role: GAPS[role]}
    for name in ("d.csv", "turned.csv", "d.npz"):
        path = tmp_path / name
        WRITERS[name](path, roles, gaps)
        said = rf"{WORDS[role]} '{role}' of {name} is missing in {len(GAPS[role])} "
        with pytest.raises(DataError, match=said):
            read_table(path, **how(roles, name))
        check_paired(read_table(path, drop_unlabelled=True, **how(roles, name)), roles, gaps)


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "d.mat"])  # which is slow
def test_without_gaps_all_rows_are_used(tmp_path, name):
    WRITERS[name](tmp_path / name, SURVIVAL, {})
    for drop in (False, True):
        given = how(SURVIVAL, name)
        check_paired(read_table(tmp_path / name, drop_unlabelled=drop, **given), SURVIVAL, {})


def test_an_svmlight_file_has_a_target_alone(tmp_path):
    path = tmp_path / "d.svm"
    write_svm(path, ("target",), GAPS)
    check_refused(path, ("target",), "row", target="target")
    table = read_table(path, "target", drop_unlabelled=True)
    rows = [row for row in ROW if row not in GAPS["target"]]
    assert table.y.tolist() == rows
    assert table.X[:, [0]].toarray().ravel().tolist() == [row + 100.0 for row in rows]
    for options, said in (
        ({"target": ("time", "event")}, r"--time \(target= from Python\) cannot be used with d"),
        ({"groups": "groups"}, r"--groups \(groups= from Python\) cannot be used with d.svm"),
    ):
        with pytest.raises(DataError, match=said):
            read_table(path, **options)


@pytest.mark.parametrize("name", ["d.csv", "turned.csv", "d.parquet", "d.h5ad", "d.xlsx", "large"])
def test_rows_of_two_files_that_are_joined(tmp_path, name, request):
    """The groups are in the file of the features, all else in the other one, in another order."""
    if name == "large":
        request.getfixturevalue("nothing_fits")
        name = "d.parquet"
    there = ("time", "event", "entry", "strata")
    labels = frame((*there, "sample_id"), {r: GAPS[r] for r in there}).drop(columns=list("bc"))
    labels = labels.drop(columns="number").sample(frac=1, random_state=0)
    labels.to_csv(tmp_path / "labels.csv", index=False)
    own = {"groups": (9,), "sample_id": (11,)}
    if name == "turned.csv":
        made = frame(("groups",), own).T.reset_index()
        made.columns = ["corner", *("" if i == 11 else f"sample {i}" for i in ROW)]
        made.to_csv(tmp_path / name, index=False)
    else:
        WRITERS[name](tmp_path / name, ("groups", "sample_id"), own)
    given = how(SURVIVAL, name) | {"target_file": tmp_path / "labels.csv"}
    with pytest.raises(DataError, match=r"time 'time' of labels.csv is missing in 2 rows"):
        read_table(tmp_path / name, **given)
    table = read_table(tmp_path / name, drop_unlabelled=True, **given)
    check_paired(table, SURVIVAL)
    notes = " ".join(table.notes)
    assert f"left out 5 of {N} rows of labels.csv: time 'time' is missing in 2" in notes
    assert "group 'groups' is missing in 1, sample id " in notes
    assert f"matched {N - 6} of {N - 2} samples with labels.csv; left out" in notes


def test_rows_that_all_have_a_gap(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,t,e\n1,,1\n2,3,\n")
    said = r"time 't' of d.csv is missing in 1 row .*, event 'e' in 1 row .*: every row has a gap"
    for drop in (False, True):
        with pytest.raises(DataError, match=said):
            read_table(path, ("t", "e"), drop_unlabelled=drop)
    path.write_text("a,t,e\n1,,1\n2,,0\n")
    with pytest.raises(DataError, match=r"^time 't' of d.csv is missing in every row$"):
        read_table(path, ("t", "e"), drop_unlabelled=True)


def test_samples_without_a_name_in_a_table_of_rows(tmp_path):
    """Where nobody asks for the names of samples, one that is missing is no reason to refuse."""
    path = tmp_path / "d.csv"
    path.write_text("name,s1,,s3\na,1,2,3\nkind,x,y,x\n")
    assert read_table(path, "kind", transpose=True).ids.tolist() == ["s1", "x2", "s3"]
    (tmp_path / "y.csv").write_text("who,state\ns1,0\nx2,1\ns3,1\n")
    given = {"transpose": True, "target_file": tmp_path / "y.csv", "drop": ["kind"]}
    with pytest.raises(DataError, match=r"sample id 'name' of d.csv is missing in 1 column"):
        read_table(path, "state", **given)
    table = read_table(path, "state", drop_unlabelled=True, **given)
    assert (table.ids.tolist(), table.y.tolist()) == (["s1", "s3"], [0, 1])


def test_words_for_gaps_are_words_of_text_files_alone(tmp_path):
    """A file with types says itself what is missing; its class None is a class."""
    labels = np.array(["None", "mild", "None", "severe"])
    np.savez(tmp_path / "d.npz", X=np.eye(4), y=labels)
    assert read_table(tmp_path / "d.npz").y.tolist() == labels.tolist()
    assert read_table(tmp_path / "d.npz", drop_unlabelled=True).n_left_out == 0
    pd.DataFrame({"a": range(4), "y": labels}).to_csv(tmp_path / "d.csv", index=False)
    assert read_table(tmp_path / "d.csv", "y", drop_unlabelled=True).n_left_out == 2


def test_dates_that_are_missing(tmp_path):
    days = np.array(["2024-01-01", "NaT", "2024-01-03"], dtype="M8[D]")
    np.savez(tmp_path / "d.npz", X=np.eye(3), y=np.arange(3), visit=days)
    with pytest.raises(DataError, match=r"group 'visit' of d.npz is missing in 1 row"):
        read_table(tmp_path / "d.npz", groups="visit")
    table = read_table(tmp_path / "d.npz", groups="visit", drop_unlabelled=True)
    assert table.groups.tolist() == ["2024-01-01", "2024-01-03"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "time", "strata": "strata"}, "entry and strata are for survival times"),
        ({"target": ("time", "event", "entry")}, "target must be one column, or the columns of"),
        ({"target": ("time", "time")}, "cannot have two roles at once, time and event"),
        ({"target": ("time", "even")}, "no column 'even'; did you mean 'event'"),
        ({"target": ("time", "event"), "drop": ["time"]}, "cannot be dropped: it is the time"),
        ({"target": ("strata", "event")}, "strata and event: survival times must be numbers"),
    ],
)
def test_survival_columns_that_cannot_be(tmp_path, options, said):
    write_text(tmp_path / "d.csv", ("time", "event", "strata"), {})
    with pytest.raises(DataError, match=said):
        read_table(tmp_path / "d.csv", **options)


def test_events_in_words(tmp_path):
    made = frame(("time", "event"), {})
    made["event"] = made["event"].astype(bool)
    made.to_csv(tmp_path / "d.csv", index=False)  # True and False
    y = read_table(tmp_path / "d.csv", ("time", "event")).y
    np.testing.assert_array_equal(y["event"], EVENTS > 0)
