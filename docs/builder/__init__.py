"""What the site has beyond the Markdown pages: a Sphinx extension.

Pages are written for whoever reads them in the repository, where a comment is not seen. For the site, `<!-- site: NAME -->` is
replaced by what is made from the code: the table of rules (`rules`), the reference (`reference`), pictures
in the theme's colours (`pictures`). Links that leave `docs/`
lead to the repository (`links`), and names of torch to torch's own documentation (`torch_links`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from builder import links, pictures, reference, rules, torch_links

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PLACE = re.compile(r"^<!-- site: (?P<name>[\w-]+) -->$", re.MULTILINE)
_MADE = {
    "rules": rules.table,
    "configuration": reference.configuration,
    "command-line": reference.command_line,
    "formats": reference.formats,
}


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    """Makes of a page in the repository the page of the site."""
    text = _PLACE.sub(lambda place: _made(place["name"]), source[0])
    text = rules.completed(name, pictures.completed(name, text))
    source[0] = links.for_site(name, text)


def _navigable(app: Sphinx, name: str, template: str, context: dict[str, Any], document: object) -> None:
    """Gives the headings of the theme's navigation a level, without which they are none to a screen reader."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def _made(name: str) -> str:
    prefix, _, picture = name.partition("picture-")
    return pictures.shown("", picture) if not prefix else _MADE[name]()


def setup(app: Sphinx) -> dict[str, Any]:
    """Adds the extension to Sphinx."""
    from pygments.lexers.python import PythonLexer
    from pygments.lexers.special import TextLexer

    app.connect("source-read", _read)
    app.connect("html-page-context", _navigable, priority=900)
    app.add_post_transform(torch_links.TorchLinks)
    app.connect("doctree-read", links.note_anchors)
    for name in ("report", "left", "older"):  # what a test runs, and compares with what is shown
        app.add_lexer(name, TextLexer)
    app.add_lexer("by-hand", PythonLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
