"""Sphinx configuration. What can be found out is generated: see _ext/generated_pages.py."""

import os
import sys
from pathlib import Path

import sparsieve

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "sparsieve"
author = "The sparsieve developers"
copyright = "2026, The sparsieve developers"
release = version = sparsieve.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "generated_pages",
    "recorded_pages",
]
# Links into other projects' pages need their inventories, which only the network has.
if os.environ.get("DOCS_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "numpy": ("https://numpy.org/doc/stable/", None),
        "sklearn": ("https://scikit-learn.org/stable/", None),
    }

exclude_patterns = ["_build", "_generated", "_ext", "_templates"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
# Types stand with the parameters; a signature has names and defaults, one in a line if it is long.
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 80
numpydoc_show_class_members = False
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = f"sparsieve {version}"
html_static_path = ["_static"]
html_css_files = ["sparsieve.css"]
html_js_files = ["methods.js"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_persistent": ["search-button"],
    "navbar_end": ["version-switcher", "theme-switcher"],
    "switcher": {"json_url": "_static/switcher.json", "version_match": version},
    "check_switcher": False,  # it would be fetched from the network
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 0,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.toml",
    "doc_module": ("sparsieve",),
    "only_warn_on_example_error": False,
}
