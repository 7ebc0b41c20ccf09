import json
from types import SimpleNamespace

import numpy as np
import pytest

from sparsieve.cli.app import run


@pytest.fixture
def sparsieve(capsys):
    """Run the command line in this process: code, out and err of a call."""

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err or "--debug" in arguments
        return SimpleNamespace(
            code=code,
            out=captured.out,
            err=captured.err,
            json=lambda: json.loads(captured.out, parse_constant=_refuse),
        )

    return call


def _refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


@pytest.fixture
def flowers(tmp_path):
    """A CSV file with two good features out of six; returns its path."""
    rng = np.random.default_rng(0)
    labels = np.array(["rose", "tulip", "lily"])[np.arange(45) % 3]
    X = rng.normal(size=(45, 6))
    X[:, 1] += 4 * (labels == "rose")
    X[:, 4] += 8 * (labels == "lily")
    path = tmp_path / "flowers.csv"
    rows = [
        ",".join([*map(repr, map(float, row)), label]) for row, label in zip(X, labels, strict=True)
    ]
    path.write_text("\n".join(["p,q,r,s,t,u,kind", *rows]) + "\n")
    return path
