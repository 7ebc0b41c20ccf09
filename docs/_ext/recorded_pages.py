"""One page per paper and all verdicts, written from the records that come with the package.

A record that cannot be read ends the build; one that is out of date says so on its page.
"""

import re
from html import escape
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

from sparsieve.datasets.load import PAPERS
from sparsieve_experiments.papers import RecordError, read_record
from sparsieve_experiments.papers.claims import (
    MANY_SETS,
    UNCLEAR,
    VERDICTS,
    counted_verdicts,
    in_words,
    what_would_settle,
)
from sparsieve_experiments.report import reproduction_report
from sparsieve_experiments.report.reproductions import HOW_JUDGED, paragraphs

MAX_ROWS = 60  # of a table on a page; the interactive report has all
MAX_PANELS = 12
MAX_TICKS = 8  # that are named by the values drawn


def plain(text):
    """Text that Markdown leaves as it is."""
    return re.sub(r"([\\`*_{}\[\]<>$|#])", r"\\\1", str(text))


def cell(value):
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else plain(value)


def table(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [f"| {' | '.join(plain(name.replace('_', ' ')) for name in names)} |"]
    lines.append("|" + "---|" * len(names))
    lines += [f"| {' | '.join(cell(row.get(name)) for name in names)} |" for row in rows]
    return "\n".join(lines)


def claims_table(claims):
    """The claims in the columns of the report, small enough for one screen."""
    rows = [claim.shown for claim in claims]
    lines = ['<table class="claims">']
    lines.append("<tr>" + "".join(f"<th>{escape(name)}</th>" for name in rows[0]) + "</tr>")
    for row in rows:
        lines.append(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row.values()) + "</tr>"
        )
    return "```{raw} html\n" + "\n".join([*lines, "</table>"]) + "\n```\n"


def folded(title, text):
    """Markdown that a reader unfolds."""
    return f"\n<details><summary>{escape(title)}</summary>\n\n{text.strip()}\n\n</details>\n"


