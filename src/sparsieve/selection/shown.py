"""How a selection is shown: text, notebook, report, figures and annotated data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._version import __version__
from .._wings import load_entry
from ..registry import selector_name
from ..selectors.fitted import BOX, shorten_name
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.near_copies import SUBSTITUTE
from ..selectors.ranked import ranked_features
from .covariates import kept_phrase

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
    >>> from sparsieve.selection.shown import selection_view
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
        f"<div><b>{escape(kept_phrase(selected.selector, selected.covariates))}</b> by "
        f"{escape(selector_name(selected.method))}</div>"
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
        f'<span style="opacity: 0.7">{similar}: {shorten_name(substitutes)}</span>'
        if substitutes
        else ""
    )
    cells = (
        ("right", str(columns["rank"][i])),
        *([("left", shorten_name(columns["group"][i]))] if "group" in columns else []),
        ("left", shorten_name(columns["feature"][i])),
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


class Shown:
    """What shows itself: text, notebook, report and figures of a selection."""

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a report on the selection: one HTML file to open in any browser.

        Parameters
        ----------
        path : str or path-like
            Where to; a file of this name is replaced.
        **options : dict
            As in :func:`~sparsieve.app.report.selector_report`, such as ``title``; ``claims=True``
            adds what can be claimed, see :meth:`claims`.
        """
        load_entry("sparsieve.pages", "report")(self._selection, path, **options)

    def plot(self, kind: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw the selection.

        Parameters
        ----------
        kind : str or None, default=None
            None draws an overview: score over the number of features, ranking, and heat map of the
            samples; with ``ax`` the ranking alone. Or one of:

            - "curve": score over the number of features
            - "ranking": the best features as bars (option ``n_features``)
            - "survival": Kaplan-Meier curves of held-out samples by predicted risk
            - "heatmap": samples and selected features (``order="class"`` or ``"clusters"``)
            - "values": values of the best features by class (``feature`` for a single one)
            - "profiles": means of the features by class, or correlations with the target
            - "projection": samples on two principal components
            - "predictions": confusion matrix, or predicted against true numbers
            - "stability": how often each feature is selected in the folds
            - "correlations": of the selected features with each other
            - "substitutes": features left out that are nearly copies (``threshold``)
            - "weights": of the fitted model
            - "claims": the claims with their substitutes, or which correlation so many samples find
            - "null": scores beside those of fits on shuffled targets
            - "convergence": objective over the iterations
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **options : dict
            Of the figure, as above; all others are for its marks, as in Matplotlib.

        Returns
        -------
        display : Display
            With ``figure_`` and ``ax_``; the one of the overview also has ``axes_``.
        """
        return load_entry("sparsieve.pages", "plot")(self._selection, kind, ax, options)

    def save_figures(
        self,
        folder: str | os.PathLike[str],
        *,
        width: str | float = "single",
        formats: Sequence[str] = ("svg", "pdf"),
    ) -> list[Path]:
        """Write every figure that the selection has as files for a paper.

        Text stays text and files carry no date, so the same selection gives the same bytes.

        Parameters
        ----------
        folder : str or path-like
            Where to; it is made where it does not exist. Files of the same names are replaced.
        width : {"single", "double"} or float, default="single"
            Of the figures: 85 mm, 180 mm, or a number of millimetres.
        formats : sequence of {"svg", "pdf", "png"}, default=("svg", "pdf")
            What to write of each.

        Returns
        -------
        paths : list of Path
            The files written; the last is captions.md with a caption and an alternative text for
            every figure.
        """
        save = load_entry("sparsieve.pages", "figures")
        return save(self._selection, folder, width=width, formats=formats)

    @cached_property
    def _source(self) -> Any:
        """What figures are made of; folds are computed once for all of them."""
        return load_entry("sparsieve.pages", "source")(self._selection)

    def __repr__(self) -> str:
        return _words(self._selection)

    def _repr_html_(self) -> str:
        return selection_view(self._selection)

    @property
    def _selection(self) -> SelectedFeatures:
        return cast("SelectedFeatures", self)


def _words(selected: SelectedFeatures) -> str:
    """The selection as text: doubts, what is kept, what was done to the data, how it predicts."""
    kept = selected.feature_groups or selected.features
    shown, more = kept[:10], len(kept) - 10
    rest = f" and {more} more" if more > 0 else ""
    names = f": {', '.join(map(str, shown))}{rest}" if shown else ""
    what = kept_phrase(selected.selector, selected.covariates)
    lines = [
        *(f"note: {sentence}" for sentence in selected.leaks),
        "The fit was interrupted: this is the best found until then." * selected.interrupted,
        selected.nothing_found,
        f"{what} by {selector_name(selected.method)}{names}",
        *(f"note: {sentence}" for sentence in selected.notes),
        selected.as_well,
        selected.verdict,
        selected.check.sentence() if selected.check is not None else selected.unchecked,
        "" if selected.covariates_alone is None else selected.covariates_alone.sentence,
    ]
    return "\n".join(line for line in lines if line)


def write_back(adata: Any, selected: SelectedFeatures) -> None:
    """What was found into ``adata.var`` and, in plain types that .h5ad files hold, ``adata.uns``.

    Parameters
    ----------
    adata : AnnData
        Changed in place; covariates stand behind its variables.
    selected : SelectedFeatures
        Fitted on it.
    """
    selector, inputs, n_vars = selected.selector, selected.inputs, adata.n_vars
    for name, values in columns_of(selector).items():
        adata.var[name] = values[:n_vars]
    adata.uns["sparsieve"] = make_summary(
        selected.method,
        k=int(selector.get_support()[:n_vars].sum()),
        meaning=ranked_features(selector).meaning,
        target=" and ".join(inputs.target_names),
        layer="X" if inputs.layer is None else inputs.layer,
    )


def columns_of(selector: Any) -> dict[str, np.ndarray]:
    """New columns of ``var``: what a fitted selector says of every variable."""
    return {
        "sparsieve_rank": np.asarray(selector.ranking_, dtype=np.int64),
        "sparsieve_score": np.asarray(selector.scores_, dtype=np.float64),
        "sparsieve_selected": np.asarray(selector.get_support(), dtype=bool),
    }


def make_summary(method: Any, *, k: int, meaning: str, target: str, layer: str) -> dict[str, Any]:
    """What ``uns["sparsieve"]`` holds: text, numbers and truth values only."""
    return {
        "method": selector_name(method),
        "k": k,
        "target": target,
        "layer": layer,
        "score_meaning": meaning,
        "parameters": {
            name: value if isinstance(value, bool | int | float | str) else repr(value)
            for name, value in method.get_params(deep=False).items()
        },
        "version": __version__,
    }
