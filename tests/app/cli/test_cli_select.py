import csv
import json
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sparsieve import FisherSelector, __version__
from sparsieve._imports import available
from sparsieve.app.cli.output import ExitCode
from sparsieve.app.io import read_table
from sparsieve.registry import DEFAULT_METHOD, all_methods

pytestmark = pytest.mark.usefixtures("lines_only")

FISHER = ("--method", "fisher")


def rows_of(path, delimiter=","):
    with open(path, newline="") as stream:
        return list(csv.reader(stream, delimiter=delimiter))


# -- results -----------------------------------------------------------------------------------


def test_plain_output_for_scripts(sparsieve, flowers):
    result = sparsieve("select", flowers, "--target", "kind", "-k", 2, *FISHER)
    assert result.code == 0
    header, *rows = [line.split("\t") for line in result.out.splitlines()]
    assert header == ["rank", "feature", "score"]
    assert [row[:2] for row in rows] == [["1", "t"], ["2", "q"]]
    assert "kept 2 of 6 features with fisher for kind (3 classes), 45 samples" in result.err
    table = read_table(flowers, "kind")
    scores = FisherSelector().fit(table.X, table.y).scores_
    assert rows[0][2] == f"{scores[4]:.4g}"


def test_table_on_a_terminal(sparsieve, flowers, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    result = sparsieve("select", flowers, "-t", "kind", "-k", 2, *FISHER)
    assert result.code == 0
    assert "feature" in result.out
    assert "\t" not in result.out
    assert "Selecting" not in result.out


def test_names_only_and_quiet(sparsieve, flowers):
    result = sparsieve("select", flowers, "-t", "kind", "-k", 2, "-n", "-q", *FISHER)
    assert (result.code, result.out, result.err) == (0, "t\nq\n", "")


def test_json_to_stdout_and_file(sparsieve, flowers, tmp_path):
    out = tmp_path / "result.json"
    arguments = ("select", flowers, "-t", "kind", "-k", "0.5", "--param", "class_weight=balanced")
    printed = sparsieve(*arguments, *FISHER, "--json").json()
    silent = sparsieve(*arguments, *FISHER, "-o", out)
    assert silent.out == ""
    assert f"wrote {out}" in silent.err
    stored = json.loads(out.read_text())
    for result in (stored, printed):
        assert result.pop("seconds") >= result.pop("fit_seconds") >= 0
    assert printed == stored
    assert stored["method"] == "fisher"
    assert stored["class"] == "FisherSelector"
    assert stored["parameters"]["class_weight"] == "balanced"
    assert stored["parameters"]["n_features_to_select"] == 0.5
    assert stored["classes"] == ["lily", "rose", "tulip"]
    assert stored["task"] == "classification"
    assert (stored["n_samples"], stored["n_features"], stored["n_selected"]) == (45, 6, 3)
    assert stored["selected"][:2] == ["t", "q"]
    assert [entry["rank"] for entry in stored["ranking"]] == [1, 2, 3]
    assert [entry["feature"] for entry in stored["ranking"]] == stored["selected"]
    assert stored["version"] == __version__
    everything = sparsieve(*arguments, *FISHER, "--json", "--all").json()["ranking"]
    assert [entry["rank"] for entry in everything] == list(range(1, 7))
    assert everything[:3] == stored["ranking"]


def test_infinite_scores_are_null_in_json(sparsieve, tmp_path):
    path = tmp_path / "perfect.csv"
    path.write_text("a,b,y\n0,1,0\n0,2,0\n1,1,1\n1,3,1\n")
    result = sparsieve("select", path, "-t", "y", "-k", 1, "--json", *FISHER)
    assert result.json()["ranking"][0] == {
        "rank": 1, "feature": "a", "score": None, "selected": True, "p_value": 0.0,
        "p_value_fdr": 0.0, "note": "",
    }  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_selected_columns(sparsieve, flowers, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    out = tmp_path / f"selected{suffix}"
    result = sparsieve("select", flowers, "-t", "kind", "-k", 2, *FISHER, "-o", out)
    assert result.code == 0
    before, after = read_table(flowers, "kind"), read_table(out, "kind")
    assert after.feature_names == ("t", "q")  # best first
    np.testing.assert_array_equal(after.X, before.X[:, [4, 1]])
    np.testing.assert_array_equal(after.y, before.y)


def test_ranking_file(sparsieve, flowers, tmp_path):
    out = tmp_path / "ranking.tsv"
    result = sparsieve("select", flowers, "-t", "kind", "-k", 2, *FISHER, "--ranking", out)
    assert result.code == 0
    header, *rows = rows_of(out, "\t")
    assert header == ["rank", "feature", "score", "selected", "p_value", "p_value_fdr", "note"]
    assert [row[0] for row in rows] == list("123456")
    assert [row[1] for row in rows[:2]] == ["t", "q"]
    assert [row[3] for row in rows] == ["True"] * 2 + ["False"] * 4


@pytest.mark.slow
def test_without_k_the_number_is_that_of_python(sparsieve, flowers):
    """And that of -k auto; whoever asks for halves leaves the number to them."""
    import sparsieve as package
    from sparsieve.app.io import read_table

    found = sparsieve("select", flowers, "-t", "kind", "--json", "-q", *FISHER).json()
    table = read_table(flowers, target="kind")
    same = package.select(table.X, table.y, method="fisher", feature_names=table.feature_names)
    assert found["selected"] == same.features
    assert found["held_out"]["score"] == same.accuracy
    assert found["choice"] == " ".join(same.selector.summary().split())
    auto = sparsieve("select", flowers, "-t", "kind", "--json", "-q", "-k", "auto", *FISHER).json()
    assert (auto["selected"], auto["curve"]) == (found["selected"], found["curve"])
    stable = sparsieve("select", flowers, "-t", "kind", "--json", "-q", "--stable", *FISHER).json()
    assert stable["curve"] is None


def test_drop_and_notes(sparsieve, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(",id,a,b,y\n0,p,1,5,u\n1,q,2,1,v\n2,r,1,2,u\n3,s,3,4,v\n")
    refused = sparsieve("select", path, "-t", "y", "--no-encode-text", *FISHER)
    assert refused.code == ExitCode.BAD_DATA
    assert "text column besides the target: 'id'" in refused.err
    assert "--drop" in refused.err
    result = sparsieve("select", path, "-t", "y", "--drop", "id", "--drop", "b", "-n", *FISHER)
    assert (result.code, result.out) == (0, "a\n")
    assert "note: the first column has no name" in result.err


def test_sparse_h5ad_and_default_targets(sparsieve, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(20, 5)) * 1.0
    X[:, 3] += 5 * (np.arange(20) % 2)
    np.savez(tmp_path / "d.npz", X=X, y=np.arange(20) % 2)
    assert sparsieve("select", tmp_path / "d.npz", "-k", 1, "-n", *FISHER).out == "x3\n"
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(sparse.csr_matrix(X))
    data.obs["kind"] = ["T", "B"] * 10
    data.var_names = list("ABCDE")
    data.write_h5ad(tmp_path / "d.h5ad")
    arguments = ("select", tmp_path / "d.h5ad", "-t", "kind", "-k", 1, "-n", *FISHER)
    assert sparsieve(*arguments).out == "D\n"


def test_default_method(sparsieve, flowers):
    if DEFAULT_METHOD not in all_methods():
        pytest.skip("the default method is not there yet")
    result = sparsieve("select", flowers, "-t", "kind", "-k", 2, "--json")
    assert result.json()["method"] == DEFAULT_METHOD
    assert set(result.json()["selected"]) == {"q", "t"}


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", all_methods())
def test_every_method_runs(sparsieve, flowers, name):
    lines = flowers.read_text().splitlines()
    flowers.write_text("\n".join(line for line in lines if not line.endswith("tulip")) + "\n")
    result = sparsieve("select", flowers, "-t", "kind", "-k", 2, "-m", name, "--json")
    if name == "chi-square":  # needs counts, and says so
        assert result.code == 1
        assert "Negative values" in result.err
        return
    assert result.code == 0, result.err
    assert result.json()["n_selected"] == 2
    if name != "boosted-trees":  # whose leaves hold a third of so few samples
        assert "t" in result.json()["selected"]


def test_warnings_reach_the_user_in_a_sentence(sparsieve, flowers, monkeypatch):
    fit = FisherSelector._fit

    def warning_fit(self, data):
        warnings.warn("not converged", ConvergenceWarning)
        warnings.warn("for developers", DeprecationWarning)
        return fit(self, data)

    monkeypatch.setattr(FisherSelector, "_fit", warning_fit)
    result = sparsieve("select", flowers, "-t", "kind", "--json", *FISHER)
    assert result.err.splitlines()[0] == "warning: not converged"
    assert result.json()["warnings"] == ["not converged"]
    assert "for developers" not in result.err


# -- errors ------------------------------------------------------------------------------------

BAD_USAGE = [
    (("-m", "fishr"), "unknown method 'fishr'; did you mean fisher"),
    (("-k", "0", *FISHER), "-k must be at least 1, got 0"),
    (("-k", "-3", *FISHER), "-k must be at least 1, got -3"),
    (("-k", "1.5", *FISHER), "-k as a fraction must lie in (0, 1], got 1.5"),
    (("-k", "many", *FISHER), "-k must be a number of features, a fraction"),
    (("-k", "7", *FISHER), "-k 7 is larger than the 6 features of the table; ask for at most 6"),
    (("--task", "regression", *FISHER), "fisher works for class labels only"),
    (("--task", "guess", *FISHER), "--task"),
    (("--param", "class_wieght=balanced", *FISHER), "did you mean class_weight?"),
    (("--param", "class_weight", *FISHER), "--param needs NAME=VALUE, got 'class_weight'"),
    (("--param", "n_features_to_select=3", *FISHER), "use -k instead"),
    (("--colour", *FISHER), "No such option"),
    (("-o", "out.xlsx", *FISHER), "unknown suffix '.xlsx'; known are .csv"),
    (("--ranking", "out.json", *FISHER), "unknown suffix '.json'"),
    (("-o", "no/such/folder/out.csv", *FISHER), "does not exist"),
    (("--names-only", "--json", *FISHER), "exclude each other"),
    (("--all", *FISHER), "--all needs --json"),
    (("--format", "csv", *FISHER), "--format is for standard input"),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD_USAGE)
def test_bad_usage(sparsieve, flowers, monkeypatch, tmp_path, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    result = sparsieve("select", flowers, "--target", "kind", *arguments)
    assert result.code == ExitCode.BAD_USAGE == 2
    assert result.err.startswith("error: ")
    assert sentence in result.err
    assert len(result.err.splitlines()) == 1
    assert result.out == ""


def test_target_is_needed(sparsieve, flowers):
    result = sparsieve("select", flowers, *FISHER)
    assert result.code == 2
    assert "--target is missing" in result.err


def test_the_data_is_never_overwritten(sparsieve, flowers):
    before = flowers.read_bytes()
    for option in ("-o", "--ranking"):
        result = sparsieve("select", flowers, "-t", "kind", *FISHER, option, flowers)
        assert result.code == 2
        assert "would overwrite the data" in result.err
    assert flowers.read_bytes() == before


BAD_DATA = [
    ("a,b,y\n", "no rows"),
    ("", "is empty"),
    ("a,b,label\n1,2,3\n", "no column 'y'"),
    ("a,a,y\n1,2,3\n", "duplicate column names"),
    ("a,b,y\n1,2,u\n3,inf,v\n4,5,u\n", "infinite"),
    ("a,b,y\n1,2,u\n3,4,\n4,5,u\n", "target 'y' of d.csv is missing in 1 row"),
    ("a,b,y\n1,2,u\n3,4,u\n4,5,u\n", "only one class"),
    ("a,b,y\n1,2,u\n3,4\n", "line 3 has 2 fields"),
    ("a,b,y\n1,2,0.5\n3,4,0.7\n1,3,1.2\n", "needs one column of class labels"),
]


@pytest.mark.parametrize(("text", "sentence"), BAD_DATA)
def test_bad_data(sparsieve, tmp_path, text, sentence):
    path = tmp_path / "d.csv"
    path.write_text(text)
    result = sparsieve("select", path, "--target", "y", *FISHER, "-o", tmp_path / "out.csv")
    assert result.code == ExitCode.BAD_DATA == 1
    assert result.err.startswith("error: ")
    assert sentence in result.err
    assert len(result.err.splitlines()) == 1
    assert result.out == ""
    assert not (tmp_path / "out.csv").exists()


def test_bad_paths_are_bad_data(sparsieve, tmp_path):
    for path, sentence in (
        (tmp_path, "is a folder"),
        (tmp_path / "none.csv", "does not exist"),
    ):
        result = sparsieve("select", path, "-t", "y", *FISHER)
        assert result.code == 1
        assert sentence in result.err


def test_missing_extra(sparsieve, flowers, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    out = tmp_path / "out.parquet"
    result = sparsieve("select", flowers, "-t", "kind", *FISHER, "-o", out)
    assert result.code == 1
    assert "pip install 'sparsieve[data]'" in result.err


def test_unexpected_errors_and_debug(sparsieve, flowers, monkeypatch):
    def broken(self, data):
        raise RuntimeError("a bug")

    monkeypatch.setattr(FisherSelector, "_fit", broken)
    arguments = ("select", flowers, "-t", "kind", *FISHER)
    result = sparsieve(*arguments)
    assert result.code == ExitCode.UNEXPECTED == 3
    assert result.err == (
        "error: unexpected RuntimeError: a bug; run again with --debug to see where\n"
    )
    traced = sparsieve(*arguments, "--debug")
    assert traced.code == 3
    assert "Traceback" in traced.err
    assert "in broken" in traced.err
    assert "Traceback" in sparsieve("--debug", *arguments).err


def test_settings_of_a_solver(sparsieve, flowers):
    arguments = ("select", flowers, "-t", "kind", "-k", 2, "-m", "l20", "--param")
    found = sparsieve(*arguments, "solver=hiht", "--param", "solver__decay=0.8", "--json").json()
    assert found["parameters"]["solver"] == "HIHT(decay=0.8)"
    result = sparsieve(*arguments, "solver=hiht", "--param", "solver__dekay=0.8")
    assert result.code == ExitCode.BAD_USAGE
    assert "HIHT has no parameter 'dekay'" in result.err


def test_what_scores_mean_and_what_noise_reaches(sparsieve, flowers, tmp_path):
    out = tmp_path / "ranking.csv"
    arguments = ("select", flowers, "-t", "kind", "-k", 2, "-m", "f-statistic", "--null", 5)
    found = sparsieve(*arguments, "--json").json()
    assert found["null"]["n_repeats"] == 5
    assert 0 < found["null"]["level"] < found["ranking"][0]["score"]
    assert found["score_meaning"]
    assert found["ranking"][0]["p_value"] <= found["ranking"][0]["p_value_fdr"] < 0.01
    said = sparsieve(*arguments, "--ranking", out).err
    assert f"score: {found['score_meaning']}" in said
    assert "noise reaches a score of" in said
    assert rows_of(out)[0][-3:] == ["p_value", "p_value_fdr", "note"]


def test_leaks_and_ids_are_said(sparsieve, tmp_path):
    path = tmp_path / "leak.csv"
    rng = np.random.default_rng(0)
    lines = [f"{i},{rng.random()},{i % 2 + 0.1 * rng.random()},{'ab'[i % 2]}" for i in range(40)]
    path.write_text("\n".join(["id,age,age_at_death,label", *lines]))
    result = sparsieve("select", path, "-t", "label", "-k", 1)
    sentence = (
        "age_at_death alone predicts the target perfectly."
        " Possible leak: was it known before the outcome?"
    )
    assert f"note: {sentence}" in result.err
    assert "note: id rises or falls with every row" in result.err
    assert sparsieve("select", path, "-t", "label", "-q").err == ""
    assert sentence in sparsieve("select", path, "-t", "label", "--json").json()["diagnosis"]


def test_columns_by_name_in_parameters(sparsieve, flowers):
    arguments = ("select", flowers, "-t", "kind", "-k", 2, "--json", "--param")
    found = sparsieve(*arguments, "always_keep=['p']").json()
    assert found["selected"][0] == "p"
    assert found["ranking"][0]["note"] == "kept by request"
    result = sparsieve(*arguments, "always_keep=['pp']")
    assert result.code == ExitCode.BAD_DATA
    assert "always_keep: 'pp' is not a column of X" in result.err


def test_auto_chooses_how_many_and_says_why(sparsieve, flowers):
    result = sparsieve("select", flowers, "-t", "kind", "-k", "auto")
    names = [line.split("\t")[1] for line in result.out.splitlines()[1:]]
    assert set(names[:2]) == {"q", "t"}
    why = "the best number that was tried (accuracy 97.8 % over 20 folds, by the ridge model that"
    assert f"Kept: {len(names)} features, {why} searches)." in result.err
    assert "The softmax regression model on them: accuracy" in result.err
    auto = ("select", flowers, "-t", "kind", "-k", "auto", "--json", "-q", *FISHER)
    found = sparsieve(*auto, "--rule", "best").json()
    assert found["n_selected"] == found["parameters"]["n_features_to_select"]
    said = f"Kept: {found['n_selected']} features, the best number that was tried (accuracy "
    assert found["choice"].startswith(said)
    means = {point["k"]: point["mean"] for point in found["curve"]}
    assert means[found["n_selected"]] == max(means.values())
    assert f"{100 * means[found['n_selected']]:.1f} % over 20 folds" in found["choice"]
    shipped = found["choice"].partition("The softmax regression model on them: accuracy ")[2]
    assert shipped.startswith(f"{100 * found['held_out']['score']:.1f} % (standard error ")
    fewer = sparsieve(*auto).json()
    assert fewer["choice"].startswith(f"Kept: {fewer['n_selected']} features, the ")
    assert fewer["curve"] == found["curve"]
    assert fewer["n_selected"] <= found["n_selected"]
    assert (
        sparsieve("select", flowers, "-t", "kind", "-k", 2, "--json", "-q").json()["curve"] is None
    )
    useless = sparsieve("select", flowers, "-t", "kind", "-k", 2, "--rule", "one_se")
    assert (useless.code, "--rule needs -k auto" in useless.err) == (2, True)
    wrong = sparsieve("select", flowers, "-t", "kind", "-k", "some")
    assert (wrong.code, "a fraction such as 0.1, auto or fdr=0.1, got 'some'" in wrong.err) == (
        2,
        True,
    )


def test_how_a_target_of_whole_numbers_is_read_is_said_once(sparsieve, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = (50 + 20 * x[:, 1]).round().astype(int)
    path = tmp_path / "ages.csv"
    rows = [",".join(map(str, [*row, age])) for row, age in zip(x, y, strict=True)]
    path.write_text("\n".join(["a,b,c,age", *rows]) + "\n")
    result = sparsieve("select", path, "-t", "age", "-k", "auto")
    assert result.out.splitlines()[1].startswith("1\tb\t")
    assert result.err.count("age holds") == 1
    assert "use --task classification if they are classes" in result.err
    assert "task=" not in result.err
    assert "age (regression)" in result.err
    quiet = sparsieve("select", path, "-t", "age", "-k", 1, "--task", "regression")
    assert "holds" not in quiet.err
    classes = sparsieve("select", path, "-t", "age", "-k", 1, *FISHER)
    assert "holds" not in classes.err  # there is nothing to decide for a method that knows classes


def test_every_selection_is_checked_on_held_out_samples(sparsieve, tmp_path, monkeypatch):
    path = tmp_path / "noise.csv"
    rng = np.random.default_rng(1)
    rows = [
        ",".join(map(str, [*row, "ab"[i % 2]])) for i, row in enumerate(rng.normal(size=(60, 9)))
    ]
    path.write_text("\n".join([",".join([*"cdefghijk", "group"]), *rows]) + "\n")
    asked = ("select", path, "-t", "group", "-k", 3)
    shown = sparsieve(*asked)
    assert shown.err.startswith("warning: No linear model of the selected features predicts better")
    assert shown.err.count("On held-out samples: accuracy ") == 1
    assert "always predicting the largest class: 50.0 %; stability" in shown.err
    told = sparsieve(*asked, "--json").json()
    assert set(told["held_out"]) >= {"score", "interval", "guess", "p_value", "stability"}
    assert told["held_out"]["better_than_guess"] is False
    assert told["warnings"][0] == told["held_out"]["warning"]
    other = sparsieve(*asked, "--scoring", "roc_auc", "--json").json()["held_out"]
    assert (other["metric"], other["guess"]) == ("roc_auc", 0.5)
    refused = sparsieve(*asked, "--scoring", "roc_auc", "--no-check")
    assert refused.err.startswith("error: --scoring is for held-out samples")
    declined = sparsieve(*asked, "--no-check", "--json")
    assert declined.json()["held_out"] is None
    assert "guess" not in declined.err
    now = iter(range(0, 10_000, 30))
    monkeypatch.setattr("sparsieve._clock.clock", lambda: next(now))
    said = "Not checked on held-out samples (about 300 s). Run it again with --check."
    assert said in sparsieve(*asked).err
    assert "On held-out samples" in sparsieve(*asked, "--check").err


# -- without a target ---------------------------------------------------------------------------


@pytest.fixture
def unlabelled(flowers):
    """The same file without its labels."""
    path = flowers.with_name("unlabelled.csv")
    lines = [line.rpartition(",")[0] for line in flowers.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_methods_that_need_no_target(sparsieve, unlabelled, flowers):
    arguments = ("-m", "laplacian-score", "-k", 2)
    result = sparsieve("select", unlabelled, *arguments, "--json").json()
    assert sorted(result["selected"]) == ["q", "t"]
    assert (result["target"], result["task"]) == (None, "unsupervised")
    named = sparsieve("select", flowers, "-t", "kind", *arguments, "-n")
    assert named.out.split() == result["selected"]
    assert "without a target" in named.err
    out = unlabelled.with_name("out.csv")
    sparsieve("select", unlabelled, *arguments, "-o", out)
    assert sorted(rows_of(out)[0]) == ["q", "t"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--null", 5), "--null shuffles the target, which laplacian-score does not use"),
        (("-k", "auto"), "-k auto measures accuracy for a target"),
        (("-m", "inf-fs", "--param", "supervised=True"), "--target is missing"),
        (("-m", "fisher"), "--target is missing"),
    ],
)
def test_what_only_a_target_can_answer(sparsieve, unlabelled, options, message):
    result = sparsieve("select", unlabelled, "-m", "laplacian-score", *options)
    assert result.code == ExitCode.BAD_USAGE
    assert message in result.err


def test_files_without_a_target(tmp_path, unlabelled):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(unlabelled, float_precision="round_trip")
    np.savez(tmp_path / "x.npz", X=frame.to_numpy(), feature_names=list(frame))
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    paths = [unlabelled, tmp_path / "x.npz", tmp_path / "bare.csv"]
    if available("pyarrow"):
        frame.to_parquet(tmp_path / "x.parquet")
        paths.append(tmp_path / "x.parquet")
    for path in paths:
        table = read_table(path, needs_target=False)
        np.testing.assert_array_equal(table.X, frame.to_numpy())
        assert table.y.shape == (45, 0)
        assert len(table.columns()) == 6


@pytest.fixture
def expression(tmp_path):
    """A CSV file of raw counts, eight genes of which tell ill from well."""
    rng = np.random.default_rng(0)
    ill = rng.permutation(np.arange(60) % 2)
    mean = rng.lognormal(3.0, 1.5, 120) * rng.lognormal(0.0, 0.6, (60, 1))
    mean[:, :8] *= np.where(ill[:, None], 4.0, 1.0)
    counts = rng.negative_binomial(3.0, 3.0 / (3.0 + mean))
    path = tmp_path / "expression.csv"
    header = ",".join([*(f"g{j}" for j in range(120)), "ill"])
    np.savetxt(path, np.column_stack([counts, ill]), "%d", ",", header=header, comments="")
    return path


@pytest.mark.parametrize("count", ["6", "auto"])
@pytest.mark.long("many fits to full accuracy")
def test_counts_are_prepared_on_request(sparsieve, expression, tmp_path, count):
    from sparsieve import LogCPM, RidgeForwardSelector
    from sparsieve.app.io import read_table

    raw = sparsieve("select", expression, "-t", "ill", "-k", count)
    assert "note: the values look like raw counts" in raw.err
    assert "take logarithms with --log-cpm" in raw.err
    out = tmp_path / "kept.csv"
    found = sparsieve("select", expression, "-t", "ill", "-k", count, "--log-cpm", "--json")
    assert "raw counts" not in found.err
    result = found.json()
    assert result["prepare"] == "log-cpm"
    table = read_table(expression, "ill")
    logs = LogCPM().fit_transform(table.X)
    alone = RidgeForwardSelector(n_features_to_select=result["n_selected"]).fit(logs, table.y)
    kept = {table.feature_names[j] for j in alone.get_support(indices=True)}
    assert set(result["selected"]) == kept
    sparsieve("select", expression, "-t", "ill", "-k", count, "--log-cpm", "-o", out)
    assert read_table(out, "ill").X.max() > 20  # the counts, as they were


def test_what_is_no_count_is_refused_in_a_sentence(sparsieve, flowers):
    refused = sparsieve("select", flowers, "-t", "kind", "-k", "2", "--log-cpm")
    assert refused.code == 1
    assert "--log-cpm takes logarithms, but 6 columns have negative values: 'p', 'q'" in refused.err


def test_copies_of_samples_are_noted(sparsieve, tmp_path):
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.standard_normal((30, 20)), (3, 1)), np.tile(np.arange(30) % 2, 3)
    path = tmp_path / "thrice.csv"
    header = ",".join([*(f"g{j}" for j in range(20)), "ill"])
    np.savetxt(path, np.column_stack([X, y]), "%.9g", ",", header=header, comments="")
    said = "note: 90 of 90 samples have duplicates or near-duplicates"
    assert said in sparsieve("select", path, "-t", "ill", "-k", "3").err
    compared = sparsieve("compare", path, "-t", "ill", "-m", "fisher", "-k", "3", "--json")
    assert compared.err.index(said) < compared.err.index("Features chosen by most methods")
    assert compared.json()["diagnosis"][0] in compared.err


def test_comparing_prepared_counts(sparsieve, expression):
    raw, made = (
        sparsieve("compare", expression, "-t", "ill", "-m", "fisher", "-k", "5", "--json", *option)
        for option in ([], ["--log-cpm"])
    )
    assert raw.json()["diagnosis"][0].endswith("with --log-cpm")
    assert made.json()["diagnosis"] == []
    score, better = (found.json()["methods"][0]["accuracy"] for found in (raw, made))
    assert better > score


def test_the_answer_is_printed_before_the_report_is_written(
    sparsieve, flowers, monkeypatch, tmp_path
):
    from sparsieve.app.cli import select as command

    seen = []
    monkeypatch.setattr(command, "print_names", lambda names: seen.append(names))
    monkeypatch.setattr(command, "_write_report", lambda *_: seen.append("report"))
    page = tmp_path / "page.html"
    sparsieve("select", flowers, "-t", "kind", "-k", 1, "-n", *FISHER, "--report", page)
    assert seen == [["t"], "report"]
