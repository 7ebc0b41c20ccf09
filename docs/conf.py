"""Sphinx configuration: the API pages are generated from what all_selectors() finds."""

from pathlib import Path

import sparsieve
import sparsieve.datasets
import sparsieve.displays
import sparsieve.evaluation
import sparsieve.oneline
import sparsieve.papers
import sparsieve.report
import sparsieve.saved
import sparsieve.studies

project = "sparsieve"
author = "The sparsieve developers"
copyright = "2026, The sparsieve developers"
release = version = sparsieve.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
]
html_theme = "furo"
exclude_patterns = ["_build"]
autosummary_generate = True
suppress_warnings = ["myst.xref_missing"]  # the README links to files beside it
numpydoc_show_class_members = False
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}


def write_selector_list(app, config):
    """A page that lists every public name, so that a new one appears by itself."""
    rooms = {
        "In one line": sparsieve.oneline,
        "Saving and loading": sparsieve.saved,
        "Displays": sparsieve.displays,
        "Reports": sparsieve.report,
        "Studies": sparsieve.studies,
        "Measuring": sparsieve.evaluation,
        "The papers' experiments": sparsieve.papers,
        "Data sets": sparsieve.datasets,
    }
    listed = {"Selectors": [f"sparsieve.{name}" for name in sparsieve.all_estimators()]}
    listed["Selectors"].append("sparsieve.all_selectors")
    for title, room in rooms.items():
        listed[title] = [f"{room.__name__}.{name}" for name in room.__all__]
    page = ""
    for title, names in listed.items():
        page += f"{title}\n{'=' * len(title)}\n\n"
        page += ".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n"
        page += "".join(f"   {name}\n" for name in names) + "\n"
    target = Path(app.srcdir) / "api" / "index.rst"
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.read_text() != page:
        target.write_text(page)


def setup(app):
    # Before Sphinx looks for files, which is before the builder exists.
    app.connect("config-inited", write_selector_list)
