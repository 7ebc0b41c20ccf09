"""What a notebook shows of a comparison."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ..report.wording import counted
from ..selectors.html_repr import BOX

if TYPE_CHECKING:
    from .result import Comparison

SHOWN_FEATURES = 10
_CELL = (
    "padding: 0.1em 1em 0.1em 0; border: none; background: none; color: inherit; text-align: {};"
)


def comparison_view(comparison: Comparison) -> str:
    """HTML of the recommendation, the methods and what they agree on; all text is escaped.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.comparison.view import comparison_view
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = sparsieve.compare(X, y, ["fisher", "f-statistic"], ks=[3], cv=2, n_repeats=1)
    >>> "f-statistic" in comparison_view(found)
    True
    """
    header, rows = comparison.table_rows()
    agreed = comparison.consensus_columns()
    n_methods = len(comparison.methods)
    features = [
        (
            str(agreed["feature"][i]),
            f"{agreed['methods'][i]} of {counted(n_methods, 'method')}",
            f"{100 * share:.0f} %",
        )
        for i, share in enumerate(agreed["share"][:SHOWN_FEATURES])
    ]
    more = len(agreed["rank"]) - len(features)
    return (
        f'<div class="sparsieve-comparison" style="{BOX}">'
        + "".join(f"<div><b>{escape(sentence)}</b></div>" for sentence in comparison.leaks)
        + f"<div>{escape(comparison.recommendation)}</div>"
        f"{_table(header, rows)}"
        f"{_table(('feature', 'chosen by', 'share of all fits'), features)}"
        + (f"<div>and {counted(more, 'more feature')} chosen in some fit</div>" if more > 0 else "")
        + "</div>"
    )


def _table(header: tuple[str, ...], rows: list[Any]) -> str:
    def cells(row: tuple[str, ...], tag: str) -> str:
        sides = ["left", *["right"] * (len(row) - 1)]
        return "".join(
            f'<{tag} style="{_CELL.format(side)}">{escape(text)}</{tag}>'
            for side, text in zip(sides, row, strict=True)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    style = "border-collapse: collapse; margin: 0.3em 0"
    return f'<table style="{style}"><tr>{cells(header, "th")}</tr>{body}</table>'
