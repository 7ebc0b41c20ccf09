"""Check that everything that names the version agrees: ``check_release.py [v0.1.0]``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def disagreements(tag: str = "", root: Path = ROOT) -> list[str]:
    """One sentence for each place that does not fit a release of this version."""

    def found(path: str, pattern: str) -> str:
        match = re.search(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE)
        return match[1] if match else "nothing"

    version = found("src/sparsieve/_version.py", r'__version__ = "(.+)"')
    date = found("CHANGELOG.md", rf"^## \[{re.escape(version)}\] - (\S+)")
    said = []
    if tag and tag != f"v{version}":
        said.append(f"the tag is {tag}, but _version.py says {version}")
    for path, pattern in [
        ("CITATION.cff", r"^version: (\S+)"),
        ("experiments/src/sparsieve_experiments/_version.py", r'^__version__ = "(.+)"'),
    ]:
        if found(path, pattern) != version:
            said.append(f"{path} says {found(path, pattern)}, but _version.py says {version}")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
        said.append(f"CHANGELOG.md has no date for {version}: it says {date}")
    elif found("CITATION.cff", r"^date-released: (\S+)") != date:
        said.append(f"CITATION.cff has another date than CHANGELOG.md, which says {date}")
    return said


if __name__ == "__main__":
    wrong = disagreements(*sys.argv[1:2])
    print("\n".join(wrong) or "every place names the same version")
    sys.exit(bool(wrong))
