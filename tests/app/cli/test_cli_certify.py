"""``sparsieve select --certify`` and Ctrl-C during an exact search."""

import json

import numpy as np
import pytest

from sparsieve import L20Selector, RidgeForwardSelector
from sparsieve.app.cli.output import ExitCode
from sparsieve.app.io import read_table

EXACT = ("--method", "l20", "--param", "solver=exact")


def written(path, X, y):
    names = [*(f"f{j}" for j in range(X.shape[1])), "y"]
    rows = [",".join(map(repr, map(float, [*row, t]))) for row, t in zip(X, y, strict=True)]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    return path


def test_a_sentence_and_a_table(sparsieve, flowers):
    strong = ("--param", "ridge=1.0")  # with which bounds are tight
    result = sparsieve("select", flowers, "-t", "kind", "-k", 3, "--certify", *strong)
    assert result.code == 0
    assert result.out.splitlines()[0] == "rank\tfeature\tscore"  # as without it
    assert len(result.out.splitlines()) == 4
    assert "No 3 features explain the training data better than these" in result.err
    one = sparsieve("select", flowers, "-t", "kind", "-k", 1, "--certify", *strong)
    assert "This feature explains at least" in one.err
    assert "not for accuracy" in one.err
    lines = result.err.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["features", "objective"])
    table = read_table(flowers, "kind")
    certificate = RidgeForwardSelector(3, ridge=1.0).fit(table.X, table.y).certify(table.X, table.y)
    rows = [line.replace("%", "").split() for line in lines[start + 1 : start + 4]]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    for row, gap, share in zip(rows, certificate.gap, certificate.share, strict=True):
        assert -1e-6 <= float(row[3]) - 100 * gap <= 0.0101  # never less than proven
        assert -1e-6 <= 100 * share - float(row[4]) <= 0.0101


def test_json_holds_the_arrays(sparsieve, flowers):
    arguments = ("select", flowers, "-t", "kind", "-k", 3, "--json", "-q")
    found = sparsieve(*arguments, "--certify").json()["certificate"]
    assert found["n_features"] == [1, 2, 3]
    for name in ("objective", "lower_bound", "gap", "share"):
        assert len(found[name]) == 3
    assert all(0 <= gap < 1 for gap in found["gap"])
    assert found["target_power"] > found["objective"][0]
    assert sparsieve(*arguments).json()["certificate"] is None


def test_columns_kept_by_request_are_counted(sparsieve, flowers):
    result = sparsieve(
        "select", flowers, "-t", "kind", "-k", 3, "--certify", "--param", "always_keep=['p','s']"
    )
    assert "could, counting only sets with the 2 features of always_keep" in result.err
    rows = [line.split()[0] for line in result.err.splitlines() if line.endswith("%")]
    assert rows == ["2", "3"]


def test_the_exact_search_says_that_nothing_is_better(sparsieve, flowers):
    result = sparsieve("select", flowers, "-t", "kind", "-k", 2, *EXACT, "--certify")
    assert result.code == 0
    assert "No 2 features explain the training data better than these" in result.err


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (("-m", "fisher"), "likelihood-l21 and ridge-forward can be certified"),
        (("-m", "l20", "--param", "ridge=0"), "l20 is without a ridge"),
        (("-m", "l20", "--param", "solver=hiht"), "l20 is without a ridge"),
    ],
)
def test_what_cannot_be_certified_is_refused_in_one_sentence(sparsieve, flowers, method, sentence):
    result = sparsieve("select", flowers, "-t", "kind", "-k", 2, *method, "--certify")
    assert (result.code, result.out) == (ExitCode.BAD_USAGE, "")
    assert result.err.startswith("error: --certify: ")
    assert sentence in result.err
    assert len(result.err.splitlines()) == 1


