"""What can be wrong with a file, said in one sentence."""

from __future__ import annotations

import os


class DataError(ValueError):
    """A file cannot be read as a table of numbers with a target."""


class TargetNeededError(DataError):
    """The format does not say which column is the target, and nobody did."""


def said(error: BaseException) -> str:
    """What an error of a library says, on one line."""
    text = " ".join(str(error).split())
    if not text or isinstance(error, KeyError):
        return f"it is damaged ({type(error).__name__})"
    return text


def shown(path: str | os.PathLike[str]) -> str:
    """A path that can be printed, whatever bytes are in its name, and of a bearable length."""
    text = os.fspath(path).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 200 else f"{text[:150]}...{text[-40:]}"
