"""Vega, Vega-Lite and Vega-Embed as one script, kept beside the user's other caches."""

from __future__ import annotations

import contextlib
import os
from functools import cache
from pathlib import Path

from .._optional import require
from ..io.write import replacing

VEGA_LITE = "v6.1"


@cache
def vega_script() -> str:
    """The script; putting it together takes seconds, so it is done once per version."""
    converter = require("vl_convert", extra="report", purpose="draw the charts of a report")
    path = _cache_folder() / f"vega-{converter.__version__}-{VEGA_LITE}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    script = converter.javascript_bundle(vl_version=VEGA_LITE).replace("</script", "<\\/script")
    with contextlib.suppress(OSError):  # a home that cannot be written to only costs time
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as scratch:
            scratch.write_text(script, encoding="utf-8")
    return script


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sparsieve"
