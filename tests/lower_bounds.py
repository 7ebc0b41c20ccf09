"""Print the lowest versions that pyproject.toml promises, as constraints for pip.

``python tests/lower_bounds.py [extra ...]``; `make test-oldest` installs them and runs the tests.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def lower_bounds(*extras: str) -> list[str]:
    """One ``name==version`` per requirement of the core and of the extras."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    return [_lowest(requirement) for requirement in wanted]


def _lowest(requirement: str) -> str:
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\w.]+)", requirement)
    if found is None:
        raise ValueError(f"{requirement!r} in pyproject.toml states no lower bound")
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    print("\n".join(lower_bounds(*sys.argv[1:])))
