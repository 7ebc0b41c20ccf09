"""Write docs/odd_inputs.md: what every estimator does with every kind of odd input.

``python docs/make_odd_inputs.py`` (`make odd-inputs`) runs the table of tests/odd_inputs.py.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from odd_inputs import KINDS, Cell, cell, small  # noqa: E402
from sparsieve import all_estimators  # noqa: E402

HEAD = """# Odd inputs

Every line is a kind of input that was handed to `fit`, and then to `transform` and `predict` where
the estimator has them; lines that begin with "transform:" were handed to those two after a usual
fit. An estimator answers, without NaN in its scores or coefficients and within {seconds} seconds,
or refuses with a `ValueError` or `TypeError`. {n_kinds} kinds x {n_estimators} estimators, written
by `make odd-inputs`; the data are 30 samples with 7 features.

| input | answered by | refused by | in these words |
|---|---|---|---|
"""


def main() -> None:
    estimators = {name: small(cls) for name, cls in all_estimators().items()}
    lines, wrong = [], []
    for kind in KINDS:
        cells = {name: cell(estimator, kind) for name, estimator in estimators.items()}
        lines.append(_line(kind, cells))
        wrong += [f"{kind}: {name}: {c}" for name, c in cells.items() if not c.fine]
        print(lines[-1], flush=True)
    head = HEAD.format(seconds=20, n_kinds=len(KINDS), n_estimators=len(estimators))
    text = head + "\n".join(lines) + "\n"
    (ROOT / "docs" / "odd_inputs.md").write_text(text, encoding="utf-8")
    print("\n".join(wrong) or "every cell is an answer or a sentence")


def _line(kind: str, cells: dict[str, Cell]) -> str:
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
    said = "; or: ".join(list(sentences)[:3]).replace("|", "\\|")
    return f"| {kind} | {answered} | {refused} | {said} |"


def _general(sentence: str, name: str) -> str:
    short = sentence.replace(name, "the estimator")
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
