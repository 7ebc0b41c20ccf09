"""Values of the right kind, said in one sentence: what a study file gets wrong most often."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from sparsieve._checks import did_you_mean


class StudyError(ValueError):
    """A study is not well defined, said in one sentence.

    See Also
    --------
    sparsieve_experiments.studies.Study : What to compare.

    Examples
    --------
    >>> from sparsieve_experiments.studies import Study, StudyError
    >>> try:
    ...     Study("small", [], ["fisher"])
    ... except StudyError:
    ...     print("nothing to compare on")
    nothing to compare on
    """


def _is_list(value: object) -> bool:
    # Anything that can be walked through in order, such as a tuple or an array, but no text.
    return not isinstance(value, (str, bytes, Mapping)) and hasattr(value, "__iter__")


def is_text(value: object) -> bool:
    """Whether a value is text."""
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return _is_list(value) and all(map(is_text, value))


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(is_text, value))


_KINDS = {
    "text": is_text,
    "a list": _is_list,
    "a list of texts": _are_texts,
    "text or a list of texts": lambda value: is_text(value) or _are_texts(value),
    "a table": _is_table,
    "a table of lists": lambda value: _is_table(value) and all(map(_is_list, value.values())),
    'a list or "own"': lambda value: value == "own" if isinstance(value, str) else _is_list(value),
}


def check_kinds(
    values: Mapping[str, Any], kinds: Mapping[str, str], what: str, *, absent: Container[str] = ()
) -> None:
    """Refuse values of another kind.

    Parameters
    ----------
    values : mapping
    kinds : mapping of str to str
        Of which kind a value is: "text", "a list", "a list of texts", "a table", "a table of
        lists".
    what : str
        To whom the values belong, for the message.
    absent : collection of str
        Names of values that may be None.

    Examples
    --------
    >>> from sparsieve_experiments.studies.kinds import check_kinds
    >>> check_kinds({"target": 3}, {"target": "text"}, "data set 'mine'")
    Traceback (most recent call last):
    sparsieve_experiments.studies.kinds.StudyError: target of data set 'mine' must be text, got 3
    """
    for name, kind in kinds.items():
        if name not in values or (values[name] is None and name in absent):
            continue
        value = values[name]
        if not _KINDS[kind](value):
            raise StudyError(f"{name} of {what} must be {kind}, got {shortened(value)}")


def shortened(value: object) -> str:
    """A value for a message, however large."""
    return shortened_text(repr(value))


def shortened_text(text: str) -> str:
    """Messages and labels stay readable."""
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_known(content: Mapping[str, Any], cls: type, what: str) -> None:
    """Refuse settings that a class does not have, with a hint at what was meant."""
    # What may run is for the user to say, not for a file.
    known = [field.name for field in fields(cls) if field.name != "allow_import"]
    for name in content:
        if name not in known:
            hint = did_you_mean(name, known, 0.5) or f"; it may be {', '.join(known)}"
            raise StudyError(f"{what} has no setting {name!r}{hint}")


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
