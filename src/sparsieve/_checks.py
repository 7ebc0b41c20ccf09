"""Clear answers to bad input: what is wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
import math
import sys
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

# Who calls whom inside a fit; scikit-learn's callbacks wrap some of ours.
_INSIDE = (__name__.partition(".")[0], "sklearn.callback")
IMPUTER = "sklearn.impute.SimpleImputer"  # what is proposed where values are missing
_MAX_NAMES = 5  # names listed in a message before it says "and N more"


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of the user's own code, however deep inside the package this is."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warning_sentences(caught: list[warnings.WarningMessage]) -> list[str]:
    """What recorded warnings say, each once, on a line.

    Not what the garbage collector says of files and sockets: it comes upon them at any time, and
    they are somebody else's.
    """
    messages = [one.message for one in caught if not issubclass(one.category, ResourceWarning)]
    return list(dict.fromkeys(" ".join(str(message).split()) for message in messages))


def no_numbers(n_missing: int, n_infinite: int, columns: Sequence[Any], imputer: str) -> ValueError:
    """The one sentence about values of X that are no numbers, in these columns."""
    kind = "NaN" if not n_infinite else "NaN or infinite" if n_missing else "infinite"
    count = n_missing + n_infinite
    remedy = f"impute or drop them, for example with {imputer}"
    if not n_missing:  # imputers refuse these as well
        remedy = "replace or drop them"
    return ValueError(
        f"Input X contains {kind} values: {count} value{'s' * (count != 1)} in "
        f"{len(columns)} column{'s' * (len(columns) != 1)} ({format_names(columns)}); {remedy}"
    )


def format_names(names) -> str:
    """``'a', 'b' and 3 more``."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:_MAX_NAMES])
    return shown if len(names) <= _MAX_NAMES else f"{shown} and {len(names) - _MAX_NAMES} more"


def suggestion(name: str, known: Iterable[str], otherwise: str = "there are") -> str:
    """What a misspelt name may mean, as the end of a sentence; else what there is.

    Examples
    --------
    >>> from sparsieve._checks import suggestion
    >>> suggestion("diagnosys", ["age", "diagnosis"])
    "; did you mean 'diagnosis'?"
    """
    names = list(known)
    # Tens of thousands of gene names take difflib seconds: look among the most alike in length.
    candidates = names if len(names) <= 5000 else [n for n in names if abs(len(n) - len(name)) <= 2]
    folded = {candidate.casefold(): candidate for candidate in reversed(candidates[:50_000])}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(repr(folded[match]) for match in close)}?"
    return f"; {otherwise} {format_names(names)}" if names else "; there are none"


def did_you_mean(
    name: str, known: Iterable[str], cutoff: float = 0.6, said: str = "; did you mean {!r}?"
) -> str:
    """The one name that may be meant, in these words; nothing where none is near."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return said.format(*close) if close else ""


def check_real(
    name: str, value: Any, *, minimum=None, maximum=None, strict=False, optional=False, auto=False
) -> None:
    """Refuse anything but a real number not below (or, if strict, above) ``minimum``.

    None where it is optional, and the text "auto" where that has a meaning, are accepted too.
    """
    if (optional and value is None) or (auto and isinstance(value, str) and value == "auto"):
        return
    if isinstance(value, bool) or not isinstance(value, Real) or not _is_finite(value):
        raise ValueError(f"{name} must be a real number, got {_format_value(value)}")
    if minimum is not None and (value < minimum or (strict and value == minimum)):
        kind = "positive" if strict and minimum == 0 else f"at least {minimum}"
        raise ValueError(f"{name} must be {kind}, got {value!r}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name} must be at most {maximum}, got {value!r}")


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _format_value(value: Any) -> str:
    """The value, or what it is where Python itself would not write so many digits."""
    if isinstance(value, int) and not _is_finite(value):
        return "a whole number larger than any float"
    return repr(value)


# How often something may be repeated: more would not end in anybody's time.
MAX_REPEATS = 100_000


def check_integer(name: str, value: Any, *, minimum=1, maximum=None) -> None:
    """Refuse anything but an integer not below ``minimum``, nor above ``maximum``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name} must be at most {maximum}, got {value!r}")


def check_choice(name: str, value, choices) -> None:
    """Refuse anything that is not one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def check_flag(name: str, value) -> None:
    """Refuse anything but True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")


ALL = "all"  # asks for every feature


def resolve_count(
    wanted: Any,
    n_features: int,
    default: int,
    name: str = "n_features_to_select",
) -> int:
    """The number of features meant by an int, a fraction, "all" or None: at most all of them.

    ``name`` is what the number is called where it was given.
    """
    if wanted is None:
        return default
    if isinstance(wanted, str) and wanted == ALL:
        return n_features
    if isinstance(wanted, bool) or not isinstance(wanted, int | float | np.number):
        raise ValueError(
            f"{name} must be an integer, a fraction between 0 and 1, "
            f'"{ALL}" or None, got {wanted!r}'
        )
    if isinstance(wanted, int | np.integer):
        if wanted < 1:
            raise ValueError(f"{name} must be at least 1, got {wanted}")
        return min(int(wanted), n_features)
    if not 0 < wanted <= 1:
        raise ValueError(
            f"{name} as a fraction must lie in (0, 1], got {wanted!r}; "
            "pass an integer to ask for a number of features"
        )
    return max(1, round(float(wanted) * n_features))


def too_many(
    wanted: Any,
    n_features: int,
    unit: str = "feature",
    name: str = "n_features_to_select",
    where: str = "of X",
) -> str:
    """What to say of a number of features (or other units) above all of them; empty if it is not.

    Examples
    --------
    >>> from sparsieve._checks import too_many
    >>> too_many(8, 5), too_many(0.5, 5)
    ('n_features_to_select=8 is larger than the 5 features of X', '')
    """
    if not isinstance(wanted, int | np.integer) or wanted <= n_features:
        return ""
    given = f"{name} {wanted}" if name.startswith("-") else f"{name}={wanted}"
    return f"{given} is larger than the {n_features:,} {unit}{'s' * (n_features != 1)} {where}"


def warn_of_more(wanted: Any, n_features: int, unit: str = "feature", where: str = "of X") -> None:
    """Say that all features are kept where more are asked for, as scikit-learn does."""
    if said := too_many(wanted, n_features, unit, where=where):
        warn_user(f"{said}; all of them are kept")


def are_row_names(cells: Iterable[str]) -> bool:
    """Whether a column without a name holds names or numbers of rows, and not values.

    Examples
    --------
    >>> from sparsieve._checks import are_row_names
    >>> [are_row_names(cells) for cells in (["a", "b"], ["1", "2"], ["1", "1"], ["0.5", "2"])]
    [True, True, False, False]
    """
    values, cells = set(), [cell for cell in cells if cell.strip() not in ("", "NA", "?")]
    for cell in cells:
        try:
            values.add(float(cell))
        except ValueError:
            return True
    return len(values) == len(cells) and all(value.is_integer() for value in values)
