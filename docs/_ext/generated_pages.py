"""Pages and tables written from the package itself, so that a new selector appears by itself.

Before Sphinx looks for files: the list of public names (``api/index.rst``), the table of methods
with what was measured of them, one table per family, and the glossary of parameters and fitted
attributes. Files are written only where they change, so that nothing is built twice.
"""

import csv
import html
import importlib
import inspect
import re
from collections import defaultdict
from pathlib import Path

from decision import decision_figure
from public import GROUPS, INTERNAL, PACKAGES, RESULTS

import sparsieve

# Where the selectors of a family are, below sparsieve. A page of docs/families has one or two.
FAMILIES = {
    "least_squares": ("selectors.least_squares", "papers.baselines.esfs", "papers.baselines.rlsr"),
    "robust": ("selectors.robust", "papers.robust_l20", "papers.baselines.rpmfs"),
    "mkl": ("papers.l0_mkl", "papers.baselines.hsic_lasso"),
    "minimax": ("papers.l0_mpm",),
    "svm": ("selectors.hinge", "papers.baselines.l0_svm"),
    "likelihood": ("selectors.likelihood",),
    "trees": ("selectors.trees",),
    "filters": ("filters", "papers.baselines.inf_fs"),
    "wrappers": ("meta",),
}
# The families in the reference.
METHODS = {
    "least_squares": "Least squares",
    "exclusive": "Features of single classes",
    "robust": "Robust to outliers",
    "likelihood": "Likelihood losses: classes, counts, survival",
    "trees": "Trees: curves and interactions",
    "svm": "Support vector machines",
    "minimax": "Minimax probability machines",
    "mkl": "Kernels: non-linear signals",
    "filters": "Filters: one feature at a time",
    "unsupervised": "Without a target",
}
EXCLUSIVE = re.compile("Exclusive")  # a table of their own, though solved as least squares


def family_of(cls):
    """Name of the table that has a selector."""
    if EXCLUSIVE.match(cls.__name__):
        return "exclusive"
    if not getattr(cls, "_needs_target", True):
        return "unsupervised"
    for family, homes in FAMILIES.items():
        if cls.__module__.startswith(tuple(f"sparsieve.{home}" for home in homes)):
            return family
    if cls.__name__ in sparsieve.meta.__all__:
        return "wrappers"
    raise ValueError(f"{cls.__name__} belongs to no family of the documentation")


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


# -- the list of public names ----------------------------------------------------------------


def api_page():
    """Every public name on one page, by task; selectors by family."""
    names = {title: _public_names(package) for title, package in PACKAGES.items()}
    listed = {name.rpartition(".")[2] for found in names.values() for name in found}
    families = {title: [] for title in METHODS.values()}
    for name, cls in sparsieve.all_estimators().items():
        if name not in listed:
            families[METHODS[family_of(cls)]].append(f"sparsieve.{name}")
    listed.update(sparsieve.all_estimators())
    others = [n for n in sparsieve.__all__ if n not in listed and callable(getattr(sparsieve, n))]
    page = "Reference\n=========\n\nEvery public name, by task. Selectors are listed by family; "
    page += ":doc:`/which_method` helps to choose one.\n\n"
    for group, titles in GROUPS.items():
        sections = families if titles is None else {title: names.pop(title) for title in titles}
        if group == list(GROUPS)[-1]:
            sections |= names
            if others:
                sections["Base classes and tools"] = [f"sparsieve.{name}" for name in others]
        page += f"{group}\n{'-' * len(group)}\n\n"
        for title, found in sections.items():
            if len(sections) > 1:
                page += f"{title}\n{'~' * len(title)}\n\n"
            page += _listing(found)
    page += (
        "Results\n-------\n\nWhat functions and attributes return; nobody has to import these.\n\n"
    )
    page += _listing([f"sparsieve.{name}" for name in RESULTS])
    page += "Not public\n----------\n\nThese packages may change with any version:\n\n"
    return page + "".join(f"- ``sparsieve.{part}``: {why}.\n" for part, why in INTERNAL.items())


def _public_names(package):
    """Classes and functions, under the name by which a user imports them."""
    module = importlib.import_module(package)
    return [
        f"sparsieve.{name}" if name in sparsieve.__all__ else f"{module.__name__}.{name}"
        for name in module.__all__
        if callable(getattr(module, name))  # no constants
    ]


def _listing(names):
    head = ".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n"
    return head + "".join(f"   {_shown(name)}\n" for name in names) + "\n"


def _shown(name):
    """Names that ``import sparsieve`` gives without their package."""
    return f"~{name}" if name.count(".") == 1 else name


# -- what was measured -----------------------------------------------------------------------


def full_quality(table):
    """The table of docs/measured/quality.csv, its heading first."""
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


# Columns of the short table: heading, and how the heading of the full one begins.
SHORT = {
    "method": "method",
    "difference [95 %]": "SVM, difference",
    "rank": "rank",
    "stability": "stability",
    "CPU s": "CPU s",
    "sets": "sets",
}


def short_quality(table):
    """Rows of the columns that matter most, as dictionaries."""
    head, *rows = full_quality(table)
    place = {
        name: next(i for i, cell in enumerate(head) if cell.startswith(begin))
        for name, begin in SHORT.items()
    }
    return [{name: row[at] for name, at in place.items()} for row in rows]


def quality_table(rows):
    """What fits one screen, methods with a difference only."""
    text = "```{table}\n:class: dense\n\n"
    text += f"| {' | '.join(SHORT)} |\n|{'---|' * len(SHORT)}\n"
    for row in rows:
        if row["difference [95 %]"] or row["method"] == "RidgeForwardSelector":
            name = row["method"]
            link = f"{{py:obj}}`~sparsieve.{name}`" if name in sparsieve.__all__ else name
            difference, *others = list(row.values())[1:]
            text += f"| {' | '.join([link, difference or 'default', *others])} |\n"
    return text + "```\n"


