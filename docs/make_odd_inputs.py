"""Write docs/measured/odd_inputs.csv: what every estimator does with every kind of odd input.

``python docs/make_odd_inputs.py`` (`make odd-inputs`) runs the table of tests/odd_inputs.py.
"""

import csv
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from odd_cells import (  # noqa: E402
    METHODS,
    SECONDS,
    SELECTORS,
    SOME_METHODS,
    SOME_SELECTORS,
    Cell,
    as_files,
    cell,
    command_line_cell,
    study_cell,
)
from odd_inputs import KINDS, small  # noqa: E402
from sparsieve import all_estimators  # noqa: E402

TABLE = ROOT / "docs" / "measured" / "odd_inputs.csv"


def main() -> None:
    estimators = {name: small(cls) for name, cls in all_estimators().items()}
    lines, wrong, n_files = [], [], 0
    for kind in KINDS:
        cells = {name: cell(estimator, kind) for name, estimator in estimators.items()}
        wrong += [f"{kind}: {name}: {c}" for name, c in cells.items() if not c.fine]
        with tempfile.TemporaryDirectory() as folder:
            of_files = _of_files(as_files(kind, Path(folder)))
        n_files += bool(of_files)
        for path, found in of_files.items():
            wrong += [f"{kind}: {path.name}: {n}: {c}" for n, c in found.items() if not c.fine]
        lines.append(_line(kind, cells, of_files))
        print(" | ".join(lines[-1]), flush=True)
    head = [
        f"input ({len(KINDS)} kinds)",
        f"answered by (of {len(estimators)} estimators, within {SECONDS} CPU seconds)",
        "refused by",
        "message",
        f"command line ({n_files} kinds can be files; {len(METHODS)} methods)",
        "study",
    ]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *lines])
    print("\n".join(wrong) or "every cell is an answer or a sentence")


def _of_files(paths: list[Path]) -> dict[Path, dict[str, Cell]]:
    """What the methods and a study of them say of files: all of the first, some of the others."""
    found = {}
    for path in paths:
        first = path is paths[0]
        cells = {m: command_line_cell(path, m) for m in (METHODS if first else SOME_METHODS)}
        cells["study"] = study_cell(path, SELECTORS if first else SOME_SELECTORS)
        found[path] = cells
    return found


def _line(kind: str, cells: dict[str, Cell], of_files: dict[Path, dict[str, Cell]]) -> list[str]:
    names = defaultdict(list)
    sentences: dict[str, None] = {}
    for name, found in cells.items():
        names[found.outcome].append(name)
        if found.sentence:
            sentences[_general(found.sentence, name)] = None
    known = len(cells) - len(names["no such argument"])
    answered = _who(names["answer"], known)
    refused = _who(
        [n for o, ns in names.items() if o != "answer" for n in ns if o != "no such argument"],
        known,
    )
    said = "; or: ".join(list(sentences)[:3])
    command, study = _said_of_files(of_files)
    return [kind, answered, refused, said, command, study]


def _said_of_files(of_files: dict[Path, dict[str, Cell]]) -> tuple[str, str]:
    """What the command line and a study said, formats of which they said the same together."""
    commands, studies = defaultdict(list), defaultdict(list)
    for path, cells in of_files.items():
        studies[cells["study"].outcome].append(path.suffix)
        commands[_outcomes([c for n, c in cells.items() if n != "study"], path)].append(path.suffix)
    return tuple(
        "; ".join(f"{', '.join(suffixes)}: {said}" for said, suffixes in found.items())
        for found in (commands, studies)
    )


def _outcomes(cells: list[Cell], path: Path) -> str:
    """What the command line said of a file, in one word and its sentence."""
    refused = [one for one in cells if one.outcome != "answer"]
    if not refused:
        return "answer"
    few = "refused" if len(refused) == len(cells) else f"refused by {len(refused)} of {len(cells)}"
    said = refused[0].sentence.replace(str(path.parent) + "/", "")
    return f"{few}: {_general(said.replace(path.name, 'the file'), '')}"


def _general(sentence: str, name: str) -> str:
    short = sentence.replace(name, "the estimator") if name else sentence
    short = re.sub(r"\s+", " ", short)
    return short if len(short) <= 160 else short[:157] + "..."


def _who(names: list[str], known: int) -> str:
    if len(names) == known:
        return "all" if known else ""
    if len(names) > 6:
        return f"{len(names)} of {known}"
    return ", ".join(name.removesuffix("Selector") for name in names)


if __name__ == "__main__":
    main()
