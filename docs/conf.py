"""Sphinx configuration: the API pages are generated from what all_selectors() finds."""

from pathlib import Path

import sparsieve
import sparsieve.displays

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
    """A page that lists every selector and display, so that a new one appears by itself."""
    names = "\n".join(f"   sparsieve.{name}" for name in sparsieve.all_estimators())
    displays = "\n".join(f"   sparsieve.displays.{name}" for name in sparsieve.displays.__all__)
    page = (
        "Selectors\n=========\n\n.. autosummary::\n   :toctree: .\n   :nosignatures:\n\n"
        f"{names}\n   sparsieve.all_selectors\n\n"
        "Displays\n========\n\n.. autosummary::\n   :toctree: .\n   :nosignatures:\n\n"
        f"{displays}\n"
    )
    target = Path(app.srcdir) / "api" / "index.rst"
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.read_text() != page:
        target.write_text(page)


def setup(app):
    # Before Sphinx looks for files, which is before the builder exists.
    app.connect("config-inited", write_selector_list)
