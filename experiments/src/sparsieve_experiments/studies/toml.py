"""TOML files of studies, read within bounded time and memory whoever wrote them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from .kinds import StudyError

MAX_BYTES = 2**22
# The time of Python's parser grows with the square of the depth of a dotted key: a key of 100 kB
# would take a minute. Keys of a study are three deep.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_DEEP = re.compile(rf"(?<![\w-])(?:{_PART}\.[ \t]*+){{50}}")


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds, or a sentence that says why it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES >> 20} MiB, which no study is")
        text = content.decode("utf-8").replace("\r\n", "\n")
        if _DEEP.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except FileNotFoundError:
        raise StudyError(f"file {path} does not exist") from None
    except RecursionError:
        raise StudyError(f"{path} cannot be read as TOML: it is nested too deeply") from None
    except (OSError, ValueError) as error:
        raise StudyError(f"{path} cannot be read as TOML: {error}") from None