def picture(chart, path):
    """All panels of a chart, a line, bar or point per series."""
    fields = {name: column.values for name, column in chart.columns.items()}
    rows = [dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)]
    if not rows:
        return False
    panels = list(dict.fromkeys(row.get("panel", "") for row in rows))[:MAX_PANELS]
    series = list(dict.fromkeys(row.get("series", "") for row in rows))
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(3.6 * across, 2.7 * down + 0.5), squeeze=False
    )
    for place, axis in enumerate(axes.flat):
        if place >= len(panels):
            axis.set_axis_off()
            continue
        here = [row for row in rows if row.get("panel", "") == panels[place]]
        names = list(dict.fromkeys(str(row["y"]) for row in here))
        for number, name in enumerate(series):
            same = [row for row in here if row.get("series", "") == name]
            x, y = [row["x"] for row in same], [row["y"] for row in same]
            style = {"label": name, "color": f"C{number % 10}"}
            if chart.kind == "bars":
                height = 0.8 / len(series)
                at = [names.index(value) + number * height for value in y]
                axis.barh(at, x, height=height, **style)
            else:
                line = "-" if chart.kind == "lines" else ""
                dashed = "--" if line and number >= 10 else line
                axis.plot(x, y, linestyle=dashed, marker="." if len(x) < 40 else "", **style)
        if chart.kind == "bars":
            axis.set_yticks(range(len(names)), names, fontsize=7)
        axis.set_xlabel(chart.columns["x"].title, fontsize=8)
        axis.set_ylabel(chart.columns["y"].title, fontsize=8)
        if chart.options["log_x"]:
            axis.set_xscale("log")
            values = sorted({row["x"] for row in here})
            if chart.kind != "bars":
                if len(values) <= MAX_TICKS:
                    axis.set_xticks(values, [f"{value:g}" for value in values])
                axis.xaxis.set_minor_formatter(NullFormatter())
        if chart.options["log_y"]:
            axis.set_yscale("log")
        axis.set_title(str(panels[place]), fontsize=9)
        axis.tick_params(labelsize=7)
    if chart.options["grouped"]:
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=min(4, len(labels)), fontsize=7)
    figure.tight_layout(rect=(0, 0.06 + 0.03 * (len(series) // 4), 1, 1))
    figure.savefig(path, dpi=90)
    plt.close(figure)
    return True


def page(paper, record, folder):
    """The page of a paper; its pictures and its interactive report lie beside it."""
    outcome = record.reproduction
    preset = outcome.preset
    text = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"  # room for the table
    text += f"# Reproducing {preset.authors}\n\n{plain(outcome.headline)}\n\n"
    text += claims_table(outcome.claims)
    for remark in record.remarks:
        text += f"\n:::{{warning}}\nThis record is out of date: {plain(remark)}.\n:::\n"
    link = f"../_static/reproductions/{paper}.html"
    text += (
        f"\n{plain(preset.citation)}. {record.in_words}\n\n"
        f'```{{raw}} html\n<p>All numbers: <a href="{link}">interactive report</a>, or '
        f"<code>sparsieve reproduce {paper} --recorded --tables</code>.</p>\n```\n"
    )
    counts = f"{in_words(outcome.claims)} {what_would_settle(outcome.claims)}".strip()
    text += folded("How claims are judged", plain(f"{HOW_JUDGED}\n\n{counts}"))
    if outcome.coarser:
        text += folded(f"What the {outcome.level} level leaves out", plain(outcome.coarser))
    for exhibit in outcome.exhibits:
        parts = [plain(part) for part in paragraphs(exhibit.note)]
        for number, chart in enumerate(exhibit.charts):
            stem = re.sub("[^a-z0-9]+", "-", exhibit.name.lower()).strip("-")
            name = f"{paper}-{stem}-{number}.png"
            if picture(chart, folder / name):
                parts.append(f"![{plain(chart.title)}]({name})")
        rows = exhibit.rows if len(exhibit.rows) <= MAX_ROWS else exhibit.summary
        if rows:
            parts.append(table(rows))
        text += folded(f"{exhibit.name}: {exhibit.title}", "\n\n".join(parts))
    return text


LACKING = ("more data sets", "data sets for a count", "over 100 data sets")


def lacking(claim):
    """What a claim would need that cannot be told."""
    if claim.sets_needed is None:
        return LACKING[1]
    return LACKING[2] if claim.sets_needed > MANY_SETS else LACKING[0]


def verdicts(claims):
    """How many claims of every paper have which verdict, and what the undecided ones lack."""
    claims = {**claims, "all": [claim for found in claims.values() for claim in found]}
    counts, needs = [], []
    for name, found in claims.items():
        number = counted_verdicts(found)
        said = [lacking(claim) for claim in found if claim.verdict == UNCLEAR]
        counts.append({"paper": name, "claims": len(found)})
        counts[-1] |= {verdict: number.get(verdict, 0) for verdict in VERDICTS}
        needs.append({"paper": name, **{one: said.count(one) for one in LACKING}})
    unclear = [claim for claim in claims["all"] if claim.verdict == UNCLEAR]
    never = [f"- {plain(one.claim)}" for one in unclear if lacking(one) == LACKING[2]]
    text = f'{table(counts)}\n\nWhat claims lack that cannot be told. "More data sets" means at '
    text += f"most {MANY_SETS} in all, for a difference of the size that we see and an interval on "
    text += f"one side of zero; the comparisons of the papers have 2 to 12:\n\n{table(needs)}\n"
    if never:
        text += "\nNo data in reach could settle:\n\n" + "\n".join(never) + "\n"
    return text


def write_pages(app, config):
    docs = Path(app.srcdir)
    folder, reports = docs / "reproductions", docs / "_static" / "reproductions"
    folder.mkdir(exist_ok=True)
    reports.mkdir(exist_ok=True)
    claims = {}
    for paper in PAPERS:
        try:
            record = read_record(paper)
        except RecordError as error:
            if "there is no record" in str(error):
                continue
            raise
        (folder / f"{paper}.md").write_text(page(paper, record, folder), encoding="utf-8")
        reproduction_report(record.reproduction).save(reports / f"{paper}.html")
        claims[paper] = record.reproduction.claims
    lines = "".join(f"/reproductions/{paper}\n" for paper in claims)
    contents = f"```{{toctree}}\n:maxdepth: 1\n\n{lines}```\n" if claims else "\n"
    generated = docs / "_generated"
    generated.mkdir(exist_ok=True)
    (generated / "reproductions.md").write_text(contents, encoding="utf-8")
    (generated / "verdicts.md").write_text(verdicts(claims), encoding="utf-8")


def setup(app):
    app.connect("config-inited", write_pages, priority=100)
    return {"parallel_read_safe": True}
