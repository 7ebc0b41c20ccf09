"""The decision figure of "Which method?": questions on the left, answers on the right."""

from html import escape

QUESTIONS = (
    (
        ("Are values missing, or do", "columns hold text or dates?"),
        ("make_preprocessor first,", "or ReliefFSelector (numbers)"),
        "guides/preprocessing.html",
    ),
    (
        ("Do you need a bound on", "false selections?"),
        ("StabilitySelection",),
        "guides/stability.html",
    ),
    (
        ("Do you need a proof that the", "set is close to the best?"),
        ("RidgeForwardSelector.certify,", "L20Selector(solver='exact')"),
        "proofs.html",
    ),
    (
        ("Do you want markers", "for each class?"),
        ("ExclusiveL21Selector,", "ExclusiveLassoSelector"),
        "families/least_squares.html#exclusive-models-features-of-single-classes",
    ),
    (
        ("Is the target numeric,", "with gross errors?"),
        ("RFSSelector,", "RobustL20Selector"),
        "families/robust.html",
    ),
    (
        ("Does diagnose(X, y) report", "a non-linear signal?"),
        ("InfoGainSelector, ReliefFSelector,", "L0MKLSelector(kernel='rbf')"),
        "families/curves.html",
    ),
    (
        ("Do you want a p-value", "for each feature?"),
        ("FStatisticSelector, TTestSelector,", "ChiSquareSelector (counts)"),
        "families/filters.html",
    ),
)
OTHERWISE = (("RidgeForwardSelector", "and select(X, y)"), "families/least_squares.html")
ROW, WIDTH, HEIGHT, ANSWER = 86, 250, 56, 390


def box(x, y, lines, *, width=WIDTH, link=None, kind="question"):
    words = "".join(
        f'<text x="{x + width / 2}" y="{y + HEIGHT / 2 + 5 + 18 * (i - (len(lines) - 1) / 2)}" '
        f'text-anchor="middle">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    shape = f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="10"/>'
    return f'<a href="{link}">{shape}{words}</a>' if link else shape + words


def arrow(x1, y1, x2, y2, word):
    across = y1 == y2
    at = ((x1 + x2) / 2 - 12, y1 - 6) if across else (x1 + 8, (y1 + y2) / 2 + 5)
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" marker-end="url(#head)"/>'
        f'<text x="{at[0]}" y="{at[1]}">{word}</text>'
    )


def decision_figure():
    """Inline SVG: it takes its colours from the page, light or dark, and its boxes are links."""
    parts = []
    for i, (question, answer, link) in enumerate(QUESTIONS):
        y = 10 + ROW * i
        parts.append(box(10, y, question))
        parts.append(box(ANSWER, y, answer, width=280, link=link, kind="answer"))
        parts.append(arrow(10 + WIDTH, y + HEIGHT / 2, ANSWER - 6, y + HEIGHT / 2, "yes"))
        parts.append(arrow(10 + WIDTH / 2, y + HEIGHT, 10 + WIDTH / 2, y + ROW - 6, "no"))
    words, link = OTHERWISE
    y = 10 + ROW * len(QUESTIONS)
    parts.append(box(10, y, words, link=link, kind="answer"))
    return (
        "```{raw} html\n"
        f'<svg class="decision" viewBox="0 0 690 {y + HEIGHT + 10}" role="img" '
        'aria-label="Questions that lead to a method; the table below lists all methods">'
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="currentColor"/></marker>'
        f"</defs>{''.join(parts)}</svg>\n```\n"
    )
