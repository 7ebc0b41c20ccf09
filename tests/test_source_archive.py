"""The source archive holds what is needed to run the tests."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_tests_can_be_run_from_the_source_archive(tmp_path):
    pytest.importorskip("build")
    if not (ROOT / "src").is_dir():
        pytest.skip("these tests were installed without the source tree")
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(tmp_path, filter="data")
    (tree,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for name in (
        "Makefile",
        "SECURITY.md",
        "pyproject.toml",
        "benchmarks",
        "examples",
        "docs",
        "experiments",
    ):
        assert (tree / name).exists(), name
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        **{"cwd": tree, "capture_output": True, "text": True},
        env={
            "PYTHONPATH": f"{tree / 'src'}:{tree / 'experiments' / 'src'}",
            "PATH": "/usr/bin:/bin",
        },
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert " tests collected" in done.stdout
