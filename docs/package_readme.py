"""The README as a package index shows it, without links into a checkout: a hook of hatchling."""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")
_INSTALL = re.compile(r"pip install ('?)\.(?=[\[\s])")


def packaged(readme: str, source: str | None) -> str:
    """Links into the project lead to ``source``; without an address only their text stays."""

    def link(found: re.Match) -> str:
        is_picture, text, path = found.groups()
        if source:
            kind = "raw" if is_picture else "blob"
            return f"{is_picture}[{text}]({source.rstrip('/')}/{kind}/main/{path})"
        return "" if is_picture else text

    text = _INSTALL.sub(r"pip install \1sparsieve", _LINK.sub(link, readme))
    return text.replace("pip install ./experiments", "pip install sparsieve-experiments")


class PackageReadme(MetadataHookInterface):
    """Fills in the readme of the package."""

    def update(self, metadata: dict) -> None:
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = packaged(readme, metadata.get("urls", {}).get("Source"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
