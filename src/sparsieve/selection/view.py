"""What a notebook shows of a selection made in one line."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..registry import name_of
from ..selectors.html_repr import BOX, shortened
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.near_copies import SUBSTITUTE
from .covariates import words_kept

if TYPE_CHECKING:
    from .result import SelectedFeatures

MAX_ROWS = 20
_CELL = (
    "padding: 0.1em 1em 0.1em 0; border: none; background: none; color: inherit; text-align: {};"
)
_BAR = "display: inline-block; height: 0.7em; background: cornflowerblue; width: {:.1f}%"


def selection_view(selected: SelectedFeatures) -> str:
    """HTML of the kept features with bars, and how well they predict; all text is escaped.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.selection.view import selection_view
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> "3 of 13 features" in selection_view(sparsieve.select(X, y, k=3))
    True
    """
    columns = selected.columns
    n_kept = len(columns["rank"])
    method, widths = selected.method, _widths(columns["score"])
    least = method._settings.least if isinstance(method, FDRSelector) else SUBSTITUTE
    similar = f"similar (correlation {least:g} or more)"
    if isinstance(method, FDRSelector) and method.claim == "set":
        similar = "or one of these in its set"
    rows = [_row(columns, i, widths, similar) for i in range(min(n_kept, MAX_ROWS))]
    more = f"<div>and {n_kept - MAX_ROWS:,} more</div>" if n_kept > MAX_ROWS else ""
    meaning = escape(selected.selector.score_meaning)
    held_out = selected.unchecked if selected.check is None else selected.check.sentence()
    found = selected.covariates_alone
    alone = "" if found is None else found.sentence
    return (
        f'<div class="sparsieve-selected" style="{BOX}">{_warning(selected)}'
        f"<div><b>{escape(words_kept(selected.selector, selected.covariates))}</b> by "
        f"{escape(name_of(selected.method))}</div>"
        f"<div>{escape(selected.as_well or selected.verdict)}</div>"
        f'<div style="opacity: 0.8">{escape(held_out)}</div>'
        f'<div style="opacity: 0.8">{escape(alone)}</div>'
        f'<table style="border-collapse: collapse; margin: 0.3em 0">{"".join(rows)}</table>{more}'
        f'<div style="opacity: 0.8">Score: {meaning[:1].lower()}{meaning[1:]}</div></div>'
    )


def _warning(selected: SelectedFeatures) -> str:
    said = [selected.nothing_found, *selected.leaks]
    warned = "".join(f"<div><b>{escape(sentence)}</b></div>" for sentence in said if sentence)
    return warned + "".join(f"<div>{escape(note)}</div>" for note in selected.notes)


def _row(columns: dict[str, np.ndarray], i: int, widths: np.ndarray, similar: str) -> str:
    substitutes = str(columns["substitutes"][i]) if "substitutes" in columns else ""
    like = (
        f'<span style="opacity: 0.7">{similar}: {shortened(substitutes)}</span>'
        if substitutes
        else ""
    )
    cells = (
        ("right", str(columns["rank"][i])),
        *([("left", shortened(columns["group"][i]))] if "group" in columns else []),
        ("left", shortened(columns["feature"][i])),
        ("right", f"{columns['score'][i]:.3g}"),
        ("left; width: 12em", f'<span style="{_BAR.format(widths[i])}"></span>'),
        ("left", like),
    )
    made = [f'<td style="{_CELL.format(side)}">{text}</td>' for side, text in cells]
    return f"<tr>{''.join(made)}</tr>"


def _widths(scores: np.ndarray) -> np.ndarray:
    """Lengths of the bars in percent; what is infinite is as long as the longest."""
    sizes = np.nan_to_num(np.maximum(scores, 0.0), nan=0.0, posinf=np.inf)
    longest = sizes[np.isfinite(sizes)].max(initial=0.0)
    return 100.0 * np.minimum(np.divide(sizes, longest or 1.0), 1.0)
