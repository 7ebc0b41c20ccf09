"""MATLAB's .mat files, read at arm's length."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...memory import machine_memory
from ...validation.values import check_sparse
from .errors import DataError, explained

_SECONDS = 60  # and one more for every megabyte
_SCRIPT = Path(__file__).with_name("_matlab_subprocess.py")


def mat_arrays(path: Path, wanted: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """(the wanted arrays that there are, the names of all) of a .mat file.

    SciPy's reader can take the whole process down on damaged files, so it runs in another one,
    with limits on time and memory.
    """
    wanted, failure = list(dict.fromkeys(wanted)), f"{path.name} is not a readable .mat file"
    seconds = _SECONDS + path.stat().st_size // 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        asked = {
            "file": os.fspath(path.resolve()),
            "wanted": wanted,
            "folder": folder,
            "memory": machine_memory() or 64 << 30,
            "seconds": seconds,
        }
        try:
            done = subprocess.run(
                [sys.executable, "-P", os.fspath(_SCRIPT), json.dumps(asked)],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=2 * seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DataError(f"{failure}: reading it takes more than {2 * seconds} s") from None
        answer = _answer(done.stdout)
        if done.returncode != 0 or answer is None:
            raise DataError(f"{failure}: it is damaged")
        if "error" in answer:
            raise DataError(f"{failure}: {answer['error']}")
        arrays: dict[str, Any] = {}
        for number, name in enumerate(wanted):  # a name from a file is no name for one
            dense, packed = (Path(folder) / f"{number}.{kind}" for kind in ("npy", "npz"))
            if dense.exists():
                arrays[name] = np.load(dense, allow_pickle=False)
            elif packed.exists():
                with explained(failure):
                    arrays[name] = sparse.load_npz(packed)
                    check_sparse(arrays[name])
    return arrays, list(answer["names"])


def _answer(text: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and ("error" in answer or "names" in answer) else None
