"""The pictures that `docs/pictures/draw.py` has drawn, light or dark as the theme is."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

_DOCS = Path(__file__).parents[1]
_SVG = "{http://www.w3.org/2000/svg}"
_OF_PAGES = {"performance": "speed", "accuracy": "precision"}
"""The pictures of pages that are written by a program."""


def shown(name: str, picture: str) -> str:
    """The Markdown that shows a picture on the page ``name``; nothing, where there is none."""
    up = "../" * name.count("/")
    found = []
    for mode in ("light", "dark"):
        path = _DOCS / "pictures" / f"{picture}-{mode}.svg"
        if path.is_file():
            found.append(f"```{{image}} {up}pictures/{path.name}\n:class: only-{mode}\n:alt: {alternative(path)}\n```\n")
    return "\n".join(found)


def alternative(path: Path) -> str:
    """What a picture shows, in words: its description."""
    found = ElementTree.parse(path).getroot().find(f"{_SVG}desc")
    assert found is not None and found.text, path
    return " ".join(found.text.split())


def completed(name: str, text: str) -> str:
    """The text of a page with its picture, if it has one, before its first section."""
    if name not in _OF_PAGES:
        return text
    return text.replace("\n## ", f"\n{shown(name, _OF_PAGES[name])}\n## ", 1)
