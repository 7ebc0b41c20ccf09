"""Vega, Vega-Lite and Vega-Embed as one script, kept beside the user's other caches."""

from __future__ import annotations

import contextlib
import hashlib
import os
from functools import cache
from pathlib import Path

from .._optional import require
from ..io.write import replacing

VEGA_LITE = "v6.1"
# Of the script that each version of the converter makes. Whoever can write to the cache could
# have every report run a script of theirs: no other is taken from it, and of other versions none.
_DIGESTS = {
    "1.8.0": "b11ae2116b4e9d1f5b2737febbc1ba91ea8ba36c110f5d14cefabaf401effa4d",
    "1.9.0": "258b89504d5f67d16fe97d83d215483f73b9dfd25fbb8e20a340b8266d9fb1db",
}
_MAX_BYTES = 1 << 24
# Of a cache that cannot be read or written, whatever the reason, which only costs time: no home,
# no permission, no space (DataError is a ValueError), or bytes that are no text.
_NO_CACHE = (OSError, RuntimeError, ValueError)


@cache
def vega_script() -> str:
    """The script; putting it together takes seconds, so it is done once per version."""
    converter = require("vl_convert", extra="report", purpose="draw the charts of a report")
    due = _DIGESTS.get(converter.__version__)
    with contextlib.suppress(*_NO_CACHE):
        path = _cached(converter.__version__)
        if path.is_file() and path.stat().st_size < _MAX_BYTES:  # no pipe, no endless device
            script = path.read_text(encoding="utf-8")
            if _digest(script) == due:
                return script
    script = converter.javascript_bundle(vl_version=VEGA_LITE).replace("</script", "<\\/script")
    with contextlib.suppress(*_NO_CACHE):
        path = _cached(converter.__version__)
        if _digest(script) == due and (path.is_file() or not path.exists()):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as scratch:
                scratch.write_text(script, encoding="utf-8")
    return script


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()


def _cached(version: str) -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sparsieve"
    return folder / f"vega-{version}-{VEGA_LITE}.js"