def facts(table):
    """One dictionary per selector that runs by its name alone."""
    from sparsieve.registry import all_methods

    quality = {row["method"]: row for row in short_quality(table)}
    known = {method.class_name: method for method in all_methods().values()}
    found = []
    for name, cls in sparsieve.all_selectors().items():
        method, measures = known.get(name), quality.get(name, {})
        found.append(
            {
                "class": name,
                "family": family_of(cls),
                "command": method.name if method else "",
                "words": method.words if method else inspect.getdoc(cls).partition("\n")[0],
                "purposes": method.purposes if method else frozenset(),
                "seconds": method.seconds if method else None,
                "difference": measures.get("difference [95 %]", ""),
                "sets": measures.get("sets", ""),
                "stability": measures.get("stability", ""),
            }
        )
    return found


def seconds(value):
    return "" if value is None else f"{value:.2g}"


def plain(text):
    return html.escape(text)


FILTERS = {
    "regression": "the target is numeric",
    "sparse": "X is sparse",
    "missing": "values are missing",
    "panel": "no redundant features",
    "markers": "features of single classes",
    "wrong-labels": "wrong class labels",
    "outliers": "outliers in a numeric target",
    "outliers-in-x": "outliers in X",
    "nonlinear": "non-linear signals",
    "p-values": "p-values",
    "proof": "a proven result",
    "large": "fast (20,000 features within 1 s)",
}


def methods_table(rows, names=FILTERS):
    """All methods, with boxes that a reader ticks to see only those that fit."""
    boxes = "".join(
        f'<label><input type="checkbox" value="{key}"> {plain(words)}</label>'
        for key, words in names.items()
    )
    head = ("method", "command line", "what it does", "seconds")
    head += ("difference to ridge forward [95 %]", "sets", "stability", "good for")
    body = ""
    for row in rows:
        purposes = " ".join(sorted(row["purposes"]))
        link = f'<a href="api/sparsieve.{row["class"]}.html"><code>{row["class"]}</code></a>'
        cells = (
            link,
            plain(row["command"]),
            plain(row["words"]),
            seconds(row["seconds"]),
            plain(row["difference"]),
            row["sets"],
            row["stability"],
            plain(", ".join(sorted(row["purposes"]))),
        )
        body += f'<tr data-purposes="{purposes}">'
        body += "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"
    header = "".join(f"<th>{cell}</th>" for cell in head)
    return (
        "```{raw} html\n"
        f'<fieldset class="method-filters"><legend>Show methods for</legend>{boxes}</fieldset>\n'
        f'<div class="wide"><table class="table methods"><thead><tr>{header}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>\n```\n"
    )


def family_table(rows):
    head = ("selector", "what it does", "s", "difference [95 %]", "stability")
    text = f"| {' | '.join(head)} |\n"
    text += "|---|---|---|---|---|\n"
    for row in rows:
        cells = (row["words"], seconds(row["seconds"]), row["difference"], row["stability"])
        link = f"{{py:obj}}`~sparsieve.{row['class']}`"
        text += f"| {link} | {' | '.join(cells)} |\n"
    return text


# -- the glossary ----------------------------------------------------------------------------


def glossary_table(section):
    """Every parameter or attribute of every estimator: its first sentence, and who has it."""
    from numpydoc.docscrape import ClassDoc

    found = defaultdict(lambda: defaultdict(list))
    for name, cls in sparsieve.all_estimators().items():
        for entry in ClassDoc(cls, config={"show_class_members": False})[section]:
            text = " ".join(" ".join(entry.desc).split())
            sentence = re.split(r"(?<=[.;:])\s", text)[0] if text else entry.type
            for one in entry.name.split(","):
                found[one.strip()][sentence].append(name)
    lines = ["| name | meaning | of |", "|---|---|---|"]
    for name in sorted(found, key=str.lower):
        for sentence, owners in sorted(found[name].items(), key=lambda item: -len(item[1])):
            who = ", ".join(owners) if len(owners) <= 4 else f"{len(owners)} estimators"
            meaning = sentence.replace("|", "\\|").replace("*", "\\*").replace("`", "")
            lines.append(f"| `{name}` | {meaning} | {who} |")
    return "\n".join(lines) + "\n"


def write_pages(app, config):
    docs = Path(app.srcdir)
    write(docs / "api" / "index.rst", api_page())
    quality = docs / "measured" / "quality.csv"
    rows = facts(quality)
    generated = docs / "_generated"
    write(generated / "quality.md", quality_table(short_quality(quality)))
    write(generated / "methods.md", methods_table(rows))
    write(generated / "decision.md", decision_figure())
    for family in (*FAMILIES, "exclusive", "unsupervised"):
        write(
            generated / f"{family}.md",
            family_table([row for row in rows if row["family"] == family]),
        )
    write(generated / "parameters.md", glossary_table("Parameters"))
    write(generated / "attributes.md", glossary_table("Attributes"))


# Links of inherited docstrings into scikit-learn's own pages, which are not here.
FOREIGN = re.compile(r":(?:ref|term):`([^<`]+?)(?:\s*<[^>`]+>)?`")


def without_foreign_links(app, what, name, obj, options, lines):
    lines[:] = [FOREIGN.sub(r"\1", line) for line in lines]


def setup(app):
    # Before Sphinx looks for files, which is before the builder exists.
    app.connect("config-inited", write_pages, priority=100)
    app.connect("autodoc-process-docstring", without_foreign_links)
    return {"parallel_read_safe": True}
