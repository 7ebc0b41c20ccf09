"""The command as a shell runs it."""

import json
import os
import subprocess
import sys

import pytest

from sparsieve import __version__


def shell(*arguments, module="sparsieve.app.cli", **options):
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True, text=True, timeout=600, check=False, **options,
    )  # fmt: skip


@pytest.mark.parametrize("module", ["sparsieve", "sparsieve.app.cli"])
def test_version(module):
    done = shell("--version", module=module)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sparsieve {__version__}\n", "")


@pytest.mark.slow
@pytest.mark.long("starts a process")
def test_letters_that_the_terminal_does_not_have_are_spelled_out(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("α,b,kind\n" + "1,2,x\n3,1,y\n" * 4, encoding="utf-8")
    arguments = ("select", table, "-t", "kind", "-k", 2, "-m", "fisher", "--no-check", "-n")
    done = shell(*arguments, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, sorted(done.stdout.split())) == (0, ["\\u03b1", "b"])


@pytest.mark.slow
def test_select_to_file_and_pipe(flowers, tmp_path):
    out = tmp_path / "selected.csv"
    arguments = ("select", flowers, "--target", "kind", "-k", 2, "--method", "fisher")
    done = shell(*arguments, "-o", out, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["selected"] == ["t", "q"]
    assert out.read_text().splitlines()[0] == "t,q,kind"  # the best first
    assert "kept 2 of 6" in done.stderr


@pytest.mark.long("starts processes")
def test_bad_data_and_bad_usage(flowers):
    done = shell("select", flowers, "--target", "knid", "--method", "fisher")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("error: flowers.csv has no column 'knid'; did you mean 'kind'?\n")
    done = shell("select", flowers, "--targte", "kind")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: No such option")


@pytest.mark.slow
def test_works_without_the_extras(flowers, tmp_path):
    program = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name in ('pandas', 'pyarrow', 'anndata', 'h5py', 'matplotlib'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from sparsieve.app.cli.app import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    out = tmp_path / "out.csv"
    arguments = ["select", flowers, "-t", "kind", "-k", "1", "-m", "fisher", "-o", out]
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert out.read_text().splitlines()[0] == "t,kind"


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.posix
def test_a_closed_pipe_is_no_error(flowers, unbuffered):
    command = f"'{sys.executable}' -m sparsieve.app.cli select '{flowers}' -t kind -m fisher -n -q"
    done = subprocess.run(
        ["sh", "-c", f"({command}; echo $? >&2) | true"],
        capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert done.stderr == "0\n"


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_scikit_learn_is_not_imported_without_need(argument):
    program = (
        "import sys\n"
        "from sparsieve.app.cli.app import run\n"
        "run(sys.argv[1:])\n"
        "sys.exit('sklearn' in sys.modules or 'scipy' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, argument], capture_output=True, timeout=600, check=False
    )
    assert done.returncode == 0


def redirected(flowers, redirection, *more):
    command = f"'{sys.executable}' -m sparsieve.app.cli select '{flowers}' -t kind -m fisher"
    return subprocess.run(
        ["sh", "-c", f"{command} {' '.join(map(str, more))} {redirection}"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.posix
def test_closed_and_full_streams(flowers, tmp_path):
    done = redirected(flowers, ">&-", "-q")
    assert done.returncode == 1
    assert done.stderr == "error: standard output is closed; open it, or write files with -o\n"
    out = tmp_path / "out.csv"
    done = redirected(flowers, ">&- 2>&-", "-o", out)
    assert done.returncode == 0
    assert out.read_text().splitlines()[0].endswith("kind")
    assert redirected(flowers, "2>&-", "-n").returncode == 0
    if os.path.exists("/dev/full"):
        done = redirected(flowers, ">/dev/full", "-q")
        assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


@pytest.mark.slow
def test_names_of_any_bytes_and_length(flowers, tmp_path):
    strange = tmp_path / "\udcff.csv"
    strange.write_bytes(flowers.read_bytes())
    page = tmp_path / "page\udcfe.html"
    arguments = ("-t", "kind", "-k", 1, "-m", "fisher", "-n", "-q")
    done = shell("select", strange, *arguments, "--report", page)
    assert (done.returncode, done.stdout) == (0, "t\n"), done.stderr
    assert page.read_text(encoding="utf-8")
    done = shell("select", tmp_path / "\udcfd.csv", *arguments)
    assert done.returncode == 1
    assert "\\udcfd.csv does not exist" in done.stderr
    done = shell("select", tmp_path / ("x" * 300 + ".csv"), *arguments)
    assert done.returncode == 1
    assert "File name too long" in done.stderr
    done = shell("select", flowers, *arguments, "-o", tmp_path / ("x" * 300 + ".csv"))
    assert done.returncode == 2
    assert "File name too long" in done.stderr
    assert all(text.count("\n") == 1 for text in (done.stderr,))


def test_an_interrupt_while_modules_are_loaded_is_one_word():
    code = """
import sys

class Interrupted:
    def find_spec(self, name, *_):
        if name == "sparsieve.app.cli.app":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from sparsieve.app.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
