"""Links of the pages, which are written for the repository, as they have to be on the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_DOCS = Path(__file__).parents[1]
_REPOSITORY = "https://github.com/torchlint/torchlint"
_FENCE = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s]+)(?=\))")
_ANCHOR = re.compile(r'<a id="([^"]+)">')
_NAMED_BY_FILE = re.compile(r"\[[\w/-]+\.md\]\((?!\.\.)(?=[\w/-]+\.md[#)])")
_PAGES = {
    "README.md#the-rules": "docs/rules.md",
    "README.md": "docs/index.md",
    "docs/README.md": "docs/index.md",
    "docs/rules": "docs/rules.md",
    "docs/evidence": "docs/evidence/README.md",
}
"""What is another page on the site."""


def for_site(name: str, text: str) -> str:
    """The Markdown of the page ``name`` with links that lead somewhere on the site; code is left as it is."""
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_changed(name, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _changed(name, text[end:])])


def _changed(name: str, prose: str) -> str:
    """The prose with other targets; a page that is named by its file is named by its title."""
    prose = _NAMED_BY_FILE.sub("[](", prose)
    return _LINK.sub(lambda link: _target(name, link["target"]), prose)


def _target(name: str, target: str) -> str:
    if "://" in target or target.startswith(("#", "mailto:")):
        return target
    folder = posixpath.join("docs", posixpath.dirname(name))
    whole = posixpath.normpath(posixpath.join(folder, target))
    path, _, anchor = whole.partition("#")
    page = _PAGES.get(whole) or _PAGES.get(path)
    if page is not None:
        return posixpath.relpath(page, folder)
    if path.startswith("docs/") and path.endswith(".md"):
        return target
    shown = "tree" if (_DOCS.parent / path).is_dir() else "blob"
    return f"{_REPOSITORY}/{shown}/main/{path}" + ("#" + anchor if anchor else "")


def note_anchors(app: Sphinx, document: nodes.document) -> None:
    """Tells MyST of the anchors that a page has in HTML: it looks for headings only."""
    from docutils import nodes

    slugs = app.env.metadata[app.env.current_document.docname].setdefault("myst_slugs", {})
    for raw in document.findall(nodes.raw):
        for name in _ANCHOR.findall(raw.astext()):
            slugs[name] = (0, name, name)
