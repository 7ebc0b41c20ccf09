"""Formulas as MathML, which browsers draw themselves: no script, readable offline."""

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def markup(node, *, as_block):
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("formula not understood: %s", error, location=node)
        return f"<code>{node.astext()}</code>"


def visit_inline(self, node):
    from docutils import nodes

    self.body.append(markup(node, as_block=False))
    raise nodes.SkipNode


def visit_display(self, node):
    from docutils import nodes

    self.body.append(f'<div class="formula">{markup(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer(
        "mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_display, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
