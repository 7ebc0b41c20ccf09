"""Files that are written whole or not at all, and what can be wrong with one."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class DataError(ValueError):
    """A file cannot be read as a table of numbers with a target.

    See Also
    --------
    sparsieve.app.io.read_table : Reads a file.
    sparsieve.app.io.errors.TargetNeededError : What a file without a named target raises.

    Examples
    --------
    >>> from sparsieve.app.io import DataError, read_table
    >>> try:
    ...     read_table("nowhere.csv", target="label")
    ... except DataError:
    ...     print("cannot be read")
    cannot be read
    """


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of ``path`` when all went well.

    Links are followed and a replaced file keeps its mode, as ``cp`` would do; pipes and devices
    are written to once all is there. The file itself has a name that nobody can foresee and is
    opened only if it is new, so that no link planted in the folder is ever followed.
    """
    scratch: Path | None = None
    try:
        target = Path(os.path.realpath(path))
        old = target.stat() if target.exists() else None
        is_stream = old is not None and not stat.S_ISREG(old.st_mode)
        folder = Path(tempfile.gettempdir()) if is_stream else target.parent
        scratch = folder / f".{secrets.token_hex(16)}.part"
        # Private until it is known who may read it; a new file is left to the user's mask.
        mode = 0o666 if old is None else 0o600
        os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield scratch
        if is_stream:
            with open(scratch, "rb") as whole, open(target, "wb") as stream:
                shutil.copyfileobj(whole, stream)
            return
        if old is not None:
            os.chmod(scratch, stat.S_IMODE(old.st_mode))
        os.replace(scratch, target)
    except PermissionError:
        raise DataError(
            f"cannot write {shown(path)}: the folder {shown(path.parent)} may not be written to, "
            "or another program has the file open"
        ) from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write {shown(path)}: {reason}") from None
    finally:
        if scratch is not None:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)


def shown(path: str | os.PathLike[str]) -> str:
    """A path that can be printed, whatever bytes are in its name, and of a bearable length."""
    text = os.fspath(path).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 200 else f"{text[:150]}...{text[-40:]}"
