"""Print the lines of code of every room of the house beside the table in CONTRIBUTING.md.

``rooms.py``; `make lint` runs it. It is a price tag, not a limit: a line is code if a token other
than a comment, a docstring or a blank stands on it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "sparsieve"
NOTHING = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}


def code_lines(path: Path) -> int:
    """Lines of code of one file."""
    text = path.read_text(encoding="utf-8")
    said = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            said.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NOTHING
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - said)


def room_of(path: Path) -> str:
    """The room that a file of the library is in."""
    first = path.relative_to(SOURCE).parts[0]
    return first if first in ("app", "papers", "scale") else "core"


def measured() -> dict[str, tuple[int, int]]:
    """Files and lines of code by room."""
    files = [(room_of(path), path) for path in SOURCE.rglob("*.py")]
    files += [("experiments", path) for path in (ROOT / "experiments" / "src").rglob("*.py")]
    rooms: dict[str, tuple[int, int]] = {}
    for room, path in files:
        count, lines = rooms.get(room, (0, 0))
        rooms[room] = count + 1, lines + code_lines(path)
    return rooms


def planned() -> dict[str, str]:
    """What CONTRIBUTING.md says that the rooms should have at most."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return dict(
        re.findall(r"^\| `?(core|app|scale|papers|experiments)`? .*\| ([\d,]+) \|$", page, re.M)
    )


if __name__ == "__main__":
    found, aims = measured(), planned()
    print(f"{'room':12} {'files':>6} {'lines':>7} {'at most':>8}")
    for room in ("core", "app", "scale", "papers", "experiments"):
        count, lines = found[room]
        print(f"{room:12} {count:6,} {lines:7,} {aims.get(room, ''):>8}")