def test_noise_and_a_copy_of_the_target(sparsieve, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(40)
    noise = rng.standard_normal((40, 12))
    path = written(tmp_path / "noise.csv", noise, y)
    proven = ("select", path, "-t", "y", "-k", 3, "--certify", "--json")
    share = sparsieve(*proven, "--param", "ridge=1.0").json()
    assert all(0.5 < value <= 1 for value in share["certificate"]["share"])
    weaker = sparsieve(*proven).json()  # the bound of a ridge that fades
    assert all(0 < value <= 1 for value in weaker["certificate"]["share"])
    path = written(tmp_path / "copy.csv", np.column_stack([noise, y]), y)
    result = sparsieve("select", path, "-t", "y", "-k", 1, "--certify")
    assert "No feature explains the training data better than this one" in result.err
    # What noise keeps of its own accord may be nothing at all, or little.
    path = written(tmp_path / "noise.csv", noise, y)
    result = sparsieve("select", path, "-t", "y", "--certify")
    assert result.code == 0
    assert "proven" in result.err or "nothing to prove" in result.err


@pytest.fixture
def hard(tmp_path):
    rng = np.random.default_rng(0)
    return written(tmp_path / "hard.csv", rng.standard_normal((50, 100)), rng.standard_normal(50))


def interrupting(n_nodes):
    def printer(verbose, owner):
        def show(event):
            if event.n_features == 5 and event.n_iter > n_nodes:
                raise KeyboardInterrupt

        return show

    return printer


@pytest.mark.slow
def test_an_interrupt_prints_the_best_and_its_gap(sparsieve, hard, tmp_path, monkeypatch):
    monkeypatch.setattr("sparsieve.selectors.least_squares.l20.printer", interrupting(20))
    out = tmp_path / "best.csv"
    arguments = ("select", hard, "-t", "y", "-k", 6, *EXACT, "--param", "ridge=0.1")
    result = sparsieve(*arguments)
    assert result.code == ExitCode.INTERRUPTED
    assert len(result.out.splitlines()) == 7
    best, last = result.err.splitlines()[-2:]
    assert last == "interrupted"
    assert best.startswith("stopped early with the best selection found; no other of its size")
    gap = float(best.split("more than ")[1].split("%")[0])
    assert 0 < gap < 100
    found = sparsieve(*arguments, "--json", "-o", out, "--certify", "--report", tmp_path / "r.html")
    assert found.code == ExitCode.INTERRUPTED
    assert json.loads(found.out)["n_selected"] == 6
    assert out.exists()
    assert not (tmp_path / "r.html").exists()  # that would take minutes


def test_an_interrupt_before_anything_was_found_prints_nothing(sparsieve, hard, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    for where in (
        "l20_exact.GreedySearch.supports",
        "l20_exact.BoundSearch",
        "l20_exact.BestSubsetSearch",
    ):
        with monkeypatch.context() as patched:
            patched.setattr(f"sparsieve.selectors.least_squares.{where}", interrupt)
            arguments = ("--param", "lam=1.0") if "BoundSearch" in where else ("-k", 3)
            result = sparsieve("select", hard, "-t", "y", *arguments, *EXACT)
        assert (result.code, result.out) == (ExitCode.INTERRUPTED, "")
        assert "stopped early" not in result.err


@pytest.mark.slow
def test_what_an_interrupt_leaves_is_proven(hard, monkeypatch):
    """The gap of an interrupted search covers what the finished search finds."""
    table = read_table(hard, "y")
    finished = L20Selector(6, solver="exact", task="regression").fit(table.X, table.y)
    for n_nodes in (2, 3, 5, 8, 30):
        monkeypatch.setattr("sparsieve.selectors.least_squares.l20.printer", interrupting(n_nodes))
        stopped = L20Selector(6, solver="exact", task="regression")
        with (
            pytest.warns(UserWarning, match="proven gap"),
            pytest.raises(KeyboardInterrupt),
        ):
            stopped.fit(table.X, table.y)
        ours, best = stopped.path_, np.asarray(finished.path_.objective)
        bounds = np.asarray(ours.objective) * (1 - np.asarray(ours.optimality))
        assert (bounds <= best * (1 + 1e-12)).all()
        assert (np.asarray(ours.objective) >= best * (1 - 1e-9)).all()
        assert np.isfinite(ours.optimality).all()
