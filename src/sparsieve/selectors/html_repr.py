"""What a notebook shows of a selector: scikit-learn's diagram, and what a fit has found."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from numbers import Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import estimator_html_repr

from .fitted import convergence_failure
from .ranked import ranked_features

SHOWN_FEATURES = 10
SHOWN_CLASSES = 6
LONGEST_NAME = 60

# Attributes worth a glance where they exist, as shown.
_FACTS = {
    "best_score_": "cross-validated score {:.3g}",
    "error_bound_": "at most {:.2g} false positives expected",
    "worst_case_accuracy_": "worst-case accuracy {:.3g}",
    "objective_": "objective {:.4g}",
    "optimality_": "optimality {:.2g}",
    "n_iter_": "{:,} iterations",
}
# Inherited text colour and see-through greys are readable on light and dark pages alike.
BOX = "margin: 0 0 0.6em 0; padding: 0.4em 0.8em; border-left: 4px solid cornflowerblue;"
_CELL = "padding: 0.1em 1em 0.1em 0; border: none; background: none; color: inherit;"
_WARNING = (
    "display: inline-block; margin-top: 0.3em; padding: 0.1em 0.5em; "
    "background: rgba(255, 160, 0, 0.25);"
)


class ShownInNotebooks:
    """What a notebook shows of a selector, and the link to its documentation."""

    _doc_link_module = "sparsieve"
    _doc_link_url_param_generator = None

    def _html_repr(self) -> str:
        return selector_html(self)

    # scikit-learn does the rest itself, but version 1.6 does not ask for ``_html_repr``.
    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown

    def _get_doc_link(self) -> str:
        home = documentation()
        name = type(self).__name__
        is_ours = type(self).__module__.startswith("sparsieve.")
        return f"{home}/api/sparsieve.{name}.html" if home and is_ours else ""


@lru_cache(maxsize=1)
def documentation() -> str:
    """The address of the documentation in the metadata of the package, or nothing."""
    try:
        links = metadata("sparsieve").get_all("Project-URL") or []
    except PackageNotFoundError:  # run from a folder of sources
        return ""
    found = [link.partition(",")[2].strip() for link in links if link.startswith("Documentation,")]
    return found[0].rstrip("/") if found else ""


def selector_html(selector: Any) -> str:
    """HTML of a selector, with a summary of the selection where it is fitted.

    Parameters
    ----------
    selector : BaseSelector
        Fitted or not.

    Returns
    -------
    html : str
        A fragment; all text from the data is escaped.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.selectors.html_repr import selector_html
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> "Kept 3 of 13 features" in selector_html(FisherSelector(3).fit(X, y))
    True
    """
    # A fit that failed half-way leaves an object without a selection.
    fitted = hasattr(selector, "support_") and hasattr(selector, "ranking_")
    return (_summary(selector) if fitted else "") + estimator_html_repr(selector)


def _summary(selector: Any) -> str:
    n_kept, n_features = int(selector.support_.sum()), len(selector.support_)
    plural = "s" * (n_features != 1)
    facts = [_target(selector), *_facts(selector)]
    return (
        f'<div class="sparsieve-selection" style="{BOX}">'
        f"<div><b>Kept {n_kept:,} of {n_features:,} feature{plural}</b></div>"
        f'<div style="opacity: 0.8">{" · ".join(facts)}</div>'
        f"{_warning(selector)}{_table(selector)}</div>"
    )


def _target(selector: Any) -> str:
    classes = getattr(selector, "classes_", None)
    if classes is None:
        n_outputs = len(np.atleast_2d(getattr(selector, "coef_", 0)))
        return f"target: {n_outputs:,} columns of numbers" if n_outputs > 1 else "target: numbers"
    names = [shorten_name(label) for label in classes[:SHOWN_CLASSES]]
    more = len(classes) - len(names)
    rest = f" and {more} more" if more else ""
    return f"{len(classes):,} classes: {', '.join(names)}{rest}"


def _facts(selector: Any) -> list[str]:
    found = {name: getattr(selector, name, None) for name in _FACTS}
    facts = [_FACTS[name].format(v) for name, v in found.items() if isinstance(v, Real)]
    return ["1 iteration" if fact == "1 iterations" else fact for fact in facts]


def _warning(selector: Any) -> str:
    reason = convergence_failure(selector)
    if not reason:
        return ""
    return f'<div style="{_WARNING}">⚠ Not converged: {reason}; raise max_iter or tol</div>'


def _table(selector: Any) -> str:
    ranked = ranked_features(selector)
    kept = np.flatnonzero(ranked.selected)
    names = getattr(selector, "feature_names_in_", None)
    rows = [
        f'<tr><td style="{_CELL} text-align: left">'
        f"{shorten_name(f'x{j}' if names is None else names[j])}</td>"
        f'<td style="{_CELL} text-align: right">{ranked.notes[i] or f"{ranked.scores[i]:.4g}"}'
        "</td></tr>"
        for i, j in zip(kept[:SHOWN_FEATURES], ranked.features[kept], strict=False)
    ]
    if not rows:
        return ""
    more = len(kept) - len(rows)
    meaning = escape(ranked.meaning)
    head = "".join(
        f'<th style="{_CELL} text-align: {side}; font-weight: normal; opacity: 0.8"{tip}>'
        f"{title}</th>"
        for title, side, tip in (
            ("feature", "left", ""),
            ("score", "right", f' title="{meaning}"'),
        )
    )
    return (
        f'<table style="border-collapse: collapse; margin: 0.3em 0"><tr>{head}</tr>'
        f"{''.join(rows)}</table>"
        + (f'<div style="opacity: 0.8">and {more:,} more</div>' if more else "")
        + f'<div style="opacity: 0.8">Score: {meaning[:1].lower()}{meaning[1:]}</div>'
    )


def shorten_name(value: Any) -> str:
    """A name as HTML, cut where it is too long to show."""
    text = str(value)
    return escape(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…")
