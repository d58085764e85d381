"""The notation of the tests of the semantics: a snippet with the expressions in question marked, «so», and kinds in words."""

from __future__ import annotations

import ast
import re
from textwrap import dedent

from torchlint.semantics import Grad, Kind, Semantics, Type
from torchlint.text.source import Source

_GRADS = {Grad.UNKNOWN: "", Grad.GRAPH: "graph", Grad.LEAF: "leaf", Grad.NONE: "nograd"}
_SCALARS = {None: "", True: "scalar", False: "dims"}


def marked(snippet: str) -> tuple[Semantics, list[ast.expr]]:
    """The semantics of a snippet, and the expressions between its marks, in the order of the text."""
    text = dedent(snippet)
    marks = [match.start() - count for count, match in enumerate(re.finditer("[«»]", text))]
    source = Source(re.sub("[«»]", "", text))
    semantics = Semantics(source.tree)
    spans = {(source.start(node), source.end(node)): node for node in semantics.tree.nodes if isinstance(node, ast.expr)}
    return semantics, [spans[span] for span in zip(marks[::2], marks[1::2])]


def kinds(snippet: str) -> list[str]:
    """In words, what is known of the marked expressions of a snippet."""
    semantics, nodes = marked(snippet)
    return [describe(semantics.kind(node)) for node in nodes]


def kind(snippet: str) -> str:
    """In words, what is known of the one marked expression of a snippet."""
    (found,) = kinds(snippet)
    return found


def describe(kind: Kind) -> str:
    """A kind in words: ``tensor graph scalar``, ``(tensor, tensor nograd)``, ``[tensor leaf]``, ``{number}``, ``module``."""
    match kind.type:
        case Type.TENSOR:
            return " ".join(filter(None, ["tensor", _GRADS[kind.grad], _SCALARS[kind.scalar], "loose" if kind.loose else ""]))
        case Type.SEQUENCE if kind.items is not None:
            return f"({', '.join(map(describe, kind.items))})"
        case Type.SEQUENCE:
            return f"[{describe(kind.element or Kind())}]"
        case Type.MAPPING:
            return f"{{{describe(kind.element or Kind())}}}"
    return str(kind.type.value)


def lines(snippet: str) -> list[int]:
    """For the one marked name of a snippet, the lines of the bindings that reach it."""
    semantics, (node,) = marked(snippet)
    assert isinstance(node, ast.Name)
    return sorted(getattr(binding.node, "lineno") for binding in semantics.bindings.reaching(node))
